//! Bits that flip and files that are cut off: named, and never served.

use mattock_env::sim::Simulation;
use mattock_env::{OpenMode, Random};
use mattock_queue::QueueError;

use crate::world::{DIR, Life, Model, options, simulate};

#[test]
fn damage_is_named_and_never_served() {
    let (mut named, mut harmless) = (0, 0);
    for seed in 0..200 {
        let mut simulation = Simulation::new(seed);
        let files = simulation.files().clone();
        let mut random = Random::from_seed(seed).fork("damage");
        let options = options(&mut random);
        let mut model = Model::new();
        simulate(&mut simulation, |env| {
            let mut life = Life::open(&env, &options).unwrap();
            for _ in 0..60 {
                life.step(&mut random, &mut model).unwrap();
            }
            life.queues.checkpoint().unwrap();
        });
        let all = files.snapshot();
        for (path, bytes) in all.iter().filter(|(_, bytes)| !bytes.is_empty()) {
            let cut = random.chance(0.3);
            if cut {
                let len = random.below(bytes.len() as u64);
                simulate(&mut simulation, |env| {
                    env.files.open(path, OpenMode::Write).unwrap().set_len(len).unwrap();
                });
            } else {
                files.flip_bit(path).unwrap();
            }
            let outcome = simulate(&mut simulation, |env| Life::open(&env, &options)?.compare(&model.lists));
            match outcome {
                Err(
                    QueueError::Corrupt { path: found, .. } | QueueError::UnknownVersion { path: found, .. },
                ) => {
                    assert_eq!(found, *path);
                    assert!(path.display().to_string().contains("/segment-"), "of {found:?} there is a copy");
                    named += 1;
                }
                Err(error) => panic!("{error}"),
                Ok(()) => harmless += 1,
            }
            simulate(&mut simulation, |env| {
                // Opening has removed what only a damaged manifest named.
                for (path, bytes) in &all {
                    env.files.write_atomic(path, bytes).unwrap();
                }
            });
        }
        assert!(all.keys().all(|path| path.starts_with(DIR)));
    }
    assert!(named > 300 && harmless > 20, "{named} {harmless}");
}
