//! An open file of either kind.

use std::io;
use std::ops::Range;

use super::remote::RemoteFile;
use super::sim;

/// An open file. Reads and writes name their place; there is no cursor.
#[derive(Debug)]
pub enum File {
    /// Of the operating system.
    Real(std::fs::File),
    /// In memory.
    Sim(sim::SimFile),
    /// Far away.
    Remote(RemoteFile),
}

impl File {
    /// Reads up to `buffer.len()` bytes at `offset`; 0 at the end.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match self {
            File::Real(file) => std::os::unix::fs::FileExt::read_at(file, buffer, offset),
            File::Sim(file) => file.read_at(buffer, offset),
            File::Remote(RemoteFile::Reading(file)) => file.read_at(buffer, offset),
            File::Remote(RemoteFile::Writing(file)) => file.spool().read_at(buffer, offset),
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
            File::Remote(RemoteFile::Reading(_)) => Err(io::ErrorKind::PermissionDenied.into()),
            File::Remote(RemoteFile::Writing(file)) => file.write_all_at(bytes, offset),
        }
    }

    /// Bytes in the file.
    pub fn len(&self) -> io::Result<u64> {
        match self {
            File::Real(file) => file.metadata().map(|metadata| metadata.len()),
            File::Sim(file) => file.len(),
            File::Remote(RemoteFile::Reading(file)) => Ok(file.length()),
            File::Remote(RemoteFile::Writing(file)) => file.spool().len(),
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
            File::Remote(RemoteFile::Reading(_)) => Err(io::ErrorKind::PermissionDenied.into()),
            File::Remote(RemoteFile::Writing(file)) => file.set_len(len),
        }
    }

    /// Locks the file for this process until it is closed; false if another process has it. A simulated world has one
    /// process, which always gets it; so does everybody far away, where there are no locks.
    pub fn try_lock(&self) -> io::Result<bool> {
        match self {
            File::Real(file) => match file.try_lock() {
                Ok(()) => Ok(true),
                Err(std::fs::TryLockError::WouldBlock) => Ok(false),
                Err(std::fs::TryLockError::Error(error)) => Err(error),
            },
            File::Sim(_) | File::Remote(_) => Ok(true),
        }
    }

    /// The same, but waits until it gets it.
    pub fn lock(&self) -> io::Result<()> {
        match self {
            File::Real(file) => file.lock(),
            File::Sim(_) | File::Remote(_) => Ok(()),
        }
    }

    /// Whether another process has [locked](File::try_lock) the file. Those who ask this do not take each other for one that has.
    pub fn is_locked(&self) -> io::Result<bool> {
        match self {
            File::Real(file) => match file.try_lock_shared() {
                Ok(()) => file.unlock().map(|()| false),
                Err(std::fs::TryLockError::WouldBlock) => Ok(true),
                Err(std::fs::TryLockError::Error(error)) => Err(error),
            },
            File::Sim(_) | File::Remote(_) => Ok(false),
        }
    }

    /// Makes content and length durable. After an error what was written since the last success must be treated as
    /// lost: never retry a failed sync into an acknowledgement.
    pub fn sync(&self) -> io::Result<()> {
        match self {
            File::Real(file) => file.sync_data(),
            File::Sim(file) => file.sync(),
            File::Remote(RemoteFile::Reading(_)) => Ok(()),
            File::Remote(RemoteFile::Writing(file)) => file.sync(),
        }
    }

    /// Lets go of whole pages of `range`: those that are not on disk yet set out for it while nobody waits, and those that
    /// have arrived need not stay in memory. A hint; nothing is durable by it, and a failed write is still told by
    /// [`File::sync`].
    pub fn let_go(&self, range: Range<u64>) {
        if let File::Real(file) = self {
            super::real::let_go(file, range);
        }
    }

    /// The bytes of these ranges; far away they are asked for at once.
    pub fn read_ranges(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
        if let File::Remote(RemoteFile::Reading(file)) = self {
            return file.read_ranges(ranges);
        }
        let read = |range: &Range<u64>| {
            let mut bytes = vec![0; usize::try_from(range.end - range.start).unwrap_or(usize::MAX)];
            self.read_exact_at(&mut bytes, range.start)?;
            Ok(bytes)
        };
        ranges.iter().map(read).collect()
    }

    /// Gives back memory that only saves time, of a file that stays open but rests.
    pub fn release(&self) {
        if let File::Remote(RemoteFile::Reading(file)) = self {
            file.release();
        }
    }
}
