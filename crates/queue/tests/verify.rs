//! Bits that flip and files that are cut off: each is found, or what it changed belongs to no checkpoint.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mattock_env::sim::Simulation;
use mattock_env::{Env, OpenMode, Random, VisitTwin, copy_path};
use mattock_queue::{Checkpoint, View, each_twin};

use crate::world::{DIR, Life, Model, options, simulate};

/// The records of all queues, as far as they can be read.
fn whole_blocks(env: &Env, number: u64) -> Vec<Vec<u8>> {
    let view = View::salvage(env, Path::new(DIR), number).unwrap();
    let mut records = Vec::new();
    for name in view.names() {
        let mut blocks = view.whole_blocks(name);
        while blocks.next_block(|record| records.push(record.to_vec())).unwrap() {}
    }
    records
}

/// Everything that a checkpoint holds, as one number; `None` if it says that it is damaged.
fn content(env: &Env, number: u64) -> Option<u64> {
    let view = View::open(env, Path::new(DIR), number).ok()?;
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |bytes: &[u8]| {
        let len = (bytes.len() as u64).to_le_bytes();
        let all = len.iter().chain(bytes);
        all.for_each(|byte| hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    };
    for name in view.names() {
        add(name.as_bytes());
        view.scan(name, &mut add).ok()?;
    }
    Some(hash)
}

fn build(simulation: &mut Simulation, random: &mut Random) -> Checkpoint {
    let options = options(random);
    let mut model = Model::new();
    simulate(simulation, |env| {
        let mut life = Life::open(&env, &options).unwrap();
        for _ in 0..60 {
            life.step(random, &mut model).unwrap();
        }
        for handle in &life.handles {
            for number in 0..100 {
                handle.push(format!("https://example.org/{number}/").repeat(5).as_bytes()).unwrap();
            }
        }
        life.queues.checkpoint().unwrap()
    })
}

fn is_kept_twice(path: &Path) -> bool {
    ["MANIFEST", "tail"].contains(&kind(path).as_str())
}

fn kind(path: &Path) -> String {
    let name = path.file_name().unwrap().to_str().unwrap();
    name.split('-').next().unwrap().to_owned()
}

/// Damages one file in every round. Counts what was found, per kind of file, and what was harmless.
fn damage(seed: u64, rounds: u64, found: &mut BTreeMap<String, u32>) -> u32 {
    let mut simulation = Simulation::new(seed);
    let files = simulation.files().clone();
    let mut random = Random::from_seed(seed).fork("verify");
    let Checkpoint { number, files: listed } = build(&mut simulation, &mut random);
    let mut named: Vec<PathBuf> = listed.iter().map(|(name, _)| Path::new(DIR).join(name)).collect();
    let twice: Vec<PathBuf> =
        named.iter().filter(|path| is_kept_twice(path)).map(|path| copy_path(path)).collect();
    named.extend(twice);
    let all: Vec<(PathBuf, Vec<u8>)> =
        files.snapshot().into_iter().filter(|(path, _)| named.contains(path)).collect();
    assert_eq!(all.len(), named.len());
    let mut kinds: Vec<String> = all.iter().map(|(path, _)| kind(path)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let whole = simulate(&mut simulation, |env| content(&env, number)).unwrap();
    let records = simulate(&mut simulation, |env| whole_blocks(&env, number));
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
            let problems = View::verify(&env, Path::new(DIR), number).unwrap();
            let left = content(&env, number);
            assert!(left.is_none_or(|left| left == whole), "{}: served", path.display());
            assert!(operations == files.operations() && before == files.snapshot(), "something was changed");
            let readable = whole_blocks(&env, number);
            let lost = records.len() - readable.len();
            let mut rest = records.iter();
            assert!(
                readable.iter().all(|record| rest.any(|other| other == record)),
                "in order, nothing else"
            );
            // A block has 8 KiB at most here, and each of its records one byte more than nothing.
            assert!(lost == 0 || left.is_none() && (lost < 8192 || round >= rounds), "{lost}");
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
                assert!(problems.iter().all(|problem| problem.offset <= bytes.len() as u64));
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
    let harmless: u32 = (0..20).map(|seed| damage(seed, 50, &mut found)).sum();
    for kind in ["MANIFEST", "segment", "tail"] {
        assert!(found.get(kind).is_some_and(|count| *count > 100), "{kind}: {found:?}");
    }
    assert_eq!(found.values().sum::<u32>() + harmless, 2000);
    // Blocks that were popped.
    assert!(harmless < 60, "{harmless}");
}

/// A damaged block takes no other with it: as many problems as blocks were damaged, each at its place.
#[test]
fn the_search_goes_on_behind_a_problem() {
    let mut several = 0;
    for seed in 0..100 {
        let mut simulation = Simulation::new(seed);
        let files = simulation.files().clone();
        let mut random = Random::from_seed(seed).fork("many");
        let Checkpoint { number, files: listed } = build(&mut simulation, &mut random);
        // The first page of every other page of a segment, so that no two damaged blocks touch.
        let (name, bytes) = listed.iter().find(|(name, _)| name.starts_with("segment")).unwrap();
        let path = Path::new(DIR).join(name);
        let damaged: Vec<u64> = (2..bytes / 4096).step_by(5).map(|page| page * 4096 + 700).collect();
        for place in &damaged {
            files.corrupt(&path, *place).unwrap();
        }
        simulate(&mut simulation, |env| {
            let problems = View::verify(&env, Path::new(DIR), number).unwrap();
            assert!(problems.iter().all(|problem| problem.path == path && problem.offset > 0));
            assert!(problems.len() <= damaged.len(), "{damaged:?} {problems:?}");
            several += u32::from(problems.len() > 1);
        });
    }
    assert!(several > 20, "{several}");
}
