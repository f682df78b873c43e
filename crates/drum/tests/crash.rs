//! The power fails at every operation on the disk: what was acknowledged is there, and nothing that was not submitted.

use mattock_drum::{Deliver, Drum, DrumError, Options};
use mattock_env::sim::Simulation;
use mattock_env::{Env, Fault, Random};

use crate::world::{Drawn, Model, Sum, apply, compare, deliver, draw_batch, open, options, simulate};

/// Runs a workload until the disk stops it. `durable` is the model at the last acknowledged checkpoint, `maybe` the one at
/// a checkpoint that was begun and not acknowledged.
fn work<V: Drawn>(
    env: &Env,
    options: &Options,
    random: &mut Random,
    model: &mut Model<V>,
    durable: &mut Model<V>,
    maybe: &mut Option<Model<V>>,
) -> Result<(), DrumError> {
    let mut drum: Drum<V> = open(env, options)?;
    for _ in 0..6 + random.below(8) {
        if let Some(finished) = drum.finished_checkpoint() {
            let checkpoint = finished?.number;
            *durable = Model { checkpoint, ..maybe.take().expect("it was begun") };
        }
        match random.below(7) {
            0 => drum.flush()?,
            1 => {
                settle(&mut drum, durable, maybe)?;
                *maybe = Some(model.clone());
                model.checkpoint = drum.checkpoint()?.number;
                *durable = model.clone();
                *maybe = None;
            }
            // What comes after this must not be in it.
            6 => {
                settle(&mut drum, durable, maybe)?;
                *maybe = Some(model.clone());
                model.checkpoint = drum.begin_checkpoint()?;
            }
            2 => drop(deliver(&mut drum, model, random.below(200) as usize)?),
            _ => {
                let draws = random.fork(&model.position.to_string());
                drum.submit(&draw_batch(&mut draws.clone(), 2000, 300))?;
                apply(model, &mut draws.clone(), 2000, 300);
            }
        }
    }
    Ok(())
}

/// Waits for a checkpoint that is being written.
fn settle<V: Drawn>(
    drum: &mut Drum<V>,
    durable: &mut Model<V>,
    maybe: &mut Option<Model<V>>,
) -> Result<(), DrumError> {
    while let Some(begun) = maybe {
        if let Some(finished) = drum.finished_checkpoint() {
            *durable = Model { checkpoint: finished?.number, ..begun.clone() };
            *maybe = None;
        }
    }
    Ok(())
}

/// Opens what a crash has left and compares all of it.
fn look<V: Drawn>(
    simulation: &mut Simulation,
    options: &Options,
    durable: &mut Model<V>,
    maybe: &Option<Model<V>>,
) -> Result<(), DrumError> {
    simulate(simulation, |env| {
        let mut drum: Drum<V> = open(&env, options)?;
        if let Some(maybe) = maybe
            && durable.checkpoint != drum.newest_checkpoint()
        {
            *durable = Model { checkpoint: drum.newest_checkpoint(), ..maybe.clone() };
        }
        assert_eq!(drum.position(), durable.position);
        compare(&mut drum, &mut durable.clone())
    })
}

/// One workload, stopped at operation `stop`, then a second life on what is left. Returns how many operations there were.
fn stopped_at<V: Drawn>(seed: u64, which: Deliver, stop: Option<u64>) -> u64 {
    let mut simulation = Simulation::new(seed);
    let mut random = Random::from_seed(seed).fork("crash");
    let options = options(&mut random, which);
    if let Some(stop) = stop {
        simulation.files().fail_at(stop, Fault::Stop);
    }
    let mut durable = Model::<V>::new(which);
    for _life in 0..2 {
        let mut model = durable.clone();
        let mut maybe = None;
        let outcome = simulate(&mut simulation, |env| {
            work(&env, &options, &mut random, &mut model, &mut durable, &mut maybe)
        });
        if let Err(error) = &outcome {
            assert!(matches!(error, DrumError::Io { .. }), "{error}");
            assert!(stop.is_some());
        }
        simulation.files().crash();
        // The power may fail again while we look; looking takes no checkpoint, so it changes nothing.
        while let Err(error) = look(&mut simulation, &options, &mut durable, &maybe) {
            assert!(matches!(error, DrumError::Io { .. }), "{error}");
            simulation.files().crash();
        }
        simulation.files().kill();
    }
    simulation.files().operations()
}

fn at_every_operation<V: Drawn>(seeds: std::ops::Range<u64>, which: Deliver) {
    for seed in seeds {
        let operations = stopped_at::<V>(seed, which, None);
        for stop in 0..operations {
            stopped_at::<V>(seed, which, Some(stop));
        }
    }
}

#[test]
fn keys_survive_a_crash_at_every_operation() {
    at_every_operation::<()>(0..6, Deliver::Unique);
}

#[test]
fn values_survive_a_crash_at_every_operation() {
    at_every_operation::<Sum>(10..16, Deliver::All);
}
