//! The log: auxiliary bytes of one generation in order of arrival.
//!
//! The producer appends a record per check; when the answers are known the log is read once, front to back, and the
//! records that the answers pick are delivered: order of arrival by construction, and one hot buffer where the paper has
//! one per bucket. Blocks wait in RAM until there are too many; those that were delivered meanwhile are never written.
//!
//! A record is `varint(aux bytes · 4 + kind)`, for [`KNOWN_DUPLICATE`] the counted value, then the auxiliary bytes. A block is
//! `index u32, records u32, payload bytes u32, checksum u32`, then records, none of which crosses its end.

use std::collections::VecDeque;
use std::sync::Arc;

use mattock_env::{Block, PAGE_BYTES};

use crate::disk::{DataFile, Disk};
use crate::error::{DrumError, Result};
use crate::generation::Tail;
use crate::writer::Writer;
use mattock_codec::{Reader, checksum, varint_len, write_varint};

pub(crate) const HEADER_BYTES: usize = 16;

/// The merge will tell.
pub(crate) const UNRESOLVED: u64 = 0;
/// Known to be new when it was submitted.
pub(crate) const KNOWN_UNIQUE: u64 = 1;
/// Known to be stored, with this value.
pub(crate) const KNOWN_DUPLICATE: u64 = 2;

pub(crate) struct Log {
    file: Arc<DataFile>,
    block_bytes: usize,
    current: Block,
    fill: usize,
    current_records: u32,
    /// The number of the current block.
    index: u32,
    /// Full blocks that are not written, the oldest first; the last has number `index - 1`.
    waiting: VecDeque<Arc<Block>>,
    waiting_max: usize,
    records: u32,
    bytes: u64,
    /// Blocks before this one are delivered and need not be kept.
    released: u32,
    /// Whether any block was handed to the writer.
    has_file: bool,
}

impl Log {
    pub(crate) fn new(
        disk: &Arc<Disk>,
        name: String,
        number: u64,
        block_bytes: usize,
        waiting_max: usize,
    ) -> Log {
        Log {
            file: DataFile::create(disk, name, number),
            block_bytes,
            current: Block::new(block_bytes),
            fill: HEADER_BYTES,
            current_records: 0,
            index: 0,
            waiting: VecDeque::new(),
            waiting_max,
            records: 0,
            bytes: 0,
            released: 0,
            has_file: false,
        }
    }

    pub(crate) fn records(&self) -> u32 {
        self.records
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn file(&self) -> &Arc<DataFile> {
        &self.file
    }

    /// Whether anything is in its file, or on the way there.
    pub(crate) fn has_file(&self) -> bool {
        self.has_file
    }

    pub(crate) fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    /// Blocks in all, the unfinished one included.
    pub(crate) fn blocks(&self) -> u32 {
        self.index + 1
    }

    /// Blocks that are in the file or were delivered before they got there.
    pub(crate) fn written(&self) -> u32 {
        self.index - self.waiting.len() as u32
    }

    /// The largest record that fits.
    pub(crate) fn record_max(block_bytes: usize) -> usize {
        block_bytes - HEADER_BYTES - 16
    }

    /// Appends a record; its number. `value` only with [`KNOWN_DUPLICATE`].
    #[inline]
    pub(crate) fn append(&mut self, writer: &Writer, kind: u64, value: &[u8], aux: &[u8]) -> u32 {
        let head = (aux.len() as u64) << 2 | kind;
        let need = varint_len(head) + aux.len() + if kind == KNOWN_DUPLICATE { 10 + value.len() } else { 0 };
        if self.fill + need > self.block_bytes {
            self.finish_block(writer);
        }
        let mut at = write_varint(&mut self.current, self.fill, head);
        if kind == KNOWN_DUPLICATE {
            at = write_varint(&mut self.current, at, value.len() as u64);
            self.current[at..at + value.len()].copy_from_slice(value);
            at += value.len();
        }
        self.current[at..at + aux.len()].copy_from_slice(aux);
        at += aux.len();
        self.bytes += (at - self.fill) as u64;
        self.fill = at;
        self.current_records += 1;
        self.records += 1;
        self.records - 1
    }

    fn finish_block(&mut self, writer: &Writer) {
        let mut block = std::mem::replace(&mut self.current, writer.block(self.block_bytes));
        fill_header(&mut block, self.index, self.current_records, self.fill);
        (self.fill, self.current_records) = (HEADER_BYTES, 0);
        self.index += 1;
        self.waiting.push_back(Arc::new(block));
        self.drop_released();
        while self.waiting.len() > self.waiting_max {
            let index = self.index - self.waiting.len() as u32;
            if let Some(block) = self.waiting.pop_front() {
                // Only the delivery of this very moment could still hold it, and that does not outlive a call.
                let block = Arc::try_unwrap(block).unwrap_or_else(|shared| copy(&shared));
                let offset = u64::from(index) * self.block_bytes as u64;
                self.has_file = true;
                writer.write(&self.file, offset, block, self.block_bytes, seal);
            }
        }
    }

    /// Ends the appending: from now on all blocks are finished ones.
    pub(crate) fn seal(&mut self) {
        fill_header(&mut self.current, self.index, self.current_records, self.fill);
    }

    /// Blocks before `block` were delivered.
    pub(crate) fn release(&mut self, block: u32) {
        self.released = self.released.max(block);
        self.drop_released();
    }

    fn drop_released(&mut self) {
        while !self.waiting.is_empty() && self.written() < self.released {
            self.waiting.pop_front();
        }
    }

    /// A block that is in RAM, with the bytes of it in use.
    pub(crate) fn in_ram(&self, block: u32) -> Option<&[u8]> {
        if block == self.index {
            return Some(&self.current[..self.fill]);
        }
        let waiting = self.waiting.get(block.checked_sub(self.written())? as usize)?;
        Some(&waiting[..fill_of(waiting)])
    }

    /// A recipe for reading a block from the file, in any thread.
    pub(crate) fn reader(&self) -> LogReader {
        LogReader::new(&self.file, self.block_bytes)
    }

    /// About how much that is.
    pub(crate) fn tail_bytes(&self) -> usize {
        (self.waiting.len() + 1) * (self.block_bytes + 10)
    }

    /// What is in RAM only: from block [`written`](Log::written) on.
    pub(crate) fn write_tail(&self, out: &mut Tail) {
        for block in self.written()..self.blocks() {
            let used = self.in_ram(block).unwrap_or_default();
            out.put_counted(used.get(HEADER_BYTES..).unwrap_or_default());
        }
    }

    /// Opens a log again, to be read. `blocks` counts all, of which `written` are in the file.
    pub(crate) fn restore(
        mut self,
        disk: &Arc<Disk>,
        (blocks, written, records): (u32, u32, u32),
        tail: &mut Reader<'_>,
    ) -> Result<Log> {
        if written > 0 && disk.files.entry(self.file.path()).is_ok_and(|entry| entry.is_some()) {
            // If all blocks were delivered before they were written, there is no file, and none is needed.
            self.file = DataFile::open(disk, self.file.name().to_owned(), self.file.number())?;
            self.has_file = true;
        }
        self.records = records;
        for index in written..blocks {
            let payload = tail.counted().ok_or_else(|| {
                DrumError::corrupt(self.file.path(), 0, "the tail of the log cannot be read")
            })?;
            let mut block = Block::new(HEADER_BYTES + payload.len());
            let fill = HEADER_BYTES + payload.len();
            block[HEADER_BYTES..fill].copy_from_slice(payload);
            fill_header(&mut block, index, 0, fill);
            if index + 1 == blocks {
                (self.current, self.fill) = (block, fill);
            } else {
                self.waiting.push_back(Arc::new(block));
            }
        }
        self.index = blocks.saturating_sub(1);
        Ok(self)
    }
}

fn copy(block: &Block) -> Block {
    let mut copied = Block::new(block.len());
    copied.copy_from_slice(block);
    copied
}

fn fill_of(block: &[u8]) -> usize {
    HEADER_BYTES + u32::from_le_bytes([block[8], block[9], block[10], block[11]]) as usize
}

fn fill_header(block: &mut [u8], index: u32, records: u32, fill: usize) {
    block[..4].copy_from_slice(&index.to_le_bytes());
    block[4..8].copy_from_slice(&records.to_le_bytes());
    block[8..12].copy_from_slice(&((fill - HEADER_BYTES) as u32).to_le_bytes());
}

fn seal(block: &mut [u8], file: u64, offset: u64) {
    let sum = checksum(file, offset, &[&block[..12], &block[HEADER_BYTES..]]);
    block[12..HEADER_BYTES].copy_from_slice(&sum.to_le_bytes());
}

/// How many records a block has from a place on; `None` if they cannot be told apart.
pub(crate) fn count_records(block: &[u8], start: usize) -> Option<u32> {
    let mut reader = Reader::new(block.get(start..)?);
    let mut count = 0;
    while !reader.is_empty() {
        read_record(&mut reader)?;
        count += 1;
    }
    Some(count)
}

/// The next record: its kind and its auxiliary bytes.
pub(crate) fn read_record<'a>(reader: &mut Reader<'a>) -> Option<(u64, &'a [u8])> {
    let head = reader.varint()?;
    if head & 3 == KNOWN_DUPLICATE {
        reader.counted()?;
    }
    Some((head & 3, reader.take((head >> 2) as usize)?))
}

/// Reads blocks of a log's file.
#[derive(Clone)]
pub(crate) struct LogReader {
    file: Arc<DataFile>,
    block_bytes: usize,
}

impl LogReader {
    pub(crate) fn new(file: &Arc<DataFile>, block_bytes: usize) -> LogReader {
        LogReader { file: Arc::clone(file), block_bytes }
    }

    /// How many records a block says that it has; it may be damaged.
    pub(crate) fn header_records(&self, index: u32) -> Option<u32> {
        let mut page = Block::new(PAGE_BYTES);
        self.file.read(&mut page, u64::from(index) * self.block_bytes as u64).ok()?;
        let mut header = Reader::new(&page);
        let (of, records) = (header.u32()?, header.u32()?);
        (of == index && fill_of(&page) <= self.block_bytes).then_some(records)
    }

    /// A block, and how many bytes of it are in use.
    pub(crate) fn read(&self, index: u32) -> Result<(Block, usize)> {
        let mut block = Block::new(self.block_bytes);
        debug_assert!(self.block_bytes.is_multiple_of(PAGE_BYTES));
        let offset = u64::from(index) * self.block_bytes as u64;
        self.file.read(&mut block, offset)?;
        let sum = checksum(self.file.number(), offset, &[&block[..12], &block[HEADER_BYTES..]]);
        let fill = fill_of(&block);
        if block[12..HEADER_BYTES] != sum.to_le_bytes() || fill > self.block_bytes {
            return Err(DrumError::corrupt(
                self.file.path(),
                offset,
                "a block of the log fails its checksum",
            ));
        }
        Ok((block, fill))
    }
}
