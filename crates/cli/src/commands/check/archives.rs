//! Archives that no ledger knows, those that were imported and all of a crawl whose state is gone: each is read from front to back, every
//! record is verified, and the documents in it are held against the rows of the index that name them.
//!
//! A gzip member or Zstandard frame has a checksum of all that is in it. In plain files only digests tell; where a record has none that can be
//! compared, it is counted as not verified.
//!
//! Memory: the rows of one archive.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::TimestampMillisecondType;
use indicatif::{HumanCount, ProgressBar};
use mattock_crawl::check::{Finding, FindingKind, told};
use mattock_env::{Env, located};
use mattock_query::{Cancel, Session, Source};
use mattock_repository::{RecordType, RepositoryError, StoredRecord, WarcReader};
use serde::Serialize;

use crate::intact::{self, Verdict};
use crate::output;
use crate::repository::plain_options;
use crate::visiting::{BY_PLACE, Visiting, output_error, place};

/// So many are told one by one.
const TOLD_MAX: usize = 1000;
const COLUMNS: &str =
    "url, fetch_time, record_type, content_digest, warc_filename, warc_record_offset, warc_record_length";

/// What was found.
#[derive(Debug, Default, Serialize)]
pub(super) struct ArchivesCheck {
    /// Archives.
    pub(super) files: u64,
    /// Whole records in them.
    pub(super) records: u64,
    /// Of these, those in plain files that have no digest to verify them by.
    pub(super) unverified: u64,
    /// Records that are too large to be read.
    pub(super) too_large: u64,
    /// Rows of the index.
    pub(super) rows: u64,
    /// Those whose document is in its archive as they say.
    pub(super) pages: u64,
    /// Documents that no row names; robots.txt files, which never have one, are not among them.
    pub(super) unlisted: u64,
    /// What is wrong.
    pub(super) problems: Vec<Finding>,
    /// How many more things are wrong.
    pub(super) problems_untold: u64,
}

impl ArchivesCheck {
    fn add(&mut self, kind: FindingKind, file: &str, offset: Option<u64>, what: String, url: Option<&str>) {
        if self.problems.len() < TOLD_MAX {
            let (file, url) = (file.to_owned(), url.filter(|url| !url.is_empty()).map(str::to_owned));
            self.problems.push(Finding { kind, file, offset, what, url });
        } else {
            self.problems_untold += 1;
        }
    }
}

/// Reads all archives that these parts of the index name, and `others`, which they may not name.
pub(super) fn check(
    env: &Env,
    root: &Path,
    parts: Vec<PathBuf>,
    others: BTreeSet<String>,
    cancel: &Cancel,
    bar: &ProgressBar,
) -> anyhow::Result<ArchivesCheck> {
    let mut reading =
        Reading { env, root, found: ArchivesCheck::default(), others, rows: Vec::new(), file: None, bar };
    let source = Source::new(root, mattock_index::schema(), parts, Vec::new());
    let session = Session::with_source(&env.files, source, plain_options())?;
    let query = session.plan_selection(COLUMNS, None, &BY_PLACE)?;
    let mut visit = |batch: &RecordBatch, row: usize| {
        let (file, offset, length) = place(batch, row);
        if reading.file.as_deref() != Some(&file) {
            reading.read(cancel);
            reading.file = Some(file);
        }
        let text = |name: &str| output::text(&batch[name], row);
        reading.rows.push(Row {
            offset,
            length,
            url: text("url").unwrap_or_default(),
            time_ms: batch["fetch_time"].as_primitive::<TimestampMillisecondType>().value(row),
            kind: text("record_type").as_deref().and_then(RecordType::parse),
            digest: text("content_digest"),
        });
        Ok(())
    };
    output_error(query.run(&mut Visiting(&mut visit), &mut |_| {}, cancel))?;
    reading.read(cancel);
    for file in std::mem::take(&mut reading.others) {
        reading.file = Some(file);
        reading.read(cancel);
    }
    Ok(reading.found)
}

/// What the index says of a document.
struct Row {
    offset: u64,
    length: u64,
    url: String,
    time_ms: i64,
    kind: Option<RecordType>,
    digest: Option<String>,
}

/// Archives that are read one after the other.
struct Reading<'a> {
    env: &'a Env,
    root: &'a Path,
    found: ArchivesCheck,
    /// Archives that were not read so far, whether rows name them or not.
    others: BTreeSet<String>,
    /// The archive whose rows come, and those.
    file: Option<String>,
    rows: Vec<Row>,
    bar: &'a ProgressBar,
}

impl Reading<'_> {
    /// Reads the archive whose rows have come.
    fn read(&mut self, cancel: &Cancel) {
        let Some(file) = self.file.take() else { return };
        self.others.remove(&file);
        let rows = std::mem::take(&mut self.rows);
        self.found.files += 1;
        self.found.rows += rows.len() as u64;
        let path = located(self.root, &file);
        super::at(self.bar, &path);
        let reader = match self.env.files.entry(&path) {
            Ok(None) => Err("it is missing".to_owned()),
            Ok(Some(entry)) if entry.len == 0 => Err("it is empty".to_owned()),
            _ => WarcReader::open(&self.env.files, &path).map_err(|error| error.to_string()),
        };
        let mut reader = match reader {
            Ok(reader) => reader.go_on_behind_damage(),
            Err(what) => {
                let what =
                    format!("{what}; {} document(s) of the index are in it", HumanCount(rows.len() as u64));
                return self.found.add(FindingKind::ArchiveFile, &file, None, what, None);
            }
        };
        let mut rows = rows.into_iter().peekable();
        let mut at = 0;
        while !cancel.is_cancelled() {
            let is_summed = reader.is_compressed();
            match reader.next_record() {
                Ok(Some(record)) => {
                    self.bar.inc(record.offset.saturating_sub(at));
                    at = record.offset;
                    // What lies before was not met.
                    while let Some(row) = rows.next_if(|row| row.offset < at) {
                        self.not_there(&file, &row);
                    }
                    self.record(&file, &record, rows.next_if(|row| row.offset == at), is_summed);
                }
                Ok(None) => break,
                Err(error) => {
                    let (offset, what) = told(&error, at);
                    let row = rows.next_if(|row| row.offset == offset);
                    match error {
                        RepositoryError::TooLarge { .. } => self.found.too_large += 1,
                        _ => {
                            let url = row.as_ref().map(|row| row.url.as_str());
                            self.found.add(FindingKind::Record, &file, Some(offset), what, url);
                        }
                    }
                    if matches!(error, RepositoryError::Io { .. }) {
                        break;
                    }
                }
            }
        }
        if !cancel.is_cancelled() {
            rows.for_each(|row| self.not_there(&file, &row));
        }
    }

    fn not_there(&mut self, file: &str, row: &Row) {
        let what = "a document that the index has here is not there".to_owned();
        self.found.add(FindingKind::Page, file, Some(row.offset), what, Some(&row.url));
    }

    /// Verifies a record, and holds it against the row that names it.
    fn record(&mut self, file: &str, record: &StoredRecord<'_>, row: Option<Row>, is_summed: bool) {
        self.found.records += 1;
        let url = record.target_uri();
        let offset = Some(record.offset);
        let block = intact::block(record);
        if block == Verdict::Wrong {
            let what = "a record's block has another digest than it says".to_owned();
            return self.found.add(FindingKind::Record, file, offset, what, url);
        }
        let Some(row) = row else {
            self.found.unverified += u64::from(!is_summed && block == Verdict::Unknown);
            let is_robots = url.is_some_and(|url| url.ends_with("/robots.txt"));
            self.found.unlisted += u64::from(!is_robots && is_visit(record));
            return;
        };
        let payload = match record.kind() {
            Some(RecordType::Revisit) => block,
            _ => intact::payload(record, row.digest.as_deref()),
        };
        let what = match contradiction(record, &row) {
            Some(what) => what,
            None if payload == Verdict::Wrong => {
                "a document has another digest than is said of it".to_owned()
            }
            None => {
                self.found.unverified += u64::from(!is_summed && payload == Verdict::Unknown);
                self.found.pages += 1;
                return;
            }
        };
        self.found.add(FindingKind::Page, file, offset, what, Some(&row.url));
    }
}

fn is_visit(record: &StoredRecord<'_>) -> bool {
    matches!(record.kind(), Some(RecordType::Response | RecordType::Revisit))
}

/// What the index says otherwise of a record than its head.
fn contradiction(record: &StoredRecord<'_>, row: &Row) -> Option<String> {
    let url = record.target_uri().unwrap_or("no URL");
    if record.kind() != row.kind || url != row.url {
        let kind = record.fields.get("WARC-Type").unwrap_or("no type");
        return Some(format!("another record is where the index has a document: {kind} of {url}"));
    }
    let time_ms = record.date().map(|date| date.as_micros().div_euclid(1000));
    if time_ms != Some(row.time_ms) {
        return Some("the index has another date of the document".to_owned());
    }
    let length = record.length.filter(|bytes| *bytes != row.length);
    length.map(|bytes| format!("the record has {bytes} bytes, and the index says {}", row.length))
}
