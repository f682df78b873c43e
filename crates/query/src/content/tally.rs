//! What a query has done so far, counted by its operators and read by whoever waits for it.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::sync::Notify;

/// Failures of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failures {
    /// The analyzer that failed, or `record` for documents that could not be read.
    pub column: String,
    /// How many documents it failed on.
    pub count: u64,
    /// One of them, and what was wrong.
    pub example: String,
}

/// The name under which unreadable records are counted.
pub(crate) const RECORD: &str = "record";

/// How many documents something failed on, and of one of them the URL and what was wrong.
type Failed = (u64, (String, String));

/// See the module. Shared by all operators of a query.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Documents that will be looked at, as far as is known.
    pub(crate) rows_total: AtomicU64,
    /// And what they take in the archives.
    pub(crate) bytes_total: AtomicU64,
    /// All that will be looked at is known.
    pub(crate) total_known: AtomicBool,
    /// Documents that were looked at.
    pub(crate) rows: AtomicU64,
    /// And what they take in the archives, read or not.
    pub(crate) bytes: AtomicU64,
    /// Documents that were read.
    pub(crate) records_read: AtomicU64,
    /// Bytes of archives that were read.
    pub(crate) bytes_read: AtomicU64,
    /// Values that were taken from kept columns.
    pub(crate) values_kept: AtomicU64,
    /// Bytes of kept columns that were read for them.
    pub(crate) kept_bytes_read: AtomicU64,
    failures: Mutex<BTreeMap<String, Failed>>,
    /// Documents of which only a part could be decoded.
    partial: Mutex<BTreeMap<String, Failed>>,
    /// Blocks of ledgers that cannot be read, by ledger: each may be read more than once.
    blocks_lost: Mutex<BTreeMap<String, u64>>,
    /// Told after every stretch of documents.
    pub(crate) changed: Notify,
}

impl Tally {
    /// Counts a failure of `column` on the document at `url`. Of several the example with the least URL is kept, so that runs agree.
    pub(crate) fn failed(&self, column: &str, url: &str, reason: &str) {
        count(&self.failures, column, url, reason);
    }

    /// Counts a document that was looked at as far as it could be decoded.
    pub(crate) fn decoded_in_part(&self, url: &str, reason: &str) {
        count(&self.partial, RECORD, url, reason);
    }

    /// Notes that so many blocks of a ledger cannot be read.
    pub(crate) fn lost(&self, ledger: &str, blocks: u64) {
        if blocks > 0 {
            let mut lost = self.blocks_lost.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let known = lost.entry(ledger.to_owned()).or_default();
            *known = blocks.max(*known);
        }
    }

    /// Blocks of ledgers that cannot be read.
    pub(crate) fn blocks_lost(&self) -> u64 {
        self.blocks_lost.lock().unwrap_or_else(std::sync::PoisonError::into_inner).values().sum()
    }

    /// The failures so far, by name.
    pub(crate) fn failures(&self) -> Vec<Failures> {
        counted(&self.failures)
    }

    /// The documents so far of which only a part could be decoded.
    pub(crate) fn partial(&self) -> Option<Failures> {
        counted(&self.partial).pop()
    }

    /// Adds to a counter.
    pub(crate) fn add(counter: &AtomicU64, count: u64) {
        counter.fetch_add(count, Ordering::Relaxed);
    }

    /// A counter's value.
    pub(crate) fn get(counter: &AtomicU64) -> u64 {
        counter.load(Ordering::Relaxed)
    }
}

fn count(failures: &Mutex<BTreeMap<String, Failed>>, name: &str, url: &str, reason: &str) {
    let mut failures = failures.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    match failures.get_mut(name) {
        Some((count, example)) => {
            *count += 1;
            if (url, reason) < (&example.0, &example.1) {
                *example = (url.to_string(), reason.to_string());
            }
        }
        None => {
            failures.insert(name.to_string(), (1, (url.to_string(), reason.to_string())));
        }
    }
}

fn counted(failures: &Mutex<BTreeMap<String, Failed>>) -> Vec<Failures> {
    let failures = failures.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let all = failures.iter().map(|(name, (count, (url, reason)))| Failures {
        column: name.clone(),
        count: *count,
        example: format!("{url}: {reason}"),
    });
    all.collect()
}
