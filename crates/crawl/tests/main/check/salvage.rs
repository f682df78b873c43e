//! Whatever happens to one of a crawl's files: after a repair it goes on, and what is lost is little.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use mattock_crawl::Control;
use mattock_crawl::check::{CheckReport, FindingKind, repair};
use mattock_env::sim::Simulation;
use mattock_env::{Fault, Random};
use mattock_repository::LedgerReader;
use mattock_simweb::World;

use super::damage::{Damage, all_of_it, is_kept_twice, kinds, larger, larger_world};
use super::operations::with_operations;
use super::{Disk, ROOT, checked, crawl_on, settings, stopped, world, world_of};
use crate::world::crawl_until;

/// The URLs that all ledgers have, each as often as it stands there.
fn fetched(simulation: &mut Simulation) -> Vec<String> {
    let disk = simulation.files().snapshot();
    let ledgers: Vec<(PathBuf, u64)> = disk
        .iter()
        .filter(|(path, _)| path.display().to_string().starts_with("/crawl/state/ledger"))
        .map(|(path, bytes)| (path.clone(), bytes.len() as u64))
        .collect();
    simulation.run(|env| async move {
        let mut urls = Vec::new();
        for (path, length) in ledgers {
            let (mut reader, _) = LedgerReader::open_damaged(&env.files, &path, length).unwrap();
            loop {
                match reader.next_block(|row| urls.push(row.url.to_owned())) {
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(_) => {}
                }
            }
        }
        urls.sort_unstable();
        urls
    })
}

pub(super) fn repaired(simulation: &mut Simulation) -> CheckReport {
    simulation.run(|env| async move { repair(&env, Path::new(ROOT), &mut |_| {}).unwrap() })
}

/// What is wrong with a crawl after its state was repaired: only what is wrong with its archive and with its ledgers.
fn assert_only_what_is_archived_is_damaged(report: &CheckReport, path: &Path) {
    for finding in &report.problems {
        let archived = matches!(
            finding.kind,
            FindingKind::Record | FindingKind::Page | FindingKind::Ledger | FindingKind::Unlisted
        );
        assert!(archived && !path.starts_with("/crawl/state/frontier"), "{path:?}: {report:#?}");
    }
}

/// Damages one file after the other, repairs, and goes on. How often frontiers were made anew.
fn go_on(disk: &Disk, world: fn() -> World, change: &str, seed: u64, count: usize) -> usize {
    let matters = |path: &Path| {
        let is_part = path.starts_with("/crawl/state") || path.starts_with("/crawl/warc");
        is_part && (!is_kept_twice(path) || path.ends_with("STATE-4"))
    };
    go_on_some(disk, matters, world, change, seed, count)
}

/// The same with some of the files.
fn go_on_some(
    disk: &Disk,
    wanted: impl Fn(&Path) -> bool,
    world: fn() -> World,
    change: &str,
    seed: u64,
    count: usize,
) -> usize {
    let mut random = Random::from_seed(seed);
    let mut kinds = kinds(disk);
    kinds.retain(|kind| wanted(kind[0]));
    let mut remade = 0;
    for number in 0..count {
        let kind = &kinds[number / 2 % kinds.len()];
        let path = kind[random.below(kind.len() as u64) as usize].as_path();
        let damage = Damage::draw(&mut random, number % 2 == 1, disk[path].len());
        let mut damaged = disk.clone();
        damage.apply(damaged.get_mut(path).unwrap());
        let mut simulation = world_of(&damaged);
        let report = repaired(&mut simulation);
        assert_only_what_is_archived_is_damaged(&report, path);
        let anew = report.repaired.iter().any(|finding| finding.what.contains("made anew as checkpoint"));
        assert!(!anew || !is_kept_twice(path), "{path:?} {damage:?}: {report:#?}");
        remade += usize::from(anew);
        let again = repaired(&mut simulation);
        assert!(again.repaired.is_empty(), "{path:?} {damage:?}: {again:#?}");
        assert_eq!(again.problems, report.problems);
        crawl_on(&mut simulation, world(), 9, change);
        let after = simulation.run(|env| async move { checked(&env) });
        assert_only_what_is_archived_is_damaged(&after, path);
        assert!(after.rows > report.rows && after.pages > report.pages, "{path:?} {damage:?}: {after:#?}");
        assert_eq!(after.urls_seen, after.urls_settled + after.urls_open);
        let urls = fetched(&mut simulation);
        let distinct: BTreeSet<&String> = urls.iter().collect();
        // Only if nobody can tell any more what was fetched, a page is fetched twice.
        assert!(
            distinct.len() == urls.len() || path.starts_with("/crawl/state/ledger"),
            "{path:?} {damage:?}"
        );
    }
    remade
}

#[test]
fn a_crawl_goes_on_after_a_repair_with_budgets() {
    assert!(go_on(&stopped("gzip"), world, &settings("gzip"), 21, 30) > 5);
}

#[test]
fn a_crawl_goes_on_after_a_repair_without_budgets() {
    assert!(go_on(&stopped("zstd"), world, &settings("zstd"), 22, 30) > 5);
}

#[test]
fn a_crawl_goes_on_after_a_repair_with_operations_that_wait() {
    let (disk, wanted) = with_operations(&stopped("gzip"));
    let wanted = |path: &Path| wanted.iter().any(|wanted| wanted == path);
    assert_eq!(go_on_some(&disk, wanted, world, &settings("gzip"), 26, 12), 12);
}

#[test]
fn a_thousand_damages_are_survived() {
    if !all_of_it() {
        return;
    }
    go_on(&with_operations(&stopped("gzip")).0, world, &settings("gzip"), 23, 500);
    go_on(&stopped("zstd"), world, &settings("zstd"), 24, 500);
    let (disk, change) = larger();
    assert!(go_on(&disk, larger_world, &change.replace("6000", "6400"), 25, 100) > 50);
}

/// Damage to what is not in the archive does not keep a crawl from its pages, but for those that waited in the block that is lost.
#[test]
fn the_pages_of_a_repaired_crawl_are_those_of_one_that_was_never_damaged() {
    let disk = stopped("zstd");
    let complete = |disk: &Disk| {
        let mut simulation = world_of(disk);
        let report = repaired(&mut simulation);
        simulation.run(|env| async move {
            crawl_until(&env, world(), Path::new(ROOT), &settings("zstd"), Control::default()).await;
        });
        let urls = fetched(&mut simulation);
        assert!(urls.windows(2).all(|pair| pair[0] != pair[1]), "a page twice");
        (report, urls)
    };
    let (_, expected) = complete(&disk);
    let mut random = Random::from_seed(31);
    let big = |path: &&PathBuf| path.starts_with("/crawl/state/frontier") && !is_kept_twice(path);
    let files: Vec<&PathBuf> = disk.keys().filter(big).collect();
    let mut remade = 0;
    for number in 0..6 {
        let path = files[random.below(files.len() as u64) as usize];
        let mut damaged = disk.clone();
        Damage::draw(&mut random, number % 2 == 1, disk[path].len()).apply(damaged.get_mut(path).unwrap());
        let (report, actual) = complete(&damaged);
        remade += usize::from(!report.repaired.is_empty());
        let missing = expected.iter().filter(|url| actual.binary_search(url).is_err()).count();
        let surplus = actual.iter().filter(|url| expected.binary_search(url).is_err()).count();
        assert!(missing <= 1000 && surplus == 0, "{path:?}: {missing} missing, {surplus} more; {report:#?}");
        if !path.display().to_string().contains("/queues/") && !path.display().to_string().contains("/log-") {
            assert_eq!(missing, 0, "{path:?}");
        }
    }
    assert!(remade > 2, "{remade}");
}

/// A repair that is interrupted leaves the damaged state or the one that was made of it; nothing is removed, and the next one ends it.
#[test]
fn a_repair_that_is_killed_is_made_again() {
    let whole = stopped("zstd");
    let damaged = |path: &&PathBuf| path.display().to_string().contains("/seen/run-");
    let path = whole.keys().find(damaged).unwrap().clone();
    let mut disk = whole.clone();
    disk.get_mut(&path).unwrap()[100] ^= 4;
    let mut simulation = world_of(&disk);
    let begun = simulation.files().operations();
    let report = repaired(&mut simulation);
    let operations = simulation.files().operations() - begun;
    assert!(report.whole && operations > 50, "{operations}: {report:#?}");
    let aside = |disk: &Disk| {
        let kept = |path: &PathBuf| path.display().to_string().contains("/damaged-");
        disk.iter().filter(|(path, _)| kept(path)).map(|(_, bytes)| bytes.clone()).collect::<Vec<_>>()
    };
    let expected = aside(&simulation.files().snapshot());
    assert!(expected.contains(&disk[&path]));
    let (mut old, mut new) = (0, 0);
    for number in 0..40 {
        let mut simulation = world_of(&disk);
        let files = simulation.files().clone();
        // All along, and more often towards its end, where it counts.
        let after = if number % 2 == 0 { operations * number / 40 } else { operations - 1 - number / 2 };
        files.fail_at(files.operations() + after, Fault::Stop);
        let killed = simulation.run(|env| async move { repair(&env, Path::new(ROOT), &mut |_| {}).is_err() });
        files.clear_faults();
        match number % 4 < 2 {
            true => files.kill(),
            false => files.crash(),
        }
        let layout = simulation.run(|env| async move { checked(&env) });
        assert!(killed || layout.whole);
        old += u32::from(!layout.whole);
        new += u32::from(layout.whole);
        let report = repaired(&mut simulation);
        assert!(report.whole, "after {after} of {operations}: {report:#?}");
        assert!(aside(&simulation.files().snapshot()) == expected, "after {after} of {operations}");
        let again = repaired(&mut simulation);
        assert!(again.repaired.is_empty() && again.state_hash == report.state_hash, "{again:#?}");
        if number % 8 == 1 {
            crawl_on(&mut simulation, world(), 9, &settings("zstd"));
        }
    }
    assert!(old > 10 && new > 2, "{old} {new}");
}

/// What has nothing to do with the files is no reason to make anything of them.
#[test]
fn trouble_with_reading_is_not_taken_for_damage() {
    let disk = stopped("zstd");
    let ledger = PathBuf::from("/crawl/state/ledger/0");
    let mut newer = disk.clone();
    // The byte after the magic ones names the version.
    newer.get_mut(&ledger).unwrap()[8] = 99;
    let mut simulation = world_of(&newer);
    let outcome = simulation.run(|env| async move { repair(&env, Path::new(ROOT), &mut |_| {}).map(|_| ()) });
    let error = outcome.unwrap_err().to_string();
    assert!(error.contains("version"), "{error}");
    let mut after = simulation.files().snapshot();
    after.retain(|path, _| path.starts_with(ROOT) && newer.contains_key(path));
    assert!(after == newer, "nothing was touched");
}
