//! The crawler before every behaviour of the hostile Web, on virtual time.
//!
//! Each id is crawled alone, beside a healthy host: it must come to what the catalogue expects, in bounded time, with
//! nothing left open, and the healthy host must be fetched whole. What the crawler does not do yet stands in
//! [`NOT_YET`]; an id that is listed there and behaves fails the test, so that the list can only shrink.

mod cases;
mod seen;

use std::time::Duration;

use mattock_simweb::{catalogue, hostility};

use cases::{CASES, Expect};
use seen::{Seen, crawl};

/// What is still missing: id and reason.
const NOT_YET: &[(&str, &str)] = &[
    ("D09", "lookups are not budgeted by domain"),
    ("S01", "sites have no budget"),
    ("S02", "sites have no budget, and duplicates are not recognised"),
    ("S04", "domains have no budget"),
    ("S05", "prefixes have no cap"),
    ("S06", "near duplicates are not recognised"),
    ("S07", "domains have no budget, and duplicates are not recognised"),
];

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
        let listed = NOT_YET.iter().find(|(id, _)| *id == case.id);
        match listed {
            None if !unmet.is_empty() => {
                wrong.push(format!("{}: {}\n{}", case.id, unmet.join("; "), seen.brief()))
            }
            Some((_, reason)) if unmet.is_empty() => {
                wrong.push(format!("{} behaves now: take it off the list ({reason})", case.id));
            }
            _ => {}
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
    for (id, _) in NOT_YET {
        assert!(hostility(id).is_some(), "{id} is not in the catalogue");
    }
}
