//! Faults while the machine runs, corruption, and the rules of names.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use super::{Fault, SimFiles, is_stopped};
use crate::{File, Files, OpenMode, Random};

fn disk(seed: u64) -> (SimFiles, Files) {
    let sim = SimFiles::new(Random::from_seed(seed));
    (sim.clone(), Files::simulated(sim))
}

fn create(files: &Files, path: &str) -> File {
    files.open(Path::new(path), OpenMode::CreateNew).unwrap()
}

fn kind<T: std::fmt::Debug>(result: io::Result<T>) -> io::ErrorKind {
    result.unwrap_err().kind()
}

#[test]
fn a_failing_write_may_have_been_done_in_part() {
    for fault in [Fault::NoSpace, Fault::Io, Fault::Stop] {
        let mut lengths = BTreeSet::new();
        for seed in 0..100 {
            let (sim, files) = disk(seed);
            let file = create(&files, "/a");
            sim.fail_at(sim.operations(), fault);
            let error = file.write_all_at(&[1; 1000], 0).unwrap_err();
            match fault {
                Fault::NoSpace => assert_eq!(error.kind(), io::ErrorKind::StorageFull),
                Fault::Io => assert_eq!(error.raw_os_error(), Some(5)),
                Fault::Stop => {
                    assert!(is_stopped(&error));
                    assert!(is_stopped(&file.len().unwrap_err()));
                    sim.kill();
                }
            }
            let bytes = files.read(Path::new("/a")).unwrap();
            assert!(bytes.iter().all(|byte| *byte == 1), "a prefix");
            lengths.insert(bytes.len());
        }
        assert!(lengths.contains(&0) && lengths.contains(&1000) && lengths.len() > 20, "{lengths:?}");
    }
}

#[test]
fn a_failing_change_of_names_has_no_effect() {
    let (sim, files) = disk(1);
    drop(create(&files, "/a"));
    let (a, b) = (Path::new("/a"), Path::new("/b"));
    let changes: [&dyn Fn() -> io::Result<()>; 6] = [
        &|| files.rename(a, b),
        &|| files.hard_link(a, b),
        &|| files.remove_file(a),
        &|| files.create_dir_all(b),
        &|| files.open(b, OpenMode::CreateNew).map(drop),
        &|| files.open(b, OpenMode::CreateOrTruncate).map(drop),
    ];
    for change in changes {
        sim.fail_at(sim.operations(), Fault::Io);
        assert_eq!(change().unwrap_err().raw_os_error(), Some(5));
        assert_eq!(files.list(Path::new("/")).unwrap().len(), 1);
        assert!(files.entry(a).unwrap().is_some());
    }
}

#[test]
fn a_failed_sync_loses_data_that_a_later_sync_does_not_save() {
    let mut after_crash = BTreeSet::new();
    for seed in 0..100 {
        let (sim, files) = disk(seed);
        let file = create(&files, "/a");
        file.write_all_at(b"old", 0).unwrap();
        file.sync().unwrap();
        files.sync_dir(Path::new("/")).unwrap();
        file.write_all_at(b"new", 0).unwrap();
        sim.fail_at(sim.operations(), Fault::Io);
        assert_eq!(file.sync().unwrap_err().raw_os_error(), Some(5));
        file.sync().unwrap();
        sim.kill();
        assert_eq!(files.read(Path::new("/a")).unwrap(), b"new", "the page cache has it");
        sim.crash();
        after_crash.insert(files.read(Path::new("/a")).unwrap());
    }
    assert_eq!(after_crash, [b"old".to_vec(), b"new".to_vec()].into());
}

#[test]
fn a_failed_sync_of_a_directory_leaves_the_rest_to_the_next() {
    let mut kept = BTreeSet::new();
    for seed in 0..100 {
        let (sim, files) = disk(seed);
        drop(create(&files, "/a"));
        drop(create(&files, "/b"));
        sim.fail_at(sim.operations(), Fault::Io);
        assert_eq!(files.sync_dir(Path::new("/")).unwrap_err().raw_os_error(), Some(5));
        if seed % 2 == 0 {
            files.sync_dir(Path::new("/")).unwrap();
        }
        sim.crash();
        let count = sim.snapshot().len();
        assert!(seed % 2 == 1 || count == 2);
        kept.insert(count);
    }
    assert_eq!(kept, [0, 1, 2].into());
}

#[test]
fn a_full_disk_takes_what_fits_and_removal_frees() {
    let mut partial = BTreeSet::new();
    for seed in 0..50 {
        let (sim, files) = disk(seed);
        sim.set_capacity(Some(1000));
        let root = Path::new("/");
        let (a, b) = (create(&files, "/a"), create(&files, "/b"));
        a.write_all_at(&[1; 600], 0).unwrap();
        assert_eq!(files.free_bytes(root).unwrap(), 400);
        assert_eq!(kind(b.write_all_at(&[2; 500], 0)), io::ErrorKind::StorageFull);
        let written = b.len().unwrap();
        assert!(written <= 400);
        partial.insert(written);
        assert_eq!(files.free_bytes(root).unwrap(), 400 - written);
        a.write_all_at(&[3; 600], 0).unwrap();
        assert_eq!(kind(a.set_len(2000)), io::ErrorKind::StorageFull);
        assert_eq!(kind(b.write_all_at(&[2; 1], 5000)), io::ErrorKind::StorageFull);
        assert_eq!((a.len().unwrap(), b.len().unwrap()), (600, written), "a hole takes space as well");

        files.remove_file(Path::new("/a")).unwrap();
        assert_eq!(files.free_bytes(root).unwrap(), 400 - written, "it is still open");
        a.write_all_at(&[4; 600], 0).unwrap();
        drop(a);
        assert_eq!(files.free_bytes(root).unwrap(), 1000 - written);
        b.write_all_at(&[2; 500], 0).unwrap();
        drop(files.open(Path::new("/b"), OpenMode::CreateOrTruncate).unwrap());
        assert_eq!(files.free_bytes(root).unwrap(), 1000);
        sim.set_capacity(None);
        b.write_all_at(&[2; 5000], 0).unwrap();
    }
    assert!(partial.contains(&0) && partial.contains(&400) && partial.len() > 5, "{partial:?}");
}

#[test]
fn space_is_counted_right_over_renames_links_and_restarts() {
    for seed in 0..50 {
        let (sim, files) = disk(seed);
        sim.set_capacity(Some(1 << 20));
        for (path, len) in [("/a", 100), ("/b", 3000), ("/c", 50)] {
            let file = create(&files, path);
            file.write_all_at(&vec![1; len], 0).unwrap();
            if seed % 2 == 0 {
                file.sync().unwrap();
            }
        }
        files.rename(Path::new("/a"), Path::new("/b")).unwrap();
        files.hard_link(Path::new("/b"), Path::new("/d")).unwrap();
        files.remove_file(Path::new("/b")).unwrap();
        assert_eq!(files.free_bytes(Path::new("/")).unwrap(), (1 << 20) - 150);
        files.remove_file(Path::new("/d")).unwrap();
        let open = files.open(Path::new("/c"), OpenMode::Write).unwrap();
        files.remove_file(Path::new("/c")).unwrap();
        assert_eq!(files.free_bytes(Path::new("/")).unwrap(), (1 << 20) - 50);
        sim.kill();
        assert_eq!(files.free_bytes(Path::new("/")).unwrap(), 1 << 20, "a dead process holds nothing");
        drop(open);
        drop(create(&files, "/e"));
        sim.crash();
        let mut visible = sim.snapshot();
        if visible.contains_key(Path::new("/b")) && visible.contains_key(Path::new("/d")) {
            // Two names of one file.
            visible.remove(Path::new("/d"));
        }
        let total: u64 = visible.values().map(|bytes| bytes.len() as u64).sum();
        assert_eq!(files.free_bytes(Path::new("/")).unwrap(), (1 << 20) - total);
    }
}

#[test]
fn reads_fail_only_when_they_count_and_never_for_space() {
    let (sim, files) = disk(1);
    let file = create(&files, "/a");
    file.write_all_at(b"1", 0).unwrap();
    let path = Path::new("/a");
    let reads: [&dyn Fn() -> io::Result<()>; 5] = [
        &|| file.read_at(&mut [0], 0).map(drop),
        &|| file.len().map(drop),
        &|| files.open(path, OpenMode::Read).map(drop),
        &|| files.list(Path::new("/")).map(drop),
        &|| files.entry(path).map(drop),
    ];
    let before = sim.operations();
    for read in reads {
        read().unwrap();
    }
    assert_eq!(sim.operations(), before);
    sim.count_reads(true);
    for read in reads {
        sim.fail_at(sim.operations(), Fault::NoSpace);
        read().unwrap();
        sim.fail_at(sim.operations(), Fault::Io);
        assert_eq!(read().unwrap_err().raw_os_error(), Some(5));
        read().unwrap();
    }
    assert_eq!(sim.operations(), before + 15);
}

#[test]
fn probabilities_give_the_same_failures_from_the_same_seed() {
    let run = |seed| {
        let (sim, files) = disk(seed);
        let file = create(&files, "/a");
        sim.set_probability(Fault::Io, 0.1);
        sim.set_probability(Fault::NoSpace, 0.1);
        sim.set_probability(Fault::Stop, 0.005);
        let mut log = Vec::new();
        for index in 0..200 {
            log.push(file.write_all_at(&[1; 100], index * 100).map_err(|error| error.to_string()));
        }
        sim.clear_faults();
        sim.crash();
        (log, sim.snapshot())
    };
    assert_eq!(run(5), run(5));
    assert_ne!(run(5), run(6));
    let failed = run(5).0.iter().filter(|result| result.is_err()).count();
    assert!(failed > 20, "{failed}");
}

#[test]
fn corruption_hits_the_byte_asked_for_or_one_bit() {
    let (sim, files) = disk(1);
    let path = Path::new("/a");
    let file = create(&files, "/a");
    file.write_all_at(&[0; 1000], 0).unwrap();
    file.sync().unwrap();
    files.sync_dir(Path::new("/")).unwrap();
    sim.corrupt(path, 77).unwrap();
    let bytes = files.read(path).unwrap();
    assert!(bytes.iter().enumerate().all(|(offset, byte)| (*byte != 0) == (offset == 77)));
    sim.corrupt(path, 1000).unwrap_err();

    let offset = sim.flip_bit(path).unwrap() as usize;
    let flipped = files.read(path).unwrap();
    let bits: u32 = bytes.iter().zip(&flipped).map(|(a, b)| (a ^ b).count_ones()).sum();
    assert_eq!((bits, bytes[offset] ^ flipped[offset] != 0), (1, true));
    sim.crash();
    assert_eq!(files.read(path).unwrap(), flipped, "the medium itself is bad");
    drop(create(&files, "/empty"));
    sim.flip_bit(Path::new("/empty")).unwrap_err();
}

#[test]
fn names_follow_the_rules_of_posix() {
    let (sim, files) = disk(1);
    let path = |path| Path::new(path);
    files.create_dir_all(path("/p/q")).unwrap();
    files.create_dir_all(path("/p/q")).unwrap();
    create(&files, "/p/a").write_all_at(b"a", 0).unwrap();
    create(&files, "/p/b").write_all_at(b"b", 0).unwrap();
    assert_eq!(kind(files.create_dir_all(path("/p/a"))), io::ErrorKind::AlreadyExists);
    assert_eq!(kind(files.create_dir_all(path("/p/a/x"))), io::ErrorKind::NotADirectory);
    assert_eq!(kind(files.open(path("/p/a/x"), OpenMode::Read)), io::ErrorKind::NotADirectory);
    assert_eq!(kind(files.rename(path("/p/a"), path("/p/q"))), io::ErrorKind::IsADirectory);
    assert_eq!(kind(files.rename(path("/p/q"), path("/p/a"))), io::ErrorKind::NotADirectory);
    assert_eq!(kind(files.rename(path("/p/q"), path("/q"))), io::ErrorKind::Unsupported);
    assert_eq!(kind(files.rename(path("/p/x"), path("/p/y"))), io::ErrorKind::NotFound);
    assert_eq!(kind(files.hard_link(path("/p/a"), path("/p/b"))), io::ErrorKind::AlreadyExists);
    assert_eq!(kind(files.remove_file(path("/p/q"))), io::ErrorKind::IsADirectory);
    assert_eq!(kind(files.list(path("/x"))), io::ErrorKind::NotFound);
    assert_eq!(kind(files.remove_dir_all(path("/x"))), io::ErrorKind::NotFound);
    files.rename(path("/p/a"), path("/p/a")).unwrap();
    drop(create(&files, "/p/q/x"));
    files.create_dir_all(path("/p/empty")).unwrap();
    assert_eq!(kind(files.rename(path("/p/empty"), path("/p/q"))), io::ErrorKind::DirectoryNotEmpty);
    files.rename(path("/p/q"), path("/p/empty")).unwrap();
    assert_eq!(files.read(path("p/./q/../empty/x")).unwrap(), b"");
    let reader = files.open(path("/p/a"), OpenMode::Read).unwrap();
    reader.write_all_at(b"x", 0).unwrap_err();
    reader.set_len(0).unwrap_err();
    reader.sync().unwrap();
    let expected = [("/p/a", "a"), ("/p/b", "b"), ("/p/empty/x", "")];
    assert_eq!(sim.snapshot(), expected.map(|(path, bytes)| (path.into(), bytes.into())).into());
}
