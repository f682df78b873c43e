//! One reader per coding.

use std::io::{self, BufRead, BufReader, Read};

use brotli_decompressor::Decompressor;
use flate2::bufread::GzDecoder;
use flate2::{Decompress, FlushDecompress, Status};

use super::Coding;

/// Input buffered between two stages, and by brotli's.
const BUFFER_BYTES: usize = 8 * 1024;
/// Zstandard windows up to 2^23 bytes, as RFC 9659 demands of content coding.
const ZSTD_WINDOW_LOG_MAX: u32 = 23;

/// A stage of decoding.
pub(super) trait Stage: Read {
    /// How many whole streams have ended; after the first, an error is only garbage behind it.
    fn units(&self) -> usize {
        0
    }
}

impl Stage for &[u8] {}
impl<R: Read> Stage for Decompressor<R> {}

/// The error that means "the limit was reached".
pub(super) fn limit() -> io::Error {
    io::Error::from(io::ErrorKind::FileTooLarge)
}

pub(super) fn is_limit(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::FileTooLarge
}

/// A stage that undoes `coding` of what `inner` gives.
pub(super) fn stage<'a>(coding: Coding, inner: Box<dyn Stage + 'a>) -> io::Result<Box<dyn Stage + 'a>> {
    let mut inner = BufReader::with_capacity(BUFFER_BYTES, inner);
    Ok(match coding {
        Coding::Gzip => Box::new(Members::new(inner)),
        Coding::Deflate => {
            // The zlib header names method 8 and is a multiple of 31; raw deflate hardly ever looks like that.
            let start = inner.fill_buf()?;
            let zlib = matches!(start, [cmf, flags, ..]
                if cmf & 0x0f == 8 && (u16::from(*cmf) << 8 | u16::from(*flags)) % 31 == 0);
            Box::new(Inflate { inner, state: Decompress::new(zlib), ended: false })
        }
        Coding::Brotli => Box::new(Decompressor::new(inner, BUFFER_BYTES)),
        Coding::Zstd => {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(inner)?;
            decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
            Box::new(Exact(decoder))
        }
    })
}

/// A reader as a stage.
struct Exact<R>(R);

impl<R: Read> Read for Exact<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl<R: Read> Stage for Exact<R> {}

/// A deflate stream. Unlike the library's own reader it tells a stream that ended from one that was cut.
struct Inflate<R> {
    inner: R,
    state: Decompress,
    ended: bool,
}

impl<R: BufRead> Read for Inflate<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !self.ended && !buffer.is_empty() {
            let input = self.inner.fill_buf()?;
            let at_end = input.is_empty();
            let (consumed, produced) = (self.state.total_in(), self.state.total_out());
            let status = self.state.decompress(input, buffer, FlushDecompress::None)?;
            self.inner.consume((self.state.total_in() - consumed) as usize);
            self.ended = status == Status::StreamEnd;
            let count = (self.state.total_out() - produced) as usize;
            if count > 0 {
                return Ok(count);
            }
            if at_end && !self.ended {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(0)
    }
}

impl<R: BufRead> Stage for Inflate<R> {}

/// At most so many bytes of a stage.
pub(super) struct Limited<'a> {
    inner: Box<dyn Stage + 'a>,
    left: usize,
}

impl<'a> Limited<'a> {
    pub(super) fn new(inner: Box<dyn Stage + 'a>, bytes_max: usize) -> Limited<'a> {
        Limited { inner, left: bytes_max }
    }
}

impl Read for Limited<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.left = self.left.checked_sub(count).ok_or_else(limit)?;
        Ok(count)
    }
}

impl Stage for Limited<'_> {}

/// The members of a gzip stream, one after the other.
struct Members<R: BufRead> {
    decoder: Option<GzDecoder<R>>,
    ended: usize,
}

impl<R: BufRead> Members<R> {
    fn new(inner: R) -> Members<R> {
        Members { decoder: Some(GzDecoder::new(inner)), ended: 0 }
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(decoder) = &mut self.decoder {
            let count = decoder.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            self.ended += 1;
            let mut inner = self.decoder.take().expect("it is there in this loop").into_inner();
            if inner.fill_buf()?.is_empty() {
                return Ok(0);
            }
            self.decoder = Some(GzDecoder::new(inner));
        }
        Ok(0)
    }
}

impl<R: BufRead> Stage for Members<R> {
    fn units(&self) -> usize {
        self.ended
    }
}
