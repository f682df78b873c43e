//! The power fails at every operation on the disk: what was acknowledged is there, and nothing that was not pushed.

use mattock_env::sim::Simulation;
use mattock_env::{Fault, Random};
use mattock_queue::QueueError;

use crate::world::{Life, Model, options, simulate};

/// Two lives, the first of which the disk stops at operation `stop`. Returns how many operations there were.
fn stopped_at(seed: u64, stop: Option<u64>) -> u64 {
    let mut simulation = Simulation::new(seed);
    let mut random = Random::from_seed(seed).fork("crash");
    let options = options(&mut random);
    if let Some(stop) = stop {
        simulation.files().fail_at(stop, Fault::Stop);
    }
    let mut model = Model::new();
    for _life in 0..2 {
        let outcome = simulate(&mut simulation, |env| {
            let mut life = Life::open(&env, &options)?;
            model.go_back(&life.queues);
            for _ in 0..20 + random.below(20) {
                life.step(&mut random, &mut model)?;
            }
            Ok::<_, QueueError>(())
        });
        if let Err(error) = &outcome {
            assert!(matches!(error, QueueError::Io { .. } | QueueError::Poisoned { .. }), "{error}");
            assert!(stop.is_some());
        }
        simulation.files().crash();
        // The power may fail again while we look; looking takes no checkpoint, so it changes nothing.
        loop {
            let looked = simulate(&mut simulation, |env| {
                let life = Life::open(&env, &options)?;
                model.go_back(&life.queues);
                life.compare(&model.lists)
            });
            match looked {
                Ok(()) => break,
                Err(error) => assert!(matches!(error, QueueError::Io { .. }), "{error}"),
            }
            simulation.files().crash();
        }
        simulation.files().kill();
    }
    simulation.files().operations()
}

#[test]
fn queues_survive_a_crash_at_every_operation() {
    for seed in 0..40 {
        let operations = stopped_at(seed, None);
        for stop in 0..operations {
            stopped_at(seed, Some(stop));
        }
    }
}
