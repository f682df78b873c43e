//! A crawl as its last checkpoint knows it, for reading only: it may be running.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mattock_env::{Env, UnixTime};
use mattock_frontier::Accounts;
use mattock_repository::{LedgerReader, RepositoryError, Row};

use crate::checkpoint::Checkpoint;
use crate::directory::Directory;
use crate::{Config, CrawlError, End, RawConfig};

/// A crawl at its last checkpoint.
#[derive(Debug)]
pub struct SavedCrawl {
    env: Env,
    directory: Directory,
    raw: RawConfig,
    checkpoint: Checkpoint,
}

/// What a partition had at the checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartitionCounts {
    /// URLs that are known, and those that are settled.
    pub accounts: Accounts,
    /// URLs that wait.
    pub queued: u64,
    /// Visits that were under way.
    pub in_flight: u64,
}

impl PartitionCounts {
    /// URLs that nobody can account for; 0 unless there is a bug.
    pub fn missing(&self) -> i64 {
        self.accounts.missing(self.queued + self.in_flight)
    }
}

impl SavedCrawl {
    /// Looks at the crawl in `root`. Before its first checkpoint it is empty.
    pub fn open(env: &Env, root: &Path) -> Result<SavedCrawl, CrawlError> {
        let (directory, raw) = Directory::open(&env.files, root)?;
        let raw = raw.ok_or_else(|| CrawlError::NoCrawl { path: root.to_path_buf() })?;
        let checkpoint = Checkpoint::read(&env.files, &directory.checkpoint())?.unwrap_or_default();
        Ok(SavedCrawl { env: env.clone(), directory, raw, checkpoint })
    }

    /// The checkpoint's number; 0 before the first.
    pub fn number(&self) -> u64 {
        self.checkpoint.number
    }

    /// When it was made.
    pub fn time(&self) -> UnixTime {
        UnixTime::from_micros(self.checkpoint.unix_micros)
    }

    /// Why the run ended whose last checkpoint this is.
    pub fn end(&self) -> Option<End> {
        self.checkpoint.end
    }

    /// The configuration of the last run.
    pub fn config(&self) -> Result<Config, CrawlError> {
        Ok(self.raw.check()?)
    }

    /// What each partition had.
    pub fn partitions(&self) -> impl ExactSizeIterator<Item = PartitionCounts> {
        self.checkpoint.partitions.iter().map(|record| PartitionCounts {
            accounts: Accounts {
                seen: record.seen,
                fetched: record.fetched,
                failed: record.failed,
                refused: record.refused,
            },
            queued: record.queued,
            in_flight: record.in_flight,
        })
    }

    /// The archive's files and their lengths.
    pub fn archive(&self) -> &BTreeMap<String, u64> {
        &self.checkpoint.archive
    }

    /// The directory of the archive.
    pub fn warc(&self) -> PathBuf {
        self.directory.warc()
    }

    /// The directory of a partition's frontier.
    pub fn frontier(&self, partition: usize) -> PathBuf {
        self.directory.frontiers().join(partition.to_string())
    }

    /// The ledger of a partition: what became of its URLs; `None` if it has none yet.
    pub fn ledger(&self, partition: usize) -> Result<Option<LedgerReader>, RepositoryError> {
        let record = self.checkpoint.partitions.get(partition).filter(|record| record.ledger_bytes > 0);
        let path = self.directory.ledgers().join(partition.to_string());
        record.map(|record| LedgerReader::open(&self.env.files, &path, record.ledger_bytes)).transpose()
    }

    /// Hands out what became of every URL that is settled.
    pub fn rows(&self, mut visit: impl FnMut(&Row<'_>)) -> Result<(), RepositoryError> {
        for partition in 0..self.checkpoint.partitions.len() {
            if let Some(mut ledger) = self.ledger(partition)? {
                while ledger.next_block(&mut visit)? {}
            }
        }
        Ok(())
    }
}
