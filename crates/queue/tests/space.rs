//! A full disk and a failing disk.

use mattock_env::sim::Simulation;
use mattock_env::{Fault, Random};
use mattock_queue::QueueError;

use crate::world::{Life, Model, options, simulate};

/// Works until the disk is full, makes room, goes on. How often it was full.
fn fill_up(seed: u64) -> u32 {
    let mut simulation = Simulation::new(seed);
    let files = simulation.files().clone();
    let mut random = Random::from_seed(seed).fork("space");
    let options = options(&mut random);
    let mut model = Model::new();
    let mut full = 0;
    simulate(&mut simulation, |env| {
        let mut life = Life::open(&env, &options).unwrap();
        for round in 0..80 {
            files.set_capacity((round % 4 != 3).then_some(40_000));
            match life.step(&mut random, &mut model) {
                Ok(()) => {}
                Err(QueueError::DiskFull { .. }) => full += 1,
                Err(error) => panic!("{error}"),
            }
        }
        files.set_capacity(None);
        for handle in &life.handles {
            handle.push(b"there is room again").unwrap();
        }
        for list in &mut model.lists {
            list.push_back(b"there is room again".to_vec());
        }
        model.durable = life.queues.checkpoint().unwrap().number;
        model.captured.insert(model.durable, model.lists.clone());
        life.compare(&model.lists).unwrap();
    });
    files.crash();
    simulate(&mut simulation, |env| {
        let life = Life::open(&env, &options).unwrap();
        model.go_back(&life.queues);
        life.compare(&model.lists).unwrap();
    });
    full
}

#[test]
fn a_full_disk_is_an_error_and_no_end() {
    let full: u32 = (0..400).map(fill_up).sum();
    assert!(full > 1000, "{full}");
}

#[test]
fn failing_operations_lose_nothing_that_was_acknowledged() {
    let (mut failed, mut poisoned) = (0, 0);
    for seed in 0..400 {
        let mut simulation = Simulation::new(seed);
        let mut random = Random::from_seed(seed).fork("failing");
        let options = options(&mut random);
        let mut model = Model::new();
        for _life in 0..3 {
            simulation.files().count_reads(true);
            simulation.files().set_probability(Fault::Io, 0.03);
            simulate(&mut simulation, |env| {
                let Ok(mut life) = Life::open(&env, &options) else { return };
                model.go_back(&life.queues);
                for _ in 0..40 {
                    match life.step(&mut random, &mut model) {
                        Ok(()) => {}
                        Err(QueueError::Poisoned { .. }) => poisoned += 1,
                        Err(QueueError::Io { .. }) => failed += 1,
                        Err(error) => panic!("{error}"),
                    }
                }
            });
            simulation.files().clear_faults();
            simulation.files().count_reads(false);
            simulation.files().crash();
            simulate(&mut simulation, |env| {
                let life = Life::open(&env, &options).unwrap();
                model.go_back(&life.queues);
                life.compare(&model.lists).unwrap();
            });
            simulation.files().kill();
        }
    }
    assert!(failed > 100 && poisoned > 100, "{failed} {poisoned}");
}
