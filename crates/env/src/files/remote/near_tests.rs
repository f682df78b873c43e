//! A directory by its URL in which somebody has planted what they could: nothing waits, nothing is followed, nothing elsewhere changes.

use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::{Files, OpenMode, Random};

/// A directory `own` beside a directory `victim` with a file in it. Gone with the value.
struct Planted(PathBuf);

impl Planted {
    fn new() -> Planted {
        let number = Random::from_entropy().next_u64();
        let top = std::env::temp_dir().join(format!("mattock-env-near-{number:016x}"));
        std::fs::create_dir_all(top.join("own/dir")).unwrap();
        std::fs::create_dir_all(top.join("victim")).unwrap();
        std::fs::write(top.join("victim/file"), b"precious").unwrap();
        Planted(top)
    }

    fn own(&self) -> PathBuf {
        self.0.join("own")
    }

    fn url(&self) -> PathBuf {
        PathBuf::from(format!("file://{}", self.own().display()))
    }

    fn is_untouched(&self) -> bool {
        let names: Vec<_> = std::fs::read_dir(self.0.join("victim")).unwrap().collect();
        names.len() == 1 && std::fs::read(self.0.join("victim/file")).unwrap() == b"precious"
    }
}

impl Drop for Planted {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn nothing_waits_for_a_pipe() {
    let planted = Planted::new();
    let url = planted.url();
    mknodat(CWD, planted.own().join("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(planted.own().join("socket")).unwrap();
    let files = Files::real().within(&url);
    for (name, what) in [("pipe", "a pipe"), ("socket", "a socket")] {
        let path = url.join(name);
        for refused in [
            files.open(&path, OpenMode::Read).map(drop),
            files.open(&path, OpenMode::CreateNew).map(drop),
            files.read(&path).map(drop),
            files.entry(&path).map(drop),
            files.entry(&path.join("below")).map(drop),
            files.rename(&path, &url.join("moved")),
        ] {
            let error = refused.unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
        assert!(files.list(&path).is_err() && files.is_special(&path).unwrap());
        assert!(files.list(&url).unwrap().iter().any(|entry| entry.name == name && entry.len == 0));
    }
    // Nor does it where nothing binds, or where an archive elsewhere was named.
    let pipe = url.join("pipe");
    let elsewhere = Files::real().within(&planted.0.join("victim")).with_outside([pipe.clone()]);
    for files in [Files::real(), elsewhere] {
        assert!(files.read(&pipe).unwrap_err().to_string().contains("no regular file"));
    }
    // What is written takes its place.
    files.write_atomic(&pipe, b"new").unwrap();
    assert_eq!(files.read(&pipe).unwrap(), b"new");
}

#[test]
fn no_link_is_followed() {
    let planted = Planted::new();
    let (own, url) = (planted.own(), planted.url());
    let files = Files::real().within(&url);
    symlink("../victim", own.join("link")).unwrap();
    symlink("../../victim/file", own.join("dir/file")).unwrap();
    for path in [url.join("link/file"), url.join("dir/file"), url.join("link")] {
        for refused in [
            files.open(&path, OpenMode::Read).map(drop),
            files.entry(&path).map(drop),
            files.list(&path).map(drop),
            files.open(&path, OpenMode::CreateNew).map(drop),
            files.rename(&path, &url.join("stolen")),
        ] {
            let error = refused.unwrap_err().to_string();
            assert!(error.contains("is a symbolic link"), "{path:?}: {error}");
        }
    }
    for result in [
        files.write_atomic(&url.join("link/new"), b"new"),
        files.write_atomic(&url.join("link/file"), b"new"),
        files.remove_file(&url.join("link/file")),
        files.remove_dir_all(&url.join("link")),
    ] {
        assert!(result.is_err());
    }
    // A link that lies where a file is put makes room for it; one that lies where it is written first is in the way.
    files.write_atomic(&url.join("dir/file"), b"new").unwrap();
    symlink("../../victim/file", own.join("dir/other.tmp")).unwrap();
    assert!(files.write_atomic(&url.join("dir/other"), b"new").is_err());
    files.remove_file(&url.join("dir/other.tmp")).unwrap();
    assert!(planted.is_untouched());
    // Those above are the user's own.
    symlink("own", planted.0.join("way")).unwrap();
    let way = PathBuf::from(format!("file://{}/way", planted.0.display()));
    assert_eq!(Files::real().within(&way).read(&way.join("dir/file")).unwrap(), b"new");
}

#[test]
fn names_lead_down_only_and_other_machines_are_not_meant() {
    let planted = Planted::new();
    let url = planted.url();
    for files in [Files::real(), Files::real().within(&url)] {
        for path in ["../victim/file", "dir/../../victim/file"] {
            let path = url.join(path);
            let error = files.read(&path).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidFilename, "{error}");
            assert!(files.write_atomic(&path, b"new").is_err());
        }
        assert!(files.read(Path::new("file://etc/hostname")).is_err());
    }
    assert!(planted.is_untouched());
}

#[test]
fn a_directory_has_two_names_and_directories_come_with_what_is_in_them() {
    let planted = Planted::new();
    let (own, url) = (planted.own(), planted.url());
    let files = Files::real().within(&url);
    assert_eq!(files.entry(&url.join("a")).unwrap(), None);
    assert!(files.list(&url.join("a")).unwrap().is_empty());
    files.write_atomic(&url.join("a/b/one"), b"one").unwrap();
    assert_eq!(files.read(&own.join("a/b/one")).unwrap(), b"one");
    files.rename(&url.join("a/b/one"), &url.join("c/two")).unwrap();
    assert_eq!(files.read(&url.join("c/two")).unwrap(), b"one");
    assert_eq!(files.open(&url.join("a/b/one"), OpenMode::Read).unwrap_err().kind(), io::ErrorKind::NotFound);
    assert_eq!(files.open(&url.join("c"), OpenMode::Read).unwrap_err().kind(), io::ErrorKind::NotFound);
    assert!(files.entry(&url.join("c")).unwrap().unwrap().is_dir);
    files.remove_file(&url.join("c/none")).unwrap();
    files.remove_dir_all(&url).unwrap();
    assert_eq!(files.entry(&url.join("c")).unwrap(), None);
    // An archive that was named by its URL is the one at its path.
    let named = Files::real()
        .within(&own)
        .with_outside([PathBuf::from(format!("file://{}", planted.0.join("victim/file").display()))]);
    assert_eq!(named.read(&planted.0.join("victim/file")).unwrap(), b"precious");
    assert!(named.remove_file(&planted.0.join("victim/file")).is_err() && planted.is_untouched());
}
