//! What can be repaired is, and nothing that counts is touched.

use std::path::{Path, PathBuf};
use std::time::Duration;

use mattock_crawl::check::{CheckReport, FindingKind, repair};
use mattock_crawl::{Control, Crawl, CrawlError, RawConfig};
use mattock_env::sim::Simulation;
use mattock_env::{Env, copy_path};

use super::{Disk, ROOT, checked, crawl_for, put, settings, stopped, world, world_of};
use crate::world::{Scratch, crawl_until};

fn repaired(simulation: &mut Simulation) -> CheckReport {
    simulation.run(|env| async move { repair(&env, Path::new(ROOT), &mut |_| {}).unwrap() })
}

/// Files of the crawl but for the lock.
fn files(simulation: &Simulation) -> Disk {
    let mut disk = simulation.files().snapshot();
    disk.retain(|path, _| path.starts_with(ROOT) && !path.ends_with("lock"));
    disk
}

/// A crawl whose process was killed between two checkpoints.
fn killed() -> Simulation {
    let mut simulation = Simulation::new(super::SEED);
    crawl_for(&mut simulation, 11, &settings("gzip"));
    simulation.run(|env| async move {
        // Long enough for some of it to be on disk.
        let (crawler, change) = (env.clone(), settings("gzip").replace("7s", "900s"));
        let crawl = async move {
            crawl_until(&crawler, world(), Path::new(ROOT), &change, Control::default()).await;
        };
        let _ = env.clock.timeout(Duration::from_secs(60), crawl).await;
    });
    simulation.files().kill();
    simulation
}

#[test]
fn what_is_younger_than_the_checkpoint_is_told_and_cut_off() {
    let mut simulation = killed();
    let before = simulation.run(|env| async move { checked(&env) });
    assert!(before.whole, "a crash damages nothing: {before:#?}");
    let younger = |report: &CheckReport| {
        report.notes.iter().filter(|finding| finding.kind == FindingKind::Younger).count()
    };
    assert!(younger(&before) > 0, "{before:#?}");
    let disk = files(&simulation);
    let after = repaired(&mut simulation);
    assert!(after.whole && after.notes.is_empty() && !after.repaired.is_empty(), "{after:#?}");
    assert_eq!((after.records, after.rows, after.pages), (before.records, before.rows, before.pages));
    for (path, bytes) in files(&simulation) {
        assert!(disk[&path].starts_with(&bytes), "{} has other bytes", path.display());
    }
    let again = repaired(&mut simulation);
    assert!(again.whole && again.repaired.is_empty(), "{again:#?}");
}

/// What only a tail had that is damaged twice is lost, and that is said.
#[test]
fn a_tail_that_is_damaged_twice_is_told() {
    let mut disk = stopped("gzip");
    let is_tail = |path: &Path| {
        let path = path.display().to_string();
        path.contains("/0/degrees/tail-") && path.trim_end_matches(".copy").ends_with("-000004")
    };
    let tails: Vec<_> = disk.iter_mut().filter(|(path, _)| is_tail(path)).collect();
    assert_eq!(tails.len(), 2);
    tails.into_iter().for_each(|(_, bytes)| bytes[60] ^= 1);
    let report = repaired(&mut world_of(&disk));
    let says = "; how many of the last changes to degrees are lost is not known";
    assert!(
        report.whole && report.repaired.iter().any(|finding| finding.what.ends_with(says)),
        "{report:#?}"
    );
}

#[test]
fn a_damaged_checkpoint_is_made_anew_after_a_clean_stop() {
    let disk = stopped("gzip");
    let checkpoint = PathBuf::from("/crawl/state/CHECKPOINT");
    let mut damaged = disk.clone();
    let copy = copy_path(&checkpoint);
    damaged.get_mut(&checkpoint).unwrap()[100] ^= 1;
    damaged.get_mut(&copy).unwrap()[101] ^= 1;
    let mut simulation = world_of(&damaged);
    let before = simulation.run(|env| async move {
        let opened = Crawl::open(&env, Path::new(ROOT), RawConfig::default());
        assert!(matches!(opened, Err(CrawlError::Checkpoint { .. })));
        checked(&env)
    });
    assert_eq!(before.problems.len(), 1, "{before:#?}");
    let report = repaired(&mut simulation);
    assert!(report.whole && report.repaired.len() == 3, "{report:#?}");
    let after = files(&simulation);
    assert_eq!(after[Path::new("/crawl/state/CHECKPOINT.damaged")], damaged[&checkpoint]);
    assert_eq!(after[Path::new("/crawl/state/CHECKPOINT.copy.damaged")], damaged[&copy]);
    assert_eq!(after[&checkpoint], after[&copy]);
    for (path, bytes) in &disk {
        assert!(
            *path == checkpoint || *path == copy || path.ends_with("lock") || after[path] == *bytes,
            "{}",
            path.display()
        );
    }
    // It goes on as it would have.
    let [expected, actual] = [world_of(&disk), world_of(&after)].map(|mut simulation| {
        crawl_for(&mut simulation, 9, &settings("gzip"));
        let mut disk = files(&simulation);
        disk.retain(|path, _| path.starts_with("/crawl/warc") || path.starts_with("/crawl/state/ledger"));
        disk
    });
    assert!(expected == actual);
}

/// Everything that is kept twice, with one of the two damaged or the first of them gone, all over the crawl.
#[test]
fn what_is_kept_twice_is_written_anew_from_the_other() {
    let disk = stopped("gzip");
    // Those of the last checkpoint: of the one before something may be left.
    let is_of_the_last = |path: &&PathBuf| {
        ["CHECKPOINT.copy", "-4.copy", "-000004.copy"]
            .iter()
            .any(|end| path.display().to_string().ends_with(end))
    };
    let copies: Vec<&PathBuf> = disk.keys().filter(is_of_the_last).collect();
    // CHECKPOINT, and of two partitions: STATE, and four repositories and queues with their tails.
    assert!(copies.len() > 15, "{copies:?}");
    let whole = world_of(&disk).run(|env| async move { checked(&env) });
    for round in 0..3 {
        let mut damaged = disk.clone();
        for (index, copy) in copies.iter().enumerate() {
            let first = copy.with_extension("");
            match (round, index % 2) {
                (0, 0) | (1, 1) => damaged.get_mut(*copy).unwrap()[9] ^= 8,
                (0, 1) | (1, 0) => damaged.get_mut(&first).unwrap()[9] ^= 8,
                _ => drop(damaged.remove(&first).unwrap()),
            }
        }
        let mut simulation = world_of(&damaged);
        let found = simulation.run(|env| async move { checked(&env) });
        let twins = found.problems.iter().filter(|problem| problem.kind == FindingKind::Copy).count();
        assert_eq!((twins, found.problems.len()), (copies.len(), copies.len()), "{found:#?}");
        assert_eq!(found.state_hash, whole.state_hash);
        let report = repaired(&mut simulation);
        assert!(report.whole && report.repaired.len() == copies.len(), "{report:#?}");
        let mut after = files(&simulation);
        after.retain(|path, _| !path.ends_with("lock"));
        assert!(disk.iter().filter(|(path, _)| !path.ends_with("lock")).eq(&after));
    }
}

#[test]
fn a_checkpoint_that_cannot_be_made_anew_is_left_alone() {
    // After a crash nobody knows where the archive ended; and a damaged archive or state is none to go on with.
    let mut torn = killed();
    let younger = files(&torn);
    let disk = stopped("zstd");
    let mut cases = vec![younger];
    for name in
        ["state/ledger/0", "state/frontier/1/STATE-4", "warc/mattock-p0-20070609000000-00000.warc.zst"]
    {
        let mut damaged = disk.clone();
        damaged.get_mut(&Path::new(ROOT).join(name)).unwrap()[200] ^= 1;
        if name.contains("STATE") {
            damaged.get_mut(&copy_path(&Path::new(ROOT).join(name))).unwrap()[300] ^= 1;
        }
        cases.push(damaged);
    }
    for mut damaged in cases {
        let checkpoint = PathBuf::from("/crawl/state/CHECKPOINT");
        damaged.get_mut(&checkpoint).unwrap().truncate(1000);
        damaged.get_mut(&copy_path(&checkpoint)).unwrap().truncate(900);
        let mut simulation = world_of(&damaged);
        let report = repaired(&mut simulation);
        assert!(!report.whole && report.repaired.is_empty(), "{report:#?}");
        damaged.retain(|path, _| !path.ends_with("lock"));
        assert!(files(&simulation) == damaged, "nothing was touched");
    }
    let _ = repaired(&mut torn);
}

#[test]
fn a_lost_checkpoint_does_not_cost_the_archive() {
    let mut disk = stopped("gzip");
    disk.remove(Path::new("/crawl/state/CHECKPOINT")).unwrap();
    disk.remove(Path::new("/crawl/state/CHECKPOINT.copy")).unwrap();
    let mut simulation = world_of(&disk);
    simulation.run(|env| async move {
        let Err(error) = Crawl::open(&env, Path::new(ROOT), RawConfig::default()) else {
            panic!("everything would be fetched again");
        };
        assert!(error.to_string().contains("/crawl/state/CHECKPOINT: it is missing"), "{error}");
        let report = checked(&env);
        assert_eq!(report.problems[0].kind, FindingKind::Checkpoint, "{report:#?}");
    });
    let warc = |disk: &Disk| disk.keys().filter(|path| path.starts_with("/crawl/warc")).count();
    assert_eq!(warc(&files(&simulation)), warc(&disk));
    assert!(repaired(&mut simulation).whole);
}

#[test]
fn damaged_pages_are_named_and_the_rest_is_read() {
    let disk = stopped("gzip");
    let mut simulation = world_of(&disk);
    let whole = simulation.run(|env| async move { checked(&env) });
    let mut damaged = disk.clone();
    let path = PathBuf::from("/crawl/warc/mattock-p1-20070609000000-00001.warc.gz");
    damaged.remove(&path).unwrap();
    let report = world_of(&damaged).run(|env| async move { checked(&env) });
    let pages: Vec<_> = report.problems.iter().filter(|finding| finding.kind == FindingKind::Page).collect();
    assert_eq!(whole.pages - report.pages, pages.len() as u64);
    assert!(!pages.is_empty() && pages.iter().all(|page| page.url.is_some()), "{report:#?}");
    assert!(report.problems.iter().any(|finding| finding.kind == FindingKind::ArchiveFile));
    // Repairing does not help, and does not harm.
    let mut simulation = world_of(&damaged);
    assert_eq!(repaired(&mut simulation).problems, report.problems);
    damaged.retain(|path, _| !path.ends_with("lock"));
    assert!(files(&simulation) == damaged);
}

#[test]
fn nobody_repairs_a_crawl_that_runs() {
    let scratch = Scratch::new();
    let mut env = Env::real();
    // The crawl was set up in simulation.
    env.user = env.user.confirming();
    let root = scratch.0.join("crawl");
    let mut disk = Disk::new();
    for (path, bytes) in stopped("gzip") {
        disk.insert(root.join(path.strip_prefix(ROOT).unwrap()), bytes);
    }
    put(&env, &disk);
    let crawl = Crawl::open(&env, &root, RawConfig::default()).unwrap();
    assert!(matches!(repair(&env, &root, &mut |_| {}), Err(CrawlError::InUse { .. })));
    let report = mattock_crawl::check::check(&env, &root, &mut |_| {}).unwrap();
    assert!(report.whole && report.running, "{report:#?}");
    drop(crawl);
    let report = repair(&env, &root, &mut |_| {}).unwrap();
    assert!(report.whole && !report.running && report.repaired.is_empty(), "{report:#?}");
}
