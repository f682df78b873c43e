//! Writes pages as WARC records: filled by the crawl, emptied by the disk.
//!
//! - One gzip member or Zstandard frame per record, files rolled by size, a warcinfo record first in each.
//! - File names `{prefix}-{YYYYMMDDhhmmss}-{serial}.warc.gz` (or `.zst`) sort by time. The date is that of the first page in
//!   it, never earlier than the file before; serials go on where an earlier run stopped, and no file is reopened.
//! - A page's records are in one file and follow each other, and are either all written or none.
//! - On an error the page was not written. The writer stays usable: with [`RepositoryError::Io`] nothing is lost
//!   and the next call tries again; with [`RepositoryError::Abandoned`] the records that it names are.
//! - What a crash loses: everything since the last [`WarcWriter::sync`].
//!
//! Costs per page: one copy of the body, SHA-1 twice over it at once (once without block digests), one call of the
//! compressor per record; no allocation once the buffers have grown. A body of a mebibyte or more is not copied, but compressed
//! [piece by piece](crate::piecewise): that costs memory for its compressed form only.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mattock_env::{Files, Random, UnixTime};

use crate::appender::Appender;
use crate::compression::{Compression, Compressor};
use crate::dictionary::{Dictionaries, Dictionary};
use crate::directory::{create_directory, parse_name};
use crate::error::RepositoryError;
use crate::http;
use crate::page::Page;
use crate::payloads::Payloads;
use crate::piecewise::LARGE_BYTES;
use crate::record::{DatePrecision, Digest, RECORD_END, Record, RecordId, RecordType, digests, warc_field};
use crate::unsynced::Unsynced;

/// How to write. [`WriterOptions::default`] is what a crawl wants, but for the warcinfo fields.
#[derive(Clone, Debug)]
pub struct WriterOptions {
    /// How file names begin: letters, digits, `.`, `_` and `-`.
    pub prefix: String,
    /// What records are compressed with.
    pub compression: Compression,
    /// The dictionary of Zstandard files.
    pub dictionary: Dictionary,
    /// How many payloads are remembered, for pages that bring one of them again to become revisit records; 0: every page is
    /// stored whole. Some 200 bytes each.
    pub revisit_payloads: usize,
    /// A file that has reached this is closed before the next page.
    pub file_bytes_max: u64,
    /// Bytes that collect before they are handed to the operating system.
    pub buffer_bytes: usize,
    /// How exact dates are.
    pub date_precision: DatePrecision,
    /// Whether records carry `WARC-Block-Digest` beside the payload's.
    pub block_digests: bool,
    /// The fields of the warcinfo record: software, format, robots, operator, description…
    pub warcinfo: Vec<(String, String)>,
}

impl Default for WriterOptions {
    fn default() -> WriterOptions {
        WriterOptions {
            prefix: "mattock".into(),
            compression: Compression::default(),
            dictionary: Dictionary::default(),
            revisit_payloads: 0,
            file_bytes_max: 1_000_000_000,
            buffer_bytes: 1 << 20,
            date_precision: DatePrecision::default(),
            block_digests: true,
            warcinfo: Vec::new(),
        }
    }
}

/// Where a record is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file's name in the archive directory.
    pub file: Arc<str>,
    /// Where its gzip member or Zstandard frame begins.
    pub offset: u64,
    /// How long that is.
    pub length: u64,
}

/// What became of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Where its response record is, or the revisit in its place.
    pub place: Place,
    /// That record's name.
    pub record_id: RecordId,
    /// The body's digest.
    pub payload_digest: Digest,
    /// Whether it became a revisit of an earlier record with the same payload.
    pub is_revisit: bool,
}

/// Appends records to the newest file of an archive directory. One writer per directory and prefix.
pub struct WarcWriter {
    directory: PathBuf,
    options: WriterOptions,
    random: Random,
    compressor: Compressor,
    dictionaries: Dictionaries,
    payloads: Payloads,
    appender: Appender,
    file_name: Arc<str>,
    warcinfo_id: Option<RecordId>,
    /// Of the newest file; names never go back behind it.
    last_digits: String,
    next_serial: u64,
    /// Records of one page, not compressed and without what is too large to be copied, and where each ends.
    plain: Vec<u8>,
    ends: Vec<usize>,
    /// The head or the fields of the record at hand.
    scratch: Vec<u8>,
}

impl WarcWriter {
    /// Prepares to write into `directory`, which is made if it is missing. The first page opens a file.
    pub fn open(
        files: &Files,
        directory: &Path,
        options: WriterOptions,
        random: Random,
    ) -> Result<WarcWriter, RepositoryError> {
        let good = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if options.prefix.is_empty() || options.prefix.starts_with('.') || !options.prefix.bytes().all(good) {
            return Err(RepositoryError::Option {
                name: "the WARC file prefix",
                value: options.prefix,
                rule: "use letters, digits, `.`, `_` and `-`, and do not begin with a dot",
            });
        }
        let failed = |action| {
            let path = directory.to_path_buf();
            move |source: io::Error| RepositoryError::Io { action, path, offset: 0, source }
        };
        create_directory(files, directory).map_err(failed("create the directory"))?;
        let (mut last_digits, mut next_serial, mut newest) = (String::new(), 0, None);
        for entry in files.list(directory).map_err(failed("list"))? {
            if let Some((digits, serial)) = parse_name(&entry.name, &options.prefix) {
                if serial >= next_serial {
                    newest = Some(directory.join(&entry.name));
                }
                next_serial = next_serial.max(serial + 1);
                if digits > last_digits.as_str() {
                    last_digits = digits.to_owned();
                }
            }
        }
        let dictionaries = Dictionaries::new(&options, files, newest.as_deref())?;
        Ok(WarcWriter {
            directory: directory.to_path_buf(),
            random,
            compressor: Compressor::new(options.compression, dictionaries.current())?,
            dictionaries,
            payloads: Payloads::new(options.revisit_payloads),
            appender: Appender::new(files, directory, options.buffer_bytes),
            options,
            file_name: Arc::from(""),
            warcinfo_id: None,
            last_digits,
            next_serial,
            plain: Vec::new(),
            ends: Vec::new(),
            scratch: Vec::new(),
        })
    }

    /// Writes a page's records: request, response (or a revisit of one with the same payload), metadata.
    pub fn write_page(&mut self, page: &Page<'_>) -> Result<Written, RepositoryError> {
        let written = self.write_records(page, true);
        self.minding_loss(written)
    }

    /// The same for what no index lists, as a robots.txt file: it is neither a revisit nor is any page a revisit of it, because nobody
    /// could find it.
    pub fn write_unlisted(&mut self, page: &Page<'_>) -> Result<Written, RepositoryError> {
        let written = self.write_records(page, false);
        self.minding_loss(written)
    }

    fn write_records(&mut self, page: &Page<'_>, listed: bool) -> Result<Written, RepositoryError> {
        self.prepare(page.date)?;
        let response_id = RecordId::new(&mut self.random);
        if !page.request.is_empty() {
            let record = Record {
                target_uri: Some(page.url),
                ip: page.ip,
                security: page.security,
                concurrent_to: Some(response_id),
                content_type: "application/http; msgtype=request",
                block: &[page.request],
                ..Record::new(RecordType::Request, RecordId::new(&mut self.random), page.date)
            };
            self.add(record);
        }

        let mut payloads = std::mem::replace(&mut self.payloads, Payloads::new(0));
        let mut head = std::mem::take(&mut self.scratch);
        http::stored_head(page.response_head, page.body.len(), &mut head);
        let (payload_digest, block_digest) = if self.options.block_digests {
            let [payload, block] = digests(&head, page.body);
            (payload, Some(block))
        } else {
            (Digest::of(&[page.body]), None)
        };
        let response_index = self.ends.len();
        // What there is of a page that was cut off is not all of its payload.
        let repeatable = listed && !page.body.is_empty() && page.truncated.is_none();
        let original = if repeatable { payloads.find(&payload_digest) } else { None };
        let is_revisit = original.is_some();
        let block: &[&[u8]] = if is_revisit { &[&head] } else { &[&head, page.body] };
        let record = Record {
            target_uri: Some(page.url),
            ip: page.ip,
            security: page.security,
            // A record that is taken out of its file is nearly always the response: it says where it came from.
            warcinfo_id: self.warcinfo_id,
            refers_to: original,
            truncated: page.truncated,
            payload_digest: Some(payload_digest),
            block_digest: block_digest.filter(|_| !is_revisit),
            content_type: "application/http; msgtype=response",
            block,
            ..Record::new(
                if is_revisit { RecordType::Revisit } else { RecordType::Response },
                response_id,
                page.date,
            )
        };
        let left_out = if self.add(record) { page.body } else { &[] };
        self.payloads = payloads;

        if !page.metadata.is_empty() {
            head.clear();
            for (name, value) in page.metadata {
                warc_field(&mut head, name, value);
            }
            let record = Record {
                target_uri: Some(page.url),
                concurrent_to: Some(response_id),
                content_type: "application/warc-fields",
                block: &[&head],
                ..Record::new(RecordType::Metadata, RecordId::new(&mut self.random), page.date)
            };
            self.add(record);
        }
        self.scratch = head;
        let place = self.commit(response_index, left_out)?;
        if !is_revisit && repeatable {
            self.payloads.add(payload_digest, response_id, page.url, page.date);
        }
        Ok(Written { place, record_id: response_id, payload_digest, is_revisit })
    }

    /// Writes any one record as it is, but for the block digest, which is added if it is wanted and missing.
    pub fn write_record(&mut self, record: &Record<'_>) -> Result<Place, RepositoryError> {
        let mut write = || {
            self.prepare(record.date)?;
            let left_out = if self.add(*record) { record.block.last().copied() } else { None };
            self.commit(0, left_out.unwrap_or_default())
        };
        let written = write();
        self.minding_loss(written)
    }

    /// Hands what is buffered to the operating system: it survives the process, not the machine.
    pub fn flush(&mut self) -> Result<(), RepositoryError> {
        let flushed = self.appender.flush();
        self.minding_loss(flushed)
    }

    /// Makes every page written so far durable.
    pub fn sync(&mut self) -> Result<(), RepositoryError> {
        let synced = self.appender.sync();
        self.minding_loss(synced)
    }

    /// The files that have changed since the last mark, with their lengths. They can be relied on once `unsynced` is synced.
    pub fn mark(&mut self, unsynced: &mut Unsynced) -> Result<Vec<(String, u64)>, RepositoryError> {
        let name = |path: PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let marked = self.appender.mark(unsynced);
        Ok(self.minding_loss(marked)?.into_iter().map(|(path, length)| (name(path), length)).collect())
    }

    /// Makes everything durable and closes the file. The next page, if there is one, opens another.
    pub fn finish(&mut self) -> Result<(), RepositoryError> {
        let closed = self.appender.close();
        self.minding_loss(closed)
    }

    /// Where records are lost, none may be referred to.
    fn minding_loss<T>(&mut self, result: Result<T, RepositoryError>) -> Result<T, RepositoryError> {
        if matches!(result, Err(RepositoryError::Abandoned { .. })) {
            self.payloads.forget();
        }
        result
    }

    /// Sees to it that a file is open that has not reached its size, and that the working buffers are empty.
    fn prepare(&mut self, date: UnixTime) -> Result<(), RepositoryError> {
        self.clear();
        let full = |position| position >= self.options.file_bytes_max || self.dictionaries.is_ready();
        if self.appender.position().is_some_and(full) {
            self.appender.roll()?;
        }
        if self.appender.position().is_none() {
            self.create(date)?;
        }
        Ok(())
    }

    fn create(&mut self, date: UnixTime) -> Result<(), RepositoryError> {
        let digits = date.digits();
        if digits > self.last_digits {
            self.last_digits = digits;
        }
        loop {
            let WriterOptions { prefix, compression, .. } = &self.options;
            let suffix = compression.suffix();
            let name = format!("{prefix}-{}-{:05}{suffix}", self.last_digits, self.next_serial);
            let path = self.directory.join(&name);
            match self.appender.create(&path) {
                Ok(()) => self.file_name = Arc::from(name),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    self.next_serial += 1;
                    continue;
                }
                Err(source) => return Err(RepositoryError::Io { action: "create", path, offset: 0, source }),
            }
            break;
        }
        self.next_serial += 1;
        if self.dictionaries.learn() {
            self.compressor = Compressor::new(self.options.compression, self.dictionaries.current())?;
        }
        self.appender.push_bytes(&self.dictionaries.frame())?;

        let id = RecordId::new(&mut self.random);
        self.warcinfo_id = Some(id);
        let mut fields = std::mem::take(&mut self.scratch);
        for (name, value) in &self.options.warcinfo {
            warc_field(&mut fields, name, value);
        }
        let name = self.file_name.clone();
        let record = Record {
            file_name: Some(&name),
            content_type: "application/warc-fields",
            block: &[&fields],
            ..Record::new(RecordType::Warcinfo, id, date)
        };
        self.add(record);
        self.scratch = fields;
        self.commit(0, &[])?;
        self.clear();
        Ok(())
    }

    /// Serialises a record behind the others of its page. Whether the last piece of its block was left
    /// out, because it is large.
    fn add(&mut self, mut record: Record<'_>) -> bool {
        if self.options.block_digests && record.block_digest.is_none() {
            record.block_digest = Some(Digest::of(record.block));
        }
        let precision = self.options.date_precision;
        let large = record.block.split_last().filter(|(last, _)| last.len() >= LARGE_BYTES);
        match large {
            Some((_, others)) => {
                record.write_head(precision, &mut self.plain);
                others.iter().for_each(|piece| self.plain.extend_from_slice(piece));
            }
            None => record.write_to(precision, &mut self.plain),
        }
        self.ends.push(self.plain.len());
        large.is_some()
    }

    /// Compresses the records that were added, all or none; `left_out` belongs to the wanted one, whose place is returned.
    fn commit(&mut self, wanted: usize, left_out: &[u8]) -> Result<Place, RepositoryError> {
        let mut bound = 0;
        let mut start = 0;
        for end in &self.ends {
            bound += self.compressor.bound(end - start);
            start = *end;
        }
        self.appender.reserve(bound)?;
        let mut place = Place { file: self.file_name.clone(), offset: 0, length: 0 };
        let mut start = 0;
        for (index, end) in self.ends.iter().enumerate() {
            let offset = self.appender.position().expect("a file was opened before anything was added");
            let record = &self.plain[start..*end];
            self.dictionaries.sample(record);
            let length = if index == wanted && !left_out.is_empty() {
                let dictionary = self.dictionaries.current();
                self.appender.push_large(
                    self.options.compression,
                    dictionary,
                    &[record, left_out, RECORD_END],
                )
            } else {
                self.appender.push(&mut self.compressor, record)
            };
            if index == wanted {
                place = Place { offset, length: length as u64, ..place };
            }
            start = *end;
        }
        Ok(place)
    }

    fn clear(&mut self) {
        self.ends.clear();
        for buffer in [&mut self.plain, &mut self.scratch] {
            buffer.clear();
            buffer.shrink_to(self.options.buffer_bytes);
        }
    }
}
