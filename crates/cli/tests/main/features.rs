//! `mattock features`: from a crawl to databases, and what it says of mistakes.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so by a panic")]

use std::process::Output;

use serde_json::Value;

use crate::process::Scratch;
use crate::served::{Served, world};

fn json(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn mistakes() {
    let scratch = Scratch::new("features_mistakes");
    scratch.write("links", "0\t1\n1\tx\n");
    let nothing = scratch.transcript(&["features", "build", "."]);
    insta::assert_snapshot!("features_of_nothing", nothing.replace(scratch.path().to_str().unwrap(), "HERE"));
    scratch
        .snapshot("features_of_a_bad_list", &["features", "build", "g", "--from", "links", "--list", "ids"]);
    scratch.snapshot(
        "features_of_a_missing_list",
        &["features", "build", "g", "--from", "linkz", "--list", "ids"],
    );
    scratch.snapshot("features_of_no_kind", &["features", "build", "g", "--from", "links"]);
    scratch.snapshot(
        "features_of_another_kind",
        &["features", "build", "g", "--from", "links", "--list", "edges"],
    );
    scratch
        .snapshot("features_without_names", &["features", "build", "g", "--from", "links", "--list", "cc"]);
    scratch.snapshot("features_in_no_memory", &["features", "build", ".", "--memory", "1MiB"]);
    scratch.snapshot("features_both_ways", &["features", "build", ".", "--incremental", "--rebuild"]);
    scratch.snapshot("features_at_a_url", &["features", "build", "file:///nowhere"]);
    scratch.snapshot("no_features", &["features", "info", "."]);
}

#[test]
fn a_crawl_becomes_features() {
    let scratch = Scratch::new("features_of_a_crawl");
    let served = Served::start(5, "0s", 0);
    let words: Vec<&str> = served.crawl.iter().map(String::as_str).collect();
    assert_eq!(scratch.mattock(&words).status.code(), Some(0));
    let build = ["features", "build", "crawl", "--json", "--memory", "64MiB"];
    let built = json(&scratch.mattock(&build));
    let truth = world(5).truth(100_000).unwrap();
    assert!(built["crawled"].as_u64().unwrap() >= truth.allowed, "{built}");
    assert_eq!((&built["generation"], &built["new"]), (&1.into(), &true.into()), "{built}");
    let again = json(&scratch.mattock(&build));
    assert_eq!(
        (&again["generation"], &again["new"], &again["documents_read"]),
        (&1.into(), &false.into(), &0.into())
    );
    assert_eq!(again["links"], built["links"]);
    let quiet = scratch.mattock(&["features", "build", "crawl", "--quiet", "--rebuild"]);
    assert!(quiet.stdout.is_empty() && quiet.stderr.is_empty(), "{quiet:?}");

    let info = json(&scratch.mattock(&["features", "info", "crawl", "--json"]));
    assert_eq!((&info["generation"], &info["counts"]["links"]), (&2.into(), &built["links"]), "{info}");
    assert!(info["bits_per_link"]["out"].as_f64().unwrap() < 12.0, "{info}");
    assert!(info["bytes_per_url"].as_f64().unwrap() < 40.0, "{info}");
    assert!(info["columns"]["in_degree"].is_u64() && info["gathered_bytes"].as_u64() > Some(0), "{info}");
    assert_eq!(info["built_from"]["parts"].as_array().unwrap().len(), 1);

    let sum = "select sum(out_degree) as links, count(*) as rows from documents where in_degree >= 0";
    let asked = json(&scratch.mattock(&["query", "crawl", "--sql", sum, "--quiet"]));
    assert_eq!(asked["links"], built["links"], "every page is there once, and has all its links");
    let explained = scratch.mattock(&["query", "crawl", "--explain", "select name, in_degree"]);
    let explained = String::from_utf8(explained.stdout).unwrap();
    assert!(explained.contains("columns by URL: in_degree\n"), "{explained}");
}

#[test]
fn links_from_stdin() {
    let scratch = Scratch::new("features_of_stdin");
    scratch.write("links", "http://a-sim.com/\thttp://b-sim.org/\n");
    let build = "mattock features build g --from - --list urls --json < links";
    let mut shell = scratch.command("sh");
    let directory = crate::process::MATTOCK.rsplit_once('/').unwrap().0;
    shell
        .args(["-c", build])
        .env("PATH", format!("{directory}:{}", std::env::var("PATH").unwrap_or_default()));
    let built = json(&shell.output().unwrap());
    assert_eq!((&built["urls"], &built["crawled"], &built["links"]), (&2.into(), &1.into(), &1.into()));
    let info = scratch.mattock(&["features", "info", "g"]);
    let text = String::from_utf8(info.stdout).unwrap();
    assert!(text.contains("built from     1 file(s) of 0 B: a list of URLs\n"), "{text}");
}
