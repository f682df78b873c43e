//! The file `CHECKPOINT`.
//!
//! A line `mattock checkpoint VERSION CRC-32`, then JSON: people may look at it, and a changed byte shows. It is kept
//! twice: `CHECKPOINT.copy` has the same bytes. The empty file `BEGUN` beside it says that it was written once: where it is missing since
//! then, somebody has removed it, and the crawl is not one that was killed before its first.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use mattock_env::{Files, Unread};
use mattock_frontier::{Accounts, Counts};
use serde::{Deserialize, Serialize};

use crate::error::CheckpointProblem;
use crate::summary::Totals;
use crate::{CrawlError, sealed};

const TITLE: &str = "mattock checkpoint";
pub(crate) const VERSION: u32 = 1;
const BEGUN: &str = "BEGUN";

/// A moment of the whole crawl.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Checkpoint {
    /// Its number; that of the states of the partitions' frontiers.
    pub(crate) number: u64,
    /// When it was made: microseconds since 1970. Later than the one before.
    pub(crate) unix_micros: i64,
    /// Why the run ended, if this is its last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) end: Option<crate::End>,
    pub(crate) partitions: Vec<PartitionRecord>,
    /// How often the crawl was divided otherwise: names the directories of frontiers and ledgers.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) layout: u64,
    /// What was written before that, each time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) eras: Vec<Era>,
    /// All archive files and their lengths.
    pub(crate) archive: BTreeMap<String, u64>,
}

/// As many as a crawl can be divided among.
const PARTITIONS_MAX: usize = 1024;

/// No count and no length is larger: sums of all partitions are numbers still, whoever wrote them.
const NUMBER_MAX: u64 = 1 << 53;

fn is_number(number: u64) -> bool {
    number <= NUMBER_MAX
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What was written while the crawl had another number of partitions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Era {
    /// Names the directory of its ledgers.
    pub(crate) layout: u64,
    /// Bytes of the ledger of each partition.
    pub(crate) ledger_bytes: Vec<u64>,
    /// The archive files that its ledgers are about.
    pub(crate) archive: Vec<String>,
}

/// What belongs to one partition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PartitionRecord {
    /// Bytes of its ledger.
    pub(crate) ledger_bytes: u64,
    pub(crate) seen: u64,
    pub(crate) fetched: u64,
    pub(crate) failed: u64,
    pub(crate) refused: u64,
    pub(crate) queued: u64,
    pub(crate) in_flight: u64,
    pub(crate) totals: Totals,
}

impl PartitionRecord {
    pub(crate) fn new(ledger_bytes: u64, counts: &Counts, totals: Totals) -> PartitionRecord {
        let Accounts { seen, fetched, failed, refused } = counts.accounts;
        let (queued, in_flight) = (counts.queued, counts.in_flight);
        PartitionRecord { ledger_bytes, seen, fetched, failed, refused, queued, in_flight, totals }
    }

    /// URLs that nobody can account for.
    pub(crate) fn missing(&self) -> i64 {
        let &PartitionRecord { seen, fetched, failed, refused, queued, in_flight, .. } = self;
        Accounts { seen, fetched, failed, refused }.missing(queued + in_flight)
    }
}

impl Checkpoint {
    /// Whether the ledgers in the directory of this number count.
    pub(crate) fn has_ledgers(&self, layout: u64) -> bool {
        layout == self.layout || self.eras.iter().any(|era| era.layout == layout)
    }

    /// What is being written now: the archive files that no earlier era has.
    pub(crate) fn era(&self) -> Era {
        let earlier: BTreeSet<&String> = self.eras.iter().flat_map(|era| &era.archive).collect();
        Era {
            layout: self.layout,
            ledger_bytes: self.partitions.iter().map(|record| record.ledger_bytes).collect(),
            archive: self.archive.keys().filter(|name| !earlier.contains(name)).cloned().collect(),
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        sealed::encode(TITLE, VERSION, self)
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Checkpoint, CheckpointProblem> {
        let checkpoint: Checkpoint = sealed::decode(TITLE, VERSION, bytes)?;
        match checkpoint.is_possible() {
            true => Ok(checkpoint),
            false => Err(CheckpointProblem::Damaged),
        }
    }

    /// Whether counts and lengths are such that they can be added up: a checksum only says that somebody wrote them.
    fn is_possible(&self) -> bool {
        let of_partition = |record: &PartitionRecord| {
            let &PartitionRecord { ledger_bytes, seen, fetched, failed, refused, queued, in_flight, .. } =
                record;
            let mut counts = [ledger_bytes, seen, fetched, failed, refused, queued, in_flight].into_iter();
            counts.all(is_number) && record.totals.numbers().all(is_number)
        };
        let of_era = |era: &Era| is_number(era.layout) && era.ledger_bytes.iter().copied().all(is_number);
        self.partitions.len() <= PARTITIONS_MAX
            && is_number(self.number)
            && is_number(self.layout)
            && is_number(self.unix_micros.unsigned_abs())
            && self.partitions.iter().all(of_partition)
            && self.eras.iter().all(of_era)
            && self.archive.values().copied().all(is_number)
    }

    /// Writes the file and its copy, and with the first of them the mark that there is one.
    pub(crate) fn write(&self, files: &Files, path: &Path) -> io::Result<()> {
        files.write_twice(path, &self.encode())?;
        if self.number == 1 { files.write_atomic(&path.with_file_name(BEGUN), &[]) } else { Ok(()) }
    }

    /// Whether there was a first one at `path` once. Later ones show by the states that they name.
    pub(crate) fn was_written(files: &Files, path: &Path) -> Result<bool, CrawlError> {
        let mark = path.with_file_name(BEGUN);
        Ok(files.entry(&mark).map_err(CrawlError::io("look at", &mark))?.is_some())
    }

    /// Reads the file or its copy; `None` if there is none.
    pub(crate) fn read(files: &Files, path: &Path) -> Result<Option<Checkpoint>, CrawlError> {
        found(path, files.read_either(path, Checkpoint::decode))
    }

    /// The same for whoever goes on from there: from now on the file and its copy are of the same checkpoint, so that what belongs to
    /// another one can go.
    pub(crate) fn settle(files: &Files, path: &Path) -> Result<Option<Checkpoint>, CrawlError> {
        if let Some(damaged) = files.damaged_twin(path, Checkpoint::decode) {
            tracing::warn!(file = %damaged.display(), "damaged, and written anew from its copy: the disk may be failing");
        }
        found(path, files.settle_twice(path, Checkpoint::decode))
    }
}

fn found(
    path: &Path,
    found: Result<Checkpoint, Unread<CheckpointProblem>>,
) -> Result<Option<Checkpoint>, CrawlError> {
    match found {
        Ok(checkpoint) => Ok(Some(checkpoint)),
        Err(unread) if unread.is_missing() => Ok(None),
        Err(Unread::Io(error)) => Err(CrawlError::io("read", path)(error)),
        Err(Unread::Content(problem)) => Err(CrawlError::Checkpoint { path: path.to_path_buf(), problem }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_that_cannot_be_added_up_are_damaged_though_the_checksum_is_right() {
        let sound =
            Checkpoint { number: 7, partitions: vec![PartitionRecord::default()], ..Checkpoint::default() };
        assert!(Checkpoint::decode(&sound.encode()).is_ok());
        let with = |record: PartitionRecord| Checkpoint { partitions: vec![record], ..sound.clone() };
        let totals = |totals: Totals| with(PartitionRecord { totals, ..PartitionRecord::default() });
        for forged in [
            with(PartitionRecord { seen: 1 << 63, ..PartitionRecord::default() }),
            with(PartitionRecord { ledger_bytes: u64::MAX, ..PartitionRecord::default() }),
            totals(Totals { pages: u64::MAX, ..Totals::default() }),
            totals(Totals { outcomes: BTreeMap::from([("200".to_owned(), u64::MAX)]), ..Totals::default() }),
            Checkpoint { number: u64::MAX, ..sound.clone() },
            Checkpoint { unix_micros: i64::MIN, ..sound.clone() },
            Checkpoint { archive: BTreeMap::from([("a.warc.gz".to_owned(), 1 << 63)]), ..sound.clone() },
            Checkpoint { partitions: vec![PartitionRecord::default(); 1025], ..sound.clone() },
        ] {
            assert!(
                matches!(Checkpoint::decode(&forged.encode()), Err(CheckpointProblem::Damaged)),
                "{forged:?}"
            );
        }
    }

    #[test]
    fn every_changed_bit_and_every_missing_byte_shows() {
        let mut checkpoint = Checkpoint { number: 7, unix_micros: 12, ..Checkpoint::default() };
        checkpoint.partitions.push(PartitionRecord { seen: 5, fetched: 5, ..PartitionRecord::default() });
        checkpoint.archive.insert("a.warc.gz".into(), 17);
        let bytes = checkpoint.encode();
        assert_eq!(Checkpoint::decode(&bytes).unwrap(), checkpoint);
        for at in 0..bytes.len() {
            assert!(Checkpoint::decode(&bytes[..at]).is_err(), "{at}");
            for bit in 0..8 {
                let mut bytes = bytes.clone();
                bytes[at] ^= 1 << bit;
                assert!(Checkpoint::decode(&bytes).is_err(), "{at} {bit}");
            }
        }
        let other = String::from_utf8(bytes).unwrap().replacen("checkpoint 1", "checkpoint 2", 1);
        assert!(matches!(Checkpoint::decode(other.as_bytes()), Err(CheckpointProblem::Version(2))));
    }
}
