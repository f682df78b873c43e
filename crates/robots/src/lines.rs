//! The lines of a `robots.txt`: from bytes to (line number, field, value), forgiving what people write.
//!
//! Filled by [`crate::Robots::parse`], which also empties it. Accepts CR, LF and CRLF; a whole or partial UTF-8 byte
//! order mark; UTF-16 with its mark; `disallow /x` without a colon; common misspellings of the field names.

use std::borrow::Cow;

/// A line longer than this is cut, so that one line cannot hold the whole budget of the file.
pub(crate) const LINE_BYTES_MAX: usize = 16 * 1024;

/// The fields that mean something to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    UserAgent,
    Allow,
    Disallow,
    CrawlDelay,
    Sitemap,
}

/// One meaningful line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// Counted from 1, as an editor shows it.
    pub(crate) number: u32,
    pub(crate) field: Field,
    pub(crate) value: &'a [u8],
    /// The line was longer than [`LINE_BYTES_MAX`]; `value` is what fitted.
    pub(crate) cut: bool,
}

/// Takes a byte order mark off, whole or torn, and turns UTF-16 into UTF-8.
pub(crate) fn as_utf8(body: &[u8]) -> Cow<'_, [u8]> {
    match body {
        [0xff, 0xfe, rest @ ..] => Cow::Owned(from_utf16(rest, u16::from_le_bytes)),
        [0xfe, 0xff, rest @ ..] => Cow::Owned(from_utf16(rest, u16::from_be_bytes)),
        [0xef, 0xbb, 0xbf, rest @ ..] | [0xef, 0xbb, rest @ ..] | [0xef, rest @ ..] => Cow::Borrowed(rest),
        _ => Cow::Borrowed(body),
    }
}

fn from_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Vec<u8> {
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    let text: String = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    text.into_bytes()
}

/// All meaningful lines of `body`, in order.
pub(crate) fn lines(body: &[u8]) -> impl Iterator<Item = Line<'_>> {
    let mut rest = body;
    let mut number = 0u32;
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let end = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
            let raw = &rest[..end];
            let after = &rest[end..];
            rest = match after {
                [b'\r', b'\n', tail @ ..] | [_, tail @ ..] => tail,
                [] => after,
            };
            number += 1;
            let cut = raw.len() > LINE_BYTES_MAX;
            if let Some((field, value)) = field_and_value(&raw[..raw.len().min(LINE_BYTES_MAX)]) {
                return Some(Line { number, field, value, cut });
            }
        }
        None
    })
}

fn field_and_value(line: &[u8]) -> Option<(Field, &[u8])> {
    let line = &line[..memchr::memchr(b'#', line).unwrap_or(line.len())];
    let line = trim(line);
    if let Some(colon) = memchr::memchr(b':', line) {
        return Some((field(trim(&line[..colon]))?, trim(&line[colon + 1..])));
    }
    // `disallow /x`: exactly two words.
    let blank = line.iter().position(|&b| is_blank(b))?;
    let value = trim(&line[blank..]);
    if value.iter().any(|&b| is_blank(b)) {
        return None;
    }
    Some((field(&line[..blank])?, value))
}

fn field(name: &[u8]) -> Option<Field> {
    const NAMES: [(&str, Field); 17] = [
        ("disallow", Field::Disallow),
        ("allow", Field::Allow),
        ("user-agent", Field::UserAgent),
        ("sitemap", Field::Sitemap),
        ("crawl-delay", Field::CrawlDelay),
        ("useragent", Field::UserAgent),
        ("user agent", Field::UserAgent),
        ("user_agent", Field::UserAgent),
        ("dissallow", Field::Disallow),
        ("dissalow", Field::Disallow),
        ("disalow", Field::Disallow),
        ("diasllow", Field::Disallow),
        ("disallaw", Field::Disallow),
        ("site-map", Field::Sitemap),
        ("crawldelay", Field::CrawlDelay),
        ("crawl delay", Field::CrawlDelay),
        ("crawl_delay", Field::CrawlDelay),
    ];
    NAMES.iter().find(|(known, _)| name.eq_ignore_ascii_case(known.as_bytes())).map(|&(_, field)| field)
}

pub(crate) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | 0x0b | 0x0c | 0)
}

pub(crate) fn trim(mut bytes: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = bytes
        && is_blank(*first)
    {
        bytes = rest;
    }
    while let [rest @ .., last] = bytes
        && is_blank(*last)
    {
        bytes = rest;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &[u8]) -> Vec<(u32, Field, String)> {
        let body = as_utf8(body);
        lines(&body)
            .map(|line| (line.number, line.field, String::from_utf8_lossy(line.value).into_owned()))
            .collect()
    }

    #[test]
    fn line_ends_and_numbers() {
        let expected = vec![
            (1, Field::UserAgent, "a".to_owned()),
            (3, Field::Disallow, "/x".to_owned()),
            (4, Field::Allow, String::new()),
        ];
        for body in [
            "user-agent: a\n\ndisallow: /x\nallow:",
            "user-agent: a\r\rdisallow: /x\rallow:\r",
            "user-agent:a\r\n\r\nDISALLOW : /x \r\nallow:",
        ] {
            assert_eq!(read(body.as_bytes()), expected, "{body:?}");
        }
    }

    #[test]
    fn marks_of_byte_order() {
        let expected = vec![(1, Field::Disallow, "/ä".to_owned())];
        assert_eq!(read("disallow: /ä".as_bytes()), expected);
        for mark in [&b"\xef\xbb\xbf"[..], b"\xef\xbb", b"\xef"] {
            assert_eq!(read(&[mark, "disallow: /ä".as_bytes()].concat()), expected, "{mark:?}");
        }
        let mut little = vec![0xff, 0xfe];
        let mut big = vec![0xfe, 0xff];
        for unit in "disallow: /ä".encode_utf16() {
            little.extend(unit.to_le_bytes());
            big.extend(unit.to_be_bytes());
        }
        assert_eq!(read(&little), expected);
        assert_eq!(read(&big), expected);
    }

    #[test]
    fn forgives_what_people_write() {
        let one = |line: &str| read(line.as_bytes()).pop().map(|(_, field, value)| (field, value));
        assert_eq!(one("disallow /"), Some((Field::Disallow, "/".to_owned())));
        assert_eq!(one("disallow / x"), None);
        assert_eq!(one("User agent: a"), Some((Field::UserAgent, "a".to_owned())));
        assert_eq!(one("dissalow: /a # why"), Some((Field::Disallow, "/a".to_owned())));
        assert_eq!(one("# disallow: /"), None);
        assert_eq!(
            one("Sitemap: https://a.example/s.xml"),
            Some((Field::Sitemap, "https://a.example/s.xml".to_owned()))
        );
        assert_eq!(one("<p>disallow: /"), None);
        assert_eq!(one("host: a"), None);
        assert_eq!(one(":"), None);
    }

    #[test]
    fn a_giant_line_is_cut_and_the_next_one_read() {
        let body = format!("disallow: /{}\nallow: /y", "x".repeat(17_000));
        let read: Vec<_> =
            lines(body.as_bytes()).map(|line| (line.number, line.cut, line.value.len())).collect();
        assert_eq!(read, [(1, true, LINE_BYTES_MAX - 10), (2, false, 2)]);
    }
}
