//! The bytes of an archive with their compression undone, in one buffer that the reader empties.
//!
//! The buffer grows with what has arrived and was not consumed, never with what a header claims. "Unit" is said of
//! gzip members and Zstandard frames alike: a unit is over only when its checksum was right. Plain files have none.

use std::path::Path;

use mattock_env::File;

use crate::gzip::Members;
use crate::input::Failure;
use crate::zstandard::{self, Frames};

pub(super) const CHUNK_BYTES: usize = 64 << 10;

/// What a file is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Plain,
    Gzip,
    Zstandard,
}

impl Format {
    /// As many bytes as it takes to know.
    pub(super) const BYTES: usize = 4;

    /// What a file of this name should be made of.
    pub(super) fn of_name(path: &Path) -> Format {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("gz") => Format::Gzip,
            Some("zst") => Format::Zstandard,
            _ => Format::Plain,
        }
    }

    /// What the first bytes say, of which there may be fewer.
    pub(super) fn of(first: &[u8]) -> Format {
        if first.first() == Some(&0x1f) {
            Format::Gzip
        } else if zstandard::is_zstandard(first) {
            Format::Zstandard
        } else {
            Format::Plain
        }
    }
}

enum Source {
    /// With the place of the next byte to read.
    Plain(u64),
    Gzip(Box<Members>),
    Zstandard(Box<Frames>),
}

pub(super) struct Stream {
    file: File,
    source: Source,
    in_unit: bool,
    /// `plain[start..filled]` has been read and not yet been consumed.
    plain: Vec<u8>,
    start: usize,
    filled: usize,
}

impl Stream {
    pub(super) fn new(file: File, format: Format, position: u64) -> Stream {
        let source = match format {
            Format::Plain => Source::Plain(position),
            Format::Gzip => Source::Gzip(Box::new(Members::new(position))),
            Format::Zstandard => Source::Zstandard(Box::new(Frames::new(position))),
        };
        Stream { file, source, in_unit: false, plain: Vec::new(), start: 0, filled: 0 }
    }

    pub(super) fn file(&self) -> &File {
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
            Source::Plain(position) => position - self.unread().len() as u64,
            Source::Gzip(members) => members.position(),
            Source::Zstandard(frames) => frames.position(),
        }
    }

    /// Starts over somewhere else in the file.
    pub(super) fn seek(&mut self, offset: u64) {
        self.consume_all();
        self.in_unit = false;
        match &mut self.source {
            Source::Plain(position) => *position = offset,
            Source::Gzip(members) => members.seek(offset),
            Source::Zstandard(frames) => frames.seek(offset),
        }
    }

    /// Whether a unit was begun and is not over.
    pub(super) fn in_unit(&self) -> bool {
        self.in_unit
    }

    /// Begins the next unit and says where it is; `None` at the end of the file. For compressed files, between units.
    pub(super) fn begin_unit(&mut self) -> Result<Option<u64>, Failure> {
        debug_assert!(!self.in_unit);
        let begun = match &mut self.source {
            Source::Plain(_) => None,
            Source::Gzip(members) => members.begin(&self.file)?,
            Source::Zstandard(frames) => frames.begin(&self.file)?,
        };
        self.in_unit = begun.is_some();
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
            Source::Plain(position) => {
                let count = self.file.read_at(room, *position).map_err(Failure::Io)?;
                *position += count as u64;
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
        let Source::Plain(position) = &mut self.source else { return Ok(false) };
        let len = self.file.len().map_err(Failure::Io)?;
        if bytes > len.saturating_sub(*position) {
            return Err(Failure::Torn);
        }
        *position += bytes;
        Ok(true)
    }
}
