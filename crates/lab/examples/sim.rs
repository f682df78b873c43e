//! Crawls on virtual time to which everything happens: `cargo xtask sim`.
//!
//! `cargo run --release -p mattock-lab --example sim -- [--seeds N] [--from SEED] [--seed SEED] [--bug NAME]`
#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::process::ExitCode;

use mattock_lab::trial::{Bug, run};

fn main() -> ExitCode {
    let (mut from, mut seeds, mut bug, mut tell) = (0u64, 500u64, None, false);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next().unwrap_or_default();
        let number = || value.parse().expect("a number");
        match word.as_str() {
            "--seeds" => seeds = number(),
            "--from" => from = number(),
            "--seed" => (from, seeds, tell) = (number(), 1, true),
            "--bug" => {
                bug = Some(match value.as_str() {
                    "skipped-sync" => Bug::SkippedSync,
                    "dropped-lease" => Bug::DroppedLease,
                    "ignored-delay" => Bug::IgnoredDelay,
                    _ => panic!("the bugs are skipped-sync, dropped-lease and ignored-delay"),
                });
            }
            _ => panic!("there is no {word}"),
        }
    }
    let (mut bad, mut deaths, mut pages) = (0, 0, 0);
    for seed in from..from + seeds {
        let verdict = run(seed, bug);
        deaths += verdict.deaths;
        pages += verdict.pages;
        if tell || !verdict.problems.is_empty() {
            verdict.story.iter().for_each(|line| println!("  {line}"));
        }
        if !verdict.problems.is_empty() {
            bad += 1;
            verdict.problems.iter().for_each(|problem| println!("  PROBLEM {problem}"));
            println!("seed {seed} failed; repeat it with: cargo xtask sim --seed {seed}");
        }
    }
    println!("{seeds} seeds, {deaths} crashes, {pages} pages, {bad} failed");
    if bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
