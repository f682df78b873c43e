//! Segments: files of blocks of one queue, one behind the other.
//!
//! A segment begins with a page that says what it is, and grows at its end until it is full; nothing in it changes. Its
//! file is made by the first write. Places are given before the writing, so blocks may be written in any order, by the
//! writer's lane, by a checkpoint, or again by whoever finds that a write failed.
//!
//! ```text
//! "MTKQSEG1", number u64, queue u32, checksum u32, zeros to the page's end │ block │ block │ …
//! ```

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mattock_env::{Block, File, Files, OpenMode, PAGE_BYTES};

use crate::block::{HEADER_BYTES, Identity, Records};
use crate::error::{QueueError, Result};
use mattock_codec::checksum;

const MAGIC: &[u8; 8] = b"MTKQSEG1";
/// Where the first block of a segment stands.
pub(crate) const FIRST_BLOCK: u64 = PAGE_BYTES as u64;
/// Buffers that are kept: one each for the writer, a checkpoint and the reader.
const SCRATCH_MAX: usize = 3;

/// The directory, every byte that is moved, and buffers to move them by.
#[derive(Debug)]
pub(crate) struct Disk {
    pub(crate) files: Files,
    pub(crate) dir: PathBuf,
    read_bytes: AtomicU64,
    written_bytes: AtomicU64,
    scratch: Mutex<Vec<Block>>,
}

impl Disk {
    pub(crate) fn new(files: Files, dir: &Path) -> Arc<Disk> {
        Arc::new(Disk {
            files,
            dir: dir.into(),
            read_bytes: AtomicU64::new(0),
            written_bytes: AtomicU64::new(0),
            scratch: Mutex::default(),
        })
    }

    pub(crate) fn read_bytes(&self) -> u64 {
        self.read_bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn written_bytes(&self) -> u64 {
        self.written_bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn count_written(&self, bytes: usize) {
        self.written_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Removes a file; one that stays for some reason is removed when the queues are next opened.
    pub(crate) fn remove(&self, name: &str) {
        drop(self.files.remove_file(&self.dir.join(name)));
    }

    /// A buffer of at least this length, with anything in it.
    pub(crate) fn buffer(&self, bytes: usize) -> Block {
        let mut scratch = lock(&self.scratch);
        match scratch.iter().position(|block| block.len() >= bytes) {
            Some(index) => scratch.swap_remove(index),
            None => Block::new(bytes),
        }
    }

    pub(crate) fn give_back(&self, block: Block) {
        let mut scratch = lock(&self.scratch);
        if scratch.len() < SCRATCH_MAX {
            scratch.push(block);
        }
    }
}

/// Locks, whatever happened to others who did.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn name(number: u64) -> String {
    format!("segment-{number:08}")
}

/// The file of a segment.
#[derive(Debug)]
pub(crate) struct SegmentFile {
    pub(crate) disk: Arc<Disk>,
    pub(crate) number: u64,
    pub(crate) queue: u32,
    /// No block in it is longer on disk.
    pub(crate) stored_max: usize,
    path: PathBuf,
    /// Bytes that are known to be durable.
    synced: AtomicU64,
    handle: Mutex<Handle>,
}

#[derive(Debug, Default)]
struct Handle {
    file: Option<Arc<File>>,
    /// Whether its first page is there.
    begun: bool,
    /// Once it is removed, nothing may bring it back.
    removed: bool,
}

impl SegmentFile {
    /// A segment to be written, or one of which so many bytes are there and durable.
    pub(crate) fn new(
        disk: &Arc<Disk>,
        number: u64,
        queue: u32,
        stored_max: usize,
        durable: u64,
    ) -> SegmentFile {
        SegmentFile {
            disk: Arc::clone(disk),
            number,
            queue,
            stored_max,
            path: disk.dir.join(name(number)),
            synced: AtomicU64::new(durable),
            handle: Mutex::new(Handle { begun: durable > 0, ..Handle::default() }),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn error(&self, offset: u64) -> impl Fn(std::io::Error) -> QueueError + '_ {
        move |error| QueueError::io(&self.path, offset, error)
    }

    fn head(&self) -> [u8; 24] {
        let mut head = [0; 24];
        head[..8].copy_from_slice(MAGIC);
        head[8..16].copy_from_slice(&self.number.to_le_bytes());
        head[16..20].copy_from_slice(&self.queue.to_le_bytes());
        let sum = checksum(self.number, 0, &[&head[..20]]);
        head[20..].copy_from_slice(&sum.to_le_bytes());
        head
    }

    /// The file to write to; `None` if it was removed meanwhile.
    pub(crate) fn for_writing(&self) -> Result<Option<Arc<File>>> {
        let mut handle = lock(&self.handle);
        if handle.removed {
            return Ok(None);
        }
        if let Some(file) = &handle.file {
            return Ok(Some(Arc::clone(file)));
        }
        let file = if handle.begun {
            self.disk.files.open_direct(&self.path, OpenMode::Write).map_err(self.error(0))?
        } else {
            self.disk
                .files
                .create_dir_all(&self.disk.dir)
                .and_then(|()| self.disk.files.open_direct(&self.path, OpenMode::CreateOrTruncate))
                .map_err(self.error(0))?
        };
        if !handle.begun {
            let mut page = Block::new(PAGE_BYTES);
            page[..24].copy_from_slice(&self.head());
            file.write_all_at(&page, 0).map_err(self.error(0))?;
            self.disk.count_written(PAGE_BYTES);
            handle.begun = true;
        }
        Ok(Some(Arc::clone(handle.file.insert(Arc::new(file)))))
    }

    fn for_reading(&self) -> Result<Arc<File>> {
        let mut handle = lock(&self.handle);
        if let Some(file) = &handle.file {
            return Ok(Arc::clone(file));
        }
        let file = self.disk.files.open_direct(&self.path, OpenMode::Read).map_err(self.error(0))?;
        let mut page = Block::new(PAGE_BYTES);
        file.read_exact_at(&mut page, 0).map_err(self.error(0))?;
        if page[..7] == MAGIC[..7] && page[7] != MAGIC[7] {
            let version = char::from(page[7]);
            return Err(QueueError::UnknownVersion { path: self.path.clone(), version });
        }
        if page[..24] != self.head() {
            return Err(QueueError::corrupt(&self.path, 0, "this is not the beginning of this segment"));
        }
        Ok(Arc::clone(handle.file.insert(Arc::new(file))))
    }

    /// Opens the file, damaged as it may be, and whatever its first page says; how many of so many bytes are there.
    pub(crate) fn open_leniently(&self, bytes: u64) -> Result<u64> {
        let there = self.disk.files.entry(&self.path).map_err(self.error(0))?;
        if there.is_some_and(|entry| entry.len >= FIRST_BLOCK) {
            match self.for_reading() {
                Err(error) if error.is_loss() => {}
                opened => drop(opened?),
            }
        }
        let file = &mut lock(&self.handle).file;
        if file.is_none() {
            match self.disk.files.open_direct(&self.path, OpenMode::Read) {
                Err(error) if mattock_env::is_loss(&error) => return Ok(0),
                opened => *file = Some(Arc::new(opened.map_err(self.error(0))?)),
            }
        }
        file.as_ref().map_or(Ok(0), |file| file.len()).map(|len| len.min(bytes)).map_err(self.error(0))
    }

    /// Reads the block at `offset` in a file that is `end` bytes long; and its length on disk.
    pub(crate) fn read(&self, sequence: u64, offset: u64, end: u64) -> Result<(Records, u64)> {
        let (buffer, filled) = self.load(offset, end)?;
        let identity = Identity { queue: self.queue, sequence };
        let decoded = Records::decode(identity, self.number, offset, &buffer[..filled]);
        self.disk.give_back(buffer);
        let records = decoded.map_err(|what| QueueError::corrupt(&self.path, offset, what))?;
        let stored = records.stored_bytes() as u64;
        Ok((records, stored))
    }

    /// Reads whichever block is there, and tells where behind it a byte is not zero that should be.
    pub(crate) fn read_any(&self, offset: u64, end: u64) -> Result<(u64, Records, Option<u64>)> {
        let (buffer, filled) = self.load(offset, end)?;
        let decoded = Records::decode_any(self.number, offset, &buffer[..filled]);
        let checked = decoded.map(|(identity, records)| {
            let used = HEADER_BYTES + records.bytes.len();
            let padding = buffer[used..records.stored_bytes().min(filled)].iter();
            let place = padding.copied().position(|byte| byte != 0);
            (identity, records, place.map(|place| offset + (used + place) as u64))
        });
        self.disk.give_back(buffer);
        let corrupt = |what| QueueError::corrupt(&self.path, offset, what);
        let (identity, records, place) = checked.map_err(corrupt)?;
        if identity.queue != self.queue {
            return Err(corrupt("a block of another queue"));
        }
        Ok((identity.sequence, records, place))
    }

    /// Checks the first page, and tells where a byte of it is not zero that should be.
    pub(crate) fn verify_head(&self) -> Result<Option<u64>> {
        let mut page = Block::new(PAGE_BYTES);
        self.for_reading()?.read_exact_at(&mut page, 0).map_err(self.error(0))?;
        Ok(page[24..].iter().position(|byte| *byte != 0).map(|place| 24 + place as u64))
    }

    /// Reads what may be a block; and how much that was.
    fn load(&self, offset: u64, end: u64) -> Result<(Block, usize)> {
        let file = self.for_reading()?;
        let wanted = usize::try_from(end.saturating_sub(offset)).unwrap_or(usize::MAX).min(self.stored_max);
        let mut buffer = self.disk.buffer(wanted.max(PAGE_BYTES));
        // Behind the block there may be one that is not written yet, so the file may end before.
        let mut filled = 0;
        while filled < wanted && filled.is_multiple_of(PAGE_BYTES) {
            match file.read_at(&mut buffer[filled..wanted], offset + filled as u64) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.error(offset)(error)),
            }
        }
        self.disk.read_bytes.fetch_add(filled as u64, Ordering::Relaxed);
        Ok((buffer, filled))
    }

    /// Makes the first `bytes`, which are written, durable.
    pub(crate) fn sync(&self, bytes: u64) -> Result<()> {
        if self.synced.load(Ordering::Acquire) >= bytes {
            return Ok(());
        }
        if let Some(file) = self.for_writing()? {
            file.sync().map_err(self.error(0))?;
        }
        self.synced.fetch_max(bytes, Ordering::AcqRel);
        Ok(())
    }

    /// Gives the descriptor back; the next use opens it again.
    pub(crate) fn close(&self) {
        lock(&self.handle).file = None;
    }

    /// Removes the file for good.
    pub(crate) fn remove(&self) {
        let mut handle = lock(&self.handle);
        handle.removed = true;
        handle.file = None;
        drop(self.disk.files.remove_file(&self.path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::Write;
    use mattock_env::{Random, SimFiles};

    #[test]
    fn a_write_that_comes_too_late_brings_no_file_back() {
        let files = SimFiles::new(Random::from_seed(1));
        let disk = Disk::new(Files::simulated(files.clone()), Path::new("/crawl"));
        for written_before in [false, true] {
            let file = Arc::new(SegmentFile::new(&disk, 1, 0, 2 * PAGE_BYTES, 0));
            let mut records = Records::default();
            records.append(b"http://example.org/");
            let records = Arc::new(records);
            if written_before {
                Write::new(&file, 0, FIRST_BLOCK, &records).perform().unwrap();
                assert_eq!(files.snapshot().len(), 1);
            }
            let late = Write::new(&file, 1, 2 * FIRST_BLOCK, &records);
            file.remove();
            late.perform().unwrap();
            assert!(late.is_written() && files.snapshot().is_empty());
        }
    }

    #[test]
    fn a_block_is_read_only_from_its_own_segment_and_place() {
        let disk = Disk::new(Files::simulated(SimFiles::new(Random::from_seed(1))), Path::new("/crawl"));
        let file = Arc::new(SegmentFile::new(&disk, 7, 3, 2 * PAGE_BYTES, 0));
        let mut records = Records::default();
        records.append(b"http://example.org/");
        let write = Write::new(&file, 40, FIRST_BLOCK, &Arc::new(records));
        assert!(!write.is_written() && !write.has_failed());
        write.perform().unwrap();
        let end = 2 * FIRST_BLOCK;
        let (read, stored) = file.read(40, FIRST_BLOCK, end).unwrap();
        assert_eq!((read.at(0).unwrap().0, stored), (&b"http://example.org/"[..], FIRST_BLOCK));
        assert!(matches!(file.read(41, FIRST_BLOCK, end), Err(QueueError::Corrupt { offset: 4096, .. })));
        assert!(matches!(file.read(40, end, 2 * end), Err(QueueError::Corrupt { offset: 8192, .. })));
        let other_queue = SegmentFile::new(&disk, 7, 4, 2 * PAGE_BYTES, end);
        assert!(matches!(other_queue.read(40, FIRST_BLOCK, end), Err(QueueError::Corrupt { offset: 0, .. })));
    }
}
