//! Records of ARC files, which archives were made of before WARC: a line, a block, a line end.
//!
//! The line is `URL IP-address Archive-date Content-type Archive-length`; version 2 of the format has `Result-code Checksum
//! Location Offset Filename` before the length. URLs with blanks in them and types that are missing, or have parameters, occur;
//! so a line is read around its date, which is the one part that cannot be mistaken. A record is handed out with the fields that a
//! WARC record of the same content would have.

use std::io::Write as _;

/// What a line may be long.
pub(crate) const LINE_BYTES_MAX: usize = 16 << 10;

/// The first line of a record.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    url: &'a [u8],
    address: &'a [u8],
    date: &'a [u8],
    content_type: &'a [u8],
    pub(crate) length: u64,
}

/// Takes a line apart, with or without its end. `None` if it does not begin a record.
pub(crate) fn parse(line: &[u8]) -> Option<Line<'_>> {
    let line = line.trim_ascii_end();
    let mut words: Vec<(usize, &[u8])> = Vec::with_capacity(10);
    let mut at = 0;
    for word in line.split(|byte| *byte == b' ') {
        words.push((at, word));
        at += word.len() + 1;
    }
    let (length_at, length) = *words.last()?;
    if length.is_empty() || length.len() > 15 || !length.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let length = std::str::from_utf8(length).ok()?.parse().ok()?;
    let describes_file = line.starts_with(b"filedesc:");
    let is_date = |word: &[u8]| {
        (12..=17).contains(&word.len()) && word.iter().all(u8::is_ascii_digit)
            || describes_file && word == b"-"
    };
    let begins_date = |index: &usize| is_date(words[*index].1) && is_address(words[*index - 1].1);
    let mut indexes = 2..words.len() - 1;
    // Blanks are in URLs; and where a dash may be a date, it may be anything else, too.
    let date_index = if describes_file { indexes.find(begins_date) } else { indexes.rfind(begins_date) }?;
    let (date_at, date) = words[date_index];
    let (address_at, address) = words[date_index - 1];
    let url = &line[..address_at - 1];
    // A scheme and a colon, as every URL has.
    let colon = url.iter().position(|byte| *byte == b':')?;
    if colon == 0 || !url[..colon].iter().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte)) {
        return None;
    }
    let behind_date = words.len() - 1 - date_index;
    let content_type = if behind_date >= 7 {
        words[date_index + 1].1
    } else {
        line.get(date_at + date.len() + 1..length_at.saturating_sub(1)).unwrap_or_default()
    };
    Some(Line { url, address, date, content_type, length })
}

fn is_address(word: &[u8]) -> bool {
    word == b"-"
        || word.contains(&b'.') && word.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
        || word.contains(&b':') && word.iter().all(|byte| byte.is_ascii_hexdigit() || b":.".contains(byte))
}

impl Line<'_> {
    /// Writes what the head of a WARC record would say.
    pub(crate) fn write_fields(&self, block: &[u8], out: &mut Vec<u8>) {
        out.clear();
        let describes_file = self.url.starts_with(b"filedesc:");
        let is_http = [&b"HTTP/"[..], b"http/", b"ICY "].iter().any(|begin| block.starts_with(begin));
        let kind: &[u8] = match (describes_file, is_http) {
            (true, _) => b"warcinfo",
            (_, true) => b"response",
            _ => b"resource",
        };
        let mut field = |name: &str, value: &[u8]| {
            if !value.is_empty() && value != b"-" {
                out.extend_from_slice(name.as_bytes());
                out.extend_from_slice(b": ");
                out.extend_from_slice(value);
                out.extend_from_slice(b"\r\n");
            }
        };
        field("WARC-Type", kind);
        match self.url.strip_prefix(b"filedesc://") {
            Some(name) => field("WARC-Filename", name),
            None => field("WARC-Target-URI", self.url),
        }
        if self.date != b"-" {
            let mut digits = [b'0'; 14];
            let count = self.date.len().min(14);
            digits[..count].copy_from_slice(&self.date[..count]);
            let [y1, y2, y3, y4, m1, m2, d1, d2, h1, h2, i1, i2, s1, s2] = digits;
            let date =
                [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T', h1, h2, b':', i1, i2, b':', s1, s2, b'Z'];
            field("WARC-Date", &date);
        }
        field("WARC-IP-Address", self.address);
        let content_type = if is_http { b"application/http; msgtype=response" } else { self.content_type };
        field("Content-Type", content_type);
        write!(out, "Content-Length: {}\r\n", self.length).expect("a Vec takes everything");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(line: &str, block: &str) -> String {
        let mut out = Vec::new();
        parse(line.as_bytes()).unwrap().write_fields(block.as_bytes(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn lines_are_read_as_archives_have_them() {
        assert_eq!(
            fields(
                "http://a.org/x y?z 192.0.2.1 20110804181142 text/html; charset=a 39\r\n",
                "HTTP/1.1 200 OK\n"
            ),
            "WARC-Type: response\r\nWARC-Target-URI: http://a.org/x y?z\r\nWARC-Date: 2011-08-04T18:11:42Z\r\n\
             WARC-IP-Address: 192.0.2.1\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: 39\r\n"
        );
        assert_eq!(
            fields("dns:a.org 2001:db8::1 201108041811  7\n", "a.org\n"),
            "WARC-Type: resource\r\nWARC-Target-URI: dns:a.org\r\nWARC-Date: 2011-08-04T18:11:00Z\r\n\
             WARC-IP-Address: 2001:db8::1\r\nContent-Length: 7\r\n"
        );
        assert_eq!(
            fields("filedesc:// - - - 76", "1 0 InternetArchive\n"),
            "WARC-Type: warcinfo\r\nContent-Length: 76\r\n"
        );
        assert_eq!(
            fields("filedesc://a.arc 0.0.0.0 20110804181044 text/plain 200 - - 0 a.arc 122", "2 0 B\n"),
            "WARC-Type: warcinfo\r\nWARC-Filename: a.arc\r\nWARC-Date: 2011-08-04T18:10:44Z\r\nWARC-IP-Address: 0.0.0.0\r\n\
             Content-Type: text/plain\r\nContent-Length: 122\r\n"
        );
    }

    #[test]
    fn other_lines_begin_no_record() {
        for line in [
            "",
            "http://a.org/",
            "http://a.org/ 192.0.2.1 20110804181142 text/html",
            "http://a.org/ 192.0.2.1 20110804181142",
            "http://a.org/ - - - 5",
            "a line of text 192.0.2.1 20110804181142 text/html 5",
            "http://a.org/ somewhere 20110804181142 text/html 5",
            "http://a.org/ 192.0.2.1 2011-08-04 text/html 5",
            "http://a.org/ 192.0.2.1 20110804181142 text/html -5",
            "filedesc://horsy a.b.c.d blue_monday gif one",
        ] {
            assert_eq!(parse(line.as_bytes()), None, "{line}");
        }
    }
}
