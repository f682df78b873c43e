//! Ready: requests that may be fetched as far as budgets go, on disk, by priority band and then in order of request.
//!
//! Filled by the budget stage, emptied by the bench whenever it has room, the most urgent band first. Robots rules are judged
//! later, when a visit is about to begin: what waits here for days must not be visited by yesterday's rules.

use mattock_queue::{Queue, Queues};

use crate::error::Result;

/// How many bands there are; 0 is the most urgent.
pub const BANDS: u8 = 8;

pub(crate) struct Bands {
    queues: Vec<Queue>,
}

impl Bands {
    pub(crate) fn new(queues: &Queues) -> Bands {
        Bands { queues: (0..BANDS).map(|band| queues.queue(&format!("ready-{band}"))).collect() }
    }

    pub(crate) fn push(&self, band: u8, record: &[u8]) -> Result<()> {
        Ok(self.queues[usize::from(band.min(BANDS - 1))].push(record)?)
    }

    /// Hands out up to `limit` records of the most urgent band that has any; how many there were. Never waits for the disk
    /// while `wait` is false.
    pub(crate) fn pop(&self, limit: u64, wait: bool, mut sink: impl FnMut(u8, &[u8])) -> Result<u64> {
        for (band, queue) in (0..BANDS).zip(&self.queues) {
            if queue.is_empty() {
                continue;
            }
            let count = if wait {
                queue.pop_with(limit, |record| sink(band, record))?
            } else {
                queue.pop_ready_with(limit, |record| sink(band, record))?
            };
            return Ok(count);
        }
        Ok(0)
    }

    pub(crate) fn len(&self) -> u64 {
        self.queues.iter().map(Queue::len).sum()
    }
}
