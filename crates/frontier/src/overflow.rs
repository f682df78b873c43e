//! What a host on the bench has no room for waits on disk, behind the bench.
//!
//! A large site brings URLs faster than politeness lets us visit it. The bench keeps a few of them, and the rest goes into one
//! of [`QUEUES`] queues, by the host's hash. When a host on the bench becomes short of URLs its queue is read: what belongs to
//! it is taken; what belongs to others is offered to them, and what they have no room for goes back to the tail.
//!
//! Where thousands of middling hosts share a queue, one pass over it feeds all of them. A host with more than [`SHARED_MAX`] records in it
//! gets a queue of its own for what comes after them, so that nobody has to read past a giant's. So each URL is read a few times at
//! most, whatever the crawl's size.
//!
//! Invariants: every record here belongs to a host on the bench, which counts them; such a host does not leave the bench. What a
//! host has in the shared queue came before what it has in its own.

use std::collections::BTreeMap;

use mattock_queue::{Queue, Queues};

use crate::error::Result;

/// A power of two.
const QUEUES: u64 = 256;
/// Records that a host may have in a queue that it shares.
const SHARED_MAX: u64 = 16 << 10;
const SHARED_PREFIX: &str = "over-";
const OWN_PREFIX: &str = "over-own-";

pub(crate) struct Overflow {
    queues: Vec<Queue>,
    /// The queues of giants.
    own: BTreeMap<u64, Queue>,
    /// Records in all of them: it is asked far more often than anything changes.
    len: u64,
}

/// What to do with a record that was read.
pub(crate) enum Fate {
    /// Somebody has taken it.
    Taken,
    /// Back to the tail.
    Kept,
}

fn shared_name(index: u64) -> String {
    format!("{SHARED_PREFIX}{index:03}")
}

fn own_name(host: u64) -> String {
    format!("{OWN_PREFIX}{host:016x}")
}

/// The names of the queues in which a host may have records, in the order in which it takes them.
pub(crate) fn names(host: u64) -> [String; 2] {
    [shared_name(place(host) as u64), own_name(host)]
}

/// Whether a queue of this name is a host's own; `None` if it is none of those behind the bench.
pub(crate) fn is_own(name: &str) -> Option<bool> {
    name.starts_with(SHARED_PREFIX).then(|| name.starts_with(OWN_PREFIX))
}

impl Overflow {
    pub(crate) fn new(queues: &Queues) -> Overflow {
        let own = queues.names().into_iter().filter_map(|name| {
            let host = u64::from_str_radix(name.strip_prefix(OWN_PREFIX)?, 16).ok()?;
            Some((host, queues.queue(&name))).filter(|(_, queue)| !queue.is_empty())
        });
        let own: BTreeMap<u64, Queue> = own.collect();
        let shared = (0..QUEUES).map(|index| queues.queue(&shared_name(index)));
        let shared: Vec<Queue> = shared.collect();
        let len = shared.iter().chain(own.values()).map(Queue::len).sum();
        Overflow { queues: shared, own, len }
    }

    fn own_len(&self, host: u64) -> u64 {
        self.own.get(&host).map_or(0, Queue::len)
    }

    /// Takes a record of a host that has so many here already.
    pub(crate) fn push(&mut self, queues: &Queues, host: u64, known: u64, record: &[u8]) -> Result<()> {
        if !self.own.contains_key(&host) && known < SHARED_MAX {
            self.queues[place(host)].push(record)?;
        } else {
            let own = || queues.queue(&own_name(host));
            self.own.entry(host).or_insert_with(own).push(record)?;
        }
        self.len += 1;
        Ok(())
    }

    /// Reads what a host has here, a step at a time and at most once around. `state` says for how many there is room now, and how many
    /// of its records are here; `sink` says of each record, which may be another host's, whether it was taken.
    pub(crate) fn read(
        &mut self,
        host: u64,
        mut state: impl FnMut() -> (u64, u64),
        mut sink: impl FnMut(&[u8]) -> Result<Fate>,
    ) -> Result<()> {
        const STEP: u64 = 256;
        let own_len = self.own_len(host);
        let Overflow { queues, own, len } = self;
        let mut pop = |queue: &Queue, step: u64| {
            queue.try_pop_with(step, |record| match sink(record)? {
                Fate::Taken => {
                    *len -= 1;
                    Ok(())
                }
                Fate::Kept => Ok::<(), crate::FrontierError>(queue.push(record)?),
            })
        };
        let queue = &queues[place(host)];
        let mut left = queue.len();
        while left > 0 {
            let (room, known) = state();
            if room == 0 || known <= own_len {
                break;
            }
            // No more than there is room for: what goes back to the tail has lost its place.
            let step = left.min(STEP).min(room);
            pop(queue, step)?;
            left -= step;
        }
        let Some(queue) = own.get(&host) else { return Ok(()) };
        // First what came first.
        while state().1 <= own_len && !queue.is_empty() {
            let step = state().0.min(STEP);
            if step == 0 {
                break;
            }
            pop(queue, step)?;
        }
        if queue.is_empty() {
            own.remove(&host);
        }
        Ok(())
    }

    pub(crate) fn len(&self) -> u64 {
        let counted = || self.queues.iter().chain(self.own.values()).map(Queue::len).sum::<u64>();
        debug_assert_eq!(self.len, counted(), "every record that comes and goes is counted");
        self.len
    }
}

/// The queue that a host shares.
fn place(host: u64) -> usize {
    // The low bits already choose partitions and buckets.
    (host >> 40 & (QUEUES - 1)) as usize
}
