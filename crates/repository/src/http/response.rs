//! A stored response taken apart in place: status, head, body as it is stored.

use memchr::memchr;

/// An HTTP response, borrowed from the block of its record.
#[derive(Clone, Copy, Debug)]
pub struct Response<'a> {
    /// The status; 0 if the server sent none that is a number.
    pub status: u16,
    /// Status line and header fields, with the blank line that ends them where there is one.
    pub head: &'a [u8],
    /// What follows, as it is stored: with its content coding, and in the archives of some other programs with its transfer
    /// coding. [`super::BodyDecoder`] undoes both.
    pub body: &'a [u8],
}

/// So much of blank lines may stand before a status line.
const BLANK_BYTES_MAX: usize = 8;

/// Takes the block of a response or revisit record apart. `None` if it does not begin with a status line: then it is no
/// HTTP. Blank lines before it, its name in small letters, and the `ICY` of radio stations are taken, as browsers take them.
pub fn parse_response(block: &[u8]) -> Option<Response<'_>> {
    let blank = block.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    let begun = &block[blank..];
    let line = &begun[..memchr(b'\n', begun).unwrap_or(begun.len())];
    let is_http = line.get(..4).is_some_and(|name| name.eq_ignore_ascii_case(b"HTTP"));
    if blank > BLANK_BYTES_MAX || !is_http && !line.starts_with(b"ICY ") {
        return None;
    }
    let mut words = line.split(|byte| matches!(byte, b' ' | b'\t' | b'\r')).filter(|word| !word.is_empty());
    let status = words.nth(1).filter(|word| word.len() == 3).and_then(|word| {
        word.iter()
            .try_fold(0, |number, byte| byte.is_ascii_digit().then(|| number * 10 + u16::from(byte - b'0')))
    });
    let (head, body) = block.split_at(blank + head_end(begun));
    Some(Response { status: status.unwrap_or(0), head, body })
}

/// Behind the first blank line.
fn head_end(block: &[u8]) -> usize {
    let mut at = 0;
    while let Some(end) = memchr(b'\n', &block[at..]) {
        at += end + 1;
        match &block[at..] {
            [b'\n', ..] => return at + 1,
            [b'\r', b'\n', ..] => return at + 2,
            _ => {}
        }
    }
    block.len()
}

impl<'a> Response<'a> {
    /// The header fields: name and value, without the white space around them. A line that continues another is left out.
    pub fn fields(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        let mut rest = self.head;
        std::iter::from_fn(move || {
            while !rest.is_empty() {
                let end = memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
                let (line, after) = rest.split_at(end);
                rest = after;
                if matches!(line.first(), Some(b' ' | b'\t')) {
                    continue;
                }
                if let Some(colon) = memchr(b':', line) {
                    return Some((line[..colon].trim_ascii(), line[colon + 1..].trim_ascii()));
                }
            }
            None
        })
    }

    /// The first value of a field.
    pub fn field(&self, name: &str) -> Option<&'a [u8]> {
        self.fields().find(|(key, _)| key.eq_ignore_ascii_case(name.as_bytes())).map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_are_taken_apart_as_archives_have_them() {
        for (block, status, head_bytes) in [
            (&b"HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody"[..], 200, 25),
            (b"HTTP/1.0 404\nA: b\n\nbody", 404, 19),
            (b"HTTP/1.1  301 Moved\r\n\r\n\r\n\r\n", 301, 23),
            (b"HTTP/2 200\r\nA: b\r\n", 200, 18),
            (b"HTTP/1.1 OK\r\n\r\nbody", 0, 15),
            (b"HTTP/1.1 20x\n\nbody", 0, 14),
            (b"HTTP/1.1 200 OK", 200, 15),
            (b"HTTP", 0, 4),
            (b"\r\nHTTP/1.1 200 OK\r\nA: b\r\n\r\nbody", 200, 27),
            (b"http/1.1 200 OK\r\n\r\nbody", 200, 19),
            (b"ICY 200 OK\r\nA: b\r\n\r\nbody", 200, 20),
        ] {
            let response = parse_response(block).unwrap();
            assert_eq!((response.status, response.head.len()), (status, head_bytes), "{block:?}");
            assert_eq!([response.head, response.body].concat(), block);
        }
        for block in
            [&b""[..], b"<html>", b"SSH-2.0-OpenSSH\r\n", b"\r\n\r\n\r\n\r\n\r\nHTTP/1.1 200 OK", b"ICYNESS"]
        {
            assert!(parse_response(block).is_none(), "{block:?}");
        }
    }

    #[test]
    fn fields_are_found_whatever_their_case() {
        let block = b"HTTP/1.1 200 OK\r\nContent-Type : text/html \r\n folded: x\r\nno colon\r\nset-cookie:a=b:c\r\n\r\n";
        let response = parse_response(block).unwrap();
        assert_eq!(response.field("content-TYPE"), Some(&b"text/html"[..]));
        assert_eq!(response.field("Set-Cookie"), Some(&b"a=b:c"[..]));
        assert_eq!(response.field("folded"), None);
        assert_eq!(response.fields().count(), 2);
    }
}
