//! The same seed gives the same crawl, byte for byte.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mattock_env::NetFaults;
use mattock_env::sim::Simulation;

use crate::world::{crawl, tiny};

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
