//! Random batches, deliveries, flushes, checkpoints and reopenings: always what the map says.

use mattock_drum::{Batch, Deliver, Drum, Options};
use mattock_env::Random;
use mattock_env::sim::Simulation;

use crate::world::{Drawn, Model, Sum, apply, compare, deliver, draw_batch, open, options, simulate};

fn life<V: Drawn>(seed: u64, which: Deliver) {
    let mut simulation = Simulation::new(seed);
    let mut random = Random::from_seed(seed).fork("life");
    let mut options = options(&mut random, which);
    let universe = [20, 300, 5000, 1 << 24][random.below(4) as usize];
    let mut model = Model::<V>::new(which);
    let mut durable = model.clone();
    for _ in 0..random.below(4) + 1 {
        // Each opening may have another memory.
        if let Some(sizes) = &mut options.sizes {
            sizes.chunk_bytes = 4096 << random.below(2);
            sizes.log_block_bytes = 8192 << random.below(2);
        }
        simulate(&mut simulation, |env| {
            let mut drum: Drum<V> = open(&env, &options).unwrap();
            for _ in 0..random.below(30) {
                match random.below(8) {
                    0 => drum.flush().unwrap(),
                    1 => drum.merge().unwrap(),
                    2 => {
                        let checkpoint = drum.checkpoint().unwrap();
                        assert_eq!(checkpoint.position, model.position);
                        durable = model.clone();
                    }
                    3 | 4 => drop(deliver(&mut drum, &mut model, random.below(300) as usize).unwrap()),
                    _ => {
                        let len = [5, 100, 1000][random.below(3) as usize];
                        let draws = random.fork(&model.position.to_string());
                        drum.submit(&draw_batch(&mut draws.clone(), universe, len)).unwrap();
                        apply(&mut model, &mut draws.clone(), universe, len);
                    }
                }
            }
            if random.chance(0.5) {
                compare(&mut drum, &mut model).unwrap();
                drum.checkpoint().unwrap();
                durable = model.clone();
            }
        });
        // The process died: what was not in a checkpoint is gone.
        if random.chance(0.5) {
            simulation.files().crash()
        } else {
            simulation.files().kill()
        }
        model = durable.clone();
    }
    simulate(&mut simulation, |env| {
        compare(&mut open(&env, &options).unwrap(), &mut model).unwrap();
    });
}

#[test]
fn keys_live_as_in_a_map() {
    for seed in 0..400 {
        life::<()>(seed, Deliver::Unique);
        life::<()>(seed + 1000, Deliver::All);
    }
}

#[test]
fn values_live_as_in_a_map() {
    for seed in 0..400 {
        life::<Sum>(seed, Deliver::All);
        life::<Sum>(seed + 1000, Deliver::Unique);
    }
}

#[test]
fn a_small_set_makes_no_file_and_answers_at_once() {
    let mut simulation = Simulation::new(1);
    simulate(&mut simulation, |env| {
        let mut drum: Drum<()> = open(&env, &Options::new(64 << 20)).unwrap();
        let mut random = Random::from_seed(1);
        for round in 0..50 {
            let mut batch = Batch::new();
            let keys: Vec<u64> = (0..500).map(|_| random.next_u64()).collect();
            for key in keys.iter().chain(&keys) {
                batch.check_update(*key, (), &key.to_le_bytes());
            }
            drum.submit(&batch).unwrap();
            let mut new = Vec::new();
            drum.deliver(usize::MAX, |outcome| new.push(u64::from_le_bytes(outcome.aux.try_into().unwrap())))
                .unwrap();
            assert_eq!(new, keys, "round {round}");
        }
    });
    assert_eq!(simulation.files().operations(), 0);
}
