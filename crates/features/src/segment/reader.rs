//! Reads a segment from front to back. See the [module](super) for the form of the file.

use std::ops::Range;
use std::path::{Path, PathBuf};

use mattock_codec::{Reader, checksum};
use mattock_env::{File, Files, OpenMode};

use super::record::unfolded;
use super::{BLOCK_HEAD_BYTES, FOOTER_BYTES, MAGIC};
use crate::error::{FeaturesError, Result};
use crate::sort::merge::Source;

/// What a segment says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// How it was gathered.
    pub recipe: String,
    /// How many instances are in it, each of another URL.
    pub instances: u64,
    /// Documents that could not be read while it was gathered: they count as pages without links.
    pub unreadable: u64,
    /// Bytes of the file.
    pub bytes: u64,
}

/// Reads the ends of a segment only.
pub fn read_summary(files: &Files, path: &Path) -> Result<Summary> {
    open(files, path).map(|(_, summary, _)| summary)
}

/// The file, what it says of itself, and where its blocks are.
fn open(files: &Files, path: &Path) -> Result<(File, Summary, Range<u64>)> {
    let file = files.open(path, OpenMode::Read).map_err(FeaturesError::reading(path, 0))?;
    let bytes = file.len().map_err(FeaturesError::io(path))?;
    let damaged = |offset, what| FeaturesError::damaged(path, offset, what);
    let mut head = [0; 16];
    file.read_exact_at(&mut head, 0).map_err(FeaturesError::reading(path, 0))?;
    if head[..8] != MAGIC {
        return Err(match head[..7] == MAGIC[..7] {
            true => FeaturesError::Version { path: path.into(), version: char::from(head[7]).into() },
            false => damaged(0, "it is no segment"),
        });
    }
    let end = bytes.checked_sub(FOOTER_BYTES).ok_or_else(|| damaged(bytes, "the file ends too soon"))?;
    let mut footer = [0; FOOTER_BYTES as usize];
    file.read_exact_at(&mut footer, end).map_err(FeaturesError::reading(path, end))?;
    if footer[20..] != MAGIC || crc32fast::hash(&footer[..16]).to_le_bytes() != footer[16..20] {
        return Err(damaged(end, "its end is not that of a segment"));
    }
    let mut fields = Reader::new(&head[8..]);
    let (length, sum) = fields.u32().zip(fields.u32()).expect("the head has room for its fields");
    let start = 16 + u64::from(length);
    if start > end {
        return Err(damaged(8, "its recipe is longer than the file"));
    }
    let mut recipe = vec![0; length as usize];
    file.read_exact_at(&mut recipe, 16).map_err(FeaturesError::reading(path, 16))?;
    let recipe = String::from_utf8(recipe).ok().filter(|recipe| checksum(0, 8, &[recipe.as_bytes()]) == sum);
    let recipe = recipe.ok_or_else(|| damaged(16, "the checksum of its recipe is wrong"))?;
    let mut fields = Reader::new(&footer);
    let (instances, unreadable) = fields.u64().zip(fields.u64()).expect("the footer has room for its fields");
    Ok((file, Summary { recipe, instances, unreadable, bytes }, start..end))
}

/// Stands at an instance, or at the end.
pub(super) struct SegmentReader {
    path: PathBuf,
    file: File,
    /// Where the next block begins, and where there is none.
    blocks: Range<u64>,
    decompressor: zstd::bulk::Decompressor<'static>,
    packed: Vec<u8>,
    block: Vec<u8>,
    at: usize,
    /// Instances that were not read yet.
    left: u64,
    done: bool,
    key: Vec<u8>,
    time_ms: i64,
    body: Range<usize>,
}

impl SegmentReader {
    pub(super) fn open(files: &Files, path: &Path) -> Result<SegmentReader> {
        let (file, summary, blocks) = open(files, path)?;
        let mut reader = SegmentReader {
            path: path.to_path_buf(),
            file,
            blocks,
            decompressor: zstd::bulk::Decompressor::new().map_err(FeaturesError::io(path))?,
            packed: Vec::new(),
            block: Vec::new(),
            at: 0,
            left: summary.instances,
            done: false,
            key: Vec::new(),
            time_ms: 0,
            body: 0..0,
        };
        reader.advance()?;
        Ok(reader)
    }

    /// Key, time and body of the instance that it stands at.
    pub(super) fn instance(&self) -> (&[u8], i64, &[u8]) {
        (&self.key, self.time_ms, &self.block[self.body.clone()])
    }

    fn damaged(&self, what: &str) -> FeaturesError {
        FeaturesError::damaged(&self.path, self.blocks.start, what)
    }

    /// Reads the next block; false at the end.
    fn next_block(&mut self) -> Result<bool> {
        if self.blocks.start == self.blocks.end {
            return Ok(false);
        }
        let mut head = [0; BLOCK_HEAD_BYTES as usize];
        let at = self.blocks.start;
        self.file.read_exact_at(&mut head, at).map_err(FeaturesError::reading(&self.path, at))?;
        let [packed_len, len, sum] = [0, 4, 8].map(|place| {
            u32::from_le_bytes(head[place..place + 4].try_into().expect("the head is cut into fours"))
        });
        let end = at + BLOCK_HEAD_BYTES + u64::from(packed_len);
        if end > self.blocks.end {
            return Err(self.damaged("a block is longer than the file"));
        }
        self.packed.resize(packed_len as usize, 0);
        let body = at + BLOCK_HEAD_BYTES;
        self.file.read_exact_at(&mut self.packed, body).map_err(FeaturesError::reading(&self.path, body))?;
        if checksum(0, at, &[&head[..8], &self.packed]) != sum {
            return Err(self.damaged("the checksum of a block is wrong"));
        }
        self.block.clear();
        self.block.reserve(len as usize);
        let unpacked = self.decompressor.decompress_to_buffer(&self.packed, &mut self.block);
        if unpacked.ok() != Some(len as usize) {
            return Err(self.damaged("a block cannot be uncompressed"));
        }
        self.blocks.start = end;
        self.at = 0;
        self.key.clear();
        Ok(true)
    }

    /// Reads the instance at `at`; `None` if there is none.
    fn read_instance(&mut self) -> Option<()> {
        let mut bytes = Reader::from_place(&self.block, self.at);
        let shared = usize::try_from(bytes.varint()?).ok().filter(|shared| *shared <= self.key.len())?;
        let rest = bytes.counted()?;
        self.key.truncate(shared);
        self.key.extend_from_slice(rest);
        self.time_ms = unfolded(bytes.varint()?);
        let len = bytes.counted()?.len();
        self.body = bytes.at() - len..bytes.at();
        self.at = bytes.at();
        Some(())
    }
}

impl Source for SegmentReader {
    fn before(&self, other: &SegmentReader) -> bool {
        match (self.done, other.done) {
            (false, false) => self.instance() < other.instance(),
            (done, other_done) => !done && other_done,
        }
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn advance(&mut self) -> Result<()> {
        if self.at >= self.block.len() && !self.next_block()? {
            self.done = true;
            return match self.left {
                0 => Ok(()),
                left => Err(self.damaged(&format!("{left} instances are missing"))),
            };
        }
        let read = self.read_instance().and_then(|()| self.left.checked_sub(1));
        self.left = read.ok_or_else(|| self.damaged("a block of instances makes no sense"))?;
        Ok(())
    }
}
