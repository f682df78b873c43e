//! A full disk, a failing disk, a decaying disk.

use std::path::Path;

use mattock_drum::{Deliver, Drum, DrumError};
use mattock_env::sim::Simulation;
use mattock_env::{Fault, Random};

use crate::world::{DIR, Drawn, Model, Sum, apply, compare, deliver, draw_batch, open, options, simulate};

/// Submits until the disk is full, looks, makes room, goes on.
fn fill_up<V: Drawn>(seed: u64, which: Deliver) -> u32 {
    let mut simulation = Simulation::new(seed);
    let files = simulation.files().clone();
    let mut random = Random::from_seed(seed).fork("space");
    let options = options(&mut random, which);
    let mut model = Model::<V>::new(which);
    let mut full = 0;
    simulate(&mut simulation, |env| {
        let mut drum: Drum<V> = open(&env, &options).unwrap();
        let mut round = 0;
        while round < 40 {
            files.set_capacity((round % 4 != 3).then_some(30_000));
            let draws = random.fork(&model.position.to_string());
            let outcome = match random.below(6) {
                0 => drum.flush(),
                1 => drum.checkpoint().map(drop),
                2 => deliver(&mut drum, &mut model, 100).map(drop),
                _ => drum.submit(&draw_batch(&mut draws.clone(), 3000, 300)).map(|()| {
                    apply(&mut model, &mut draws.clone(), 3000, 300);
                }),
            };
            match outcome {
                Ok(()) => {}
                Err(DrumError::DiskFull { .. }) => {
                    full += 1;
                    // What is stored can still be read.
                    drum.scan(|key, _| assert!(model.map.contains_key(&key))).unwrap();
                }
                // A sync that fails for want of space may have dropped data: only opening again helps.
                Err(DrumError::Poisoned { .. }) => return,
                Err(error) => panic!("{error}"),
            }
            round += 1;
        }
        files.set_capacity(None);
        compare(&mut drum, &mut model).unwrap();
    });
    full
}

#[test]
fn a_full_disk_is_an_error_and_no_end() {
    let mut full = 0;
    for seed in 0..150 {
        full += fill_up::<()>(seed, Deliver::Unique);
        full += fill_up::<Sum>(seed, Deliver::All);
    }
    assert!(full > 300, "{full}");
}

#[test]
fn failing_operations_lose_nothing_that_was_acknowledged() {
    let mut failed = 0;
    for seed in 0..300 {
        let mut simulation = Simulation::new(seed);
        let mut random = Random::from_seed(seed).fork("failing");
        let options = options(&mut random, Deliver::All);
        let mut durable = Model::<Sum>::new(Deliver::All);
        for _life in 0..3 {
            let mut model = durable.clone();
            let mut maybe = None;
            simulation.files().set_probability(Fault::Io, 0.03);
            simulate(&mut simulation, |env| {
                let Ok(mut drum) = open::<Sum>(&env, &options) else { return };
                for _ in 0..15 {
                    let draws = random.fork(&model.position.to_string());
                    let outcome = match random.below(5) {
                        0 => drum.flush(),
                        1 => {
                            maybe = Some(model.clone());
                            let Ok(checkpoint) = drum.checkpoint() else { return };
                            model.checkpoint = checkpoint.number;
                            (durable, maybe) = (model.clone(), None);
                            Ok(())
                        }
                        2 => deliver(&mut drum, &mut model, 100).map(drop),
                        _ => drum.submit(&draw_batch(&mut draws.clone(), 3000, 300)).map(|()| {
                            apply(&mut model, &mut draws.clone(), 3000, 300);
                        }),
                    };
                    failed += u32::from(outcome.is_err());
                }
            });
            simulation.files().clear_faults();
            simulation.files().crash();
            simulate(&mut simulation, |env| {
                let mut drum = open::<Sum>(&env, &options).unwrap();
                if drum.newest_checkpoint() != durable.checkpoint {
                    durable = Model { checkpoint: drum.newest_checkpoint(), ..maybe.take().unwrap() };
                }
                compare(&mut drum, &mut durable.clone()).unwrap();
            });
        }
    }
    assert!(failed > 100, "{failed}");
}

/// One bit of any file flips: the repository says which, or nothing that was asked depended on it.
#[test]
fn damage_is_named_and_never_served() {
    let mut named = 0;
    for seed in 0..150 {
        let mut simulation = Simulation::new(seed);
        let files = simulation.files().clone();
        let mut random = Random::from_seed(seed).fork("damage");
        let options = options(&mut random, Deliver::All);
        let mut model = Model::<Sum>::new(Deliver::All);
        simulate(&mut simulation, |env| {
            let mut drum = open::<Sum>(&env, &options).unwrap();
            for round in 0..6 {
                let draws = random.fork(&model.position.to_string());
                drum.submit(&draw_batch(&mut draws.clone(), 3000, 500)).unwrap();
                apply(&mut model, &mut draws.clone(), 3000, 500);
                if round == 3 {
                    drum.merge().unwrap();
                }
            }
            drum.checkpoint().unwrap();
        });
        let paths: Vec<_> = files.snapshot().into_iter().filter(|(_, bytes)| !bytes.is_empty()).collect();
        for (path, bytes) in &paths {
            files.flip_bit(path).unwrap();
            let outcome = simulate(&mut simulation, |env| {
                let mut drum = open::<Sum>(&env, &options)?;
                compare(&mut drum, &mut model.clone())
            });
            match outcome {
                Err(DrumError::Corrupt { path: named_path, .. }) => {
                    let name = named_path.file_name().unwrap().to_str().unwrap();
                    assert!(!name.starts_with("MANIFEST") && !name.starts_with("tail"), "there is a copy");
                    assert!(named_path.starts_with(DIR), "{}", named_path.display());
                    named += 1;
                }
                Err(error) => panic!("{error}"),
                Ok(()) => {}
            }
            simulate(&mut simulation, |env| {
                for (path, bytes) in &paths {
                    env.files.write_atomic(path, bytes).unwrap();
                }
                env.files.write_atomic(path, bytes).unwrap();
            });
        }
    }
    assert!(named > 200, "{named}");
}

#[test]
fn an_earlier_checkpoint_can_be_opened() {
    for seed in 0..60 {
        let mut simulation = Simulation::new(seed);
        let mut random = Random::from_seed(seed).fork("earlier");
        let mut options = options(&mut random, Deliver::Unique);
        options.checkpoints_kept = 2;
        let mut model = Model::<()>::new(Deliver::Unique);
        let mut states = Vec::new();
        simulate(&mut simulation, |env| {
            let mut drum = open::<()>(&env, &options).unwrap();
            for _ in 0..5 {
                for _ in 0..random.below(4) {
                    let draws = random.fork(&model.position.to_string());
                    drum.submit(&draw_batch(&mut draws.clone(), 3000, 500)).unwrap();
                    apply(&mut model, &mut draws.clone(), 3000, 500);
                    deliver(&mut drum, &mut model, 200).unwrap();
                }
                model.checkpoint = drum.checkpoint().unwrap().number;
                states.push(model.clone());
            }
        });
        let mut state = states[3].clone();
        simulate(&mut simulation, |env| {
            let mut drum =
                Drum::<()>::open_at(&env, Path::new(DIR), options.clone(), Some(state.checkpoint)).unwrap();
            compare(&mut drum, &mut state.clone()).unwrap();
            // The later one is forgotten for good.
            drop(drum);
            let mut drum = open::<()>(&env, &options).unwrap();
            compare(&mut drum, &mut state).unwrap();
            let gone = Drum::<()>::open_at(&env, Path::new(DIR), options.clone(), Some(5));
            assert!(matches!(gone, Err(DrumError::NoSuchCheckpoint { number: 5, .. })));
        });
    }
}
