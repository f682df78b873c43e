//! The checkpoint and the frontiers that it names.

use std::path::Path;

use mattock_frontier::{Accounts, Frontier, Verified};

use super::report::FindingKind;
use super::{Check, bytes_below};
use crate::CrawlError;
use crate::checkpoint::PartitionRecord;

/// How often a partition is looked at whose crawl has moved on meanwhile.
const TRIES: usize = 5;
/// What is said of a file whose copy is whole, or of a copy whose file is.
pub(super) const DAMAGED_TWIN: &str = "it is damaged, and the other one of the two is whole";

impl Check<'_> {
    /// Verifies all frontiers; whether there is a checkpoint, and so an archive that can be held against it.
    pub(super) fn frontiers(&mut self, partitions: Option<usize>) -> Result<bool, CrawlError> {
        let Some(checkpoint) = self.checkpoint()? else { return Ok(false) };
        let count = checkpoint.partitions.len();
        if let Some(partitions) = partitions.filter(|partitions| *partitions != count) {
            let what = format!(
                "it is of {count} partitions, and crawl.toml says {partitions}: the next run divides the crawl so"
            );
            self.found.note(FindingKind::Checkpoint, &self.directory.checkpoint(), what);
        }
        if !self.report.running {
            for left in self.directory.litter(&checkpoint)? {
                let what = "another division of the crawl needed it, and the next run removes it";
                self.found.note(FindingKind::Younger, &left, what);
            }
        }
        for partition in 0..count {
            self.frontier(partition)?;
        }
        Ok(true)
    }

    /// Verifies one frontier at the newest checkpoint, as long as that stays the newest.
    fn frontier(&mut self, partition: usize) -> Result<(), CrawlError> {
        let mut dir = self.directory.frontier(partition);
        let before = self.progress.done;
        for _ in 0..TRIES {
            let Some(checkpoint) = self.read_checkpoint()? else { break };
            dir = self.directory.with_layout(checkpoint.layout).frontier(partition);
            self.progress.done = before;
            let verified = self.verify(&dir, checkpoint.number);
            let newer = self.read_checkpoint()?;
            let is_whole = verified.problems.is_empty() && verified.twins.is_empty();
            if is_whole || newer.is_some_and(|newer| newer.number == checkpoint.number) {
                let record = checkpoint.partitions.get(partition);
                self.judge(&dir, &verified, record.unwrap_or(&PartitionRecord::default()));
                if !self.report.running {
                    for left in Frontier::leftovers(self.env, &dir, checkpoint.number)? {
                        self.found.note(FindingKind::Younger, &left, "only another checkpoint needs it");
                    }
                }
                return Ok(());
            }
        }
        let what = "the crawl goes from checkpoint to checkpoint faster than this can be read";
        self.found.note(FindingKind::Unchecked, &dir, what);
        Ok(())
    }

    fn verify(&mut self, dir: &Path, number: u64) -> Verified {
        let (env, progress) = (self.env, &mut self.progress);
        Frontier::verify(env, dir, number, |path| {
            let bytes = match env.files.entry(path) {
                Ok(Some(entry)) if entry.is_dir => bytes_below(env, path).unwrap_or(0),
                Ok(Some(entry)) => entry.len,
                _ => 0,
            };
            progress.add(bytes, path);
        })
    }

    /// Takes over what is wrong, and compares what the state says with what the checkpoint says.
    fn judge(&mut self, dir: &Path, verified: &Verified, record: &PartitionRecord) {
        for problem in &verified.problems {
            let what = problem.what.clone();
            self.found.problem(FindingKind::State, &problem.path, Some(problem.offset), what);
        }
        for path in &verified.twins {
            self.found.problem(FindingKind::Copy, path, None, DAMAGED_TWIN);
        }
        let told = record.accounts();
        if let Some(accounts) = verified.accounts.filter(|accounts| *accounts != told) {
            let what = format!("its state says {accounts:?}, and the checkpoint {told:?}");
            self.found.problem(FindingKind::Accounts, dir, None, what);
        }
        let open = record.queued + record.in_flight;
        if let Some(waiting) = verified.waiting.filter(|waiting| *waiting != open) {
            let what = format!("{waiting} URLs wait in it, and the checkpoint says {open}");
            self.found.problem(FindingKind::Accounts, dir, None, what);
        }
        if record.missing() != 0 {
            let what = format!("{} URLs are unaccounted for", record.missing());
            self.found.problem(FindingKind::Accounts, dir, None, what);
        }
    }
}

impl PartitionRecord {
    pub(crate) fn accounts(&self) -> Accounts {
        let &PartitionRecord { seen, fetched, failed, refused, .. } = self;
        Accounts { seen, fetched, failed, refused }
    }
}
