//! The bytes of an archive with their compression undone, in one buffer that the reader empties.
//!
//! The buffer grows with what has arrived and was not consumed, never with what a header claims. "Unit" is said of
//! gzip members and Zstandard frames alike: a unit is over only when its checksum was right. Plain files have none.

use std::path::Path;

use crate::bounded::Bounded;
use crate::gzip::Members;
use crate::input::{Failure, Input};
use crate::zstandard::{self, Frames};

pub(super) const CHUNK_BYTES: usize = 64 << 10;
/// The largest read of a plain file.
const STEP_BYTES_MAX: usize = 1 << 20;

/// What a file is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Plain,
    Gzip,
    Zstandard,
}

impl Format {
    /// As many bytes as it takes to know.
    pub(crate) const BYTES: usize = 4;

    /// What a file of this name should be made of.
    pub(super) fn of_name(path: &Path) -> Format {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("gz") => Format::Gzip,
            Some("zst") => Format::Zstandard,
            _ => Format::Plain,
        }
    }

    /// What the first four bytes of a file or of a record say, of which there may be fewer; `None` if they are those of nothing that is known here.
    pub(super) fn of(first: &[u8]) -> Option<Format> {
        if first.first() == Some(&0x1f) {
            Some(Format::Gzip)
        } else if zstandard::is_zstandard(first) {
            Some(Format::Zstandard)
        } else if [b"WARC", b"file"].iter().any(|plain| plain.starts_with(first)) {
            Some(Format::Plain)
        } else {
            None
        }
    }
}

enum Source {
    Plain(Plain),
    Gzip(Box<Members>),
    Zstandard(Box<Frames>),
}

/// A file without compression is read straight into the stream's buffer.
struct Plain {
    /// Of the next byte to read.
    position: u64,
    /// How much the next read asks for: see [`Input`].
    step: usize,
    bytes_read: u64,
}

pub(super) struct Stream {
    file: Bounded,
    source: Source,
    in_unit: bool,
    /// `plain[start..filled]` has been read and not yet been consumed.
    plain: Vec<u8>,
    start: usize,
    filled: usize,
    /// What has come from the file for other archives in it.
    read_before: u64,
}

impl Source {
    fn new(format: Format, position: u64) -> Source {
        match format {
            Format::Plain => Source::Plain(Plain { position, step: CHUNK_BYTES, bytes_read: 0 }),
            Format::Gzip => Source::Gzip(Box::new(Members::new(position))),
            Format::Zstandard => Source::Zstandard(Box::new(Frames::new(position))),
        }
    }
}

impl Stream {
    pub(super) fn new(file: Bounded, format: Format, position: u64) -> Stream {
        let source = Source::new(format, position);
        Stream { file, source, in_unit: false, plain: Vec::new(), start: 0, filled: 0, read_before: 0 }
    }

    /// Goes on with another archive in the same file, which is made of something else perhaps, and ends there.
    pub(super) fn restart(&mut self, format: Format, position: u64, end: u64) {
        self.read_before = self.bytes_read();
        self.source = Source::new(format, position);
        self.file.end_at(end);
        self.in_unit = false;
        self.consume_all();
    }

    pub(super) fn file(&self) -> &Bounded {
        &self.file
    }

    pub(super) fn format(&self) -> Format {
        match self.source {
            Source::Plain(_) => Format::Plain,
            Source::Gzip(_) => Format::Gzip,
            Source::Zstandard(_) => Format::Zstandard,
        }
    }

    /// What is in the buffer.
    pub(super) fn unread(&self) -> &[u8] {
        &self.plain[self.start..self.filled]
    }

    /// What is in the buffer, to be changed in place.
    pub(super) fn unread_mut(&mut self) -> &mut [u8] {
        &mut self.plain[self.start..self.filled]
    }

    /// Passes over bytes that are in the buffer.
    pub(super) fn consume(&mut self, bytes: usize) {
        debug_assert!(bytes <= self.filled - self.start);
        self.start += bytes;
    }

    /// Empties the buffer.
    pub(super) fn consume_all(&mut self) {
        (self.start, self.filled) = (0, 0);
    }

    /// The place in the file: of the first unread byte if it is plain, else where the decompressor is, which is the end of the
    /// last unit while none is begun.
    pub(super) fn position(&self) -> u64 {
        match &self.source {
            Source::Plain(plain) => plain.position - self.unread().len() as u64,
            Source::Gzip(members) => members.position(),
            Source::Zstandard(frames) => frames.position(),
        }
    }

    /// Starts over somewhere else in the file. `length` is how much will be read from there, if that is known.
    pub(super) fn seek(&mut self, offset: u64, length: Option<u64>) {
        self.consume_all();
        self.in_unit = false;
        match &mut self.source {
            Source::Plain(plain) => {
                plain.position = offset;
                let exact = length.and_then(|bytes| usize::try_from(bytes).ok());
                plain.step = exact.unwrap_or(CHUNK_BYTES).clamp(1, STEP_BYTES_MAX);
            }
            Source::Gzip(members) => members.input_mut().seek(offset, length),
            Source::Zstandard(frames) => frames.input_mut().seek(offset, length),
        }
    }

    /// How many bytes have come from the file.
    pub(super) fn bytes_read(&self) -> u64 {
        let read = match &self.source {
            Source::Plain(plain) => plain.bytes_read,
            Source::Gzip(members) => members.input().bytes_read(),
            Source::Zstandard(frames) => frames.input().bytes_read(),
        };
        self.read_before + read
    }

    /// Takes over the memory of another, of which nothing is unread any more.
    pub(super) fn take_buffers(&mut self, other: &mut Stream) {
        self.consume_all();
        other.consume_all();
        other.file.release();
        self.plain = std::mem::take(&mut other.plain);
        if let (Some(own), Some(others)) = (self.input_mut(), other.input_mut()) {
            own.give_buffer(others.take_buffer());
        }
    }

    fn input_mut(&mut self) -> Option<&mut Input> {
        match &mut self.source {
            Source::Plain(_) => None,
            Source::Gzip(members) => Some(members.input_mut()),
            Source::Zstandard(frames) => Some(frames.input_mut()),
        }
    }

    /// Whether a unit was begun and is not over.
    pub(super) fn in_unit(&self) -> bool {
        self.in_unit
    }

    /// Begins the next unit and says where it is; `None` at the end of the file. For compressed files, between units.
    ///
    /// A unit of a usual size is then in the buffer as a whole, and over already.
    pub(super) fn begin_unit(&mut self) -> Result<Option<u64>, Failure> {
        debug_assert!(!self.in_unit);
        if self.start == self.filled {
            self.consume_all();
        }
        let (begun, whole) = match &mut self.source {
            Source::Plain(_) => return Ok(None),
            Source::Gzip(members) => {
                let begin = members.position();
                match members.whole(&self.file, &mut self.plain, self.filled)? {
                    Some(bytes) => (Some(begin), Some(bytes)),
                    None => (members.begin(&self.file)?, None),
                }
            }
            Source::Zstandard(frames) => {
                let begun = frames.begin(&self.file)?;
                let whole = match begun {
                    Some(_) => frames.whole(&self.file, &mut self.plain, self.filled)?,
                    None => None,
                };
                (begun, whole)
            }
        };
        self.filled += whole.unwrap_or(0);
        self.in_unit = begun.is_some() && whole.is_none();
        Ok(begun)
    }

    /// Reads some more into the buffer; `false` at the end of the unit, or of a plain file.
    pub(super) fn more(&mut self) -> Result<bool, Failure> {
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
            Source::Plain(plain) => {
                let count = plain.step.min(room.len());
                let room = &mut room[..count];
                let count = self.file.read_at(room, plain.position).map_err(Failure::Io)?;
                plain.position += count as u64;
                plain.bytes_read += count as u64;
                plain.step = (plain.step * 2).clamp(CHUNK_BYTES, STEP_BYTES_MAX);
                count
            }
            _ if !self.in_unit => 0,
            Source::Gzip(members) => members.read(&self.file, room)?,
            Source::Zstandard(frames) => frames.read(&self.file, room)?,
        };
        self.in_unit &= count > 0;
        self.filled += count;
        Ok(count > 0)
    }

    /// Passes over bytes behind the buffer, which must be empty, if that takes no reading: in a plain file.
    pub(super) fn jump(&mut self, bytes: u64) -> Result<bool, Failure> {
        let Source::Plain(plain) = &mut self.source else { return Ok(false) };
        let len = self.file.len().map_err(Failure::Io)?;
        if bytes > len.saturating_sub(plain.position) {
            return Err(Failure::Torn);
        }
        plain.position += bytes;
        Ok(true)
    }
}
