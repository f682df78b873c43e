//! Writing a run; see [`run`](crate::run) for the format.

use std::sync::Arc;

use mattock_env::{Block, PAGE_BYTES};

use crate::disk::{DataFile, Disk};
use crate::elias_fano::{self, Encoded};
use crate::error::Result;
use crate::run::{BLOCK_KEYS, HEADER_BYTES, Run, SLICE_BYTES, Slice};
use mattock_codec::{checksum, put_varint};

/// Bytes of values after which a block ends early.
const BLOCK_VALUE_BYTES: usize = 1 << 20;

/// Writes a run, bucket after bucket.
pub(crate) struct RunWriter {
    file: Arc<DataFile>,
    has_values: bool,
    slices: Vec<Slice>,
    bucket: u32,
    /// The current block.
    keys: Vec<u64>,
    lengths: Vec<u32>,
    values: Vec<u8>,
    encoded: Encoded,
    /// Bytes for the file: the page-aligned ones go when the block is full.
    block: Block,
    fill: usize,
    written: u64,
    total: u64,
}

impl RunWriter {
    pub(crate) fn new(
        disk: &Arc<Disk>,
        name: String,
        number: u64,
        has_values: bool,
        write_bytes: usize,
    ) -> RunWriter {
        RunWriter {
            file: DataFile::create(disk, name, number),
            has_values,
            slices: Vec::new(),
            bucket: 0,
            keys: Vec::with_capacity(BLOCK_KEYS),
            lengths: Vec::new(),
            values: Vec::new(),
            encoded: Encoded::default(),
            block: Block::new(write_bytes),
            fill: 0,
            written: 0,
            total: 0,
        }
    }

    pub(crate) fn file(&self) -> &Arc<DataFile> {
        &self.file
    }

    /// Keys so far.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Starts the next bucket.
    pub(crate) fn begin_bucket(&mut self) {
        self.bucket = self.slices.len() as u32;
        self.slices.push(Slice { offset: self.written + self.fill as u64, bytes: 0, keys: 0 });
    }

    /// Appends a key, larger than the last of this bucket, and the bytes of its value.
    #[inline]
    pub(crate) fn push(&mut self, key: u64, value: &[u8]) -> Result<()> {
        self.keys.push(key);
        if self.has_values {
            self.lengths.push(value.len() as u32);
            self.values.extend_from_slice(value);
        }
        if self.keys.len() == BLOCK_KEYS || self.values.len() >= BLOCK_VALUE_BYTES {
            self.end_block()?;
        }
        Ok(())
    }

    /// Ends the bucket.
    pub(crate) fn end_bucket(&mut self) -> Result<()> {
        self.end_block()?;
        let end = self.written + self.fill as u64;
        if let Some(slice) = self.slices.last_mut() {
            slice.bytes = end - slice.offset;
        }
        Ok(())
    }

    fn end_block(&mut self) -> Result<()> {
        let Some(first) = self.keys.first().copied() else { return Ok(()) };
        let count = self.keys.len();
        if let Some(slice) = self.slices.last_mut() {
            slice.keys += count as u64;
        }
        self.total += count as u64;
        elias_fano::encode(&self.keys, &mut self.encoded);
        let mut body =
            Vec::with_capacity(8 * (self.encoded.low.len() + self.encoded.high.len()) + self.values.len());
        for word in self.encoded.low.iter().chain(&self.encoded.high) {
            body.extend_from_slice(&word.to_le_bytes());
        }
        let before = body.len();
        if self.has_values {
            let fixed = self.lengths.iter().all(|len| *len == self.lengths[0]);
            body.push(u8::from(fixed));
            for len in if fixed { &self.lengths[..1] } else { &self.lengths[..] } {
                put_varint(&mut body, u64::from(*len));
            }
            body.extend_from_slice(&self.values);
        }
        let numbers = [
            count as u32,
            self.bucket,
            self.encoded.low_bits,
            self.encoded.high.len() as u32,
            (body.len() - before) as u32,
            0,
        ];
        let mut header = [0; HEADER_BYTES];
        for (place, number) in header.chunks_exact_mut(4).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        header[24..].copy_from_slice(&first.to_le_bytes());
        let offset = self.written + self.fill as u64;
        let sum = checksum(self.file.number(), offset, &[&header[..20], &header[24..], &body]);
        header[20..24].copy_from_slice(&sum.to_le_bytes());
        self.keys.clear();
        self.lengths.clear();
        self.values.clear();
        self.append(&header)?;
        self.append(&body)
    }

    fn append(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let count = bytes.len().min(self.block.len() - self.fill);
            self.block[self.fill..self.fill + count].copy_from_slice(&bytes[..count]);
            self.fill += count;
            bytes = &bytes[count..];
            if self.fill == self.block.len() {
                self.file.write(&self.block, self.written)?;
                self.written += self.fill as u64;
                self.fill = 0;
            }
        }
        Ok(())
    }

    /// Writes the directory and makes the file durable.
    pub(crate) fn finish(mut self) -> Result<Run> {
        let directory = self.written + self.fill as u64;
        let mut table = Vec::with_capacity(self.slices.len() * SLICE_BYTES + 4);
        for slice in &self.slices {
            for number in [slice.offset, slice.bytes, slice.keys] {
                table.extend_from_slice(&number.to_le_bytes());
            }
        }
        let sum = checksum(self.file.number(), directory, &[&table]);
        table.extend_from_slice(&sum.to_le_bytes());
        self.append(&table)?;
        let end = self.fill.next_multiple_of(PAGE_BYTES);
        self.block[self.fill..end].fill(0);
        if end > 0 {
            self.file.write(&self.block[..end], self.written)?;
        }
        self.file.sync()?;
        Ok(Run::new(self.file, self.slices, directory))
    }
}
