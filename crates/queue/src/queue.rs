//! One queue: records go in at its tail and come out at its head.

use std::sync::Arc;

use crate::block::Records;
use crate::error::{QueueError, Result};
use crate::segment::lock;
use crate::shared::Shared;
use crate::state::Cursor;

/// A handle to one queue of a [`Queues`](crate::Queues); clones are the same queue.
///
/// Any number of handles may push at the same time, also from within a pop, be it to this queue or to others. One pop at a
/// time: a second one is refused with [`QueueError::Popping`].
///
/// A *pass* over all that is in a queue now, some of which goes to other queues and some back to this one's tail, needs no
/// more RAM than a block:
///
/// ```ignore
/// queue.try_pop_with(queue.len(), |url| if within_budget(url) { ready.push(url) } else { queue.push(url) })?;
/// ```
#[derive(Clone, Debug)]
pub struct Queue {
    pub(crate) shared: Arc<Shared>,
    pub(crate) id: usize,
}

impl Queue {
    /// Appends a record. Waits for the disk if the memory is full. After an error nothing was taken.
    pub fn push(&self, record: &[u8]) -> Result<()> {
        if record.len() > self.shared.record_max {
            return Err(QueueError::TooLarge { bytes: record.len(), limit: self.shared.record_max });
        }
        if lock(&self.shared.state).push(self.id, record) {
            return Ok(());
        }
        self.shared.push_slowly(self.id, record)
    }

    /// Hands out up to `limit` records from the head; how many there were. Fewer than `limit` only if the queue is empty.
    pub fn pop_with(&self, limit: u64, mut sink: impl FnMut(&[u8])) -> Result<u64> {
        self.pop(limit, true, |record| {
            sink(record);
            Ok(())
        })
    }

    /// The same, but never waits for the disk: fewer than `limit` may also mean that the next ones are being read.
    pub fn pop_ready_with(&self, limit: u64, mut sink: impl FnMut(&[u8])) -> Result<u64> {
        self.pop(limit, false, |record| {
            sink(record);
            Ok(())
        })
    }

    /// Like [`pop_with`](Queue::pop_with), for a sink that may fail, for instance because what it pushes to is full: the record
    /// that it refused stays at the head.
    pub fn try_pop_with<E: From<QueueError>>(
        &self,
        limit: u64,
        sink: impl FnMut(&[u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<u64, E> {
        self.pop(limit, true, sink)
    }

    /// Records in the queue. While a pop is under way, those of its block count until it ends or leaves the block.
    pub fn len(&self) -> u64 {
        lock(&self.shared.state).queues[self.id].records
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of all records in the queue.
    pub fn bytes(&self) -> u64 {
        lock(&self.shared.state).queues[self.id].bytes
    }

    /// What it was called when it was made.
    pub fn name(&self) -> String {
        lock(&self.shared.state).queues[self.id].name.clone()
    }

    fn pop<E: From<QueueError>>(
        &self,
        limit: u64,
        wait: bool,
        mut sink: impl FnMut(&[u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<u64, E> {
        self.shared.poll();
        let mut pop = Pop::begin(&self.shared, self.id)?;
        let mut popped = 0;
        while popped < limit {
            let Some(block) = pop.head(wait)? else { break };
            while popped < limit && pop.cursor.record < block.count {
                let (record, next) = block.at(pop.cursor.offset).ok_or_else(|| {
                    QueueError::corrupt(&self.shared.disk.dir, 0, "a block holds fewer records than it says")
                })?;
                sink(record)?;
                pop.cursor = Cursor { offset: next, record: pop.cursor.record + 1 };
                pop.records += 1;
                pop.bytes += record.len() as u64;
                popped += 1;
            }
            drop(block);
            pop.commit();
        }
        Ok(popped)
    }
}

/// A pop that is under way. However it ends, what was handed out is popped and nothing else.
struct Pop<'a> {
    shared: &'a Shared,
    id: usize,
    cursor: Cursor,
    /// Handed out since the last commit.
    records: u64,
    bytes: u64,
}

impl Pop<'_> {
    fn begin(shared: &Shared, id: usize) -> Result<Pop<'_>> {
        let mut state = lock(&shared.state);
        let queue = &mut state.queues[id];
        if queue.popping {
            return Err(QueueError::Popping { queue: queue.name.clone() });
        }
        queue.popping = true;
        Ok(Pop { shared, id, cursor: queue.cursor, records: 0, bytes: 0 })
    }

    /// The block with the next record; `None` if there is none, or if we should not wait for it.
    fn head(&mut self, wait: bool) -> Result<Option<Arc<Records>>> {
        loop {
            let (found, plan) = {
                let mut state = lock(&self.shared.state);
                let queue = &state.queues[self.id];
                if queue.records == 0 {
                    return Ok(None);
                }
                if queue.head == queue.next {
                    state.seal(self.id);
                }
                state.take_reading(self.id)?;
                let queue = &state.queues[self.id];
                self.cursor = queue.cursor;
                let found = queue.resident.get(&queue.head).map(|head| Arc::clone(&head.records));
                (found, state.plan_read(self.id))
            };
            if let Some(reading) = plan {
                self.shared.read(reading);
            }
            if found.is_some() || !wait {
                return Ok(found);
            }
            self.shared.wait_for_reader();
        }
    }

    fn commit(&mut self) {
        let (records, bytes) = (std::mem::take(&mut self.records), std::mem::take(&mut self.bytes));
        if records == 0 {
            return;
        }
        let removals = {
            let mut state = lock(&self.shared.state);
            state.advance(self.id, self.cursor, records, bytes);
            std::mem::take(&mut state.removals)
        };
        self.shared.remove(removals);
    }
}

impl Drop for Pop<'_> {
    fn drop(&mut self) {
        self.commit();
        let mut state = lock(&self.shared.state);
        state.reopen(self.id);
        state.queues[self.id].popping = false;
    }
}
