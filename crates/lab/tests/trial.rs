//! Crawls to which everything happens, and the checks that say whether they survived it.

use mattock_lab::trial::{Bug, run};

#[test]
fn fifty_seeds_come_to_the_same_pages_whatever_happens() {
    let mut deaths = 0;
    for seed in 0..50 {
        let verdict = run(seed, None);
        assert!(
            verdict.problems.is_empty(),
            "cargo xtask sim --seed {seed}\n{:#?}\n{:#?}",
            verdict.story,
            verdict.problems
        );
        deaths += verdict.deaths;
    }
    assert!(deaths > 50, "most lives end early: {deaths}");
}

#[test]
fn every_check_can_fail() {
    for bug in [Bug::SkippedSync, Bug::DroppedLease, Bug::IgnoredDelay] {
        let found = (0..40).find(|&seed| !run(seed, Some(bug)).problems.is_empty());
        assert!(found.is_some(), "{bug:?} is never noticed");
    }
}
