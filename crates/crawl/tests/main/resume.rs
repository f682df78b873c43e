//! A crawl that was stopped goes on where it was.

use std::path::Path;
use std::time::Duration;

use mattock_crawl::{Control, End};
use mattock_env::sim::Simulation;
use mattock_simweb::{AuditReport, Params, World};

use crate::world::{archived, assert_polite, crawl, crawl_until, tiny};

#[test]
fn stopped_three_times_and_still_every_page_once() {
    let seed = 7;
    let truth = tiny(seed).truth(1_000_000).unwrap();
    let mut simulation = Simulation::new(seed);
    for run in 0..3 {
        let (summary, report) = simulation.run(|env| async move {
            let control = Control::default();
            let (stop, clock) = (control.clone(), env.clock.clone());
            tokio::task::spawn_local(async move {
                clock.sleep(Duration::from_secs(20 + 7 * run)).await;
                stop.stop();
            });
            crawl_until(&env, tiny(seed), Path::new("/crawl"), "", control).await
        });
        assert_eq!(summary.end, End::Stopped);
        assert!(summary.pages > 0 && summary.urls_queued > 0);
        // Later runs know the rules of hosts that earlier ones have asked.
        let before_robots = if run == 0 { report.before_robots } else { 0 };
        assert_polite(&AuditReport { before_robots, ..report }, Duration::from_secs(2));
    }
    let (summary, pages) = simulation.run(|env| async move {
        let root = Path::new("/crawl");
        let (summary, _) = crawl(&env, tiny(seed), root, "").await;
        (summary, archived(&env, root))
    });
    assert_eq!(pages, truth.pages);
    assert_eq!((summary.end, summary.pages), (End::Complete, truth.allowed));
}

#[test]
fn a_page_limit_can_be_raised() {
    let mut simulation = Simulation::new(2);
    for (change, pages) in [("[crawl]\nmax_pages = 10", 10), ("[crawl]\nmax_pages = 25", 25)] {
        let summary =
            simulation.run(|env| async move { crawl(&env, tiny(2), Path::new("/crawl"), change).await.0 });
        assert_eq!((summary.end, summary.pages), (End::MaxPages, pages));
    }
}

/// A server that never answers must not hold up a stop, and its URL must not get lost.
#[test]
fn a_stop_does_not_wait_for_the_silent() {
    let params = Params { silent_hosts: 0.5, ..tiny(3).params().clone() };
    let world = || World::new(params.clone(), 3);
    let truth = world().truth(1_000_000).unwrap();
    let mut simulation = Simulation::new(3);
    let (seconds, in_flight) = simulation.run(|env| {
        let world = world();
        async move {
            let control = Control::default();
            let (stop, clock) = (control.clone(), env.clock.clone());
            tokio::task::spawn_local(async move {
                clock.sleep(Duration::from_secs(10)).await;
                stop.stop();
            });
            let (summary, _) = crawl_until(&env, world, Path::new("/crawl"), "", control).await;
            (summary.seconds, summary.urls_queued)
        }
    });
    assert!((10.0..14.0).contains(&seconds), "{seconds}");
    assert!(in_flight > 0);
    let pages = simulation.run(|env| async move {
        crawl(&env, world(), Path::new("/crawl"), "").await;
        archived(&env, Path::new("/crawl"))
    });
    assert_eq!(pages, truth.pages);
}
