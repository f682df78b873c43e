//! Bodies that are too large to wait in memory: beyond a limit their bytes go to a file without a name.
//!
//! Filled by whoever reads a body off a connection, emptied by [`Exchange::restore`](crate::Exchange::restore) when its turn comes. So
//! hundreds of large bodies on their way in cost [`HELD_BYTES_MAX`] of memory each, and only the one that is looked at is there as
//! a whole.
//!
//! Invariants: a response is its head and what is in the buffer behind it, with the spilled bytes in between; bytes are spilled
//! in order, and never those of the head. A file loses its name as soon as it is open, so that it ends with its owner; what a
//! crash in between leaves is removed by the next client. Where the disk has no room to spare, or refuses, the rest of the body stays in
//! memory: that is no fault of the page's.
//!
//! Costs: a body within the limit never comes here. Others pay a file, and are written and read once, through the page cache.

use std::cell::Cell;
use std::io;
use std::ops::Range;
use std::path::PathBuf;

use mattock_env::{File, Files, OpenMode};

/// How much of a body waits in memory.
pub(crate) const HELD_BYTES_MAX: usize = 128 * 1024;
/// What is left free on a disk: bodies that wait must not take the room of those that are kept.
const DISK_SPARE_BYTES: u64 = 256 * 1024 * 1024;
/// What a buffer needs whose body is spilled: up to here it doubles as it grows.
const DOUBLING_BYTES_MAX: usize = HELD_BYTES_MAX + 64 * 1024;

/// Where bodies are spilled to. One per client.
#[derive(Debug)]
pub(crate) struct Spills {
    files: Files,
    dir: PathBuf,
    /// Files opened so far.
    opened: Cell<u64>,
}

impl Spills {
    /// Spills into `dir`, which is nobody else's and is made when it is needed.
    pub(crate) fn new(files: &Files, dir: PathBuf) -> Spills {
        if matches!(files.entry(&dir), Ok(Some(entry)) if entry.is_dir)
            && let Err(error) = files.remove_dir_all(&dir)
        {
            tracing::warn!(path = %dir.display(), %error, "what an earlier run left cannot be removed");
        }
        Spills { files: files.clone(), dir, opened: Cell::new(0) }
    }

    fn has_room(&self) -> bool {
        // The directory is made with the first file, and nobody may have made those above it yet.
        let free = self.dir.ancestors().find_map(|dir| self.files.free_bytes(dir).ok());
        free.is_some_and(|free| free >= DISK_SPARE_BYTES)
    }

    fn open(&self) -> io::Result<File> {
        if self.opened.get() == 0 {
            self.files.create_dir_all(&self.dir)?;
        }
        self.opened.set(self.opened.get() + 1);
        let path = self.dir.join(self.opened.get().to_string());
        let file = self.files.open(&path, OpenMode::CreateOrTruncate)?;
        self.files.remove_file(&path)?;
        Ok(file)
    }
}

/// What was spilled of one body.
#[derive(Debug, Default)]
pub(crate) struct Spill {
    file: Option<File>,
    /// Bytes in the file.
    pub(crate) len: usize,
    /// The disk would not take any more.
    refused: bool,
}

impl Spill {
    /// Takes these bytes of a body out of the buffer if they are many; whether it did. Those that were taken before come before
    /// them.
    pub(crate) fn relieve(
        &mut self,
        spills: Option<&Spills>,
        buffer: &mut Vec<u8>,
        body: Range<usize>,
    ) -> bool {
        let Some(spills) = spills.filter(|_| body.len() >= HELD_BYTES_MAX && !self.refused) else {
            return false;
        };
        match self.write(spills, &buffer[body.clone()]) {
            Ok(true) => {
                self.len += body.len();
                buffer.drain(body);
                true
            }
            Ok(false) => false,
            Err(error) => {
                tracing::debug!(path = %spills.dir.display(), %error, "a large body stays in memory");
                self.refused = true;
                false
            }
        }
    }

    /// Whether there was room for it.
    fn write(&mut self, spills: &Spills, bytes: &[u8]) -> io::Result<bool> {
        if !spills.has_room() {
            return Ok(false);
        }
        let file = match self.file.take() {
            Some(file) => file,
            None => spills.open()?,
        };
        // Kept whatever comes: the bytes that it has are still needed.
        let written = file.write_all_at(bytes, self.len as u64);
        self.file = Some(file);
        written.map(|()| true)
    }

    /// Puts what was spilled back into the buffer, behind the first `head` bytes.
    pub(crate) fn restore(&mut self, buffer: &mut Vec<u8>, head: usize) -> io::Result<()> {
        let Some(file) = self.file.take().filter(|_| self.len > 0) else { return Ok(()) };
        let mut whole = Vec::with_capacity(buffer.len() + self.len);
        whole.extend_from_slice(&buffer[..head]);
        whole.resize(head + self.len, 0);
        file.read_exact_at(&mut whole[head..], 0)?;
        whole.extend_from_slice(&buffer[head..]);
        *buffer = whole;
        self.len = 0;
        Ok(())
    }
}

/// Makes room in a buffer: a small one doubles, a large one grows by an eighth.
pub(crate) fn make_room(buffer: &mut Vec<u8>, bytes: usize) {
    let (len, capacity) = (buffer.len(), buffer.capacity());
    if capacity - len < bytes {
        let gently = (capacity + capacity / 8).max(DOUBLING_BYTES_MAX).min(2 * capacity);
        buffer.reserve_exact(bytes.max(gently - len));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mattock_env::{Random, SimFiles};
    use std::path::Path;

    fn disk() -> (SimFiles, Files) {
        let sim = SimFiles::new(Random::from_seed(1));
        (sim.clone(), Files::simulated(sim))
    }

    fn spills(files: &Files) -> Spills {
        files.create_dir_all(Path::new("/state")).unwrap();
        Spills::new(files, PathBuf::from("/state/spill"))
    }

    /// Reads `pieces` pieces of a body, each filled with its number, as a connection does. The spill and the buffer.
    fn read(spills: &Spills, pieces: u8, mut before: impl FnMut(u8)) -> (Spill, Vec<u8>) {
        let (mut spill, mut buffer) = (Spill::default(), b"HEAD".to_vec());
        for piece in 0..pieces {
            before(piece);
            make_room(&mut buffer, 100_000);
            buffer.extend_from_slice(&[piece; 100_000]);
            let end = buffer.len();
            spill.relieve(Some(spills), &mut buffer, 4..end);
        }
        (spill, buffer)
    }

    fn assert_whole(mut spill: Spill, mut buffer: Vec<u8>, pieces: u8) {
        spill.restore(&mut buffer, 4).unwrap();
        assert_eq!((&buffer[..4], buffer.len()), (&b"HEAD"[..], 4 + 100_000 * usize::from(pieces)));
        for piece in 0..pieces {
            let at = 4 + 100_000 * usize::from(piece);
            assert!(buffer[at..at + 100_000].iter().all(|byte| *byte == piece), "{piece}");
        }
    }

    #[test]
    fn little_is_held_and_all_of_it_comes_back() {
        let (sim, files) = disk();
        let spills = spills(&files);
        let (spill, buffer) = read(&spills, 21, |_| {});
        assert_eq!(spill.len, 2_000_000);
        assert!(buffer.capacity() < HELD_BYTES_MAX + 200_000);
        assert!(sim.snapshot().is_empty(), "it has no name");
        assert_whole(spill, buffer, 21);
        let (spill, buffer) = read(&spills, 1, |_| {});
        assert_eq!(spill.len, 0);
        assert_whole(spill, buffer, 1);
    }

    #[test]
    fn what_the_disk_does_not_take_stays_in_memory() {
        let (sim, files) = disk();
        let spills = spills(&files);
        // The first file, the second write to it, all the rest.
        for fails in [0, 5, 12] {
            let (spill, buffer) = read(&spills, 20, |piece| {
                if piece == fails {
                    sim.fail_at(sim.operations(), mattock_env::Fault::Io);
                }
            });
            assert!(spill.len < 2_000_000);
            assert_whole(spill, buffer, 20);
        }
        sim.set_capacity(Some(DISK_SPARE_BYTES - 1));
        let (spill, buffer) = read(&spills, 20, |_| {});
        assert_eq!(spill.len, 0);
        assert_whole(spill, buffer, 20);
    }

    #[test]
    fn what_cannot_be_read_back_is_an_error_and_what_was_left_behind_is_removed() {
        let (sim, files) = disk();
        let (mut spill, mut buffer) = read(&spills(&files), 20, |_| {});
        sim.kill();
        assert!(spill.restore(&mut buffer, 4).is_err());
        files.open(Path::new("/state/spill/7"), OpenMode::CreateNew).unwrap();
        spills(&files);
        assert_eq!(files.entry(Path::new("/state/spill")).unwrap(), None);
    }
}
