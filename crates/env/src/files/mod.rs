//! Files by path, real or in memory; [by URL](remote), far away.
//!
//! Only what the crawler's structures need, and in the form that a crash can be reasoned about: positional reads and
//! writes, explicit [`File::sync`], atomic rename, and [`Files::sync_dir`] for the directory entries themselves.
//! All calls block; a real file's are meant for large blocks into the page cache.

mod block;
mod file;
mod real;
pub(crate) mod remote;
mod sim;
mod twice;
mod writer;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use remote::Far;

pub use block::{Block, PAGE_BYTES};
pub use file::File;
pub use remote::{Remote, RemoteFile, is_url, located};
pub use sim::{Fault, SimFiles, Stopped, is_stopped};
pub use twice::{Unread, VisitTwin, copy_name, copy_path, without_copy};
pub use writer::FileWriter;

/// The system says that a disk could not read what is on it: EIO.
const UNREADABLE: i32 = 5;

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
}

#[derive(Clone, Debug)]
enum Kind {
    Real,
    Sim(SimFiles),
}

impl Files {
    /// The machine's file system.
    pub fn real() -> Files {
        Files { kind: Kind::Real, remote: None }
    }

    /// Files in memory, with faults.
    pub fn simulated(files: SimFiles) -> Files {
        Files { kind: Kind::Sim(files), remote: None }
    }

    /// The same, and what URLs name: a path that [is a URL](is_url) is then one of this store.
    pub fn with_remote(mut self, remote: Arc<dyn Remote>) -> Files {
        self.remote = Some(remote);
        self
    }

    /// The store and the URL, if `path` is one.
    fn far<'a>(&'a self, path: &'a Path) -> Option<Far<'a>> {
        let remote = self.remote.as_ref()?;
        is_url(path).then(|| path.to_str().map(|url| Far { remote, url })).flatten()
    }

    /// Opens a file.
    pub fn open(&self, path: &Path, mode: OpenMode) -> io::Result<File> {
        if let Some(far) = self.far(path) {
            return far.open(mode).map(File::Remote);
        }
        match &self.kind {
            Kind::Real => real::open(path, mode).map(File::Real),
            Kind::Sim(files) => files.open(path, mode).map(File::Sim),
        }
    }

    /// Opens a file past the page cache (`O_DIRECT`), where the file system can do that: for large blocks that are not soon
    /// read again. Offsets and lengths must be multiples of [`PAGE_BYTES`], and the memory is best a [`Block`].
    pub fn open_direct(&self, path: &Path, mode: OpenMode) -> io::Result<File> {
        if let Some(far) = self.far(path) {
            return far.open(mode).map(File::Remote);
        }
        match &self.kind {
            Kind::Real => real::open_direct(path, mode).map(File::Real),
            Kind::Sim(files) => files.open_direct(path, mode).map(File::Sim),
        }
    }

    /// Makes a directory and its parents.
    pub fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        if self.far(path).is_some() {
            return Ok(());
        }
        match &self.kind {
            Kind::Real => std::fs::create_dir_all(path),
            Kind::Sim(files) => files.create_dir_all(path),
        }
    }

    /// Makes the entries of a directory durable: files created, renamed or removed in it.
    pub fn sync_dir(&self, path: &Path) -> io::Result<()> {
        if self.far(path).is_some() {
            return Ok(());
        }
        match &self.kind {
            Kind::Real => std::fs::File::open(path)?.sync_all(),
            Kind::Sim(files) => files.sync_dir(path),
        }
    }

    /// Renames a file, replacing what has the new name. Durable only after [`Files::sync_dir`].
    pub fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        match (self.far(from), self.far(to)) {
            (None, None) => {}
            (Some(from), Some(to)) => return from.rename(to.url),
            (Some(far), None) | (None, Some(far)) => {
                return Err(far.impossible("moved to or from this machine"));
            }
        }
        match &self.kind {
            Kind::Real => std::fs::rename(from, to),
            Kind::Sim(files) => files.rename(from, to),
        }
    }

    /// Gives a file a second name.
    pub fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        if let Some(far) = self.far(from).or_else(|| self.far(to)) {
            return Err(far.impossible("linked"));
        }
        match &self.kind {
            Kind::Real => std::fs::hard_link(from, to),
            Kind::Sim(files) => files.hard_link(from, to),
        }
    }

    /// Removes a file.
    pub fn remove_file(&self, path: &Path) -> io::Result<()> {
        if let Some(far) = self.far(path) {
            return far.remote.remove(far.url);
        }
        match &self.kind {
            Kind::Real => std::fs::remove_file(path),
            Kind::Sim(files) => files.remove_file(path),
        }
    }

    /// Removes a directory with everything in it.
    pub fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        if let Some(far) = self.far(path) {
            return far.remove_all();
        }
        match &self.kind {
            Kind::Real => std::fs::remove_dir_all(path),
            Kind::Sim(files) => files.remove_dir_all(path),
        }
    }

    /// What is in a directory, sorted by name.
    pub fn list(&self, path: &Path) -> io::Result<Vec<StoredFile>> {
        if let Some(far) = self.far(path) {
            return far.remote.list(far.url);
        }
        match &self.kind {
            Kind::Real => real::list(path),
            Kind::Sim(files) => files.list(path),
        }
    }

    /// The entry at `path`; `None` if there is none.
    pub fn entry(&self, path: &Path) -> io::Result<Option<StoredFile>> {
        if let Some(far) = self.far(path) {
            return far.entry();
        }
        match &self.kind {
            Kind::Real => real::entry(path),
            Kind::Sim(files) => files.entry(path),
        }
    }

    /// Whether something has this name that no file can take the place of: a pipe, a device, a link to somewhere.
    pub fn is_special(&self, path: &Path) -> io::Result<bool> {
        match &self.kind {
            Kind::Real if self.far(path).is_none() => real::is_special(path),
            _ => Ok(false),
        }
    }

    /// Bytes that can still be written on the file system that holds `path`.
    pub fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        if self.far(path).is_some() {
            return Ok(u64::MAX);
        }
        match &self.kind {
            Kind::Real => real::free_bytes(path),
            Kind::Sim(files) => files.free_bytes(),
        }
    }

    /// A whole file.
    pub fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        if matches!(self.kind, Kind::Real) && self.far(path).is_none() {
            // Pipes have neither a length nor places, but can be read.
            return std::fs::read(path);
        }
        let file = self.open(path, OpenMode::Read)?;
        let len = usize::try_from(file.len()?).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
        let mut bytes = vec![0; len];
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
        let temporary = self.write_aside(path, bytes)?;
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
    fn write_aside(&self, path: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
        let temporary = aside(path)?;
        let file = self.open(&temporary, OpenMode::CreateOrTruncate)?;
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
