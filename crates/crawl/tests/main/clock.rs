//! The wall clock is set while a crawl runs and while it does not: nothing is lost, nobody is asked too soon, nobody is put off.

use std::path::Path;
use std::time::Duration;

use mattock_crawl::check::check;
use mattock_crawl::{Control, End};
use mattock_env::sim::Simulation;
use mattock_simweb::AuditReport;

use crate::world::{archived, assert_polite, crawl, crawl_until, tiny};

const HOUR: Duration = Duration::from_secs(3600);
const ROOT: &str = "/crawl";

/// Forward and back, by minutes and by hours, all the while; seconds that the crawl takes.
fn crawl_with_jumps(seed: u64, jumps: bool) -> f64 {
    let truth = tiny(seed).truth(1_000_000).unwrap();
    let mut simulation = Simulation::new(seed);
    let mut seconds = 0.0;
    let mut stopped = true;
    for life in 0.. {
        let (summary, report) = simulation.run(|env| async move {
            let control = Control::default();
            let (stop, clock) = (control.clone(), env.clock.clone());
            // A run begins at the same time as the one before, which is a jump back as well.
            tokio::task::spawn_local(async move {
                for step in 0..20 {
                    match (jumps, (life + step) % 4) {
                        (false, _) => {}
                        (true, 0) => clock.set_forward(26 * HOUR),
                        (true, 1) => clock.set_back(30 * HOUR),
                        (true, 2) => clock.set_forward(HOUR / 6),
                        (true, _) => clock.set_back(3 * HOUR),
                    }
                    clock.sleep(Duration::from_secs(2)).await;
                }
                if stopped {
                    stop.stop();
                }
            });
            let change = "[checkpoint]\nevery = '5s'\n[politeness]\ndelay = '1s'";
            crawl_until(&env, tiny(seed), Path::new(ROOT), change, control).await
        });
        seconds += summary.seconds;
        // Later runs know the rules of hosts that earlier ones have asked.
        let before_robots = if life == 0 { report.before_robots } else { 0 };
        assert_polite(&AuditReport { before_robots, ..report }, Duration::from_secs(1));
        if summary.end == End::Complete {
            break;
        }
        stopped = life < 2;
    }
    simulation.run(|env| async move {
        assert_eq!(archived(&env, Path::new(ROOT)), truth.pages);
        let report = check(&env, Path::new(ROOT), &mut |_| {}).unwrap();
        assert!(report.whole && report.notes.is_empty(), "{report:#?}");
    });
    seconds
}

#[test]
fn a_clock_that_is_set_costs_nothing() {
    for seed in [3, 4] {
        let (expected, seconds) = (crawl_with_jumps(seed, false), crawl_with_jumps(seed, true));
        // Hosts whose rules could not be had are asked again, and perhaps tried for a while. Waits do not follow the clock.
        assert!(seconds < expected + 3600.0, "{seconds} s instead of {expected} s");
    }
}

/// Beyond the last second of a host's rules, and back before the first.
#[test]
fn a_crawl_that_runs_on_when_the_clock_is_set_is_complete() {
    let truth = tiny(9).truth(1_000_000).unwrap();
    let (summary, pages) = Simulation::new(9).run(|env| async move {
        let clock = env.clock.clone();
        tokio::task::spawn_local(async move {
            for _ in 0..1000 {
                clock.sleep(Duration::from_millis(700)).await;
                clock.set_back(100 * HOUR);
                clock.sleep(Duration::from_millis(700)).await;
                clock.set_forward(100 * HOUR);
            }
        });
        let (summary, report) = crawl(&env, tiny(9), Path::new(ROOT), "").await;
        assert_polite(&report, Duration::from_secs(2));
        (summary, archived(&env, Path::new(ROOT)))
    });
    assert_eq!((summary.end, summary.pages, pages), (End::Complete, truth.allowed, truth.pages));
}
