//! A crawl without limits fetches every reachable allowed page once, and nothing that robots.txt forbids.

use std::path::Path;
use std::time::Duration;

use mattock_crawl::End;
use mattock_env::Env;
use mattock_env::sim::Simulation;

use crate::world::{Scratch, archived, assert_polite, crawl, tiny};

const SEEDS: std::ops::Range<u64> = 1..21;
const LANES: usize = 10;

#[test]
fn in_virtual_time() {
    for seed in SEEDS {
        let truth = tiny(seed).truth(1_000_000).unwrap();
        let (summary, report, pages) = Simulation::new(seed).run(|env| async move {
            let root = Path::new("/crawl");
            let (summary, report) = crawl(&env, tiny(seed), root, "").await;
            let pages = archived(&env, root);
            (summary, report, pages)
        });
        assert_eq!(pages, truth.pages, "seed {seed}");
        assert_eq!((summary.end, summary.pages), (End::Complete, truth.allowed), "seed {seed}");
        assert_polite(&report, Duration::from_secs(2));
        assert!(
            summary.seconds > 60.0,
            "seed {seed}: two seconds between requests to a host take their time"
        );
    }
}

/// Dead and busy servers make a crawl wait, so several of them run side by side.
#[test]
fn over_sockets() {
    let scratch = Scratch::new();
    std::thread::scope(|scope| {
        for lane in 0..LANES {
            let root = scratch.0.join(lane.to_string());
            scope.spawn(move || {
                for seed in SEEDS.skip(lane).step_by(LANES) {
                    over_sockets_from(seed, &root.join(seed.to_string()));
                }
            });
        }
    });
}

fn over_sockets_from(seed: u64, root: &Path) {
    let truth = tiny(seed).truth(1_000_000).unwrap();
    let env = Env::real();
    env.files.create_dir_all(root).unwrap();
    let root = root.join("crawl");
    let change = "[politeness]\ndelay = '0s'";
    let (summary, report) = mattock_env::run(crawl(&env, tiny(seed), &root, change));
    assert_eq!(archived(&env, &root), truth.pages, "seed {seed}");
    assert_eq!((summary.end, summary.pages), (End::Complete, truth.allowed), "seed {seed}");
    assert_polite(&report, Duration::ZERO);
}

#[test]
fn over_sockets_with_a_delay() {
    let scratch = Scratch::new();
    let env = Env::real();
    let change = "[politeness]\ndelay = '30ms'\nretries = 0\n[crawl]\nmax_pages = 300";
    let (summary, report) = mattock_env::run(crawl(&env, tiny(5), &scratch.0.join("crawl"), change));
    assert_eq!(summary.pages, 300);
    assert_polite(&report, Duration::from_millis(30));
}
