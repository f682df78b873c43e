//! A crawl that was stopped goes on where it was.

use std::path::Path;
use std::time::Duration;

use mattock_crawl::check::{FindingKind, check, repair};
use mattock_crawl::{Control, Crawl, End, RawConfig, SavedCrawl};
use mattock_env::Env;
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

/// Without its state a crawl would begin anew, and take all of its archive for what was written behind its last checkpoint.
#[test]
fn an_archive_does_not_go_with_the_state() {
    Simulation::new(2).run(|env| async move {
        let root = Path::new("/crawl");
        crawl(&env, tiny(2), root, "[crawl]\nmax_pages = 10").await;
        let pages = archived(&env, root);
        env.files.remove_dir_all(&root.join("state")).unwrap();
        // The second try finds what the first has left.
        for _ in 0..2 {
            let refused = Crawl::open(&env, root, RawConfig::default()).err().unwrap().to_string();
            assert!(refused.contains("/crawl/state/CHECKPOINT") && refused.contains("--out"), "{refused}");
            assert_eq!(archived(&env, root), pages);
        }
        assert!(check(&env, root, &mut |_| {}).unwrap().has_lost_state);
    });
}

/// Nor with its only checkpoint, which leaves a mark.
#[test]
fn an_archive_does_not_go_with_the_checkpoint() {
    Simulation::new(2).run(|env| async move {
        let root = Path::new("/crawl");
        crawl(&env, tiny(2), root, "[crawl]\nmax_pages = 10").await;
        assert_eq!(SavedCrawl::open(&env, root).unwrap().number(), 1);
        let pages = archived(&env, root);
        for name in ["CHECKPOINT", "CHECKPOINT.copy"] {
            env.files.remove_file(&root.join("state").join(name)).unwrap();
        }
        for _ in 0..2 {
            let refused = Crawl::open(&env, root, RawConfig::default()).err().unwrap().to_string();
            assert!(refused.contains("/crawl/state/CHECKPOINT: it is missing"), "{refused}");
            assert_eq!(archived(&env, root), pages);
        }
        let problems = check(&env, root, &mut |_| {}).unwrap().problems;
        assert!(problems.iter().any(|problem| problem.kind == FindingKind::Checkpoint), "{problems:?}");
        let report = repair(&env, root, &mut |_| {}).unwrap();
        assert_eq!((report.checkpoint, report.problems.len()), (1, 0), "{report:?}");
        assert!(Crawl::open(&env, root, RawConfig::default()).is_ok());
        assert_eq!(archived(&env, root), pages);
    });
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

const ROOT: &str = "/crawl";
/// Two partitions with budgets, and no checkpoint but those that a stop makes.
const HASHED: &str = "[crawl]\npartitions = 2\nbudget = 'broad'\nbudget_pages = 2\nmemory = '128MiB'\n[checkpoint]\nevery = '1h'";

/// Crawls for a while, and stops or not.
async fn crawl_for(env: &Env, seconds: u64, stops: bool) {
    let control = Control::default();
    let crawling = crawl_until(env, tiny(5), Path::new(ROOT), HASHED, control.clone());
    let clock = env.clock.clone();
    let time = async move {
        clock.sleep(Duration::from_secs(seconds)).await;
        if stops {
            control.stop();
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        biased;
        _ = crawling => {}
        () = time => {}
    }
}

/// The number of the checkpoint and the hash of what it says.
fn hashed(env: &Env) -> (u64, String) {
    let saved = SavedCrawl::open(env, Path::new(ROOT)).unwrap();
    (saved.number(), saved.state_hash().unwrap())
}

#[test]
fn one_checkpoint_resumed_ten_times_is_one_state() {
    let mut first = Simulation::new(5);
    first.run(|env| async move { crawl_for(&env, 25, true).await });
    let (number, hash) = first.run(|env| async move { hashed(&env) });
    let disk = first.files().snapshot();
    let mut resumed = Vec::new();
    for seed in 100..110 {
        let (disk, hash) = (disk.clone(), hash.clone());
        // Another seed: lanes advance in another order, and another disk is slow.
        resumed.push(Simulation::new(seed).run(|env| async move {
            for (path, bytes) in &disk {
                env.files.create_dir_all(path.parent().unwrap()).unwrap();
                env.files.write_atomic(path, bytes).unwrap();
            }
            assert_eq!(hashed(&env), (number, hash.clone()));
            let crawl = Crawl::open(&env, Path::new(ROOT), RawConfig::default()).unwrap();
            assert_eq!(hashed(&env), (number, hash.clone()), "opening changes nothing");
            // Stopped at once, it writes down what it has taken up.
            let control = Control::default();
            control.stop();
            crawl.run(control).await.unwrap();
            hashed(&env)
        }));
    }
    assert_eq!(resumed[0].0, number + 1);
    assert!(resumed.iter().all(|state| *state == resumed[0]), "{resumed:?}");
}

/// Whoever samples speeds takes the first sample before anything is fetched: what earlier runs have counted must be there by then.
#[test]
fn speeds_after_a_resume_are_those_of_this_run() {
    let mut simulation = Simulation::new(5);
    simulation.run(|env| async move { crawl_for(&env, 25, true).await });
    let (before, first) = simulation.run(|env| async move {
        let saved = SavedCrawl::open(&env, Path::new(ROOT)).unwrap().totals();
        let crawl = Crawl::open(&env, Path::new(ROOT), RawConfig::default()).unwrap();
        (saved, crawl.progress().read())
    });
    assert!(before.pages > 0, "{before:?}");
    assert_eq!((first.pages, first.bytes), (before.pages, before.bytes));
    assert!(first.requests >= first.pages && first.queued > 0 && first.seen > first.queued, "{first:?}");
}

#[test]
fn a_checkpoint_is_the_same_after_ten_lives_that_came_to_no_other() {
    let mut simulation = Simulation::new(6);
    simulation.run(|env| async move { crawl_for(&env, 25, true).await });
    let before = simulation.run(|env| async move { hashed(&env) });
    for life in 0..10 {
        let files = simulation.files().clone();
        simulation.run(|env| async move { crawl_for(&env, 3 + life, false).await });
        if life % 2 == 0 {
            files.crash()
        } else {
            files.kill()
        }
        assert_eq!(simulation.run(|env| async move { hashed(&env) }), before, "life {life}");
    }
    simulation.run(|env| async move { crawl_for(&env, 9, true).await });
    let after = simulation.run(|env| async move { hashed(&env) });
    assert!(after.0 == before.0 + 1 && after.1 != before.1, "{before:?} {after:?}");
}
