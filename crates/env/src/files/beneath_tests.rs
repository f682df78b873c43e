//! A directory in which somebody has planted what they could, through every call that [`Files`] has.

use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};

use super::beneath::Root;
use super::place::Place;
use super::{Files, OpenMode};
use crate::{Random, SimFiles};

/// A directory `own` beside a directory `victim` with a file `file` in it. Gone with the value.
struct Planted {
    top: PathBuf,
}

impl Planted {
    fn new() -> Planted {
        let number = Random::from_entropy().next_u64();
        let top = std::env::temp_dir().join(format!("mattock-env-planted-{number:016x}"));
        for dir in ["own/sub", "victim/dir"] {
            std::fs::create_dir_all(top.join(dir)).unwrap();
        }
        std::fs::write(top.join("victim/file"), b"precious").unwrap();
        std::fs::write(top.join("victim/dir/part-1"), b"precious").unwrap();
        Planted { top }
    }

    fn own(&self) -> PathBuf {
        self.top.join("own")
    }

    fn victim(&self) -> PathBuf {
        self.top.join("victim")
    }

    fn files(&self) -> Files {
        Files::real().within(&self.own())
    }

    /// Everything about the victim that must not change.
    fn state(&self) -> Vec<(PathBuf, Vec<u8>, i64, i64, u64)> {
        let look = |name: &str| {
            let path = self.victim().join(name);
            let metadata = std::fs::symlink_metadata(&path).unwrap();
            let bytes = if metadata.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
            (path, bytes, metadata.mtime(), metadata.mtime_nsec(), metadata.nlink())
        };
        ["", "file", "dir", "dir/part-1"].map(look).into()
    }
}

impl Drop for Planted {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.top);
    }
}

const MODES: [OpenMode; 6] = [
    OpenMode::Read,
    OpenMode::Write,
    OpenMode::CreateNew,
    OpenMode::CreateOrTruncate,
    OpenMode::CreateOrKeep,
    OpenMode::Private,
];

/// Whatever can be done with a path, all of it; the errors.
fn try_all(files: &Files, path: &Path) -> Vec<io::Error> {
    let mut errors = Vec::new();
    let mut note = |result: io::Result<()>| errors.extend(result.err());
    for mode in MODES {
        note(files.open(path, mode).and_then(|file| file.set_len(1)));
        note(files.open_direct(path, mode).map(drop));
    }
    note(files.read(path).map(drop));
    note(files.list(path).map(drop));
    note(files.entry(path).map(drop));
    note(files.create_dir_all(path));
    note(files.sync_dir(path));
    note(files.write_atomic(path, b"evil"));
    note(files.write_twice(path, b"evil"));
    note(files.remove_dir_all(path));
    note(files.remove_file(path));
    errors
}

#[test]
fn links_lead_nowhere() {
    let planted = Planted::new();
    let before = planted.state();
    let (files, own) = (planted.files(), planted.own());
    let leads = [planted.victim().join("file"), planted.victim(), PathBuf::from("../victim/file")];
    for to in leads {
        let link = own.join("link");
        symlink(&to, &link).unwrap();
        for path in [link.clone(), link.join("file"), link.join("new"), link.join("dir/part-1")] {
            // Opening for whatever purpose is refused; a link itself may be replaced and removed.
            for mode in MODES {
                let error = files.open(&path, mode).unwrap_err();
                assert!(!matches!(error.kind(), io::ErrorKind::NotFound), "{path:?} {mode:?}: {error}");
            }
            let error = files.entry(&path).unwrap_err().to_string();
            assert!(error.contains("own/link is a symbolic link"), "{path:?}: {error}");
            try_all(&files, &path);
            let _ = std::fs::remove_file(&link);
            let _ = std::fs::remove_dir_all(&link);
            symlink(&to, &link).unwrap();
        }
        std::fs::remove_file(&link).unwrap();
        assert_eq!(planted.state(), before);
    }
}

#[test]
fn a_temporary_name_that_is_a_link_is_not_written_through() {
    let planted = Planted::new();
    let before = planted.state();
    let (files, path) = (planted.files(), planted.own().join("INDEX"));
    symlink(planted.victim().join("file"), planted.own().join("INDEX.tmp")).unwrap();
    assert!(files.write_atomic(&path, b"new").unwrap_err().to_string().contains("symbolic link"));
    // A link in the place of the file itself is replaced, as a file would be.
    std::fs::remove_file(planted.own().join("INDEX.tmp")).unwrap();
    symlink(planted.victim().join("file"), &path).unwrap();
    files.write_atomic(&path, b"new").unwrap();
    assert_eq!(files.read(&path).unwrap(), b"new");
    assert_eq!(planted.state(), before);
}

#[test]
fn a_file_with_a_second_name_elsewhere_is_not_emptied() {
    let planted = Planted::new();
    let (files, path) = (planted.files(), planted.own().join("lock"));
    std::fs::hard_link(planted.victim().join("file"), &path).unwrap();
    files.open(&path, OpenMode::CreateOrTruncate).unwrap().write_all_at(b"x", 0).unwrap();
    assert_eq!(std::fs::read(planted.victim().join("file")).unwrap(), b"precious");
    files.open(&path, OpenMode::CreateOrKeep).unwrap();
    assert_eq!(files.read(&path).unwrap(), b"x");
}

#[test]
fn a_file_with_a_second_name_elsewhere_is_not_changed() {
    let planted = Planted::new();
    let (files, path) = (planted.files(), planted.own().join("archive"));
    std::fs::hard_link(planted.victim().join("file"), &path).unwrap();
    // A copy that was not finished.
    std::fs::write(planted.own().join("archive.copy"), b"half of it, and more than that").unwrap();
    let before = planted.state();
    files.open(&path, OpenMode::Read).unwrap();
    assert_eq!(planted.state(), before, "reading needs no copy");
    let file = files.open(&path, OpenMode::Write).unwrap();
    file.set_len(3).unwrap();
    file.write_all_at(b"X", 0).unwrap();
    assert_eq!(files.read(&path).unwrap(), b"Xre");
    assert_eq!(std::fs::read(planted.victim().join("file")).unwrap(), b"precious");
    assert_eq!(std::fs::read_dir(planted.own()).unwrap().count(), 2, "no copy is left");
    let inode = |path: &Path| std::fs::metadata(path).unwrap().ino();
    let own = inode(&path);
    files.open(&path, OpenMode::Write).unwrap();
    assert_eq!(inode(&path), own, "it is copied once");
}

#[test]
fn names_that_lead_up_or_elsewhere_are_refused() {
    let planted = Planted::new();
    let before = planted.state();
    let (files, own) = (planted.files(), planted.own());
    let absolute = planted.victim().join("file");
    let (long, nul) = ("n".repeat(4096), "a\0b");
    let names =
        ["../victim/file", "sub/../../victim/file", "..", "sub/..", absolute.to_str().unwrap(), &long, nul];
    for name in names {
        let path = own.join(name);
        let errors = try_all(&files, &path);
        // Every single call.
        assert_eq!(errors.len(), 2 * MODES.len() + 9, "{path:?}: {errors:?}");
        assert!(errors.iter().all(|error| error.to_string().len() < 500));
        let inner = own.join("sub/inner");
        files.write_atomic(&inner, b"inner").unwrap();
        assert!(files.rename(&inner, &path).is_err());
        assert!(files.hard_link(&inner, &path).is_err());
        assert!(files.rename(&path, &inner).is_err());
    }
    assert_eq!(planted.state(), before);
    // In simulation just so.
    let files = Files::simulated(SimFiles::new(Random::from_seed(1)));
    files.create_dir_all(Path::new("/victim")).unwrap();
    files.write_atomic(Path::new("/victim/file"), b"precious").unwrap();
    let bound = files.within(Path::new("/own"));
    bound.create_dir_all(Path::new("/own/sub")).unwrap();
    for name in ["/own/../victim/file", "/victim/file", "/own/sub/../../victim/file"] {
        assert_eq!(try_all(&bound, Path::new(name)).len(), 2 * MODES.len() + 9, "{name}");
    }
    assert_eq!(files.read(Path::new("/victim/file")).unwrap(), b"precious");
}

#[test]
fn pipes_sockets_and_devices_are_not_opened_and_nothing_waits() {
    let planted = Planted::new();
    let (files, own) = (planted.files(), planted.own());
    let mode = Mode::RUSR | Mode::WUSR;
    mknodat(CWD, own.join("pipe"), FileType::Fifo, mode, 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(own.join("socket")).unwrap();
    let mut kinds = vec![("pipe", "a pipe"), ("socket", "a socket")];
    // Only who may do anything can plant one: /dev/zero.
    if mknodat(CWD, own.join("device"), FileType::CharacterDevice, mode, rustix::fs::makedev(1, 5)).is_ok() {
        kinds.push(("device", "a device"));
    }
    for (name, what) in kinds {
        let path = own.join(name);
        for mode in MODES.into_iter().filter(|mode| *mode != OpenMode::CreateNew) {
            let error = files.open(&path, mode).unwrap_err();
            assert!(error.to_string().contains(what), "{error}");
        }
        assert!(files.read(&path).unwrap_err().to_string().contains(what));
        assert!(files.entry(&path).unwrap_err().to_string().contains(what));
        assert!(files.is_special(&path).unwrap());
        // It can be removed, and what is listed of it has no length.
        assert!(files.list(&own).unwrap().iter().any(|entry| entry.name == name && entry.len == 0));
        files.remove_file(&path).unwrap();
    }
    assert!(!files.is_special(&own.join("sub")).unwrap());
}

#[test]
fn a_file_that_is_long_and_holds_nothing_is_not_read_whole() {
    let planted = Planted::new();
    let path = planted.own().join("INDEX");
    std::fs::File::create(&path).unwrap().set_len(20 << 30).unwrap();
    let error = planted.files().read(&path).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    assert!(error.to_string().contains("INDEX is said to have 21474836480 bytes"), "{error}");
}

#[test]
fn removing_a_directory_does_not_go_through_links() {
    let planted = Planted::new();
    let before = planted.state();
    let (files, own) = (planted.files(), planted.own());
    files.create_dir_all(&own.join("tree/a/b")).unwrap();
    files.write_atomic(&own.join("tree/a/b/file"), b"x").unwrap();
    symlink(planted.victim(), own.join("tree/a/link")).unwrap();
    symlink(planted.victim(), own.join("whole")).unwrap();
    files.remove_dir_all(&own.join("tree")).unwrap();
    assert_eq!(files.entry(&own.join("tree")).unwrap(), None);
    assert!(files.remove_dir_all(&own.join("whole")).is_err());
    assert!(files.remove_dir_all(&own).is_err(), "the directory itself is the user's");
    assert_eq!(planted.state(), before);
}

#[test]
fn what_the_user_names_elsewhere_can_be_read_and_nothing_else() {
    let planted = Planted::new();
    let before = planted.state();
    let named = planted.victim().join("file");
    let files = planted.files();
    assert!(files.read(&named).unwrap_err().to_string().contains("--trust"));
    let files = files.with_outside([named.clone()]);
    assert_eq!(files.read(&named).unwrap(), b"precious");
    assert_eq!(files.entry(&named).unwrap().unwrap().len, 8);
    for mode in MODES.into_iter().filter(|mode| *mode != OpenMode::Read) {
        assert!(files.open(&named, mode).is_err());
    }
    assert!(files.remove_file(&named).is_err());
    assert!(files.read(&planted.victim().join("dir/part-1")).is_err());
    let pipe = planted.victim().join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR, 0).unwrap();
    let error = files.with_outside([pipe.clone()]).read(&pipe).unwrap_err();
    assert!(error.to_string().contains("no regular file"), "{error}");
    std::fs::remove_file(&pipe).unwrap();
    assert_eq!(planted.state()[1], before[1]);
}

#[test]
fn urls_are_bound_to_the_one_that_was_named() {
    let files = Files::real().within(Path::new("https://a.example/crawl"));
    let refused = |url: &str| {
        let error = files.open(Path::new(url), OpenMode::Read).unwrap_err();
        matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidFilename)
    };
    for url in [
        "https://b.example/crawl/warc/x",
        "http://a.example/crawl/x",
        "https://a.example:8443/crawl/x",
        "https://a.example@b.example/x",
        "https://a.example\\@b.example/x",
        "file:///etc/passwd",
        "https://a.example/crawl/../x",
        "https://a.example/crawl/%2E%2e/x",
        "https://a.example/crawl/warc/..\\..\\..\\x",
        "https://a.example/crawl/warc/..%2f..%2f..%2fx",
        "http://169.254.169.254/latest",
        "/etc/passwd",
    ] {
        assert!(refused(url), "{url}");
    }
    // There is no store here that could be asked: it comes to that.
    assert!(!refused("https://a.example/crawl/warc/a..b"));
    // An archive that lies beside it is read where it is, and no more than that.
    let beside = Path::new("https://a.example/archives/x.warc.gz");
    assert!(!refused("https://a.example/archives/x.warc.gz"));
    assert_eq!(files.remove_file(beside).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    let local = Files::real().within(Path::new("file:///crawl"));
    let outside = Path::new("file:///etc/passwd");
    assert_eq!(local.open(outside, OpenMode::Read).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
}

#[test]
fn a_directory_by_its_url_is_as_much_somebody_elses() {
    let planted = Planted::new();
    symlink(planted.victim().join("file"), planted.own().join("link")).unwrap();
    let url = PathBuf::from(format!("file://{}", planted.own().display()));
    let files = Files::real().within(&url);
    for path in [url.join("link"), url.join("../victim/file")] {
        let error = files.open(&path, OpenMode::Read).unwrap_err();
        assert!(
            ["symbolic link", "no name of a file"].iter().any(|why| error.to_string().contains(why)),
            "{error}"
        );
    }
}

#[test]
fn directories_above_are_made_and_synced_but_not_listed() {
    let planted = Planted::new();
    let root = planted.top.join("new/deep/crawl");
    let files = Files::real().within(&root);
    assert_eq!(files.entry(&root).unwrap(), None);
    assert_eq!(files.entry(&planted.top.join("new")).unwrap(), None);
    files.create_dir_all(&root.join("state")).unwrap();
    files.sync_dir(&planted.top).unwrap();
    assert!(files.free_bytes(&planted.top).unwrap() > 0 && files.free_bytes(&root).unwrap() > 0);
    assert!(files.list(&planted.top).is_err());
    assert!(files.remove_file(&planted.top.join("victim/file")).is_err());
    files.open_direct(&root.join("state/file"), OpenMode::CreateNew).unwrap();
    assert_eq!(files.list(&root.join("state")).unwrap().len(), 1);
}

#[test]
fn without_the_kernels_help_the_steps_are_walked() {
    let planted = Planted::new();
    let before = planted.state();
    std::fs::write(planted.own().join("sub/file"), b"own").unwrap();
    symlink(planted.victim(), planted.own().join("link")).unwrap();
    symlink(planted.victim().join("file"), planted.own().join("sub/link")).unwrap();
    let root = Root::walking(&planted.own());
    let open = |path: &str, mode| root.open(Place::new(Path::new(path)).unwrap(), mode, OFlags::empty());
    open("sub/file", OpenMode::Read).unwrap();
    open("sub/new", OpenMode::CreateNew).unwrap();
    for path in ["link/file", "sub/link", "link"] {
        for mode in MODES {
            let error = open(path, mode).unwrap_err();
            let expected = mode == OpenMode::CreateNew && path != "link/file";
            assert!(expected || error.to_string().contains("symbolic link"), "{path} {mode:?}: {error}");
        }
    }
    assert_eq!(root.list(Place::new(Path::new("sub")).unwrap()).unwrap().len(), 3);
    assert!(root.list(Place::new(Path::new("link")).unwrap()).is_err());
    assert_eq!(planted.state(), before);
}

#[test]
fn a_private_file_is_its_owners_alone() {
    let planted = Planted::new();
    for files in [planted.files(), Files::real()] {
        let path = planted.own().join("secret");
        files.write_atomic(&path, b"old").unwrap();
        files.write_private(&path, b"new").unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!((mode & 0o777, files.read(&path).unwrap()), (0o600, b"new".to_vec()));
    }
}
