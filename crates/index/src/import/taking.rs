//! Records of an archive become rows, one after the other.

use std::collections::BTreeSet;
use std::path::Path;

use mattock_env::Files;
use mattock_extract::sniff;
use mattock_repository::http::Response;
use mattock_repository::record::spelled_digest;
use mattock_repository::{Details, Digest, RecordType, RepositoryError, StoredRecord, Truncated, WarcReader};
use mattock_weburl::{LENGTH_MAX_LIMIT, UrlError, WebUrl};

use super::left::{Imported, Left};
use super::{Foreign, ImportOptions};
use crate::error::IndexError;
use crate::languages::{Earlier, Languages};
use crate::manifest::Manifest;
use crate::pending::Pending;
use crate::rows::Instance;
use crate::shelf::Shelf;
use crate::told::Told;

/// Dates that columns of other tools have numbers for, which are nanoseconds in 64 bits.
const DATES_S: std::ops::Range<i64> = 0..9_223_372_036;

/// Why a URL was not taken.
fn no_url(url: &str) -> String {
    match WebUrl::parse_archived(url) {
        Err(UrlError::TooLong { .. }) => format!("its URL has more than {LENGTH_MAX_LIMIT} bytes"),
        _ => format!("`{url}` is no URL of the Web"),
    }
}

/// Records that are not taken, whatever is in them.
fn unlike(record: &StoredRecord<'_>) -> Option<(Left, &'static str)> {
    let is_lookup = record.target_uri().is_some_and(|url| url.starts_with("dns:"));
    Some(match record.kind() {
        Some(RecordType::Resource | RecordType::Response) if is_lookup => {
            (Left::Dns, "it is a name that was looked up")
        }
        Some(RecordType::Resource) => {
            (Left::Resource, "it is a resource, a file without an HTTP response around it")
        }
        Some(RecordType::Conversion) => (Left::Conversion, "it is a conversion, another form of a document"),
        Some(RecordType::Continuation) => {
            (Left::Segment, "it is a further segment of a record, and segments are not put together")
        }
        None => (Left::UnknownType, "it is of a type that is not known"),
        Some(_) => return None,
    })
}

/// Whether, and why, the end of a document is missing. A revisit says `length` of what it leaves out on purpose: of a payload that is elsewhere.
fn truncated(record: &StoredRecord<'_>) -> Option<Truncated> {
    let is_revisit = record.kind() == Some(RecordType::Revisit);
    match record.fields.get("WARC-Truncated") {
        Some("length") if is_revisit => None,
        Some("time") => Some(Truncated::Time),
        Some("disconnect") => Some(Truncated::Disconnect),
        Some(_) => Some(Truncated::Length),
        // The rest is in other records.
        None => record.fields.get("WARC-Segment-Number").map(|_| Truncated::Length),
    }
}

/// The type in a head, and the charset that it names.
fn typed(response: Option<&Response<'_>>) -> (String, Option<String>) {
    let kind = response.and_then(|response| response.field("content-type")).unwrap_or_default();
    let kind = String::from_utf8_lossy(kind);
    let (mime, parameters) = kind.split_once(';').unwrap_or((&kind, ""));
    let charset = parameters.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim()
            .eq_ignore_ascii_case("charset")
            .then(|| value.trim().trim_matches('"').to_ascii_uppercase())
    });
    (mime.trim().to_ascii_lowercase(), charset)
}

/// Whether a block is not what its digest was made of. Only SHA-1 is compared, which nearly all have.
fn has_other_digest(record: &StoredRecord<'_>) -> bool {
    let told = record.fields.get("WARC-Block-Digest").and_then(Digest::from_field);
    told.is_some_and(|told| told != Digest::of(&[record.block]))
}

fn is_document(record: &StoredRecord<'_>) -> bool {
    matches!(record.kind(), Some(RecordType::Response | RecordType::Revisit))
}

/// An import that is under way.
pub(super) struct Taking<'a> {
    crawl: &'a str,
    /// Whether blocks are compared with their digests.
    digests: bool,
    pub(super) pending: Pending,
    pub(super) imported: Imported,
    /// The name of the record that was taken last, while more may be told of it; else it is empty.
    last: String,
    /// Where documents of the file begin that have rows already.
    there: BTreeSet<u64>,
    /// How many of these were met.
    pub(super) met: usize,
    /// Finds out in which languages documents are, if it is asked for.
    languages: Option<Languages>,
    /// What was there before, as long as nobody has asked it for the languages of an original.
    earlier: Option<Earlier<'a>>,
}

impl<'a> Taking<'a> {
    pub(super) fn new(
        files: &'a Files,
        repository: &Path,
        list: &Manifest,
        options: &'a ImportOptions,
    ) -> Taking<'a> {
        Taking {
            crawl: &options.crawl,
            pending: Pending::new(&options.crawl),
            digests: options.digests,
            imported: Imported { told_max: options.told_max, ..Imported::default() },
            last: String::new(),
            there: BTreeSet::new(),
            met: 0,
            languages: options.languages.then(Languages::new),
            earlier: Some(Earlier::new(files, repository, list)),
        }
    }

    /// Takes all documents of a file but those that are `there`, and says whether all of it has come in so.
    pub(super) fn take_file(
        &mut self,
        files: &Files,
        shelf: &mut Shelf<'_>,
        one: &Foreign,
        there: BTreeSet<u64>,
        progress: &mut impl FnMut(&Foreign, u64),
    ) -> Result<bool, IndexError> {
        let (records, instances) = (self.imported.records, self.imported.instances);
        let (untaken, had_rows) = (self.imported.untaken_count(), !there.is_empty());
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
                Err(error) => self.imported.leave(
                    Left::of(&error),
                    &one.name,
                    error.offset().unwrap_or_default(),
                    error.to_string(),
                ),
            }
        }
        let records = self.imported.records - records;
        match self.imported.instances - instances {
            0 if had_rows => return Ok(true),
            // What nothing was taken of can be asked for again, and says why.
            0 if records == 0 && self.imported.untaken_count() == untaken => {
                self.imported.leave(Left::File, &one.name, 0, "it is empty");
            }
            0 => self.imported.leave(
                Left::File,
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
        if self.digests && has_other_digest(record) {
            let why = "its block has another digest than its head says";
            self.imported.leave(Left::Damage, &file.name, record.offset, why);
        }
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
        if let Some((kind, why)) = unlike(record) {
            self.imported.leave(kind, &file.name, record.offset, why);
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
        let Taking { crawl, pending, imported, languages, earlier, .. } = self;
        let revisit = record.kind() == Some(RecordType::Revisit);
        let mut leave = |kind: Left, why: &str| imported.leave(kind, &file.name, record.offset, why);
        let Some(length) = record.length else {
            leave(
                Left::Place,
                "it shares a gzip member or Zstandard frame with other records, so that nothing finds it again: --copy gives each record one of its own",
            );
            return Ok(false);
        };
        let Some(url) = record.target_uri() else {
            leave(Left::Head, "it has no URL");
            return Ok(false);
        };
        let Some(time) = record.date().filter(|time| DATES_S.contains(&time.as_seconds())) else {
            leave(Left::Head, "it has no date between 1970 and 2262, or none that can be read");
            return Ok(false);
        };
        let response = record.response();
        if response.is_none() && !revisit {
            match unlike(record) {
                Some((kind, why)) => leave(kind, why),
                None => leave(Left::NotHttp, "it is no HTTP response"),
            }
            return Ok(false);
        }
        let (mime, charset) = typed(response.as_ref());
        let plain = |response: &&Response<'_>| {
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
            Some(response) if !revisit => Some(languages.of_response((url, time), response, &payload)),
            response => {
                let status = response.as_ref().map(|response| response.status);
                let visit = record.refers_to();
                languages.of_original(status, &payload, visit).or_else(|| {
                    languages.learn(earlier.take()?);
                    languages.of_original(status, &payload, visit)
                })
            }
        });
        let details = Details {
            languages: found.as_deref(),
            detected: body.and_then(|body| sniff(body, &mime)).unwrap_or_default(),
            mime: &mime,
            charset: charset.as_deref().unwrap_or_default(),
            redirect: std::str::from_utf8(redirect).unwrap_or_default(),
            truncated: truncated(record),
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
                    Left::Place,
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
            false => imported.leave(Left::Head, &file.name, record.offset, no_url(url)),
        }
        Ok(pushed)
    }
}
