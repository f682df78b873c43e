//! A crawl as its last checkpoint knows it, for reading only: it may be running.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use mattock_env::{Env, UnixTime};
use mattock_frontier::look::Look;
use mattock_frontier::{Accounts, FrontierError};
use mattock_repository::{LedgerReader, RepositoryError, Row};
use mattock_weburl::WebUrl;
use xxhash_rust::xxh3::Xxh3;

use crate::checkpoint::{Checkpoint, Era};
use crate::directory::Directory;
use crate::summary::Totals;
use crate::{
    CheckpointProblem, Config, CrawlError, End, GrantedAnalyzers, RawConfig, Status, exchange, reach,
};

/// A crawl at its last checkpoint.
#[derive(Debug)]
pub struct SavedCrawl {
    env: Env,
    directory: Directory,
    raw: RawConfig,
    checkpoint: Checkpoint,
}

/// A ledger, as far as the checkpoint has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedLedger {
    /// What names it in this crawl for ever.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
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

/// What all partitions have counted, in all runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavedTotals {
    /// Pages (status 200).
    pub pages: u64,
    /// Bytes received.
    pub bytes: u64,
    /// What became of the URLs that were fetched: statuses and failures with their counts.
    pub outcomes: BTreeMap<String, u64>,
    /// Why URLs were not fetched: reasons with their counts.
    pub refused: BTreeMap<String, u64>,
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
        let env = &env.within(root);
        let nothing = || CrawlError::NoCrawl { path: root.to_path_buf() };
        let (directory, raw) = Directory::open(&env.files, root).map_err(|error| match error {
            CrawlError::NotACrawl { .. } => nothing(),
            other => other,
        })?;
        let raw = raw.ok_or_else(nothing)?;
        let env = Env { files: env.files.with_outside(reach::readable(env, root, &raw)), ..env.clone() };
        let checkpoint = Checkpoint::read(&env.files, &directory.checkpoint())?.unwrap_or_default();
        Ok(SavedCrawl { env, directory, raw, checkpoint })
    }

    /// Whether nothing of the state is there, but an archive is.
    pub fn has_lost_state(&self) -> Result<bool, CrawlError> {
        self.directory.has_lost_state()
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
        Ok(self.raw.check_saved()?)
    }

    /// The analyzers that it names, as far as this user stands for them.
    pub fn analyzers(&self) -> Result<GrantedAnalyzers, CrawlError> {
        Ok(GrantedAnalyzers::of(&self.env, self.directory.root(), self.config()?.analyzers))
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

    /// What all of them have counted.
    pub fn totals(&self) -> SavedTotals {
        let mut totals = Totals::default();
        self.checkpoint.partitions.iter().for_each(|record| totals.add(record.totals.clone()));
        let Totals { pages, bytes, outcomes, refused, .. } = totals;
        SavedTotals { pages, bytes, outcomes, refused }
    }

    /// What the process that crawls said last, if it has not ended in good order.
    pub fn status(&self) -> Option<Status> {
        Status::read(&self.env.files, &self.directory.status())
    }

    /// The partition that a URL belongs to.
    pub fn owner(&self, url: &WebUrl) -> usize {
        exchange::owner(url, self.checkpoint.partitions.len().max(1))
    }

    /// A partition's frontier.
    pub fn look(&self, partition: usize) -> Result<Look, FrontierError> {
        Look::open(&self.env, &self.frontier(partition), self.number())
    }

    /// One number for everything that the checkpoint says, in 32 digits: every URL that was seen, what waits and in which order, what is
    /// known of hosts, budgets, counts, and the lengths of archive and ledgers. Two checkpoints that say the same have the same, whatever
    /// their numbers and times. All of the state is read for it.
    pub fn state_hash(&self) -> Result<String, CrawlError> {
        state_hash(&self.env, &self.directory, &self.checkpoint)
    }

    /// Looks at the state of the crawl in `root`. If that makes a checkpoint meanwhile, so that what is looked at is gone, begins again with
    /// the newer one.
    pub(crate) fn with<T>(
        env: &Env,
        root: &Path,
        mut look: impl FnMut(&SavedCrawl) -> Result<T, CrawlError>,
    ) -> Result<T, CrawlError> {
        let mut before = None;
        loop {
            let saved = SavedCrawl::open(env, root)?;
            if saved.has_lost_state()? {
                let path = saved.directory.checkpoint();
                return Err(CrawlError::Checkpoint { path, problem: CheckpointProblem::Gone });
            }
            match look(&saved) {
                // Checkpoints are made far more rarely than this can fail; the same one does not come back.
                Err(CrawlError::Frontier(error))
                    if error.has_moved_on() && before.is_none_or(|before| before < saved.number()) =>
                {
                    before = Some(saved.number());
                }
                other => return other,
            }
        }
    }

    pub(crate) fn env(&self) -> &Env {
        &self.env
    }

    pub(crate) fn record(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// The archive's files and their lengths.
    pub fn archive(&self) -> &BTreeMap<String, u64> {
        &self.checkpoint.archive
    }

    /// The directory of the archive.
    pub fn warc(&self) -> PathBuf {
        self.directory.warc()
    }

    /// What the operator has blocked.
    pub(crate) fn blocks(&self) -> PathBuf {
        self.directory.blocks()
    }

    /// The directory of a partition's frontier.
    pub fn frontier(&self, partition: usize) -> PathBuf {
        self.directory.with_layout(self.checkpoint.layout).frontier(partition)
    }

    /// The ledger of a partition: what became of its URLs since the crawl was divided so; `None` if it has none yet.
    pub fn ledger(&self, partition: usize) -> Result<Option<LedgerReader>, RepositoryError> {
        self.ledger_of(&self.checkpoint.era(), partition)
    }

    fn ledger_of(&self, era: &Era, partition: usize) -> Result<Option<LedgerReader>, RepositoryError> {
        let bytes = era.ledger_bytes.get(partition).copied().filter(|bytes| *bytes > 0);
        let path = self.directory.with_layout(era.layout).ledger(partition);
        bytes.map(|bytes| LedgerReader::open(&self.env.files, &path, bytes)).transpose()
    }

    /// Whether somebody is crawling: a checkpoint may be under way that is of an earlier moment than now.
    pub fn is_in_use(&self) -> bool {
        self.directory.is_in_use()
    }

    /// All ledgers with anything in them, those of earlier divisions first.
    pub fn ledgers(&self) -> Vec<SavedLedger> {
        let current = self.checkpoint.era();
        let mut ledgers = Vec::new();
        for era in self.checkpoint.eras.iter().chain([&current]) {
            let directory = self.directory.with_layout(era.layout);
            for (partition, &bytes) in era.ledger_bytes.iter().enumerate().filter(|(_, bytes)| **bytes > 0) {
                let name = format!("{}/{partition}", era.layout);
                ledgers.push(SavedLedger { name, path: directory.ledger(partition), bytes });
            }
        }
        ledgers
    }

    /// The ledgers from before the crawl was divided otherwise that may know any of these URLs, the oldest first.
    pub(crate) fn earlier_ledgers(&self, urls: &[&WebUrl]) -> Result<Vec<LedgerReader>, RepositoryError> {
        let mut ledgers = Vec::new();
        for era in &self.checkpoint.eras {
            let count = era.ledger_bytes.len().max(1);
            let owners: BTreeSet<usize> = urls.iter().map(|url| exchange::owner(url, count)).collect();
            for owner in owners {
                ledgers.extend(self.ledger_of(era, owner)?);
            }
        }
        Ok(ledgers)
    }

    /// Hands out what became of every URL that is settled.
    pub fn rows(&self, mut visit: impl FnMut(&Row<'_>)) -> Result<(), RepositoryError> {
        for era in self.checkpoint.eras.iter().chain([&self.checkpoint.era()]) {
            for partition in 0..era.ledger_bytes.len() {
                if let Some(mut ledger) = self.ledger_of(era, partition)? {
                    while ledger.next_block(&mut visit)? {}
                }
            }
        }
        Ok(())
    }
}

/// The hash of what a checkpoint says.
pub(crate) fn state_hash(
    env: &Env,
    directory: &Directory,
    checkpoint: &Checkpoint,
) -> Result<String, CrawlError> {
    let mut hasher = Xxh3::new();
    // Its number and its time say when, and not what.
    let what = Checkpoint { number: 0, unix_micros: 0, end: None, ..checkpoint.clone() };
    hasher.update(&what.encode());
    for partition in 0..checkpoint.partitions.len() {
        hasher.update(&(partition as u64).to_le_bytes());
        let dir = directory.with_layout(checkpoint.layout).frontier(partition);
        Look::digest(env, &dir, checkpoint.number, &mut |bytes| hasher.update(bytes))?;
    }
    Ok(format!("{:032x}", hasher.digest128()))
}
