//! Writes a segment from instances in order. See the [module](super) for the form of the file.

use std::path::{Path, PathBuf};

use mattock_codec::{checksum, put_counted, put_varint};
use mattock_env::Files;

use super::record::folded;
use super::{BLOCK_BYTES, MAGIC};
use crate::error::{FeaturesError, Result};
use crate::output::Output;
use crate::sort::texts::shared_len;

/// Segments are read a few times and kept for long.
const LEVEL: i32 = 3;

pub(super) struct SegmentWriter {
    files: Files,
    path: PathBuf,
    /// The name until it is whole; none for what need not outlive this process.
    unfinished: Option<PathBuf>,
    output: Output,
    compressor: zstd::bulk::Compressor<'static>,
    block: Vec<u8>,
    before: Vec<u8>,
    instances: u64,
}

impl SegmentWriter {
    /// One that will be kept.
    pub(super) fn create(files: &Files, path: &Path, recipe: &str) -> Result<SegmentWriter> {
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(".tmp");
        let unfinished = path.with_file_name(name);
        let output = Output::create(files, &unfinished)?;
        SegmentWriter::begin(files, path, Some(unfinished), output, recipe)
    }

    /// One for this process alone.
    pub(super) fn create_scratch(files: &Files, path: &Path) -> Result<SegmentWriter> {
        SegmentWriter::begin(files, path, None, Output::create(files, path)?, "")
    }

    fn begin(
        files: &Files,
        path: &Path,
        unfinished: Option<PathBuf>,
        output: Output,
        recipe: &str,
    ) -> Result<SegmentWriter> {
        output.put(&MAGIC)?;
        let sum = checksum(0, output.at(), &[recipe.as_bytes()]);
        output.put(&length(recipe.as_bytes()).to_le_bytes())?;
        output.put(&sum.to_le_bytes())?;
        output.put(recipe.as_bytes())?;
        let compressor = zstd::bulk::Compressor::new(LEVEL).map_err(FeaturesError::io(path))?;
        let (files, path, block, before) = (files.clone(), path.to_path_buf(), Vec::new(), Vec::new());
        Ok(SegmentWriter { files, path, unfinished, output, compressor, block, before, instances: 0 })
    }

    /// Appends an instance, whose key is greater than all before.
    pub(super) fn put(&mut self, key: &[u8], time_ms: i64, body: &[u8]) -> Result<()> {
        let shared = shared_len(&self.before, key);
        put_varint(&mut self.block, shared as u64);
        put_counted(&mut self.block, &key[shared..]);
        put_varint(&mut self.block, folded(time_ms));
        put_counted(&mut self.block, body);
        self.before.truncate(shared);
        self.before.extend_from_slice(&key[shared..]);
        self.instances += 1;
        if self.block.len() >= BLOCK_BYTES { self.end_block() } else { Ok(()) }
    }

    fn end_block(&mut self) -> Result<()> {
        let packed = self.compressor.compress(&self.block).map_err(FeaturesError::io(&self.path))?;
        let lengths = [length(&packed).to_le_bytes(), length(&self.block).to_le_bytes()].concat();
        let sum = checksum(0, self.output.at(), &[&lengths, &packed]);
        self.output.put(&lengths)?;
        self.output.put(&sum.to_le_bytes())?;
        self.output.put(&packed)?;
        self.block.clear();
        self.before.clear();
        Ok(())
    }

    /// Ends the file, and gives it its name; how many instances are in it.
    pub(super) fn finish(mut self, unreadable: u64) -> Result<u64> {
        if !self.block.is_empty() {
            self.end_block()?;
        }
        let counts = [self.instances.to_le_bytes(), unreadable.to_le_bytes()].concat();
        self.output.put(&counts)?;
        self.output.put(&crc32fast::hash(&counts).to_le_bytes())?;
        self.output.put(&MAGIC)?;
        match &self.unfinished {
            Some(unfinished) => {
                self.output.finish()?;
                self.files.rename(unfinished, &self.path).map_err(FeaturesError::io(&self.path))?;
                let parent = self.path.parent().unwrap_or(Path::new("."));
                self.files.sync_dir(parent).map_err(FeaturesError::io(parent))?;
            }
            None => drop(self.output.flush_only()?),
        }
        Ok(self.instances)
    }
}

fn length(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).expect("blocks are ended long before 4 GiB")
}
