//! Gzip members out of a file, one after the other, in bounded memory, with header and checksum verified.
//!
//! A member is unpacked [in one go](crate::inflate) if it and what comes out of it are of a usual size. All others, and those
//! with which anything is wrong, go through a streaming decompressor and libdeflate's checksum: half as fast, in constant
//! memory, and exact about what is wrong.

use flate2::{Decompress, FlushDecompress, Status};
use libdeflater::Crc;

use crate::bounded::Bounded;
use crate::error::Damage;
use crate::inflate::{Inflated, Inflater};
use crate::input::{Failure, Input};

/// Names and comments in gzip headers have no length limit of their own.
const HEADER_BYTES_MAX: u64 = 128 << 10;
/// A member that is larger, or becomes larger, is unpacked piece by piece.
const WHOLE_BYTES_MAX: usize = 4 << 20;
/// What the room for a member is at first.
const ROOM_BYTES: usize = 128 << 10;

/// A cursor over the members of a file.
pub(crate) struct Members {
    input: Input,
    inflater: Inflater,
    inflate: Decompress,
    checksum: Crc,
    plain_bytes: u32,
    /// The member's compressed data is over; its trailer is not read yet.
    data_ended: bool,
}

impl Members {
    pub(crate) fn new(position: u64) -> Members {
        Members {
            input: Input::new(position),
            inflater: Inflater::new(),
            inflate: Decompress::new(false),
            checksum: Crc::new(),
            plain_bytes: 0,
            data_ended: false,
        }
    }

    /// The place in the file of the next byte that is looked at: between members, where the next one begins.
    pub(crate) fn position(&self) -> u64 {
        self.input.position()
    }

    /// Where its bytes come from.
    pub(crate) fn input(&self) -> &Input {
        &self.input
    }

    /// Where its bytes come from.
    pub(crate) fn input_mut(&mut self) -> &mut Input {
        &mut self.input
    }

    /// Unpacks the next member whole behind `out[..filled]`, which grows for it, and says how many bytes it gave; `None` if
    /// it has to be read piece by piece, beginning where this began.
    pub(crate) fn whole(
        &mut self,
        file: &Bounded,
        out: &mut Vec<u8>,
        filled: usize,
    ) -> Result<Option<usize>, Failure> {
        if !self.input.fill(file)? || self.input.available()[0] != 0x1f {
            return Ok(None);
        }
        if out.len() - filled < ROOM_BYTES {
            out.resize(filled + ROOM_BYTES, 0);
        }
        loop {
            match self.inflater.member(self.input.available(), &mut out[filled..]) {
                Inflated::Whole { read, written } => {
                    self.input.consume(read);
                    return Ok(Some(written));
                }
                Inflated::NoRoom => {
                    let room = out.len() - filled;
                    if room >= WHOLE_BYTES_MAX {
                        return Ok(None);
                    }
                    out.resize(filled + room * 4, 0);
                }
                Inflated::Bad => {
                    if self.input.available().len() >= WHOLE_BYTES_MAX || !self.input.more(file)? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Reads the header of the next member, and says where it begins; `None` at the end of the file.
    pub(crate) fn begin(&mut self, file: &Bounded) -> Result<Option<u64>, Failure> {
        let begin = self.input.position();
        if !self.input.fill(file)? {
            return Ok(None);
        }
        for expected in [0x1f, 0x8b, 8] {
            if self.input.byte(file)? != expected {
                return Err(Failure::Damaged(Damage::Garbage));
            }
        }
        let flags = self.input.byte(file)?;
        if flags & 0xe0 != 0 {
            return Err(Failure::Damaged(Damage::Garbage));
        }
        // Time, extra flags, system.
        for _ in 0..6 {
            self.input.byte(file)?;
        }
        if flags & 4 != 0 {
            let len = u16::from_le_bytes([self.input.byte(file)?, self.input.byte(file)?]);
            for _ in 0..len {
                self.input.byte(file)?;
            }
        }
        // Name and comment, each ended by a zero.
        for flag in [8, 16] {
            while flags & flag != 0 && self.input.byte(file)? != 0 {
                if self.input.position() - begin > HEADER_BYTES_MAX {
                    return Err(Failure::Damaged(Damage::Garbage));
                }
            }
        }
        if flags & 2 != 0 {
            self.input.byte(file)?;
            self.input.byte(file)?;
        }
        self.inflate.reset(false);
        self.checksum = Crc::new();
        self.plain_bytes = 0;
        self.data_ended = false;
        Ok(Some(begin))
    }

    /// Decompresses into `out`, which must not be empty; 0 when the member is over and its checksum was right.
    pub(crate) fn read(&mut self, file: &Bounded, out: &mut [u8]) -> Result<usize, Failure> {
        while !self.data_ended {
            if !self.input.fill(file)? {
                return Err(Failure::Torn);
            }
            let (in_before, out_before) = (self.inflate.total_in(), self.inflate.total_out());
            let status = self
                .inflate
                .decompress(self.input.available(), out, FlushDecompress::None)
                .map_err(|_| Failure::Damaged(Damage::Compressed))?;
            let consumed = (self.inflate.total_in() - in_before) as usize;
            let produced = (self.inflate.total_out() - out_before) as usize;
            self.input.consume(consumed);
            self.data_ended = status == Status::StreamEnd;
            if produced > 0 {
                self.checksum.update(&out[..produced]);
                // The trailer holds the length modulo 2^32.
                self.plain_bytes = self.plain_bytes.wrapping_add(produced as u32);
                return Ok(produced);
            }
            if consumed == 0 && !self.data_ended {
                return Err(Failure::Damaged(Damage::Compressed));
            }
        }
        if [self.input.u32(file)?, self.input.u32(file)?] != [self.checksum.sum(), self.plain_bytes] {
            return Err(Failure::Damaged(Damage::Checksum));
        }
        Ok(0)
    }
}
