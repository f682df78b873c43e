//! What is where: the state of all queues of a directory, under one lock.
//!
//! Pushes fill it, pops empty it; lanes report to it. No call here touches the disk or waits: what has to be written, read
//! or removed is returned, and done by the caller once the lock is released.
//!
//! A queue is a sequence of blocks, numbered from its first record ever on:
//!
//! ```text
//!    head ≤ placed ≤ next
//!    [head, placed)   have a place in a segment; written, or on the way; some are in RAM as well
//!    [placed, next)   full, in RAM only
//!    next             the open block
//! ```
//!
//! Blocks get places in order, so that a segment is read front to back. A block that is popped before it got a place never
//! touches the disk. Only blocks that are written leave the RAM, those first that will be read last.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::block::Records;
use crate::error::Result;
use crate::kept::{Kept, NO_PIN};
use crate::options::Sizes;
use crate::segment::{Disk, FIRST_BLOCK, SegmentFile, lock};
use crate::write::Write;

/// The first buffer of a queue.
const OPEN_BYTES_MIN: usize = 1024;

/// Where the next record is: in the head block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub(crate) offset: usize,
    pub(crate) record: u32,
}

/// A sealed block in RAM.
#[derive(Debug)]
pub(crate) struct Resident {
    pub(crate) records: Arc<Records>,
    /// Offset and length in its segment, once it has a place.
    pub(crate) place: Option<(u64, u64)>,
    /// Under way to its place; `None` if it was read from there.
    pub(crate) write: Option<Arc<Write>>,
}

impl Resident {
    /// Whether it could be read again.
    pub(crate) fn is_written(&self) -> bool {
        self.place.is_some() && self.write.as_ref().is_none_or(|write| write.is_written())
    }
}

/// A file of a queue.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) file: Arc<SegmentFile>,
    /// Up to the end of the last block that has a place in it.
    pub(crate) bytes: u64,
    /// Nothing is added to files of an earlier opening.
    pub(crate) closed: bool,
}

/// A block that is being read.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) file: Arc<SegmentFile>,
    pub(crate) sequence: u64,
    pub(crate) offset: u64,
    pub(crate) end: u64,
    /// RAM that is set aside for it.
    pub(crate) reserved: usize,
    pub(crate) outcome: Mutex<Option<Result<(Records, u64)>>>,
}

#[derive(Debug, Default)]
pub(crate) struct QueueState {
    pub(crate) name: String,
    pub(crate) records: u64,
    pub(crate) bytes: u64,
    pub(crate) head: u64,
    pub(crate) cursor: Cursor,
    pub(crate) placed: u64,
    pub(crate) next: u64,
    pub(crate) open: Records,
    pub(crate) resident: BTreeMap<u64, Resident>,
    pub(crate) unplaced_bytes: usize,
    pub(crate) segments: VecDeque<Segment>,
    /// In the first segment: where the first block that has a place and is not popped stands.
    pub(crate) read_offset: u64,
    pub(crate) reading: Option<Arc<Reading>>,
    pub(crate) popping: bool,
}

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) disk: Arc<Disk>,
    pub(crate) sizes: Sizes,
    pub(crate) memory_bytes: usize,
    pub(crate) queues: Vec<QueueState>,
    /// Capacity of all buffers: open, sealed and free.
    pub(crate) ram_bytes: usize,
    pub(crate) unplaced_bytes: usize,
    pub(crate) free: Vec<Vec<u8>>,
    /// Writes that were handed out and not reported back.
    pub(crate) writing: usize,
    pub(crate) failed: Vec<Arc<Write>>,
    pub(crate) next_segment: u64,
    pub(crate) kept: VecDeque<Kept>,
    /// How many that can be opened are kept, and from which on all.
    pub(crate) checkpoints_kept: usize,
    pub(crate) pinned: u64,
    /// Popped, but kept for a checkpoint.
    pub(crate) dead: Vec<Arc<SegmentFile>>,
    /// Of use to nobody: to be removed by whoever has released the lock.
    pub(crate) removals: Vec<Arc<SegmentFile>>,
    pub(crate) poisoned: Option<PathBuf>,
    pub(crate) checkpoint_number: u64,
    /// Whether the directory's own name is known to be durable.
    pub(crate) dir_durable: bool,
}

impl State {
    pub(crate) fn new(disk: Arc<Disk>, sizes: Sizes, memory_bytes: usize) -> State {
        State {
            disk,
            sizes,
            memory_bytes,
            queues: Vec::new(),
            ram_bytes: 0,
            unplaced_bytes: 0,
            free: Vec::new(),
            writing: 0,
            failed: Vec::new(),
            next_segment: 1,
            kept: VecDeque::new(),
            checkpoints_kept: 1,
            pinned: NO_PIN,
            dead: Vec::new(),
            removals: Vec::new(),
            poisoned: None,
            checkpoint_number: 0,
            dir_durable: false,
        }
    }

    /// Appends a record if the open block has room for it.
    #[inline]
    pub(crate) fn push(&mut self, id: usize, record: &[u8]) -> bool {
        let limit = self.sizes.block_bytes;
        let queue = &mut self.queues[id];
        let bytes = &queue.open.bytes;
        let room = bytes.capacity().min(limit);
        if bytes.len() + Records::room_for(record) > room || self.poisoned.is_some() {
            return false;
        }
        queue.open.append(record);
        queue.records += 1;
        queue.bytes += record.len() as u64;
        true
    }

    /// How much RAM it takes to make room in the open block.
    pub(crate) fn growth(&self, id: usize, need: usize) -> usize {
        let open = &self.queues[id].open.bytes;
        if open.len() + need > self.sizes.block_bytes {
            return self.sizes.block_bytes;
        }
        self.wanted_capacity(id, need).saturating_sub(open.capacity())
    }

    /// A queue that has filled a block gets whole blocks, if that is possible for all; others begin small.
    fn wanted_capacity(&self, id: usize, need: usize) -> usize {
        let queue = &self.queues[id];
        let open = &queue.open.bytes;
        let many = self.queues.len() * self.sizes.block_bytes > self.memory_bytes / 4;
        if open.capacity() == 0 && queue.next > queue.head && !many {
            return self.sizes.block_bytes;
        }
        (open.capacity() * 4).max(open.len() + need).max(OPEN_BYTES_MIN).min(self.sizes.block_bytes)
    }

    /// Makes room for `need` bytes in the open block, of which a block can hold so many.
    pub(crate) fn grow(&mut self, id: usize, need: usize) {
        if self.queues[id].open.bytes.len() + need > self.sizes.block_bytes {
            self.seal(id);
        }
        let wanted = self.wanted_capacity(id, need);
        let open = &mut self.queues[id].open.bytes;
        let before = open.capacity();
        if wanted <= before {
            return;
        }
        if before == 0
            && wanted == self.sizes.block_bytes
            && let Some(free) = self.free.pop()
        {
            *open = free;
            return;
        }
        open.reserve_exact(wanted - open.len());
        self.ram_bytes += open.capacity() - before;
    }

    /// Ends the open block, if there is anything in it.
    pub(crate) fn seal(&mut self, id: usize) {
        let queue = &mut self.queues[id];
        if queue.open.count == 0 {
            return;
        }
        let records = Arc::new(std::mem::take(&mut queue.open));
        queue.unplaced_bytes += records.bytes.len();
        self.unplaced_bytes += records.bytes.len();
        queue.resident.insert(queue.next, Resident { records, place: None, write: None });
        queue.next += 1;
    }

    /// Gives the oldest block that has none a place. The caller must write it.
    pub(crate) fn place(&mut self, id: usize) -> Option<Arc<Write>> {
        let queue = &mut self.queues[id];
        let sequence = queue.placed;
        let resident = queue.resident.get_mut(&sequence).filter(|_| sequence < queue.next)?;
        let stored = resident.records.stored_bytes() as u64;
        let full = |segment: &Segment| segment.closed || segment.bytes + stored > self.sizes.segment_bytes;
        if queue.segments.back().is_none_or(full) {
            // A block of an earlier opening may be longer than ours.
            let stored_max = self.sizes.stored_max().max(stored as usize);
            let file = SegmentFile::new(&self.disk, self.next_segment, id as u32, stored_max, 0);
            self.next_segment += 1;
            if queue.segments.is_empty() {
                queue.read_offset = FIRST_BLOCK;
            }
            queue.segments.push_back(Segment { file: Arc::new(file), bytes: FIRST_BLOCK, closed: false });
        }
        let segment = queue.segments.back_mut().expect("one was added if there was none");
        let write = Write::new(&segment.file, sequence, segment.bytes, &resident.records);
        resident.place = Some((segment.bytes, stored));
        resident.write = Some(Arc::clone(&write));
        segment.bytes += stored;
        queue.placed += 1;
        queue.unplaced_bytes -= resident.records.bytes.len();
        self.unplaced_bytes -= resident.records.bytes.len();
        Some(write)
    }

    /// Takes over the block that was read, if it is there and needed now.
    pub(crate) fn take_reading(&mut self, id: usize) -> Result<()> {
        let queue = &mut self.queues[id];
        let Some(reading) = queue.reading.clone() else { return Ok(()) };
        if queue.resident.contains_key(&queue.head) {
            return Ok(());
        }
        let Some(outcome) = lock(&reading.outcome).take() else { return Ok(()) };
        queue.reading = None;
        self.ram_bytes -= reading.reserved;
        match outcome {
            Ok((records, stored)) => {
                self.ram_bytes += records.bytes.capacity();
                let place = Some((reading.offset, stored));
                let resident = Resident { records: Arc::new(records), place, write: None };
                queue.resident.insert(reading.sequence, resident);
                self.shed(0);
            }
            Err(error) if reading.sequence == queue.head => return Err(error),
            // It will be read again when its turn has come.
            Err(_) => {}
        }
        Ok(())
    }

    /// Plans to read a block that is not in RAM: the head, or the one behind it if there is room.
    pub(crate) fn plan_read(&mut self, id: usize) -> Option<Arc<Reading>> {
        let queue = &mut self.queues[id];
        if queue.reading.is_some() {
            return None;
        }
        let (sequence, mut offset) = match queue.resident.get(&queue.head) {
            None => (queue.head, queue.read_offset),
            Some(head) => {
                let (offset, stored) = head.place?;
                (queue.head + 1, offset + stored)
            }
        };
        let reserved = self.sizes.block_bytes;
        let fits = sequence == queue.head || self.ram_bytes + reserved <= self.memory_bytes;
        if sequence >= queue.placed || queue.resident.contains_key(&sequence) || !fits {
            return None;
        }
        let mut segment = queue.segments.front()?;
        if offset >= segment.bytes {
            (segment, offset) = (queue.segments.get(1)?, FIRST_BLOCK);
        }
        let reading = Arc::new(Reading {
            file: Arc::clone(&segment.file),
            sequence,
            offset,
            end: segment.bytes,
            reserved,
            outcome: Mutex::new(None),
        });
        queue.reading = Some(Arc::clone(&reading));
        self.ram_bytes += reserved;
        Some(reading)
    }

    /// Records were popped: moves the cursor, and forgets the head block if that was its end.
    pub(crate) fn advance(&mut self, id: usize, cursor: Cursor, records: u64, bytes: u64) {
        let queue = &mut self.queues[id];
        queue.records -= records;
        queue.bytes -= bytes;
        queue.cursor = cursor;
        let head = queue.head;
        let ended = queue.resident.get(&head).is_some_and(|block| block.records.count == cursor.record);
        let Some(resident) = ended.then(|| queue.resident.remove(&head)).flatten() else { return };
        queue.head += 1;
        queue.cursor = Cursor::default();
        match resident.place {
            Some((offset, stored)) => {
                queue.read_offset = offset + stored;
                let all = queue.head == queue.placed;
                if all || queue.segments.front().is_some_and(|front| front.bytes <= queue.read_offset) {
                    let popped = if all { queue.segments.len() } else { 1 };
                    queue.read_offset = FIRST_BLOCK;
                    let files: Vec<_> = queue.segments.drain(..popped).map(|segment| segment.file).collect();
                    files.into_iter().for_each(|file| self.retire(file));
                }
                drop(resident.write);
                self.release(resident.records);
            }
            None => {
                queue.placed += 1;
                queue.unplaced_bytes -= resident.records.bytes.len();
                self.unplaced_bytes -= resident.records.bytes.len();
                let reuse = queue.head == queue.next && queue.open.bytes.capacity() == 0;
                match Arc::try_unwrap(resident.records) {
                    Ok(mut records) if reuse => {
                        records.bytes.clear();
                        queue.open.bytes = records.bytes;
                    }
                    Ok(records) => self.release(Arc::new(records)),
                    Err(shared) => self.release(shared),
                }
            }
        }
    }

    /// The last block was sealed only to be popped from: opens it again, if nothing was pushed meanwhile.
    pub(crate) fn reopen(&mut self, id: usize) {
        let queue = &mut self.queues[id];
        let last = queue.next.wrapping_sub(1);
        if queue.open.count > 0 || queue.head != last || queue.placed > last {
            return;
        }
        let Some(mut resident) = queue.resident.remove(&last) else { return };
        let len = resident.records.bytes.len();
        match Arc::try_unwrap(resident.records) {
            Ok(records) => {
                self.ram_bytes -= queue.open.bytes.capacity();
                queue.open = records;
                queue.next = last;
                queue.unplaced_bytes -= len;
                self.unplaced_bytes -= len;
            }
            Err(shared) => {
                resident.records = shared;
                queue.resident.insert(last, resident);
            }
        }
    }

    /// A segment is of no use to its queue any more.
    fn retire(&mut self, file: Arc<SegmentFile>) {
        if self.kept.iter().any(|kept| kept.segments.contains(&file.number)) {
            self.dead.push(file);
        } else {
            self.removals.push(file);
        }
    }

    /// Checkpoints were forgotten: removes what only they needed.
    pub(crate) fn bury(&mut self) {
        for file in std::mem::take(&mut self.dead) {
            self.retire(file);
        }
    }
}
