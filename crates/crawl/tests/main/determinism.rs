//! The same seed gives the same crawl, byte for byte.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mattock_crawl::Control;
use mattock_env::NetFaults;
use mattock_env::sim::Simulation;

use crate::world::{crawl, crawl_until, tiny};

fn files(seed: u64, faults: NetFaults) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut simulation = Simulation::new(seed).network(faults);
    simulation.run(|env| async move {
        crawl(&env, tiny(seed), Path::new("/crawl"), "").await;
    });
    simulation.files().snapshot()
}

#[test]
fn two_runs_leave_the_same_files() {
    for seed in [1, 2, 3] {
        let first = files(seed, NetFaults::NONE);
        assert!(first.keys().any(|path| path.extension().is_some_and(|extension| extension == "gz")));
        assert!(first == files(seed, NetFaults::NONE), "seed {seed}");
    }
}

#[test]
fn also_on_a_bad_network() {
    let faults =
        NetFaults { latency_ms: 1..=500, refuse: 0.02, hang: 0.005, break_off: 0.05, lose_datagram: 0.05 };
    let first = files(4, faults.clone());
    assert!(first == files(4, faults), "faults come from the seed, too");
    assert!(first != files(4, NetFaults::NONE), "the faults must have had an effect");
}

/// Partitions wait for each other at every checkpoint: who is woken first must not be a matter of luck.
#[test]
fn also_with_partitions_that_meet_and_stop() {
    let change = "[crawl]\npartitions = 3\nmemory = '192MiB'\n[checkpoint]\nevery = '2s'\n[politeness]\ndelay = '500ms'";
    let lives = || {
        let mut simulation = Simulation::new(5);
        for _ in 0..2 {
            simulation.run(|env| async move {
                let control = Control::default();
                let (stop, clock) = (control.clone(), env.clock.clone());
                tokio::task::spawn_local(async move {
                    clock.sleep(Duration::from_secs(12)).await;
                    stop.stop();
                });
                crawl_until(&env, tiny(5), Path::new("/crawl"), change, control).await;
            });
        }
        simulation.files().snapshot()
    };
    let first = lives();
    for _ in 0..4 {
        let again = lives();
        let differs = first.keys().chain(again.keys()).find(|path| first.get(*path) != again.get(*path));
        assert_eq!(differs, None);
    }
}
