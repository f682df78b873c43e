//! Foreign archives become rows of the index: WARC and ARC files of other crawlers, read once from front to back.
//!
//! A damaged or torn record costs that record, and is reported with its place. Records that share a gzip member with others have no
//! place of their own, and those beyond 2 GiB none that the schema has numbers for: they are reported too, since nobody could read them again. What a metadata record tells of the document before it
//! (`told.rs`) becomes part of its row. A file counts as imported once all its
//! rows are in parts that `INDEX` names (`shelf.rs`); interrupted before that, it is imported anew the next time.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use mattock_env::{Files, UnixTime};
use mattock_extract::sniff;
use mattock_repository::record::spelled_digest;
use mattock_repository::{Details, Digest, RecordType, RepositoryError, StoredRecord, Truncated, WarcReader};
use mattock_weburl::{LENGTH_MAX_LIMIT, UrlError, WebUrl};

use crate::error::{ANOTHER, IndexError};
use crate::languages::Languages;
use crate::lost::{Known, Lost};
use crate::manifest::{Extent, Manifest};
use crate::pending::Pending;
use crate::rows::Instance;
use crate::shelf::Shelf;
use crate::told::Told;

/// Rows of several small files share a part until there are so many.
const ENOUGH_ROWS: usize = 100_000;

/// A file that is to be imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// Where it is.
    pub path: PathBuf,
    /// How rows name it: relative to the repository, or absolute.
    pub name: String,
}

/// Something in a file that could not be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Untaken {
    /// The file.
    pub file: String,
    /// Where in it.
    pub offset: u64,
    /// Why.
    pub why: String,
}

/// What an import did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Files that documents were taken of.
    pub files: u64,
    /// Files that were there already.
    pub known: u64,
    /// All records.
    pub records: u64,
    /// Rows: responses and revisits.
    pub instances: u64,
    /// Of which revisits.
    pub revisits: u64,
    /// Records that are no documents: requests, metadata and the like.
    pub others: u64,
    /// What could not be taken: the first of them.
    pub untaken: Vec<Untaken>,
    /// And how many there are.
    pub untaken_count: u64,
    /// Files that are others than those that were imported by their names: nothing was taken of them.
    pub replaced: u64,
    /// Files whose rows are lost, and that cannot be had again now.
    pub lost: Vec<PathBuf>,
}

/// Dates that columns of other tools have numbers for, which are nanoseconds in 64 bits.
const DATES_S: std::ops::Range<i64> = 0..9_223_372_036;

/// As many are kept for the report.
const UNTAKEN_MAX: usize = 100;

impl Imported {
    fn leave(&mut self, file: &str, offset: u64, why: impl Into<String>) {
        self.untaken_count += 1;
        if self.untaken.len() < UNTAKEN_MAX {
            self.untaken.push(Untaken { file: file.to_owned(), offset, why: why.into() });
        }
    }
}

/// What the rows of an import say beside what its records do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportOptions {
    /// The name in the column `crawl`.
    pub crawl: String,
    /// Whether it is looked up in each document in which languages it is.
    pub languages: bool,
}

impl ImportOptions {
    /// Rows of this name, with languages.
    pub fn named(crawl: &str) -> ImportOptions {
        ImportOptions { crawl: crawl.to_owned(), languages: true }
    }
}

/// Takes files into the index of a repository, at the time that `now` says. `progress` hears of every record: the file, and how far in it.
pub fn import(
    files: &Files,
    repository: &Path,
    foreign: &[Foreign],
    options: &ImportOptions,
    now: &dyn Fn() -> UnixTime,
    mut progress: impl FnMut(&Foreign, u64),
) -> Result<Imported, IndexError> {
    let mut shelf = Shelf::open(files, repository, now)?;
    let mut taking = Taking::new(options);
    let mut known = None;
    for one in foreign {
        if shelf.has_just_taken(&one.name) {
            taking.imported.known += 1;
            continue;
        }
        let extent = Extent::of(files, &one.path)?;
        let before = shelf.list().extents.get(&one.name).copied();
        let is_whole = shelf.list().imported.contains(&one.name);
        if is_whole && before == Some(extent) {
            taking.imported.known += 1;
            continue;
        }
        // It has grown, or some of it is lost, or nobody noted what it was like: its rows are not taken twice.
        let there = match shelf.knows(&one.name) {
            true => {
                let found = match &known {
                    Some(found) => found,
                    None => known.insert(Known::new(files, repository, shelf.list(), &[])?),
                };
                found.offsets(&one.name)?
            }
            false => BTreeSet::new(),
        };
        let had_rows = there.len();
        if let Some(before) = before.filter(|_| had_rows > 0)
            && !before.is_begin_of(extent, files, &one.path)?
        {
            taking.imported.leave(&one.name, 0, ANOTHER);
            taking.imported.replaced += 1;
            continue;
        }
        let instances = taking.imported.instances;
        let is_taken = taking.take_file(files, &mut shelf, one, there, &mut progress)?;
        if taking.met < had_rows {
            return Err(IndexError::Replaced { name: one.name.clone() });
        }
        if is_taken {
            shelf.took(&one.name, extent);
            taking.imported.known += u64::from(is_whole && taking.imported.instances == instances);
        }
        if taking.pending.len() >= ENOUGH_ROWS {
            shelf.put(&mut taking.pending)?;
            shelf.commit()?;
            known = None;
        }
    }
    if taking.pending.len() > 0 {
        shelf.put(&mut taking.pending)?;
    }
    // Also if nothing was taken, so that there is a repository.
    if taking.imported.known < foreign.len() as u64 || shelf.has_taken() {
        shelf.commit()?;
    }
    Ok(taking.imported)
}

/// Imports again what is lost of imported files: that of which parts are not as they were written, and what could not be read the last time.
/// Parts that are whole stay. `found` hears which files it is about, if there are any; else `None` is the answer.
///
/// The new parts take the place of the old ones in one step, once all are there: interrupted before that, all is as it was.
pub fn import_lost(
    files: &Files,
    repository: &Path,
    options: &ImportOptions,
    now: &dyn Fn() -> UnixTime,
    found: impl FnOnce(&[Foreign]),
    mut progress: impl FnMut(&Foreign, u64),
) -> Result<Option<Imported>, IndexError> {
    // Others may be importing, which matters only if there is something to do.
    if Lost::find(files, repository, &Manifest::read(files, repository)?)?.is_empty() {
        return Ok(None);
    }
    let mut shelf = Shelf::open(files, repository, now)?;
    let lost = Lost::find(files, repository, shelf.list())?;
    let known = Known::new(files, repository, shelf.list(), &lost.parts)?;
    found(&lost.archives);
    shelf.replace(&lost.parts);
    let mut taking = Taking::new(options);
    for one in &lost.archives {
        // A disk that is not there just now is no reason to forget what is on it.
        let is_there = matches!(files.entry(&one.path), Ok(Some(_)));
        let mut extent = Extent::of(files, &one.path).ok().filter(|_| is_there);
        let there = known.offsets(&one.name)?;
        let before = shelf.list().extents.get(&one.name).copied();
        if let (Some(now), Some(before)) = (extent, before.filter(|_| !there.is_empty()))
            && !before.is_begin_of(now, files, &one.path)?
        {
            taking.imported.leave(&one.name, 0, ANOTHER);
            extent = None;
        }
        match extent {
            Some(extent) if taking.take_file(files, &mut shelf, one, there, &mut progress)? => {
                shelf.took(&one.name, extent);
            }
            _ => {
                shelf.lose(&one.name);
                taking.imported.lost.push(one.path.clone());
            }
        }
    }
    if taking.pending.len() > 0 {
        shelf.put(&mut taking.pending)?;
    }
    shelf.commit()?;
    Ok(Some(taking.imported))
}

/// Why a URL was not taken.
fn no_url(url: &str) -> String {
    match WebUrl::parse_archived(url) {
        Err(UrlError::TooLong { .. }) => format!("its URL has more than {LENGTH_MAX_LIMIT} bytes"),
        _ => format!("`{url}` is no URL of the Web"),
    }
}

fn is_document(record: &StoredRecord<'_>) -> bool {
    matches!(record.kind(), Some(RecordType::Response | RecordType::Revisit))
}

/// An import that is under way.
struct Taking<'a> {
    crawl: &'a str,
    pending: Pending,
    imported: Imported,
    /// The name of the record that was taken last, while more may be told of it; else it is empty.
    last: String,
    /// Where documents of the file begin that have rows already.
    there: BTreeSet<u64>,
    /// How many of these were met.
    met: usize,
    /// Finds out in which languages documents are, if it is asked for.
    languages: Option<Languages>,
}

impl<'a> Taking<'a> {
    fn new(options: &'a ImportOptions) -> Taking<'a> {
        Taking {
            crawl: &options.crawl,
            pending: Pending::new(&options.crawl),
            imported: Imported::default(),
            last: String::new(),
            there: BTreeSet::new(),
            met: 0,
            languages: options.languages.then(Languages::new),
        }
    }

    /// Takes all documents of a file but those that are `there`, and says whether all of it has come in so.
    fn take_file(
        &mut self,
        files: &Files,
        shelf: &mut Shelf<'_>,
        one: &Foreign,
        there: BTreeSet<u64>,
        progress: &mut impl FnMut(&Foreign, u64),
    ) -> Result<bool, IndexError> {
        let (records, instances) = (self.imported.records, self.imported.instances);
        let (untaken, had_rows) = (self.imported.untaken_count, !there.is_empty());
        (self.there, self.met) = (there, 0);
        self.last.clear();
        let mut reader = WarcReader::open(files, &one.path)?.go_on_behind_damage();
        loop {
            match reader.next_record() {
                Ok(Some(record)) => {
                    self.imported.records += 1;
                    progress(one, record.offset);
                    // Not before all is told of the last one.
                    if self.pending.is_full() && is_document(&record) {
                        shelf.put(&mut self.pending)?;
                    }
                    self.take(&record, one)?;
                }
                Ok(None) => break,
                Err(error @ RepositoryError::Io { .. }) => return Err(error.into()),
                Err(error) => {
                    self.imported.leave(&one.name, error.offset().unwrap_or_default(), error.to_string())
                }
            }
        }
        let records = self.imported.records - records;
        match self.imported.instances - instances {
            0 if had_rows => return Ok(true),
            // What nothing was taken of can be asked for again, and says why.
            0 if records == 0 && self.imported.untaken_count == untaken => {
                self.imported.leave(&one.name, 0, "it is empty");
            }
            0 => self.imported.leave(
                &one.name,
                0,
                format!("no document was taken of it, of {records} record(s)"),
            ),
            _ => {
                self.imported.files += 1;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn take(&mut self, record: &StoredRecord<'_>, file: &Foreign) -> Result<(), IndexError> {
        if is_document(record) {
            self.last.clear();
            if self.there.contains(&record.offset) {
                self.met += 1;
                return Ok(());
            }
            if self.take_document(record, file)? {
                self.last.push_str(record.fields.get("WARC-Record-ID").unwrap_or_default());
            }
            return Ok(());
        }
        let unlike = match record.kind() {
            Some(RecordType::Resource) => "it is a resource, a file without an HTTP response around it",
            Some(RecordType::Conversion) => "it is a conversion, another form of a document",
            Some(RecordType::Continuation) => {
                "it is a further segment of a record, and segments are not put together"
            }
            None => "it is of a type that is not known",
            Some(_) => "",
        };
        if !unlike.is_empty() {
            self.imported.leave(&file.name, record.offset, unlike);
            return Ok(());
        }
        self.imported.others += 1;
        let concurrent = record.fields.get("WARC-Concurrent-To").unwrap_or_default();
        if !concurrent.is_empty()
            && concurrent == self.last
            && let Some(told) = Told::of(record)
        {
            self.pending.amend(|instance| told.tell(instance));
        }
        Ok(())
    }

    /// Takes a document, and says whether it could.
    fn take_document(&mut self, record: &StoredRecord<'_>, file: &Foreign) -> Result<bool, IndexError> {
        let Taking { crawl, pending, imported, languages, .. } = self;
        let revisit = record.kind() == Some(RecordType::Revisit);
        let mut leave = |why: &str| imported.leave(&file.name, record.offset, why);
        let Some(length) = record.length else {
            leave(
                "it shares a gzip member or Zstandard frame with other records, so that nothing finds it again: --copy gives each record one of its own",
            );
            return Ok(false);
        };
        let Some(url) = record.target_uri() else {
            leave("it has no URL");
            return Ok(false);
        };
        let Some(time) = record.date().filter(|time| DATES_S.contains(&time.as_seconds())) else {
            leave("it has no date between 1970 and 2262, or none that can be read");
            return Ok(false);
        };
        let response = record.response();
        if response.is_none() && !revisit {
            leave("it is no HTTP response");
            return Ok(false);
        }
        let kind = response.as_ref().and_then(|response| response.field("content-type")).unwrap_or_default();
        let kind = String::from_utf8_lossy(kind);
        let (mime, parameters) = kind.split_once(';').unwrap_or((&kind, ""));
        let mime = mime.trim().to_ascii_lowercase();
        let charset = parameters.split(';').find_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            name.trim()
                .eq_ignore_ascii_case("charset")
                .then(|| value.trim().trim_matches('"').to_ascii_uppercase())
        });
        let plain = |response: &&mattock_repository::http::Response<'_>| {
            !revisit
                && ["content-encoding", "transfer-encoding"].iter().all(|name| response.field(name).is_none())
        };
        let body = response.as_ref().filter(plain).map(|response| response.body);
        let redirect = response.as_ref().and_then(|response| response.field("location")).unwrap_or_default();
        let said = record.fields.get("WARC-Payload-Digest").unwrap_or_default();
        let digest = Digest::from_field(said);
        // Of another algorithm: revisits are compared by it as it is.
        let other_digest =
            spelled_digest(said).filter(|digest| !digest.starts_with("sha1:")).unwrap_or_default();
        let digest =
            digest.or_else(|| body.filter(|_| other_digest.is_empty()).map(|body| Digest::of(&[body])));
        let payload = digest.map_or_else(|| other_digest.clone(), |digest| digest.to_string());
        let found = languages.as_mut().and_then(|languages| match &response {
            Some(response) if !revisit => Some(languages.of_response(url, response, &payload)),
            response => languages.of_original(response.as_ref().map(|response| response.status), &payload),
        });
        let details = Details {
            languages: found.as_deref(),
            detected: body.and_then(|body| sniff(body, &mime)).unwrap_or_default(),
            mime: &mime,
            charset: charset.as_deref().unwrap_or_default(),
            redirect: std::str::from_utf8(redirect).unwrap_or_default(),
            truncated: match record.fields.get("WARC-Truncated") {
                Some("time") => Some(Truncated::Time),
                Some("disconnect") => Some(Truncated::Disconnect),
                Some(_) => Some(Truncated::Length),
                // The rest is in other records.
                None => record.fields.get("WARC-Segment-Number").map(|_| Truncated::Length),
            },
            revisit,
            ..Details::default()
        };
        let pushed = match pending.push(&Instance {
            url,
            time_us: time.as_micros(),
            status: response.as_ref().map_or(0, |response| response.status),
            digest,
            other_digest: &other_digest,
            file: &file.name,
            offset: record.offset,
            length,
            crawl,
            details,
            depth: None,
            took_ms: None,
            inserted_ms: None,
        }) {
            Err(IndexError::TooFar { .. }) => {
                leave(
                    "it lies beyond 2 GiB, where the index has no number for it: --copy makes several files of this one",
                );
                return Ok(false);
            }
            pushed => pushed?,
        };
        match pushed {
            true => {
                imported.instances += 1;
                imported.revisits += u64::from(revisit);
            }
            false => imported.leave(&file.name, record.offset, no_url(url)),
        }
        Ok(pushed)
    }
}
