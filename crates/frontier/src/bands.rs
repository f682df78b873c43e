//! Ready: requests that may be fetched as far as budgets go, on disk, by priority band and then in order of request.
//!
//! Filled by the budget stage, emptied by the bench whenever it has room, the most urgent band first. Robots rules are judged
//! later, when a visit is about to begin: what waits here for days must not be visited by yesterday's rules.

use std::cell::Cell;

use mattock_queue::{Queue, Queues};

use crate::error::Result;
use crate::record;

/// How many bands there are; 0 is the most urgent.
pub const BANDS: u8 = 8;
/// The band of what looks like a trap, and of domains that have no news.
pub const BAND_LAST: u8 = BANDS - 1;

pub(crate) struct Bands {
    /// With how many records each has: it is asked far more often than anything changes.
    queues: Vec<(Queue, Cell<u64>)>,
}

/// The name of a band's queue.
pub(crate) fn name(band: u8) -> String {
    format!("ready-{band}")
}

impl Bands {
    pub(crate) fn new(queues: &Queues) -> Bands {
        let queue = |band| {
            let queue = queues.queue(&name(band));
            let length = Cell::new(queue.len());
            (queue, length)
        };
        Bands { queues: (0..BANDS).map(queue).collect() }
    }

    /// Puts a record into its band.
    pub(crate) fn push(&self, record: &[u8]) -> Result<()> {
        let (queue, length) = &self.queues[usize::from(record::band(record))];
        queue.push(record)?;
        length.set(length.get() + 1);
        Ok(())
    }

    /// Hands out up to `limit` records of the most urgent band that has any, up to this one; how many there were. Never waits
    /// for the disk.
    pub(crate) fn pop(&self, limit: u64, up_to: u8, sink: impl FnMut(&[u8])) -> Result<u64> {
        let Some((queue, length)) =
            self.queues[..=usize::from(up_to)].iter().find(|(_, length)| length.get() > 0)
        else {
            return Ok(0);
        };
        let count = queue.pop_ready_with(limit, sink)?;
        length.set(length.get() - count);
        Ok(count)
    }

    pub(crate) fn len(&self) -> u64 {
        self.len_up_to(BAND_LAST)
    }

    /// Records in each band.
    pub(crate) fn lengths(&self) -> [u64; BANDS as usize] {
        std::array::from_fn(|band| self.queues[band].1.get())
    }

    /// Records in the bands up to this one.
    pub(crate) fn len_up_to(&self, band: u8) -> u64 {
        self.queues[..=usize::from(band)].iter().map(|(_, length)| length.get()).sum()
    }
}
