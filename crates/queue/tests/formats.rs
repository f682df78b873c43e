//! Files of every version of the format can be opened. `MATTOCK_UPDATE=1` writes those of the present version anew, which is
//! right only before it was ever released.

use std::path::{Path, PathBuf};

use mattock_env::sim::Simulation;
use mattock_env::{Env, without_copy};
use mattock_queue::{Options, Queues, Sizes};

use crate::world::{DIR, simulate};

fn fixture(version: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(version)
}

fn record(number: u32) -> Vec<u8> {
    format!("http://www.example.org/{number}/").repeat(1 + number as usize % 5).into_bytes()
}

fn options() -> Options {
    let sizes = Sizes { block_bytes: 3000, segment_bytes: 16_384, unwritten_bytes_max: 0 };
    Options { sizes: Some(sizes), ..Options::new(6000) }
}

/// Two segments and a tail, of which the first block is half popped; and a queue that is small.
fn write(env: &Env) {
    let queues = Queues::open(env, Path::new(DIR), &options()).unwrap();
    let (long, short) = (queues.queue("QF"), queues.queue("ready"));
    queues.queue("empty");
    for number in 0..200 {
        long.push(&record(number)).unwrap();
    }
    long.pop_with(20, |_| {}).unwrap();
    short.push(&record(7)).unwrap();
    queues.checkpoint().unwrap();
}

/// Files that are kept twice are in the fixture once.
fn is_copy(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "copy")
}

#[test]
fn version_1_is_read() {
    let real = Env::real().files;
    let dir = fixture("v1");
    if std::env::var_os("MATTOCK_UPDATE").is_some() {
        let mut simulation = Simulation::new(1);
        simulate(&mut simulation, |env| write(&env));
        real.create_dir_all(&dir).unwrap();
        for (path, bytes) in simulation.files().snapshot() {
            if is_copy(&path) {
                continue;
            }
            real.write_atomic(&dir.join(path.file_name().unwrap()), &bytes).unwrap();
        }
    }
    let files = real.list(&dir).unwrap();
    assert!(files.len() >= 4, "{files:?}");
    simulate(&mut Simulation::new(2), |env| {
        env.files.create_dir_all(Path::new(DIR)).unwrap();
        for file in &files {
            let bytes = real.read(&dir.join(&file.name)).unwrap();
            env.files.write_atomic(&Path::new(DIR).join(&file.name), &bytes).unwrap();
        }
        let queues = Queues::open(&env, Path::new(DIR), &Options::new(1 << 20)).unwrap();
        assert_eq!(queues.names(), ["QF", "ready", "empty"]);
        let mut expected = 20..200;
        let sink = |found: &[u8]| assert_eq!(found, record(expected.next().unwrap()));
        assert_eq!(queues.queue("QF").pop_with(u64::MAX, sink).unwrap(), 180);
        assert_eq!(queues.queue("ready").pop_with(9, |found| assert_eq!(found, record(7))).unwrap(), 1);
        assert!(queues.queue("empty").is_empty());
    });
}

/// What is written today is what the fixture holds: a change of the format needs a new version.
#[test]
fn the_present_version_is_version_1() {
    let mut simulation = Simulation::new(1);
    simulate(&mut simulation, |env| write(&env));
    let real = Env::real().files;
    for (path, bytes) in simulation.files().snapshot() {
        let name = path.file_name().unwrap().to_str().unwrap();
        let stored = real.read(&fixture("v1").join(without_copy(name))).unwrap();
        assert!(stored == bytes, "{} differs: has the format changed?", path.display());
    }
}
