//! What the elements of a sitemap, a sitemap index or a feed say.
//!
//! An entry is a `url`, `sitemap`, `item` or `entry`. Its elements count if they have the prefix of the sitemap's own
//! names, so that `image:loc` of an extension is not taken for a page; the first address of an entry wins.

use encoding_rs::Encoding;

use super::characters::{text, unescape};
use super::xml::{Event, Name, Scanner, StartTag};
use super::{Entry, Kind, Limits, Sitemap};

/// Reads XML in an ASCII-compatible encoding.
pub(crate) fn read(body: &[u8], encoding: Option<&'static Encoding>, limits: &Limits) -> Sitemap {
    let mut scanner = Scanner::new(body);
    while let Some(event) = scanner.next_event() {
        let Event::Start(root) = event else { continue };
        let Some(kind) = kind_of(root.name) else { break };
        // RSS 1.0 has its root in another namespace than its items.
        let prefix = if root.name.is("RDF") { &[] } else { root.name.prefix };
        let out = Sitemap { kind, ..Sitemap::default() };
        let reader = Reader { prefix, encoding, limits, out, entry: None, leaf: None };
        return reader.read(&mut scanner);
    }
    Sitemap::default()
}

fn kind_of(root: Name<'_>) -> Option<Kind> {
    [
        ("urlset", Kind::UrlSet),
        ("sitemapindex", Kind::Index),
        ("rss", Kind::Rss),
        ("RDF", Kind::Rss),
        ("feed", Kind::Atom),
    ]
    .into_iter()
    .find_map(|(name, kind)| root.is(name).then_some(kind))
}

/// The entry under way.
#[derive(Default)]
struct Draft {
    url: Option<String>,
    /// An address that counts if nothing better comes: the permanent link of an item.
    spare: Option<String>,
    lastmod: Option<String>,
}

/// What the text of the element under way is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Url,
    Spare,
    Modified,
}

struct Leaf {
    role: Role,
    text: String,
    /// The text is longer than a URL may be; the rest is not kept.
    over: bool,
}

struct Reader<'a> {
    prefix: &'a [u8],
    encoding: Option<&'static Encoding>,
    limits: &'a Limits,
    out: Sitemap,
    entry: Option<Draft>,
    leaf: Option<Leaf>,
}

impl<'a> Reader<'a> {
    fn read(mut self, scanner: &mut Scanner<'a>) -> Sitemap {
        let mut closed = false;
        while let Some(event) = scanner.next_event() {
            match event {
                Event::Start(tag) => self.start(tag),
                Event::End(name) => {
                    self.end_leaf();
                    if self.is_own(name) && self.is_entry(name) {
                        self.end_entry();
                    } else if kind_of(name) == Some(self.out.kind) {
                        closed = true;
                        break;
                    }
                }
                Event::Text(raw) => self.text(raw, true),
                Event::Literal(raw) => self.text(raw, false),
            }
            if self.full() {
                self.out.truncated = true;
                return self.out;
            }
        }
        // An input that ends early may end inside an address: the entry under way is not to be trusted.
        self.out.truncated |= !closed;
        self.out
    }

    /// More was found than is kept.
    fn full(&mut self) -> bool {
        let kept = self.out.entries.len().max(self.out.children.len());
        if kept <= self.limits.urls_max {
            return false;
        }
        self.out.entries.truncate(self.limits.urls_max);
        self.out.children.truncate(self.limits.urls_max);
        true
    }

    fn is_own(&self, name: Name<'_>) -> bool {
        name.prefix == self.prefix
    }

    fn is_entry(&self, name: Name<'_>) -> bool {
        match self.out.kind {
            // Some indexes call their entries `url`, some sitemaps list sitemaps; the root decides what they are.
            Kind::UrlSet | Kind::Index => name.is("url") || name.is("sitemap"),
            Kind::Rss => name.is("item"),
            Kind::Atom => name.is("entry"),
            Kind::Text | Kind::Unknown => false,
        }
    }

    fn start(&mut self, tag: StartTag<'a>) {
        self.end_leaf();
        if self.is_own(tag.name) && self.is_entry(tag.name) {
            // The one before was not closed.
            self.end_entry();
            self.entry = (!tag.empty).then(Draft::default);
            return;
        }
        if self.entry.is_none() {
            return;
        }
        if self.out.kind == Kind::Atom && self.is_own(tag.name) && tag.name.is("link") {
            self.atom_link(tag);
        } else if let Some(role) = self.role(tag)
            && !tag.empty
        {
            self.leaf = Some(Leaf { role, text: String::new(), over: false });
        }
    }

    fn role(&self, tag: StartTag<'_>) -> Option<Role> {
        let own = self.is_own(tag.name);
        let is = |name| tag.name.is(name);
        match self.out.kind {
            Kind::UrlSet | Kind::Index if own && is("loc") => Some(Role::Url),
            Kind::UrlSet | Kind::Index if own && is("lastmod") => Some(Role::Modified),
            Kind::Rss if own && is("link") => Some(Role::Url),
            Kind::Rss if own && is("guid") && tag.attribute("isPermaLink") != Some(b"false") => {
                Some(Role::Spare)
            }
            // RSS 1.0 dates its items in the Dublin Core's namespace.
            Kind::Rss if (own && is("pubDate")) || is("date") => Some(Role::Modified),
            Kind::Atom if own && (is("updated") || is("published")) => Some(Role::Modified),
            _ => None,
        }
    }

    fn atom_link(&mut self, tag: StartTag<'_>) {
        if tag.attribute("rel").is_some_and(|rel| !rel.eq_ignore_ascii_case(b"alternate")) {
            return;
        }
        let Some(href) = tag.attribute("href") else { return };
        self.leaf = Some(Leaf { role: Role::Url, text: String::new(), over: false });
        self.text(href, true);
        self.end_leaf();
    }

    fn text(&mut self, raw: &[u8], references: bool) {
        let Some(leaf) = &mut self.leaf else { return };
        // Blanks in front do not count as a part of the address.
        let raw = if leaf.text.is_empty() { raw.trim_ascii_start() } else { raw };
        if leaf.over || raw.len() > self.limits.raw_bytes_max() {
            leaf.over = true;
            return;
        }
        let text = text(raw, self.encoding);
        if references {
            unescape(&text, &mut leaf.text);
        } else {
            leaf.text.push_str(&text);
        }
        leaf.over = leaf.text.len() > self.limits.raw_bytes_max();
    }

    fn end_leaf(&mut self) {
        let Some(leaf) = self.leaf.take() else { return };
        let Some(entry) = &mut self.entry else { return };
        let text = leaf.text.trim();
        let place = match leaf.role {
            Role::Url => &mut entry.url,
            Role::Spare => &mut entry.spare,
            Role::Modified => &mut entry.lastmod,
        };
        if place.is_some() || text.is_empty() {
            return;
        }
        let bytes_max =
            if leaf.role == Role::Modified { LASTMOD_BYTES_MAX } else { self.limits.url_bytes_max };
        if !leaf.over && text.len() <= bytes_max {
            *place = Some(text.to_owned());
        } else if leaf.role == Role::Url {
            self.out.dropped = self.out.dropped.saturating_add(1);
        }
    }

    fn end_entry(&mut self) {
        let Some(Draft { url, spare, lastmod }) = self.entry.take() else { return };
        // An identifier is an address only if it looks like one.
        let Some(url) = url.or_else(|| spare.filter(|spare| super::is_absolute(spare))) else { return };
        if self.out.kind == Kind::Index {
            self.out.children.push(url);
        } else {
            self.out.entries.push(Entry { url, lastmod });
        }
    }
}

/// The longest date that is kept: RFC 2822's with a comment.
const LASTMOD_BYTES_MAX: usize = 64;
