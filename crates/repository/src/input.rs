//! A file read from front to back in large pieces, byte by byte where headers are taken apart.
//!
//! The decompressors empty it. Reading from here on never goes back, but for a jump that throws the buffer away.

use std::io;

use mattock_env::File;

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

const INPUT_BYTES: usize = 64 << 10;

pub(crate) struct Input {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Where in the file `buffer[start]` is.
    position: u64,
}

impl Input {
    pub(crate) fn new(position: u64) -> Input {
        Input { buffer: vec![0; INPUT_BYTES], start: 0, end: 0, position }
    }

    /// The place in the file of the next byte.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Goes elsewhere. The buffer is kept.
    pub(crate) fn seek(&mut self, position: u64) {
        (self.start, self.end, self.position) = (0, 0, position);
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
    pub(crate) fn fill(&mut self, file: &File) -> Result<bool, Failure> {
        if self.start == self.end {
            self.start = 0;
            self.end = file.read_at(&mut self.buffer, self.position).map_err(Failure::Io)?;
        }
        Ok(self.start < self.end)
    }

    /// The next `count` bytes, or as many as there are before the end of the file. They stay where they are.
    pub(crate) fn peek(&mut self, file: &File, count: usize) -> Result<&[u8], Failure> {
        while self.end - self.start < count {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            let behind = self.position + self.end as u64;
            match file.read_at(&mut self.buffer[self.end..], behind).map_err(Failure::Io)? {
                0 => break,
                read => self.end += read,
            }
        }
        Ok(&self.buffer[self.start..self.end.min(self.start + count)])
    }

    /// Takes one byte, where there must be one.
    pub(crate) fn byte(&mut self, file: &File) -> Result<u8, Failure> {
        if !self.fill(file)? {
            return Err(Failure::Torn);
        }
        let byte = self.buffer[self.start];
        self.consume(1);
        Ok(byte)
    }

    /// Takes a little-endian number, where there must be one.
    pub(crate) fn u32(&mut self, file: &File) -> Result<u32, Failure> {
        let mut bytes = [0; 4];
        for byte in &mut bytes {
            *byte = self.byte(file)?;
        }
        Ok(u32::from_le_bytes(bytes))
    }
}
