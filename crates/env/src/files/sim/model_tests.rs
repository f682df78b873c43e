//! Random operations against a naive model that keeps every version there ever was since the last sync, and says of a
//! crash only what is possible. Where one version is left (all synced), that is equality.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::{Fault, SimFiles};
use crate::{Files, OpenMode, Random};

const DIRS: [&str; 2] = ["/a", "/b"];

/// A directory of `DIRS` and a small number for the name in it.
type Place = (usize, u8);

#[derive(Clone, Debug)]
enum Operation {
    Create(Place),
    Write(Place, u64, usize),
    SetLen(Place, usize),
    Sync(Place),
    FailSync(Place),
    Rename(Place, Place),
    Link(Place, Place),
    Remove(Place),
    SyncDir(usize),
    Kill,
}

fn operation() -> impl Strategy<Value = Operation> {
    let place = || (0..DIRS.len(), 0..3u8);
    prop_oneof![
        4 => place().prop_map(Operation::Create),
        8 => (place(), 0..2500u64, 1..2000usize).prop_map(|(place, offset, len)| Operation::Write(place, offset, len)),
        2 => (place(), 0..3000usize).prop_map(|(place, len)| Operation::SetLen(place, len)),
        4 => place().prop_map(Operation::Sync),
        1 => place().prop_map(Operation::FailSync),
        3 => (place(), place()).prop_map(|(from, to)| Operation::Rename(from, to)),
        1 => (place(), place()).prop_map(|(from, to)| Operation::Link(from, to)),
        2 => place().prop_map(Operation::Remove),
        4 => (0..DIRS.len()).prop_map(Operation::SyncDir),
        1 => Just(Operation::Kill),
    ]
}

fn path((dir, name): Place) -> PathBuf {
    Path::new(DIRS[dir]).join(name.to_string())
}

/// All versions since the last sync; the last is the visible one.
struct Versions<T>(Vec<T>);

impl<T: Clone> Versions<T> {
    fn visible(&self) -> &T {
        self.0.last().expect("there is always a version")
    }

    fn change<R>(&mut self, change: impl FnOnce(&mut T) -> R) {
        let mut next = self.visible().clone();
        change(&mut next);
        self.0.push(next);
    }

    fn sync(&mut self) {
        self.0.drain(..self.0.len() - 1);
    }
}

struct Model {
    dirs: [Versions<BTreeMap<u8, usize>>; 2],
    /// With whether a sync has ever failed: then no later one promises anything of the versions before.
    files: Vec<(Versions<Vec<u8>>, bool)>,
    next_byte: u8,
}

impl Model {
    fn new() -> Model {
        let dir = || Versions(vec![BTreeMap::new()]);
        Model { dirs: [dir(), dir()], files: Vec::new(), next_byte: 0 }
    }

    fn find(&self, (dir, name): Place) -> Option<usize> {
        self.dirs[dir].visible().get(&name).copied()
    }

    fn file(&mut self, place: Place) -> Option<&mut (Versions<Vec<u8>>, bool)> {
        let index = self.find(place)?;
        Some(&mut self.files[index])
    }

    /// Does it here and on the disk; what fails must fail in both.
    fn apply(&mut self, operation: &Operation, sim: &SimFiles, files: &Files) {
        let open = |place| files.open(&path(place), OpenMode::Write);
        match *operation {
            Operation::Create((dir, name)) => {
                let created = files.open(&path((dir, name)), OpenMode::CreateNew);
                assert_eq!(created.is_ok(), self.find((dir, name)).is_none());
                if created.is_ok() {
                    self.files.push((Versions(vec![Vec::new()]), false));
                    let index = self.files.len() - 1;
                    self.dirs[dir].change(|entries| entries.insert(name, index));
                }
            }
            Operation::Write(place, offset, len) => {
                self.next_byte = self.next_byte % 255 + 1;
                let (byte, start) = (self.next_byte, offset as usize);
                if let Some((versions, _)) = self.file(place) {
                    open(place).unwrap().write_all_at(&vec![byte; len], offset).unwrap();
                    versions.change(|bytes| {
                        bytes.resize(bytes.len().max(start + len), 0);
                        bytes[start..start + len].fill(byte);
                    });
                }
            }
            Operation::SetLen(place, len) => {
                if let Some((versions, _)) = self.file(place) {
                    open(place).unwrap().set_len(len as u64).unwrap();
                    versions.change(|bytes| bytes.resize(len, 0));
                }
            }
            Operation::Sync(place) => {
                if let Some((versions, failed)) = self.file(place) {
                    open(place).unwrap().sync().unwrap();
                    if !*failed {
                        versions.sync();
                    }
                }
            }
            Operation::FailSync(place) => {
                if let Some((_, failed)) = self.file(place) {
                    let file = open(place).unwrap();
                    sim.fail_at(sim.operations(), Fault::Io);
                    file.sync().unwrap_err();
                    *failed = true;
                }
            }
            Operation::Rename(from, to) => {
                let renamed = files.rename(&path(from), &path(to));
                assert_eq!(renamed.is_ok(), self.find(from).is_some());
                let (Some(index), target) = (self.find(from), self.find(to)) else { return };
                if target == Some(index) {
                    return;
                }
                if from.0 == to.0 {
                    self.dirs[from.0].change(|entries| {
                        entries.remove(&from.1);
                        entries.insert(to.1, index);
                    });
                } else {
                    self.dirs[from.0].change(|entries| entries.remove(&from.1));
                    self.dirs[to.0].change(|entries| entries.insert(to.1, index));
                }
            }
            Operation::Link(from, to) => {
                let linked = files.hard_link(&path(from), &path(to));
                assert_eq!(linked.is_ok(), self.find(from).is_some() && self.find(to).is_none());
                if let (Some(index), true) = (self.find(from), linked.is_ok()) {
                    self.dirs[to.0].change(|entries| entries.insert(to.1, index));
                }
            }
            Operation::Remove((dir, name)) => {
                let removed = files.remove_file(&path((dir, name)));
                assert_eq!(removed.is_ok(), self.find((dir, name)).is_some());
                if removed.is_ok() {
                    self.dirs[dir].change(|entries| entries.remove(&name));
                }
            }
            Operation::SyncDir(dir) => {
                files.sync_dir(Path::new(DIRS[dir])).unwrap();
                self.dirs[dir].sync();
            }
            Operation::Kill => sim.kill(),
        }
    }

    fn visible(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let entries =
            |dir: usize| self.dirs[dir].visible().iter().map(move |(name, index)| (dir, *name, *index));
        (0..DIRS.len())
            .flat_map(entries)
            .map(|(dir, name, index)| (path((dir, name)), self.files[index].0.visible().clone()))
            .collect()
    }

    /// Whether a crash may leave the directory so.
    fn allows(&self, dir: usize, found: &BTreeMap<u8, Vec<u8>>) -> bool {
        self.dirs[dir].0.iter().any(|version| {
            version.keys().eq(found.keys())
                && version
                    .values()
                    .zip(found.values())
                    .all(|(index, bytes)| possible(&self.files[*index].0.0, bytes))
        })
    }
}

/// Whether `found` can be what is left of a file with these versions: every byte from one of them, or a zero where
/// the length has changed.
fn possible(versions: &[Vec<u8>], found: &[u8]) -> bool {
    let lens = || versions.iter().map(Vec::len);
    let (shortest, longest) = (lens().min().unwrap_or(0), lens().max().unwrap_or(0));
    (shortest..=longest).contains(&found.len())
        && found.iter().enumerate().all(|(offset, byte)| {
            (offset >= shortest && *byte == 0)
                || versions.iter().any(|version| version.get(offset) == Some(byte))
        })
}

fn found(snapshot: &BTreeMap<PathBuf, Vec<u8>>, dir: usize) -> BTreeMap<u8, Vec<u8>> {
    let inside = snapshot.iter().filter(|(path, _)| path.starts_with(DIRS[dir]));
    inside
        .map(|(path, bytes)| {
            let name = path.file_name().and_then(|name| name.to_str()).expect("the test's own names");
            (name.parse().expect("a number"), bytes.clone())
        })
        .collect()
}

/// Runs the operations and returns the model with the disk.
fn run(seed: u64, operations: &[Operation]) -> (Model, SimFiles) {
    let sim = SimFiles::new(Random::from_seed(seed));
    let files = Files::simulated(sim.clone());
    for dir in DIRS {
        files.create_dir_all(Path::new(dir)).unwrap();
    }
    files.sync_dir(Path::new("/")).unwrap();
    let mut model = Model::new();
    for operation in operations {
        model.apply(operation, &sim, &files);
        assert_eq!(sim.snapshot(), model.visible(), "after {operation:?}");
    }
    (model, sim)
}

proptest! {
    #[test]
    fn a_crash_leaves_what_the_model_allows(seed: u64, operations in prop::collection::vec(operation(), 1..60)) {
        let (model, sim) = run(seed, &operations);
        sim.kill();
        prop_assert_eq!(sim.snapshot(), model.visible());
        sim.crash();
        let after = sim.snapshot();
        for (dir, name) in DIRS.iter().enumerate() {
            prop_assert!(model.allows(dir, &found(&after, dir)), "{}", name);
        }

        let (_, again) = run(seed, &operations);
        again.kill();
        again.crash();
        prop_assert_eq!(again.snapshot(), after, "the same seed, the same crash");
    }

    #[test]
    fn all_that_was_synced_is_intact(seed: u64, operations in prop::collection::vec(operation(), 1..60)) {
        let operations: Vec<Operation> =
            operations.into_iter().filter(|operation| !matches!(operation, Operation::FailSync(_))).collect();
        let (model, sim) = run(seed, &operations);
        let files = Files::simulated(sim.clone());
        for path in model.visible().keys() {
            files.open(path, OpenMode::Read).unwrap().sync().unwrap();
        }
        for dir in DIRS {
            files.sync_dir(Path::new(dir)).unwrap();
        }
        sim.crash();
        prop_assert_eq!(sim.snapshot(), model.visible());
    }
}

#[test]
fn every_kind_of_loss_occurs_and_depends_on_the_seed_alone() {
    const LEN: usize = 4096;
    let run = |seed| {
        let sim = SimFiles::new(Random::from_seed(seed));
        let files = Files::simulated(sim.clone());
        files.create_dir_all(Path::new("/p")).unwrap();
        let synced = files.open(Path::new("/synced"), OpenMode::CreateNew).unwrap();
        synced.write_all_at(&[1; LEN], 0).unwrap();
        synced.sync().unwrap();
        files.sync_dir(Path::new("/")).unwrap();
        synced.write_all_at(&[2; LEN], 0).unwrap();
        let renamed = files.open(Path::new("/p/new.tmp"), OpenMode::CreateNew).unwrap();
        files.sync_dir(Path::new("/p")).unwrap();
        renamed.write_all_at(&[3; LEN], 0).unwrap();
        files.rename(Path::new("/p/new.tmp"), Path::new("/p/new")).unwrap();
        files.rename(Path::new("/synced"), Path::new("/p/moved")).unwrap();
        sim.crash();
        sim.snapshot()
    };
    let [mut lost, mut torn, mut whole, mut not_renamed, mut renamed_without, mut twice, mut nowhere] =
        [0; 7];
    for seed in 0..1000 {
        let after = run(seed);
        assert_eq!(after, run(seed));
        let get = |path: &str| after.get(Path::new(path));
        if let Some(bytes) = get("/synced").or(get("/p/moved")) {
            let new = bytes.iter().filter(|byte| **byte == 2).count();
            lost += usize::from(new == 0);
            whole += usize::from(new == LEN);
            torn += usize::from(new > 0 && new < LEN);
        }
        not_renamed += usize::from(get("/p/new.tmp").is_some());
        renamed_without += usize::from(get("/p/new").is_some_and(|bytes| bytes.is_empty()));
        twice += usize::from(get("/synced").is_some() && get("/p/moved").is_some());
        nowhere += usize::from(get("/synced").is_none() && get("/p/moved").is_none());
    }
    let counts = [lost, torn, whole, not_renamed, renamed_without, twice, nowhere];
    assert!(counts.iter().all(|count| *count > 50), "{counts:?}");
}
