//! The seeds of the fuzz targets, each through the function that the target calls.

use std::path::Path;

#[path = "../../../fuzz/checks/ledger.rs"]
mod ledger;
#[path = "../../../fuzz/checks/replay.rs"]
mod replay;
#[path = "../../../fuzz/checks/warc.rs"]
mod warc;

#[expect(clippy::disallowed_methods, reason = "the seeds are real files of this repository")]
fn replay(target: &str, check: fn(&[u8])) {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds")).join(target);
    let mut seeds: Vec<_> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("a readable folder").path())
        .collect();
    seeds.sort();
    assert!(seeds.len() >= 5, "the seeds of {target} are not whole");
    for seed in seeds {
        check(&std::fs::read(&seed).unwrap_or_else(|error| panic!("{}: {error}", seed.display())));
    }
}

#[test]
fn warc_corpus() {
    replay("warc", warc::check);
}

#[test]
fn ledger_corpus() {
    replay::replay("ledger", ledger::check);
}
