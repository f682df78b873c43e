//! An object that is read by places. A request costs tens of milliseconds, whatever it asks for, and every byte costs too:
//!
//! - A read apart from the last one fetches what it asks for (at least [`LEAST_BYTES`]), so that a sample costs its own records.
//! - A read that goes on where the last one ended, or a little further on, fetches twice as much as the last, up to
//!   [`AHEAD_BYTES_MAX`]: from front to back it is a request for every 8 MiB. The longer reading has gone on, the larger the
//!   gaps that are read over.
//!
//! What was fetched last is kept, at most 8 MiB for an open file, until the next fetch or [`Reading::release`].

use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Remote;
use super::ranges::{joined, parts};

/// The least that is fetched: heads of records are read in a few bytes, and the rest of a small record follows.
pub(super) const LEAST_BYTES: u64 = 16 << 10;
/// What the second of two reads in order fetches.
pub(super) const AHEAD_BYTES_MIN: u64 = 64 << 10;
/// The most that is fetched before it is asked for.
pub(super) const AHEAD_BYTES_MAX: u64 = 8 << 20;
/// Gaps of so much are read over at first, and at most.
const GAP_BYTES: Range<u64> = (32 << 10)..(1 << 20);

/// See the module.
#[derive(Debug)]
pub struct Reading {
    remote: Arc<dyn Remote>,
    url: String,
    length: u64,
    fetched: Mutex<Fetched>,
}

/// What was fetched last.
#[derive(Debug, Default)]
struct Fetched {
    start: u64,
    bytes: Vec<u8>,
    /// Where it ended; `bytes` may be gone.
    end: u64,
    /// How much it was more than was asked for; 0 after a read apart from others.
    ahead: u64,
    begun: bool,
}

impl Reading {
    pub(super) fn new(remote: Arc<dyn Remote>, url: &str, length: u64) -> Reading {
        Reading { remote, url: url.to_owned(), length, fetched: Mutex::default() }
    }

    /// Bytes of the object when it was opened.
    pub(in crate::files) fn length(&self) -> u64 {
        self.length
    }

    pub(in crate::files) fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let wanted = (buffer.len() as u64).min(self.length.saturating_sub(offset));
        if wanted == 0 {
            return Ok(0);
        }
        let mut fetched = self.fetched();
        if !(fetched.start..fetched.start + fetched.bytes.len() as u64).contains(&offset) {
            self.fetch(&mut fetched, offset, wanted)?;
        }
        let at = usize::try_from(offset - fetched.start).unwrap_or(usize::MAX);
        let there = fetched.bytes.get(at..).unwrap_or_default();
        let count = there.len().min(buffer.len());
        buffer[..count].copy_from_slice(&there[..count]);
        // What is larger than any read ahead was wanted at once, and is not kept twice.
        if wanted > AHEAD_BYTES_MAX {
            fetched.bytes = Vec::new();
        }
        Ok(count)
    }

    fn fetch(&self, fetched: &mut Fetched, offset: u64, wanted: u64) -> io::Result<()> {
        let gap_max = (fetched.ahead / 4).clamp(GAP_BYTES.start, GAP_BYTES.end);
        let goes_on = fetched.begun && (fetched.end..=fetched.end + gap_max).contains(&offset);
        let ahead = match goes_on {
            true => (fetched.ahead * 2).clamp(AHEAD_BYTES_MIN, AHEAD_BYTES_MAX),
            false => 0,
        };
        let end = (offset + wanted.max(ahead).max(LEAST_BYTES)).min(self.length);
        // What is kept makes room first: two of them are never held.
        fetched.bytes = Vec::new();
        let bytes =
            self.remote.read(&self.url, std::slice::from_ref(&(offset..end)))?.pop().unwrap_or_default();
        if bytes.len() as u64 != end - offset {
            let message = format!("{} has become shorter while it was read", self.url);
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, message));
        }
        *fetched = Fetched { start: offset, bytes, end, ahead, begun: true };
        Ok(())
    }

    /// All of these ranges, as few requests as will do; nothing of them is kept.
    pub(in crate::files) fn read_ranges(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
        if ranges.iter().any(|range| range.end > self.length) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let joined = joined(ranges);
        Ok(parts(ranges, &joined, self.remote.read(&self.url, &joined)?))
    }

    /// Gives the memory back that is only there to save a request.
    pub(in crate::files) fn release(&self) {
        self.fetched().bytes = Vec::new();
    }

    fn fetched(&self) -> MutexGuard<'_, Fetched> {
        self.fetched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
