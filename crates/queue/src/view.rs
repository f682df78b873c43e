//! Looking at a checkpoint without touching it: for tools beside the process that works on the queues, and for what makes them anew.
//!
//! A [`View`] reads the files that a manifest names, and makes, removes, truncates and locks nothing. Segments are opened when
//! they are read, since there may be many; if the queues have moved on by then and a file is gone, that is
//! [`QueueError::NoSuchCheckpoint`], and there is a newer one to open.
//!
//! Costs: one block of memory, or the longest tail of a queue.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mattock_env::{Env, File, Files, OpenMode, copy_path};

use crate::block::Records;
use crate::blocks::Blocks;
use crate::error::{QueueError, Result};
use crate::manifest::{self, Manifest, QueueEntry};
use crate::segment::{Disk, SegmentFile};
use mattock_codec::checksum;

/// What a checkpoint holds.
#[derive(Debug)]
pub struct View {
    pub(crate) files: Files,
    pub(crate) dir: PathBuf,
    pub(crate) manifest: Manifest,
    /// The open blocks, and once more.
    tails: Vec<File>,
}

impl View {
    /// Opens a checkpoint. Number 0 is the state before the first: no queue.
    pub fn open(env: &Env, dir: &Path, number: u64) -> Result<View> {
        let (files, dir) = (env.files.clone(), dir.to_owned());
        if number == 0 {
            return Ok(View { files, dir, manifest: Manifest::default(), tails: Vec::new() });
        }
        let manifest = manifest::read(&files, &dir, number)?;
        let mut view = View { files, dir, manifest, tails: Vec::new() };
        if view.manifest.tail_bytes() > 0 {
            let path = view.tail_path();
            let opened =
                [view.files.open(&path, OpenMode::Read), view.files.open(&copy_path(&path), OpenMode::Read)];
            let [first, copy] = opened;
            match (first, copy) {
                (Err(error), Err(_)) => view.settle(Err(QueueError::io(&path, 0, error)))?,
                (first, copy) => {
                    view.tails = view.settle(Ok([first, copy].into_iter().flatten().collect()))?
                }
            }
        }
        Ok(view)
    }

    /// The same of files that may be damaged: of a tail that is gone nothing is read. Its queues are read by
    /// [`whole_blocks`](View::whole_blocks).
    pub fn salvage(env: &Env, dir: &Path, number: u64) -> Result<View> {
        match View::open(env, dir, number) {
            Err(error) if error.is_loss() => {}
            opened => return opened,
        }
        let manifest = manifest::read(&env.files, dir, number)?;
        Ok(View { files: env.files.clone(), dir: dir.to_owned(), manifest, tails: Vec::new() })
    }

    /// The number of the checkpoint.
    pub fn number(&self) -> u64 {
        self.manifest.number
    }

    /// The names of all queues, in the order in which they were made.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.manifest.queues.iter().map(|queue| queue.name.as_str())
    }

    /// How many records wait in a queue; 0 if there is none of this name.
    pub fn len(&self, name: &str) -> u64 {
        self.entry(name).map_or(0, |(_, _, entry)| entry.records)
    }

    /// Whether no record waits in any queue.
    pub fn is_empty(&self) -> bool {
        self.manifest.queues.iter().all(|queue| queue.records == 0)
    }

    /// Visits the records that wait in a queue, in the order in which they will be popped.
    pub fn scan(&self, name: &str, mut visit: impl FnMut(&[u8])) -> Result<()> {
        if self.entry(name).is_none() {
            return Ok(());
        }
        let mut blocks = self.blocks(name);
        let mut read = || {
            while blocks.next_block(&mut visit)? {}
            Ok(())
        };
        self.settle(read())
    }

    /// The blocks of a queue, to be read one at a time; none if there is no queue of this name.
    pub fn blocks(&self, name: &str) -> Blocks<'_> {
        Blocks::new(self, name, false)
    }

    /// The same of files that may be damaged: what is lost is left out.
    pub fn whole_blocks(&self, name: &str) -> Blocks<'_> {
        Blocks::new(self, name, true)
    }

    /// A queue, with its number and where its part of the tail begins.
    pub(crate) fn entry(&self, name: &str) -> Option<(u32, u64, &QueueEntry)> {
        let queues = &self.manifest.queues;
        let id = queues.iter().position(|queue| queue.name == name)?;
        let before = queues[..id].iter().map(|queue| queue.tail_bytes).sum();
        Some((id as u32, before, &queues[id]))
    }

    pub(crate) fn tail_path(&self) -> PathBuf {
        self.dir.join(manifest::tail_name(self.manifest.number))
    }

    /// Whatever came out: if the checkpoint is not there any more, that is why, or it is not to be trusted.
    fn settle<T>(&self, outcome: Result<T>) -> Result<T> {
        match manifest::read(&self.files, &self.dir, self.manifest.number) {
            Ok(again) if again == self.manifest => outcome,
            Err(error @ QueueError::Io { .. }) => outcome.and(Err(error)),
            _ => Err(QueueError::NoSuchCheckpoint { path: self.dir.clone(), number: self.manifest.number }),
        }
    }

    pub(crate) fn read_tail(&self, offset: u64, entry: &QueueEntry) -> Result<Records> {
        if entry.tail_bytes == 0 {
            return Ok(Records { bytes: Vec::new(), count: entry.tail_records });
        }
        let mut wrong = QueueError::corrupt(&self.tail_path(), offset, "the tail fails its checksum");
        // Before there is memory for them.
        let is_there = |file: &File| file.len().is_ok_and(|length| entry.tail_bytes <= length);
        if !self.tails.iter().any(is_there) {
            return Err(wrong);
        }
        let mut bytes = vec![0; entry.tail_bytes as usize];
        for file in &self.tails {
            match file.read_exact_at(&mut bytes, offset) {
                Ok(()) if checksum(self.manifest.number, offset, &[&bytes]) == entry.tail_sum => {
                    return Ok(Records { bytes, count: entry.tail_records });
                }
                Ok(()) => {}
                Err(error) => wrong = QueueError::io(&self.tail_path(), offset, error),
            }
        }
        Err(wrong)
    }
}

/// Visits the records of a block from a place on, where the given one begins; how many there were. `None` if they are not as
/// many as the block says, or do not end with it.
pub(crate) fn each(
    records: &Records,
    (start, first): (usize, u32),
    visit: &mut impl FnMut(&[u8]),
) -> Option<u64> {
    let mut offset = start;
    for _ in first..records.count {
        let (record, next) = records.at(offset)?;
        visit(record);
        offset = next;
    }
    (offset == records.bytes.len()).then(|| u64::from(records.count.saturating_sub(first)))
}

impl SegmentFile {
    /// A segment of a manifest.
    pub(crate) fn found(disk: &Arc<Disk>, queue: u32, entry: &manifest::SegmentEntry) -> SegmentFile {
        SegmentFile::new(disk, entry.number, queue, entry.stored_max as usize, entry.bytes)
    }
}
