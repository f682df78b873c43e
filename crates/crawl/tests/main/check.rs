//! `check` finds whatever happens to a crawl's files, and nothing in one that is whole.

mod damage;
mod formats;
mod operations;
mod repair;
mod salvage;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use mattock_crawl::Control;
use mattock_crawl::check::{CheckReport, Finding, check};
use mattock_env::Env;
use mattock_env::sim::Simulation;
use mattock_repository::{RecordType, WarcReader};
use mattock_simweb::{Params, World};

use crate::world::{crawl_until, tiny};

const ROOT: &str = "/crawl";
const SEED: u64 = 11;

/// Every file of a disk.
type Disk = BTreeMap<PathBuf, Vec<u8>>;

/// Few pages, but more than fit on the bench: some wait on disk.
fn world() -> World {
    let params = Params { page_bytes: 1_500, pages_min: 60, pages_max: 900, ..tiny(SEED).params().clone() };
    World::new(params, SEED)
}

/// Two partitions, and a checkpoint every few seconds; with budgets, and so with in-degrees on disk, and without.
fn settings(compression: &str) -> String {
    let budget = if compression == "gzip" { "broad" } else { "unlimited" };
    format!(
        "[crawl]\npartitions = 2\nmemory = '128MiB'\nbudget = '{budget}'\nbudget_pages = 2\n\
         [archive]\ncompression = '{compression}'\n[checkpoint]\nevery = '7s'\n[politeness]\ndelay = '500ms'"
    )
}

/// Crawls for a while.
fn crawl_for(simulation: &mut Simulation, seconds: u64, change: &str) {
    crawl_on(simulation, world(), seconds, change);
}

/// The same in another world.
fn crawl_on(simulation: &mut Simulation, world: World, seconds: u64, change: &str) {
    let summary = simulation.run(|env| async move {
        let control = Control::default();
        let (stop, clock) = (control.clone(), env.clock.clone());
        tokio::task::spawn_local(async move {
            clock.sleep(Duration::from_secs(seconds)).await;
            stop.stop();
        });
        crawl_until(&env, world, Path::new(ROOT), change, control).await.0
    });
    assert!(summary.pages > 10 && summary.urls_queued > 0, "{summary:?}");
}

/// A crawl that was stopped in the middle, twice.
fn stopped(compression: &str) -> Disk {
    let mut simulation = Simulation::new(SEED);
    for seconds in [11, 13] {
        crawl_for(&mut simulation, seconds, &settings(compression));
    }
    let mut disk = simulation.files().snapshot();
    disk.retain(|path, _| path.starts_with(ROOT));
    disk
}

/// Puts files on a disk.
fn put(env: &Env, disk: &Disk) {
    for (path, bytes) in disk {
        env.files.create_dir_all(path.parent().unwrap()).unwrap();
        env.files.write_atomic(path, bytes).unwrap();
    }
    let directories: BTreeSet<&Path> = disk.keys().flat_map(|path| path.ancestors().skip(1)).collect();
    directories.into_iter().for_each(|path| env.files.sync_dir(path).unwrap());
}

/// A world with these files.
fn world_of(disk: &Disk) -> Simulation {
    let mut simulation = Simulation::new(SEED);
    simulation.run(|env| async move { put(&env, disk) });
    simulation
}

fn checked(env: &Env) -> CheckReport {
    check(env, Path::new(ROOT), &mut |progress| assert!(progress.done <= progress.total)).unwrap()
}

#[test]
fn a_whole_crawl_is_found_whole_wherever_it_stands() {
    for compression in ["gzip", "zstd"] {
        let disk = stopped(compression);
        let report = world_of(&disk).run(|env| async move { checked(&env) });
        assert!(report.whole && report.notes.is_empty(), "{report:#?}");
        assert_eq!((report.partitions, report.urls_open > 0), (2, true));
        assert!(report.archive_files >= 4 && report.pages > 20 && report.rows >= report.pages, "{report:#?}");
        // Request, response, metadata, and one record at the beginning of each file.
        assert_eq!(report.records, report.responses * 3 + report.archive_files);
        assert!(report.responses > report.pages, "robots.txt files have no row");
        assert_eq!(report.urls_seen, report.urls_settled + report.urls_open);
    }
}

/// Pages whose bytes are another one's are lost with it, and named.
#[test]
fn a_page_that_repeats_a_lost_one_is_named() {
    for compression in ["gzip", "zstd"] {
        let disk = stopped(compression);
        world_of(&disk).run(|env| async move {
            let mut originals = BTreeMap::new();
            let mut repeating: BTreeMap<PathBuf, Vec<(u64, u64, String)>> = BTreeMap::new();
            for path in disk.keys().filter(|path| path.starts_with("/crawl/warc")) {
                let mut reader = WarcReader::open(&env.files, path).unwrap();
                while let Some(record) = reader.next_record().unwrap() {
                    let id = |name| record.fields.get(name).map(str::to_owned);
                    let url = record.target_uri().unwrap_or_default().to_owned();
                    match record.kind() {
                        Some(RecordType::Response) => {
                            let place = (path.clone(), record.offset, record.length.unwrap());
                            originals.insert(id("WARC-Record-ID").unwrap(), place);
                        }
                        Some(RecordType::Revisit) => {
                            let (path, offset, length) = &originals[&id("WARC-Refers-To").unwrap()];
                            let of = repeating.entry(path.clone()).or_default();
                            of.push((*offset, *length, url));
                        }
                        _ => {}
                    }
                }
            }
            let (path, repeated) = repeating.into_iter().next().expect("the world has copies");
            let (offset, length, _) = repeated[0];
            let lost = repeated.iter().filter(|(at, ..)| *at == offset).map(|(.., url)| url.clone());
            let mut bytes = disk[&path].clone();
            bytes[(offset + length / 2) as usize] ^= 1;
            env.files.write_atomic(&path, &bytes).unwrap();
            let report = checked(&env);
            let named = |finding: &&Finding| finding.what.contains("repeats cannot be read");
            let named = report.problems.iter().filter(named).filter_map(|finding| finding.url.clone());
            let lost: BTreeSet<String> = lost.collect();
            assert_eq!(named.collect::<BTreeSet<_>>(), lost, "{compression}");
        });
    }
}

/// While checkpoints are being written in the background, too.
#[test]
fn a_crawl_that_runs_is_whole_at_every_moment() {
    let mut simulation = Simulation::new(SEED);
    let reports = simulation.run(|env| async move {
        let control = Control::default();
        let (stop, beside) = (control.clone(), env.clone());
        let looking = tokio::task::spawn_local(async move {
            let mut reports = Vec::new();
            // Every instant of some checkpoints, and every now and then.
            for look in 0..300 {
                let pause = if look % 100 == 0 { 6_900 } else { 2 };
                beside.clock.sleep(Duration::from_millis(pause)).await;
                reports.push(checked(&beside));
            }
            stop.stop();
            reports
        });
        crawl_until(&env, world(), Path::new(ROOT), &settings("gzip"), control).await;
        looking.await.unwrap()
    });
    for report in &reports {
        assert!(report.whole, "{report:#?}");
    }
    let mut checkpoints: Vec<u64> = reports.iter().map(|report| report.checkpoint).collect();
    checkpoints.dedup();
    assert!(checkpoints.is_sorted() && checkpoints.len() > 2, "{checkpoints:?}");
}
