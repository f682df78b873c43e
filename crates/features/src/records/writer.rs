//! Writes records in the order of ids. See the [module](super) for the form of the file.

use std::path::Path;

use mattock_env::Files;

use super::{BLOCK_RECORDS, Magic};
use crate::error::Result;
use crate::output::{Output, Written};

pub(crate) struct RecordWriter {
    output: Output,
    magic: Magic,
    width: usize,
    ids: u64,
    bits: Vec<u8>,
    block: Vec<u8>,
    checksums: Vec<u8>,
    count: u64,
}

impl RecordWriter {
    /// For records of `width` bytes, of some of `ids` ids.
    pub(crate) fn create(
        files: &Files,
        path: &Path,
        magic: Magic,
        width: usize,
        ids: u64,
    ) -> Result<RecordWriter> {
        let output = Output::create(files, path)?;
        output.put(&magic)?;
        let (bits, block) =
            (vec![0; ids.div_ceil(8) as usize], Vec::with_capacity(width * BLOCK_RECORDS as usize));
        Ok(RecordWriter { output, magic, width, ids, bits, block, checksums: Vec::new(), count: 0 })
    }

    /// Appends the record of an id, which must be greater than all before.
    pub(crate) fn push(&mut self, id: u64, record: &[u8]) -> Result<()> {
        debug_assert!(id < self.ids && record.len() == self.width, "records are of one width, ids in order");
        self.bits[(id / 8) as usize] |= 1 << (id % 8);
        self.block.extend_from_slice(record);
        self.count += 1;
        if self.count.is_multiple_of(BLOCK_RECORDS) { self.end_block() } else { Ok(()) }
    }

    fn end_block(&mut self) -> Result<()> {
        self.checksums.extend_from_slice(&crc32fast::hash(&self.block).to_le_bytes());
        self.output.put(&self.block)?;
        self.block.clear();
        Ok(())
    }

    /// Ends the file; how many records are in it.
    pub(crate) fn finish(mut self) -> Result<(u64, Written)> {
        if !self.block.is_empty() {
            self.end_block()?;
        }
        let mut tail = std::mem::take(&mut self.checksums);
        tail.extend_from_slice(&self.bits);
        tail.extend_from_slice(&(self.width as u32).to_le_bytes());
        tail.extend_from_slice(&self.count.to_le_bytes());
        tail.extend_from_slice(&self.ids.to_le_bytes());
        self.output.put(&tail)?;
        self.output.put(&crc32fast::hash(&tail).to_le_bytes())?;
        self.output.put(&self.magic)?;
        Ok((self.count, self.output.finish()?))
    }
}
