//! Content coding: gzip, deflate, brotli, zstd, undone on demand and within limits.
//!
//! The archive stores bodies as they came; [`Exchange::decoded`](crate::Exchange::decoded) gives what extraction reads.
//! Decoders are chained readers: each stage holds its window and one small buffer, and only the last one's output is
//! gathered, so memory is bounded by [`DecodeLimits::bytes_max`] and the windows (32 KiB for gzip, 16 MiB for brotli, 8
//! MiB for zstd as RFC 9659 demands) whatever the input says about itself.

mod codings;

use std::borrow::Cow;
use std::io;

use crate::limits::{DecodeLimits, RATIO_FREE_BYTES};
use codings::{Limited, Stage, is_limit};

/// Output is asked for in pieces of this size at first; the pieces double.
const PIECE_BYTES_MIN: usize = 8 * 1024;
const PIECE_BYTES_MAX: usize = 256 * 1024;

/// A content coding that we can undo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// gzip, one member or several.
    Gzip,
    /// deflate: in the zlib format as the standard says, or raw as many servers send it.
    Deflate,
    /// Brotli.
    Brotli,
    /// Zstandard.
    Zstd,
}

impl Coding {
    fn of(token: &[u8]) -> Option<Coding> {
        const NAMES: [(&[u8], Coding); 6] = [
            (b"gzip", Coding::Gzip),
            (b"x-gzip", Coding::Gzip),
            (b"deflate", Coding::Deflate),
            (b"br", Coding::Brotli),
            (b"zstd", Coding::Zstd),
            (b"x-zstd", Coding::Zstd),
        ];
        NAMES.iter().find(|(name, _)| token.eq_ignore_ascii_case(name)).map(|(_, coding)| *coding)
    }
}

/// How decoding ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeEnd {
    /// All of it is there.
    Whole,
    /// It is longer than the limit, or grows faster; cut there.
    Length,
    /// The body itself was cut before; this is what could be decoded of it.
    Cut,
    /// After a whole stream came bytes that are not one; they are left out.
    Garbage,
    /// It is not what its label says. Nothing is returned: half a page of noise is worse than none.
    Broken,
    /// A coding that we do not know. Nothing is returned.
    Unknown,
    /// More codings on top of each other than we undo. Nothing is returned.
    TooMany,
}

impl DecodeEnd {
    /// The name that is stored, counted and shown.
    pub fn name(self) -> &'static str {
        match self {
            DecodeEnd::Whole => "whole",
            DecodeEnd::Length => "length",
            DecodeEnd::Cut => "cut",
            DecodeEnd::Garbage => "garbage",
            DecodeEnd::Broken => "broken",
            DecodeEnd::Unknown => "unknown-coding",
            DecodeEnd::TooMany => "too-many-codings",
        }
    }
}

/// A body with its coding undone: what is fit to be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded<'a> {
    /// The bytes; empty if they are not fit to be parsed. Borrowed if there was no coding.
    pub bytes: Cow<'a, [u8]>,
    /// How it ended.
    pub end: DecodeEnd,
}

impl Decoded<'_> {
    fn nothing(end: DecodeEnd) -> Decoded<'static> {
        Decoded { bytes: Cow::Borrowed(&[]), end }
    }
}

/// Undoes the codings that these `Content-Encoding` values name, last one first. `cut`: the body is not whole.
pub(crate) fn decode<'a, 'b>(
    values: impl Iterator<Item = &'b [u8]>,
    body: &'a [u8],
    cut: bool,
    limits: &DecodeLimits,
) -> Decoded<'a> {
    let mut codings = Vec::new();
    for token in values.flat_map(|value| value.split(|&byte| byte == b',')).map(<[u8]>::trim_ascii) {
        if token.is_empty() || token.eq_ignore_ascii_case(b"identity") {
            continue;
        }
        if codings.len() == limits.codings_max {
            return Decoded::nothing(DecodeEnd::TooMany);
        }
        match Coding::of(token) {
            Some(coding) => codings.push(coding),
            None => return Decoded::nothing(DecodeEnd::Unknown),
        }
    }
    // An empty body has nothing to undo, whatever it is labelled as.
    if codings.is_empty() || body.is_empty() {
        let length = body.len().min(limits.bytes_max);
        let end = if length < body.len() { DecodeEnd::Length } else { DecodeEnd::Whole };
        return Decoded { bytes: Cow::Borrowed(&body[..length]), end };
    }
    undo(&codings, body, cut, limits)
}

/// Undoes one coding that the content itself shows and no field names: a file `sitemap.xml.gz`. The same limits hold.
pub fn decode_file<'a>(coding: Coding, bytes: &'a [u8], cut: bool, limits: &DecodeLimits) -> Decoded<'a> {
    undo(&[coding], bytes, cut, limits)
}

fn undo(codings: &[Coding], body: &[u8], cut: bool, limits: &DecodeLimits) -> Decoded<'static> {
    if let ([Coding::Gzip], Some(bytes)) = (codings, one_member(body, limits)) {
        return Decoded { bytes: Cow::Owned(bytes), end: DecodeEnd::Whole };
    }
    let mut reader: Box<dyn Stage + '_> = Box::new(body);
    for (at, &coding) in codings.iter().rev().enumerate() {
        if at > 0 {
            // What comes out in between is bounded too: a coding of nothing can be as long as one likes.
            reader = Box::new(Limited::new(reader, limits.bytes_max));
        }
        reader = match codings::stage(coding, reader) {
            Ok(stage) => stage,
            Err(_) => return Decoded::nothing(DecodeEnd::Broken),
        };
    }
    let (bytes, end) = gather(&mut *reader, body.len(), limits);
    let end = match end {
        Ok(()) => DecodeEnd::Whole,
        Err(error) if is_limit(&error) => DecodeEnd::Length,
        Err(_) if cut => DecodeEnd::Cut,
        Err(_) if reader.units() > 0 => DecodeEnd::Garbage,
        Err(_) => return Decoded::nothing(DecodeEnd::Broken),
    };
    Decoded { bytes: Cow::Owned(bytes), end }
}

/// The usual case, at twice the speed: a whole gzip stream of one member that tells its size and keeps within the limits.
/// Anything else is `None` and goes the long way, which knows what is wrong with it.
fn one_member(body: &[u8], limits: &DecodeLimits) -> Option<Vec<u8>> {
    const MAGIC: [u8; 3] = [0x1f, 0x8b, 8];
    let size = u32::from_le_bytes(*body.last_chunk()?) as usize;
    let rest = body.strip_prefix(&MAGIC)?;
    if size > longest(body.len(), limits) || memchr::memmem::find(rest, &MAGIC).is_some() {
        return None;
    }
    let mut bytes = vec![0; size];
    let count = libdeflater::Decompressor::new().gzip_decompress(body, &mut bytes).ok()?;
    (count == size).then_some(bytes)
}

/// How many bytes may come out for so many that went in.
fn longest(wire_bytes: usize, limits: &DecodeLimits) -> usize {
    let by_ratio = wire_bytes.saturating_mul(limits.ratio_max).max(RATIO_FREE_BYTES);
    limits.bytes_max.min(by_ratio)
}

/// Reads until the end, an error or the limit. What came before an error is kept.
fn gather(reader: &mut dyn Stage, wire_bytes: usize, limits: &DecodeLimits) -> (Vec<u8>, io::Result<()>) {
    let longest = longest(wire_bytes, limits);
    // Text shrinks to a quarter or so; a wrong guess costs one move.
    // The limit may be below the smallest piece.
    let guess = wire_bytes.saturating_mul(5).max(PIECE_BYTES_MIN).min(longest.max(1));
    let mut bytes = Vec::with_capacity(guess);
    let mut piece = PIECE_BYTES_MIN;
    let mut filled = 0;
    loop {
        if filled == bytes.len() {
            bytes.resize((bytes.capacity().max(filled + piece)).min(filled + PIECE_BYTES_MAX), 0);
            piece = (piece * 2).min(PIECE_BYTES_MAX);
        }
        match reader.read(&mut bytes[filled..]) {
            Ok(0) => {
                bytes.truncate(filled);
                return (bytes, Ok(()));
            }
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                bytes.truncate(filled);
                return (bytes, Err(error));
            }
        }
        // One byte more than allowed must be seen before a body counts as cut.
        if filled > longest {
            bytes.truncate(longest);
            return (bytes, Err(codings::limit()));
        }
    }
}
