//! A stored response as it can be shown: its heads as text, its body harmless.
//!
//! What servers said and what the archive says of it never share a place: a header cannot pass for ours. The body is shown as HTML only
//! to a frame without scripts, origin and network ([`Answer::archived`](crate::answer::Answer::archived)), and never under the type that
//! its server gave it.

use std::path::Path;

use mattock_env::{Files, UnixTime};
use mattock_fetch::DecodeLimits;
use mattock_fetch::decode::{Coding, decode_file};
use mattock_repository::{RecordFetcher, RepositoryError};
use serde::Serialize;

/// As much of a body as is shown.
const SHOWN_BYTES_MAX: usize = 2 << 20;
/// As much of one that is no text.
const DUMPED_BYTES_MAX: usize = 64 << 10;
const HEADERS_MAX: usize = 256;
const VALUE_BYTES_MAX: usize = 8 << 10;

/// How a body is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Shown {
    /// Rendered in a sandbox.
    Html,
    /// As it stands.
    Text,
    /// Byte by byte.
    Hex,
}

/// A name and a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) value: String,
}

/// A record of the archive.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct StoredPage {
    /// What the archive says of it.
    pub(crate) archive: Vec<Field>,
    /// What its server said first.
    pub(crate) status_line: String,
    /// What its server said then.
    pub(crate) headers: Vec<Field>,
    /// Bytes of the body as stored.
    pub(crate) body_bytes: u64,
    /// How the body is shown.
    pub(crate) shown: Shown,
    /// When the visit was that this one repeats, if it says so.
    #[serde(skip)]
    pub(crate) repeats_time: Option<UnixTime>,
    #[serde(skip)]
    body: Vec<u8>,
}

impl StoredPage {
    /// Reads what is stored of this URL, and of this time if it is known, at this place.
    pub(crate) fn read(
        files: &Files,
        path: &Path,
        offset: u64,
        url: &str,
        time: Option<UnixTime>,
    ) -> Result<StoredPage, RepositoryError> {
        let mut fetcher = RecordFetcher::new(files);
        let record = fetcher.document(path, offset, 0, url, time)?;
        let archive = record.fields.iter().map(|(name, value)| field(name.as_bytes(), value.as_bytes()));
        let repeats_time = record.refers_to().map(|(_, time)| time);
        Ok(StoredPage { repeats_time, ..StoredPage::of(archive.collect(), record.block) })
    }

    fn of(archive: Vec<Field>, block: &[u8]) -> StoredPage {
        let (head, body) = split(block);
        let mut lines = head.split(|&byte| byte == b'\n').map(|line| line.trim_ascii_end());
        let status_line = lossy(lines.next().unwrap_or_default());
        let headers: Vec<Field> = lines
            .filter(|line| !line.is_empty())
            .take(HEADERS_MAX)
            .map(|line| {
                let colon = line.iter().position(|&byte| byte == b':').unwrap_or(line.len());
                field(line[..colon].trim_ascii(), line.get(colon + 1..).unwrap_or_default().trim_ascii())
            })
            .collect();
        let body_bytes = body.len() as u64;
        let body = decoded(body, value(&headers, "content-encoding"));
        let shown = shown(value(&headers, "content-type").unwrap_or_default(), &body);
        StoredPage { archive, status_line, headers, body_bytes, shown, repeats_time: None, body }
    }

    /// The URL of the page whose body this one repeats, if it is stored without one.
    pub(crate) fn repeats(&self) -> Option<&str> {
        self.says("WARC-Type").filter(|kind| *kind == "revisit")?;
        Some(self.says("WARC-Refers-To-Target-URI")?.trim_matches(['<', '>']))
    }

    /// Whether another page has the payload that this one stands for.
    pub(crate) fn is_repeated_by(&self, other: &StoredPage) -> bool {
        const DIGEST: &str = "WARC-Payload-Digest";
        other.repeats().is_none() && self.says(DIGEST).is_some() && self.says(DIGEST) == other.says(DIGEST)
    }

    /// What the archive says of it by this name.
    fn says(&self, name: &str) -> Option<&str> {
        self.archive.iter().find(|field| field.name.eq_ignore_ascii_case(name)).map(|field| &*field.value)
    }

    /// The same with the body of the page that it repeats.
    pub(crate) fn with_body_of(self, original: StoredPage) -> StoredPage {
        let StoredPage { body_bytes, shown, body, .. } = original;
        StoredPage { body_bytes, shown, body, ..self }
    }

    /// The content's type and bytes, fit to be sent under the policy for archived bytes.
    pub(crate) fn harmless(&self) -> (&'static str, Vec<u8>) {
        let kind = value(&self.headers, "content-type");
        let text = || {
            let options = mattock_extract::Options { links_max: 0, ..Default::default() };
            let charset = mattock_extract::extract(&self.body, kind, &options).charset;
            charset.decode(&self.body).0.into_owned()
        };
        match self.shown {
            Shown::Html => ("text/html; charset=utf-8", disarmed(&text()).into_bytes()),
            Shown::Text => ("text/plain; charset=utf-8", text().into_bytes()),
            Shown::Hex => ("text/plain; charset=utf-8", dump(&self.body).into_bytes()),
        }
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(VALUE_BYTES_MAX)]).into_owned()
}

fn field(name: &[u8], value: &[u8]) -> Field {
    Field { name: lossy(name), value: lossy(value) }
}

fn value<'a>(headers: &'a [Field], name: &str) -> Option<&'a str> {
    headers.iter().find(|field| field.name.eq_ignore_ascii_case(name)).map(|field| field.value.as_str())
}

/// Head and body of a response.
fn split(block: &[u8]) -> (&[u8], &[u8]) {
    let mut start = 0;
    while let Some(end) = block[start..].iter().position(|&byte| byte == b'\n') {
        let next = start + end + 1;
        if start > 0 && block[start..next].trim_ascii().is_empty() {
            return (&block[..start], &block[next..]);
        }
        start = next;
    }
    (block, &[])
}

/// Undoes one coding, within limits; what cannot be undone is shown as it is.
fn decoded(body: &[u8], coding: Option<&str>) -> Vec<u8> {
    let coding = match coding.map(|coding| coding.trim().to_ascii_lowercase()).as_deref() {
        Some("gzip" | "x-gzip") => Some(Coding::Gzip),
        Some("deflate") => Some(Coding::Deflate),
        Some("br") => Some(Coding::Brotli),
        Some("zstd" | "x-zstd") => Some(Coding::Zstd),
        _ => None,
    };
    let limits = DecodeLimits { bytes_max: SHOWN_BYTES_MAX, ..DecodeLimits::default() };
    match coding.map(|coding| decode_file(coding, body, true, &limits).bytes) {
        Some(bytes) if !bytes.is_empty() => bytes.into_owned(),
        _ => body[..body.len().min(SHOWN_BYTES_MAX)].to_vec(),
    }
}

fn shown(content_type: &str, body: &[u8]) -> Shown {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let words = ["json", "xml", "javascript", "ecmascript", "yaml"];
    match essence.as_str() {
        "text/html" | "application/xhtml+xml" => Shown::Html,
        text if text.starts_with("text/") || words.iter().any(|word| text.contains(word)) => Shown::Text,
        _ if !body.is_empty() && std::str::from_utf8(body).is_ok_and(|text| !text.contains('\0')) => {
            Shown::Text
        }
        _ => Shown::Hex,
    }
}

/// What is appended, so that links still look like links.
const LOOKS: &str = "<style>x-a{color:#0645ad;text-decoration:underline}</style>";

/// Takes the names from elements for which a browser connects before it asks any policy (`<link rel=preconnect>`, frames, a click on
/// a link), or that change what the rest means. What is left of them is an element that nobody knows. A tag begins with these very
/// bytes for every parser, so that there is nothing to disagree about.
fn disarmed(html: &str) -> String {
    const NAMES: [&str; 12] = [
        "a",
        "applet",
        "area",
        "base",
        "embed",
        "fencedframe",
        "frame",
        "iframe",
        "link",
        "meta",
        "object",
        "portal",
    ];
    let mut out = String::with_capacity(html.len() + html.len() / 16 + LOOKS.len());
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..=at]);
        rest = &rest[at + 1..];
        // The end of a link must stay the end of it.
        if let Some(end) = rest.strip_prefix('/') {
            out.push('/');
            rest = end;
        }
        let length = rest
            .bytes()
            .take_while(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c | b'/' | b'>'))
            .count();
        if NAMES.iter().any(|name| rest.as_bytes()[..length].eq_ignore_ascii_case(name.as_bytes())) {
            out.push_str("x-");
        }
    }
    out.push_str(rest);
    out.push_str(LOOKS);
    out
}

/// Sixteen bytes in a line: where, in digits, as text.
fn dump(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut out = String::new();
    for (index, line) in bytes[..bytes.len().min(DUMPED_BYTES_MAX)].chunks(16).enumerate() {
        let _ = write!(out, "{:08x} ", index * 16);
        for position in 0..16 {
            let gap = if position == 8 { "  " } else { " " };
            let _ = match line.get(position) {
                Some(byte) => write!(out, "{gap}{byte:02x}"),
                None => write!(out, "{gap}  "),
            };
        }
        out.push_str("  ");
        out.extend(
            line.iter().map(|&byte| if (0x20..0x7f).contains(&byte) { char::from(byte) } else { '·' }),
        );
        out.push('\n');
    }
    if bytes.len() > DUMPED_BYTES_MAX {
        let _ = writeln!(out, "… {} more bytes", bytes.len() - DUMPED_BYTES_MAX);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(head: &str, body: &[u8]) -> StoredPage {
        StoredPage::of(Vec::new(), &[head.as_bytes(), b"\r\n", body].concat())
    }

    fn text(page: &StoredPage) -> (&'static str, String) {
        let (kind, bytes) = page.harmless();
        (kind, String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn only_html_is_shown_as_html() {
        let body = b"<svg onload=alert(1)>";
        for (kind, shown) in [
            ("text/html", Shown::Html),
            ("TEXT/HTML; charset=x", Shown::Html),
            ("application/xhtml+xml", Shown::Html),
            ("image/svg+xml", Shown::Text),
            ("text/javascript", Shown::Text),
            ("application/pdf", Shown::Text),
            ("", Shown::Text),
        ] {
            let page = page(&format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n"), body);
            assert_eq!(page.shown, shown, "{kind}");
            let expected =
                if shown == Shown::Html { "text/html; charset=utf-8" } else { "text/plain; charset=utf-8" };
            assert_eq!(page.harmless().0, expected);
        }
        assert_eq!(page("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n", b"\x89PNG\0").shown, Shown::Hex);
    }

    #[test]
    fn heads_are_kept_apart_and_lossy() {
        let page = page("HTTP/1.1 200 OK\r\nX-A: 1\r\nx-\u{7f}: <b>\r\nnonsense\r\n", b"x\n\ny");
        assert_eq!(page.status_line, "HTTP/1.1 200 OK");
        let names: Vec<&str> = page.headers.iter().map(|field| field.name.as_str()).collect();
        assert_eq!(names, ["X-A", "x-\u{7f}", "nonsense"]);
        assert_eq!(page.body, b"x\n\ny");
        assert!(page.archive.is_empty());
    }

    #[test]
    fn a_revisit_shows_what_it_repeats() {
        let says = |name: &str, value: &str| field(name.as_bytes(), value.as_bytes());
        let original = page("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n", b"<p>body");
        assert_eq!(original.repeats(), None);
        let of = says("WARC-Refers-To-Target-URI", "http://a.com/");
        let head = b"HTTP/1.1 200 OK\r\nX-A: 2\r\nContent-Type: text/html\r\n\r\n";
        let revisit = StoredPage::of(vec![says("WARC-Type", "revisit"), of], head);
        assert_eq!(revisit.repeats(), Some("http://a.com/"));
        let whole = revisit.with_body_of(original);
        assert_eq!((whole.body_bytes, whole.shown, whole.headers[0].value.as_str()), (7, Shown::Html, "2"));
        assert!(text(&whole).1.contains("<p>body"));
    }

    #[test]
    fn elements_that_connect_are_renamed() {
        let shown = |html: &str| disarmed(html).strip_suffix(LOOKS).unwrap().to_owned();
        assert_eq!(
            shown(
                "<LINK rel=preconnect><p><a href=x>a</a><b<<Base><abbr><x-link></link><A/href=x><iframe\nsrc=x><é<frame"
            ),
            "<x-LINK rel=preconnect><p><x-a href=x>a</x-a><b<<x-Base><abbr><x-link></x-link><x-A/href=x><x-iframe\nsrc=x><é<x-frame"
        );
        assert_eq!(shown("<img src=data:><table>"), "<img src=data:><table>");
    }

    #[test]
    fn charsets_become_utf_8() {
        let page = page("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=iso-8859-1\r\n", b"caf\xe9");
        assert_eq!(text(&page), ("text/html; charset=utf-8", format!("café{LOOKS}")));
    }

    #[test]
    fn bytes_are_dumped() {
        let page = page("HTTP/1.1 200 OK\r\nContent-Type: image/gif\r\n", b"GIF\0\xff");
        assert!(text(&page).1.starts_with("00000000  47 49 46 00 ff"), "{}", text(&page).1);
        assert!(text(&page).1.ends_with("GIF··\n"));
    }
}
