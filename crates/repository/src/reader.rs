//! Reads WARC records out of a file: gzip member by member, or plain.
//!
//! Memory is bounded: one buffer that grows with what has actually arrived, up to the record limit, never with what
//! a head claims. A record in a member of its own is handed out only after the member's checksum was right.
//!
//! No input makes it panic. A torn or damaged record is reported with its offset and ends the iteration: what seems
//! to follow it may be part of a page made to look like records. A record that is merely too large, or a whole
//! gzip member that is no WARC record, is reported, and the next call goes on behind it.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use mattock_env::{File, Files, OpenMode};

use crate::error::{Damage, RepositoryError};
use crate::fields::{FieldRanges, Fields};
use crate::gzip::{Failure, Members};
use crate::record::RecordType;

const CHUNK_BYTES: usize = 64 << 10;
const HEAD_BYTES_MAX: usize = 1 << 20;
const RECORD_BYTES_MAX: u64 = 256 << 20;

/// A record as it was found. Borrowed from the reader until the next one.
#[derive(Clone, Copy, Debug)]
pub struct StoredRecord<'a> {
    /// Where it begins in the file: for compressed records, where the gzip member begins.
    pub offset: u64,
    /// How many bytes of the file it takes; `None` if it shares a gzip member with what follows, in which case the
    /// member's checksum is still to be verified.
    pub length: Option<u64>,
    /// Its fields.
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
        let uri = self.fields.get("WARC-Target-URI")?;
        Some(uri.strip_prefix('<').and_then(|uri| uri.strip_suffix('>')).unwrap_or(uri))
    }
}

/// Reads one file from front to back.
pub struct WarcReader {
    file: File,
    path: PathBuf,
    record_bytes_max: u64,
    source: Source,
    /// `plain[start..filled]` has been read and not yet been consumed.
    plain: Vec<u8>,
    start: usize,
    filled: usize,
    /// Of `plain[start..]`, what the record that was handed out last takes.
    consumed: usize,
    fields: FieldRanges,
    whole_end: u64,
    /// The last record of a plain file lacks some of the line ends behind it: only what follows shows that it is whole.
    ends_loosely: bool,
    ended: bool,
}

enum Source {
    /// With the place of the next byte to read.
    Plain(u64),
    Gzip {
        members: Box<Members>,
        member_offset: u64,
        in_member: bool,
        records_in_member: u64,
    },
}

/// A record's place in the file and, from `start` on, in the buffer.
struct Found {
    offset: u64,
    length: Option<u64>,
    head: Range<usize>,
    block: Range<usize>,
}

/// What is wrong, before the file and the place are added to it.
enum Trouble {
    Failure(Failure),
    NotWarc(&'static str),
    TooLarge(u64),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Trouble {
        Trouble::Failure(failure)
    }
}

impl WarcReader {
    /// Opens a file and finds out by its first bytes whether it is compressed.
    pub fn open(files: &Files, path: &Path) -> Result<WarcReader, RepositoryError> {
        WarcReader::open_at(files, path, 0)
    }

    /// Opens a file at a record: the offset that the writer or an index gave.
    pub fn open_at(files: &Files, path: &Path, offset: u64) -> Result<WarcReader, RepositoryError> {
        let failed = |source: io::Error| RepositoryError::Io {
            action: "open",
            path: path.to_path_buf(),
            offset,
            source,
        };
        let file = files.open(path, OpenMode::Read).map_err(failed)?;
        let mut first = [0];
        file.read_at(&mut first, offset).map_err(failed)?;
        let source = if first == [0x1f] {
            Source::Gzip {
                members: Box::new(Members::new(offset)),
                member_offset: offset,
                in_member: false,
                records_in_member: 0,
            }
        } else {
            Source::Plain(offset)
        };
        Ok(WarcReader {
            file,
            path: path.to_path_buf(),
            record_bytes_max: RECORD_BYTES_MAX,
            source,
            plain: Vec::new(),
            start: 0,
            filled: 0,
            consumed: 0,
            fields: FieldRanges::default(),
            whole_end: offset,
            ends_loosely: false,
            ended: false,
        })
    }

    /// Sets the largest block that is read, instead of 256 MiB.
    pub fn record_bytes_max(mut self, bytes: u64) -> WarcReader {
        self.record_bytes_max = bytes;
        self
    }

    /// Where the last record ends of which everything is known to be whole, with all before it.
    pub fn whole_end(&self) -> u64 {
        self.whole_end
    }

    /// Whether the file is made of gzip members.
    pub fn is_compressed(&self) -> bool {
        matches!(self.source, Source::Gzip { .. })
    }

    /// The next record; `None` at the end of the file.
    pub fn next_record(&mut self) -> Result<Option<StoredRecord<'_>>, RepositoryError> {
        let limit = self.record_bytes_max;
        let Some(found) = self.advance(limit)? else { return Ok(None) };
        let start = self.start;
        let buffer = &mut self.plain[start..];
        self.fields.parse(&mut buffer[found.head.clone()]);
        Ok(Some(StoredRecord {
            offset: found.offset,
            length: found.length,
            fields: self.fields.of(&buffer[found.head]),
            block: &buffer[found.block],
        }))
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

    /// Whether the last record that was read would not be whole without what follows it: it shares a gzip member
    /// whose checksum is not known yet, or lacks line ends.
    pub(crate) fn last_needs_next(&self) -> bool {
        match &self.source {
            Source::Plain(_) => self.ends_loosely,
            Source::Gzip { in_member, records_in_member, .. } => *in_member && *records_in_member > 0,
        }
    }

    /// Starts over somewhere else in the file.
    pub(crate) fn seek(&mut self, offset: u64) {
        (self.start, self.filled, self.consumed, self.whole_end, self.ended) = (0, 0, 0, offset, false);
        match &mut self.source {
            Source::Plain(position) => *position = offset,
            Source::Gzip { members, in_member, records_in_member, .. } => {
                members.seek(offset);
                (*in_member, *records_in_member) = (false, 0);
            }
        }
    }

    fn advance(&mut self, limit: u64) -> Result<Option<Found>, RepositoryError> {
        self.start += self.consumed;
        self.consumed = 0;
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
        // A member that is whole but no record can be passed over; one that is not whole has the larger problem.
        let trouble = match trouble {
            Trouble::NotWarc(what) => match self.drain_member() {
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
        Err(match trouble {
            Trouble::Failure(failure) => {
                self.ended = true;
                match failure {
                    Failure::Io(source) => RepositoryError::Io { action: "read", path, offset, source },
                    Failure::Torn => RepositoryError::Torn { path, offset },
                    Failure::Damaged(damage) => RepositoryError::Damaged { path, offset, damage },
                }
            }
            Trouble::NotWarc(what) => RepositoryError::NotWarc { path, offset, what },
            Trouble::TooLarge(bytes) => RepositoryError::TooLarge { path, offset, bytes, limit },
        })
    }

    /// Skips line ends and member ends up to the next record's first byte, whose place goes to `offset`; `false` at
    /// the end of the file.
    fn find_start(&mut self, offset: &mut u64) -> Result<bool, Trouble> {
        loop {
            while self.start < self.filled && matches!(self.plain[self.start], b'\r' | b'\n') {
                self.start += 1;
            }
            match &mut self.source {
                Source::Plain(position) => *offset = *position - (self.filled - self.start) as u64,
                Source::Gzip { members, member_offset, in_member, records_in_member } => {
                    if !*in_member {
                        (*member_offset, *records_in_member) = (members.position(), 0);
                        *offset = *member_offset;
                        if !members.begin(&self.file)? {
                            return Ok(false);
                        }
                        *in_member = true;
                    }
                    *offset = *member_offset;
                }
            }
            if self.start < self.filled {
                return Ok(true);
            }
            if !self.more()? && !self.is_compressed() {
                return Ok(false);
            }
        }
    }

    fn read_record(&mut self, offset: u64, limit: u64) -> Result<Found, Trouble> {
        let head = self.read_head(offset)?;
        let block_start = head.end + line_end_len(&self.plain[self.start + head.end..self.filled]);
        let bytes = {
            self.fields.parse(&mut self.plain[self.start + head.start..self.start + head.end]);
            let fields = self.fields.of(&self.plain[self.start + head.start..self.start + head.end]);
            content_length(&fields)?
        };
        let too_large = bytes > limit;
        let block_end = if too_large {
            self.skip(block_start, bytes)?;
            0
        } else {
            // Cannot overflow: the limit is what memory was promised for.
            let end = block_start.saturating_add(usize::try_from(bytes).unwrap_or(usize::MAX));
            while self.filled - self.start < end {
                self.more_of_record("its block is shorter than its Content-Length")?;
            }
            end
        };
        self.consumed = block_end;
        let length = self.end_record(offset)?;
        if too_large {
            return Err(Trouble::TooLarge(bytes));
        }
        Ok(Found { offset, length, head, block: block_start..block_end })
    }

    /// Reads up to the blank line; the range is that of the fields.
    fn read_head(&mut self, offset: u64) -> Result<Range<usize>, Trouble> {
        let mut searched = 0;
        loop {
            let seen = &self.plain[self.start..self.filled];
            let known = seen.len().min(5);
            if seen[..known] != b"WARC/"[..known] {
                return Err(match self.source {
                    // Behind good records that is damage; at the very beginning it is another kind of file.
                    Source::Plain(_) if offset > 0 => Failure::Damaged(Damage::Garbage).into(),
                    _ => Trouble::NotWarc("it does not begin with a WARC version"),
                });
            }
            while let Some(at) = memchr::memchr(b'\n', &seen[searched..]) {
                let next = searched + at + 1;
                match &seen[next..] {
                    [b'\n', ..] | [b'\r', b'\n', ..] => {
                        let first = memchr::memchr(b'\n', seen).map_or(next, |at| at + 1);
                        return Ok(first..next);
                    }
                    // Whether this line is blank shows with the next byte.
                    [] | [b'\r'] => break,
                    _ => searched = next,
                }
            }
            if seen.len() > HEAD_BYTES_MAX {
                return Err(Trouble::NotWarc("its head is longer than 1 MiB"));
            }
            self.more_of_record("its head has no end")?;
        }
    }

    /// Reads the line ends behind the block and, where the record is all of a member, the member's checksum.
    fn end_record(&mut self, offset: u64) -> Result<Option<u64>, Trouble> {
        let mut seen = 0;
        loop {
            let rest = &self.plain[self.start + self.consumed..self.filled];
            let line_ends = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            match &self.source {
                Source::Plain(position) => {
                    let complete = rest.starts_with(b"\r\n\r\n") || rest.starts_with(b"\n\n");
                    if complete || line_ends < rest.len() {
                        let next = &rest[..rest.len().min(5)];
                        if line_ends == 0 && next != &b"WARC/"[..next.len()] {
                            return Err(Failure::Damaged(Damage::Length).into());
                        }
                        self.ends_loosely = !complete;
                        self.consumed += if rest.starts_with(b"\n\n") { 2 } else { line_ends.min(4) };
                        let unread = self.filled - self.start - self.consumed;
                        self.whole_end = position - unread as u64;
                        return Ok(Some(self.whole_end - offset));
                    }
                    if !self.more()? {
                        return Err(Failure::Torn.into());
                    }
                }
                Source::Gzip { .. } => {
                    self.consumed += line_ends;
                    seen += line_ends;
                    let next = &rest[line_ends..];
                    let known = next.len().min(5);
                    if next[..known] != b"WARC/"[..known] {
                        return Err(Trouble::NotWarc("its block does not end where its Content-Length says"));
                    }
                    // More line ends than this are left to the next call, which does not keep them.
                    let shared = known == 5 || seen > CHUNK_BYTES;
                    if !shared && self.more()? {
                        continue;
                    }
                    if known > 0 && !shared {
                        return Err(Trouble::NotWarc("its block does not end where its Content-Length says"));
                    }
                    if let Source::Gzip { records_in_member, .. } = &mut self.source {
                        *records_in_member += 1;
                    }
                    return Ok(if shared { None } else { Some(self.whole_end - offset) });
                }
            }
        }
    }

    /// Passes over a block without keeping it.
    fn skip(&mut self, block_start: usize, bytes: u64) -> Result<(), Trouble> {
        let buffered = (self.filled - self.start - block_start) as u64;
        if bytes <= buffered {
            self.start += block_start + bytes as usize;
            return Ok(());
        }
        let mut missing = bytes - buffered;
        (self.start, self.filled) = (0, 0);
        if let Source::Plain(position) = &mut self.source {
            let len = self.file.len().map_err(Failure::Io)?;
            if missing > len.saturating_sub(*position) {
                return Err(Failure::Torn.into());
            }
            *position += missing;
            return Ok(());
        }
        while missing > 0 {
            self.more_of_record("its block is shorter than its Content-Length")?;
            let count = missing.min((self.filled - self.start) as u64);
            missing -= count;
            self.start += count as usize;
            if self.start == self.filled {
                (self.start, self.filled) = (0, 0);
            }
        }
        Ok(())
    }

    /// Reads on where the record cannot be over: the end of a member is then a fault of who wrote it, the end of a
    /// plain file a torn record.
    fn more_of_record(&mut self, what: &'static str) -> Result<(), Trouble> {
        match self.more()? {
            true => Ok(()),
            false if self.is_compressed() => Err(Trouble::NotWarc(what)),
            false => Err(Failure::Torn.into()),
        }
    }

    /// Reads some more into the buffer; `false` at the end of the member, whose checksum was right, or of the file.
    fn more(&mut self) -> Result<bool, Failure> {
        if self.plain.len() - self.filled < CHUNK_BYTES / 2 {
            self.plain.copy_within(self.start..self.filled, 0);
            self.filled -= self.start;
            self.start = 0;
            let wanted = (self.filled + CHUNK_BYTES).max(self.filled * 2);
            if self.plain.len() < self.filled + CHUNK_BYTES {
                self.plain.resize(wanted, 0);
            }
        }
        let room = &mut self.plain[self.filled..];
        let count = match &mut self.source {
            Source::Plain(position) => {
                let count = self.file.read_at(room, *position).map_err(Failure::Io)?;
                *position += count as u64;
                count
            }
            Source::Gzip { members, in_member, .. } => {
                if !*in_member {
                    return Ok(false);
                }
                let count = members.read(&self.file, room)?;
                if count == 0 {
                    *in_member = false;
                    self.whole_end = members.position();
                }
                count
            }
        };
        self.filled += count;
        Ok(count > 0)
    }

    /// Reads and drops the rest of a member; `false` in a plain file, where nothing says where to go on.
    fn drain_member(&mut self) -> Result<bool, Failure> {
        if !self.is_compressed() {
            return Ok(false);
        }
        loop {
            (self.start, self.filled, self.consumed) = (0, 0, 0);
            if !self.more()? {
                return Ok(true);
            }
        }
    }
}

fn line_end_len(bytes: &[u8]) -> usize {
    if bytes.starts_with(b"\r\n") { 2 } else { 1 }
}

fn content_length(fields: &Fields<'_>) -> Result<u64, Trouble> {
    let text = fields.get("Content-Length").ok_or(Trouble::NotWarc("it has no Content-Length"))?;
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Trouble::NotWarc("its Content-Length is not a number"));
    }
    text.parse().map_err(|_| Trouble::NotWarc("its Content-Length is not a number"))
}
