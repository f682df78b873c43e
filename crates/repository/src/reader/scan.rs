//! Finds records in the stream: where they begin, where their heads and blocks end. WARC, and ARC before it.

use std::ops::Range;

use super::stream::{CHUNK_BYTES, Format};
use super::{Kind, WarcReader, arc};
use crate::error::Damage;
use crate::fields::Fields;
use crate::input::Failure;
use crate::record::Digest;

const HEAD_BYTES_MAX: usize = 1 << 20;
/// How far a unit is looked into for damage behind a record that is in doubt.
const AHEAD_BYTES: usize = 1 << 18;

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
        let (head, block_start, bytes) = match self.arc_line(offset)? {
            Some((line_bytes, bytes)) => (0..line_bytes, line_bytes, bytes),
            None => {
                let head = self.read_head(offset)?;
                let plain = self.stream.format() == Format::Plain;
                let unread = self.stream.unread_mut();
                let block_start = head.end + line_end_len(&unread[head.end..]);
                self.fields.parse(&mut unread[head.clone()]);
                let fields = self.fields.of(&unread[head.clone()]);
                if plain && breaks_off(&unread[head.clone()], &fields) {
                    return Err(Failure::Damaged(Damage::Head).into());
                }
                let bytes = content_length(&fields)?;
                (head, block_start, bytes)
            }
        };
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
        self.doubt(&head, block_start..block_end)?;
        Ok(Found { offset, length, head, block: block_start..block_end })
    }

    /// A record that seems to share its unit may be one that damage made look so: then its digest is another, and the unit fails soon.
    /// A digest alone proves nothing, there are tools that write wrong ones. What is looked into stays in memory, and counts from the end
    /// of the record, so that it is never more than [`AHEAD_BYTES`], however many records are in doubt. Costs a digest for every record
    /// in a unit that is too large to be unpacked at once.
    fn doubt(&mut self, head: &Range<usize>, block: Range<usize>) -> Result<(), Trouble> {
        if !self.stream.in_unit() || self.records_unsure == 0 || self.kind == Some(Kind::Arc) {
            return Ok(());
        }
        let unread = self.stream.unread();
        let told =
            self.fields.of(&unread[head.clone()]).get("WARC-Block-Digest").and_then(Digest::from_field);
        if told.is_none_or(|told| told == Digest::of(&[&unread[block]])) {
            return Ok(());
        }
        let seen = self.consumed + AHEAD_BYTES;
        while self.stream.unread().len() < seen && self.stream.more()? {}
        Ok(())
    }

    /// The length of an ARC record's first line and of its block; `None` where a WARC record begins, or nothing at all.
    fn arc_line(&mut self, offset: u64) -> Result<Option<(usize, u64)>, Trouble> {
        if self.kind == Some(Kind::Warc) || begins_warc(self.stream.unread()) {
            self.kind = Some(Kind::Warc);
            return Ok(None);
        }
        let mut searched = 0;
        loop {
            let seen = self.stream.unread();
            if let Some(at) = memchr::memchr(b'\n', &seen[searched..]) {
                let end = searched + at + 1;
                let Some(line) = arc::parse(&seen[..end]) else { break };
                self.kind = Some(Kind::Arc);
                return Ok(Some((end, line.length)));
            }
            searched = seen.len();
            if searched > arc::LINE_BYTES_MAX {
                break;
            }
            match self.stream.more() {
                Ok(true) => {}
                Ok(false) if self.kind.is_some() => return Err(Failure::Torn.into()),
                Err(Failure::Io(error)) => return Err(Failure::Io(error).into()),
                // What is wrong with it matters less than that it is no archive.
                Ok(false) | Err(_) => break,
            }
        }
        match self.stream.format() {
            // Behind good records that is damage; at the very beginning it is another kind of file.
            Format::Plain if offset > 0 => Err(Failure::Damaged(Damage::Garbage).into()),
            _ => Err(Trouble::NotWarc(what_instead(self.stream.unread()))),
        }
    }

    /// Whether what follows a record may begin another, of which the first bytes are known.
    fn may_follow(&self, next: &[u8]) -> bool {
        match self.kind {
            Some(Kind::Arc) => next.first().is_none_or(u8::is_ascii_alphabetic),
            _ => begins_warc(next),
        }
    }

    /// Reads up to the blank line; the range is that of the fields.
    fn read_head(&mut self, offset: u64) -> Result<Range<usize>, Trouble> {
        let mut searched = 0;
        loop {
            let seen = self.stream.unread();
            if !begins_warc(seen) {
                return Err(match self.stream.format() {
                    // Behind good records that is damage; at the very beginning it is another kind of file.
                    Format::Plain if offset > 0 => Failure::Damaged(Damage::Garbage).into(),
                    _ => Trouble::NotWarc(what_instead(seen)),
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
            let arc = self.kind == Some(Kind::Arc);
            let one = arc && (rest.starts_with(b"\n") || rest.starts_with(b"\r\n"));
            let complete = one || rest.starts_with(b"\r\n\r\n") || rest.starts_with(b"\n\n");
            let over = complete || line_ends < rest.len() || {
                // Line ends are all that can be missing here: who wants what there is need not go without the block.
                let more = self.stream.more()?;
                let may_lack_them = arc || self.takes_open_end && self.ends_with_file();
                if !more && !may_lack_them {
                    return Err(Failure::Torn.into());
                }
                !more
            };
            if over {
                let rest = &self.stream.unread()[self.consumed..];
                let another_line = || {
                    let line = memchr::memchr(b'\n', rest).map(|end| &rest[..end]);
                    rest.is_empty() || line.is_some_and(|line| arc::parse(line).is_some())
                };
                if line_ends == 0 && !(self.may_follow(rest) && (!arc || another_line())) {
                    return Err(Failure::Damaged(Damage::Length).into());
                }
                self.ends_loosely = !complete;
                self.consumed += if rest.starts_with(b"\n\n") && !arc { 2 } else { line_ends.min(4) };
                self.whole_end = self.stream.position() + self.consumed as u64;
                return Ok(self.whole_end - offset);
            }
        }
    }

    /// Whether nothing lies behind the archive that might be taken for the end of its last record.
    fn ends_with_file(&self) -> bool {
        self.stream.file().is_whole()
    }

    fn end_packed_record(&mut self, offset: u64) -> Result<Option<u64>, Trouble> {
        let mut seen = 0;
        loop {
            let rest = &self.stream.unread()[self.consumed..];
            let line_ends = line_ends(rest);
            let next = &rest[line_ends..];
            let known = next.len().min(5);
            let record_follows = self.may_follow(next);
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
                // The last of several ends where its unit does, but the unit's first bytes are another record.
                let alone = self.records_unsure == 0;
                self.end_whole();
                return Ok(alone.then(|| self.whole_end - offset));
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

/// Whether this, or what is known of it, may begin a WARC record.
fn begins_warc(bytes: &[u8]) -> bool {
    let known = bytes.len().min(5);
    bytes[..known].eq_ignore_ascii_case(&b"WARC/"[..known])
}

/// Whether another record begins in the middle of a head: a version ends one of its lines, which is no field, or the fields
/// that every record has once are there twice. (A URL may end like a version.)
fn breaks_off(head: &[u8], fields: &Fields<'_>) -> bool {
    let is_version = |at: usize| {
        let end = memchr::memchr(b'\n', &head[at..]).map_or(head.len(), |end| at + end);
        let version = head[at + 5..end].trim_ascii_end();
        !version.is_empty() && version.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
    };
    let twice = |name: &str| fields.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name)).count() > 1;
    memchr::memmem::find_iter(head, b"WARC/").any(|at| {
        let line = memchr::memrchr(b'\n', &head[..at]).map_or(0, |end| end + 1);
        let in_field = memchr::memchr(b':', &head[line..at]).is_some();
        is_version(at) && (!in_field || twice("WARC-Type") || twice("WARC-Record-ID") || twice("WARC-Date"))
    })
}

/// What a file holds where a record should begin.
fn what_instead(first: &[u8]) -> &'static str {
    match first {
        [0x04, 0x22, 0x4d, 0x18, ..] => "it is compressed with LZ4; unpack it first",
        [b'P', b'K', 3, 4, ..] => {
            "it is a ZIP file, and no WACZ with archives that lie in it as they are; unpack it first"
        }
        _ if first.starts_with(b"filedesc:") => {
            "its first line is not an ARC header of URL, address, date, type and length"
        }
        _ => "it does not begin with a WARC version",
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
