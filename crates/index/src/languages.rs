//! The languages of foreign documents, as they come by in an import.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Int16Type, TimestampMillisecondType};
use arrow_array::{Array as _, RecordBatch};
use mattock_analyze::{Document, index_languages};
use mattock_env::{Files, UnixTime};
use mattock_repository::Digest;
use mattock_repository::http::{BodyDecoder, Response};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::errors::Result as ParquetResult;

use crate::error::IndexError;
use crate::find::{Chunks, reading};
use crate::manifest::{Manifest, Part};

/// As much of a coded body is decoded: the text at its beginning is all that counts.
const DECODED_BYTES_MAX: usize = 1 << 20;

/// Payloads and visits whose languages are remembered for the revisits that repeat them; some 80 bytes each.
const REMEMBERED: usize = 400_000;

const COLUMNS: [&str; 6] =
    ["url", "fetch_time", "fetch_status", "record_type", "content_digest", "content_languages"];

/// Finds them out.
pub(crate) struct Languages {
    decoder: BodyDecoder,
    known: HashMap<Digest, Box<str>>,
}

impl Languages {
    pub(crate) fn new() -> Languages {
        Languages { decoder: BodyDecoder::new(DECODED_BYTES_MAX), known: HashMap::new() }
    }

    /// Those of a response to a visit, if it is a success. `payload` is how its digest is spelled.
    pub(crate) fn of_response(
        &mut self,
        visit: (&str, UnixTime),
        response: &Response<'_>,
        payload: &str,
    ) -> String {
        let found = match response.status {
            200..300 => {
                let body = self.decoder.decode(response);
                let document = Document::new(visit.0, 0, response.status, response.head, body.bytes, false);
                index_languages(&document)
            }
            _ => String::new(),
        };
        self.remember(visit, payload, &found);
        found
    }

    /// Those of what a revisit repeats, if it came by: the payload, or else the visit that it names. None if the answer was no success.
    pub(crate) fn of_original(
        &self,
        status: Option<u16>,
        payload: &str,
        visit: Option<(&str, UnixTime)>,
    ) -> Option<String> {
        const NOT_MODIFIED: u16 = 304;
        match status {
            Some(200..300 | NOT_MODIFIED) | None => {
                let by_payload = || self.known.get(&key_of_payload(payload)?);
                let by_visit = || self.known.get(&key_of_visit(visit?));
                Some(by_payload().or_else(by_visit)?.to_string())
            }
            Some(_) => Some(String::new()),
        }
    }

    /// Remembers what is in parts already. A part that cannot be read, or has no languages, is passed over: then nothing is known of revisits of it.
    pub(crate) fn learn(&mut self, earlier: Earlier<'_>) {
        for (path, part) in &earlier.parts {
            if self.known.len() >= REMEMBERED {
                return;
            }
            let _ = self.learn_part(earlier.files, path, part);
        }
    }

    fn learn_part(&mut self, files: &Files, path: &Path, part: &Part) -> Result<(), IndexError> {
        let chunks = Chunks::open(files, path)?.compared_with(part.block_sums());
        reading(path, || {
            let builder = ParquetRecordBatchReaderBuilder::try_new(chunks)?;
            let mask = ProjectionMask::columns(builder.parquet_schema(), COLUMNS);
            for batch in builder.with_projection(mask).build()? {
                self.learn_rows(&batch?);
            }
            ParquetResult::Ok(())
        })
    }

    fn learn_rows(&mut self, batch: &RecordBatch) -> Option<()> {
        let text = |name: &str| batch.column_by_name(name)?.as_string_opt::<i32>();
        let (urls, kinds) = (text("url")?, text("record_type")?);
        let (digests, languages) = (text("content_digest")?, text("content_languages")?);
        let times = batch.column_by_name("fetch_time")?.as_primitive_opt::<TimestampMillisecondType>()?;
        let statuses = batch.column_by_name("fetch_status")?.as_primitive_opt::<Int16Type>()?;
        for row in 0..batch.num_rows() {
            if kinds.value(row) != "response" || !(200..300).contains(&statuses.value(row)) {
                continue;
            }
            let payload = match digests.is_valid(row).then(|| digests.value(row)) {
                Some(digest) if digest.contains(':') => digest.to_owned(),
                Some(sha1) => format!("sha1:{sha1}"),
                None => String::new(),
            };
            let found = if languages.is_valid(row) { languages.value(row) } else { "" };
            let time = UnixTime::from_micros(times.value(row).saturating_mul(1000));
            self.remember((urls.value(row), time), &payload, found);
        }
        Some(())
    }

    fn remember(&mut self, visit: (&str, UnixTime), payload: &str, found: &str) {
        let keys = [key_of_payload(payload), Some(key_of_visit(visit))];
        for key in keys.into_iter().flatten() {
            if self.known.len() < REMEMBERED {
                self.known.insert(key, found.into());
            }
        }
    }
}

/// Nothing is known by a digest that nobody gave.
fn key_of_payload(payload: &str) -> Option<Digest> {
    (!payload.is_empty()).then(|| Digest::of(&[payload.as_bytes()]))
}

/// Of the time, seconds count: not every writer knows more.
fn key_of_visit((url, time): (&str, UnixTime)) -> Digest {
    Digest::of(&[url.as_bytes(), b" ", &time.as_seconds().to_le_bytes()])
}

/// Parts that were there before an import, and have languages.
pub(crate) struct Earlier<'a> {
    files: &'a Files,
    parts: Vec<(PathBuf, Part)>,
}

impl<'a> Earlier<'a> {
    pub(crate) fn new(files: &'a Files, repository: &Path, list: &Manifest) -> Earlier<'a> {
        let directory = Manifest::directory(repository);
        let parts = list.parts.iter().filter(|part| part.languages);
        Earlier { files, parts: parts.map(|part| (directory.join(&part.file), part.clone())).collect() }
    }
}
