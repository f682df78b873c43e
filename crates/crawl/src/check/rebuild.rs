//! A checkpoint made anew from what it is about.
//!
//! After a clean stop nothing is younger than the checkpoint: the newest states are its states, the ledgers have a row for each URL
//! that they count as settled, and the archive ends where it ended then. So the lengths of the files are those that they have. After
//! a crash that is not so, and the rows do not come out even: then there is no telling, and nothing is made.

use std::collections::BTreeMap;

use mattock_env::Env;
use mattock_frontier::Frontier;
use mattock_repository::LedgerReader;
use mattock_weburl::WebUrl;

use super::frontiers;
use crate::CrawlError;
use crate::checkpoint::{Checkpoint, PartitionRecord};
use crate::directory::Directory;
use crate::summary::Totals;

/// The checkpoint that the files would belong to; `None` if they do not fit together. It counts only if everything is whole.
pub(super) fn checkpoint(
    env: &Env,
    directory: &Directory,
    prefixes: &[String],
) -> Result<Option<Checkpoint>, CrawlError> {
    // Which ledgers belong to which files only the checkpoint knew of a crawl that was divided otherwise.
    if directory.all_frontiers()? != [directory.frontiers()] {
        return Ok(None);
    }
    let found = frontiers(env, directory.frontiers())?;
    let mut checkpoint = Checkpoint { unix_micros: env.clock.unix().as_micros(), ..Checkpoint::default() };
    for (index, (partition, path)) in found.iter().enumerate() {
        let newest = Frontier::newest(env, path)?;
        let same = index == 0 || checkpoint.number == newest;
        if *partition != index || newest == 0 || !same {
            return Ok(None);
        }
        checkpoint.number = newest;
        let verified = Frontier::verify(env, path, newest, |_| {});
        let (Some(accounts), Some(queued)) = (verified.accounts, verified.waiting) else { return Ok(None) };
        let Some((ledger_bytes, rows, totals, newest)) = ledger(env, directory, index) else {
            return Ok(None);
        };
        // What comes next is later than all that is there.
        checkpoint.unix_micros = checkpoint.unix_micros.max(newest);
        if rows != accounts.fetched + accounts.failed {
            return Ok(None);
        }
        let record = PartitionRecord { ledger_bytes, queued, totals, ..PartitionRecord::default() };
        checkpoint.partitions.push(PartitionRecord {
            seen: accounts.seen,
            fetched: accounts.fetched,
            failed: accounts.failed,
            refused: accounts.refused,
            ..record
        });
    }
    let warc = directory.warc();
    let ours = |name: &str| {
        let stem = name.split_once(".warc.").map_or("", |(stem, _)| stem);
        let prefix = stem.rsplitn(3, '-').nth(2);
        prefix.is_some_and(|prefix| prefixes.iter().any(|known| known == prefix))
    };
    let archive = env.files.list(&warc).map_err(CrawlError::io("list", &warc))?;
    let archive = archive.into_iter().filter(|entry| ours(&entry.name));
    checkpoint.archive = archive.map(|entry| (entry.name, entry.len)).collect::<BTreeMap<_, _>>();
    Ok((!checkpoint.partitions.is_empty()).then_some(checkpoint))
}

/// Length and rows of a ledger, what they add up to, and when the newest was inserted; `None` if it is not whole.
fn ledger(env: &Env, directory: &Directory, partition: usize) -> Option<(u64, u64, Totals, i64)> {
    let path = directory.ledger(partition);
    let length = env.files.entry(&path).ok()??.len;
    let mut reader = LedgerReader::open(&env.files, &path, length).ok()?;
    let (mut rows, mut totals, mut newest) = (0, Totals::default(), 0);
    while reader
        .next_inserted(|row, inserted| {
            rows += 1;
            newest = newest.max(inserted.as_micros());
            *totals.outcomes.entry(row.outcome.to_owned()).or_default() += 1;
            if row.outcome == "200" {
                totals.pages += 1;
                if let Ok(url) = WebUrl::parse(row.url) {
                    totals.count_domain(url.domain(), 1);
                }
            }
        })
        .ok()?
    {}
    Some((length, rows, totals, newest))
}
