//! Files of every version of the format can be opened. `MATTOCK_UPDATE=1` writes those of the present version anew, which is
//! right only before it was ever released.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mattock_codec::checksum;
use mattock_drum::{Batch, Deliver, Drum, DrumError, Options, Plan, View};
use mattock_env::sim::Simulation;
use mattock_env::{Env, without_copy};

use crate::world::{DIR, Drawn, Sum, simulate};

fn fixture(version: &str, kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(version).join(kind)
}

fn options() -> Options {
    let sizes = Plan {
        buckets: 4,
        chunk_bytes: 4096,
        log_block_bytes: 8192,
        log_blocks_in_ram: 0,
        cache_sets: 0,
        table_bytes: 0,
        generation_records_max: 1 << 20,
        generation_bytes_max: 1 << 30,
        bucket_bytes_max: 1 << 30,
        read_bytes: 4096,
        writes_max: 3,
    };
    Options { deliver: Deliver::All, sizes: Some(sizes), ..Options::new(1 << 20) }
}

fn key(number: u64) -> u64 {
    (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn link(number: u64) -> Vec<u8> {
    format!("https://example.org/{number}").into_bytes()
}

fn submit<V: Drawn>(drum: &mut Drum<V>, numbers: std::ops::Range<u64>, value: impl Fn(u64) -> V) {
    let mut batch = Batch::new();
    numbers.for_each(|number| batch.check_update(key(number), value(number), &link(number)));
    drum.submit(&batch).unwrap();
}

/// A run, a generation that is merged and in part delivered, and one that is not merged: files of every kind.
fn write<V: Drawn>(env: &Env, value: impl Fn(u64) -> V) {
    let mut drum: Drum<V> = Drum::open(env, Path::new(DIR), options()).unwrap();
    submit(&mut drum, 0..150, &value);
    drum.merge().unwrap();
    drum.deliver(usize::MAX, |_| {}).unwrap();
    submit(&mut drum, 100..700, &value);
    drum.merge().unwrap();
    drum.deliver(15, |_| {}).unwrap();
    submit(&mut drum, 600..2700, &value);
    drum.checkpoint().unwrap();
    for _ in 0..50 {
        drum.poll();
    }
}

/// Short ones, and one that is asked for again and fills a chunk of answers.
fn sum(number: u64) -> Sum {
    Sum(if number == 120 { 41 } else { 1 + number % 20 })
}

/// Files that are kept twice are in the fixture once.
fn is_copy(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "copy")
}

fn copy(env: &Env, dir: &Path) {
    let real = Env::real().files;
    env.files.create_dir_all(Path::new(DIR)).unwrap();
    for file in real.list(dir).unwrap() {
        let bytes = real.read(&dir.join(&file.name)).unwrap();
        env.files.write_atomic(&Path::new(DIR).join(&file.name), &bytes).unwrap();
    }
}

/// Writes the fixtures of the present version anew, if that is asked for.
fn update<V: Drawn>(dir: &Path, value: impl Fn(u64) -> V) {
    if std::env::var_os("MATTOCK_UPDATE").is_none() {
        return;
    }
    let real = Env::real().files;
    let mut simulation = Simulation::new(1);
    simulate(&mut simulation, |env| write(&env, &value));
    real.create_dir_all(dir).unwrap();
    for (path, bytes) in simulation.files().snapshot().into_iter().filter(|(path, _)| !is_copy(path)) {
        real.write_atomic(&dir.join(path.file_name().unwrap()), &bytes).unwrap();
    }
}

fn is_read<V: Drawn>(dir: &Path) {
    simulate(&mut Simulation::new(2), |env| {
        copy(&env, dir);
        assert_eq!(View::<V>::verify(&env, Path::new(DIR), 1).unwrap(), []);
        let view = View::<V>::open(&env, Path::new(DIR), 1).unwrap();
        let salvaged = View::<V>::salvage(&env, Path::new(DIR), 1).unwrap();
        assert_eq!(salvaged.lost_operations(), Some(0));
        let mut drum: Drum<V> = Drum::open(&env, Path::new(DIR), options()).unwrap();
        drum.merge().unwrap();
        let expected = (115..700).chain(600..2700);
        let mut found = Vec::new();
        drum.deliver(usize::MAX, |outcome| found.push((outcome.aux.to_vec(), outcome.unique))).unwrap();
        let is_new = |at: usize, number: u64| if at < 585 { number >= 150 } else { number >= 700 };
        let expected: Vec<_> =
            expected.enumerate().map(|(at, number)| (link(number), is_new(at, number))).collect();
        assert!(found == expected);
        let mut stored = Vec::new();
        drum.scan(|key, value| stored.push((key, value))).unwrap();
        let mut seen = Vec::new();
        view.scan(|key, value| seen.push((key, value))).unwrap();
        assert!(stored == seen && stored.len() == 2700);
        let mut left = Vec::new();
        salvaged.scan(|key, value| left.push((key, value))).unwrap();
        assert!(left == seen);
    });
}

#[test]
fn version_1_is_read() {
    is_read::<()>(&fixture("v1", "keys"));
    is_read::<Sum>(&fixture("v1", "values"));
}

#[test]
fn version_2_is_read() {
    update(&fixture("v2", "keys"), |_| ());
    update(&fixture("v2", "values"), sum);
    is_read::<()>(&fixture("v2", "keys"));
    is_read::<Sum>(&fixture("v2", "values"));
}

/// Whatever is behind a damaged chunk of version 1 is lost, but nothing comes out that was not stored.
#[test]
fn what_is_left_of_version_1_is_what_was_before_the_damage() {
    simulate(&mut Simulation::new(5), |env| {
        copy(&env, &fixture("v1", "values"));
        let path = Path::new(DIR).join("keys-000004");
        let whole = env.files.read(&path).unwrap();
        let stored = |view: View<Sum>| {
            let mut stored = BTreeMap::new();
            view.scan(|key, value| {
                stored.insert(key, value);
            })
            .unwrap();
            stored
        };
        let all = stored(View::open(&env, Path::new(DIR), 1).unwrap());
        let mut before = 0;
        for chunk in 0..whole.len() / 4096 {
            let mut bytes = whole.clone();
            // Its header is put right.
            bytes[chunk * 4096] ^= 1;
            env.files.write_atomic(&path, &bytes).unwrap();
            let view = View::<Sum>::salvage(&env, Path::new(DIR), 1).unwrap();
            assert_eq!(view.lost_operations(), Some(0));
            assert!(stored(view) == all);
            bytes[chunk * 4096 + 2000] ^= 1;
            env.files.write_atomic(&path, &bytes).unwrap();
            let view = View::<Sum>::salvage(&env, Path::new(DIR), 1).unwrap();
            assert_eq!(view.lost_operations(), None);
            let left = stored(view);
            assert!(left.iter().all(|(key, value)| value.is_less(&all[key])));
            assert!(left.len() < all.len() && left.len() >= before);
            before = left.len();
        }
        assert!(before > 700, "{before}");
    });
}

/// A checkpoint of today may name files of the version before: they are written anew by their merge, not by being opened.
#[test]
fn files_of_version_1_stay_until_they_are_merged() {
    simulate(&mut Simulation::new(4), |env| {
        copy(&env, &fixture("v1", "values"));
        for number in 2..5 {
            let mut drum: Drum<Sum> = Drum::open(&env, Path::new(DIR), options()).unwrap();
            assert_eq!(drum.checkpoint().unwrap().number, number);
            drop(drum);
            assert_eq!(View::<Sum>::verify(&env, Path::new(DIR), number).unwrap(), []);
            assert_eq!(
                env.files.read(&Path::new(DIR).join(format!("MANIFEST-{number:06}"))).unwrap()[7],
                b'2'
            );
            let is_kept = env.files.entry(&Path::new(DIR).join("keys-000004")).unwrap().is_some();
            assert!(is_kept || number > 2);
        }
        let mut drum: Drum<Sum> = Drum::open(&env, Path::new(DIR), options()).unwrap();
        drum.merge().unwrap();
        let mut stored = 0;
        drum.scan(|_, _| stored += 1).unwrap();
        assert_eq!(stored, 2700);
        assert_eq!(drum.deliver(usize::MAX, |_| {}).unwrap(), 585 + 2100);
    });
}

/// What is written today is what the fixture holds: a change of the format needs a new version.
#[test]
fn the_present_version_is_version_2() {
    let real = Env::real().files;
    for kind in ["keys", "values"] {
        let mut simulation = Simulation::new(1);
        simulate(&mut simulation, |env| if kind == "keys" { write(&env, |_| ()) } else { write(&env, sum) });
        for (path, bytes) in simulation.files().snapshot() {
            let name = path.file_name().unwrap().to_str().unwrap();
            let stored = real.read(&fixture("v2", kind).join(without_copy(name))).unwrap();
            assert!(stored == bytes, "{} differs: has the format changed?", path.display());
        }
    }
}

#[test]
fn an_unknown_version_is_named() {
    simulate(&mut Simulation::new(3), |env| {
        copy(&env, &fixture("v2", "keys"));
        let path = Path::new(DIR).join("MANIFEST-000001");
        let mut bytes = env.files.read(&path).unwrap();
        let content = bytes.len() - 4;
        bytes[7] = b'7';
        let sum = checksum(0, 1, &[&bytes[..content]]);
        bytes[content..].copy_from_slice(&sum.to_le_bytes());
        env.files.write_atomic(&path, &bytes).unwrap();
        let names = |env: &Env| env.files.list(Path::new(DIR)).unwrap();
        let before = names(&env);
        let opened = Drum::<()>::open(&env, Path::new(DIR), options()).map(drop);
        let viewed = View::<()>::open(&env, Path::new(DIR), 1).map(drop);
        for outcome in [opened, viewed] {
            let error = outcome.unwrap_err();
            assert!(matches!(error, DrumError::UnknownVersion { version: '7', .. }), "{error}");
            assert!(error.to_string().contains("MANIFEST-000001") && error.to_string().contains("'7'"));
        }
        let problems = View::<()>::verify(&env, Path::new(DIR), 1).unwrap();
        assert!(problems.len() == 1 && problems[0].what.contains("version '7'"), "{problems:?}");
        assert_eq!(names(&env), before);
    });
}
