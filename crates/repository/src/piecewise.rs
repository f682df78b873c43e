//! Compresses a record too large to be copied: piece by piece, into a buffer that grows with what comes out.
//!
//! The library that packs ordinary records wants each of them in one slice, and room for the worst case beside it: three times
//! a record's size. Here it takes its compressed size and the library's window. The form is the same, one gzip member or
//! one Zstandard frame, and so are the checksums in it.

use flate2::{Compress, FlushCompress, Status};
use libdeflater::Crc;
use zstd::zstd_safe::zstd_sys::ZSTD_EndDirective;
use zstd::zstd_safe::{CCtx, CParameter, InBuffer, OutBuffer};

use crate::compression::{Compression, GZIP_HEADER};

/// Records of this size and more are compressed piece by piece.
pub(crate) const LARGE_BYTES: usize = 1 << 20;
/// How much a full buffer grows.
const STEP_BYTES: usize = 1 << 18;
const NEVER_FAILS: &str = "only a wrong call is refused";

/// Where compressed bytes go: `buffer[..filled]` is taken, and the buffer grows where that is all of it.
struct Output<'a> {
    buffer: &'a mut Vec<u8>,
    filled: usize,
}

impl Output<'_> {
    fn room(&mut self) -> &mut [u8] {
        if self.filled == self.buffer.len() {
            self.buffer.resize(self.filled + STEP_BYTES, 0);
        }
        &mut self.buffer[self.filled..]
    }

    fn put(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = self.room();
            let count = bytes.len().min(room.len());
            room[..count].copy_from_slice(&bytes[..count]);
            bytes = &bytes[count..];
            self.filled += count;
        }
    }
}

/// Compresses `pieces` as one record behind `buffer[..filled]`, and says how long it became.
pub(crate) fn compress(
    compression: Compression,
    dictionary: Option<&[u8]>,
    pieces: &[&[u8]],
    buffer: &mut Vec<u8>,
    filled: usize,
) -> usize {
    let mut output = Output { buffer, filled };
    match compression {
        Compression::Gzip(level) => gzip(level, pieces, &mut output),
        Compression::Zstd(level) => zstandard(level, dictionary, pieces, &mut output),
    }
    output.filled - filled
}

fn gzip(level: i32, pieces: &[&[u8]], output: &mut Output<'_>) {
    // This library knows no levels above 9.
    let mut deflate = Compress::new(flate2::Compression::new(level.clamp(1, 9) as u32), false);
    let mut checksum = Crc::new();
    output.put(&GZIP_HEADER);
    let mut step = |mut input: &[u8], flush: FlushCompress| {
        loop {
            let (in_before, out_before) = (deflate.total_in(), deflate.total_out());
            let status = deflate.compress(input, output.room(), flush).expect(NEVER_FAILS);
            input = &input[(deflate.total_in() - in_before) as usize..];
            output.filled += (deflate.total_out() - out_before) as usize;
            let over = match flush {
                FlushCompress::Finish => status == Status::StreamEnd,
                _ => input.is_empty(),
            };
            if over {
                break;
            }
        }
    };
    for piece in pieces {
        checksum.update(piece);
        step(piece, FlushCompress::None);
    }
    step(&[], FlushCompress::Finish);
    output.put(&checksum.sum().to_le_bytes());
    // The trailer holds the length modulo 2^32.
    let bytes: usize = pieces.iter().map(|piece| piece.len()).sum();
    output.put(&(bytes as u32).to_le_bytes());
}

fn zstandard(level: i32, dictionary: Option<&[u8]>, pieces: &[&[u8]], output: &mut Output<'_>) {
    let mut context = CCtx::create();
    for parameter in [
        CParameter::CompressionLevel(level),
        CParameter::ContentSizeFlag(true),
        CParameter::ChecksumFlag(true),
    ] {
        context.set_parameter(parameter).expect(NEVER_FAILS);
    }
    context.load_dictionary(dictionary.unwrap_or_default()).expect("it was taken for other records");
    let bytes: usize = pieces.iter().map(|piece| piece.len()).sum();
    context.set_pledged_src_size(Some(bytes as u64)).expect(NEVER_FAILS);
    let mut step = |piece: &[u8], directive| {
        let mut input = InBuffer::around(piece);
        loop {
            let mut out = OutBuffer::around(output.room());
            let left = context.compress_stream2(&mut out, &mut input, directive).expect(NEVER_FAILS);
            let count = out.pos();
            output.filled += count;
            let over = match directive {
                ZSTD_EndDirective::ZSTD_e_end => left == 0,
                _ => input.pos() == piece.len(),
            };
            if over {
                break;
            }
        }
    };
    for piece in pieces {
        step(piece, ZSTD_EndDirective::ZSTD_e_continue);
    }
    step(&[], ZSTD_EndDirective::ZSTD_e_end);
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use mattock_env::Random;

    use super::*;

    /// Some of it packs well, some not at all.
    fn pieces() -> [Vec<u8>; 3] {
        let mut random = Random::from_seed(7);
        let noise = (0..STEP_BYTES * 3).map(|_| random.next_u64() as u8).collect();
        [b"WARC/1.1\r\n".repeat(90_000), noise, Vec::new()]
    }

    #[test]
    fn pieces_come_back_as_one_record_behind_what_was_there() {
        for compression in [Compression::Gzip(1), Compression::Gzip(12), Compression::Zstd(1)] {
            let pieces = pieces();
            let slices: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
            let mut buffer = b"before".to_vec();
            buffer.resize(100, 0);
            let length = super::compress(compression, None, &slices, &mut buffer, 6);
            assert_eq!(&buffer[..6], b"before");
            let record = &buffer[6..6 + length];
            let mut plain = Vec::new();
            match compression {
                Compression::Gzip(_) => {
                    flate2::read::GzDecoder::new(record).read_to_end(&mut plain).expect("a whole member");
                }
                Compression::Zstd(_) => plain = zstd::decode_all(record).expect("a whole frame"),
            }
            assert!(plain == pieces.concat(), "{compression:?}");
            assert!(length < plain.len());
        }
    }
}
