//! [`Document`]: what an analyzer is given, and what is found out about it once for all analyzers.
//!
//! Filled by whoever reads the archive; borrowed from the reader's buffers. The [`Cache`] is filled by the first analyzer that
//! needs something, and goes away with the document.

use std::borrow::Cow;
use std::sync::OnceLock;

use mattock_extract::{Extracted, Options, detect_charset, extract};
use mattock_weburl::{Base, WebUrl};

use crate::text::main_text;

/// One stored document.
#[derive(Debug)]
pub struct Document<'a> {
    /// The URL it was fetched from.
    pub url: &'a str,
    /// When it was fetched: microseconds since 1970.
    pub time_us: i64,
    /// The HTTP status.
    pub status: u16,
    /// The HTTP status line and header fields, as stored.
    pub head: &'a [u8],
    /// The body; transfer and content encoding are undone.
    pub body: &'a [u8],
    /// The body is the beginning of what the server has.
    pub truncated: bool,
    /// Starts out empty: `Cache::default()`.
    pub cache: Cache,
}

/// What several analyzers need, each computed at most once per document.
#[derive(Debug, Default)]
pub struct Cache {
    page: OnceLock<Option<Extracted>>,
    text: OnceLock<Option<String>>,
}

/// What the bytes of a body are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Html,
    /// Text that is to be read as it stands.
    Plain,
    Other,
}

/// As much of a body is looked at to find out whether it is markup.
const SNIFFED_BYTES: usize = 512;

impl<'a> Document<'a> {
    /// A document about which nothing was asked yet.
    pub fn new(
        url: &'a str,
        time_us: i64,
        status: u16,
        head: &'a [u8],
        body: &'a [u8],
        truncated: bool,
    ) -> Document<'a> {
        Document { url, time_us, status, head, body, truncated, cache: Cache::default() }
    }

    /// The values of a header field, in the order of the head, without the blanks around them. The case of `name` counts for nothing.
    pub fn headers(&self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        let head = self.head;
        head.split(|&byte| byte == b'\n').skip(1).filter_map(move |line| {
            let colon = line.iter().position(|&byte| byte == b':')?;
            let found = line[..colon].trim_ascii().eq_ignore_ascii_case(name.as_bytes());
            found.then(|| line[colon + 1..].trim_ascii())
        })
    }

    /// The value of a header field; several are joined by commas, as HTTP has it. Bytes that are not UTF-8 are read as Latin-1.
    pub fn header(&self, name: &str) -> Option<Cow<'a, str>> {
        let mut values = self.headers(name).map(|value| match std::str::from_utf8(value) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => Cow::Owned(value.iter().map(|&byte| char::from(byte)).collect()),
        });
        let first = values.next()?;
        Some(values.fold(first, |all, value| Cow::Owned(format!("{all}, {value}"))))
    }

    /// The `Content-Type`, as the server wrote it; of several the last one counts.
    pub fn content_type(&self) -> Option<Cow<'a, str>> {
        self.headers("content-type").last().map(String::from_utf8_lossy)
    }

    /// What the body is, by the `Content-Type`, or else by its first bytes.
    pub(crate) fn form(&self) -> Form {
        let named = self.content_type().unwrap_or_default();
        let kind = named.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match kind.as_str() {
            "text/html" | "application/xhtml+xml" | "application/vnd.wap.xhtml+xml" => Form::Html,
            // What servers call what they do not know.
            "" | "application/octet-stream" | "unknown/unknown" | "*/*" => {
                if looks_like_html(self.body) {
                    Form::Html
                } else {
                    Form::Other
                }
            }
            kind if kind.starts_with("text/") => Form::Plain,
            _ => Form::Other,
        }
    }

    /// The page as extraction reads it; `None` if it is no HTML.
    pub(crate) fn page(&self) -> Option<&Extracted> {
        let read = || {
            (self.form() == Form::Html).then(|| {
                let options = Options {
                    embeds: true,
                    headings: true,
                    css: true,
                    detect: Some(detect_charset),
                    ..Options::default()
                };
                extract(self.body, self.content_type().as_deref(), &options)
            })
        };
        self.cache.page.get_or_init(read).as_ref()
    }

    /// The body as text, markup and all. What is neither HTML nor text is read as UTF-8: much of it, as playlists and feeds are, is text
    /// under another name, and of the rest the letters in it can be looked for.
    pub(crate) fn content(&self) -> Option<Cow<'a, str>> {
        let encoding = match self.form() {
            Form::Html => self.page()?.charset,
            Form::Plain => self.plain_charset(),
            Form::Other => encoding_rs::UTF_8,
        };
        Some(encoding.decode_with_bom_removal(self.body).0)
    }

    /// The main text of a page, a line per block; of plain text all of it. `None` if it is neither.
    pub(crate) fn main_text(&self) -> Option<&str> {
        let read = || match self.form() {
            Form::Html => self.content().map(|content| main_text(&content)),
            Form::Plain => self.content().map(Cow::into_owned),
            Form::Other => None,
        };
        self.cache.text.get_or_init(read).as_deref()
    }

    /// The encoding of text without markup.
    pub(crate) fn plain_charset(&self) -> &'static encoding_rs::Encoding {
        let options = Options { links_max: 0, detect: Some(detect_charset), ..Options::default() };
        // What the first bytes do not say, the guess does; there is no markup to say more.
        extract(self.body, self.content_type().as_deref(), &options).charset
    }

    /// What the page's references are relative to.
    pub(crate) fn base(&self) -> Option<Base> {
        let own = WebUrl::parse(self.url).ok()?;
        Some(match self.page()?.base.as_deref() {
            Some(href) => Base::with_href(&own, href),
            None => Base::new(&own),
        })
    }
}

/// Whether markup begins within the first bytes.
fn looks_like_html(body: &[u8]) -> bool {
    const SIGNS: [&[u8]; 9] =
        [b"<!doctype html", b"<html", b"<head", b"<body", b"<title", b"<meta", b"<div", b"<table", b"<p>"];
    let head = body[..body.len().min(SNIFFED_BYTES)].to_ascii_lowercase();
    SIGNS.iter().any(|sign| head.windows(sign.len()).any(|window| window == *sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document<'a>(head: &'a [u8], body: &'a [u8]) -> Document<'a> {
        Document::new("http://example.com/a/b", 0, 200, head, body, false)
    }

    #[test]
    fn headers() {
        let document = document(
            b"HTTP/1.1 200 OK\r\nServer: x\r\nset-cookie: a\r\nSet-Cookie:b \r\nContent-Type: text/html\nX: \xe4\r\nY\r\n\r\n",
            b"",
        );
        assert_eq!(document.header("server").as_deref(), Some("x"));
        assert_eq!(document.header("SET-COOKIE").as_deref(), Some("a, b"));
        assert_eq!(document.header("x").as_deref(), Some("ä"));
        assert_eq!(document.header("y"), None);
        assert_eq!(document.header("http/1.1 200 ok"), None);
        assert_eq!(document.content_type().as_deref(), Some("text/html"));
    }

    #[test]
    fn what_is_no_text_has_content_all_the_same() {
        let head = b"HTTP/1.1 200 OK\r\nContent-Type: audio/x-pn-realaudio\r\n\r\n";
        let playlist = document(head, b"pnm://a.com/show.rm\n");
        assert_eq!(playlist.content().as_deref(), Some("pnm://a.com/show.rm\n"));
        assert_eq!(playlist.main_text(), None);
        assert_eq!(document(head, b"\xff\0RM").content().as_deref(), Some("\u{fffd}\0RM"));
    }

    #[test]
    fn forms() {
        for (head, body, form) in [
            ("HTTP/1.1 200 OK\r\nContent-Type: TEXT/html; charset=x", "", Form::Html),
            ("HTTP/1.1 200 OK\r\nContent-Type: text/csv", "<html>", Form::Plain),
            ("HTTP/1.1 200 OK\r\nContent-Type: image/png", "<html>", Form::Other),
            ("HTTP/1.1 200 OK", " <!DOCTYPE html>", Form::Html),
            ("", "x", Form::Other),
        ] {
            assert_eq!(document(head.as_bytes(), body.as_bytes()).form(), form, "{head}");
        }
    }
}
