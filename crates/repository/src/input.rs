//! A file read from front to back in large pieces, byte by byte where headers are taken apart.
//!
//! The decompressors empty it. How much is read at a time follows from what was asked for: the first read behind a jump is
//! small, or exactly as long as the record that the caller knows to be there; while reading goes on from there, or from a
//! little further on, each read is twice as long as the one before. So places that follow each other cost as much as a reading
//! from front to back, and single ones cost their own bytes.

use std::io;

use crate::bounded::Bounded;
use crate::error::Damage;

/// Why no more bytes came.
#[derive(Debug)]
pub(crate) enum Failure {
    Io(io::Error),
    /// The file ended too early.
    Torn,
    Damaged(Damage),
    /// Nothing is wrong with it, but it takes more than this reader has.
    Unreadable(&'static str),
}

/// The first read, where nobody knows better.
const FIRST_BYTES: usize = 64 << 10;
/// The largest read.
const STEP_BYTES_MAX: usize = 1 << 20;
/// A jump of so much is cheaper to read than to make.
const GAP_BYTES_MAX: u64 = 32 << 10;

pub(crate) struct Input {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Where in the file `buffer[start]` is.
    position: u64,
    /// How much the next read asks for.
    step: usize,
    /// Whether anything was read of this place yet.
    begun: bool,
    bytes_read: u64,
}

impl Input {
    pub(crate) fn new(position: u64) -> Input {
        Input {
            buffer: Vec::new(),
            start: 0,
            end: 0,
            position,
            step: FIRST_BYTES,
            begun: false,
            bytes_read: 0,
        }
    }

    /// The place in the file of the next byte.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// How many bytes have come from the file.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    /// Counts what another has read of the same file.
    pub(crate) fn count(&mut self, other: &Input) {
        self.bytes_read += other.bytes_read;
    }

    /// Goes elsewhere; what is in the buffer of that place is kept. `length` is how much will be read from there, if that is known.
    pub(crate) fn seek(&mut self, position: u64, length: Option<u64>) {
        let begin = self.position - self.start as u64;
        let end = self.position + (self.end - self.start) as u64;
        if self.begun && (begin..=end).contains(&position) {
            self.start = (position - begin) as usize;
        } else {
            (self.start, self.end) = (0, 0);
            let goes_on = self.begun && (end..=end.saturating_add(GAP_BYTES_MAX)).contains(&position);
            if !goes_on {
                self.begun = false;
                let exact = length.map(|bytes| usize::try_from(bytes).unwrap_or(STEP_BYTES_MAX));
                self.step = exact.unwrap_or(FIRST_BYTES).clamp(1, STEP_BYTES_MAX);
            }
        }
        self.position = position;
    }

    /// What is in the buffer.
    pub(crate) fn available(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Passes over bytes that were available.
    pub(crate) fn consume(&mut self, bytes: usize) {
        debug_assert!(bytes <= self.end - self.start);
        self.start += bytes;
        self.position += bytes as u64;
    }

    /// Sees to it that something is available; `false` at the end of the file.
    pub(crate) fn fill(&mut self, file: &Bounded) -> Result<bool, Failure> {
        Ok(self.start < self.end || self.more(file)?)
    }

    /// Reads some more behind what is available; `false` at the end of the file.
    pub(crate) fn more(&mut self, file: &Bounded) -> Result<bool, Failure> {
        let kept = self.end - self.start;
        if self.start > 0 && self.buffer.len() - self.end < self.step {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, kept);
        }
        if self.buffer.len() < self.end + self.step {
            self.buffer.resize(self.end + self.step, 0);
        }
        let room = &mut self.buffer[self.end..self.end + self.step];
        let count = file.read_at(room, self.position + kept as u64).map_err(Failure::Io)?;
        self.end += count;
        self.begun = true;
        self.bytes_read += count as u64;
        self.step = (self.step * 2).clamp(FIRST_BYTES, STEP_BYTES_MAX);
        Ok(count > 0)
    }

    /// The next `count` bytes, or as many as there are before the end of the file. They stay where they are.
    pub(crate) fn peek(&mut self, file: &Bounded, count: usize) -> Result<&[u8], Failure> {
        while self.end - self.start < count && self.more(file)? {}
        Ok(&self.buffer[self.start..self.end.min(self.start + count)])
    }

    /// Takes one byte, where there must be one.
    pub(crate) fn byte(&mut self, file: &Bounded) -> Result<u8, Failure> {
        if !self.fill(file)? {
            return Err(Failure::Torn);
        }
        let byte = self.buffer[self.start];
        self.consume(1);
        Ok(byte)
    }

    /// Takes a little-endian number, where there must be one.
    pub(crate) fn u32(&mut self, file: &Bounded) -> Result<u32, Failure> {
        let mut bytes = [0; 4];
        for byte in &mut bytes {
            *byte = self.byte(file)?;
        }
        Ok(u32::from_le_bytes(bytes))
    }

    /// The memory for another file's bytes. Nothing is available then.
    pub(crate) fn take_buffer(&mut self) -> Vec<u8> {
        (self.start, self.end, self.begun) = (0, 0, false);
        std::mem::take(&mut self.buffer)
    }

    /// Takes over memory from another.
    pub(crate) fn give_buffer(&mut self, buffer: Vec<u8>) {
        debug_assert!(self.start == self.end);
        self.buffer = buffer;
    }
}
