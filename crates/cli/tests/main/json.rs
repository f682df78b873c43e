//! `--json`: one line on stdout that programs can rely on.

use serde_json::Value;

use crate::process::Scratch;
use crate::served::{Served, world};

#[test]
fn a_crawl_ends_in_one_object() {
    let scratch = Scratch::new("json");
    let served = Served::start(5, "0s", 0);
    let mut words: Vec<&str> = served.crawl.iter().map(String::as_str).collect();
    words.push("--json");
    let output = scratch.mattock(&words);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    let summary: Value = serde_json::from_str(&text).unwrap();
    for key in ["pages", "urls_seen", "bytes", "seconds", "cpu_seconds"] {
        assert!(summary[key].is_number(), "{key}: {text}");
    }
    let truth = world(5).truth(100_000).unwrap();
    assert_eq!(summary["pages"], truth.allowed);
    assert_eq!(summary["outcomes"]["200"], truth.allowed);

    // Again there is nothing left to do; the counts are those of all runs.
    let output = scratch.mattock(&["crawl", "--out", "crawl", "--json", "--quiet"]);
    assert!(output.stderr.is_empty(), "quiet is quiet: {output:?}");
    let again: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(again["pages"], summary["pages"]);
    assert_eq!(again["urls_seen"], summary["urls_seen"]);
}

#[test]
fn the_truth_is_one_object() {
    let output = Scratch::new("json_truth").mattock(&["simweb", "truth", "--seed", "5", "--json"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    let truth: Value = serde_json::from_str(&text).unwrap();
    for key in ["reachable", "allowed", "hosts", "domains"] {
        assert!(truth[key].is_u64(), "{key}: {text}");
    }
}
