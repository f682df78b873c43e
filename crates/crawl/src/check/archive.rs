//! The archive, record by record, and beside it the ledgers, row by row.
//!
//! A partition writes a page's records, and then its row; so the rows that have a place stand in the order of the archive, and
//! both are read side by side. Robots.txt files are the only responses without a row.

use std::collections::BTreeMap;
use std::path::Path;

use mattock_repository::{Digest, RecordType, RepositoryError, StoredRecord, WarcReader};

use super::Check;
use super::ledger::{Ledger, Ledgers};
use super::payloads::Payloads;
use super::report::FindingKind;
use super::robots::Robots;
use super::rows::{PlacedRow, Rows};
use crate::CrawlError;
use crate::checkpoint::{Checkpoint, Era};
use crate::saved::state_hash;

/// The version that the crawl writes.
const WARC_VERSION: &str = "1.1";

impl Check<'_> {
    /// Reads archive and ledgers up to the newest checkpoint.
    pub(super) fn archive(&mut self) -> Result<(), CrawlError> {
        let checkpoint = self.read_checkpoint()?.unwrap_or_default();
        self.report.checkpoint = checkpoint.number;
        self.report.checkpoint_unix_s = checkpoint.unix_micros.div_euclid(1_000_000);
        self.report.partitions = checkpoint.partitions.len() as u64;
        // What is damaged has none, and of a crawl that runs this checkpoint may be gone by now.
        self.report.state_hash = state_hash(self.env, &self.directory, &checkpoint).ok();
        let files = self.files(&checkpoint)?;
        for record in &checkpoint.partitions {
            self.report.urls_seen += record.seen;
            self.report.urls_settled += record.accounts().settled();
            self.report.urls_open += record.queued + record.in_flight;
        }
        let mut ledgers = Ledgers::new(self.env, checkpoint.partitions.len(), !checkpoint.eras.is_empty());
        for era in checkpoint.eras.iter().chain([&checkpoint.era()]) {
            for partition in 0..era.ledger_bytes.len() {
                let ours = files_of(&checkpoint, era, partition);
                let (path, length) =
                    (self.directory.with_layout(era.layout).ledger(partition), era.ledger_bytes[partition]);
                let rows = self.side_by_side(&path, length, &ours, &files);
                let Some(rows) = rows else { continue };
                self.report.rows += rows.count;
                let ledger =
                    Ledger { path: path.clone(), length, rows: rows.count, damaged: rows.damaged > 0 };
                ledgers.add(ledger, partition, era.ledger_bytes.len(), &mut self.found);
                self.grown(&path, length)?;
            }
        }
        let settled: Vec<u64> =
            checkpoint.partitions.iter().map(|record| record.fetched + record.failed).collect();
        ledgers.compare(&settled, &mut self.found);
        ledgers.twice(&mut self.found);
        Ok(())
    }

    /// Reads a ledger and the archive files that it is about; the ledger, if there is one, at its end.
    fn side_by_side(
        &mut self,
        path: &Path,
        length: u64,
        ours: &[(&str, u64)],
        files: &BTreeMap<String, u64>,
    ) -> Option<Rows> {
        let mut rows =
            (length > 0).then(|| Rows::open(self.env, path.to_path_buf(), length, &mut self.found));
        let mut seen = Seen::default();
        let order: BTreeMap<&str, usize> =
            ours.iter().enumerate().map(|(at, (name, _))| (*name, at)).collect();
        for (at, (name, length)) in ours.iter().enumerate() {
            self.pass_rows(&mut rows, |row| order.get(&*row.file).is_none_or(|of| *of < at));
            self.file(name, *length, files, &mut rows, &mut seen);
            self.pass_rows(&mut rows, |row| *row.file == **name);
        }
        self.pass_rows(&mut rows, |_| true);
        rows
    }

    /// Lengths of the archive's files as they are.
    fn files(&mut self, checkpoint: &Checkpoint) -> Result<BTreeMap<String, u64>, CrawlError> {
        let warc = self.directory.warc();
        let mut files = BTreeMap::new();
        if self.env.files.entry(&warc).map_err(CrawlError::io("look at", &warc))?.is_some() {
            for entry in self.env.files.list(&warc).map_err(CrawlError::io("list", &warc))? {
                files.insert(entry.name, entry.len);
            }
        }
        for (name, &length) in &checkpoint.archive {
            let path = warc.join(name);
            let what = match files.get(name) {
                None => "the checkpoint names it, and it is not there".to_owned(),
                Some(&bytes) if bytes < length => {
                    format!("it has {bytes} bytes, and the checkpoint says {length}")
                }
                Some(&bytes) => {
                    if bytes > length && !self.report.running {
                        let what = format!("{} bytes were written after the checkpoint", bytes - length);
                        self.found.note(FindingKind::Younger, &path, what);
                    }
                    continue;
                }
            };
            self.found.problem(FindingKind::ArchiveFile, &path, None, what);
        }
        let unknown = |name: &&String| !self.report.running && !checkpoint.archive.contains_key(*name);
        for name in files.keys().filter(unknown) {
            let what = "the checkpoint does not know it: it is younger, or of somebody else";
            self.found.note(FindingKind::Younger, &warc.join(name), what);
        }
        Ok(files)
    }

    /// Notes what was written to a ledger after the checkpoint.
    fn grown(&mut self, path: &Path, length: u64) -> Result<(), CrawlError> {
        if self.report.running {
            return Ok(());
        }
        let entry = self.env.files.entry(path).map_err(CrawlError::io("look at", path))?;
        if let Some(more) = entry.and_then(|entry| entry.len.checked_sub(length)).filter(|more| *more > 0) {
            let what = format!("{more} bytes were written after the checkpoint");
            self.found.note(FindingKind::Younger, path, what);
        }
        Ok(())
    }

    /// Passes over rows whose records were not met: their pages are lost.
    fn pass_rows(&mut self, rows: &mut Option<Rows>, lost: impl Fn(&PlacedRow) -> bool) {
        let Some(rows) = rows else { return };
        while rows.peek(&mut self.found).is_some_and(&lost) {
            let Some(row) = rows.pop() else { break };
            let path = self.directory.warc().join(&*row.file);
            self.found.page(FindingKind::Page, &path, row.offset, &row.url, "a page cannot be read");
        }
        self.progress.add(rows.take_bytes_read(), &self.directory.ledgers());
    }

    /// Reads one file up to its length at the checkpoint.
    fn file(
        &mut self,
        name: &str,
        length: u64,
        files: &BTreeMap<String, u64>,
        rows: &mut Option<Rows>,
        seen: &mut Seen,
    ) {
        let Some(&bytes) = files.get(name) else { return };
        let path = self.directory.warc().join(name);
        let mut reader = match WarcReader::open(&self.env.files, &path) {
            Ok(reader) => reader,
            Err(error) => {
                return self.found.problem(FindingKind::ArchiveFile, &path, None, error.to_string());
            }
        };
        self.report.archive_files += 1;
        self.report.archive_bytes += bytes.min(length);
        let mut at = 0;
        loop {
            let end = reader.whole_end();
            if end >= length {
                break;
            }
            self.progress.add(end.saturating_sub(at), &path);
            at = at.max(end);
            match reader.next_record() {
                Ok(Some(record)) => self.record(name, &path, length, &record, rows, seen),
                Ok(None) if bytes < length => break,
                Ok(None) => {
                    self.found.problem(
                        FindingKind::Record,
                        &path,
                        Some(end),
                        "the last record ends too early",
                    );
                    break;
                }
                Err(error) => {
                    let (offset, what) = told(&error, end);
                    self.found.problem(FindingKind::Record, &path, Some(offset), what);
                    match reader.skip_damage() {
                        Ok(Some(next)) if next < length => {}
                        _ => break,
                    }
                }
            }
        }
        self.progress.add(bytes.min(length).saturating_sub(at), &path);
    }

    /// Verifies a record, and finds its row if it is a page.
    fn record(
        &mut self,
        name: &str,
        path: &Path,
        length: u64,
        record: &StoredRecord<'_>,
        rows: &mut Option<Rows>,
        seen: &mut Seen,
    ) {
        let offset = record.offset;
        let url = record.target_uri().unwrap_or_default();
        self.report.records += 1;
        if record.version != WARC_VERSION {
            let what = format!(
                "a record has WARC version {}, and this program writes and checks {WARC_VERSION}; use the program that wrote it",
                record.version
            );
            self.found.page(FindingKind::Record, path, offset, url, what);
        }
        if record.length.is_none_or(|bytes| offset + bytes > length) {
            let what = format!("the checkpoint ends at byte {length}, inside this record");
            self.found.page(FindingKind::Record, path, offset, url, what);
        }
        let wrong = wrong_digest(record);
        if let Some(what) = wrong {
            self.found.page(FindingKind::Record, path, offset, url, what);
        }
        let is_revisit = match record.kind() {
            Some(RecordType::Response) => false,
            Some(RecordType::Revisit) => true,
            _ => return,
        };
        self.report.responses += 1;
        let stored = record.fields.get("WARC-Payload-Digest");
        let payload = stored.and_then(Digest::from_field).filter(|_| wrong.is_none());
        self.pass_rows(rows, |row| *row.file == *name && row.offset < offset);
        let Some(known) = rows else { return };
        let listed =
            known.peek(&mut self.found).is_some_and(|row| *row.file == *name && row.offset == offset);
        if !listed {
            let excused = known.has_gap();
            if seen.robots.takes(url, record.block) {
                return;
            }
            if excused {
                // Its row is lost, and what repeats it is not.
                payload.filter(|_| !is_revisit).into_iter().for_each(|payload| seen.payloads.add(payload));
            } else {
                let what = "a page that has no row in the ledger";
                self.found.page(FindingKind::Unlisted, path, offset, url, what);
            }
            return;
        }
        let Some(row) = known.pop() else { return };
        let has_payload = match payload {
            Some(payload) if is_revisit => seen.payloads.has(payload),
            Some(payload) => {
                seen.payloads.add(payload);
                true
            }
            None => !is_revisit,
        };
        let digest = row.digest.map(|digest| digest.to_string());
        let differs = if row.url != url {
            Some(format!("the ledger has {} here", row.url))
        } else if record.length.is_some_and(|bytes| bytes != row.length) {
            Some(format!("the ledger says that the record has {} bytes", row.length))
        } else if digest.as_deref() != stored {
            Some("the ledger has another digest of the page".to_owned())
        } else if !has_payload {
            Some("the page that this one repeats cannot be read".to_owned())
        } else {
            None
        };
        match differs {
            Some(what) => self.found.page(FindingKind::Page, path, offset, url, what),
            None => self.report.pages += 1,
        }
    }
}

/// The archive files of a partition in an era, in the order in which they were written.
fn files_of<'a>(checkpoint: &Checkpoint, era: &'a Era, partition: usize) -> Vec<(&'a str, u64)> {
    let count = era.ledger_bytes.len();
    let mut files: Vec<_> = era
        .archive
        .iter()
        .filter_map(|name| {
            let (of, digits, serial) = parse(name);
            let length = checkpoint.archive.get(name).copied().unwrap_or(0);
            (of.filter(|of| *of < count && count > 1).unwrap_or(0) == partition).then_some((
                digits,
                serial,
                name.as_str(),
                length,
            ))
        })
        .collect();
    files.sort_unstable();
    files.into_iter().map(|(_, _, name, length)| (name, length)).collect()
}

/// Partition, time and serial in a file's name: `PREFIX-pPARTITION-TIME-SERIAL.warc.gz`.
fn parse(name: &str) -> (Option<usize>, &str, u64) {
    let stem = name.split_once(".warc").map_or(name, |(stem, _)| stem);
    let mut words = stem.rsplit('-');
    let serial = words.next().and_then(|serial| serial.parse().ok()).unwrap_or(0);
    let digits = words.next().unwrap_or_default();
    let partition = words.next().and_then(|word| word.strip_prefix('p')?.parse().ok());
    (partition, digits, serial)
}

/// Where a record cannot be read, and why; `end` is where that was found out.
pub fn told(error: &RepositoryError, end: u64) -> (u64, String) {
    match error {
        RepositoryError::Torn { offset, .. } => (*offset, "the file ends inside this record".into()),
        RepositoryError::Damaged { offset, damage, .. } => {
            (*offset, format!("a record is damaged: {damage}"))
        }
        RepositoryError::NotWarc { offset, what, .. } => {
            (*offset, format!("there is no WARC record: {what}"))
        }
        RepositoryError::Unreadable { offset, what, .. } => {
            (*offset, format!("a record cannot be read: {what}"))
        }
        RepositoryError::TooLarge { offset, bytes, .. } => {
            (*offset, format!("a record of {bytes} bytes is too large to be verified"))
        }
        other => (end, other.to_string()),
    }
}

/// What is wrong with the digests of a record.
fn wrong_digest(record: &StoredRecord<'_>) -> Option<&'static str> {
    let differs = |name: &str, bytes: &[u8]| {
        record.fields.get(name).is_some_and(|digest| digest != Digest::of(&[bytes]).to_string())
    };
    if differs("WARC-Block-Digest", record.block) {
        return Some("a record's block has another digest than it says");
    }
    let is_response = record.kind() == Some(RecordType::Response);
    if is_response && differs("WARC-Payload-Digest", &record.block[head_bytes(record.block)..]) {
        return Some("a page has another digest than its record says");
    }
    None
}

/// Bytes of an HTTP head with the blank line that ends it.
pub(super) fn head_bytes(block: &[u8]) -> usize {
    let mut line_begins = 0;
    while let Some(at) = block[line_begins..].iter().position(|byte| *byte == b'\n') {
        let line = &block[line_begins..line_begins + at];
        line_begins += at + 1;
        if line.is_empty() || line == b"\r" {
            break;
        }
    }
    line_begins
}

/// What was read of a partition's files so far.
#[derive(Default)]
struct Seen {
    robots: Robots,
    payloads: Payloads,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_partition_and_the_order() {
        assert_eq!(parse("a-p-1-p3-20260102030405-00017.warc.gz"), (Some(3), "20260102030405", 17));
        assert_eq!(parse("mattock-20260102030405-100017.warc.zst"), (None, "20260102030405", 100_017));
    }

    #[test]
    fn a_head_ends_at_its_first_blank_line() {
        assert_eq!(head_bytes(b"HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody\r\n\r\n"), 25);
        assert_eq!(head_bytes(b"HTTP/1.1 200 OK\nA: b\n\n\nbody"), 22);
        assert_eq!(head_bytes(b"HTTP/1.1 200 OK"), 0);
    }
}
