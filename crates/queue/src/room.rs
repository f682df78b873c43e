//! Who has to leave the RAM, and what has to be written first.
//!
//! A push that needs memory asks for it here, under the state's lock; `shared` then does what is returned. Nothing is
//! dropped that is not on disk, and of what is, that first which will be popped last.

use std::sync::Arc;

use crate::block::Records;
use crate::state::State;
use crate::write::Write;

/// Buffers of whole blocks that are kept for the next ones.
const FREE_MAX: usize = 4;

impl State {
    /// Gives places to blocks until no more than `most` bytes are without; the longest queues first.
    pub(crate) fn spill(&mut self, most: usize) -> Vec<Arc<Write>> {
        let mut writes = Vec::new();
        while self.unplaced_bytes > most {
            let longest = (0..self.queues.len()).max_by_key(|id| self.queues[*id].unplaced_bytes);
            let Some(write) = longest.and_then(|id| self.place(id)) else { break };
            writes.push(write);
        }
        self.writing += writes.len();
        writes
    }

    /// Seals the largest open block of a page or more; whether there was one.
    pub(crate) fn seal_largest(&mut self) -> bool {
        let largest = (0..self.queues.len()).max_by_key(|id| self.queues[*id].open.bytes.len());
        let found = largest.filter(|id| self.queues[*id].open.bytes.len() >= mattock_env::PAGE_BYTES);
        if let Some(id) = found {
            self.seal(id);
        }
        found.is_some()
    }

    /// Frees RAM until `need` bytes fit, as far as that goes without writing; whether they fit.
    pub(crate) fn shed(&mut self, need: usize) -> bool {
        while self.ram_bytes + need > self.memory_bytes {
            if let Some(buffer) = self.free.pop() {
                self.ram_bytes -= buffer.capacity();
            } else if !self.shed_empty() && !self.shed_readings() && !self.shed_written() {
                return false;
            }
        }
        true
    }

    /// Buffers of queues that are empty.
    fn shed_empty(&mut self) -> bool {
        let before = self.ram_bytes;
        for queue in self.queues.iter_mut().filter(|queue| queue.open.count == 0) {
            self.ram_bytes -= queue.open.bytes.capacity();
            queue.open.bytes = Vec::new();
        }
        self.ram_bytes < before
    }

    /// Blocks that were read ahead for pops that have ended.
    fn shed_readings(&mut self) -> bool {
        let before = self.ram_bytes;
        for queue in self.queues.iter_mut().filter(|queue| !queue.popping) {
            self.ram_bytes -= queue.reading.take().map_or(0, |reading| reading.reserved);
        }
        self.ram_bytes < before
    }

    /// The written block that is furthest from being popped.
    fn shed_written(&mut self) -> bool {
        let mut furthest: Option<(u64, usize, u64)> = None;
        for (id, queue) in self.queues.iter().enumerate() {
            let in_use = if queue.popping { queue.head + 1 } else { queue.head };
            let written = queue.resident.range(in_use..).rev().find(|(_, resident)| resident.is_written());
            if let Some((sequence, _)) = written {
                furthest = furthest.max(Some((sequence - queue.head, id, *sequence)));
            }
        }
        let Some((_, id, sequence)) = furthest else { return false };
        if let Some(resident) = self.queues[id].resident.remove(&sequence) {
            self.release(resident.records);
        }
        true
    }

    /// A block has left the RAM: its buffer may serve another.
    pub(crate) fn release(&mut self, records: Arc<Records>) {
        let capacity = records.bytes.capacity();
        if capacity == self.sizes.block_bytes
            && self.free.len() < FREE_MAX
            && let Ok(mut records) = Arc::try_unwrap(records)
        {
            records.bytes.clear();
            self.free.push(records.bytes);
        } else {
            self.ram_bytes -= capacity;
        }
    }

    /// A write that still has to be done and that nobody does unasked.
    pub(crate) fn failed_write(&mut self) -> Option<Arc<Write>> {
        let queues = &self.queues;
        self.failed
            .retain(|write| !write.is_written() && write.sequence >= queues[write.file.queue as usize].head);
        self.failed.last().cloned()
    }
}
