//! Looking at checkpoints while their queues are at work: always what the lists were at that moment, and nothing changes.

use std::collections::BTreeMap;
use std::path::Path;

use mattock_env::sim::Simulation;
use mattock_env::{Env, Random};
use mattock_queue::{QueueError, View};

use crate::world::{DIR, Life, Lists, Model, NAMES, options, simulate};

fn read(env: &Env, number: u64) -> Result<Lists, QueueError> {
    lists(&View::open(env, Path::new(DIR), number)?)
}

fn lists(view: &View) -> Result<Lists, QueueError> {
    let mut lists = Lists::new();
    for name in NAMES {
        let mut list = std::collections::VecDeque::new();
        view.scan(name, |record| list.push_back(record.to_vec()))?;
        assert_eq!(view.len(name), list.len() as u64);
        lists.push(list);
    }
    assert_eq!(view.is_empty(), lists.iter().all(|list| list.is_empty()));
    Ok(lists)
}

#[test]
fn a_view_shows_its_checkpoint_or_says_that_it_is_gone() {
    let (mut shown, mut gone) = (0, 0);
    for seed in 0..300 {
        let mut simulation = Simulation::new(seed);
        let files = simulation.files().clone();
        let mut random = Random::from_seed(seed).fork("view");
        let options = options(&mut random);
        let mut model = Model::new();
        let mut views: BTreeMap<u64, View> = BTreeMap::new();
        simulate(&mut simulation, |env| {
            assert_eq!(read(&env, 0).unwrap(), model.lists);
            let mut life = Life::open(&env, &options).unwrap();
            for round in 0..80 {
                life.step(&mut random, &mut model).unwrap();
                if round % 10 == 9 {
                    let number = life.queues.checkpoint().unwrap().number;
                    model.captured.insert(number, model.lists.clone());
                    let (operations, snapshot) = (files.operations(), files.snapshot());
                    let view = View::open(&env, Path::new(DIR), number).unwrap();
                    assert_eq!(view.number(), number);
                    assert!(view.names().eq(NAMES));
                    assert!(lists(&view).unwrap() == model.lists);
                    assert_eq!(View::verify(&env, Path::new(DIR), number).unwrap(), []);
                    assert!(operations == files.operations() && snapshot == files.snapshot());
                    views.insert(number, view);
                }
            }
            for (number, view) in &views {
                for outcome in [lists(view), read(&env, *number)] {
                    match outcome {
                        Ok(lists) => {
                            assert!(lists == model.captured[number]);
                            shown += 1;
                        }
                        Err(QueueError::NoSuchCheckpoint { .. }) => gone += 1,
                        Err(error) => panic!("{error}"),
                    }
                }
                match View::verify(&env, Path::new(DIR), *number) {
                    Ok(problems) => assert_eq!(problems, []),
                    Err(error) => assert!(matches!(error, QueueError::NoSuchCheckpoint { .. }), "{error}"),
                }
            }
        });
    }
    assert!(shown > 500 && gone > 500, "{shown} {gone}");
}
