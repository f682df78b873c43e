//! What a host on the bench has no room for waits on disk, behind the bench.
//!
//! A large site brings URLs faster than politeness lets us visit it. The bench keeps a few of them, and the rest goes into one
//! of [`QUEUES`] queues, by the host's hash. When a host on the bench becomes short of URLs its queue is read: what belongs to
//! it is taken; what belongs to others is offered to them, and what they have no room for goes back to the tail.
//!
//! A giant host mostly has its queue for itself, and every read finds what it needs at the head. Where thousands of middling
//! hosts share a queue, one pass over it feeds all of them. So each URL is read a few times at most, whatever the crawl's size.
//!
//! Invariant: every record here belongs to a host on the bench, which counts them; such a host does not leave the bench.

use mattock_queue::{Queue, Queues};

use crate::error::Result;

/// A power of two.
const QUEUES: u64 = 256;

pub(crate) struct Overflow {
    queues: Vec<Queue>,
}

/// What to do with a record that was read.
pub(crate) enum Fate {
    /// Somebody has taken it.
    Taken,
    /// Back to the tail.
    Kept,
}

impl Overflow {
    pub(crate) fn new(queues: &Queues) -> Overflow {
        Overflow { queues: (0..QUEUES).map(|index| queues.queue(&format!("over-{index:03}"))).collect() }
    }

    fn queue(&self, host: u64) -> &Queue {
        // The low bits already choose partitions and buckets.
        &self.queues[(host >> 40 & (QUEUES - 1)) as usize]
    }

    pub(crate) fn push(&self, host: u64, record: &[u8]) -> Result<()> {
        Ok(self.queue(host).push(record)?)
    }

    /// Reads the queue of a host, a step at a time, until `enough` says so, and at most once around. `sink` says of each record
    /// whether it was taken.
    pub(crate) fn read(
        &self,
        host: u64,
        mut enough: impl FnMut() -> bool,
        mut sink: impl FnMut(&[u8]) -> Result<Fate>,
    ) -> Result<()> {
        const STEP: u64 = 256;
        let queue = self.queue(host);
        let mut left = queue.len();
        while left > 0 && !enough() {
            let step = left.min(STEP);
            queue.try_pop_with(step, |record| match sink(record)? {
                Fate::Taken => Ok(()),
                Fate::Kept => Ok::<(), crate::FrontierError>(queue.push(record)?),
            })?;
            left -= step;
        }
        Ok(())
    }

    pub(crate) fn len(&self) -> u64 {
        self.queues.iter().map(Queue::len).sum()
    }
}
