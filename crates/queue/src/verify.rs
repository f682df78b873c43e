//! Verifying: every byte that belongs to a checkpoint is read, every checksum compared, and everything counted.
//!
//! Nothing is written. What is wrong becomes a [`Problem`], and the search goes on behind it: blocks begin at pages and know
//! their place, so the next whole one is found, and a damaged one takes no other with it. Bytes that fill up a page must
//! be zero. Bytes that no longer belong to the checkpoint are not looked at: blocks that were popped, and what a segment has
//! grown since. Of a file that is kept twice one is enough; whether the other is whole too, [`Files::damaged_twins`](mattock_env::Files::damaged_twins) tells.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use mattock_env::{Env, PAGE_BYTES, copy_path};

use crate::block::Records;
use crate::error::{QueueError, Result};
use crate::manifest::{self, Manifest, QueueEntry, SegmentEntry};
use crate::queues::parts_of_tail;
use crate::segment::{Disk, FIRST_BLOCK, SegmentFile, name as segment_name};
use crate::view::{View, each};
use mattock_codec::{Problem, checksum};

const LOST: &str = "this checkpoint cannot be opened: open an earlier one";
const PADDING: &str = "nothing depends on them, but this disk changes what is stored on it";
const NOT_ZERO: &str = "bytes that should be zero are not";

impl View {
    /// Reads all of a checkpoint and tells everything that is wrong with it. An error only if there is no such checkpoint (any
    /// more).
    pub fn verify(env: &Env, dir: &Path, number: u64) -> Result<Vec<Problem>> {
        let mut verifier = Verifier { disk: Disk::new(env.files.clone(), dir), problems: Vec::new() };
        if number == 0 {
            return Ok(verifier.problems);
        }
        let read = || manifest::read(&env.files, dir, number);
        let manifest = match read() {
            Ok(manifest) => manifest,
            Err(error @ QueueError::NoSuchCheckpoint { .. }) => return Err(error),
            Err(error) => {
                verifier.note(&dir.join(manifest::name(number)), error, LOST);
                return Ok(verifier.problems);
            }
        };
        verifier.checkpoint(&manifest);
        // Whoever works on the queues may have moved on, and removed files.
        if !verifier.problems.is_empty() && read().ok() != Some(manifest) {
            return Err(QueueError::NoSuchCheckpoint { path: dir.into(), number });
        }
        Ok(verifier.problems)
    }
}

struct Verifier {
    disk: Arc<Disk>,
    problems: Vec<Problem>,
}

/// What was found of a queue so far.
#[derive(Default)]
struct Found {
    /// The block that should come next.
    sequence: u64,
    records: u64,
    bytes: u64,
    /// Whether blocks before the next one were lost, which has been told.
    gap: bool,
}

impl Found {
    /// Counts the records of a block from a place on.
    fn count(&mut self, records: &Records, start: (usize, u32)) -> Option<()> {
        self.records += each(records, start, &mut |record| self.bytes += record.len() as u64)?;
        Some(())
    }
}

impl Verifier {
    fn add(&mut self, path: &Path, offset: u64, what: impl fmt::Display, means: &str) {
        self.problems.push(Problem { path: path.into(), offset, what: format!("{what}: {means}") });
    }

    /// An error that was met while reading `path`.
    fn note(&mut self, path: &Path, error: QueueError, means: &str) {
        match error {
            QueueError::Corrupt { path, offset, what } => self.add(&path, offset, what, means),
            QueueError::UnknownVersion { version, .. } => {
                self.add(path, 0, format!("format version {version:?} is unknown to this version"), means);
            }
            QueueError::Io { path, source } => self.add(&path, 0, source, means),
            other => self.add(path, 0, other, means),
        }
    }

    fn checkpoint(&mut self, manifest: &Manifest) {
        let tail = self.tail(manifest);
        let mut tail_offset = 0;
        for (id, entry) in manifest.queues.iter().enumerate() {
            let means = format!("records of queue {} cannot be read", entry.name);
            let before = self.problems.len();
            let mut found = Found { sequence: entry.head, ..Found::default() };
            for (index, segment) in entry.segments.iter().enumerate() {
                let first = if index == 0 { entry.read_offset } else { FIRST_BLOCK };
                self.segment(id as u32, entry, segment, first, &mut found, &means);
            }
            self.part_of_tail(manifest.number, &tail, tail_offset, entry, &mut found, &means);
            tail_offset += entry.tail_bytes;
            let whole = (entry.next, entry.records, entry.bytes);
            if self.problems.len() == before && (found.sequence, found.records, found.bytes) != whole {
                let path = self.disk.dir.join(manifest::name(manifest.number));
                self.add(&path, 0, "a queue holds other records than it says", &means);
            }
        }
    }

    /// How many of the bytes that a file should have are there.
    fn available(&mut self, name: &str, bytes: u64, means: &str) -> u64 {
        let path = self.disk.dir.join(name);
        match self.disk.files.entry(&path) {
            Ok(Some(entry)) if entry.len >= bytes => return bytes,
            Ok(Some(entry)) => {
                self.add(&path, entry.len, "the file is too short", means);
                return entry.len;
            }
            Ok(None) => self.add(&path, 0, "the file is missing", means),
            Err(error) => self.add(&path, 0, error, means),
        }
        0
    }

    fn segment(
        &mut self,
        id: u32,
        entry: &QueueEntry,
        segment: &SegmentEntry,
        first: u64,
        found: &mut Found,
        means: &str,
    ) {
        let end = self.available(&segment_name(segment.number), segment.bytes, means);
        let gap = std::mem::replace(&mut found.gap, true);
        if end == 0 {
            return;
        }
        let file = SegmentFile::found(&self.disk, id, segment);
        match file.verify_head() {
            Ok(None) => {}
            Ok(Some(place)) => self.add(file.path(), place, NOT_ZERO, PADDING),
            Err(error) => return self.note(file.path(), error, means),
        }
        found.gap = gap;
        let (mut offset, mut lost) = (first, false);
        while offset < end && found.sequence < entry.next {
            let read = file.read_any(offset, end);
            let (sequence, records, padding) = match read {
                Ok(block) if block.0 >= found.sequence && block.0 < entry.next => block,
                // Of blocks that cannot be read and stand together the first is told.
                outcome => {
                    if !lost {
                        let corrupt = QueueError::corrupt(file.path(), offset, "another block stands here");
                        self.note(file.path(), outcome.err().unwrap_or(corrupt), means);
                    }
                    (lost, found.gap) = (true, true);
                    offset += PAGE_BYTES as u64;
                    continue;
                }
            };
            if sequence != found.sequence && !found.gap {
                self.add(file.path(), offset, "a block is missing before this one", means);
            }
            if let Some(place) = padding {
                self.add(file.path(), place, NOT_ZERO, PADDING);
            }
            let start = if sequence == entry.head { (entry.offset as usize, entry.record) } else { (0, 0) };
            if found.count(&records, start).is_none() {
                self.add(file.path(), offset, "a block holds other records than it says", means);
            }
            found.sequence = sequence + 1;
            offset += records.stored_bytes() as u64;
            (lost, found.gap) = (false, false);
        }
        found.gap |= end < segment.bytes;
    }

    fn tail(&mut self, manifest: &Manifest) -> Vec<u8> {
        let name = manifest::tail_name(manifest.number);
        let means = "the last records of queues cannot be read";
        let path = self.disk.dir.join(&name);
        for path in [copy_path(&path), path] {
            match self.disk.files.read(&path) {
                // If only one is whole, `damaged_twins` tells.
                Ok(bytes) if parts_of_tail(&bytes, manifest).is_ok() => return bytes,
                _ => {}
            }
        }
        if manifest.tail_bytes() == 0 || self.available(&name, manifest.tail_bytes(), means) == 0 {
            return Vec::new();
        }
        let path = self.disk.dir.join(&name);
        match self.disk.files.read(&path) {
            Ok(bytes) => bytes,
            Err(error) => {
                self.add(&path, 0, error, means);
                Vec::new()
            }
        }
    }

    fn part_of_tail(
        &mut self,
        number: u64,
        tail: &[u8],
        offset: u64,
        entry: &QueueEntry,
        found: &mut Found,
        means: &str,
    ) {
        let path = self.disk.dir.join(manifest::tail_name(number));
        let Some(part) = tail.get(offset as usize..(offset + entry.tail_bytes) as usize) else {
            return self.add(&path, offset, "this part of the tail is cut off", means);
        };
        if checksum(number, offset, &[part]) != entry.tail_sum {
            return self.add(&path, offset, "the tail fails its checksum", means);
        }
        let records = Records { bytes: part.to_vec(), count: entry.tail_records };
        if found.count(&records, (0, 0)).is_none() {
            self.add(&path, offset, "a tail holds other records than it says", means);
        }
    }
}
