//! Marks: which rows of a ledger were inserted when.
//!
//! A mark stands behind its rows, so a reader that comes to a block looks ahead for it: at the headers of the blocks in between, once for all
//! of them. A mark names the place from which on it holds. So nothing that damage does gives rows the time of others: they have their own, or
//! none.

use mattock_codec::Reader;
use mattock_env::UnixTime;

use super::{BLOCK_HEADER_BYTES, LedgerReader, Loaded, MARKS_VERSION, words};

/// What a mark holds.
pub(super) const MARK_BYTES: usize = 16;

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// Where the first of its blocks begins.
    pub(super) from: u64,
    pub(super) time: UnixTime,
}

impl Mark {
    pub(super) fn put(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.from.to_le_bytes());
        out.extend_from_slice(&self.time.as_micros().to_le_bytes());
    }

    fn take(content: &[u8]) -> Option<Mark> {
        let mut reader = Reader::new(content);
        let from = u64::from_le_bytes(reader.take(8)?.try_into().ok()?);
        let micros = i64::from_le_bytes(reader.take(8)?.try_into().ok()?);
        reader.is_empty().then_some(Mark { from, time: UnixTime::from_micros(micros) })
    }
}

/// What a reader knows of marks.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// The next one, and where it stands. What lies before it was looked at: there is no other.
    next: Option<(u64, Mark)>,
    /// There is none any more.
    none: bool,
}

impl Marks {
    /// Of a file of this version.
    pub(super) fn of_version(version: u32) -> Marks {
        Marks { next: None, none: version < MARKS_VERSION }
    }
}

impl LedgerReader {
    /// When the rows of the block at `offset` were inserted, if a mark says so. Whatever block was read is forgotten.
    pub(super) fn inserted(&mut self, offset: u64) -> std::io::Result<Option<UnixTime>> {
        if self.marks.next.is_none_or(|(at, _)| at < offset) && !self.marks.none {
            self.marks.next = self.mark_behind(offset)?;
            self.marks.none = self.marks.next.is_none();
        }
        Ok(self.marks.next.filter(|(_, mark)| mark.from <= offset).map(|(_, mark)| mark.time))
    }

    /// The first mark from `offset` on, and where it stands.
    fn mark_behind(&mut self, mut offset: u64) -> std::io::Result<Option<(u64, Mark)>> {
        const HEADER: u64 = BLOCK_HEADER_BYTES as u64;
        while self.end.saturating_sub(offset) >= HEADER {
            let mut header = [0; BLOCK_HEADER_BYTES];
            self.file.read_exact_at(&mut header, offset)?;
            let [bytes, rows, _] = words(&header);
            let behind = offset + HEADER + u64::from(bytes);
            let is_mark = rows == 0 && bytes as usize == MARK_BYTES;
            if is_mark && matches!(self.load(offset)?, Loaded::Whole(0)) {
                return Ok(Mark::take(&self.block).map(|mark| (offset, mark)));
            }
            // A header that cannot be one is damaged, and so is a mark that is none.
            offset = match is_mark || rows == 0 || behind > self.end {
                true => self.whole_block_behind(offset)?,
                false => behind,
            };
        }
        Ok(None)
    }
}
