//! Numbers that a running crawl shows to whoever looks: written by the partitions, each its own, and read by displays.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Counters and gauges of a running crawl.
#[derive(Debug)]
pub struct Progress {
    partitions: Vec<Gauges>,
    notice: Mutex<Option<String>>,
    checkpoint: AtomicU64,
}

/// Those of one partition.
#[derive(Debug, Default)]
struct Gauges {
    pages: AtomicU64,
    bytes: AtomicU64,
    errors: AtomicU64,
    queued: AtomicU64,
    in_flight: AtomicU64,
    locating: AtomicU64,
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
    /// Those of them that look up an address.
    pub locating: u64,
    /// Hosts on the workbench.
    pub hosts: u64,
    /// URLs seen.
    pub seen: u64,
}

impl Progress {
    pub(crate) fn new(partitions: usize) -> Progress {
        Progress {
            partitions: (0..partitions).map(|_| Gauges::default()).collect(),
            notice: Mutex::default(),
            checkpoint: AtomicU64::new(0),
        }
    }

    /// The number of the last checkpoint: a crash goes back to it.
    pub fn checkpoint(&self) -> u64 {
        self.checkpoint.load(Ordering::Acquire)
    }

    pub(crate) fn committed(&self, number: u64) {
        self.checkpoint.fetch_max(number, Ordering::AcqRel);
    }

    /// Why the crawl stands still, if somebody should do something about it.
    pub fn trouble(&self) -> Option<String> {
        self.notice.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn notice(&self, notice: Option<String>) {
        *self.notice.lock().unwrap_or_else(PoisonError::into_inner) = notice;
    }

    /// The numbers now, of all partitions together.
    pub fn read(&self) -> Reading {
        let sum = |value: fn(&Gauges) -> &AtomicU64| {
            self.partitions.iter().map(|gauges| value(gauges).load(Ordering::Relaxed)).sum()
        };
        Reading {
            pages: sum(|gauges| &gauges.pages),
            bytes: sum(|gauges| &gauges.bytes),
            errors: sum(|gauges| &gauges.errors),
            queued: sum(|gauges| &gauges.queued),
            in_flight: sum(|gauges| &gauges.in_flight),
            locating: sum(|gauges| &gauges.locating),
            hosts: sum(|gauges| &gauges.hosts),
            seen: sum(|gauges| &gauges.seen),
        }
    }

    pub(crate) fn publish(&self, partition: usize, reading: Reading) {
        let set = |value: &AtomicU64, number| value.store(number, Ordering::Relaxed);
        let gauges = &self.partitions[partition];
        set(&gauges.pages, reading.pages);
        set(&gauges.bytes, reading.bytes);
        set(&gauges.errors, reading.errors);
        set(&gauges.queued, reading.queued);
        set(&gauges.in_flight, reading.in_flight);
        set(&gauges.locating, reading.locating);
        set(&gauges.hosts, reading.hosts);
        set(&gauges.seen, reading.seen);
    }
}
