//! Reads WARC records out of a file: gzip members, Zstandard frames, or plain, as its first bytes say. [ARC](arc) files too, and the archives in
//! a [WACZ](wacz), one after the other.
//!
//! Memory is bounded: one buffer that grows with what has actually arrived, up to the record limit, never with what
//! a head claims. A record in a member or frame of its own is handed out only after the checksum was right.
//!
//! No input makes it panic. A torn or damaged record is reported with its offset and ends the iteration: what seems
//! to follow it may be part of a page made to look like records. A record that is merely too large, or a whole
//! member or frame that is no WARC record, is reported, and the next call goes on behind it. Who would rather have all that is
//! left than be sure of it asks to [go on behind damage](WarcReader::go_on_behind_damage).

use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use mattock_env::{Files, OpenMode, UnixTime};

use crate::bounded::Bounded;
use crate::date;
use crate::error::RepositoryError;
use crate::fields::{FieldRanges, Fields};
use crate::http;
use crate::input::Failure;
use crate::record::{Digest, RECORD_END, RecordId, RecordType};
use crate::repair;

pub(crate) mod arc;
mod scan;
mod stream;
mod wacz;

use scan::{Found, Trouble};
use stream::Stream;

pub(crate) use stream::Format;

const RECORD_BYTES_MAX: u64 = 256 << 20;

/// A record as it was found. Borrowed from the reader until the next one.
#[derive(Clone, Copy, Debug)]
pub struct StoredRecord<'a> {
    /// Where it begins in the file: for compressed records, where the gzip member or Zstandard frame begins.
    pub offset: u64,
    /// How many bytes of the file it takes; `None` if it shares a member or frame with other records: it has no place of its own then, and
    /// while more of them follow, the checksum is still to be verified.
    pub length: Option<u64>,
    /// The version of the format that it names: `1.1`; `ARC` for records of ARC files.
    pub version: &'a str,
    /// Its fields. Those of ARC records are made from what they have in their stead.
    pub fields: Fields<'a>,
    /// Its block.
    pub block: &'a [u8],
}

impl<'a> StoredRecord<'a> {
    /// What it is; `None` for types that the standard does not know.
    pub fn kind(&self) -> Option<RecordType> {
        self.fields.get("WARC-Type").and_then(RecordType::parse)
    }

    /// Its URL, without the angle brackets that some WARC/1.0 writers put around it.
    pub fn target_uri(&self) -> Option<&'a str> {
        self.uri("WARC-Target-URI")
    }

    fn uri(&self, field: &str) -> Option<&'a str> {
        let uri = self.fields.get(field)?;
        Some(uri.strip_prefix('<').and_then(|uri| uri.strip_suffix('>')).unwrap_or(uri))
    }

    /// When it was made, as far as its date can be read.
    pub fn date(&self) -> Option<UnixTime> {
        date::parse(self.fields.get("WARC-Date")?)
    }

    /// URL and time of the visit that a revisit refers to, if it says when that was.
    pub fn refers_to(&self) -> Option<(&'a str, UnixTime)> {
        let date = date::parse(self.fields.get("WARC-Refers-To-Date")?)?;
        Some((self.uri("WARC-Refers-To-Target-URI").or_else(|| self.target_uri())?, date))
    }

    /// Whether it may hold a document: an answer, a reference to an earlier one, or a file.
    pub fn is_document(&self) -> bool {
        matches!(self.kind(), Some(RecordType::Response | RecordType::Revisit | RecordType::Resource))
    }

    /// Appends it as it stands in a plain WARC file. A record of an ARC file gets the name that it needs there.
    pub fn write_to(&self, out: &mut Vec<u8>) {
        let (head, block) = (self.fields.head(), self.block);
        if self.version == "ARC" {
            let id = RecordId::of(&Digest::of(&[head, block]));
            out.extend_from_slice(format!("WARC/1.1\r\nWARC-Record-ID: {id}\r\n").as_bytes());
        } else {
            out.extend_from_slice(format!("WARC/{}\r\n", self.version).as_bytes());
        }
        for part in [head, b"\r\n", block, RECORD_END] {
            out.extend_from_slice(part);
        }
    }

    /// The HTTP response that its block is, if it is one. Of a revisit that is at most the head.
    pub fn response(&self) -> Option<http::Response<'a>> {
        match self.kind() {
            Some(RecordType::Response | RecordType::Revisit) => http::parse_response(self.block),
            _ => None,
        }
    }
}

/// What the records of a file are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Warc,
    Arc,
}

/// Reads one file from front to back.
pub struct WarcReader {
    path: PathBuf,
    record_bytes_max: u64,
    stream: Stream,
    /// Of what is unread in the stream, what the record that was handed out last takes.
    consumed: usize,
    fields: FieldRanges,
    /// As the record before was, if there was one.
    kind: Option<Kind>,
    /// What an ARC record would have for fields.
    arc_fields: Vec<u8>,
    /// Where the member or frame begins that the next record is in.
    unit_offset: u64,
    whole_end: u64,
    /// Records behind `whole_end` that were handed out: they share a unit whose checksum is not known yet.
    records_unsure: u64,
    /// The last record of a plain file lacks some of the line ends behind it: only what follows shows that it is whole.
    ends_loosely: bool,
    ended: bool,
    /// Of a WACZ: archives in the file that come behind this one.
    archives: VecDeque<Range<u64>>,
    goes_on: bool,
    /// A last record of a plain file that lacks only line ends is handed out.
    takes_open_end: bool,
    /// The last call has reported damage that ends the iteration, unless something whole is found behind it.
    at_damage: bool,
    /// Where the last record that could not be read begins.
    broken_at: Option<u64>,
}

/// As many bytes as it takes to know what something is made of, or as there are.
fn first_bytes(file: &Bounded, offset: u64) -> io::Result<Vec<u8>> {
    let mut first = vec![0; Format::BYTES];
    let mut count = 0;
    while count < first.len() {
        match file.read_at(&mut first[count..], offset + count as u64)? {
            0 => break,
            read => count += read,
        }
    }
    first.truncate(count);
    Ok(first)
}

fn open_failed(path: &Path, offset: u64) -> impl Fn(io::Error) -> RepositoryError {
    move |source| RepositoryError::Io { action: "open", path: path.to_path_buf(), offset, source }
}

/// The version in the first line of a record.
fn version(line: &[u8]) -> &str {
    let version = line.get(5..).unwrap_or_default();
    std::str::from_utf8(version.trim_ascii_end()).unwrap_or_default()
}

impl WarcReader {
    /// Opens a file and finds out by its first bytes whether and how it is compressed; by its name, if they are damaged.
    pub fn open(files: &Files, path: &Path) -> Result<WarcReader, RepositoryError> {
        WarcReader::open_at(files, path, 0)
    }

    /// Opens a file at a record: the offset that the writer or an index gave. A record whose first bytes are damaged says nothing of the others.
    pub fn open_at(files: &Files, path: &Path, offset: u64) -> Result<WarcReader, RepositoryError> {
        let failed = open_failed(path, offset);
        let file = Bounded::whole(files.open(path, OpenMode::Read).map_err(&failed)?);
        let first = first_bytes(&file, offset).map_err(&failed)?;
        if offset == 0
            && first == wacz::MAGIC
            && let Some(archives) = wacz::archives(&file).map_err(&failed)?
        {
            let mut reader = WarcReader::new(path, Stream::new(file, Format::Plain, 0), 0);
            reader.archives = archives.into();
            reader.next_archive()?;
            return Ok(reader);
        }
        let format = match Format::of(&first) {
            None if offset > 0 => Format::of(&first_bytes(&file, 0).map_err(&failed)?),
            known => known,
        };
        let format = match (format, Format::of_name(path)) {
            (Some(known), _) => known,
            // What nothing of the kind is in has the wrong name.
            (None, named) if repair::has_units(&file, named).map_err(&failed)? => named,
            (None, _) => Format::Plain,
        };
        Ok(WarcReader::new(path, Stream::new(file, format, offset), offset))
    }

    fn new(path: &Path, stream: Stream, offset: u64) -> WarcReader {
        WarcReader {
            path: path.to_path_buf(),
            record_bytes_max: RECORD_BYTES_MAX,
            stream,
            consumed: 0,
            fields: FieldRanges::default(),
            kind: None,
            arc_fields: Vec::new(),
            unit_offset: offset,
            whole_end: offset,
            records_unsure: 0,
            ends_loosely: false,
            ended: false,
            archives: VecDeque::new(),
            goes_on: false,
            takes_open_end: false,
            at_damage: false,
            broken_at: None,
        }
    }

    /// Sets the largest block that is read, instead of 256 MiB.
    pub fn record_bytes_max(mut self, bytes: u64) -> WarcReader {
        self.record_bytes_max = bytes;
        self
    }

    /// Goes on behind torn and damaged records: each is reported once, and the next call finds the first whole record behind
    /// it, as [`Self::skip_damage`] does. A record that only lacks the line ends at the end of the file counts as whole.
    pub fn go_on_behind_damage(mut self) -> WarcReader {
        self.goes_on = true;
        self.takes_open_end()
    }

    /// Hands out the last record of a plain file although it lacks the line ends behind its block. Who keeps a file for writing must not: there
    /// such a record is one that was not written to its end.
    pub(crate) fn takes_open_end(mut self) -> WarcReader {
        self.takes_open_end = true;
        self
    }

    /// Where the last record ends of which everything is known to be whole, with all before it.
    pub fn whole_end(&self) -> u64 {
        self.whole_end
    }

    /// Whether the file is made of gzip members or Zstandard frames.
    pub fn is_compressed(&self) -> bool {
        self.format() != Format::Plain
    }

    /// What the file is made of.
    pub(crate) fn format(&self) -> Format {
        self.stream.format()
    }

    /// The next record; `None` at the end of the file.
    pub fn next_record(&mut self) -> Result<Option<StoredRecord<'_>>, RepositoryError> {
        let limit = self.record_bytes_max;
        if self.goes_on && self.at_damage && self.skip_damage()?.is_none() && !self.next_archive()? {
            return Ok(None);
        }
        let Some(found) = self.advance(limit)? else { return Ok(None) };
        let Found { offset, length, head, block } = found;
        let buffer = self.stream.unread();
        let block = &buffer[block];
        if self.kind == Some(Kind::Arc)
            && let Some(line) = arc::parse(&buffer[head.clone()])
        {
            line.write_fields(block, &mut self.arc_fields);
            self.fields.parse(&mut self.arc_fields);
            let fields = self.fields.of(&self.arc_fields);
            return Ok(Some(StoredRecord { offset, length, version: "ARC", fields, block }));
        }
        let version = version(&buffer[..head.start]);
        let fields = self.fields.of(&buffer[head]);
        Ok(Some(StoredRecord { offset, length, version, fields, block }))
    }

    /// After a record that is torn or damaged: goes on behind it with the first whole record there, and says where that is; `None` if
    /// there is none.
    ///
    /// A hostile page may hold what looks like a record, and without the damaged one nobody can tell: what is read from
    /// here on is to be believed only as far as somebody else knows of it.
    pub fn skip_damage(&mut self) -> Result<Option<u64>, RepositoryError> {
        let broken = self.broken_at.unwrap_or(self.whole_end);
        self.at_damage = false;
        let next = repair::whole_record_behind(self, broken).map_err(|source| RepositoryError::Io {
            action: "read",
            path: self.path.clone(),
            offset: broken,
            source,
        })?;
        match next {
            Some(next) => self.seek(next),
            None => self.ended = true,
        }
        Ok(next)
    }

    /// Goes over the next record and verifies it, without keeping it.
    ///
    /// `None` at the end of the file; else its offset.
    pub(crate) fn verify_next(&mut self) -> Result<Option<u64>, RepositoryError> {
        match self.advance(0) {
            Err(RepositoryError::TooLarge { offset, .. }) => Ok(Some(offset)),
            other => Ok(other?.map(|found| found.offset)),
        }
    }

    /// Whether the last record that was read would not be whole without what follows it: it shares a member or frame
    /// whose checksum is not known yet, or lacks line ends.
    pub(crate) fn last_needs_next(&self) -> bool {
        self.ends_loosely || self.records_unsure > 0
    }

    /// The file.
    pub(crate) fn file(&self) -> &Bounded {
        self.stream.file()
    }

    /// How many bytes have been read from the file.
    pub fn bytes_read(&self) -> u64 {
        self.stream.bytes_read()
    }

    /// Takes over the working memory of another reader, which is to be [sent elsewhere](Self::seek) before it is used again.
    pub(crate) fn take_buffers(&mut self, other: &mut WarcReader) {
        (self.consumed, other.consumed) = (0, 0);
        self.stream.take_buffers(&mut other.stream);
    }

    /// Starts over somewhere else in the file, where a record begins.
    pub fn seek(&mut self, offset: u64) {
        self.seek_exactly(offset, None);
    }

    /// Goes to a place of which it may be known how long it is.
    pub(crate) fn seek_exactly(&mut self, offset: u64, length: Option<u64>) {
        self.stream.seek(offset, length);
        (self.consumed, self.whole_end, self.records_unsure, self.ended) = (0, offset, 0, false);
        (self.kind, self.at_damage) = (None, false);
    }

    fn advance(&mut self, limit: u64) -> Result<Option<Found>, RepositoryError> {
        self.stream.consume(std::mem::take(&mut self.consumed));
        loop {
            let found = self.advance_in_archive(limit)?;
            if found.is_some() || self.at_damage || !self.next_archive()? {
                return Ok(found);
            }
        }
    }

    /// Goes to the next archive of a WACZ; `false` if there is none.
    fn next_archive(&mut self) -> Result<bool, RepositoryError> {
        let Some(Range { start, end }) = self.archives.pop_front() else { return Ok(false) };
        self.stream.restart(Format::Plain, start, end);
        let first = first_bytes(self.file(), start).map_err(open_failed(&self.path, start))?;
        self.stream.restart(Format::of(&first).unwrap_or(Format::Plain), start, end);
        (self.consumed, self.unit_offset, self.whole_end, self.records_unsure) = (0, start, start, 0);
        (self.kind, self.ended, self.at_damage, self.broken_at) = (None, false, false, None);
        Ok(true)
    }

    fn advance_in_archive(&mut self, limit: u64) -> Result<Option<Found>, RepositoryError> {
        if self.ended {
            return Ok(None);
        }
        let mut offset = self.whole_end;
        let result = match self.find_start(&mut offset) {
            Ok(true) => self.read_record(offset, limit).map(Some),
            Ok(false) => Ok(None),
            Err(trouble) => Err(trouble),
        };
        let trouble = match result {
            Ok(found) => {
                self.ended = found.is_none();
                return Ok(found);
            }
            Err(trouble) => trouble,
        };
        // A unit that is whole but no record can be passed over; one that is not whole has the larger problem.
        let trouble = match trouble {
            Trouble::NotWarc(what) => match self.drain_unit() {
                Ok(passed) => {
                    self.ended = !passed;
                    Trouble::NotWarc(what)
                }
                // With nothing good before it, the file is of another kind, torn or not.
                Err(Failure::Torn) if self.whole_end == 0 => {
                    self.ended = true;
                    Trouble::NotWarc(what)
                }
                Err(failure) => Trouble::Failure(failure),
            },
            other => other,
        };
        let path = self.path.clone();
        self.broken_at = Some(offset);
        self.at_damage = match &trouble {
            Trouble::Failure(failure) => !matches!(failure, Failure::Io(_)),
            Trouble::NotWarc(_) => self.ended,
            Trouble::TooLarge(_) => false,
        };
        Err(match trouble {
            Trouble::Failure(failure) => {
                self.ended = true;
                match failure {
                    Failure::Io(source) => RepositoryError::Io { action: "read", path, offset, source },
                    Failure::Torn => RepositoryError::Torn { path, offset },
                    Failure::Damaged(damage) => RepositoryError::Damaged { path, offset, damage },
                    Failure::Unreadable(what) => RepositoryError::Unreadable { path, offset, what },
                }
            }
            Trouble::NotWarc(what) => RepositoryError::NotWarc { path, offset, what },
            Trouble::TooLarge(bytes) => RepositoryError::TooLarge { path, offset, bytes, limit },
        })
    }
}
