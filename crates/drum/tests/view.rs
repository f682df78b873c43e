//! Looking at checkpoints while their repository is at work: always what the model was at that moment, and nothing changes.

use std::collections::BTreeMap;
use std::path::Path;

use mattock_drum::{Batch, Deliver, Drum, DrumError, Operation, Undelivered, View};
use mattock_env::sim::Simulation;
use mattock_env::{Env, Random};

use crate::world::{DIR, Drawn, Model, Sum, apply, deliver, draw_batch, open, options, simulate};

fn view<V: Drawn>(env: &Env, number: u64) -> Result<View<V>, DrumError> {
    View::open(env, Path::new(DIR), number)
}

fn compare<V: Drawn>(view: &View<V>, model: &Model<V>, random: &mut Random) {
    assert_eq!((view.number(), view.position()), (model.checkpoint, model.position));
    let mut stored = BTreeMap::new();
    let mut last = None;
    view.scan(|key, value| {
        assert!(last.replace(key) < Some(key));
        stored.insert(key, value);
    })
    .unwrap();
    assert!(stored == model.map);
    for _ in 0..3 {
        let some = model.map.range(random.next_u64()..).next().or(model.map.first_key_value());
        if let Some((key, value)) = some {
            assert_eq!(view.look_up(*key).unwrap().as_ref(), Some(value));
            assert_eq!(view.look_up(key ^ 1).unwrap().as_ref(), model.map.get(&(key ^ 1)));
        }
    }
    let mut answered = std::collections::BTreeSet::new();
    view.scan_answered(|key, _| assert!(answered.insert(key))).unwrap();
    assert!(answered.iter().all(|key| stored.contains_key(key)));
    for key in stored.keys().filter(|key| !answered.contains(key)).take(3) {
        assert!(view.merged(*key).unwrap().is_none());
        let waiting = view.waiting(*key).unwrap();
        assert!(waiting.iter().any(|waiting| waiting.operation == Operation::CheckUpdate));
        assert!(waiting.iter().all(|waiting| waiting.operation != Operation::Update));
    }
    let mut answers = model.answers.iter();
    view.undelivered(|Undelivered { aux, unique }| match (model.deliver, unique) {
        (Deliver::Unique, None) if answers.as_slice().first().is_none_or(|next| next.0 != aux) => {}
        (_, unique) => {
            let (expected, is_unique, _) = answers.next().unwrap();
            assert_eq!(aux, expected);
            assert!(unique.is_none_or(|unique| unique == *is_unique));
        }
    })
    .unwrap();
    assert!(answers.next().is_none());
}

/// How many views outlived their checkpoint.
fn life<V: Drawn>(seed: u64, which: Deliver) -> u32 {
    let mut simulation = Simulation::new(seed);
    let files = simulation.files().clone();
    let mut random = Random::from_seed(seed).fork("view");
    let options = options(&mut random, which);
    let universe = [20, 300, 5000][random.below(3) as usize];
    let mut model = Model::<V>::new(which);
    let mut outlived = 0;
    simulate(&mut simulation, |env| {
        compare(&view::<V>(&env, 0).unwrap(), &model, &mut random);
        let mut drum: Drum<V> = open(&env, &options).unwrap();
        let mut open: Vec<(View<V>, Model<V>)> = Vec::new();
        for _ in 0..30 {
            match random.below(8) {
                0 => drum.flush().unwrap(),
                1 => drum.merge().unwrap(),
                2 | 3 => {
                    model.checkpoint = drum.checkpoint().unwrap().number;
                    let (operations, snapshot) = (files.operations(), files.snapshot());
                    let view = view(&env, model.checkpoint).unwrap();
                    compare(&view, &model, &mut random);
                    let problems = View::<V>::verify(&env, Path::new(DIR), model.checkpoint).unwrap();
                    assert_eq!(problems, []);
                    assert!(operations == files.operations() && snapshot == files.snapshot());
                    open.push((view, model.clone()));
                }
                4 => drop(deliver(&mut drum, &mut model, random.below(300) as usize).unwrap()),
                _ => {
                    let len = [5, 100, 1000][random.below(3) as usize];
                    let draws = random.fork(&model.position.to_string());
                    drum.submit(&draw_batch(&mut draws.clone(), universe, len)).unwrap();
                    apply(&mut model, &mut draws.clone(), universe, len);
                }
            }
        }
        for (seen, state) in open {
            compare(&seen, &state, &mut random);
            match view::<V>(&env, state.checkpoint) {
                Ok(_) => {}
                Err(DrumError::NoSuchCheckpoint { .. }) => outlived += 1,
                Err(error) => panic!("{error}"),
            }
        }
    });
    outlived
}

#[test]
fn a_view_shows_its_checkpoint_whatever_comes_after() {
    let mut outlived = 0;
    for seed in 0..150 {
        outlived += life::<()>(seed, Deliver::Unique);
        outlived += life::<()>(seed, Deliver::All);
        outlived += life::<Sum>(seed, Deliver::All);
        outlived += life::<Sum>(seed, Deliver::Unique);
    }
    assert!(outlived > 500, "{outlived}");
}

#[test]
fn what_waits_for_a_merge_is_found_with_what_it_gives_back() {
    let mut simulation = Simulation::new(1);
    simulate(&mut simulation, |env| {
        let mut random = Random::from_seed(1);
        let mut options = options(&mut random, Deliver::Unique);
        if let Some(sizes) = &mut options.sizes {
            (sizes.cache_sets, sizes.generation_records_max) = (0, 1 << 20);
            (sizes.generation_bytes_max, sizes.bucket_bytes_max) = (1 << 30, 1 << 30);
        }
        let mut drum: Drum<()> = open(&env, &options).unwrap();
        let link = |key: u64| format!("https://example.org/{key}/").repeat(3);
        for keys in [0..2000, 1000..3000] {
            let mut batch = Batch::new();
            keys.for_each(|key| batch.check_update(key << 51, (), link(key).as_bytes()));
            drum.submit(&batch).unwrap();
        }
        let number = drum.checkpoint().unwrap().number;
        let seen = view::<()>(&env, number).unwrap();
        for (key, count) in [(0, 1), (999, 1), (1500, 2), (2999, 1), (3000, 0)] {
            let waiting = seen.waiting(key << 51).unwrap();
            assert_eq!(waiting.len(), count);
            for operation in waiting {
                assert_eq!(operation.operation, Operation::CheckUpdate);
                assert_eq!(operation.aux.unwrap(), link(key).as_bytes());
            }
            assert_eq!(seen.look_up(key << 51).unwrap().is_some(), count > 0);
        }
        drum.merge().unwrap();
        let number = drum.checkpoint().unwrap().number;
        let seen = view::<()>(&env, number).unwrap();
        assert!(seen.waiting(1500 << 51).unwrap().is_empty() && seen.look_up(1500 << 51).unwrap().is_some());
        let other = View::<Sum>::open(&env, Path::new(DIR), number);
        assert!(matches!(other, Err(DrumError::Incompatible { .. })));
    });
}
