//! Gzip members out of a file, one after the other, in bounded memory, with header and checksum verified here.
//!
//! libdeflate, which compresses, needs a whole member in memory and does not say where it ended; so reading uses a
//! streaming decompressor, and libdeflate's checksum.

use std::io;

use flate2::{Decompress, FlushDecompress, Status};
use libdeflater::Crc;
use mattock_env::File;

use crate::error::Damage;

/// Why no more bytes came.
#[derive(Debug)]
pub(crate) enum Failure {
    Io(io::Error),
    /// The file ended too early.
    Torn,
    Damaged(Damage),
}

const INPUT_BYTES: usize = 64 << 10;
/// Names and comments in gzip headers have no length limit of their own.
const HEADER_BYTES_MAX: u64 = 128 << 10;

/// A cursor over the members of a file.
pub(crate) struct Members {
    input: Vec<u8>,
    start: usize,
    end: usize,
    /// Where in the file `input[start]` is.
    position: u64,
    inflate: Decompress,
    checksum: Crc,
    plain_bytes: u32,
    /// The member's compressed data is over; its trailer is not read yet.
    data_ended: bool,
}

impl Members {
    pub(crate) fn new(position: u64) -> Members {
        Members {
            input: vec![0; INPUT_BYTES],
            start: 0,
            end: 0,
            position,
            inflate: Decompress::new(false),
            checksum: Crc::new(),
            plain_bytes: 0,
            data_ended: false,
        }
    }

    /// The place in the file of the next byte that is looked at: between members, where the next one begins.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Goes elsewhere. The buffer is kept.
    pub(crate) fn seek(&mut self, position: u64) {
        (self.start, self.end, self.position) = (0, 0, position);
    }

    /// Reads the header of the next member; `false` at the end of the file.
    pub(crate) fn begin(&mut self, file: &File) -> Result<bool, Failure> {
        if self.start == self.end && !self.refill(file)? {
            return Ok(false);
        }
        let begin = self.position;
        for expected in [0x1f, 0x8b, 8] {
            if self.byte(file)? != expected {
                return Err(Failure::Damaged(Damage::Garbage));
            }
        }
        let flags = self.byte(file)?;
        if flags & 0xe0 != 0 {
            return Err(Failure::Damaged(Damage::Garbage));
        }
        // Time, extra flags, system.
        for _ in 0..6 {
            self.byte(file)?;
        }
        if flags & 4 != 0 {
            let len = u16::from_le_bytes([self.byte(file)?, self.byte(file)?]);
            for _ in 0..len {
                self.byte(file)?;
            }
        }
        // Name and comment, each ended by a zero.
        for flag in [8, 16] {
            while flags & flag != 0 && self.byte(file)? != 0 {
                if self.position - begin > HEADER_BYTES_MAX {
                    return Err(Failure::Damaged(Damage::Garbage));
                }
            }
        }
        if flags & 2 != 0 {
            self.byte(file)?;
            self.byte(file)?;
        }
        self.inflate.reset(false);
        self.checksum = Crc::new();
        self.plain_bytes = 0;
        self.data_ended = false;
        Ok(true)
    }

    /// Decompresses into `out`, which must not be empty; 0 when the member is over and its checksum was right.
    pub(crate) fn read(&mut self, file: &File, out: &mut [u8]) -> Result<usize, Failure> {
        while !self.data_ended {
            if self.start == self.end && !self.refill(file)? {
                return Err(Failure::Torn);
            }
            let (in_before, out_before) = (self.inflate.total_in(), self.inflate.total_out());
            let status = self
                .inflate
                .decompress(&self.input[self.start..self.end], out, FlushDecompress::None)
                .map_err(|_| Failure::Damaged(Damage::Deflate))?;
            let consumed = (self.inflate.total_in() - in_before) as usize;
            let produced = (self.inflate.total_out() - out_before) as usize;
            self.start += consumed;
            self.position += consumed as u64;
            self.data_ended = status == Status::StreamEnd;
            if produced > 0 {
                self.checksum.update(&out[..produced]);
                // The trailer holds the length modulo 2^32.
                self.plain_bytes = self.plain_bytes.wrapping_add(produced as u32);
                return Ok(produced);
            }
            if consumed == 0 && !self.data_ended {
                return Err(Failure::Damaged(Damage::Deflate));
            }
        }
        let mut trailer = [0; 8];
        for byte in &mut trailer {
            *byte = self.byte(file)?;
        }
        let expected = u64::from(self.checksum.sum()) | u64::from(self.plain_bytes) << 32;
        if u64::from_le_bytes(trailer) != expected {
            return Err(Failure::Damaged(Damage::Checksum));
        }
        Ok(0)
    }

    fn byte(&mut self, file: &File) -> Result<u8, Failure> {
        if self.start == self.end && !self.refill(file)? {
            return Err(Failure::Torn);
        }
        let byte = self.input[self.start];
        self.start += 1;
        self.position += 1;
        Ok(byte)
    }

    fn refill(&mut self, file: &File) -> Result<bool, Failure> {
        self.start = 0;
        self.end = file.read_at(&mut self.input, self.position).map_err(Failure::Io)?;
        Ok(self.end > 0)
    }
}
