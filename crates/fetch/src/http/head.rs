//! Response heads: found, parsed and asked about without copying; a [`Head`] holds places in the bytes it came from.

use std::mem::MaybeUninit;

use crate::Failure;
use crate::limits::HEADER_FIELDS_MAX;

/// A part of the bytes; heads are far below 4 GiB.
#[derive(Clone, Copy, Debug)]
struct Place {
    start: u32,
    len: u32,
}

impl Place {
    fn of(part: &[u8], bytes: &[u8]) -> Place {
        let start = part.as_ptr() as usize - bytes.as_ptr() as usize;
        Place { start: start as u32, len: part.len() as u32 }
    }

    fn in_bytes(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.start as usize..][..self.len as usize]
    }
}

/// A parsed response head: places in the bytes it was parsed from.
#[derive(Clone, Debug)]
pub struct Head {
    /// The status code.
    pub status: u16,
    /// Bytes of the head, the empty line included.
    pub len: usize,
    version: u8,
    fields: Vec<(Place, Place)>,
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
    while let Some(newline) = memchr::memchr(b'\n', &bytes[at..]).map(|found| at + found) {
        match &bytes[newline + 1..] {
            [b'\n', ..] => return Some(newline + 2),
            [b'\r', b'\n', ..] => return Some(newline + 3),
            _ => at = newline + 1,
        }
    }
    None
}

/// Whether `bytes` can still become a response: HTTP/0.9, TLS records and other tongues show in the first bytes, and
/// waiting for their head to end would only cost time.
pub(crate) fn may_be_http(bytes: &[u8]) -> bool {
    let start = bytes.iter().position(|byte| !matches!(byte, b'\r' | b'\n')).unwrap_or(bytes.len());
    let text = &bytes[start..];
    let count = text.len().min(5);
    text[..count] == b"HTTP/"[..count]
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
        // Three digits, and the first of them is the class: there is none below 1.
        if status < 100 {
            return Err(Failure::Protocol);
        }
        let mut fields = Vec::with_capacity(response.headers.len());
        // An ignored line leaves an empty field that points nowhere.
        for field in response.headers.iter().filter(|field| !field.name.is_empty()) {
            fields.push((Place::of(field.name.as_bytes(), bytes), Place::of(field.value, bytes)));
        }
        Ok(Head { status, len, version, fields })
    }

    /// The values of a field, in order. A value that was folded over several lines still holds their ends.
    pub fn values<'a>(&'a self, bytes: &'a [u8], name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.fields
            .iter()
            .filter(move |(field, _)| {
                field.len as usize == name.len()
                    && field.in_bytes(bytes).eq_ignore_ascii_case(name.as_bytes())
            })
            .map(|(_, value)| value.in_bytes(bytes))
    }

    /// The first value of a field, as text.
    pub fn value<'a>(&'a self, bytes: &'a [u8], name: &'a str) -> Option<&'a str> {
        self.values(bytes, name).next().and_then(|value| std::str::from_utf8(value).ok())
    }

    /// All fields in order: name and value.
    pub fn fields<'a>(&'a self, bytes: &'a [u8]) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        self.fields.iter().map(|(name, value)| (name.in_bytes(bytes), value.in_bytes(bytes)))
    }

    fn tokens<'a>(&'a self, bytes: &'a [u8], name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.values(bytes, name)
            .flat_map(|value| value.split(|&byte| byte == b','))
            .map(<[u8]>::trim_ascii)
            .filter(|token| !token.is_empty())
    }

    /// Whether the server keeps the connection open after this response.
    pub(crate) fn keeps_alive(&self, bytes: &[u8]) -> bool {
        let says =
            |token: &[u8]| self.tokens(bytes, "connection").any(|part| part.eq_ignore_ascii_case(token));
        match self.version {
            0 => says(b"keep-alive"),
            _ => !says(b"close"),
        }
    }

    /// Where the body ends. Contradictions (two lengths, length and chunks) are refused: they are how responses
    /// are smuggled. So is a transfer coding that nobody may send to a client that did not ask for it.
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
        let mut chunked = false;
        for coding in self.tokens(bytes, "transfer-encoding") {
            if coding.eq_ignore_ascii_case(b"chunked") {
                chunked = true;
            } else if !coding.eq_ignore_ascii_case(b"identity") {
                return Err(Failure::Protocol);
            }
        }
        match (chunked, length) {
            (true, Some(_)) => Err(Failure::Protocol),
            (true, None) => Ok(Framing::Chunked),
            (false, Some(length)) => Ok(Framing::Length(length)),
            (false, None) => Ok(Framing::UntilClose),
        }
    }
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
        assert_eq!(head.fields(text.as_bytes()).count(), 3);
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
    fn other_tongues_are_recognised_at_once() {
        for good in ["", "H", "HTTP", "HTTP/1.1 200 OK", "\r\n", "\r\nHTTP/1.0"] {
            assert!(may_be_http(good.as_bytes()), "{good:?}");
        }
        for bad in ["<", "<html>", "\x15\x03\x01", "HTTQ", "SSH-2.0", "\r\nX", " HTTP/1.1"] {
            assert!(!may_be_http(bad.as_bytes()), "{bad:?}");
        }
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
        assert_eq!(framing("Transfer-Encoding: identity\r\n"), Ok(Framing::UntilClose));
        assert_eq!(framing(""), Ok(Framing::UntilClose));
        for bad in [
            "Content-Length: 5\r\nContent-Length: 6\r\n",
            "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
            "Transfer-Encoding: gzip, chunked\r\n",
            "Content-Length: -1\r\n",
            "Content-Length: +1\r\n",
            "Content-Length: 99999999999999999999\r\n",
            "Content-Length: \r\n",
        ] {
            assert_eq!(framing(bad), Err(Failure::Protocol), "{bad}");
        }
        let text = "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n";
        assert_eq!(parse(text).unwrap().framing(text.as_bytes()), Ok(Framing::Empty));
    }

    #[test]
    fn connections_are_kept_as_the_version_says() {
        let keeps = |text: &str| parse(text).unwrap().keeps_alive(text.as_bytes());
        assert!(keeps("HTTP/1.1 200 OK\r\n\r\n"));
        assert!(!keeps("HTTP/1.1 200 OK\r\nConnection: x, Close\r\n\r\n"));
        assert!(!keeps("HTTP/1.0 200 OK\r\n\r\n"));
        assert!(keeps("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n\r\n"));
    }

    #[test]
    fn what_is_not_http_is_a_protocol_error() {
        for bad in [
            "<html>\r\n\r\n",
            "HTTP/1.1 abc OK\r\n\r\n",
            "HTTP/1.1 099 x\r\n\r\n",
            "ICY 200 OK\r\n\r\n",
            "\r\n\r\n",
        ] {
            assert_eq!(parse(bad).unwrap_err(), Failure::Protocol, "{bad:?}");
        }
        let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: b\r\n".repeat(HEADER_FIELDS_MAX + 1));
        assert_eq!(parse(&many).unwrap_err(), Failure::HeadTooLarge);
    }

    /// Pieces from which heads are built that are nearly right: random bytes alone never get past the first line.
    fn piece() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..12),
            proptest::sample::select(vec![
                "HTTP/1.1 200 OK\r\n",
                "HTTP/1.0 304\n",
                "Content-Length: ",
                "Transfer-Encoding: chunked\r\n",
                "Connection: close\r\n",
                "\r\n",
                "\n",
                "\r",
                ": ",
                " folded\r\n",
                "5",
                "5, 5",
                "\0",
                "\r\n\r\n",
                ",",
            ])
            .prop_map(|text| text.as_bytes().to_vec()),
        ]
    }

    proptest! {
        #[test]
        fn no_head_panics_and_every_place_lies_within_it(pieces in proptest::collection::vec(piece(), 0..20)) {
            let mut text = b"HTTP/1.1 200 OK\r\n".to_vec();
            pieces.iter().for_each(|piece| text.extend_from_slice(piece));
            text.extend_from_slice(b"\r\n\r\n");
            let end = head_end(&text, 0).expect("it ends in an empty line");
            prop_assert!(end <= text.len());
            if let Ok(head) = Head::parse(&text, end) {
                prop_assert!(head.len <= end);
                for (name, value) in head.fields(&text[..head.len]) {
                    prop_assert!(!name.is_empty() && value.len() < text.len());
                }
                let _ = head.framing(&text);
                let _ = head.keeps_alive(&text);
            }
        }

        #[test]
        fn a_head_reads_the_same_however_it_arrives(pieces in proptest::collection::vec(piece(), 0..12), cut in 0usize..200) {
            let mut text = b"HTTP/1.1 200 OK\r\n".to_vec();
            pieces.iter().for_each(|piece| text.extend_from_slice(piece));
            text.extend_from_slice(b"\r\n\r\n");
            let cut = cut.min(text.len());
            let whole = head_end(&text, 0);
            let in_two = head_end(&text[..cut], 0).or_else(|| head_end(&text, cut));
            prop_assert_eq!(whole, in_two);
        }
    }
}
