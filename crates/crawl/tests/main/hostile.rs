//! The crawler before every behaviour of the hostile Web, on virtual time.
//!
//! Each id is crawled alone, beside a healthy host: it must come to what the catalogue expects, in bounded time, with
//! nothing left open, and the healthy host must be fetched whole.

mod cases;
mod seen;

use std::time::Duration;

use mattock_simweb::catalogue;

use cases::{CASES, Expect};
use seen::{Seen, crawl};

fn unmet(seen: &Seen, expectations: &[Expect]) -> Vec<String> {
    expectations.iter().filter_map(|expected| expected.unmet(seen)).collect()
}

#[test]
fn every_id_comes_to_what_is_expected() {
    let mut wrong = Vec::new();
    for case in CASES {
        let seen = crawl(case.id, case.copy, Duration::from_secs(case.stop_s));
        let mut unmet = unmet(&seen, case.expected);
        if case.ends && !seen.complete {
            unmet.push(format!("not over after {} s", case.stop_s));
        }
        if !unmet.is_empty() {
            wrong.push(format!("{}: {}\n{}", case.id, unmet.join("; "), seen.brief()));
        }
        // Whatever else: the crawl around it goes on.
        if !seen.healthy_missing.is_empty() {
            wrong.push(format!("{}: healthy pages are missing: {:?}", case.id, seen.healthy_missing));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_id_has_a_case() {
    for entry in catalogue() {
        assert!(CASES.iter().any(|case| case.id == entry.id), "{} has no case", entry.id);
    }
}
