//! Each coding alone: from one buffer into another, up to a limit.

use std::io::Read;

use flate2::{Decompress, FlushDecompress, Status};
use memchr::memchr;
use zstd::zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, ResetDirective};

use super::Flaw;
use crate::inflate::{Inflated, Inflater};

const STEP_BYTES: usize = 64 << 10;
/// The largest window that a frame may ask for: more than RFC 9659 allows to servers, less than would hurt.
const ZSTD_WINDOW_LOG_MAX: u32 = 25;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    Chunked,
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

impl Coding {
    pub(super) fn parse(word: &[u8]) -> Option<Coding> {
        let is = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
        match word {
            _ if is("gzip") || is("x-gzip") => Some(Coding::Gzip),
            _ if is("chunked") => Some(Coding::Chunked),
            _ if is("br") => Some(Coding::Brotli),
            _ if is("zstd") => Some(Coding::Zstd),
            _ if is("deflate") => Some(Coding::Deflate),
            _ => None,
        }
    }

    /// Whether a body may have this coding, by its first bytes.
    pub(super) fn begins(self, body: &[u8]) -> bool {
        match self {
            _ if body.is_empty() => false,
            Coding::Chunked => chunk_line(body).is_some(),
            Coding::Deflate | Coding::Brotli => true,
            _ => self.is_certain(body),
        }
    }

    /// Whether a body has this coding and no other, by its first bytes.
    pub(super) fn is_certain(self, body: &[u8]) -> bool {
        match self {
            Coding::Gzip => body.starts_with(&[0x1f, 0x8b]),
            Coding::Zstd => body.starts_with(&crate::zstandard::MAGIC),
            Coding::Chunked | Coding::Deflate | Coding::Brotli => false,
        }
    }
}

/// The libraries' working memory, made when it is first needed.
pub(super) struct Codings {
    inflater: Option<Inflater>,
    zstd: Option<DCtx<'static>>,
}

impl Codings {
    pub(super) fn new() -> Codings {
        Codings { inflater: None, zstd: None }
    }

    /// Undoes a coding into `out`, which is empty, up to `bytes_max`; says what is wrong.
    pub(super) fn undo(
        &mut self,
        coding: Coding,
        body: &[u8],
        out: &mut Vec<u8>,
        bytes_max: usize,
    ) -> Option<Flaw> {
        match coding {
            Coding::Chunked => chunks(body, out, bytes_max),
            Coding::Gzip => self.gzip(body, out, bytes_max),
            Coding::Deflate => {
                // The zlib header names method 8 and is a multiple of 31; raw deflate hardly ever looks like that.
                let zlib = matches!(body, [method, flags, ..]
                    if method & 0x0f == 8 && (u16::from(*method) << 8 | u16::from(*flags)) % 31 == 0);
                inflate(Decompress::new(zlib), body, out, bytes_max).err()
            }
            Coding::Brotli => brotli(body, out, bytes_max),
            Coding::Zstd => self.zstd(body, out, bytes_max),
        }
    }

    fn gzip(&mut self, body: &[u8], out: &mut Vec<u8>, bytes_max: usize) -> Option<Flaw> {
        let inflater = self.inflater.get_or_insert_with(Inflater::new);
        let mut rest = body;
        while rest.starts_with(&[0x1f, 0x8b]) {
            let filled = out.len();
            // The last four bytes say how large the last member becomes. A hint, no promise.
            let said = rest.last_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize);
            let limit = bytes_max - filled;
            let mut room = said.min(rest.len().saturating_mul(8)).max(rest.len() * 2).min(limit);
            let member = loop {
                out.resize(filled + room, 0);
                match inflater.member(rest, &mut out[filled..]) {
                    Inflated::NoRoom if room < limit => room = room.max(1024).saturating_mul(4).min(limit),
                    other => break other,
                }
            };
            match member {
                Inflated::Whole { read, written } => {
                    out.truncate(filled + written);
                    rest = &rest[read..];
                }
                // Cut off, or too large: what there is of it comes piece by piece.
                Inflated::Bad | Inflated::NoRoom => {
                    out.truncate(filled);
                    let Some(header) = header_bytes(rest) else { return Some(Flaw::Damaged) };
                    // Only the checksum can be wrong with one that ends well.
                    let result = inflate(Decompress::new(false), &rest[header..], out, bytes_max);
                    return Some(result.err().unwrap_or(Flaw::Damaged));
                }
            }
        }
        None
    }

    fn zstd(&mut self, body: &[u8], out: &mut Vec<u8>, bytes_max: usize) -> Option<Flaw> {
        let context = self.zstd.get_or_insert_with(|| {
            let mut context = DCtx::create();
            context
                .set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW_LOG_MAX))
                .expect("a window that zstd itself allows");
            context
        });
        context.reset(ResetDirective::SessionOnly).expect("a session can always be ended");
        let mut input = InBuffer::around(body);
        loop {
            let filled = out.len();
            out.resize((filled + STEP_BYTES.max(body.len())).min(bytes_max), 0);
            let mut output = OutBuffer::around(&mut out[filled..]);
            let before = input.pos();
            let result = context.decompress_stream(&mut output, &mut input);
            let count = output.pos();
            out.truncate(filled + count);
            let frame_over = match result {
                Ok(missing) => missing == 0,
                Err(_) => return Some(Flaw::Damaged),
            };
            let all_read = input.pos() == body.len();
            if frame_over && all_read {
                return None;
            }
            if out.len() == bytes_max && (count > 0 || !all_read) {
                return Some(Flaw::TooLarge);
            }
            if count == 0 && input.pos() == before {
                return Some(Flaw::Damaged);
            }
        }
    }
}

/// Inflates piece by piece; how far it comes is in `out`.
fn inflate(mut state: Decompress, body: &[u8], out: &mut Vec<u8>, bytes_max: usize) -> Result<(), Flaw> {
    let start = out.len();
    loop {
        let (read, filled) = (state.total_in() as usize, start + state.total_out() as usize);
        out.resize((filled + STEP_BYTES.max(body.len())).min(bytes_max), 0);
        let result = state.decompress(&body[read..], &mut out[filled..], FlushDecompress::None);
        let now = start + state.total_out() as usize;
        out.truncate(now);
        match result {
            Ok(Status::StreamEnd) => return Ok(()),
            Err(_) => return Err(Flaw::Damaged),
            Ok(_) if now == bytes_max => return Err(Flaw::TooLarge),
            Ok(_) if state.total_in() as usize == read && now == filled => return Err(Flaw::Damaged),
            Ok(_) => {}
        }
    }
}

fn brotli(body: &[u8], out: &mut Vec<u8>, bytes_max: usize) -> Option<Flaw> {
    let mut reader = brotli_decompressor::Decompressor::new(body, 4096);
    loop {
        let filled = out.len();
        // One byte more than may be: so it shows that there is more.
        out.resize((filled + STEP_BYTES).min(bytes_max + 1), 0);
        let result = reader.read(&mut out[filled..]);
        out.truncate(filled + result.as_ref().map_or(0, |count| *count));
        if out.len() > bytes_max {
            out.truncate(bytes_max);
            return Some(Flaw::TooLarge);
        }
        match result {
            Ok(0) => return None,
            Ok(_) => {}
            Err(_) => return Some(Flaw::Damaged),
        }
    }
}

/// How long the header of a gzip member is.
fn header_bytes(member: &[u8]) -> Option<usize> {
    let flags = *member.get(3)?;
    let mut at = 10;
    if flags & 4 != 0 {
        at += 2 + usize::from(u16::from_le_bytes([*member.get(at)?, *member.get(at + 1)?]));
    }
    for flag in [8, 16] {
        if flags & flag != 0 {
            at += memchr(0, member.get(at..)?)? + 1;
        }
    }
    if flags & 2 != 0 {
        at += 2;
    }
    (at < member.len()).then_some(at)
}

/// The size that a chunk's first line gives, and how long that line is.
fn chunk_line(body: &[u8]) -> Option<(usize, usize)> {
    let end = memchr(b'\n', &body[..body.len().min(1024)])?;
    let line = body[..end].trim_ascii();
    let digits = line[..memchr(b';', line).unwrap_or(line.len())].trim_ascii();
    if digits.is_empty() || digits.len() > 8 {
        return None;
    }
    let size =
        digits.iter().try_fold(0, |size, digit| Some(size << 4 | (*digit as char).to_digit(16)? as usize))?;
    Some((size, end + 1))
}

fn chunks(body: &[u8], out: &mut Vec<u8>, bytes_max: usize) -> Option<Flaw> {
    let mut rest = body;
    loop {
        let Some((size, line)) = chunk_line(rest) else { return Some(Flaw::Damaged) };
        if size == 0 {
            return None;
        }
        rest = &rest[line..];
        let chunk = &rest[..size.min(rest.len())];
        let room = bytes_max - out.len();
        out.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room {
            return Some(Flaw::TooLarge);
        }
        if chunk.len() < size {
            return Some(Flaw::Damaged);
        }
        rest = &rest[size..];
        rest = rest.strip_prefix(b"\r\n").or(rest.strip_prefix(b"\n")).unwrap_or(rest);
    }
}
