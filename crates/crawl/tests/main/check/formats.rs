//! A crawl of every version of the formats is kept: it is whole, and goes on. What is of an unknown version is named.
//!
//! - v1: CHECKPOINT 1, STATE 6, ledger 1, DRUM 1, configuration 1, WARC 1.1
//! - v2: ledger 2, DRUM 2
//! - v3: STATE 7, ledger 4
//!
//! `MATTOCK_UPDATE=1` writes that of the present versions anew, which is right only before they were ever released. Drum and queue
//! have fixtures of their own.

use std::path::{Path, PathBuf};

use mattock_codec::checksum;
use mattock_crawl::{Control, Crawl, RawConfig};
use mattock_env::Env;
use mattock_env::sim::Simulation;

use super::{Disk, ROOT, SEED, checked, crawl_for, world_of};
use crate::world::{crawl, tiny};
use mattock_simweb::{Params, World};

/// How it goes on.
pub(super) const GOING_ON: &str = "[crawl]\nmax_pages = 1000\n[politeness]\ndelay = '500ms'";

/// The version that is written now.
const PRESENT: &str = "v3";

fn fixture(version: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(version)
}

/// A handful of pages by two partitions, with budgets.
fn written() -> Disk {
    let mut simulation = Simulation::new(SEED);
    simulation.run(|env| async move {
        let change = "[crawl]\npartitions = 2\nmemory = '128MiB'\nbudget = 'broad'\nmax_pages = 9\n\
                      [politeness]\ndelay = '500ms'";
        let params = Params { page_bytes: 200, links_per_page: 12.0, ..tiny(SEED).params().clone() };
        crawl(&env, World::new(params, SEED), Path::new(ROOT), change).await;
    });
    let mut disk = simulation.files().snapshot();
    // Files that are kept twice are in the fixture once.
    let is_copy = |path: &Path| path.extension().is_some_and(|extension| extension == "copy");
    disk.retain(|path, _| path.starts_with(ROOT) && !path.ends_with("lock") && !is_copy(path));
    disk
}

fn read(real: &Env, from: &Path, to: &Path, disk: &mut Disk) {
    for entry in real.files.list(from).unwrap() {
        let (from, to) = (from.join(&entry.name), to.join(&entry.name));
        if entry.is_dir {
            read(real, &from, &to, disk);
        } else {
            disk.insert(to, real.files.read(&from).unwrap());
        }
    }
}

/// That of the present version.
pub(super) fn kept() -> Disk {
    kept_of(PRESENT)
}

fn kept_of(version: &str) -> Disk {
    let real = Env::real();
    if version == PRESENT && std::env::var_os("MATTOCK_UPDATE").is_some() {
        let _ = real.files.remove_dir_all(&fixture(version));
        let moved = written().into_iter();
        let moved =
            moved.map(|(path, bytes)| (fixture(version).join(path.strip_prefix(ROOT).unwrap()), bytes));
        super::put(&real, &moved.collect());
    }
    let mut disk = Disk::new();
    read(&real, &fixture(version), Path::new(ROOT), &mut disk);
    disk
}

fn is_whole_and_goes_on(version: &str) {
    let mut simulation = world_of(&kept_of(version));
    let before = simulation.run(|env| async move { checked(&env) });
    assert!(before.whole && before.notes.is_empty() && before.pages >= 9, "{before:#?}");
    crawl_for(&mut simulation, 20, GOING_ON);
    let after = simulation.run(|env| async move { checked(&env) });
    assert!(after.whole && after.pages > before.pages + 10, "{after:#?}");
    assert!(after.checkpoint > before.checkpoint);
}

#[test]
fn version_1_is_whole_and_goes_on() {
    is_whole_and_goes_on("v1");
}

#[test]
fn version_2_is_whole_and_goes_on() {
    is_whole_and_goes_on("v2");
}

#[test]
fn version_3_is_whole_and_goes_on() {
    is_whole_and_goes_on("v3");
}

/// Numbers that count the checksum of a manifest in anew.
fn reseal_manifest(path: &Path, bytes: &mut [u8]) {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let number = name.strip_prefix("MANIFEST-").unwrap().parse().unwrap();
    let content = bytes.len() - 4;
    let sum = checksum(0, number, &[&bytes[..content]]);
    bytes[content..].copy_from_slice(&sum.to_le_bytes());
}

/// A gzip member with a record of WARC 2.0.
fn record_of_another_version() -> Vec<u8> {
    let record = b"WARC/2.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n";
    let length = record.len() as u16;
    let mut member = b"\x1f\x8b\x08\0\0\0\0\0\0\xff\x01".to_vec();
    member.extend(length.to_le_bytes());
    member.extend((!length).to_le_bytes());
    member.extend(record);
    member.extend(crc32fast::hash(record).to_le_bytes());
    member.extend(u32::from(length).to_le_bytes());
    member
}

/// What a run says of a crawl.
fn run(disk: &Disk) -> String {
    world_of(disk).run(|env| async move {
        let control = Control::default();
        control.stop();
        match Crawl::open(&env, Path::new(ROOT), RawConfig::default()) {
            Ok(crawl) => crawl.run(control).await.map_or_else(|error| error.to_string(), |_| String::new()),
            Err(error) => error.to_string(),
        }
    })
}

#[test]
fn an_unknown_version_of_any_file_is_named() {
    let disk = kept();
    let text = |path: &Path, from: &str, to: &str| {
        String::from_utf8(disk[path].clone()).unwrap().replacen(from, to, 1).into_bytes()
    };
    let newest = |of: &str| {
        let below = Path::new(ROOT).join("state/frontier/0").join(of);
        let path = disk
            .keys()
            .rfind(|path| path.starts_with(&below) && path.display().to_string().contains("MANIFEST"));
        path.unwrap().clone()
    };
    let state = disk.keys().find(|path| path.display().to_string().contains("/0/STATE-")).unwrap().clone();
    let toml = Path::new(ROOT).join("crawl.toml");
    let checkpoint = Path::new(ROOT).join("state/CHECKPOINT");
    let ledger = Path::new(ROOT).join("state/ledger/1");
    let mut cases = vec![
        (toml.clone(), text(&toml, "configuration 1", "configuration 2"), "version 2"),
        (checkpoint.clone(), text(&checkpoint, "checkpoint 1", "checkpoint 2"), "version 2"),
    ];
    for (path, says) in [(state, "version 99"), (ledger, "version 99")] {
        let mut bytes = disk[&path].clone();
        bytes[8..12].copy_from_slice(&99u32.to_le_bytes());
        cases.push((path, bytes, says));
    }
    for part in ["seen", "robots", "content", "degrees", "queues"] {
        let path = newest(part);
        let mut bytes = disk[&path].clone();
        bytes[7] = b'7';
        reseal_manifest(&path, &mut bytes);
        cases.push((path, bytes, "version '7'"));
    }
    for (path, bytes, says) in cases {
        let mut altered = disk.clone();
        altered.insert(path.clone(), bytes);
        let report = world_of(&altered).run(|env| async move { checked(&env) });
        let name = path.strip_prefix(ROOT).unwrap().display().to_string();
        let told =
            |finding: &mattock_crawl::check::Finding| finding.file == name && finding.what.contains(says);
        assert!(report.problems.iter().any(told), "{name} {says}: {report:#?}");
        let message = run(&altered);
        assert!(message.contains(&name) && message.contains(says), "{name} {says}: {message}");
    }
    let warc = disk.keys().find(|path| path.starts_with("/crawl/warc")).unwrap().clone();
    let mut altered = disk.clone();
    altered.insert(warc, [&record_of_another_version(), &disk[disk.keys().last().unwrap()][..]].concat());
    let report = world_of(&altered).run(|env| async move { checked(&env) });
    let told = report.problems.iter().any(|finding| finding.what.contains("WARC version 2.0"));
    assert!(told, "{report:#?}");
}
