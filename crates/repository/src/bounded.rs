//! A file of which only the part before some byte is read: an archive that lies in another file ends there.

use std::io;

use mattock_env::File;

pub(crate) struct Bounded {
    file: File,
    end: u64,
}

impl Bounded {
    /// All of a file.
    pub(crate) fn whole(file: File) -> Bounded {
        Bounded { file, end: u64::MAX }
    }

    /// Moves the end; `u64::MAX` is that of the file.
    pub(crate) fn end_at(&mut self, end: u64) {
        self.end = end;
    }

    /// Whether the end is that of the file.
    pub(crate) fn is_whole(&self) -> bool {
        self.end == u64::MAX
    }

    /// Reads up to `buffer.len()` bytes at `offset`; 0 at the end.
    pub(crate) fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(offset)).unwrap_or(usize::MAX);
        let count = buffer.len().min(left);
        if count == 0 { Ok(0) } else { self.file.read_at(&mut buffer[..count], offset) }
    }

    /// Reads all of `buffer`, or fails.
    pub(crate) fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        if offset.saturating_add(buffer.len() as u64) > self.end {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.file.read_exact_at(buffer, offset)
    }

    /// Where it ends.
    pub(crate) fn len(&self) -> io::Result<u64> {
        Ok(self.file.len()?.min(self.end))
    }

    /// Gives back what reading ahead has taken.
    pub(crate) fn release(&self) {
        self.file.release();
    }
}
