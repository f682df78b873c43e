//! A crawl divided among another number of partitions, before it goes on.
//!
//! ```text
//!  CHECKPOINT n: N partitions ──► state/frontier-L/0…M−1, saved as n + 1 ──► CHECKPOINT n + 1: M partitions ──► the old ones go
//!                ledgers, old frontiers: read only                           the one step that counts
//! ```
//!
//! Done by [`Crawl::open`](crate::Crawl::open) when the configuration asks for another number than the checkpoint has. `crawl.toml` is
//! written before, and says what is wanted; what is, the checkpoint says. Whatever happens on the way, the crawl is at the one checkpoint or at
//! the other; what an attempt left behind [goes](remove_litter) with the next one.
//!
//! Frontiers are [written anew](mattock_frontier::split). Archive and ledgers stay as they are: an [`Era`](crate::checkpoint::Era) of the checkpoint says which
//! ledgers there were and which archive files they are about, and the new partitions begin ledgers and files of their own. Counts that
//! belong to no domain (bytes, outcomes, robots.txt files, …) become the first partition's.
//!
//! The same way [`check --repair`](crate::check::repair) makes frontiers anew whose files are damaged, from what can be read; the
//! damaged ones are put aside.
//!
//! Costs: see there; the ledgers are read once, if there is more than one partition to come.

use std::path::{Path, PathBuf};

use mattock_env::Env;
use mattock_frontier::Counts;
use mattock_frontier::blocklist::Blocklist;
use mattock_frontier::split::{self, Divided, DivisionOptions};
use mattock_repository::LedgerReader;
use mattock_weburl::WebUrl;

use crate::checkpoint::{Checkpoint, Era, PartitionRecord, moment};
use crate::directory::Directory;
use crate::member::frontier_options;
use crate::summary::Totals;
use crate::{Config, CrawlError, exchange};

/// A directory that belonged to no checkpoint.
pub(crate) enum Cleared {
    Removed(PathBuf),
    /// It was damaged, and is here now.
    PutAside(PathBuf),
}

/// Removes what does not belong to a checkpoint: frontiers of an earlier division, and of one that was interrupted. Those that were damaged
/// are put aside.
pub(crate) fn remove_litter(
    env: &Env,
    directory: &Directory,
    checkpoint: &Checkpoint,
) -> Result<Vec<Cleared>, CrawlError> {
    let mut litter = directory.litter(checkpoint)?;
    if checkpoint.number == 0 {
        litter.extend(surplus(env, &directory.frontiers(), checkpoint.partitions.len())?);
    }
    let mut cleared = Vec::with_capacity(litter.len());
    for path in litter {
        let mark = Directory::damage_mark(&path);
        if env.files.entry(&mark).map_err(CrawlError::io("look at", &mark))?.is_some() {
            let aside = directory.aside()?;
            env.files.rename(&path, &aside).map_err(CrawlError::io("rename", &path))?;
            cleared.push(Cleared::PutAside(aside));
        } else {
            env.files.remove_dir_all(&path).map_err(CrawlError::io("remove", &path))?;
            cleared.push(Cleared::Removed(path));
        }
    }
    if !cleared.is_empty() {
        let state = directory.state();
        env.files.sync_dir(&state).map_err(CrawlError::io("sync", &state))?;
    }
    Ok(cleared)
}

/// Frontiers of more partitions than there are, of a run that never came to a checkpoint.
fn surplus(env: &Env, path: &Path, partitions: usize) -> Result<Vec<PathBuf>, CrawlError> {
    let entry = env.files.entry(path).map_err(CrawlError::io("look at", path))?;
    if entry.is_none_or(|entry| !entry.is_dir) {
        return Ok(Vec::new());
    }
    let entries = env.files.list(path).map_err(CrawlError::io("list", path))?.into_iter();
    let surplus =
        entries.filter(|entry| entry.is_dir && entry.name.parse().is_ok_and(|of: usize| of >= partitions));
    Ok(surplus.map(|entry| path.join(entry.name)).collect())
}

/// What is needed to divide a crawl.
pub(crate) struct Division<'a> {
    pub(crate) env: &'a Env,
    pub(crate) directory: &'a Directory,
    pub(crate) config: &'a Config,
}

impl Division<'_> {
    /// Divides a crawl that does not run, from its checkpoint on, among as many partitions as are configured; the new checkpoint, which
    /// counts now.
    pub(crate) fn divide(&self, from: &Checkpoint) -> Result<Checkpoint, CrawlError> {
        let (before, partitions) = (from.partitions.len(), self.config.partitions);
        tracing::info!(before, partitions, "dividing the crawl among another number of partitions");
        let (checkpoint, _) = self.write(from, false)?;
        remove_litter(self.env, self.directory, &checkpoint)?;
        Ok(checkpoint)
    }

    /// Makes the frontiers of a crawl anew from what can be read of them; the damaged ones are litter then, which is put aside.
    pub(crate) fn remake(&self, from: &Checkpoint) -> Result<(Checkpoint, Divided), CrawlError> {
        let damaged = self.directory.with_layout(from.layout).frontiers();
        let mark = Directory::damage_mark(&damaged);
        let why =
            b"Damaged, and made anew by `mattock check --repair`. Nothing needs these files any more.\n";
        self.env.files.write_atomic(&mark, why).map_err(CrawlError::io("write", &mark))?;
        self.write(from, true)
    }

    fn write(&self, from: &Checkpoint, salvage: bool) -> Result<(Checkpoint, Divided), CrawlError> {
        let (before, partitions) = (from.partitions.len(), self.config.partitions);
        let number = from.number + 1;
        let old = self.directory.with_layout(from.layout);
        let new = self.directory.with_layout(from.layout + 1);
        let sync = |path: &Path| self.env.files.sync_dir(path).map_err(CrawlError::io("sync", path));
        for path in [new.frontiers(), new.ledgers()] {
            self.env.files.create_dir_all(&path).map_err(CrawlError::io("create", &path))?;
        }
        for (index, record) in from.partitions.iter().enumerate() {
            // Nobody will write to them again.
            old.cut_ledger(&old.ledger(index), record.ledger_bytes)?;
        }
        let old_frontiers: Vec<_> = (0..before).map(|index| old.frontier(index)).collect();
        let new_frontiers: Vec<_> = (0..partitions).map(|index| new.frontier(index)).collect();
        let mut division = split::Division::open(
            self.env,
            DivisionOptions {
                from: &old_frontiers,
                from_checkpoint: from.number,
                to: &new_frontiers,
                to_checkpoint: number,
                scratch: &self.directory.dividing(),
                owner_of: exchange::owner_of_domain,
                frontier: frontier_options(self.config, Blocklist::default(), partitions),
                salvage,
            },
        )?;
        if partitions > 1 || salvage {
            for era in from.eras.iter().chain([&from.era()]) {
                self.tell_settled(era, &mut division)?;
            }
        }
        let divided = division.finish()?;
        for path in [new.frontiers(), self.directory.state()] {
            sync(&path)?;
        }
        let checkpoint = Checkpoint {
            number,
            unix_micros: moment(self.env.clock.unix(), from.unix_micros),
            end: None,
            partitions: records(from, &divided.counts),
            layout: from.layout + 1,
            eras: from.eras.iter().cloned().chain([from.era()]).collect(),
            archive: from.archive.clone(),
        };
        let path = self.directory.checkpoint();
        let written = checkpoint.write(&self.env.files, &path);
        written.map_err(CrawlError::io("write", &path))?;
        Ok((checkpoint, divided))
    }

    /// Tells which URLs the ledgers of an era have. Blocks that are damaged are left out: their URLs are then known to all partitions.
    fn tell_settled(&self, era: &Era, division: &mut split::Division) -> Result<(), CrawlError> {
        let directory = self.directory.with_layout(era.layout);
        for (index, &bytes) in era.ledger_bytes.iter().enumerate().filter(|(_, bytes)| **bytes > 0) {
            let path = directory.ledger(index);
            let (mut ledger, wrong) = match LedgerReader::open_damaged(&self.env.files, &path, bytes) {
                Err(error) if error.is_loss() => {
                    division.some_are_unknown();
                    tracing::warn!(%error, "a ledger cannot be read");
                    continue;
                }
                opened => opened?,
            };
            let mut damage = wrong;
            loop {
                let mut told = Ok(());
                let read = ledger.next_block(|row| {
                    if told.is_ok()
                        && let Ok(url) = WebUrl::parse(row.url)
                    {
                        // Statuses are numbers, and failures have names.
                        told = division.settled(&url, row.outcome.parse::<u16>().is_ok());
                    }
                });
                told?;
                match read {
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(error) if error.is_loss() => damage = Some(error),
                    Err(error) => return Err(error.into()),
                }
            }
            if let Some(error) = damage {
                division.some_are_unknown();
                tracing::warn!(%error, "rows of a ledger cannot be read");
            }
        }
        Ok(())
    }
}

/// What each of the new partitions has: pages of domains go with them, and all other counts to the first.
fn records(from: &Checkpoint, counts: &[Counts]) -> Vec<PartitionRecord> {
    let mut totals = vec![Totals::default(); counts.len()];
    let mut all = Totals::default();
    from.partitions.iter().for_each(|record| all.add(record.totals.clone()));
    for (domain, pages) in std::mem::take(&mut all.domains) {
        let url = WebUrl::parse(&format!("http://{domain}/"));
        let owner = url.map_or(0, |url| exchange::owner(&url, counts.len()));
        let pages = pages.min(all.pages);
        all.pages -= pages;
        totals[owner].pages += pages;
        totals[owner].count_domain(&domain, pages);
    }
    totals[0].add(all);
    for (totals, counts) in totals.iter_mut().zip(counts) {
        totals.copies += counts.content.copies;
        totals.near_copies += counts.content.near_copies;
    }
    counts.iter().zip(totals).map(|(counts, totals)| PartitionRecord::new(0, counts, totals)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_divided_and_none_is_lost() {
        let record = |names: &[&str]| {
            let mut totals = Totals { bytes: 100, errors: 1, ..Totals::default() };
            for name in names {
                totals.pages += 1;
                totals.count_domain(name, 1);
            }
            *totals.outcomes.entry("200".into()).or_default() += totals.pages;
            PartitionRecord { totals, ..PartitionRecord::default() }
        };
        let names: Vec<String> = (0..40).map(|number| format!("site-{number}.com")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let from = Checkpoint {
            partitions: vec![record(&names[..10]), record(&names[10..]), record(&names[..5])],
            ..Checkpoint::default()
        };
        for partitions in [1, 2, 5] {
            let records = records(&from, &vec![Counts::default(); partitions]);
            let mut sum = Totals::default();
            for (index, record) in records.iter().enumerate() {
                assert_eq!(record.totals.pages, record.totals.domains.values().sum::<u64>());
                for domain in record.totals.domains.keys() {
                    let url = WebUrl::parse(&format!("http://www.{domain}/page")).unwrap();
                    assert_eq!(exchange::owner(&url, partitions), index);
                }
                sum.add(record.totals.clone());
            }
            assert_eq!((sum.pages, sum.bytes, sum.errors, sum.domains.len()), (45, 300, 3, 40));
            assert_eq!(sum.outcomes["200"], 45);
        }
    }
}
