//! Archives that no ledger knows, those that were imported and all of a crawl whose state is gone: each is read from front to back, every
//! record is verified, and the documents in it are held against the rows of the index that name them.
//!
//! Memory: the rows of one archive.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use indicatif::{HumanCount, ProgressBar};
use mattock_env::{Env, located};
use mattock_query::{Cancel, Session, Source};
use mattock_repository::{RecordType, RepositoryError, StoredRecord, WarcReader};
use serde::Serialize;

use crate::intact::{has_payload, is_whole};
use crate::output;
use crate::repository::plain_options;
use crate::visiting::{BY_PLACE, Visiting, output_error, place};

/// So many are told one by one.
const TOLD_MAX: usize = 1000;
const COLUMNS: &str = "url, content_digest, warc_filename, warc_record_offset, warc_record_length";

/// What was found.
#[derive(Debug, Default, Serialize)]
pub(super) struct ArchivesCheck {
    /// Archives.
    pub(super) files: u64,
    /// Whole records in them.
    pub(super) records: u64,
    /// Records that are too large to be verified.
    pub(super) too_large: u64,
    /// Rows of the index.
    pub(super) rows: u64,
    /// Those whose document is in its archive as they say.
    pub(super) pages: u64,
    /// What is wrong.
    pub(super) problems: Vec<String>,
    /// How many more things are wrong.
    pub(super) problems_untold: u64,
}

impl ArchivesCheck {
    fn add(&mut self, problem: String) {
        if self.problems.len() < TOLD_MAX {
            self.problems.push(problem);
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
        let (url, digest) = (text("url").unwrap_or_default(), text("content_digest"));
        reading.rows.push(Row { offset, length, url, digest });
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
        let lost = |what: &str| {
            format!("{} {what}: {} document(s) in it", path.display(), HumanCount(rows.len() as u64))
        };
        let reader = match self.env.files.entry(&path) {
            Ok(None) => return self.found.add(lost("is missing")),
            _ => WarcReader::open(&self.env.files, &path),
        };
        let mut reader = match reader {
            Ok(reader) => reader.go_on_behind_damage(),
            Err(error) => return self.found.add(lost(&format!("cannot be read ({error})"))),
        };
        let mut rows = rows.into_iter().peekable();
        let mut at = 0;
        while !cancel.is_cancelled() {
            match reader.next_record() {
                Ok(Some(record)) => {
                    self.bar.inc(record.offset.saturating_sub(at));
                    at = record.offset;
                    // What lies before has not been met.
                    while let Some(row) = rows.next_if(|row| row.offset < at) {
                        self.found.add(told(&path, row.offset, "there is no such document", &row.url));
                    }
                    self.found.records += 1;
                    let row = rows.next_if(|row| row.offset == at);
                    match wrong(&record, row.as_ref()) {
                        Some(what) => {
                            let url = row
                                .as_ref()
                                .map_or_else(|| record.target_uri().unwrap_or_default(), |row| &row.url);
                            self.found.add(told(&path, at, &what, url));
                        }
                        None => self.found.pages += u64::from(row.is_some()),
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    let row = error.offset().and_then(|offset| rows.next_if(|row| row.offset == offset));
                    match (&error, row) {
                        (RepositoryError::TooLarge { .. }, _) => self.found.too_large += 1,
                        (_, Some(row)) => self.found.add(format!("{error} ({})", row.url)),
                        (_, None) => self.found.add(error.to_string()),
                    }
                    if matches!(error, RepositoryError::Io { .. }) {
                        break;
                    }
                }
            }
        }
        if !cancel.is_cancelled() {
            rows.for_each(|row| {
                self.found.add(told(&path, row.offset, "there is no such document", &row.url))
            });
        }
    }
}

/// What is wrong with a record, and with what the index says of it.
fn wrong(record: &StoredRecord<'_>, row: Option<&Row>) -> Option<String> {
    if !is_whole(record) {
        return Some("the record's block has another digest than it says".to_owned());
    }
    let row = row?;
    let url = record.target_uri().unwrap_or("no URL");
    if !record.is_document() || url != row.url {
        let kind = record.fields.get("WARC-Type").unwrap_or("no type");
        return Some(format!("there is another record, {kind} of {url}"));
    }
    if record.length.is_some_and(|bytes| bytes != row.length) {
        return Some(format!("the index says that the record has {} bytes", row.length));
    }
    let has_own = record.kind() != Some(RecordType::Revisit);
    (has_own && !has_payload(record, row.digest.as_deref()))
        .then(|| "the document has another digest than the index says".to_owned())
}

fn told(path: &Path, offset: u64, what: &str, url: &str) -> String {
    let about = if url.is_empty() { String::new() } else { format!(" ({url})") };
    format!("{} at byte {offset}: {what}{about}", path.display())
}
