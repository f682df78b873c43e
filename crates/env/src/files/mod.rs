//! Files by path, real or in memory.
//!
//! Only what the crawler's structures need, and in the form that a crash can be reasoned about: positional reads and
//! writes, explicit [`File::sync`], atomic rename, and [`Files::sync_dir`] for the directory entries themselves.
//! All calls block; a real file's are meant for large blocks into the page cache.

mod block;
mod real;
mod sim;
mod twice;

use std::io;
use std::path::{Path, PathBuf};

pub use block::{Block, PAGE_BYTES};
pub use sim::{Fault, SimFiles, Stopped, is_stopped};
pub use twice::{Unread, VisitTwin, copy_name, copy_path, without_copy};

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
}

#[derive(Clone, Debug)]
enum Kind {
    Real,
    Sim(SimFiles),
}

impl Files {
    /// The machine's file system.
    pub fn real() -> Files {
        Files { kind: Kind::Real }
    }

    /// Files in memory, with faults.
    pub fn simulated(files: SimFiles) -> Files {
        Files { kind: Kind::Sim(files) }
    }

    /// Opens a file.
    pub fn open(&self, path: &Path, mode: OpenMode) -> io::Result<File> {
        match &self.kind {
            Kind::Real => real::open(path, mode).map(File::Real),
            Kind::Sim(files) => files.open(path, mode).map(File::Sim),
        }
    }

    /// Opens a file past the page cache (`O_DIRECT`), where the file system can do that: for large blocks that are not soon
    /// read again. Offsets and lengths must be multiples of [`PAGE_BYTES`], and the memory is best a [`Block`].
    pub fn open_direct(&self, path: &Path, mode: OpenMode) -> io::Result<File> {
        match &self.kind {
            Kind::Real => real::open_direct(path, mode).map(File::Real),
            Kind::Sim(files) => files.open_direct(path, mode).map(File::Sim),
        }
    }

    /// Makes a directory and its parents.
    pub fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        match &self.kind {
            Kind::Real => std::fs::create_dir_all(path),
            Kind::Sim(files) => files.create_dir_all(path),
        }
    }

    /// Makes the entries of a directory durable: files created, renamed or removed in it.
    pub fn sync_dir(&self, path: &Path) -> io::Result<()> {
        match &self.kind {
            Kind::Real => std::fs::File::open(path)?.sync_all(),
            Kind::Sim(files) => files.sync_dir(path),
        }
    }

    /// Renames a file, replacing what has the new name. Durable only after [`Files::sync_dir`].
    pub fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        match &self.kind {
            Kind::Real => std::fs::rename(from, to),
            Kind::Sim(files) => files.rename(from, to),
        }
    }

    /// Gives a file a second name.
    pub fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        match &self.kind {
            Kind::Real => std::fs::hard_link(from, to),
            Kind::Sim(files) => files.hard_link(from, to),
        }
    }

    /// Removes a file.
    pub fn remove_file(&self, path: &Path) -> io::Result<()> {
        match &self.kind {
            Kind::Real => std::fs::remove_file(path),
            Kind::Sim(files) => files.remove_file(path),
        }
    }

    /// Removes a directory with everything in it.
    pub fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        match &self.kind {
            Kind::Real => std::fs::remove_dir_all(path),
            Kind::Sim(files) => files.remove_dir_all(path),
        }
    }

    /// What is in a directory, sorted by name.
    pub fn list(&self, path: &Path) -> io::Result<Vec<StoredFile>> {
        match &self.kind {
            Kind::Real => real::list(path),
            Kind::Sim(files) => files.list(path),
        }
    }

    /// The entry at `path`; `None` if there is none.
    pub fn entry(&self, path: &Path) -> io::Result<Option<StoredFile>> {
        match &self.kind {
            Kind::Real => real::entry(path),
            Kind::Sim(files) => files.entry(path),
        }
    }

    /// Bytes that can still be written on the file system that holds `path`.
    pub fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        match &self.kind {
            Kind::Real => real::free_bytes(path),
            Kind::Sim(files) => files.free_bytes(),
        }
    }

    /// A whole file.
    pub fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        if let Kind::Real = self.kind {
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
        let temporary = self.write_aside(path, bytes)?;
        self.rename(&temporary, path)?;
        self.sync_dir(&directory_of(path))
    }

    /// Writes what is to be put in the place of a file, and syncs it; where it is.
    fn write_aside(&self, path: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
        let mut name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_os_string();
        name.push(".tmp");
        let temporary = path.with_file_name(name);
        let file = self.open(&temporary, OpenMode::CreateOrTruncate)?;
        file.write_all_at(bytes, 0)?;
        file.sync()?;
        Ok(temporary)
    }
}

/// The directory that holds `path`; `.` for a bare name.
fn directory_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

/// An open file. Reads and writes name their place; there is no cursor.
#[derive(Debug)]
pub enum File {
    /// Of the operating system.
    Real(std::fs::File),
    /// In memory.
    Sim(sim::SimFile),
}

impl File {
    /// Reads up to `buffer.len()` bytes at `offset`; 0 at the end.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match self {
            File::Real(file) => std::os::unix::fs::FileExt::read_at(file, buffer, offset),
            File::Sim(file) => file.read_at(buffer, offset),
        }
    }

    /// Fills `buffer` from `offset`; [`io::ErrorKind::UnexpectedEof`] if the file is too short.
    pub fn read_exact_at(&self, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !buffer.is_empty() {
            match self.read_at(buffer, offset) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => {
                    buffer = &mut buffer[count..];
                    offset += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Writes all of `bytes` at `offset`. After an error any part of it may have been written.
    pub fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        match self {
            File::Real(file) => std::os::unix::fs::FileExt::write_all_at(file, bytes, offset),
            File::Sim(file) => file.write_all_at(bytes, offset),
        }
    }

    /// Bytes in the file.
    pub fn len(&self) -> io::Result<u64> {
        match self {
            File::Real(file) => file.metadata().map(|metadata| metadata.len()),
            File::Sim(file) => file.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> io::Result<bool> {
        self.len().map(|len| len == 0)
    }

    /// Cuts the file off, or extends it with zeros.
    pub fn set_len(&self, len: u64) -> io::Result<()> {
        match self {
            File::Real(file) => file.set_len(len),
            File::Sim(file) => file.set_len(len),
        }
    }

    /// Locks the file for this process until it is closed; false if another process has it. A simulated world has one
    /// process, which always gets it.
    pub fn try_lock(&self) -> io::Result<bool> {
        match self {
            File::Real(file) => match file.try_lock() {
                Ok(()) => Ok(true),
                Err(std::fs::TryLockError::WouldBlock) => Ok(false),
                Err(std::fs::TryLockError::Error(error)) => Err(error),
            },
            File::Sim(_) => Ok(true),
        }
    }

    /// Makes content and length durable. After an error what was written since the last success must be treated as
    /// lost: never retry a failed sync into an acknowledgement.
    pub fn sync(&self) -> io::Result<()> {
        match self {
            File::Real(file) => file.sync_data(),
            File::Sim(file) => file.sync(),
        }
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
