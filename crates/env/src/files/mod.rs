//! Files by path, real or in memory; [by URL](remote), far away.
//!
//! Only what the crawler's structures need, and in the form that a crash can be reasoned about: positional reads and
//! writes, explicit [`File::sync`], atomic rename, and [`Files::sync_dir`] for the directory entries themselves.
//! All calls block; a real file's are meant for large blocks into the page cache.
//!
//! A directory that may be somebody else's is reached through [`Files::within`]: from there on nothing but what lies in it can be opened,
//! changed or removed, and no link in it leads anywhere (`bounds.rs` has the rule, `beneath.rs` the door).

mod beneath;
#[cfg(test)]
mod beneath_tests;
mod block;
mod bounds;
mod file;
mod place;
mod private;
mod real;
pub(crate) mod remote;
mod sim;
mod twice;
mod writer;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::OFlags;

use bounds::{Access, Bounds, Way, local};
use remote::Far;

pub use block::{Block, PAGE_BYTES};
pub use file::File;
pub use place::{BadName, Name};
pub use remote::{Remote, RemoteFile, is_url, located};
pub use sim::{Fault, SimFiles, Stopped, is_stopped};
pub use twice::{Unread, VisitTwin, copy_name, copy_path, without_copy};
pub use writer::FileWriter;

/// The system says that a disk could not read what is on it: EIO.
const UNREADABLE: i32 = 5;

/// The most that a file far away has which is read whole: a list, an analyzer. How long it is a server says, before it has sent anything.
const FAR_BYTES_MAX: u64 = 256 << 20;

/// The most that a file of a directory has which is read whole. One can be as long as the file system lets it, and hold nothing.
const READ_BYTES_MAX: u64 = 2 << 30;

/// Whether a file or a part of it is gone, by what was said on reading it. Anything else (no permission, too many open files) may go
/// well the next time.
pub fn is_loss(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::UnexpectedEof)
        || error.raw_os_error() == Some(UNREADABLE)
}

/// How to open a file. It can be read and written in every mode but `Read`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// It must exist; reading only.
    Read,
    /// It must exist; its content stays.
    Write,
    /// It must not exist.
    CreateNew,
    /// Made if missing, emptied if not.
    CreateOrTruncate,
    /// Made if missing; its content stays. For locks: whoever opens one has no business with what is in it.
    CreateOrKeep,
    /// Made if missing, emptied if not; nobody but its owner may read it.
    Private,
}

/// One entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    /// Its name within the directory.
    pub name: String,
    /// Bytes (0 for a directory).
    pub len: u64,
    /// Whether it is a directory itself.
    pub is_dir: bool,
}

/// The file system. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Files {
    kind: Kind,
    remote: Option<Arc<dyn Remote>>,
    bounds: Bounds,
}

#[derive(Clone, Debug)]
enum Kind {
    Real,
    Sim(SimFiles),
}

impl Files {
    /// The machine's file system.
    pub fn real() -> Files {
        Files { kind: Kind::Real, remote: None, bounds: Bounds::default() }
    }

    /// Files in memory, with faults.
    pub fn simulated(files: SimFiles) -> Files {
        Files { kind: Kind::Sim(files), remote: None, bounds: Bounds::default() }
    }

    /// The same, and what URLs name: a path that [is a URL](is_url) is then one of this store.
    pub fn with_remote(mut self, remote: Arc<dyn Remote>) -> Files {
        self.remote = Some(remote);
        self
    }

    /// These files, bound to the directory that the user named: nothing else can be reached, but what was reached before if they were bound
    /// already. Links in the path itself are followed, none beneath it is.
    pub fn within(&self, root: &Path) -> Files {
        Files { bounds: self.bounds.with_root(root), ..self.clone() }
    }

    /// These files, bound as they are, through which these others can be read: files elsewhere that the user has named.
    pub fn with_outside(&self, paths: impl IntoIterator<Item = PathBuf>) -> Files {
        Files { bounds: self.bounds.with_outside(paths), ..self.clone() }
    }

    /// The store and the URL, if `path` is one.
    fn far<'a>(&self, path: &'a Path) -> Option<Far<'a>> {
        Far::of(self, self.remote.as_ref(), path)
    }

    /// The files of this machine alone, and the store beside them; `None` if they are simulated.
    fn without_remote(&self) -> Option<(Files, Option<Arc<dyn Remote>>)> {
        let Kind::Real = &self.kind else { return None };
        Some((Files { remote: None, ..self.clone() }, self.remote.clone()))
    }

    /// Opens a file of this machine to read it, if it is a regular one: nothing waits for whoever might write into a pipe.
    fn open_regular(&self, path: &Path) -> io::Result<File> {
        match (&self.kind, self.bounds.way(path, Access::Read)?) {
            (Kind::Sim(files), _) => files.open(path, OpenMode::Read).map(File::Sim),
            (Kind::Real, Way::Beneath(root, place)) => {
                root.open(place, OpenMode::Read, OFlags::empty()).map(File::Real)
            }
            (Kind::Real, _) => real::open_regular(path).map(File::Real),
        }
    }

    /// Opens a file.
    pub fn open(&self, path: &Path, mode: OpenMode) -> io::Result<File> {
        self.open_in(path, mode, false)
    }

    /// Opens a file past the page cache (`O_DIRECT`), where the file system can do that: for large blocks that are not soon
    /// read again. Offsets and lengths must be multiples of [`PAGE_BYTES`], and the memory is best a [`Block`].
    pub fn open_direct(&self, path: &Path, mode: OpenMode) -> io::Result<File> {
        self.open_in(path, mode, true)
    }

    fn open_in(&self, path: &Path, mode: OpenMode, direct: bool) -> io::Result<File> {
        let access = if mode == OpenMode::Read { Access::Read } else { Access::Change };
        let way = self.bounds.way(path, access)?;
        if let Some(far) = self.far(path) {
            return far.open(mode).map(File::Remote);
        }
        match (&self.kind, way) {
            (Kind::Sim(files), _) if direct => files.open_direct(path, mode).map(File::Sim),
            (Kind::Sim(files), _) => files.open(path, mode).map(File::Sim),
            (Kind::Real, Way::Beneath(root, place)) => {
                real::open(mode, direct, |mode, flags| root.open(place, mode, flags)).map(File::Real)
            }
            (Kind::Real, Way::Free) => {
                real::open(mode, direct, |mode, flags| real::open_path(path, mode, flags)).map(File::Real)
            }
            (Kind::Real, Way::Outside) => real::open_regular(path).map(File::Real),
        }
    }

    /// Makes a directory and its parents.
    pub fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        let way = self.bounds.way(path, Access::Directory)?;
        if self.far(path).is_some() {
            return Ok(());
        }
        match (&self.kind, way) {
            (Kind::Sim(files), _) => files.create_dir_all(path),
            (Kind::Real, Way::Beneath(root, place)) => root.create_dir_all(place),
            (Kind::Real, _) => std::fs::create_dir_all(path),
        }
    }

    /// Makes the entries of a directory durable: files created, renamed or removed in it.
    pub fn sync_dir(&self, path: &Path) -> io::Result<()> {
        let way = self.bounds.way(path, Access::Directory)?;
        if self.far(path).is_some() {
            return Ok(());
        }
        match (&self.kind, way) {
            (Kind::Sim(files), _) => files.sync_dir(path),
            (Kind::Real, Way::Beneath(root, place)) => root.sync_dir(place),
            (Kind::Real, _) => std::fs::File::open(path)?.sync_all(),
        }
    }

    /// Renames a file, replacing what has the new name. Durable only after [`Files::sync_dir`].
    pub fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let ways = (self.bounds.way(from, Access::Change)?, self.bounds.way(to, Access::Change)?);
        match (self.far(from), self.far(to)) {
            (None, None) => {}
            (Some(from), Some(to)) => return from.rename(to.url),
            (Some(far), None) | (None, Some(far)) => {
                return Err(far.impossible("moved to or from this machine"));
            }
        }
        match (&self.kind, ways) {
            (Kind::Sim(files), _) => files.rename(from, to),
            (Kind::Real, (Way::Beneath(root, place), Way::Beneath(new_root, new_place))) => {
                beneath::rename((root, place), (new_root, new_place))
            }
            (Kind::Real, _) => std::fs::rename(from, to),
        }
    }

    /// Gives a file a second name.
    pub fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let ways = (self.bounds.way(from, Access::Change)?, self.bounds.way(to, Access::Change)?);
        if let Some(far) = self.far(from).or_else(|| self.far(to)) {
            return Err(far.impossible("linked"));
        }
        match (&self.kind, ways) {
            (Kind::Sim(files), _) => files.hard_link(from, to),
            (Kind::Real, (Way::Beneath(root, place), Way::Beneath(new_root, new_place))) => {
                beneath::hard_link((root, place), (new_root, new_place))
            }
            (Kind::Real, _) => std::fs::hard_link(from, to),
        }
    }

    /// Removes a file.
    pub fn remove_file(&self, path: &Path) -> io::Result<()> {
        let way = self.bounds.way(path, Access::Change)?;
        if let Some(far) = self.far(path) {
            return far.remote.remove(far.url);
        }
        match (&self.kind, way) {
            (Kind::Sim(files), _) => files.remove_file(path),
            (Kind::Real, Way::Beneath(root, place)) => root.remove_file(place),
            (Kind::Real, _) => std::fs::remove_file(path),
        }
    }

    /// Removes a directory with everything in it.
    pub fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        let way = self.bounds.way(path, Access::Change)?;
        if let Some(far) = self.far(path) {
            return far.remove_all();
        }
        match (&self.kind, way) {
            (Kind::Sim(files), _) => files.remove_dir_all(path),
            (Kind::Real, Way::Beneath(root, place)) => root.remove_dir_all(place),
            (Kind::Real, _) => std::fs::remove_dir_all(path),
        }
    }

    /// What is in a directory, sorted by name.
    pub fn list(&self, path: &Path) -> io::Result<Vec<StoredFile>> {
        let way = self.bounds.way(path, Access::Read)?;
        if let Some(far) = self.far(path) {
            return far.remote.list(far.url);
        }
        match (&self.kind, way) {
            (Kind::Sim(files), _) => files.list(path),
            (Kind::Real, Way::Beneath(root, place)) => root.list(place),
            (Kind::Real, _) => real::list(path),
        }
    }

    /// The entry at `path`; `None` if there is none.
    pub fn entry(&self, path: &Path) -> io::Result<Option<StoredFile>> {
        let way = self.bounds.way(path, Access::Directory)?;
        if let Some(far) = self.far(path) {
            return far.entry();
        }
        match (&self.kind, way) {
            (Kind::Sim(files), _) => files.entry(path),
            (Kind::Real, Way::Beneath(root, place)) => root.entry(place),
            (Kind::Real, _) => real::entry(path),
        }
    }

    /// Whether something has this name that no file can take the place of: a pipe, a device, a link to somewhere.
    pub fn is_special(&self, path: &Path) -> io::Result<bool> {
        let way = self.bounds.way(path, Access::Read)?;
        match (&self.kind, way) {
            (Kind::Sim(_), _) => Ok(false),
            (Kind::Real, Way::Beneath(root, place)) => root.is_special(place),
            (Kind::Real, _) => match local(path) {
                Some(path) => real::is_special(path),
                None if self.far(path).is_some() => Ok(false),
                None => real::is_special(path),
            },
        }
    }

    /// Bytes that can still be written on the file system that holds `path`.
    pub fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        let way = self.bounds.way(path, Access::Directory)?;
        if self.far(path).is_some() {
            return Ok(u64::MAX);
        }
        match (&self.kind, way) {
            (Kind::Sim(files), _) => files.free_bytes(),
            (Kind::Real, Way::Beneath(root, place)) => root.free_bytes(place),
            (Kind::Real, _) => real::free_bytes(path),
        }
    }

    /// A whole file. Far away it is a small one.
    pub fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let way = self.bounds.way(path, Access::Read)?;
        if matches!((&self.kind, way), (Kind::Real, Way::Free)) && self.far(path).is_none() {
            // Pipes have neither a length nor places, but can be read.
            return std::fs::read(path);
        }
        let file = self.open(path, OpenMode::Read)?;
        let len = file.len()?;
        let bytes_max = if matches!(file, File::Remote(_)) { FAR_BYTES_MAX } else { READ_BYTES_MAX };
        if len > bytes_max {
            let message = format!(
                "{} is said to have {len} bytes, and no file that is read whole has more than {bytes_max}",
                path.display()
            );
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        let len = usize::try_from(len).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
        let mut bytes = Vec::new();
        // A file can be long without holding anything.
        bytes.try_reserve_exact(len).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
        bytes.resize(len, 0);
        file.read_exact_at(&mut bytes, 0)?;
        Ok(bytes)
    }

    /// Replaces a small file as one step: after a crash it holds the old bytes or the new ones, and once this has
    /// returned, the new ones.
    pub fn write_atomic(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        if self.far(path).is_some() {
            // It is whole or not there: nothing need be put aside.
            let file = self.open(path, OpenMode::CreateOrTruncate)?;
            file.write_all_at(bytes, 0)?;
            return file.sync();
        }
        self.replace(path, bytes, OpenMode::CreateOrTruncate)
    }

    fn replace(&self, path: &Path, bytes: &[u8], mode: OpenMode) -> io::Result<()> {
        let temporary = self.write_aside(path, bytes, mode)?;
        self.rename(&temporary, path)?;
        self.sync_dir(&directory_of(path))
    }

    /// Puts the first `length` bytes of another file at `path`, as one step: they are there whole and durable, or not at all. `sent` hears
    /// of bytes that are written; an error of it ends the matter.
    pub fn put(
        &self,
        content: &File,
        length: u64,
        path: &Path,
        sent: &mut dyn FnMut(u64) -> io::Result<()>,
    ) -> io::Result<()> {
        if let Some(far) = self.far(path) {
            return far.remote.put(far.url, content, length, sent);
        }
        let temporary = aside(path)?;
        let file = self.open(&temporary, OpenMode::CreateOrTruncate)?;
        if let Err(error) = copy(content, length, &file, sent) {
            // There is another error to tell of.
            let _ = self.remove_file(&temporary);
            return Err(error);
        }
        self.rename(&temporary, path)?;
        self.sync_dir(&directory_of(path))
    }

    /// Writes what is to be put in the place of a file, and syncs it; where it is.
    fn write_aside(&self, path: &Path, bytes: &[u8], mode: OpenMode) -> io::Result<PathBuf> {
        let temporary = aside(path)?;
        // What somebody has put there might be open for others, or lead to them.
        if mode == OpenMode::Private
            && let Err(error) = self.remove_file(&temporary)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(error);
        }
        let file = self.open(&temporary, mode)?;
        file.write_all_at(bytes, 0)?;
        file.sync()?;
        Ok(temporary)
    }
}

/// Writes the first `length` bytes of a file to another one, and syncs it.
fn copy(
    content: &File,
    length: u64,
    file: &File,
    sent: &mut dyn FnMut(u64) -> io::Result<()>,
) -> io::Result<()> {
    let mut buffer = vec![0; 1 << 20];
    let mut at = 0;
    while at < length {
        let count = buffer.len().min(usize::try_from(length - at).unwrap_or(usize::MAX));
        content.read_exact_at(&mut buffer[..count], at)?;
        file.write_all_at(&buffer[..count], at)?;
        sent(count as u64)?;
        at += count as u64;
    }
    file.sync()
}

/// Where a file is written before it takes the place of `path`.
fn aside(path: &Path) -> io::Result<PathBuf> {
    let mut name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_os_string();
    name.push(".tmp");
    Ok(path.with_file_name(name))
}

/// The directory that holds `path`; `.` for a bare name.
fn directory_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    #[test]
    fn a_private_file_is_its_owners_and_follows_no_link() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let scratch = std::env::temp_dir()
            .join(format!("mattock-env-private-{:016x}", Random::from_entropy().next_u64()));
        let (files, path, elsewhere) = (Files::real(), scratch.join("token"), scratch.join("elsewhere"));
        files.create_dir_all(&scratch).unwrap();
        files.write_atomic(&elsewhere, b"theirs").unwrap();
        for planted in [&path, &aside(&path).unwrap()] {
            symlink(&elsewhere, planted).unwrap();
            files.write_private(&path, b"secret").unwrap();
            let meta = std::fs::symlink_metadata(&path).unwrap();
            assert!(meta.is_file() && meta.permissions().mode() & 0o777 == 0o600);
            assert_eq!(
                (files.read(&path).unwrap(), files.read(&elsewhere).unwrap()),
                (b"secret".to_vec(), b"theirs".to_vec())
            );
        }
        files.remove_dir_all(&scratch).unwrap();
        let files = Files::simulated(SimFiles::new(Random::from_seed(1)));
        files.create_dir_all(Path::new("/state")).unwrap();
        for text in ["one", "two"] {
            files.write_private(Path::new("/state/token"), text.as_bytes()).unwrap();
            assert_eq!(files.read(Path::new("/state/token")).unwrap(), text.as_bytes());
        }
    }

    fn both() -> Vec<(Files, PathBuf)> {
        let random = Random::from_entropy().next_u64();
        let real = std::env::temp_dir().join(format!("mattock-env-{random:016x}"));
        let sim = Files::simulated(SimFiles::new(Random::from_seed(1)));
        vec![(Files::real(), real), (sim, PathBuf::from("/crawl"))]
    }

    #[test]
    fn real_and_simulated_files_behave_alike() {
        for (files, root) in both() {
            assert_eq!(files.entry(&root).unwrap(), None);
            files.create_dir_all(&root.join("a/b")).unwrap();
            let path = root.join("a/one");
            let file = files.open(&path, OpenMode::CreateNew).unwrap();
            assert_eq!(
                files.open(&path, OpenMode::CreateNew).unwrap_err().kind(),
                io::ErrorKind::AlreadyExists
            );
            file.write_all_at(b"hello world", 0).unwrap();
            file.write_all_at(b"W", 6).unwrap();
            file.write_all_at(b"!", 13).unwrap();
            assert_eq!(files.read(&path).unwrap(), b"hello World\0\0!");
            file.set_len(5).unwrap();
            file.sync().unwrap();
            assert_eq!(file.read_at(&mut [0; 9], 3).unwrap(), 2);
            assert_eq!(file.read_at(&mut [0; 9], 5).unwrap(), 0);
            assert_eq!(file.read_exact_at(&mut [0; 6], 0).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);

            files.hard_link(&path, &root.join("a/two")).unwrap();
            files.rename(&path, &root.join("a/three")).unwrap();
            files.write_atomic(&root.join("a/three"), b"new").unwrap();
            assert_eq!(files.read(&root.join("a/two")).unwrap(), b"hello");
            assert_eq!(files.read(&root.join("a/three")).unwrap(), b"new");
            let listed: Vec<_> = files
                .list(&root.join("a"))
                .unwrap()
                .into_iter()
                .map(|entry| (entry.name, entry.len))
                .collect();
            assert_eq!(listed, [("b".into(), 0), ("three".into(), 3), ("two".into(), 5)]);
            assert_eq!(files.open(&path, OpenMode::Read).unwrap_err().kind(), io::ErrorKind::NotFound);
            assert_eq!(
                files.open(&root.join("no/such"), OpenMode::CreateNew).unwrap_err().kind(),
                io::ErrorKind::NotFound
            );

            files.remove_file(&root.join("a/two")).unwrap();
            assert_eq!(files.remove_file(&root.join("a/two")).unwrap_err().kind(), io::ErrorKind::NotFound);
            assert!(files.free_bytes(&root).unwrap() > 0);
            files.sync_dir(&root.join("a")).unwrap();
            files.remove_dir_all(&root).unwrap();
            assert_eq!(files.entry(&root).unwrap(), None);
        }
    }

    #[test]
    fn direct_files_take_whole_pages_and_other_handles_see_them() {
        for (files, root) in both() {
            files.create_dir_all(&root).unwrap();
            let path = root.join("direct");
            let file = files.open_direct(&path, OpenMode::CreateNew).unwrap();
            let mut block = Block::new(3 * PAGE_BYTES);
            block.fill(7);
            file.write_all_at(&block, PAGE_BYTES as u64).unwrap();
            file.sync().unwrap();
            block.fill(0);
            file.read_exact_at(&mut block[..PAGE_BYTES], 2 * PAGE_BYTES as u64).unwrap();
            assert!(block[..PAGE_BYTES].iter().all(|byte| *byte == 7));
            let bytes = files.read(&path).unwrap();
            assert_eq!((bytes.len(), bytes[PAGE_BYTES - 1], bytes[PAGE_BYTES]), (4 * PAGE_BYTES, 0, 7));
            if matches!(file, File::Sim(_)) {
                assert_eq!(file.write_all_at(&block[..100], 0).unwrap_err().raw_os_error(), Some(22));
                assert_eq!(file.read_at(&mut block, 512).unwrap_err().raw_os_error(), Some(22));
            }
            files.remove_dir_all(&root).unwrap();
        }
    }
}
