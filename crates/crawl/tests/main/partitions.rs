//! Whatever the number of partitions and the memory: every page once, nobody hurt.

use std::path::Path;
use std::time::Duration;

use mattock_crawl::{Control, End};
use mattock_env::sim::Simulation;
use mattock_env::{Env, NetFaults};
use mattock_simweb::{Params, Preset, World};

use crate::world::{Scratch, archived, assert_polite, crawl, crawl_until, tiny};

#[test]
fn every_number_of_them_fetches_the_same() {
    for (seed, partitions, memory_mib) in [(1, 2, 128), (2, 3, 192), (3, 5, 1024), (4, 16, 1024), (5, 1, 64)]
    {
        let truth = tiny(seed).truth(1_000_000).unwrap();
        let (summary, report, pages) = Simulation::new(seed).run(|env| async move {
            let root = Path::new("/crawl");
            let change = format!("[crawl]\npartitions = {partitions}\nmemory = '{memory_mib}MiB'");
            let (summary, report) = crawl(&env, tiny(seed), root, &change).await;
            (summary, report, archived(&env, root))
        });
        assert_eq!(pages, truth.pages, "{partitions} partitions");
        assert_eq!((summary.end, summary.pages), (End::Complete, truth.allowed), "{partitions} partitions");
        assert_eq!(summary.links_exchanged > 0, partitions > 1);
        assert_polite(&report, Duration::from_secs(2));
    }
}

#[test]
fn the_small_world_too() {
    let world = || World::new(Params::preset(Preset::Small), 1);
    let truth = world().truth(1_000_000).unwrap();
    for partitions in [1, 3] {
        let (summary, pages) = Simulation::new(1).run(|env| async move {
            let root = Path::new("/crawl");
            let change = format!(
                "[crawl]\npartitions = {partitions}\nmemory = '192MiB'\n[politeness]\ndelay = '100ms'"
            );
            let (summary, report) = crawl(&env, world(), root, &change).await;
            assert_polite(&report, Duration::from_millis(100));
            (summary, archived(&env, root))
        });
        assert!(pages == truth.pages, "{partitions} partitions: {} of {}", pages.len(), truth.pages.len());
        assert_eq!(summary.pages, truth.allowed);
    }
}

#[test]
fn on_threads_and_sockets() {
    let scratch = Scratch::new();
    let env = Env::real();
    let truth = tiny(6).truth(1_000_000).unwrap();
    let root = scratch.0.join("crawl");
    let change = "[crawl]\npartitions = 3\n[politeness]\ndelay = '0s'";
    let (summary, report) = mattock_env::run(crawl(&env, tiny(6), &root, change));
    assert_eq!(archived(&env, &root), truth.pages);
    assert_eq!((summary.end, summary.partitions), (End::Complete, 3));
    assert_polite(&report, Duration::ZERO);
}

#[test]
fn a_limit_is_one_for_all() {
    for limit in [1, 7, 100] {
        let (summary, pages) = Simulation::new(limit).run(|env| async move {
            let root = Path::new("/crawl");
            let change = format!("[crawl]\npartitions = 4\nmax_pages = {limit}");
            let (summary, _) = crawl(&env, tiny(limit), root, &change).await;
            (summary, archived(&env, root))
        });
        assert_eq!((summary.end, summary.pages, pages.len() as u64), (End::MaxPages, limit, limit));
    }
}

/// Links that are between two partitions when the run is stopped are not lost.
#[test]
fn stopped_again_and_again_and_still_every_page_once() {
    let truth = tiny(8).truth(1_000_000).unwrap();
    let pages = Simulation::new(8).run(|env| async move {
        let root = Path::new("/crawl");
        for seconds in [3, 11, 40, 100, u64::MAX] {
            let (control, clock) = (Control::default(), env.clock.clone());
            let stopper = control.clone();
            let timer = tokio::task::spawn_local(async move {
                clock.sleep(Duration::from_secs(seconds.min(1 << 30))).await;
                stopper.stop();
            });
            let (summary, _) = crawl_until(&env, tiny(8), root, "[crawl]\npartitions = 3", control).await;
            timer.abort();
            assert_eq!(summary.end == End::Complete, seconds == u64::MAX);
        }
        archived(&env, root)
    });
    assert_eq!(pages, truth.pages);
}

/// What the servers saw of a hundred crawls on bad networks: hosts, servers and domains each had their pause.
#[test]
fn a_hundred_bad_networks_and_nobody_is_hurt() {
    for seed in 0..100 {
        let faults = NetFaults {
            latency_ms: 1..=1 + 40 * (seed % 25),
            refuse: 0.01 * (seed % 4) as f64,
            hang: 0.004 * (seed % 3) as f64,
            break_off: 0.02 * (seed % 5) as f64,
            lose_datagram: 0.03 * (seed % 4) as f64,
        };
        let mut simulation = Simulation::new(seed).network(faults);
        let report = simulation.run(|env| async move {
            let change = format!(
                "[crawl]\npartitions = {}\nmax_pages = 150\n[politeness]\ndelay = '2s'\nserver_delay = '1s'\n\
                 domain_delay = '1500ms'",
                1 + seed % 3
            );
            crawl(&env, tiny(seed % 20), Path::new("/crawl"), &change).await.1
        });
        assert_eq!(
            (report.delay_violations, report.crawl_delay_violations, report.robots_violations),
            (0, 0, 0),
            "seed {seed}: {report}"
        );
        assert_eq!(report.before_robots, 0, "seed {seed}: {report}");
        for (name, gap, least) in [
            ("host", report.min_gap_host_ms, 2000.0),
            ("server", report.min_gap_server_ms, 1000.0),
            ("domain", report.min_gap_domain_ms, 1500.0),
        ] {
            assert!(gap.is_none_or(|gap| gap >= least), "seed {seed}: {name}: {report}");
        }
    }
}
