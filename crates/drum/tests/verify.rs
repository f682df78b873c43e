//! Bits that flip and files that are cut off: each is found, or what it changed belongs to no checkpoint.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mattock_drum::{Checkpoint, Deliver, Drum, View, each_twin};
use mattock_env::sim::Simulation;
use mattock_env::{Env, OpenMode, Random, VisitTwin, copy_path};

use crate::world::{DIR, Drawn, Model, Sum, apply, deliver, draw_batch, open, options, simulate};

/// Everything that a checkpoint holds, as one number; `None` if it says that it is damaged.
fn content<V: Drawn>(env: &Env, number: u64) -> Option<u64> {
    let mut all = Vec::new();
    let view = View::<V>::open(env, Path::new(DIR), number).ok()?;
    view.scan(|key, value| {
        all.extend_from_slice(&key.to_le_bytes());
        value.encode(&mut all);
    })
    .ok()?;
    view.undelivered(|result| {
        all.extend_from_slice(result.aux);
        all.push(result.unique.map_or(2, u8::from));
    })
    .ok()?;
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    all.iter().for_each(|byte| hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    Some(hash)
}

/// What a view has: keys, and results that were not handed out.
#[derive(PartialEq)]
struct Left<V> {
    keys: BTreeMap<u64, V>,
    results: Vec<(Vec<u8>, Option<bool>)>,
    /// Operations that are lost.
    operations: Option<u64>,
}

impl<V: Drawn> Left<V> {
    fn read(view: &View<V>) -> Left<V> {
        let operations = view.lost_operations();
        let mut left = Left { keys: BTreeMap::new(), results: Vec::new(), operations };
        view.scan(|key, value| drop(left.keys.insert(key, value))).unwrap();
        view.undelivered(|result| left.results.push((result.aux.to_vec(), result.unique))).unwrap();
        left
    }

    /// Nothing else than what was stored, and of one flipped bit not much less.
    fn assert_is_part_of(&self, whole: &Left<V>, path: &Path, is_flip: bool) {
        for (key, value) in &self.keys {
            // An update may be missing, and so the value be less.
            let stored = whole.keys.get(key);
            assert!(stored.is_some_and(|stored| value.is_less(stored)), "{}: {key:x}", path.display());
        }
        let mut rest = whole.results.iter();
        assert!(self.results.iter().all(|result| rest.any(|other| other == result)), "{}", path.display());
        let lost = (whole.keys.len() - self.keys.len(), whole.results.len() - self.results.len());
        match kind(path).as_str() {
            // Blocks of 8,192 bytes, with records of 1 to 41.
            "log" => assert!(lost.0 == 0 && (lost.1 < 8192 / 8 || !is_flip), "{lost:?}"),
            "answers" => assert_eq!(lost, (0, 0)),
            // Chunks of 4,096 bytes, with records of 8 and more, and one torn apart at either end.
            "keys" => {
                let operations = self.operations.unwrap();
                assert!(lost.1 == 0 && lost.0 as u64 <= operations, "{lost:?} {operations}");
                assert!(operations <= 4096 / 8 + 2 || !is_flip, "{operations}");
            }
            _ => assert_eq!(lost.1, 0),
        }
        assert!(self.operations == Some(0) || kind(path) == "keys", "{}", path.display());
    }
}

/// A repository with files of every kind.
fn build<V: Drawn>(simulation: &mut Simulation, random: &mut Random, which: Deliver) -> Checkpoint {
    let mut options = options(random, which);
    if let Some(sizes) = &mut options.sizes {
        (sizes.cache_sets, sizes.table_bytes, sizes.log_blocks_in_ram) = (0, 0, 0);
        (sizes.generation_records_max, sizes.generation_bytes_max) = (1500, 200_000);
        sizes.bucket_bytes_max = 100_000;
    }
    let mut model = Model::<V>::new(which);
    simulate(simulation, |env| {
        let mut drum: Drum<V> = open(&env, &options).unwrap();
        let submit = |drum: &mut Drum<V>, model: &mut Model<V>, batches: u64| {
            for _ in 0..batches {
                let draws = random.fork(&model.position.to_string());
                drum.submit(&draw_batch(&mut draws.clone(), 5000, 500)).unwrap();
                apply(model, &mut draws.clone(), 5000, 500);
            }
        };
        submit(&mut drum, &mut model, 3);
        drum.merge().unwrap();
        deliver(&mut drum, &mut model, 201).unwrap();
        submit(&mut drum, &mut model, 2);
        drum.merge().unwrap();
        submit(&mut drum, &mut model, 5);
        drum.checkpoint().unwrap()
    })
}

fn is_kept_twice(path: &Path) -> bool {
    ["MANIFEST", "tail"].contains(&kind(path).as_str())
}

fn kind(path: &Path) -> String {
    let name = path.file_name().unwrap().to_str().unwrap();
    name.split('-').next().unwrap().to_owned()
}

/// Damages one file of a repository in every round. Counts what was found, per kind of file, and what was harmless.
fn damage<V: Drawn>(seed: u64, which: Deliver, rounds: u64, found: &mut BTreeMap<String, u32>) -> u32 {
    let mut simulation = Simulation::new(seed);
    let files = simulation.files().clone();
    let mut random = Random::from_seed(seed).fork("verify");
    let Checkpoint { number, files: listed, .. } = build::<V>(&mut simulation, &mut random, which);
    let mut named: Vec<PathBuf> = listed.iter().map(|(name, _)| Path::new(DIR).join(name)).collect();
    let twice: Vec<PathBuf> =
        named.iter().filter(|path| is_kept_twice(path)).map(|path| copy_path(path)).collect();
    named.extend(twice);
    // A merge that was under way has files of its own, which belong to nothing yet.
    let all: Vec<(PathBuf, Vec<u8>)> =
        files.snapshot().into_iter().filter(|(path, _)| named.contains(path)).collect();
    assert_eq!(all.len(), named.len());
    let mut kinds: Vec<String> = all.iter().map(|(path, _)| kind(path)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let whole = simulate(&mut simulation, |env| content::<V>(&env, number)).unwrap();
    let all_of_it =
        simulate(&mut simulation, |env| Left::<V>::read(&View::open(&env, Path::new(DIR), number).unwrap()));
    let mut harmless = 0;
    for round in 0..2 * rounds {
        let wanted = &kinds[random.below(kinds.len() as u64) as usize];
        let of_kind: Vec<_> = all.iter().filter(|(path, _)| kind(path) == *wanted).collect();
        let (path, bytes) = of_kind[random.below(of_kind.len() as u64) as usize];
        simulate(&mut simulation, |env| {
            if round < rounds {
                files.flip_bit(path).unwrap();
            } else {
                let len = random.below(bytes.len() as u64);
                env.files.open(path, OpenMode::Write).unwrap().set_len(len).unwrap();
            }
            let (operations, before) = (files.operations(), files.snapshot());
            let problems = View::<V>::verify(&env, Path::new(DIR), number).unwrap();
            let left = content::<V>(&env, number);
            assert!(left.is_none_or(|left| left == whole), "{}: served", path.display());
            assert!(operations == files.operations() && before == files.snapshot(), "something was changed");
            let salvaged = Left::<V>::read(&View::salvage(&env, Path::new(DIR), number).unwrap());
            if left.is_some() {
                assert!(salvaged == all_of_it, "{}: something is missing", path.display());
            } else {
                let is_flip = round < rounds;
                salvaged.assert_is_part_of(&all_of_it, path, is_flip);
            }
            let each = |visit: &mut VisitTwin<'_>| each_twin(&env.files, Path::new(DIR), number, visit);
            let twins = env.files.damaged_twins(each).unwrap();
            if is_kept_twice(path) {
                assert!(problems.is_empty() && left == Some(whole), "{}: {problems:?}", path.display());
                if twins.is_empty() {
                    harmless += 1;
                } else {
                    assert_eq!(twins, std::slice::from_ref(path));
                    assert_eq!(env.files.mend_twins(each).unwrap(), twins);
                    assert!(env.files.read(path).unwrap() == *bytes);
                    *found.entry(wanted.clone()).or_default() += 1;
                }
            } else if problems.is_empty() {
                assert_eq!(left, Some(whole), "{}: not found", path.display());
                harmless += 1;
            } else {
                assert!(twins.is_empty(), "{twins:?}");
                assert!(problems.iter().all(|problem| problem.path == *path), "{problems:?}");
                assert!(problems.iter().all(|problem| problem.to_string().contains(" at byte ")));
                *found.entry(wanted.clone()).or_default() += 1;
            }
            env.files.write_atomic(path, bytes).unwrap();
        });
    }
    harmless
}

#[test]
fn every_flip_and_every_cut_is_found_or_harmless() {
    let mut found = BTreeMap::new();
    let mut harmless = 0;
    for seed in 0..10 {
        harmless += damage::<()>(seed, Deliver::Unique, 50, &mut found);
        harmless += damage::<Sum>(seed, Deliver::All, 50, &mut found);
    }
    for kind in ["MANIFEST", "answers", "keys", "log", "run", "tail"] {
        assert!(found.get(kind).is_some_and(|count| *count > 50), "{kind}: {found:?}");
    }
    let all: u32 = found.values().sum();
    assert_eq!(all + harmless, 2000);
    // Blocks of the log that were delivered.
    assert!(harmless < 40, "{harmless}");
}

/// Several things at once: all are told, and what a damaged block does not take with it is still read.
#[test]
fn the_search_goes_on_behind_a_problem() {
    for seed in 0..20 {
        let mut simulation = Simulation::new(seed);
        let files = simulation.files().clone();
        let mut random = Random::from_seed(seed).fork("many");
        let Checkpoint { number, files: listed, .. } =
            build::<Sum>(&mut simulation, &mut random, Deliver::All);
        let mut damaged = Vec::new();
        for (name, _) in listed.iter().filter(|(name, _)| !name.starts_with("MANIFEST")) {
            let path = Path::new(DIR).join(name);
            files.flip_bit(&path).unwrap();
            if is_kept_twice(&path) {
                files.flip_bit(&copy_path(&path)).unwrap();
            }
            damaged.push(path);
        }
        simulate(&mut simulation, |env| {
            let problems = View::<Sum>::verify(&env, Path::new(DIR), number).unwrap();
            let named = damaged.iter().filter(|path| problems.iter().any(|problem| problem.path == **path));
            assert!(named.count() + 1 >= damaged.len(), "{damaged:?} {problems:?}");
        });
    }
}
