//! `mattock duplicates` and `mattock terms` on features that are made here: answers, and what is said about mistakes.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so by a panic")]

use std::collections::BTreeSet;

use mattock_env::{Files, Random};
use mattock_features::{BuildOptions, Builder, Content};
use mattock_weburl::WebUrl;
use serde_json::Value;

use crate::process::Scratch;

/// A page: its path, the text that its sketch is drawn from, in how many of 64 places it differs from that, and its terms.
type Page = (&'static str, u64, usize, &'static str);

const PAGES: [Page; 11] = [
    ("http://www.one-sim.com/", 1, 0, "mattock spade shovel garden"),
    ("http://www.one-sim.com/a", 2, 0, "mattock spade soil"),
    ("http://www.one-sim.com/b", 3, 0, "spade garden soil compost"),
    ("http://www.one-sim.com/c", 4, 0, "compost worms"),
    ("http://two-sim.org/", 1, 0, "mattock spade shovel garden"),
    ("http://two-sim.org/a", 2, 0, "mattock spade soil"),
    ("http://two-sim.org/b", 3, 3, "spade garden soil compost"),
    ("http://two-sim.org/only", 5, 0, "telescope stars orbit"),
    ("http://three-sim.net/x", 6, 0, "telescope stars planet"),
    ("http://three-sim.net/y", 7, 0, "planet orbit stars"),
    ("http://three-sim.net/z", 0, 0, ""),
];

fn build(scratch: &Scratch, name: &str, with_content: bool) {
    let report = &mut |_| {};
    let dir = scratch.path().join(name).join("features");
    let mut builder = Builder::begin(&Files::real(), &dir, &BuildOptions::default(), report).unwrap();
    for (url, text, different, terms) in PAGES {
        let url = WebUrl::parse(url).unwrap();
        builder.page(&url, [&WebUrl::parse("http://two-sim.org/a").unwrap()]).unwrap();
        if !with_content || text == 0 {
            continue;
        }
        let mut random = Random::from_seed(text);
        let mut sketch: Vec<u64> = (0..64).map(|_| random.next_u64()).collect();
        sketch.iter_mut().step_by(9).take(different).for_each(|number| *number = random.next_u64());
        let terms: Vec<(&str, u32)> =
            terms.split(' ').map(|term| (term, 1 + term.len() as u32 % 2)).collect();
        builder.content(&url, &Content { terms: &terms, sketch: &sketch }).unwrap();
    }
    builder.finish().unwrap();
}

fn lines(scratch: &Scratch, arguments: &[&str]) -> Vec<Value> {
    let output = scratch.mattock(arguments);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn copies_are_told() {
    let scratch = Scratch::new("content_copies");
    build(&scratch, "site", true);
    let summary = &lines(&scratch, &["duplicates", "site", "--json", "--quiet"])[0];
    for (key, value) in [("pages", 10), ("clusters", 3), ("clustered", 6), ("redundant", 3), ("exact", 2)] {
        assert_eq!(summary[key], value, "{key}: {summary}");
    }
    assert_eq!((&summary["redundant_share"], &summary["threshold"]), (&Value::from(0.3), &Value::from(0.8)));
    assert!(scratch.is_there("site/features/generation-1/columns/cluster.parquet"));

    let clusters = lines(&scratch, &["duplicates", "site", "--quiet", "--no-keep"]);
    let urls: Vec<&str> = clusters.iter().map(|row| row["url"].as_str().unwrap()).collect();
    // The one that all pages link to; of the others the shorter URL.
    assert_eq!(urls, ["http://two-sim.org/", "http://two-sim.org/a", "http://two-sim.org/b"]);
    assert!(clusters.iter().all(|row| row["pages"] == 2));

    let members = lines(&scratch, &["duplicates", "site", "--clusters", "--quiet", "--no-keep"]);
    assert_eq!(members.len(), 6);
    let near = members.iter().find(|row| row["url"] == "http://www.one-sim.com/b").unwrap();
    let resemblance = near["resemblance"].as_f64().unwrap();
    assert!((0.93..0.97).contains(&resemblance), "{near}");
    let strict = &lines(&scratch, &["duplicates", "site", "--json", "--quiet", "--threshold", "1"])[0];
    assert_eq!((&strict["clusters"], &strict["exact"]), (&Value::from(2), &Value::from(2)));

    // 52 bytes a page are enough.
    let little = lines(&scratch, &["duplicates", "site", "--json", "--quiet", "--memory", "520B"]);
    assert_eq!(&little[0], summary);
    scratch.snapshot("duplicates_too_little_memory", &["duplicates", "site", "--memory", "519B"]);
    let low = ["duplicates", "site", "--threshold", "0.6", "--json", "--no-keep"];
    scratch.snapshot("duplicates_low_threshold", &low);

    scratch
        .snapshot("duplicates_hosts", &["duplicates", "site", "--hosts", "--format", "table", "--no-keep"]);
}

#[test]
fn clusters_are_kept_before_rows_are_read() {
    let scratch = Scratch::new("content_unread");
    build(&scratch, "site", true);
    let output = scratch.mattock_unread(&["duplicates", "site", "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(scratch.is_there("site/features/generation-1/columns/cluster.parquet"));
}

#[test]
fn terms_are_told() {
    let scratch = Scratch::new("content_terms");
    build(&scratch, "site", true);
    scratch.snapshot("terms_page", &["terms", "site", "http://two-sim.org/only", "--format", "table"]);
    scratch.snapshot("terms_host", &["terms", "site", "www.one-sim.com", "-n", "3", "--format", "csv"]);
    let similar = lines(&scratch, &["terms", "site", "--similar", "http://two-sim.org/only", "--quiet"]);
    let urls: BTreeSet<&str> = similar.iter().map(|row| row["url"].as_str().unwrap()).collect();
    assert_eq!(urls, ["http://three-sim.net/x", "http://three-sim.net/y"].into());
    assert!(similar.iter().all(|row| row["cosine"].as_f64().unwrap() > 0.1));
}

#[test]
fn mistakes_of_those_who_ask() {
    let scratch = Scratch::new("content_mistakes");
    build(&scratch, "site", true);
    build(&scratch, "links", false);
    scratch.snapshot("duplicates_no_features", &["duplicates", "nothing"]);
    scratch.snapshot("duplicates_no_content", &["duplicates", "links"]);
    scratch.snapshot("duplicates_wrong_threshold", &["duplicates", "site", "--threshold", "80"]);
    scratch.snapshot("duplicates_two_answers", &["duplicates", "site", "--clusters", "--hosts"]);
    scratch.snapshot("terms_no_features", &["terms", "nothing", "http://a-sim.com/"]);
    scratch.snapshot("terms_no_content", &["terms", "links", "http://two-sim.org/a"]);
    scratch.snapshot("terms_of_nothing", &["terms", "site"]);
    scratch.snapshot("terms_unknown_page", &["terms", "site", "http://two-sim.org/none"]);
    scratch.snapshot("terms_unknown_host", &["terms", "site", "four-sim.com"]);
    scratch.snapshot("terms_without_scheme", &["terms", "site", "two-sim.org/a"]);
    scratch.snapshot("terms_without_text", &["terms", "site", "--similar", "http://three-sim.net/z"]);
    scratch.snapshot("terms_at_a_url", &["terms", "file:///nowhere", "http://a-sim.com/"]);
    let query = ["terms", "site", "--query", "select name", "--memory", "100B"];
    scratch.snapshot("terms_too_little_memory", &query);
    // The message has the whole path.
    let output = scratch.mattock(&["terms", "site", "--query", "select name"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && told.contains("there is no repository"), "{told}");
}
