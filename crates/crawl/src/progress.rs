//! Numbers that a running crawl shows to whoever looks: written by the partition, read by displays.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters and gauges of a running crawl.
#[derive(Debug, Default)]
pub struct Progress {
    pages: AtomicU64,
    bytes: AtomicU64,
    errors: AtomicU64,
    queued: AtomicU64,
    in_flight: AtomicU64,
    hosts: AtomicU64,
    seen: AtomicU64,
}

/// The numbers at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Pages fetched (status 200), in all runs of the crawl.
    pub pages: u64,
    /// Bytes received in this run.
    pub bytes: u64,
    /// URLs that ended in a failure or a status of 400 or more, in all runs.
    pub errors: u64,
    /// URLs that wait.
    pub queued: u64,
    /// Fetches under way.
    pub in_flight: u64,
    /// Hosts on the workbench.
    pub hosts: u64,
    /// URLs seen.
    pub seen: u64,
}

impl Progress {
    /// The numbers now.
    pub fn read(&self) -> Reading {
        let get = |value: &AtomicU64| value.load(Ordering::Relaxed);
        Reading {
            pages: get(&self.pages),
            bytes: get(&self.bytes),
            errors: get(&self.errors),
            queued: get(&self.queued),
            in_flight: get(&self.in_flight),
            hosts: get(&self.hosts),
            seen: get(&self.seen),
        }
    }

    pub(crate) fn publish(&self, reading: Reading) {
        let set = |value: &AtomicU64, number| value.store(number, Ordering::Relaxed);
        set(&self.pages, reading.pages);
        set(&self.bytes, reading.bytes);
        set(&self.errors, reading.errors);
        set(&self.queued, reading.queued);
        set(&self.in_flight, reading.in_flight);
        set(&self.hosts, reading.hosts);
        set(&self.seen, reading.seen);
    }
}
