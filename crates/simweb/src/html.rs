//! Bodies: HTML pages, plain text, something like PDF, and the short pages of errors.
//!
//! `world` fills a buffer from here for each answer. A page of 20 KB takes about 10 µs, most of it for its links; all
//! that a page shows comes from its content host, never from the name it was asked under, so mirrors are the same bytes.

use crate::hosts::Host;
use crate::links::{Link, Role};
use crate::mix::{Stream, Tag, mix, unit};
use crate::names::{LANGUAGES, write_number};
use crate::pages::PageKind;
use crate::place::{Place, Resource, Site};
use crate::text::{write_phrase, write_text};
use crate::vocabulary::{Table, table};
use crate::world::World;

/// What a link costs in bytes, mark-up and anchor included: to leave the rest of the page's size to its text.
const LINK_BYTES: usize = 84;
/// Bytes of text between two links, at the least.
const TEXT_BYTES_MIN: usize = 24;

/// What looks like links to a careless reader.
const NO_LINKS: &[u8] = b"<!-- <a href=\"/drafts/unfinished.html\">draft</a> -->\n\
    <script>var more = \"<a href='/scripts/more.html'>more</a>\";</script>\n";

/// How a host writes an anchor: before the URL, and between it and the text.
const ANCHORS: [(&[u8], &[u8]); 4] =
    [(b"<a href=\"", b"\""), (b"<a class=link href='", b"'"), (b"<A HREF=\"", b"\""), (b"<a href=", b"")];

impl World {
    /// The key of a resource's text, and so of its versions.
    pub(crate) fn text_key(&self, host: &Host, resource: Resource, kind: PageKind) -> u64 {
        let source = match (resource, kind) {
            (Resource::Calendar(month), _) => return mix(host.key, Tag::Text, month, 2),
            (Resource::Script, _) => return mix(host.key, Tag::Text, 0, 3),
            (Resource::Unlinked(number), _) => return mix(host.key, Tag::Text, number, 4),
            (_, PageKind::Html { source, .. }) => source,
            (Resource::Page(page), _) => page,
            _ => 0,
        };
        mix(host.key, Tag::Text, source, 1)
    }

    fn page_topic(&self, host: &Host, key: u64) -> u8 {
        let hash = mix(key, Tag::PageTopic, 0, 0);
        if unit(hash) < self.params.topic_locality { host.topic } else { (hash % 16) as u8 }
    }

    /// Appends an HTML page.
    pub(crate) fn write_html(
        &self,
        host: &Host,
        resource: Resource,
        kind: PageKind,
        version: u64,
        links: &[Link],
        out: &mut Vec<u8>,
    ) {
        let key = self.text_key(host, resource, kind);
        let words = table(host.language, self.page_topic(host, key));
        let page_key = page_key(host, resource, key);
        let mut stream = Stream::new(page_key);
        self.write_head(host, resource, kind, words, &mut stream, out);

        let (open, close) = ANCHORS[usize::from(host.markup)];
        // The navigation block is the same on all pages, anchors included.
        let mut navigation = Anchors {
            world: self,
            host,
            open,
            close,
            words: table(host.language, host.topic),
            stream: Stream::new(mix(host.key, Tag::Navigation, 1, 0)),
            salt: page_key,
        };
        let mut anchors = Anchors { words, stream, ..navigation };
        let mut content = navigation.write_list(Role::Navigation, links, out);
        for role in [Role::Breadcrumb, Role::Directory] {
            content = anchors.write_list(role, content, out);
        }

        let target =
            self.size_spread.scale(mix(key, Tag::PageSize, 0, 0), self.params.page_bytes as f64) as usize;
        // From the number of links, not from what they took: a near-duplicate's links differ in length.
        let rest = target.saturating_sub(links.len() * LINK_BYTES + 400);
        let chunk = (rest / (content.len() + 1)).max(TEXT_BYTES_MIN);
        out.extend_from_slice(b"<div id=\"text\">\n<p>");
        for (i, link) in content.iter().enumerate() {
            write_text(words, chunk_stream(key, i, version), chunk, out);
            anchors.write(link, out);
            out.push(b' ');
        }
        write_text(words, chunk_stream(key, content.len(), version), chunk, out);
        out.extend_from_slice(b"</p>\n</div>\n<p class=\"footer\"><img src=\"/images/logo.png\" alt=\"\"> ");
        if version > 0 {
            out.extend_from_slice(b"Edition ");
            write_number(version, out);
        }
        out.extend_from_slice(b"</p>\n");
        if host.markup == 1 {
            out.extend_from_slice(NO_LINKS);
        }
        out.extend_from_slice(b"</body>\n</html>\n");
    }

    fn write_head(
        &self,
        host: &Host,
        resource: Resource,
        kind: PageKind,
        words: &Table,
        stream: &mut Stream,
        out: &mut Vec<u8>,
    ) {
        out.extend_from_slice(b"<!DOCTYPE html>\n<html lang=\"");
        out.extend_from_slice(LANGUAGES[usize::from(host.language)].as_bytes());
        out.extend_from_slice(b"\">\n<head>\n<meta charset=\"utf-8\">\n<title>");
        let start = out.len();
        write_phrase(words, stream, 4, out);
        let title = start..out.len();
        out.extend_from_slice(b"</title>\n");
        if let PageKind::Html { nofollow, noindex, .. } = kind
            && (nofollow || noindex)
        {
            out.extend_from_slice(match (nofollow, noindex) {
                (true, true) => b"<meta name=\"robots\" content=\"noindex, nofollow\">\n".as_slice(),
                (true, false) => b"<meta name=\"robots\" content=\"nofollow\">\n",
                _ => b"<meta name=\"robots\" content=\"noindex\">\n",
            });
        }
        if let Some(page) = canonical(resource, stream) {
            out.extend_from_slice(b"<link rel=\"canonical\" href=\"http://");
            self.write_site(Site::Host { domain: host.domain, index: host.index }, out);
            self.write_path(host, Resource::Page(page), true, out);
            out.extend_from_slice(b"\">\n");
        }
        out.extend_from_slice(b"</head>\n<body>\n<h1>");
        out.extend_from_within(title);
        out.extend_from_slice(b"</h1>\n");
    }

    /// The place that the head of an HTML page names as the canonical one, if it does.
    pub(crate) fn canonical_of(&self, host: &Host, resource: Resource, kind: PageKind) -> Option<Place> {
        let key = self.text_key(host, resource, kind);
        let mut stream = Stream::new(page_key(host, resource, key));
        // The title is drawn first.
        write_phrase(table(host.language, self.page_topic(host, key)), &mut stream, 4, &mut Vec::new());
        let site = Site::Host { domain: host.domain, index: host.index };
        canonical(resource, &mut stream).map(|page| Place { site, resource: Resource::Page(page) })
    }

    /// Appends a page of a farm.
    pub(crate) fn write_farm_html(&self, key: u64, language: u8, links: &[Link], out: &mut Vec<u8>) {
        let host = self.host(0, 0);
        let words = table(language, (key % 16) as u8);
        let mut stream = Stream::new(key);
        out.extend_from_slice(b"<!DOCTYPE html>\n<html lang=\"");
        out.extend_from_slice(LANGUAGES[usize::from(language)].as_bytes());
        out.extend_from_slice(b"\">\n<head>\n<meta charset=\"utf-8\">\n<title>");
        write_phrase(words, &mut stream, 6, out);
        out.extend_from_slice(b"</title>\n</head>\n<body>\n<p>");
        let (open, close) = ANCHORS[0];
        let mut anchors = Anchors { world: self, host: &host, open, close, words, stream, salt: key };
        let rest = (self.params.page_bytes as usize / 2).saturating_sub(links.len() * LINK_BYTES);
        let chunk = (rest / (links.len() + 1)).max(TEXT_BYTES_MIN);
        for (i, link) in links.iter().enumerate() {
            write_text(words, chunk_stream(key, i, 0), chunk, out);
            anchors.write(link, out);
            out.push(b' ');
        }
        out.extend_from_slice(b"</p>\n</body>\n</html>\n");
    }

    /// Appends a document that is not HTML.
    pub(crate) fn write_document(&self, host: &Host, key: u64, kind: PageKind, out: &mut Vec<u8>) {
        let words = table(host.language, host.topic);
        let size =
            self.size_spread.scale(mix(key, Tag::PageSize, 0, 0), self.params.page_bytes as f64) as usize;
        if kind == PageKind::Plain {
            let mut stream = Stream::new(key);
            let end = out.len() + size;
            while out.len() < end {
                write_phrase(words, &mut stream, 12, out);
                out.extend_from_slice(b".\n");
            }
            return;
        }
        out.extend_from_slice(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<< /Length ");
        write_number(size as u64, out);
        out.extend_from_slice(b" >>\nstream\n");
        let mut stream = Stream::new(key);
        for _ in 0..size / 8 {
            out.extend_from_slice(&stream.next().to_le_bytes());
        }
        out.extend_from_slice(b"\nendstream\nendobj\n%%EOF\n");
    }
}

/// What a page's title, head and anchors are drawn from; `key` is that of its text.
fn page_key(host: &Host, resource: Resource, key: u64) -> u64 {
    match resource {
        Resource::Page(page) => mix(host.key, Tag::Title, page, 0),
        Resource::Copy { page, session } => mix(host.key, Tag::Title, page, session),
        Resource::Print(page) => mix(host.key, Tag::Title, page, 1),
        _ => key,
    }
}

/// The page that a head names as the canonical one, if it does.
fn canonical(resource: Resource, stream: &mut Stream) -> Option<u64> {
    let (Resource::Page(page) | Resource::Print(page) | Resource::Copy { page, .. }) = resource else {
        return None;
    };
    (stream.below(4) == 0 || resource != Resource::Page(page)).then_some(page)
}

/// The numbers that a stretch of text is drawn from. One in four changes with the version.
fn chunk_stream(key: u64, chunk: usize, version: u64) -> Stream {
    let changes = mix(key, Tag::Change, chunk as u64, 3).is_multiple_of(4);
    Stream::new(mix(key, Tag::Text, chunk as u64, if changes { version } else { 0 }))
}

/// Writes links as a host does.
struct Anchors<'a> {
    world: &'a World,
    host: &'a Host,
    open: &'static [u8],
    close: &'static [u8],
    words: &'a Table,
    stream: Stream,
    /// What session identifiers are made from: different on each page.
    salt: u64,
}

impl Anchors<'_> {
    /// Writes the leading links with this role as a list, and returns the others.
    fn write_list<'l>(&mut self, role: Role, links: &'l [Link], out: &mut Vec<u8>) -> &'l [Link] {
        let (list, others) = links.split_at(links.partition_point(|link| link.role <= role));
        if !list.is_empty() {
            out.extend_from_slice(match role {
                Role::Navigation => b"<ul class=\"navigation\">\n",
                Role::Breadcrumb => b"<ul class=\"path\">\n",
                Role::Directory | Role::Content => b"<ul class=\"directory\">\n",
            });
            for link in list {
                out.extend_from_slice(b"<li>");
                self.write(link, out);
                out.push(b'\n');
            }
            out.extend_from_slice(b"</ul>\n");
        }
        others
    }

    fn write(&mut self, link: &Link, out: &mut Vec<u8>) {
        out.extend_from_slice(self.open);
        self.world.write_reference(self.host, link, self.salt, out);
        out.extend_from_slice(self.close);
        if link.nofollow {
            out.extend_from_slice(b" rel=\"nofollow\"");
        }
        out.push(b'>');
        write_phrase(self.words, &mut self.stream, 2, out);
        out.extend_from_slice(b"</a>");
    }
}

/// Appends the page that goes with an error or a redirect.
pub(crate) fn write_status_page(status: u16, out: &mut Vec<u8>) {
    let text = match status {
        301 | 302 => "Moved",
        403 => "Forbidden",
        404 => "Not found",
        410 => "Gone",
        500 => "Internal error",
        503 => "Unavailable",
        _ => "Error",
    };
    out.extend_from_slice(b"<!DOCTYPE html>\n<title>");
    out.extend_from_slice(text.as_bytes());
    out.extend_from_slice(b"</title>\n<h1>");
    out.extend_from_slice(text.as_bytes());
    out.extend_from_slice(b"</h1>\n");
}
