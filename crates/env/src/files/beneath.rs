//! The one door to what lies in a directory that may be somebody else's: everything goes through a handle on the directory itself.
//!
//! A [`Root`] is opened once, by the path that the user named, links included. From there on the kernel is asked to stay beneath it and to
//! follow no link (`openat2` with `RESOLVE_BENEATH` and `RESOLVE_NO_SYMLINKS`); where it cannot (before Linux 5.6, or behind a filter of
//! system calls), the steps are walked one by one with `O_NOFOLLOW`. Either way a [`Place`] has no steps up to begin with.
//!
//! Invariants:
//! - No link beneath the root is followed, neither of a file nor of a directory on the way to it.
//! - Only regular files are opened, and nothing else is touched before it is known to be one: a pipe does not block, a device hears nothing.
//! - A file that has a second name elsewhere is never changed. To be emptied, it loses its name here to a new file; to be changed, it
//!   loses it to a copy.
//!
//! Costs: one `openat2` with `O_PATH` and two `fstat` for every file that is opened, and for each directory on the way one `openat` where there is no
//! `openat2`.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

use super::bounds::by_path;
use super::place::Place;
use super::{OpenMode, StoredFile};

/// Files are made for their owner and whoever the umask lets.
const FILE_MODE: Mode = Mode::from_raw_mode(0o666);
/// Files that nobody but their owner may read.
const PRIVATE_MODE: Mode = Mode::from_raw_mode(0o600);
const DIRECTORY_MODE: Mode = Mode::from_raw_mode(0o777);
/// To go through a directory, or to list it.
const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Why something beneath a root was not opened.
#[derive(Debug, thiserror::Error)]
enum Refused {
    #[error(
        "{0} is a symbolic link, and none is followed within this directory: put what it leads to in its place, or mount it there"
    )]
    Link(String),
    #[error("{0} is {1}, where a regular file or a directory should be: remove it")]
    Special(String, &'static str),
}

/// A directory by its handle.
#[derive(Debug)]
pub(super) struct Root {
    path: PathBuf,
    /// Opened when it is first needed: a crawl's directory need not be there yet.
    handle: OnceLock<OwnedFd>,
    /// Whether the kernel cannot be asked to stay beneath it.
    walks: AtomicBool,
}

impl Root {
    pub(super) fn new(path: &Path) -> Root {
        Root { path: path.to_path_buf(), handle: OnceLock::new(), walks: AtomicBool::new(false) }
    }

    /// A root as it is where the kernel cannot be asked.
    #[cfg(test)]
    pub(super) fn walking(path: &Path) -> Root {
        Root { walks: AtomicBool::new(true), ..Root::new(path) }
    }

    /// How the user named it.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn handle(&self) -> io::Result<BorrowedFd<'_>> {
        if let Some(handle) = self.handle.get() {
            return Ok(handle.as_fd());
        }
        // The user named this path: the links in it are the user's.
        let path = if self.path.as_os_str().is_empty() { Path::new(".") } else { by_path(&self.path) };
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::PATH;
        let opened = rustix::fs::open(path, flags, Mode::empty())?;
        Ok(self.handle.get_or_init(|| opened).as_fd())
    }

    /// Opens what is at a place, following no link.
    fn open_at(&self, place: Place<'_>, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
        let path = if place.is_root() { Path::new(".") } else { place.path() };
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        if !self.walks.load(Ordering::Relaxed) {
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
            match rustix::fs::openat2(self.handle()?, path, flags, mode, resolve) {
                Err(Errno::NOSYS | Errno::PERM | Errno::INVAL | Errno::TOOBIG) => {}
                // Somebody renames directories on the way just now.
                Err(Errno::AGAIN) => {}
                opened => return opened.map_err(|error| self.told(place, error)),
            }
        }
        let opened = self.walked(place, flags, mode);
        // It would have been refused in the same way if the kernel knew the call.
        if opened.is_ok() && self.lacks_openat2() {
            self.walks.store(true, Ordering::Relaxed);
        }
        opened.map_err(|error| self.told(place, error))
    }

    fn lacks_openat2(&self) -> bool {
        let Ok(handle) = self.handle() else { return false };
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let asked = rustix::fs::openat2(handle, ".", flags, Mode::empty(), ResolveFlags::BENEATH);
        matches!(asked, Err(Errno::NOSYS | Errno::PERM))
    }

    /// Opens what is at a place, step by step.
    fn walked(&self, place: Place<'_>, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
        let handle = self.handle().map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        let Some((parent, name)) = place.split() else {
            return rustix::fs::openat(handle, ".", flags, mode);
        };
        let mut above: Option<OwnedFd> = None;
        for step in parent.steps() {
            let from = above.as_ref().map_or(handle, AsFd::as_fd);
            above = Some(rustix::fs::openat(from, step, DIRECTORY | OFlags::PATH, Mode::empty())?);
        }
        rustix::fs::openat(above.as_ref().map_or(handle, AsFd::as_fd), name, flags, mode)
    }

    /// The directory that a place lies in, and its name there.
    fn parent<'a>(&self, place: Place<'a>) -> io::Result<(OwnedFd, &'a Path)> {
        let (parent, name) = place.split().ok_or(io::ErrorKind::InvalidInput)?;
        Ok((self.open_at(parent, DIRECTORY | OFlags::PATH, Mode::empty())?, name))
    }

    /// What is at a place, be it a link; `None` if nothing is.
    fn stat(&self, place: Place<'_>) -> io::Result<Option<Stat>> {
        let found = match place.is_root() {
            true => match self.handle() {
                // A file, where the user has named a directory.
                Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                    rustix::fs::stat(by_path(&self.path)).map_err(io::Error::from)
                }
                handle => handle.and_then(|handle| Ok(rustix::fs::fstat(handle)?)),
            },
            false => self
                .parent(place)
                .and_then(|(parent, name)| Ok(rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?)),
        };
        match found {
            Ok(stat) => Ok(Some(stat)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What is at a place that is about to be opened. Links on the way are not followed here either: one to a file system that does not answer
    /// would have the question wait for it.
    fn glance(&self, place: Place<'_>) -> io::Result<Option<Stat>> {
        if place.is_root() {
            return self.stat(place);
        }
        match self.open_at(place, OFlags::PATH, Mode::empty()) {
            Ok(found) => Ok(Some(rustix::fs::fstat(found)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The error, or why it came to it: of a link on the way the kernel says no more than that there is one.
    fn told(&self, place: Place<'_>, error: Errno) -> io::Error {
        if !matches!(error, Errno::LOOP | Errno::NOTDIR | Errno::XDEV) {
            return error.into();
        }
        let steps: Vec<&Path> = place.path().ancestors().collect();
        for step in steps.into_iter().rev().filter(|step| !step.as_os_str().is_empty()) {
            let Ok((parent, name)) = Place::new(step).map(|step| step.split()).and_then(|split| {
                let (parent, name) = split.ok_or(io::ErrorKind::InvalidInput)?;
                let parent = self.walked(parent, DIRECTORY | OFlags::PATH, Mode::empty())?;
                Ok((parent, name))
            }) else {
                break;
            };
            let found = rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW);
            if let Err(refused) = found.map_or(Ok(()), |stat| self.expected(step, &stat)) {
                return refused;
            }
        }
        error.into()
    }

    /// Whether something may lie here at all.
    fn expected(&self, place: &Path, stat: &Stat) -> io::Result<()> {
        let shown = || self.path.join(place).display().to_string();
        let refused = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile | FileType::Directory => return Ok(()),
            FileType::Symlink => Refused::Link(shown()),
            FileType::Fifo => Refused::Special(shown(), "a pipe"),
            FileType::Socket => Refused::Special(shown(), "a socket"),
            _ => Refused::Special(shown(), "a device"),
        };
        Err(io::Error::new(io::ErrorKind::PermissionDenied, refused))
    }

    /// Opens a regular file, past the page cache if `extra` says so.
    pub(super) fn open(&self, place: Place<'_>, mode: OpenMode, extra: OFlags) -> io::Result<File> {
        let access = if mode == OpenMode::Read { OFlags::RDONLY } else { OFlags::RDWR };
        let made = match mode {
            OpenMode::Read | OpenMode::Write => OFlags::empty(),
            OpenMode::CreateNew => OFlags::CREATE | OFlags::EXCL,
            OpenMode::CreateOrTruncate | OpenMode::Private => OFlags::CREATE | OFlags::TRUNC,
            OpenMode::CreateOrKeep => OFlags::CREATE,
        };
        if mode != OpenMode::CreateNew
            && let Some(stat) = self.glance(place)?
        {
            self.expected(place.path(), &stat)?;
            match stat.st_nlink > 1 {
                true if made.contains(OFlags::TRUNC) => self.remove_file(place)?,
                true if mode == OpenMode::Write => self.unshare(place)?,
                _ => {}
            }
        }
        // Should something else have taken its place by now, it does not block.
        let flags = access | made | extra | OFlags::NONBLOCK | OFlags::NOCTTY;
        let permitted = if mode == OpenMode::Private { PRIVATE_MODE } else { FILE_MODE };
        let created = if made.contains(OFlags::CREATE) { permitted } else { Mode::empty() };
        let file = self.open_at(place, flags, created)?;
        let stat = rustix::fs::fstat(&file)?;
        self.expected(place.path(), &stat)?;
        if mode == OpenMode::Private {
            rustix::fs::fchmod(&file, PRIVATE_MODE)?;
        }
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory if mode != OpenMode::Read => Err(io::ErrorKind::IsADirectory.into()),
            _ => Ok(File::from(file)),
        }
    }

    /// Puts a copy in the place of a file that has other names: a backup made of links, or a file of somebody else's.
    fn unshare(&self, place: Place<'_>) -> io::Result<()> {
        let mut copy_path = place.path().as_os_str().to_owned();
        copy_path.push(".copy");
        let copy_place = Place::new(Path::new(&copy_path))?;
        match self.remove_file(copy_place) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut shared = self.open(place, OpenMode::Read, OFlags::empty())?;
        let mut copy = self.open(copy_place, OpenMode::CreateNew, OFlags::empty())?;
        io::copy(&mut shared, &mut copy)?;
        copy.sync_all()?;
        rename((self, copy_place), (self, place))
    }

    /// Makes a directory and those between it and the root.
    pub(super) fn create_dir_all(&self, place: Place<'_>) -> io::Result<()> {
        if self.handle().is_err() {
            std::fs::create_dir_all(by_path(&self.path))?;
        }
        let steps: Vec<&Path> = place.path().ancestors().collect();
        for step in steps.into_iter().rev().filter(|step| !step.as_os_str().is_empty()) {
            let (parent, name) = self.parent(Place::new(step)?)?;
            match rustix::fs::mkdirat(parent, name, DIRECTORY_MODE) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        // Something else may have been there, a link to a directory for instance.
        self.open_at(place, DIRECTORY | OFlags::PATH, Mode::empty()).map(drop)
    }

    pub(super) fn sync_dir(&self, place: Place<'_>) -> io::Result<()> {
        let directory = self.open_at(place, DIRECTORY | OFlags::RDONLY, Mode::empty())?;
        Ok(rustix::fs::fsync(directory)?)
    }

    /// Removes a file, a link, or whatever has this name and is no directory.
    pub(super) fn remove_file(&self, place: Place<'_>) -> io::Result<()> {
        let (parent, name) = self.parent(place)?;
        Ok(rustix::fs::unlinkat(parent, name, AtFlags::empty())?)
    }

    pub(super) fn remove_dir_all(&self, place: Place<'_>) -> io::Result<()> {
        let (parent, name) = self.parent(place)?;
        remove_below(parent.as_fd(), name)
    }

    pub(super) fn list(&self, place: Place<'_>) -> io::Result<Vec<StoredFile>> {
        let directory = self.open_at(place, DIRECTORY | OFlags::RDONLY, Mode::empty())?;
        let mut entries = Vec::new();
        for name in names(directory.as_fd())? {
            match rustix::fs::statat(&directory, &name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => entries.push(stored(name.to_string_lossy().into_owned(), &stat)),
                // Removed while it was listed.
                Err(Errno::NOENT) => {}
                Err(error) => return Err(error.into()),
            }
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    pub(super) fn entry(&self, place: Place<'_>) -> io::Result<Option<StoredFile>> {
        let Some(stat) = self.stat(place)? else { return Ok(None) };
        self.expected(place.path(), &stat)?;
        let path = if place.is_root() { &self.path } else { place.path() };
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Some(stored(name, &stat)))
    }

    /// Whether something has this name that is neither a file nor a directory.
    pub(super) fn is_special(&self, place: Place<'_>) -> io::Result<bool> {
        Ok(self.stat(place)?.is_some_and(|stat| self.expected(place.path(), &stat).is_err()))
    }

    pub(super) fn free_bytes(&self, place: Place<'_>) -> io::Result<u64> {
        let directory = self.open_at(place, OFlags::PATH, Mode::empty())?;
        let stat = rustix::fs::fstatvfs(directory)?;
        Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
    }
}

/// Gives what is at `from` the name `to`, perhaps beneath another root.
pub(super) fn rename(from: (&Root, Place<'_>), to: (&Root, Place<'_>)) -> io::Result<()> {
    let ((old, old_name), (new, new_name)) = (from.0.parent(from.1)?, to.0.parent(to.1)?);
    Ok(rustix::fs::renameat(old, old_name, new, new_name)?)
}

/// Gives a file a second name.
pub(super) fn hard_link(from: (&Root, Place<'_>), to: (&Root, Place<'_>)) -> io::Result<()> {
    let ((old, old_name), (new, new_name)) = (from.0.parent(from.1)?, to.0.parent(to.1)?);
    Ok(rustix::fs::linkat(old, old_name, new, new_name, AtFlags::empty())?)
}

fn remove_below(parent: BorrowedFd<'_>, name: &Path) -> io::Result<()> {
    let directory = rustix::fs::openat(parent, name, DIRECTORY | OFlags::RDONLY, Mode::empty())?;
    for name in names(directory.as_fd())? {
        match rustix::fs::unlinkat(&directory, &name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            // The system's word for a directory, which POSIX calls EPERM.
            Err(Errno::ISDIR | Errno::PERM) => remove_below(directory.as_fd(), Path::new(&name))?,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR)?)
}

/// What is in a directory, but for itself and the one above.
fn names(directory: BorrowedFd<'_>) -> io::Result<Vec<std::ffi::OsString>> {
    use std::os::unix::ffi::OsStringExt as _;
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(std::ffi::OsString::from_vec(name.to_vec()));
        }
    }
    Ok(names)
}

fn stored(name: String, stat: &Stat) -> StoredFile {
    let kind = FileType::from_raw_mode(stat.st_mode);
    let len = if kind == FileType::RegularFile { u64::try_from(stat.st_size).unwrap_or(0) } else { 0 };
    StoredFile { name, len, is_dir: kind == FileType::Directory }
}
