//! Files that are not as they were written are told from those that are.

use std::path::{Path, PathBuf};

use mattock_env::{Fault, Files, OpenMode, SimFiles};
use mattock_features::{Direction, Features, FeaturesError, Grain, Result};

use crate::world::{self, DIR};

fn built() -> (SimFiles, Files) {
    let (disk, files) = world::disk(9);
    let pages = world::pages(2, 300);
    world::build_whole(&files, 1 << 20, &pages, &world::contents(2, &pages)).unwrap();
    (disk, files)
}

/// Opens everything and reads what is not read by opening.
fn read_all(files: &Files) -> Result<()> {
    let features = Features::open(files, Path::new(DIR))?;
    let verified = features.verify();
    let read = read_each(&features);
    assert_eq!(verified.is_ok(), read.is_ok(), "{verified:?} {read:?}");
    read
}

fn read_each(features: &Features) -> Result<()> {
    features.urls()?.verify()?;
    features.hosts()?;
    features.crawled()?;
    features.terms()?.expect("it was built with content").verify()?;
    features.shingles()?.expect("it was built with content").verify()?;
    for grain in [Grain::Pages, Grain::Hosts, Grain::Domains] {
        for direction in [Direction::Out, Direction::In] {
            features.links(grain, direction)?;
            features.degrees(grain, direction)?;
        }
    }
    Ok(())
}

fn data_files(disk: &SimFiles) -> Vec<(PathBuf, u64)> {
    let snapshot = disk.snapshot();
    let files = snapshot.into_iter().filter(|(path, content)| !path.ends_with("LOCK") && !content.is_empty());
    files.map(|(path, content)| (path, content.len() as u64)).collect()
}

#[test]
fn a_flipped_bit_is_found_in_every_file() {
    let names = data_files(&built().0).len();
    assert_eq!(names, 1 + 3 + 3 + 6 * 4);
    for number in 0..names {
        for _ in 0..4 {
            let (disk, files) = built();
            read_all(&files).unwrap();
            let path = &data_files(&disk)[number].0;
            let offset = disk.flip_bit(path).unwrap();
            let error = read_all(&files).expect_err(&format!("{} at {offset}", path.display()));
            assert!(
                matches!(error, FeaturesError::Damaged { .. } | FeaturesError::Version { .. }),
                "{} at {offset}: {error}",
                path.display()
            );
        }
    }
}

#[test]
fn a_file_that_is_too_short_or_missing_is_found() {
    let names = data_files(&built().0).len();
    for number in 0..names {
        for part in [0, 1, 2] {
            let (disk, files) = built();
            let (path, len) = data_files(&disk)[number].clone();
            match part {
                0 => files.remove_file(&path).unwrap(),
                part => files.open(&path, OpenMode::Write).unwrap().set_len(len * (part - 1) / 2).unwrap(),
            }
            let error = read_all(&files).expect_err(&path.display().to_string()).to_string();
            let named = path.file_name().unwrap().to_string_lossy().into_owned();
            assert!(error.contains(&named) || error.contains("has no features"), "{error}");
        }
    }
}

#[test]
fn other_versions_are_named() {
    let (disk, files) = built();
    let path = Path::new(DIR).join("generation-1/urls");
    let len = disk.snapshot()[&path].len() as u64;
    files.open(&path, OpenMode::Write).unwrap().write_all_at(b"2", len - 1).unwrap();
    let error = Features::open(&files, Path::new(DIR)).unwrap().urls().unwrap_err().to_string();
    assert!(error.contains("has version \"2\", which this program does not know"), "{error}");

    for (name, found) in [("terms", true), ("shingles", false)] {
        let path = Path::new(DIR).join("generation-1").join(name);
        files.open(&path, OpenMode::Write).unwrap().write_all_at(b"2", 7).unwrap();
        let features = Features::open(&files, Path::new(DIR)).unwrap();
        let error = match found {
            true => features.terms().unwrap_err(),
            false => features.shingles().unwrap_err(),
        };
        let expected = format!("{name} has version \"2\", which this program does not know");
        assert!(error.to_string().contains(&expected), "{error}");
    }

    change_format(&files, 7);
    let error = Features::open(&files, Path::new(DIR)).unwrap_err().to_string();
    assert!(error.contains("has version \"7\""), "{error}");
}

fn change_format(files: &Files, format: u32) {
    let manifest = Path::new(DIR).join("MANIFEST");
    let text = String::from_utf8(files.read(&manifest).unwrap()).unwrap();
    let (json, rest) = text.rsplit_once('}').unwrap().0.split_once("\"format\": ").unwrap();
    let json = format!("{json}\"format\": {format}{}}}", &rest[1..]);
    let sealed = format!("{json}\n{:08x}\n", crc32fast::hash(json.as_bytes()));
    files.write_atomic(&manifest, sealed.as_bytes()).unwrap();
}

#[test]
fn what_cannot_be_read_stays_until_something_takes_its_place() {
    let next = world::pages(3, 20);
    let manifest = Path::new(DIR).join("MANIFEST");
    let older: fn(&Files) = |files| change_format(files, 1);
    let newer: fn(&Files) = |files| change_format(files, 7);
    let damaged: fn(&Files) = |files| {
        files.open(&Path::new(DIR).join("MANIFEST"), OpenMode::Write).unwrap().write_all_at(b"x", 9).unwrap();
    };
    for (spoil, replaced) in [(older, true), (newer, false), (damaged, true)] {
        let (disk, files) = built();
        spoil(&files);
        let before = disk.snapshot();
        let of_before = |disk: &SimFiles| {
            let mut files = disk.snapshot();
            files.retain(|path, _| before.contains_key(path) && !path.ends_with("LOCK"));
            files.len() + 1 == before.len()
        };
        // Cut off, it has removed nothing.
        disk.fail_at(disk.operations() + 30, Fault::Stop);
        world::build(&files, 1 << 20, &next).unwrap_err();
        disk.kill();
        disk.clear_faults();
        assert!(of_before(&disk));
        match world::build(&files, 1 << 20, &next) {
            Ok(_) => {
                assert!(replaced && !of_before(&disk));
                read_urls(&files);
            }
            Err(error) => {
                assert!(
                    !replaced && of_before(&disk) && error.to_string().contains("version \"7\""),
                    "{error}"
                );
                change_format(&files, 2);
                read_all(&files).unwrap();
            }
        }
        assert!(files.entry(&manifest).unwrap().is_some());
    }
}

fn read_urls(files: &Files) {
    Features::open(files, Path::new(DIR)).unwrap().urls().unwrap().verify().unwrap();
}

#[test]
fn nothing_built_is_said_so() {
    let (_, files) = world::disk(1);
    let error = Features::open(&files, Path::new("/none")).unwrap_err().to_string();
    assert_eq!(error, "/none has no features; make them with `mattock features build`");
}
