//! The records of one queue of a [`View`], a block at a time.
//!
//! Of files that are damaged the rest can be read: blocks say which they are, so behind one that fails the next is looked for, page by
//! page. Neither the first page of a segment nor its length is needed for that.
//!
//! Costs: one block of memory.

use std::sync::Arc;

use mattock_env::PAGE_BYTES;

use crate::block::Records;
use crate::error::{QueueError, Result};
use crate::manifest::{self, QueueEntry};
use crate::segment::{Disk, FIRST_BLOCK, SegmentFile};
use crate::view::{View, each};

/// Reads a queue from its first record to its last.
pub struct Blocks<'a> {
    view: &'a View,
    disk: Arc<Disk>,
    /// Its number, where its part of the tail begins, and what the manifest says of it.
    queue: Option<(u32, u64, &'a QueueEntry)>,
    /// Whether what is lost is left out.
    lenient: bool,
    /// The next block: its segment, the offset in it, and its number.
    segment: usize,
    offset: u64,
    sequence: u64,
    file: Option<SegmentFile>,
    visited: u64,
}

impl<'a> Blocks<'a> {
    pub(crate) fn new(view: &'a View, name: &str, lenient: bool) -> Blocks<'a> {
        let queue = view.entry(name);
        let entry = queue.map(|(_, _, entry)| entry);
        Blocks {
            view,
            disk: Disk::new(view.files.clone(), &view.dir),
            queue,
            lenient,
            segment: 0,
            offset: entry.map_or(0, |entry| entry.read_offset),
            sequence: entry.map_or(0, |entry| entry.head),
            file: None,
            visited: 0,
        }
    }

    /// Visits the records of the next block; whether there was one.
    pub fn next_block(&mut self, mut visit: impl FnMut(&[u8])) -> Result<bool> {
        let Some((id, tail_offset, entry)) = self.queue else { return Ok(false) };
        while let Some(segment) = entry.segments.get(self.segment) {
            let disk = &self.disk;
            let file = self.file.get_or_insert_with(|| SegmentFile::found(disk, id, segment));
            let end = if self.lenient { file.open_leniently(segment.bytes)? } else { segment.bytes };
            if self.sequence >= entry.next || self.offset >= end {
                (self.segment, self.offset, self.file) = (self.segment + 1, FIRST_BLOCK, None);
                continue;
            }
            let (records, stored) = match self.lenient {
                false => file.read(self.sequence, self.offset, end)?,
                true => match file.read_any(self.offset, segment.bytes) {
                    Ok((sequence, records, _)) if (self.sequence..entry.next).contains(&sequence) => {
                        self.sequence = sequence;
                        let stored = records.stored_bytes() as u64;
                        (records, stored)
                    }
                    Err(error) if !error.is_loss() => return Err(error),
                    _ => {
                        self.offset += PAGE_BYTES as u64;
                        continue;
                    }
                },
            };
            let is_head = self.sequence == entry.head;
            let start = if is_head { (entry.offset as usize, entry.record) } else { (0, 0) };
            match each(&records, start, &mut visit) {
                Some(visited) => self.visited += visited,
                None if self.lenient => {}
                None => {
                    let what = "a block holds other records than it says";
                    return Err(QueueError::corrupt(file.path(), self.offset, what));
                }
            }
            (self.sequence, self.offset) = (self.sequence + 1, self.offset + stored);
            return Ok(true);
        }
        self.end(tail_offset, entry, visit)
    }

    /// What is behind the last block: the open one, once.
    fn end(&mut self, tail_offset: u64, entry: &QueueEntry, mut visit: impl FnMut(&[u8])) -> Result<bool> {
        if self.segment > entry.segments.len() {
            return Ok(false);
        }
        self.segment = entry.segments.len() + 1;
        let tail = match self.view.read_tail(tail_offset, entry) {
            Err(error) if self.lenient && error.is_loss() => Records::default(),
            other => other?,
        };
        let visited = each(&tail, (0, 0), &mut visit);
        if self.lenient {
            self.visited += visited.unwrap_or(0);
            return Ok(true);
        }
        self.visited += visited.ok_or_else(|| {
            let what = "a tail holds other records than it says";
            QueueError::corrupt(&self.view.tail_path(), tail_offset, what)
        })?;
        if self.sequence != entry.next || self.visited != entry.records {
            let path = self.view.dir.join(manifest::name(self.view.number()));
            return Err(QueueError::corrupt(&path, 0, "a queue holds fewer records than it says"));
        }
        Ok(true)
    }
}
