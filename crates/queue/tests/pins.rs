//! Checkpoints of which somebody else says which one counts: all that may yet be named can be opened, whatever fails.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mattock_env::sim::Simulation;
use mattock_env::{Env, Fault, Random, copy_name};
use mattock_queue::{Options, QueueError, Queues};

use crate::world::{DIR, Life, Lists, Model, NAMES, options, simulate};

fn open_at(env: &Env, options: &Options, number: u64) -> Result<Life, QueueError> {
    let queues = Queues::open_at(env, Path::new(DIR), options, Some(number))?;
    let handles = NAMES.iter().map(|name| queues.queue(name)).collect();
    Ok(Life { queues, handles, captures: Vec::new() })
}

/// What the owner of several stores knows: the checkpoint that was agreed upon, and acknowledged ones that may follow it.
struct Owner {
    pinned: u64,
    states: BTreeMap<u64, Lists>,
}

fn work(
    env: &Env,
    options: &Options,
    random: &mut Random,
    owner: &mut Owner,
    patient: bool,
) -> Result<(), QueueError> {
    owner.states.retain(|number, _| *number <= owner.pinned);
    let mut model = Model::new();
    let mut life = open_at(env, options, owner.pinned)?;
    model.lists = owner.states[&owner.pinned].clone();
    for _ in 0..30 + random.below(20) {
        let outcome = match random.below(6) {
            0 => life.queues.checkpoint().map(|checkpoint| {
                owner.states.insert(checkpoint.number, model.lists.clone());
            }),
            1 => {
                let numbers: Vec<u64> = owner.states.keys().copied().collect();
                if random.chance(0.3) {
                    owner.pinned = numbers[random.below(numbers.len() as u64) as usize];
                    life.queues.keep_from(owner.pinned);
                    owner.states.retain(|number, _| *number >= owner.pinned);
                }
                Ok(())
            }
            _ => life.step(random, &mut model),
        };
        match outcome {
            Err(QueueError::Io { .. } | QueueError::DiskFull { .. }) if patient => {}
            Err(QueueError::Poisoned { .. }) if patient => return Ok(()),
            other => other?,
        }
    }
    Ok(())
}

/// Every checkpoint that may be the one can be opened, each on a disk of its own.
fn look(files: &BTreeMap<PathBuf, Vec<u8>>, options: &Options, owner: &Owner) {
    for (number, lists) in owner.states.range(owner.pinned..) {
        simulate(&mut Simulation::new(*number), |env| {
            env.files.create_dir_all(Path::new(DIR)).unwrap();
            for (path, bytes) in files {
                env.files.write_atomic(path, bytes).unwrap();
            }
            open_at(&env, options, *number).unwrap().compare(lists).unwrap();
        });
    }
}

fn lives(seed: u64, stop: Option<u64>, chance: Option<(Fault, f64)>) -> u64 {
    let mut simulation = Simulation::new(seed);
    let files = simulation.files().clone();
    let mut random = Random::from_seed(seed).fork("pins");
    let options = options(&mut random);
    if let Some(stop) = stop {
        files.fail_at(stop, Fault::Stop);
    }
    let mut owner = Owner { pinned: 0, states: Model::new().captured };
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

#[test]
fn what_may_be_named_survives_a_crash_at_every_operation() {
    for seed in 0..12 {
        let operations = lives(seed, None, None);
        for stop in 0..operations {
            lives(seed, Some(stop), None);
        }
    }
}

#[test]
fn what_may_be_named_survives_checkpoints_that_fail_in_a_row() {
    for seed in 0..200 {
        lives(seed, None, Some((Fault::NoSpace, 0.2)));
        lives(seed, None, Some((Fault::Io, 0.1)));
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
    for seed in 0..200 {
        let mut simulation = Simulation::new(seed);
        let mut random = Random::from_seed(seed).fork("leak");
        let options = Options { checkpoints_kept: 1, ..options(&mut random) };
        let mut model = Model::new();
        let mut pinned = 0;
        for _life in 0..2 {
            simulate(&mut simulation, |env| {
                let mut life = open_at(&env, &options, pinned).unwrap();
                model.go_back(&life.queues);
                for _ in 0..5 {
                    for _ in 0..random.below(15) {
                        life.step(&mut random, &mut model).unwrap();
                    }
                    while life.captures.pop().is_some_and(|capture| capture.wait().is_ok()) {}
                    let number = life.queues.checkpoint().unwrap().number;
                    model.captured.insert(number, model.lists.clone());
                    let kept =
                        names(&env).iter().filter(|name| name.starts_with("MANIFEST")).count() as u64 / 2;
                    assert!(kept >= number - pinned, "{kept} of {number} after {pinned}");
                }
                let last = life.queues.checkpoint().unwrap();
                model.captured.insert(last.number, model.lists.clone());
                pinned = last.number;
                life.queues.keep_from(pinned);
                for _ in 0..100 {
                    life.queues.poll();
                }
                let mut expected: Vec<String> = last.files.into_iter().map(|(name, _)| name).collect();
                expected.extend(copies(&expected));
                expected.sort_unstable();
                assert_eq!(names(&env), expected);
                model.durable = pinned;
            });
            simulation.files().kill();
        }
    }
}
