//! Finds records in the stream: where they begin, where their heads and blocks end.

use std::ops::Range;

use super::WarcReader;
use super::stream::{CHUNK_BYTES, Format};
use crate::error::Damage;
use crate::fields::Fields;
use crate::input::Failure;

const HEAD_BYTES_MAX: usize = 1 << 20;

/// A record's place in the file and in the unread part of the stream.
pub(super) struct Found {
    pub(super) offset: u64,
    pub(super) length: Option<u64>,
    pub(super) head: Range<usize>,
    pub(super) block: Range<usize>,
}

/// What is wrong, before the file and the place are added to it.
pub(super) enum Trouble {
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
    /// Skips line ends and unit ends up to the next record's first byte, whose place goes to `offset`; `false` at
    /// the end of the file.
    pub(super) fn find_start(&mut self, offset: &mut u64) -> Result<bool, Trouble> {
        loop {
            let line_ends = line_ends(self.stream.unread());
            self.stream.consume(line_ends);
            if self.stream.format() == Format::Plain {
                *offset = self.stream.position();
            } else {
                if !self.stream.in_unit() && self.stream.unread().is_empty() {
                    self.end_whole();
                    *offset = self.whole_end;
                    match self.stream.begin_unit()? {
                        Some(begin) => self.unit_offset = begin,
                        None => return Ok(false),
                    }
                    continue;
                }
                *offset = self.unit_offset;
            }
            if !self.stream.unread().is_empty() {
                return Ok(true);
            }
            if !self.stream.more()? && self.stream.format() == Format::Plain {
                return Ok(false);
            }
        }
    }

    pub(super) fn read_record(&mut self, offset: u64, limit: u64) -> Result<Found, Trouble> {
        let head = self.read_head(offset)?;
        let unread = self.stream.unread_mut();
        let block_start = head.end + line_end_len(&unread[head.end..]);
        self.fields.parse(&mut unread[head.clone()]);
        let bytes = content_length(&self.fields.of(&unread[head.clone()]))?;
        let too_large = bytes > limit;
        let block_end = if too_large {
            self.skip(block_start, bytes)?;
            0
        } else {
            // Cannot overflow: the limit is what memory was promised for.
            let end = block_start.saturating_add(usize::try_from(bytes).unwrap_or(usize::MAX));
            while self.stream.unread().len() < end {
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
            let seen = self.stream.unread();
            let known = seen.len().min(5);
            if seen[..known] != b"WARC/"[..known] {
                return Err(match self.stream.format() {
                    // Behind good records that is damage; at the very beginning it is another kind of file.
                    Format::Plain if offset > 0 => Failure::Damaged(Damage::Garbage).into(),
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

    /// Reads the line ends behind the block and, where the record is all of a unit, the unit's checksum.
    fn end_record(&mut self, offset: u64) -> Result<Option<u64>, Trouble> {
        match self.stream.format() {
            Format::Plain => self.end_plain_record(offset).map(Some),
            Format::Gzip | Format::Zstandard => self.end_packed_record(offset),
        }
    }

    fn end_plain_record(&mut self, offset: u64) -> Result<u64, Trouble> {
        loop {
            let rest = &self.stream.unread()[self.consumed..];
            let line_ends = line_ends(rest);
            let complete = rest.starts_with(b"\r\n\r\n") || rest.starts_with(b"\n\n");
            if complete || line_ends < rest.len() {
                let next = &rest[..rest.len().min(5)];
                if line_ends == 0 && next != &b"WARC/"[..next.len()] {
                    return Err(Failure::Damaged(Damage::Length).into());
                }
                self.ends_loosely = !complete;
                self.consumed += if rest.starts_with(b"\n\n") { 2 } else { line_ends.min(4) };
                self.whole_end = self.stream.position() + self.consumed as u64;
                return Ok(self.whole_end - offset);
            }
            if !self.stream.more()? {
                return Err(Failure::Torn.into());
            }
        }
    }

    fn end_packed_record(&mut self, offset: u64) -> Result<Option<u64>, Trouble> {
        let mut seen = 0;
        loop {
            let rest = &self.stream.unread()[self.consumed..];
            let line_ends = line_ends(rest);
            let next = &rest[line_ends..];
            let known = next.len().min(5);
            let record_follows = next[..known] == b"WARC/"[..known];
            self.consumed += line_ends;
            seen += line_ends;
            if !record_follows {
                return Err(Trouble::NotWarc("its block does not end where its Content-Length says"));
            }
            // More line ends than this are left to the next call, which does not keep them.
            let shared = known == 5 || seen > CHUNK_BYTES;
            if shared {
                self.records_unsure += 1;
                return Ok(None);
            }
            if !self.stream.more()? {
                if known > 0 {
                    return Err(Trouble::NotWarc("its block does not end where its Content-Length says"));
                }
                self.end_whole();
                return Ok(Some(self.whole_end - offset));
            }
        }
    }

    /// A unit is over, and with it a record: everything up to here is whole.
    fn end_whole(&mut self) {
        self.whole_end = self.stream.position();
        self.records_unsure = 0;
    }

    /// Passes over a block without keeping it.
    fn skip(&mut self, block_start: usize, bytes: u64) -> Result<(), Trouble> {
        let buffered = (self.stream.unread().len() - block_start) as u64;
        if bytes <= buffered {
            self.stream.consume(block_start + bytes as usize);
            return Ok(());
        }
        let mut missing = bytes - buffered;
        self.stream.consume_all();
        if self.stream.jump(missing)? {
            return Ok(());
        }
        while missing > 0 {
            self.more_of_record("its block is shorter than its Content-Length")?;
            let unread = self.stream.unread().len();
            let count = missing.min(unread as u64) as usize;
            missing -= count as u64;
            if count < unread {
                self.stream.consume(count);
            } else {
                self.stream.consume_all();
            }
        }
        Ok(())
    }

    /// Reads on where the record cannot be over. The end of a gzip member is then a fault of who wrote it; a record may be
    /// several Zstandard frames; and the end of the file tears it.
    fn more_of_record(&mut self, what: &'static str) -> Result<(), Trouble> {
        let before = self.stream.unread().len();
        while !self.stream.more()? {
            match self.stream.format() {
                Format::Plain => return Err(Failure::Torn.into()),
                Format::Gzip => return Err(Trouble::NotWarc(what)),
                Format::Zstandard => {
                    if self.stream.begin_unit()?.is_none() {
                        return Err(Failure::Torn.into());
                    }
                    if self.stream.unread().len() > before {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// Reads and drops the rest of a unit; `false` in a plain file, where nothing says where to go on.
    pub(super) fn drain_unit(&mut self) -> Result<bool, Failure> {
        if self.stream.format() == Format::Plain {
            return Ok(false);
        }
        self.consumed = 0;
        loop {
            self.stream.consume_all();
            if !self.stream.more()? {
                self.end_whole();
                return Ok(true);
            }
        }
    }
}

fn line_ends(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count()
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
