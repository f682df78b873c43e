//! Checkpoints of which somebody else says which one counts: all that may yet be named can be opened, whatever fails.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mattock_drum::{Deliver, Drum, DrumError, Options};
use mattock_env::sim::Simulation;
use mattock_env::{Env, Fault, Random, copy_name};

use crate::world::{DIR, Drawn, Model, Sum, apply, compare, deliver, draw_batch, options, simulate};

fn open_at<V: Drawn>(env: &Env, options: &Options, number: u64) -> Result<Drum<V>, DrumError> {
    Drum::open_at(env, Path::new(DIR), options.clone(), Some(number))
}

/// What the owner of several stores knows: the checkpoint that was agreed upon, and acknowledged ones that may follow it.
struct Owner<V> {
    pinned: u64,
    states: BTreeMap<u64, Model<V>>,
}

fn work<V: Drawn>(
    env: &Env,
    options: &Options,
    random: &mut Random,
    owner: &mut Owner<V>,
    patient: bool,
) -> Result<(), DrumError> {
    owner.states.retain(|number, _| *number <= owner.pinned);
    let mut drum = open_at::<V>(env, options, owner.pinned)?;
    let mut model = owner.states[&owner.pinned].clone();
    for _ in 0..8 + random.below(12) {
        let outcome = match random.below(8) {
            0 => drum.flush(),
            1 | 2 => drum.checkpoint().map(|checkpoint| {
                owner.states.insert(checkpoint.number, model.clone());
            }),
            3 => {
                let numbers: Vec<u64> = owner.states.keys().copied().collect();
                owner.pinned = numbers[random.below(numbers.len() as u64) as usize];
                drum.keep_from(owner.pinned);
                owner.states.retain(|number, _| *number >= owner.pinned);
                Ok(())
            }
            4 => deliver(&mut drum, &mut model, random.below(300) as usize).map(drop),
            _ => {
                let draws = random.fork(&model.position.to_string());
                drum.submit(&draw_batch(&mut draws.clone(), 2000, 300))
                    .map(|()| apply(&mut model, &mut draws.clone(), 2000, 300))
            }
        };
        match outcome {
            Err(DrumError::Io { .. } | DrumError::DiskFull { .. }) if patient => {}
            Err(DrumError::Poisoned { .. }) if patient => return Ok(()),
            other => other?,
        }
    }
    Ok(())
}

/// Every checkpoint that may be the one can be opened, each on a disk of its own.
fn look<V: Drawn>(files: &BTreeMap<PathBuf, Vec<u8>>, options: &Options, owner: &Owner<V>) {
    for (number, model) in owner.states.range(owner.pinned..) {
        simulate(&mut Simulation::new(*number), |env| {
            env.files.create_dir_all(Path::new(DIR)).unwrap();
            for (path, bytes) in files {
                env.files.write_atomic(path, bytes).unwrap();
            }
            compare(&mut open_at(&env, options, *number).unwrap(), &mut model.clone()).unwrap();
        });
    }
}

fn lives<V: Drawn>(seed: u64, which: Deliver, stop: Option<u64>, chance: Option<(Fault, f64)>) -> u64 {
    let mut simulation = Simulation::new(seed);
    let files = simulation.files().clone();
    let mut random = Random::from_seed(seed).fork("pins");
    let mut options = options(&mut random, which);
    if let (Some(sizes), 0) = (&mut options.sizes, seed % 2) {
        // A cache is large, and every opening makes one.
        sizes.cache_sets = 0;
    }
    if let Some(stop) = stop {
        files.fail_at(stop, Fault::Stop);
    }
    let mut owner = Owner { pinned: 0, states: BTreeMap::from([(0, Model::<V>::new(which))]) };
    for _life in 0..3 {
        if let Some((fault, probability)) = chance {
            files.set_probability(fault, probability);
        }
        let outcome =
            simulate(&mut simulation, |env| work(&env, &options, &mut random, &mut owner, chance.is_some()));
        assert!(outcome.is_ok() || stop.is_some() || chance.is_some(), "{outcome:?}");
        files.clear_faults();
        if random.chance(0.7) {
            files.crash()
        } else {
            files.kill()
        }
        look(&files.snapshot(), &options, &owner);
    }
    files.operations()
}

fn at_every_operation<V: Drawn>(seeds: std::ops::Range<u64>, which: Deliver) {
    for seed in seeds {
        let operations = lives::<V>(seed, which, None, None);
        for stop in 0..operations {
            lives::<V>(seed, which, Some(stop), None);
        }
    }
}

#[test]
fn keys_that_may_be_named_survive_a_crash_at_every_operation() {
    at_every_operation::<()>(0..2, Deliver::Unique);
}

#[test]
fn values_that_may_be_named_survive_a_crash_at_every_operation() {
    at_every_operation::<Sum>(10..12, Deliver::All);
}

#[test]
fn what_may_be_named_survives_checkpoints_that_fail_in_a_row() {
    for seed in 0..60 {
        lives::<()>(seed, Deliver::Unique, None, Some((Fault::NoSpace, 0.2)));
        lives::<Sum>(seed, Deliver::All, None, Some((Fault::Io, 0.1)));
    }
}

/// The copies of those files that are kept twice.
fn copies(names: &[String]) -> Vec<String> {
    let twice = |name: &&String| ["MANIFEST", "tail"].iter().any(|kind| name.starts_with(kind));
    names.iter().filter(twice).map(|name| copy_name(name)).collect()
}

fn names(env: &Env) -> Vec<String> {
    env.files.list(Path::new(DIR)).unwrap().into_iter().map(|file| file.name).collect()
}

#[test]
fn what_is_not_named_goes_once_another_is() {
    for seed in 0..150 {
        let mut simulation = Simulation::new(seed);
        let mut random = Random::from_seed(seed).fork("leak");
        let options =
            Options { checkpoints_kept: 1 + seed as usize % 2, ..options(&mut random, Deliver::All) };
        let mut model = Model::<Sum>::new(Deliver::All);
        for _life in 0..3 {
            simulate(&mut simulation, |env| {
                let pinned = model.checkpoint;
                let mut drum = open_at::<Sum>(&env, &options, pinned).unwrap();
                let mut last = None;
                for round in 0..5 {
                    for _ in 0..random.below(4) {
                        let draws = random.fork(&model.position.to_string());
                        drum.submit(&draw_batch(&mut draws.clone(), 3000, 500)).unwrap();
                        apply(&mut model, &mut draws.clone(), 3000, 500);
                        deliver(&mut drum, &mut model, 201).unwrap();
                    }
                    if round == 4 {
                        drum.merge().unwrap();
                    }
                    let checkpoint = drum.checkpoint().unwrap();
                    let kept =
                        names(&env).iter().filter(|name| name.starts_with("MANIFEST")).count() as u64 / 2;
                    assert!(kept >= checkpoint.number - pinned, "{kept} after {pinned}");
                    last = Some(checkpoint);
                }
                let last = last.unwrap();
                model.checkpoint = last.number;
                drum.keep_from(last.number);
                // The second time the one before goes as well.
                let mut expected: Vec<String> = last.files.into_iter().map(|(name, _)| name).collect();
                if options.checkpoints_kept == 2 {
                    let next = drum.checkpoint().unwrap();
                    drum.keep_from(next.number);
                    model.checkpoint = next.number;
                    expected.extend(next.files.into_iter().map(|(name, _)| name));
                }
                for _ in 0..100 {
                    drum.poll();
                }
                expected.extend(copies(&expected));
                expected.sort_unstable();
                expected.dedup();
                assert_eq!(names(&env), expected);
            });
            simulation.files().kill();
        }
    }
}
