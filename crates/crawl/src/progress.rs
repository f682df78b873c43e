//! Numbers that a running crawl shows to whoever looks: written by the partitions, each its own, and read by displays.
//!
//! All are relaxed atomics: a reading is of about one moment. What costs more than a store to find out is published ten times a second.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use mattock_fetch::FetchOutcome;
use serde::Serialize;

use crate::steer::Examples;

/// Counters and gauges of a running crawl.
#[derive(Debug)]
pub struct Progress {
    partitions: Vec<Gauges>,
    notice: Mutex<Option<String>>,
    checkpoint: AtomicU64,
    checkpoint_unix_micros: AtomicI64,
    checkpoint_micros: AtomicU64,
    outcomes: Outcomes,
    counters: Counters,
    examples: Examples,
}

macro_rules! gauges {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Those of one partition.
        #[derive(Debug, Default)]
        struct Gauges {
            $($name: AtomicU64,)*
            waiting: Mutex<Waiting>,
        }

        /// The numbers at one moment.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
        pub struct Reading {
            $($(#[$doc])* pub $name: u64,)*
            /// What waits before each stage.
            pub waiting: Waiting,
        }

        impl Gauges {
            fn publish(&self, reading: &Reading) {
                $(self.$name.store(reading.$name, Ordering::Relaxed);)*
            }

            fn add_to(&self, sum: &mut Reading) {
                $(sum.$name += self.$name.load(Ordering::Relaxed);)*
                sum.waiting.add(&self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
            }
        }
    };
}

gauges! {
    /// Pages fetched (status 200), in all runs of the crawl.
    pages,
    /// Bytes received, in all runs.
    bytes,
    /// URLs that ended in a failure or a status of 400 or more, in all runs.
    errors,
    /// Requests that came back, whatever for and whatever they brought, in all runs.
    requests,
    /// URLs that wait.
    queued,
    /// Fetches under way.
    in_flight,
    /// Those of them that look up an address.
    locating,
    /// Those of them that ask for a robots.txt.
    robots,
    /// Hosts on the workbench.
    hosts,
    /// URLs seen.
    seen,
}

/// What waits before each stage of a URL's way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Waiting {
    /// Links from other partitions that were not taken in yet.
    pub exchange: u64,
    /// Links of which it is not known yet whether they are new.
    pub arriving: u64,
    /// URLs that are new and in no band yet.
    pub new: u64,
    /// URLs that wait for a budget.
    pub budget: u64,
    /// URLs that are ready, on disk, by priority band.
    pub ready: [u64; mattock_frontier::BANDS as usize],
    /// URLs on disk behind hosts on the workbench.
    pub overflow: u64,
    /// URLs on the workbench.
    pub bench: u64,
    /// URLs that wait for another try.
    pub deferred: u64,
    /// Hosts whose rules are looked for on disk.
    pub rules: u64,
    /// Responses that came and were not looked at yet.
    pub returned: u64,
    /// Pages that wait to be read and stored.
    pub unread: u64,
}

impl Waiting {
    fn add(&mut self, other: &Waiting) {
        self.exchange += other.exchange;
        self.arriving += other.arriving;
        self.new += other.new;
        self.budget += other.budget;
        self.ready.iter_mut().zip(other.ready).for_each(|(sum, more)| *sum += more);
        self.overflow += other.overflow;
        self.bench += other.bench;
        self.deferred += other.deferred;
        self.rules += other.rules;
        self.returned += other.returned;
        self.unread += other.unread;
    }
}

/// Counted in this run, by all partitions together.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Requests without an answer, or with an error of the server's.
    pub(crate) failed: AtomicU64,
    /// Look-ups of names, and those that the name servers failed.
    pub(crate) lookups: AtomicU64,
    pub(crate) lookups_failed: AtomicU64,
}

/// Statuses that are counted one by one.
const STATUSES: usize = 1000;
/// More than there are kinds of failures.
const FAILURES: usize = 64;

/// What became of URLs: a place for every outcome.
#[derive(Debug)]
struct Outcomes {
    /// In earlier runs.
    before: Mutex<BTreeMap<String, u64>>,
    statuses: Vec<AtomicU64>,
    failures: Vec<(OnceLock<&'static str>, AtomicU64)>,
}

impl Outcomes {
    fn new() -> Outcomes {
        Outcomes {
            before: Mutex::default(),
            statuses: (0..STATUSES).map(|_| AtomicU64::new(0)).collect(),
            failures: (0..FAILURES).map(|_| Default::default()).collect(),
        }
    }

    fn count(&self, outcome: FetchOutcome) {
        let counter = match outcome {
            FetchOutcome::Answered(status) => self.statuses.get(usize::from(status)),
            FetchOutcome::Failed(failure) => self.failures.get(failure as usize).map(|(name, counter)| {
                name.get_or_init(|| failure.name());
                counter
            }),
        };
        if let Some(counter) = counter {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn begin(&self, before: BTreeMap<String, u64>) {
        *self.before.lock().unwrap_or_else(PoisonError::into_inner) = before;
        self.statuses.iter().for_each(|counter| counter.store(0, Ordering::Relaxed));
        self.failures.iter().for_each(|(_, counter)| counter.store(0, Ordering::Relaxed));
    }

    fn read(&self) -> BTreeMap<String, u64> {
        let mut all = self.before.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let statuses =
            self.statuses.iter().enumerate().map(|(status, counter)| (status.to_string(), counter));
        let failures =
            self.failures.iter().filter_map(|(name, counter)| Some((name.get()?.to_string(), counter)));
        for (name, counter) in statuses.chain(failures) {
            let count = counter.load(Ordering::Relaxed);
            if count > 0 {
                *all.entry(name).or_default() += count;
            }
        }
        all
    }
}

impl Progress {
    pub(crate) fn new(partitions: usize) -> Progress {
        Progress {
            partitions: (0..partitions).map(|_| Gauges::default()).collect(),
            notice: Mutex::default(),
            checkpoint: AtomicU64::new(0),
            checkpoint_unix_micros: AtomicI64::new(0),
            checkpoint_micros: AtomicU64::new(0),
            outcomes: Outcomes::new(),
            counters: Counters::default(),
            examples: Examples::default(),
        }
    }

    /// The number of the last checkpoint of this run: a crash goes back to it.
    pub fn checkpoint(&self) -> u64 {
        self.checkpoint.load(Ordering::Acquire)
    }

    /// When it was made, in microseconds since 1970 (0 if there is none), and how long that took.
    pub fn checkpoint_made(&self) -> (i64, Duration) {
        let took = Duration::from_micros(self.checkpoint_micros.load(Ordering::Relaxed));
        (self.checkpoint_unix_micros.load(Ordering::Relaxed), took)
    }

    pub(crate) fn committed(&self, number: u64, unix_micros: i64, took: Duration) {
        self.checkpoint_unix_micros.store(unix_micros, Ordering::Relaxed);
        self.checkpoint_micros.store(took.as_micros() as u64, Ordering::Relaxed);
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
        let mut sum = Reading::default();
        self.partitions.iter().for_each(|gauges| gauges.add_to(&mut sum));
        sum
    }

    /// What became of URLs, in all runs: statuses and failures with their counts.
    pub fn outcomes(&self) -> BTreeMap<String, u64> {
        self.outcomes.read()
    }

    /// The last URLs of each kind of failure.
    pub fn examples(&self) -> &Examples {
        &self.examples
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    /// A run begins, after others that had these outcomes.
    pub(crate) fn begin(&self, outcomes: BTreeMap<String, u64>) {
        self.outcomes.begin(outcomes);
    }

    /// A URL is settled.
    pub(crate) fn count(&self, outcome: FetchOutcome) {
        self.outcomes.count(outcome);
    }

    pub(crate) fn publish(&self, partition: usize, reading: &Reading) {
        self.partitions[partition].publish(reading);
    }

    pub(crate) fn publish_waiting(&self, partition: usize, waiting: Waiting) {
        *self.partitions[partition].waiting.lock().unwrap_or_else(PoisonError::into_inner) = waiting;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mattock_fetch::Failure;

    #[test]
    fn partitions_are_added_up() {
        let progress = Progress::new(2);
        for partition in 0..2 {
            progress.publish(partition, &Reading { pages: 3, hosts: 2, ..Reading::default() });
            progress.publish_waiting(partition, Waiting { bench: 4, ready: [1; 8], ..Waiting::default() });
        }
        let read = progress.read();
        assert_eq!((read.pages, read.hosts, read.waiting.bench, read.waiting.ready), (6, 4, 8, [2; 8]));
    }

    #[test]
    fn outcomes_go_on_from_earlier_runs_and_go_back_with_them() {
        let progress = Progress::new(1);
        progress.begin(BTreeMap::from([("200".into(), 5), ("refused".into(), 1)]));
        for outcome in [FetchOutcome::Answered(200), FetchOutcome::Failed(Failure::Refused)] {
            progress.count(outcome);
        }
        progress.count(FetchOutcome::Answered(60_000));
        progress.count(FetchOutcome::Failed(Failure::Internal));
        let counts =
            |pairs: &[(&str, u64)]| pairs.iter().map(|(name, count)| (name.to_string(), *count)).collect();
        assert_eq!(progress.outcomes(), counts(&[("200", 6), ("internal", 1), ("refused", 2)]));
        progress.begin(counts(&[("404", 1)]));
        assert_eq!(progress.outcomes(), counts(&[("404", 1)]));
    }
}
