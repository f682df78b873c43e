//! HTTP/1.1 responses: head, framing, chunked bodies. Pure functions over bytes; the sockets are in
//! [`connection`](crate::connection).

use std::fmt;
use std::mem::MaybeUninit;
use std::ops::Range;

use crate::Failure;
use crate::limits::HEADER_FIELDS_MAX;

/// Why a body is not whole, in the words of the WARC standard's `WARC-Truncated`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truncation {
    /// It is longer than the limit.
    Length,
    /// It took longer than the limit.
    Time,
    /// The connection ended or the framing was broken before the body's end.
    Disconnect,
}

impl fmt::Display for Truncation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Truncation::Length => "length",
            Truncation::Time => "time",
            Truncation::Disconnect => "disconnect",
        })
    }
}

/// A parsed response head: ranges into the bytes it was parsed from.
#[derive(Clone, Debug)]
pub struct Head {
    /// The status code.
    pub status: u16,
    /// Bytes of the head, the empty line included.
    pub len: usize,
    version: u8,
    fields: Vec<(Range<usize>, Range<usize>)>,
}

/// Where a body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    Empty,
    Length(u64),
    Chunked,
    UntilClose,
}

/// How far into `bytes` a head reaches, looking only at what came in since `from`: the end of the first empty line.
pub(crate) fn head_end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from.saturating_sub(3);
    while let Some(newline) = bytes[at..].iter().position(|&byte| byte == b'\n').map(|found| at + found) {
        match &bytes[newline + 1..] {
            [b'\n', ..] => return Some(newline + 2),
            [b'\r', b'\n', ..] => return Some(newline + 3),
            _ => at = newline + 1,
        }
    }
    None
}

impl Head {
    /// Parses the head that ends at `end` of `bytes`.
    pub(crate) fn parse(bytes: &[u8], end: usize) -> Result<Head, Failure> {
        let mut fields = [const { MaybeUninit::uninit() }; HEADER_FIELDS_MAX];
        let mut response = httparse::Response::new(&mut []);
        let parsed = httparse::ParserConfig::default()
            .allow_obsolete_multiline_headers_in_responses(true)
            .ignore_invalid_headers_in_responses(true)
            .allow_spaces_after_header_name_in_responses(true)
            .parse_response_with_uninit_headers(&mut response, &bytes[..end], &mut fields);
        let len = match parsed {
            Ok(httparse::Status::Complete(len)) => len,
            Err(httparse::Error::TooManyHeaders) => return Err(Failure::HeadTooLarge),
            _ => return Err(Failure::Protocol),
        };
        let (Some(status), Some(version)) = (response.code, response.version) else {
            return Err(Failure::Protocol);
        };
        let start = bytes.as_ptr() as usize;
        let place = |part: &[u8]| {
            let from = part.as_ptr() as usize - start;
            from..from + part.len()
        };
        let fields = response
            .headers
            .iter()
            // An ignored line leaves an empty field that points nowhere.
            .filter(|field| !field.name.is_empty())
            .map(|field| (place(field.name.as_bytes()), place(field.value)))
            .collect();
        Ok(Head { status, len, version, fields })
    }

    /// The values of a field, in order.
    pub fn values<'a>(&'a self, bytes: &'a [u8], name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.fields
            .iter()
            .filter(move |(field, _)| bytes[field.clone()].eq_ignore_ascii_case(name.as_bytes()))
            .map(|(_, value)| &bytes[value.clone()])
    }

    /// The first value of a field, as text.
    pub fn value<'a>(&'a self, bytes: &'a [u8], name: &'a str) -> Option<&'a str> {
        self.values(bytes, name).next().and_then(|value| std::str::from_utf8(value).ok())
    }

    fn has_token(&self, bytes: &[u8], name: &str, token: &str) -> bool {
        self.values(bytes, name).any(|value| {
            value
                .split(|&byte| byte == b',')
                .any(|part| part.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
        })
    }

    /// Whether the server keeps the connection open after this response.
    pub(crate) fn keeps_alive(&self, bytes: &[u8]) -> bool {
        match self.version {
            0 => self.has_token(bytes, "connection", "keep-alive"),
            _ => !self.has_token(bytes, "connection", "close"),
        }
    }

    /// Where the body ends. Contradictions (two lengths, length and chunks) are refused: they are how responses
    /// are smuggled.
    pub(crate) fn framing(&self, bytes: &[u8]) -> Result<Framing, Failure> {
        if matches!(self.status, 100..200 | 204 | 304) {
            return Ok(Framing::Empty);
        }
        let mut length = None;
        for value in self.values(bytes, "content-length") {
            let text = std::str::from_utf8(value).map_err(|_| Failure::Protocol)?.trim();
            if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(Failure::Protocol);
            }
            let value: u64 = text.parse().map_err(|_| Failure::Protocol)?;
            if length.is_some_and(|earlier| earlier != value) {
                return Err(Failure::Protocol);
            }
            length = Some(value);
        }
        let chunked = self.has_token(bytes, "transfer-encoding", "chunked");
        match (chunked, length) {
            (true, Some(_)) => Err(Failure::Protocol),
            (true, None) => Ok(Framing::Chunked),
            (false, Some(length)) => Ok(Framing::Length(length)),
            (false, None) => Ok(Framing::UntilClose),
        }
    }
}

/// Takes the chunks off a body in place: the buffer holds what is decoded, then what is not yet.
#[derive(Debug)]
pub(crate) struct Chunks {
    /// Where decoded bytes end.
    pub(crate) decoded: usize,
    /// Where undecoded bytes begin.
    next: usize,
    /// Bytes left of the chunk at hand.
    left: u64,
    state: ChunkState,
    trailer_bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChunkState {
    Size,
    Data,
    DataEnd,
    Trailer,
}

/// What [`Chunks::advance`] needs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    More,
    /// The end; whether nothing came after it.
    Done {
        clean: bool,
    },
    Broken,
}

const LINE_BYTES_MAX: usize = 4096;
const TRAILER_BYTES_MAX: usize = 16 * 1024;

impl Chunks {
    /// A body that begins at `start` of the buffer.
    pub(crate) fn new(start: usize) -> Chunks {
        Chunks { decoded: start, next: start, left: 0, state: ChunkState::Size, trailer_bytes: 0 }
    }

    /// Decodes what is in the buffer, and moves the rest down so that the buffer never holds more than the decoded body
    /// and one read.
    pub(crate) fn advance(&mut self, buffer: &mut Vec<u8>) -> Progress {
        let progress = self.decode(buffer);
        let rest = buffer.len() - self.next;
        buffer.copy_within(self.next.., self.decoded);
        buffer.truncate(self.decoded + rest);
        self.next = self.decoded;
        if let Progress::Done { .. } = progress {
            buffer.truncate(self.decoded);
            return Progress::Done { clean: rest == 0 };
        }
        progress
    }

    fn decode(&mut self, buffer: &mut [u8]) -> Progress {
        loop {
            match self.state {
                ChunkState::Data => {
                    let count = self.left.min((buffer.len() - self.next) as u64) as usize;
                    buffer.copy_within(self.next..self.next + count, self.decoded);
                    self.decoded += count;
                    self.next += count;
                    self.left -= count as u64;
                    if self.left > 0 {
                        return Progress::More;
                    }
                    self.state = ChunkState::DataEnd;
                }
                state => {
                    let Some(line) = line(&buffer[self.next..]) else {
                        let too_long = buffer.len() - self.next > LINE_BYTES_MAX;
                        return if too_long { Progress::Broken } else { Progress::More };
                    };
                    let text = &buffer[self.next..self.next + line];
                    let text = text.strip_suffix(b"\r\n").or(text.strip_suffix(b"\n")).unwrap_or(text);
                    match state {
                        ChunkState::Size => match chunk_size(text) {
                            Some(0) => self.state = ChunkState::Trailer,
                            Some(size) => (self.left, self.state) = (size, ChunkState::Data),
                            None => return Progress::Broken,
                        },
                        ChunkState::DataEnd if text.is_empty() => self.state = ChunkState::Size,
                        ChunkState::DataEnd => return Progress::Broken,
                        _ if text.is_empty() => {
                            self.next += line;
                            return Progress::Done { clean: true };
                        }
                        _ => {
                            self.trailer_bytes += line;
                            if self.trailer_bytes > TRAILER_BYTES_MAX {
                                return Progress::Broken;
                            }
                        }
                    }
                    self.next += line;
                }
            }
        }
    }
}

fn line(bytes: &[u8]) -> Option<usize> {
    bytes.iter().take(LINE_BYTES_MAX).position(|&byte| byte == b'\n').map(|at| at + 1)
}

/// The size of a chunk, its extensions ignored; `None` if it is no hexadecimal number below 2^60.
fn chunk_size(line: &[u8]) -> Option<u64> {
    let digits = line.split(|&byte| byte == b';').next()?.trim_ascii();
    if digits.is_empty() || digits.len() > 15 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<Head, Failure> {
        Head::parse(text.as_bytes(), head_end(text.as_bytes(), 0).expect("a whole head"))
    }

    #[test]
    fn fields_are_found_without_regard_to_case() {
        let text = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX: 1\r\nx: 2\r\n\r\nbody";
        let head = parse(text).unwrap();
        assert_eq!((head.status, head.len), (200, text.len() - 4));
        assert_eq!(head.value(text.as_bytes(), "content-type"), Some("text/html"));
        assert_eq!(head.values(text.as_bytes(), "X").count(), 2);
        assert_eq!(head.value(text.as_bytes(), "y"), None);
    }

    #[test]
    fn the_end_of_a_head_is_found_across_reads() {
        let text = b"HTTP/1.1 200 OK\r\nA: b\r\n\r\nrest";
        for read in 0..text.len() {
            let first = head_end(&text[..read], 0);
            assert_eq!(first.or_else(|| head_end(text, read)), Some(25), "{read}");
        }
        assert_eq!(head_end(b"HTTP/1.0 200\n\nx", 0), Some(14));
        assert_eq!(head_end(b"", 0), None);
    }

    #[test]
    fn framing_refuses_contradictions() {
        let framing = |fields: &str| {
            let text = format!("HTTP/1.1 200 OK\r\n{fields}\r\n");
            parse(&text).unwrap().framing(text.as_bytes())
        };
        assert_eq!(framing("Content-Length: 5\r\n"), Ok(Framing::Length(5)));
        assert_eq!(framing("Content-Length: 5\r\nContent-Length: 5\r\n"), Ok(Framing::Length(5)));
        assert_eq!(framing("Transfer-Encoding: Chunked\r\n"), Ok(Framing::Chunked));
        assert_eq!(framing(""), Ok(Framing::UntilClose));
        for bad in [
            "Content-Length: 5\r\nContent-Length: 6\r\n",
            "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
            "Content-Length: -1\r\n",
            "Content-Length: 99999999999999999999\r\n",
            "Content-Length: \r\n",
        ] {
            assert_eq!(framing(bad), Err(Failure::Protocol), "{bad}");
        }
        let text = "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n";
        assert_eq!(parse(text).unwrap().framing(text.as_bytes()), Ok(Framing::Empty));
    }

    #[test]
    fn what_is_not_http_is_a_protocol_error() {
        for bad in ["<html>\r\n\r\n", "HTTP/1.1 abc OK\r\n\r\n", "ICY 200 OK\r\n\r\n", "\r\n\r\n"] {
            assert_eq!(parse(bad).unwrap_err(), Failure::Protocol, "{bad:?}");
        }
        let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: b\r\n".repeat(HEADER_FIELDS_MAX + 1));
        assert_eq!(parse(&many).unwrap_err(), Failure::HeadTooLarge);
    }

    fn decode(pieces: &[&[u8]]) -> (Vec<u8>, Progress) {
        let mut buffer = b"HEAD".to_vec();
        let mut chunks = Chunks::new(4);
        let mut progress = Progress::More;
        for piece in pieces {
            buffer.extend_from_slice(piece);
            progress = chunks.advance(&mut buffer);
            if progress != Progress::More {
                break;
            }
        }
        (buffer[4..chunks.decoded].to_vec(), progress)
    }

    #[test]
    fn broken_chunks_keep_what_came_before() {
        assert_eq!(decode(&[b"3\r\nabc\r\n-1\r\n"]), (b"abc".to_vec(), Progress::Broken));
        assert_eq!(decode(&[b"3\r\nabcd\r\n"]), (b"abc".to_vec(), Progress::Broken));
        assert_eq!(decode(&[b"ffffffffffffffff\r\n"]), (vec![], Progress::Broken));
        assert_eq!(decode(&[b"0\r\nA: b\r\n\r\nmore"]), (vec![], Progress::Done { clean: false }));
        let endless: Vec<u8> = b"0\r\n".iter().copied().chain(b"A: b\r\n".repeat(4000)).collect();
        assert_eq!(decode(&[&endless]), (vec![], Progress::Broken));
        assert_eq!(decode(&[&[b'1'; 5000]]), (vec![], Progress::Broken));
    }

    proptest! {
        #[test]
        fn any_body_survives_any_chunking_and_any_reads(
            body in proptest::collection::vec(any::<u8>(), 0..400),
            chunk in 1usize..50,
            read in 1usize..50,
        ) {
            let mut wire = Vec::new();
            for piece in body.chunks(chunk) {
                wire.extend_from_slice(format!("{:x};ext=1\r\n", piece.len()).as_bytes());
                wire.extend_from_slice(piece);
                wire.extend_from_slice(b"\r\n");
            }
            wire.extend_from_slice(b"0\r\nTrailer: x\r\n\r\n");
            let reads: Vec<&[u8]> = wire.chunks(read).collect();
            prop_assert_eq!(decode(&reads), (body, Progress::Done { clean: true }));
        }

        #[test]
        fn garbage_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            decode(&[&bytes]);
            let mut text = b"HTTP/1.1 200 OK\r\n".to_vec();
            text.extend_from_slice(&bytes);
            text.extend_from_slice(b"\r\n\r\n");
            if let Some(end) = head_end(&text, 0)
                && let Ok(head) = Head::parse(&text, end) {
                    let _ = head.framing(&text);
                    let _ = head.keeps_alive(&text);
                }
        }
    }
}
