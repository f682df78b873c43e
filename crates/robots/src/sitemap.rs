//! Sitemaps and feeds as sources of links: XML sitemaps and their indexes, plain text, RSS and Atom, each also in gzip.
//!
//! The crawl hands in a body and its `Content-Type`; [`parse`] gives back a [`Sitemap`] that owns what it found. What the body is, it says
//! itself: names of files and types lie too often. Addresses are as they stand there, trimmed and unescaped; resolving
//! them, refusing other hosts and following children ([`DEPTH_MAX`] levels down) is the caller's work.
//!
//! Invariants:
//! - Never fails: a body that is none of these has no entries and the kind [`Kind::Unknown`].
//! - Nothing is fetched and nothing defined: of entities only XML's five and numbers are replaced, the others stay text.
//! - Time and memory are linear in the decoded bytes, which [`Limits`] bounds; what is left out is reported.

mod characters;
mod document;
mod xml;

use std::io::Read;

use encoding_rs::Encoding;

/// How deep indexes of indexes are followed: an index may name itself.
pub const DEPTH_MAX: u8 = 3;

/// How much of a sitemap is read. The defaults are the protocol's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes read after gzip is taken off.
    pub decoded_bytes_max: usize,
    /// Entries kept, and children kept.
    pub urls_max: usize,
    /// A longer URL is dropped and counted.
    pub url_bytes_max: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { decoded_bytes_max: 50 * 1024 * 1024, urls_max: 50_000, url_bytes_max: 2_048 }
    }
}

impl Limits {
    /// A piece of text longer than this cannot shrink to a URL, even if all of it is references and blanks behind.
    fn raw_bytes_max(&self) -> usize {
        self.url_bytes_max.saturating_mul(8)
    }
}

/// What a body turned out to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// None of the others: an error page, as a rule.
    #[default]
    Unknown,
    /// `<urlset>`: addresses of pages.
    UrlSet,
    /// `<sitemapindex>`: addresses of sitemaps.
    Index,
    /// A URL per line.
    Text,
    /// RSS 2.0 and its relatives.
    Rss,
    /// An Atom feed.
    Atom,
}

/// One page that a sitemap names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Trimmed and unescaped, not resolved; never empty.
    pub url: String,
    /// When the page changed, as it is written there.
    pub lastmod: Option<String>,
}

/// What a sitemap says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sitemap {
    /// What the body is.
    pub kind: Kind,
    /// Pages, in the order of the file, duplicates included.
    pub entries: Vec<Entry>,
    /// Further sitemaps, where this is an index.
    pub children: Vec<String>,
    /// Something is missing: a limit was reached, or the body ends before its end or is damaged.
    pub truncated: bool,
    /// URLs longer than [`Limits::url_bytes_max`].
    pub dropped: u32,
}

/// Reads one body. `content_type` is the value of the HTTP header, as it came; of it only the charset counts.
pub fn parse(body: &[u8], content_type: Option<&str>, limits: &Limits) -> Sitemap {
    if body.starts_with(&[0x1f, 0x8b]) {
        let (decoded, whole) = gunzip(body, limits.decoded_bytes_max);
        let mut sitemap = parse_decoded(&decoded, content_type, limits);
        sitemap.truncated |= !whole;
        return sitemap;
    }
    let cut = body.len() > limits.decoded_bytes_max;
    let mut sitemap = parse_decoded(&body[..body.len().min(limits.decoded_bytes_max)], content_type, limits);
    sitemap.truncated |= cut;
    sitemap
}

/// At most `bytes_max` bytes of all members, and whether that is everything. Damage ends it; what came before it counts.
fn gunzip(body: &[u8], bytes_max: usize) -> (Vec<u8>, bool) {
    let mut decoded = Vec::new();
    let limit = u64::try_from(bytes_max).unwrap_or(u64::MAX).saturating_add(1);
    let result = flate2::bufread::MultiGzDecoder::new(body).take(limit).read_to_end(&mut decoded);
    let whole = result.is_ok() && decoded.len() <= bytes_max;
    decoded.truncate(bytes_max);
    (decoded, whole)
}

fn parse_decoded(body: &[u8], content_type: Option<&str>, limits: &Limits) -> Sitemap {
    let (encoding, mark_bytes) = characters::encoding(body, content_type);
    let body = &body[mark_bytes..];
    match encoding {
        Some(encoding) if !encoding.is_ascii_compatible() => {
            let (text, _) = encoding.decode_without_bom_handling(body);
            read(text.as_bytes(), Some(encoding_rs::UTF_8), limits)
        }
        encoding => read(body, encoding, limits),
    }
}

fn read(body: &[u8], encoding: Option<&'static Encoding>, limits: &Limits) -> Sitemap {
    if body.trim_ascii_start().starts_with(b"<") {
        document::read(body, encoding, limits)
    } else {
        lines(body, encoding, limits)
    }
}

/// A URL per line. Lines that are none are passed over: comments, headings, a whole page of something else.
fn lines(body: &[u8], encoding: Option<&'static Encoding>, limits: &Limits) -> Sitemap {
    let mut out = Sitemap::default();
    for line in body.split(|&b| b == b'\n' || b == b'\r') {
        let line = line.trim_ascii();
        if !line.get(..4).is_some_and(|start| start.eq_ignore_ascii_case(b"http")) {
            continue;
        }
        if line.len() > limits.url_bytes_max {
            out.dropped = out.dropped.saturating_add(1);
            continue;
        }
        let url = characters::text(line, encoding);
        if !is_absolute(&url) || url.contains(|c: char| c.is_ascii_whitespace()) {
            continue;
        }
        out.kind = Kind::Text;
        if out.entries.len() >= limits.urls_max {
            out.truncated = true;
            break;
        }
        out.entries.push(Entry { url: url.into_owned(), lastmod: None });
    }
    out
}

fn is_absolute(url: &str) -> bool {
    let starts =
        |scheme: &str| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    starts("http://") || starts("https://")
}

#[cfg(test)]
mod tests;
