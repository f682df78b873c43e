//! Writes the URL database from keys in order. See the [module](super) for the form of the file.

use std::path::Path;

use mattock_codec::{put_counted, put_varint};
use mattock_env::Files;

use super::{BLOCK_URLS, MAGIC};
use crate::error::{FeaturesError, Result};
use crate::output::{Output, Written};
use crate::sort::texts::shared_len;

/// Blocks are small and written once: it pays to try hard.
const LEVEL: i32 = 12;

pub(crate) struct UrlWriter {
    output: Output,
    compressor: zstd::bulk::Compressor<'static>,
    path: std::path::PathBuf,
    count: u64,
    last: Vec<u8>,
    /// The block that is filled: shared lengths, lengths of rests, rests.
    parts: [Vec<u8>; 3],
    separator: Vec<u8>,
    separator_before: Vec<u8>,
    index: Vec<u8>,
}

impl UrlWriter {
    pub(crate) fn create(files: &Files, path: &Path) -> Result<UrlWriter> {
        let output = Output::create(files, path)?;
        output.put(&MAGIC)?;
        let mut compressor = zstd::bulk::Compressor::new(LEVEL).map_err(FeaturesError::io(path))?;
        compressor.include_contentsize(false).map_err(FeaturesError::io(path))?;
        let (last, separator, separator_before, index) = Default::default();
        let parts = Default::default();
        let path = path.to_path_buf();
        Ok(UrlWriter { output, compressor, path, count: 0, last, parts, separator, separator_before, index })
    }

    /// Appends a key, which must be greater than all before; its id.
    pub(crate) fn push(&mut self, key: &[u8]) -> Result<u64> {
        debug_assert!(self.count == 0 || key > self.last.as_slice(), "keys come in order");
        let shared = shared_len(&self.last, key);
        if self.count.is_multiple_of(BLOCK_URLS) {
            self.end_block()?;
            self.separator.clear();
            self.separator.extend_from_slice(&key[..key.len().min(shared + 1)]);
            self.put(0, key);
        } else {
            self.put(shared, &key[shared..]);
        }
        self.last.truncate(shared);
        self.last.extend_from_slice(&key[shared..]);
        self.count += 1;
        Ok(self.count - 1)
    }

    fn put(&mut self, shared: usize, rest: &[u8]) {
        put_varint(&mut self.parts[0], shared as u64);
        put_varint(&mut self.parts[1], rest.len() as u64);
        self.parts[2].extend_from_slice(rest);
    }

    fn end_block(&mut self) -> Result<()> {
        if self.parts[0].is_empty() {
            return Ok(());
        }
        let block = self.parts.concat();
        let packed = self.compressor.compress(&block).map_err(FeaturesError::io(&self.path))?;
        put_varint(&mut self.index, packed.len() as u64);
        put_varint(&mut self.index, block.len() as u64);
        self.index.extend_from_slice(&crc32fast::hash(&packed).to_le_bytes());
        let shared = shared_len(&self.separator_before, &self.separator);
        put_varint(&mut self.index, shared as u64);
        put_counted(&mut self.index, &self.separator[shared..]);
        self.output.put(&packed)?;
        std::mem::swap(&mut self.separator, &mut self.separator_before);
        self.parts.iter_mut().for_each(Vec::clear);
        Ok(())
    }

    /// Ends the file.
    pub(crate) fn finish(mut self) -> Result<(u64, Written)> {
        self.end_block()?;
        let index_at = self.output.at();
        self.output.put(&self.index)?;
        self.output.put(&index_at.to_le_bytes())?;
        self.output.put(&self.count.to_le_bytes())?;
        self.output.put(&crc32fast::hash(&self.index).to_le_bytes())?;
        self.output.put(&MAGIC)?;
        Ok((self.count, self.output.finish()?))
    }
}
