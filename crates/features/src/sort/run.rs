//! A sorted run on disk: blocks of bytes with their length and checksum before them.
//!
//! ```text
//! block = length u32, checksum u32 of (run, offset of the block, bytes), bytes
//! ```
//!
//! Records do not cross blocks, so a writer may code each block on its own.

use std::path::{Path, PathBuf};

use mattock_codec::checksum;
use mattock_env::{File, OpenMode};

use super::Scratch;
use crate::error::{FeaturesError, Result};
use crate::output::Output;

/// A block is begun anew when it has so many bytes.
pub(crate) const BLOCK_BYTES: usize = 64 << 10;
const HEAD_BYTES: usize = 8;

/// A run that is complete. Its file is removed with it.
#[derive(Debug)]
pub(crate) struct Run {
    scratch: Scratch,
    path: PathBuf,
    number: u64,
    bytes: u64,
}

impl Drop for Run {
    fn drop(&mut self) {
        // What stays is removed with the whole scratch directory.
        drop(self.scratch.files.remove_file(&self.path));
    }
}

pub(crate) struct RunWriter {
    scratch: Scratch,
    output: Output,
    path: PathBuf,
    number: u64,
}

impl RunWriter {
    pub(crate) fn create(scratch: &Scratch, name: &str, number: u64) -> Result<RunWriter> {
        let path = scratch.dir.join(format!("{name}-{number}.run"));
        let output = Output::create(&scratch.files, &path)?;
        Ok(RunWriter { scratch: scratch.clone(), output, path, number })
    }

    pub(crate) fn put(&mut self, block: &[u8]) -> Result<()> {
        let sum = checksum(self.number, self.output.at(), &[block]);
        let len = u32::try_from(block.len()).expect("blocks are begun anew long before 4 GiB");
        self.output.put(&len.to_le_bytes())?;
        self.output.put(&sum.to_le_bytes())?;
        self.output.put(block)
    }

    pub(crate) fn finish(self) -> Result<Run> {
        let bytes = self.output.flush_only()?;
        Ok(Run { scratch: self.scratch, path: self.path, number: self.number, bytes })
    }
}

/// Reads the blocks of a run, one after the other.
#[derive(Debug)]
pub(crate) struct RunReader {
    path: PathBuf,
    file: File,
    number: u64,
    at: u64,
    end: u64,
}

impl RunReader {
    pub(crate) fn open(run: &Run) -> Result<RunReader> {
        let file = run
            .scratch
            .files
            .open(&run.path, OpenMode::Read)
            .map_err(FeaturesError::reading(&run.path, 0))?;
        Ok(RunReader { path: run.path.clone(), file, number: run.number, at: 0, end: run.bytes })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    /// The next block; false at the end.
    pub(crate) fn next(&mut self, block: &mut Vec<u8>) -> Result<bool> {
        block.clear();
        if self.at >= self.end {
            return Ok(false);
        }
        let mut head = [0; HEAD_BYTES];
        self.read(&mut head, self.at)?;
        let [len, sum] = [&head[..4], &head[4..]]
            .map(|bytes| u32::from_le_bytes(bytes.try_into().expect("the head is cut into fours")));
        if u64::from(len) > self.end - self.at {
            return Err(FeaturesError::damaged(&self.path, self.at, "a block is longer than the file"));
        }
        block.resize(len as usize, 0);
        self.read(block, self.at + HEAD_BYTES as u64)?;
        if checksum(self.number, self.at, &[block]) != sum {
            return Err(FeaturesError::damaged(&self.path, self.at, "the checksum of a block is wrong"));
        }
        self.at += HEAD_BYTES as u64 + u64::from(len);
        Ok(true)
    }

    fn read(&self, buffer: &mut [u8], at: u64) -> Result<()> {
        self.file.read_exact_at(buffer, at).map_err(FeaturesError::reading(&self.path, at))
    }
}
