//! Bits that flip and files that end early, in every kind of file: each is found, or changes nothing. Those that everything depends on
//! are kept twice: whatever happens to one of the two costs nothing.
//!
//! A few hundred by default; a thousand of each, all of them also met by a run, and a larger crawl, with
//! `MATTOCK_DAMAGE=all cargo test -p mattock-crawl --test main check::damage -- --nocapture`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mattock_crawl::check::{CheckReport, FindingKind};
use mattock_crawl::{Control, Crawl, CrawlError, RawConfig};
use mattock_env::sim::Simulation;
use mattock_env::{Env, OpenMode, Random, copy_path};
use mattock_repository::WarcReader;
use mattock_simweb::{Params, Preset, World};

use crate::world::crawl;

use super::operations::with_operations;
use super::{Disk, ROOT, checked, crawl_for, formats, settings, stopped, world_of};

/// What is done to a file.
#[derive(Clone, Copy, Debug)]
pub(super) enum Damage {
    Flip { byte: usize, bit: u8 },
    Cut { bytes: usize },
}

impl Damage {
    pub(super) fn draw(random: &mut Random, cut: bool, length: usize) -> Damage {
        let byte = random.below(length as u64) as usize;
        if cut { Damage::Cut { bytes: byte } } else { Damage::Flip { byte, bit: random.below(8) as u8 } }
    }

    pub(super) fn apply(self, bytes: &mut Vec<u8>) {
        match self {
            Damage::Flip { byte, bit } => {
                if let Some(byte) = bytes.get_mut(byte) {
                    *byte ^= 1 << bit;
                }
            }
            Damage::Cut { bytes: left } => bytes.truncate(left),
        }
    }
}

/// The files of each kind: names differ in their numbers.
pub(super) fn kinds(disk: &Disk) -> Vec<Vec<&PathBuf>> {
    let mut kinds: BTreeMap<String, Vec<&PathBuf>> = BTreeMap::new();
    for (path, bytes) in disk.iter().filter(|(_, bytes)| !bytes.is_empty()) {
        let mut kind: String = path.display().to_string();
        kind.retain(|letter| !letter.is_ascii_digit());
        assert!(!bytes.is_empty());
        kinds.entry(kind).or_default().push(path);
    }
    kinds.into_values().collect()
}

fn set(env: &Env, path: &Path, bytes: &[u8]) {
    let file = env.files.open(path, OpenMode::CreateOrTruncate).unwrap();
    file.write_all_at(bytes, 0).unwrap();
}

/// Everything that is in an archive, read past nothing.
fn records(env: &Env, disk: &Disk) -> Vec<String> {
    let mut all = Vec::new();
    for path in disk.keys().filter(|path| path.starts_with("/crawl/warc")) {
        let mut reader = WarcReader::open(&env.files, path).unwrap();
        while let Some(record) = reader.next_record().unwrap() {
            let fields: Vec<_> = record.fields.iter().collect();
            let block = xxhash_rust::xxh3::xxh3_64(record.block);
            all.push(format!("{} {:?} {} {fields:?} {block}", record.offset, record.length, record.version));
        }
    }
    all
}

/// One flipped bit costs one record, one block, or the one file that has no smaller parts.
fn assert_little_is_lost(path: &Path, damage: Damage, whole: &CheckReport, report: &CheckReport) {
    let count = |kind: FindingKind| report.problems.iter().filter(|finding| finding.kind == kind).count();
    let (records, pages) = (whole.records - report.records, whole.pages - report.pages);
    if path.starts_with("/crawl/warc") && matches!(damage, Damage::Flip { .. }) {
        assert!(records <= 1 && pages <= 1, "{path:?} {damage:?}: {report:#?}");
        assert!(count(FindingKind::Record) <= 1 && count(FindingKind::Unlisted) == 0, "{report:#?}");
    }
    if path.starts_with("/crawl/state/ledger") {
        assert_eq!(records, 0);
        assert_eq!(count(FindingKind::Unlisted) + count(FindingKind::Page), 0, "{damage:?} {report:#?}");
        if matches!(damage, Damage::Flip { .. }) {
            assert_eq!(count(FindingKind::Ledger), 1, "{damage:?} {report:#?}");
        }
    }
    if path.starts_with("/crawl/state/frontier") {
        assert_eq!((records, pages), (0, 0));
    }
    let named = path.strip_prefix(ROOT).unwrap().display().to_string();
    let all = report.problems.iter().chain(&report.notes);
    assert!(all.into_iter().any(|finding| finding.file == named), "{named}: {report:#?}");
    if is_kept_twice(path) {
        assert_eq!(
            (report.problems.len(), count(FindingKind::Copy)),
            (1, 1),
            "{path:?} {damage:?}: {report:#?}"
        );
        assert_eq!((records, pages, &report.state_hash), (0, 0, &whole.state_hash));
    }
}

/// Whether there are two of a file.
pub(super) fn is_kept_twice(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    path.starts_with("/crawl/state")
        && ["CHECKPOINT", "STATE-", "MANIFEST-", "tail-"].iter().any(|kind| name.starts_with(kind))
}

/// Copies of those files that have none, as a run of this version would have made them.
fn with_copies(mut disk: Disk) -> Disk {
    let twice: Vec<_> = disk.iter().filter(|(path, _)| is_kept_twice(path)).collect();
    let copies: Vec<_> = twice.into_iter().map(|(path, bytes)| (copy_path(path), bytes.clone())).collect();
    disk.extend(copies);
    disk
}

/// Opens a crawl, stops it at once, and says what that came to, and what is there then.
fn opened(simulation: &mut Simulation) -> (Result<(), CrawlError>, CheckReport) {
    simulation.run(|env| async move {
        let control = Control::default();
        control.stop();
        let ran = match Crawl::open(&env, Path::new(ROOT), RawConfig::default()) {
            Ok(crawl) => crawl.run(control).await.map(|_| ()),
            Err(error) => Err(error),
        };
        (ran, checked(&env))
    })
}

/// A run on damaged files ends in an error or not; in no case does it touch what a checkpoint counts. What is kept twice is no reason for
/// an error: the state is the one that it would have been.
fn assert_a_run_keeps_everything(disk: &Disk, damaged: &Path, found: &CheckReport, expected: &CheckReport) {
    let mut simulation = world_of(disk);
    let (ran, after) = opened(&mut simulation);
    if is_kept_twice(damaged) {
        assert!(ran.is_ok(), "{damaged:?}: {ran:?}");
        assert_eq!(after, *expected, "{damaged:?}");
    }
    let now = simulation.files().snapshot();
    for (path, bytes) in disk {
        let kept = path.starts_with("/crawl/warc") || path.starts_with("/crawl/state/ledger");
        if kept || path.ends_with("CHECKPOINT") && ran.is_err() {
            assert!(now.get(path).is_some_and(|now| now == bytes), "{} has changed: {ran:?}", path.display());
        }
    }
    if let Err(error) = ran {
        // What could not be used is as it was, and the message names a file.
        let state = |report: &CheckReport| {
            let state =
                |kind| !matches!(kind, FindingKind::Configuration | FindingKind::ConfigurationChanged);
            report.problems.iter().filter(|finding| state(finding.kind)).cloned().collect::<Vec<_>>()
        };
        assert_eq!(state(&after), state(found), "{error}");
        assert!(error.to_string().contains("/crawl"), "{error}");
    }
}

/// Damages a crawl so often, and lets every so manyeth be met by a run.
fn damage(disk: &Disk, change: &str, seed: u64, count: usize, run_every: usize) {
    damage_some(disk, |_| true, change, seed, count, run_every);
}

/// The same to some of its files.
#[expect(clippy::print_stderr, reason = "how many were found is worth knowing")]
fn damage_some(
    disk: &Disk,
    wanted: impl Fn(&Path) -> bool,
    change: &str,
    seed: u64,
    count: usize,
    run_every: usize,
) {
    let mut kinds = kinds(disk);
    kinds.retain(|kind| wanted(kind[0]));
    let mut random = Random::from_seed(seed);
    let mut simulation = world_of(disk);
    let whole = simulation.run(|env| async move { checked(&env) });
    assert!(whole.whole && whole.notes.is_empty(), "{whole:#?}");
    let (ran, expected) = opened(&mut world_of(disk));
    assert!(ran.is_ok() && expected.whole && expected.state_hash.is_some(), "{ran:?} {expected:#?}");
    let mut harmless: Vec<(&Path, Damage)> = Vec::new();
    let mut found = 0;
    for number in 0..count {
        let kind = &kinds[number / 2 % kinds.len()];
        let path = kind[random.below(kind.len() as u64) as usize].as_path();
        let damage = Damage::draw(&mut random, number % 2 == 1, disk[path].len());
        let mut bytes = disk[path].clone();
        damage.apply(&mut bytes);
        let report = simulation.run(|env| {
            set(&env, path, &bytes);
            let report = checked(&env);
            set(&env, path, &disk[path]);
            async { report }
        });
        if report.whole && report.notes.is_empty() {
            assert_eq!(report, whole);
            harmless.push((path, damage));
            continue;
        }
        found += 1;
        assert_little_is_lost(path, damage, &whole, &report);
        if number % run_every == 0 {
            let mut damaged = disk.clone();
            damaged.insert(path.to_owned(), bytes);
            assert_a_run_keeps_everything(&damaged, path, &report, &expected);
        }
    }
    assert!(found > count / 3, "{found} of {count}");
    eprintln!(
        "seed {seed}: {found} of {count} found, {} of no effect, {} kinds of files",
        harmless.len(),
        kinds.len()
    );
    // All that is said to be of no effect, at once: the archive reads the same, and the crawl goes on in the very same way.
    let mut damaged = disk.clone();
    for (path, damage) in &harmless {
        damage.apply(damaged.get_mut(*path).unwrap());
    }
    let [expected, actual] = [disk, &damaged].map(|disk| {
        let mut simulation = world_of(disk);
        let records = simulation.run(|env| async move { records(&env, disk) });
        crawl_for(&mut simulation, 9, change);
        let after = simulation.files().snapshot();
        (records, after)
    });
    assert!(expected.0 == actual.0, "{harmless:?}");
    let counts = |path: &Path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let kept = ["/crawl/warc", "/crawl/state/ledger"].iter().any(|dir| path.starts_with(dir));
        kept || name == "CHECKPOINT" || name.starts_with("STATE-")
    };
    for (path, bytes) in expected.1.iter().filter(|(path, _)| counts(path)) {
        let same = actual.1.get(path) == Some(bytes) || harmless.iter().any(|(damaged, _)| damaged == path);
        assert!(same, "{} is another one after {harmless:?}", path.display());
    }
}

/// A crawl that has only just begun: its queues are not empty.
fn begun(seed: u64, count: usize, run_every: usize) {
    damage(&with_copies(formats::kept()), formats::GOING_ON, seed, count, run_every);
}

/// Whether there is time for minutes of it.
#[expect(clippy::print_stderr, reason = "what is skipped is said")]
pub(super) fn all_of_it() -> bool {
    let asked = std::env::var_os("MATTOCK_DAMAGE").is_some();
    if !asked {
        eprintln!("skipped: takes minutes; MATTOCK_DAMAGE=all runs it");
    }
    asked
}

#[test]
fn flips_and_cuts_in_gzip() {
    damage(&stopped("gzip"), &settings("gzip"), 1, 120, 10);
}

#[test]
fn flips_and_cuts_in_zstandard() {
    damage(&stopped("zstd"), &settings("zstd"), 2, 120, 10);
}

#[test]
fn flips_and_cuts_soon_after_the_beginning() {
    begun(3, 200, 10);
}

#[test]
fn flips_and_cuts_in_operations_that_wait() {
    let (disk, wanted) = with_operations(&stopped("gzip"));
    let wanted = |path: &Path| wanted.iter().any(|wanted| wanted == path);
    damage_some(&disk, wanted, &settings("gzip"), 9, 60, 10);
}

#[test]
fn a_thousand_flips_and_a_thousand_cuts() {
    if !all_of_it() {
        return;
    }
    damage(&with_operations(&stopped("gzip")).0, &settings("gzip"), 4, 700, 1);
    damage(&stopped("zstd"), &settings("zstd"), 5, 700, 1);
    begun(6, 600, 1);
}

pub(super) fn larger_world() -> World {
    World::new(Params { page_bytes: 200, ..Params::preset(Preset::Small) }, 7)
}

/// A crawl of which more waits than fits into RAM, and how it is crawled.
pub(super) fn larger() -> (Disk, &'static str) {
    let mut simulation = Simulation::new(7);
    let change = "[crawl]\npartitions = 2\nmemory = '128MiB'\nmax_pages = 6000\n[politeness]\ndelay = '10ms'";
    simulation.run(|env| async move {
        crawl(&env, larger_world(), Path::new(ROOT), change).await;
    });
    let mut disk = simulation.files().snapshot();
    disk.retain(|path, _| path.starts_with(ROOT));
    let is_segment = |path: &PathBuf| path.display().to_string().contains("/queues/segment-");
    assert!(disk.keys().any(is_segment));
    (disk, change)
}

/// There are more kinds of files in it.
#[test]
fn flips_and_cuts_in_a_larger_crawl() {
    if !all_of_it() {
        return;
    }
    let (disk, change) = larger();
    let frontier = |path: &Path| path.starts_with("/crawl/state/frontier");
    damage_some(&disk, frontier, &change.replace("6000", "6100"), 8, 200, 10);
}
