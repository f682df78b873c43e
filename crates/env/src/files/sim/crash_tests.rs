//! What a power cut and a kill leave, clause by clause.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use super::{Fault, SimFiles, is_stopped};
use crate::{File, Files, OpenMode, Random};

fn disk(seed: u64) -> (SimFiles, Files) {
    let sim = SimFiles::new(Random::from_seed(seed));
    (sim.clone(), Files::simulated(sim))
}

fn create(files: &Files, path: &str, bytes: &[u8]) -> File {
    let file = files.open(Path::new(path), OpenMode::CreateNew).unwrap();
    file.write_all_at(bytes, 0).unwrap();
    file
}

fn synced(files: &Files, path: &str, bytes: &[u8]) {
    create(files, path, bytes).sync().unwrap();
    files.sync_dir(Path::new(path).parent().unwrap()).unwrap();
}

/// A directory as text: `name=content`, sorted.
fn listing(files: &Files, path: &str) -> String {
    let Ok(entries) = files.list(Path::new(path)) else { return "(none)".into() };
    let line = |name: &str| {
        let bytes = files.read(&Path::new(path).join(name)).unwrap();
        format!("{name}={}", String::from_utf8_lossy(&bytes).replace('\0', "0"))
    };
    entries
        .iter()
        .map(|entry| if entry.is_dir { entry.name.clone() } else { line(&entry.name) })
        .collect::<Vec<_>>()
        .join(" ")
}

/// What is in `path` after `build` and a crash, over many seeds.
fn outcomes(path: &str, build: impl Fn(&Files)) -> BTreeSet<String> {
    let outcome = |seed| {
        let (sim, files) = disk(seed);
        build(&files);
        sim.crash();
        listing(&files, path)
    };
    (0..300).map(outcome).collect()
}

fn set<const N: usize>(all: [&str; N]) -> BTreeSet<String> {
    all.map(String::from).into()
}

#[test]
fn a_name_needs_the_sync_of_its_directory() {
    let build = |files: &Files| create(files, "/a", b"1").sync().unwrap();
    assert_eq!(outcomes("/", build), set(["", "a=1"]));
    let build = |files: &Files| synced(files, "/a", b"1");
    assert_eq!(outcomes("/", build), set(["a=1"]));
}

#[test]
fn a_new_directory_needs_the_sync_of_its_parent() {
    let inside = |files: &Files| {
        files.create_dir_all(Path::new("/p/q")).unwrap();
        synced(files, "/p/q/a", b"1");
    };
    assert_eq!(outcomes("/p/q", inside), set(["(none)", "a=1"]));
    let all = |files: &Files| {
        inside(files);
        files.sync_dir(Path::new("/p")).unwrap();
        files.sync_dir(Path::new("/")).unwrap();
    };
    assert_eq!(outcomes("/p/q", all), set(["a=1"]));
}

#[test]
fn a_directory_keeps_a_prefix_of_its_steps() {
    let build = |files: &Files| {
        for path in ["/c", "/a", "/b"] {
            drop(create(files, path, b""));
        }
        files.remove_file(Path::new("/c")).unwrap();
    };
    assert_eq!(outcomes("/", build), set(["", "c=", "a= c=", "a= b= c=", "a= b="]));
}

#[test]
fn a_rename_within_a_directory_is_one_step() {
    let build = |files: &Files| {
        synced(files, "/new", b"n");
        synced(files, "/old", b"o");
        files.rename(Path::new("/new"), Path::new("/old")).unwrap();
    };
    assert_eq!(outcomes("/", build), set(["new=n old=o", "old=n"]));
}

#[test]
fn a_rename_across_directories_pends_in_both() {
    let build = |files: &Files| {
        files.create_dir_all(Path::new("/p")).unwrap();
        synced(files, "/a", b"1");
        files.rename(Path::new("/a"), Path::new("/p/a")).unwrap();
    };
    let root = outcomes("/", build);
    assert_eq!(root, set(["a=1 p", "p"]));
    assert_eq!(outcomes("/p", build), set(["", "a=1"]));
    let safely = |files: &Files| {
        build(files);
        files.sync_dir(Path::new("/p")).unwrap();
        files.sync_dir(Path::new("/")).unwrap();
    };
    assert_eq!(outcomes("/", safely), set(["p"]));
    assert_eq!(outcomes("/p", safely), set(["a=1"]));
}

#[test]
fn a_name_can_outlive_the_content_that_was_never_synced() {
    let build = |files: &Files| {
        synced(files, "/a", b"old");
        drop(create(files, "/t", b"new"));
        files.rename(Path::new("/t"), Path::new("/a")).unwrap();
        files.sync_dir(Path::new("/")).unwrap();
    };
    assert_eq!(outcomes("/", build), set(["a=", "a=000", "a=new"]));
}

#[test]
fn what_was_removed_or_linked_may_come_back_or_go() {
    let build = |files: &Files| {
        synced(files, "/a", b"1");
        files.hard_link(Path::new("/a"), Path::new("/b")).unwrap();
        files.remove_file(Path::new("/a")).unwrap();
    };
    assert_eq!(outcomes("/", build), set(["a=1", "a=1 b=1", "b=1"]));
    let linked = |files: &Files| {
        drop(create(files, "/a", b"1"));
        files.hard_link(Path::new("/a"), Path::new("/b")).unwrap();
        files.sync_dir(Path::new("/")).unwrap();
    };
    assert_eq!(outcomes("/", linked), set(["a= b=", "a=0 b=0", "a=1 b=1"]), "one file, one fate");
}

#[test]
fn a_tree_that_was_being_removed_may_be_found_in_part() {
    let build = |files: &Files| {
        files.create_dir_all(Path::new("/p/q")).unwrap();
        synced(files, "/p/q/a", b"1");
        synced(files, "/p/q/b", b"2");
        files.sync_dir(Path::new("/p")).unwrap();
        files.sync_dir(Path::new("/")).unwrap();
        files.remove_dir_all(Path::new("/p")).unwrap();
    };
    assert_eq!(outcomes("/p/q", build), set(["(none)", "a=1 b=2", "b=2", ""]));
}

#[test]
fn truncation_by_opening_is_pending_too() {
    let build = |files: &Files| {
        synced(files, "/a", b"123");
        files.open(Path::new("/a"), OpenMode::CreateOrTruncate).unwrap();
    };
    assert_eq!(outcomes("/", build), set(["a=", "a=123"]));
}

#[test]
fn files_open_before_a_restart_are_dead() {
    let restarts: [fn(&SimFiles); 2] = [SimFiles::crash, SimFiles::kill];
    for restart in restarts {
        let (sim, files) = disk(1);
        synced(&files, "/a", b"1");
        let old = files.open(Path::new("/a"), OpenMode::Write).unwrap();
        restart(&sim);
        let errors: [io::Error; 5] = [
            old.read_at(&mut [0], 0).unwrap_err(),
            old.write_all_at(b"2", 0).unwrap_err(),
            old.len().unwrap_err(),
            old.set_len(0).unwrap_err(),
            old.sync().unwrap_err(),
        ];
        assert!(
            errors.iter().all(|error| !is_stopped(error) && error.to_string().contains("before the crash"))
        );
        let new = files.open(Path::new("/a"), OpenMode::Write).unwrap();
        drop(old);
        files.remove_file(Path::new("/a")).unwrap();
        new.write_all_at(b"22", 0).unwrap();
        assert_eq!(new.len().unwrap(), 2, "closing the old one did not close this one");
    }
}

#[test]
fn a_kill_loses_nothing_but_a_later_crash_may() {
    let mut kept = BTreeSet::new();
    for seed in 0..50 {
        let (sim, files) = disk(seed);
        files.create_dir_all(Path::new("/p")).unwrap();
        drop(create(&files, "/p/a", &[7; 5000]));
        let before = sim.snapshot();
        sim.kill();
        assert_eq!(sim.snapshot(), before);
        assert_eq!(before[Path::new("/p/a")], [7; 5000]);
        sim.crash();
        kept.insert(sim.snapshot() == before);
    }
    assert_eq!(kept, [false, true].into());
}

#[test]
fn what_survived_a_crash_is_durable() {
    for seed in 0..100 {
        let (sim, files) = disk(seed);
        for path in ["/a", "/b", "/c"] {
            drop(create(&files, path, &[1; 2000]));
        }
        sim.crash();
        let survived = sim.snapshot();
        sim.crash();
        assert_eq!(sim.snapshot(), survived);
    }
}

#[test]
fn an_atomic_write_is_atomic_wherever_the_world_stops() {
    let path = Path::new("/p/state");
    let (old, new) = (vec![1; 3000], vec![2; 2000]);
    let workload = |files: &Files| {
        files.create_dir_all(Path::new("/p"))?;
        files.sync_dir(Path::new("/"))?;
        files.write_atomic(path, &old)?;
        files.write_atomic(path, &new)
    };
    let (sim, files) = disk(0);
    workload(&files).unwrap();
    let operations = sim.operations();
    assert_eq!(operations, 12);
    let mut seen = BTreeSet::new();
    for seed in 0..100 {
        for operation in 0..operations {
            let (sim, files) = disk(seed);
            sim.fail_at(operation, Fault::Stop);
            let error = workload(&files).unwrap_err();
            assert!(is_stopped(&error), "{error}");
            assert!(is_stopped(&files.list(Path::new("/")).unwrap_err()), "reads stand still too");
            sim.crash();
            let found = files.read(path).ok();
            match &found {
                None => assert!(operation <= 6, "{operation}: its first version was promised"),
                Some(bytes) => assert!(*bytes == old || *bytes == new && operation >= 10, "{operation}"),
            }
            seen.insert((operation, found.map(|bytes| bytes[0])));
        }
    }
    for possible in [(6, None), (6, Some(1)), (10, Some(1)), (10, Some(2)), (11, Some(1)), (11, Some(2))] {
        assert!(seen.contains(&possible), "{possible:?} never happened");
    }
}
