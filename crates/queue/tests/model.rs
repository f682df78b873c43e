//! Random pushes, pops, passes, checkpoints and reopenings: always what the lists say.

use std::collections::VecDeque;
use std::path::Path;

use mattock_env::sim::Simulation;
use mattock_env::{Env, Random};
use mattock_queue::{Options, QueueError, Queues, RECORD_BYTES_MAX};

use crate::world::{DIR, Life, Model, NAMES, options, simulate};

fn life(seed: u64) {
    let mut simulation = Simulation::new(seed);
    let mut random = Random::from_seed(seed).fork("life");
    let mut model = Model::new();
    for _ in 0..random.below(4) + 1 {
        // Each opening may have another memory.
        let options = options(&mut random);
        simulate(&mut simulation, |env| {
            let mut life = Life::open(&env, &options).unwrap();
            model.go_back(&life.queues);
            for _ in 0..random.below(60) {
                life.step(&mut random, &mut model).unwrap();
            }
            if random.chance(0.3) {
                life.compare(&model.lists).unwrap();
                if options.checkpoints_kept == 1 {
                    nothing_is_left(&env, &life.queues);
                    model
                        .captured
                        .insert(life.queues.newest_checkpoint(), vec![VecDeque::new(); NAMES.len()]);
                }
            }
        });
        if random.chance(0.5) {
            simulation.files().crash();
        } else {
            simulation.files().kill();
        }
    }
    let options = options(&mut random);
    simulate(&mut simulation, |env| {
        let life = Life::open(&env, &options).unwrap();
        model.go_back(&life.queues);
        life.compare(&model.lists).unwrap();
    });
}

/// Once everything is popped and the lanes have done their work, there is one manifest, its copy, and no other file.
fn nothing_is_left(env: &Env, queues: &Queues) {
    let checkpoint = queues.checkpoint().unwrap();
    for _ in 0..100 {
        queues.poll();
    }
    let names: Vec<String> =
        env.files.list(Path::new(DIR)).unwrap().into_iter().map(|file| file.name).collect();
    let manifest = format!("MANIFEST-{:06}", checkpoint.number);
    assert_eq!(names, [manifest.clone(), mattock_env::copy_name(&manifest)]);
}

#[test]
fn queues_live_as_lists_do() {
    for seed in 0..2000 {
        life(seed);
    }
}

#[test]
fn two_runs_from_one_seed_leave_the_same_files() {
    let files = |seed| {
        let mut simulation = Simulation::new(seed);
        let mut random = Random::from_seed(seed);
        let options = options(&mut random);
        simulate(&mut simulation, |env| {
            let mut life = Life::open(&env, &options).unwrap();
            let mut model = Model::new();
            for _ in 0..100 {
                life.step(&mut random, &mut model).unwrap();
            }
        });
        simulation.files().snapshot()
    };
    for seed in 0..20 {
        assert!(files(seed) == files(seed));
    }
}

#[test]
fn small_queues_make_no_file() {
    let mut simulation = Simulation::new(1);
    simulate(&mut simulation, |env| {
        let queues = Queues::open(&env, Path::new(DIR), &Options::new(16 << 20)).unwrap();
        let queue = queues.queue("ready");
        for round in 0..100u64 {
            for number in 0..500u64 {
                queue.push(format!("http://example.org/{round}/{number}").as_bytes()).unwrap();
            }
            queue.pop_with(400, |_| {}).unwrap();
        }
        assert_eq!(queue.len(), 10_000);
        assert_eq!(queues.stats().written_bytes, 0);
    });
    assert_eq!(simulation.files().operations(), 0);
}

#[test]
fn an_earlier_checkpoint_can_be_opened_again_and_again() {
    for seed in 0..200 {
        let mut simulation = Simulation::new(seed);
        let mut random = Random::from_seed(seed).fork("earlier");
        let options = Options { checkpoints_kept: 1000, ..options(&mut random) };
        let mut model = Model::new();
        let mut numbers = Vec::new();
        simulate(&mut simulation, |env| {
            let mut life = Life::open(&env, &options).unwrap();
            for _ in 0..3 {
                for _ in 0..random.below(30) {
                    life.step(&mut random, &mut model).unwrap();
                }
                let checkpoint = life.queues.checkpoint().unwrap();
                let (last, files) = checkpoint.files.split_last().unwrap();
                assert_eq!(last.0, format!("MANIFEST-{:06}", checkpoint.number));
                for (name, bytes) in files.iter().chain([last]) {
                    assert!(env.files.entry(&Path::new(DIR).join(name)).unwrap().unwrap().len >= *bytes);
                }
                model.captured.insert(checkpoint.number, model.lists.clone());
                numbers.push(checkpoint.number);
            }
        });
        for number in [numbers[2], numbers[1], numbers[1]] {
            simulate(&mut simulation, |env| {
                let queues = Queues::open_at(&env, Path::new(DIR), &options, Some(number)).unwrap();
                assert_eq!(queues.newest_checkpoint(), number);
                let handles = queues.names().iter().map(|name| queues.queue(name)).collect();
                Life { queues, handles, captures: Vec::new() }.compare(&model.captured[&number]).unwrap();
            });
            simulation.files().crash();
        }
        simulate(&mut simulation, |env| {
            let missing = Queues::open_at(&env, Path::new(DIR), &options, Some(numbers[2]));
            assert!(matches!(missing, Err(QueueError::NoSuchCheckpoint { .. })));
            // Going on from the earlier one.
            let mut life = Life::open(&env, &options).unwrap();
            model.durable = 0;
            model.go_back(&life.queues);
            for _ in 0..20 {
                life.step(&mut random, &mut model).unwrap();
            }
            life.compare(&model.lists).unwrap();
        });
    }
}

#[test]
fn a_record_that_is_too_large_is_refused() {
    let mut simulation = Simulation::new(1);
    simulate(&mut simulation, |env| {
        let queues = Queues::open(&env, Path::new(DIR), &Options::new(1 << 20)).unwrap();
        let queue = queues.queue("ready");
        queue.push(&[7; RECORD_BYTES_MAX]).unwrap();
        let refused = queue.push(&[7; RECORD_BYTES_MAX + 1]);
        assert!(matches!(refused, Err(QueueError::TooLarge { limit: RECORD_BYTES_MAX, .. })));
        assert_eq!((queue.len(), queue.bytes()), (1, RECORD_BYTES_MAX as u64));
    });
}
