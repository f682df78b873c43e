//! From a body to an [`Extracted`]: which tag says what.

use encoding_rs::Encoding;

use crate::charset::{Charset, charset, of_meta};
use crate::css;
use crate::entities::{Context, decode};
use crate::links::{Link, LinkKind, attribute_text, clean, kind_of_rel, leads_nowhere, plain_target};
use crate::names::{Attribute, Tag, Values};
use crate::scan::{Scanner, Start};
use crate::text::Heading;
use crate::watch::{Nobody, Watch, Watcher};
use crate::{refresh, srcset};

/// What to look for, and how much of it to keep.
#[derive(Clone, Debug)]
pub struct Options {
    /// Links kept per page; the rest are counted.
    pub links_max: usize,
    /// A target longer than this, as written, is dropped and counted.
    pub target_bytes_max: usize,
    /// Also images, scripts, stylesheets and media.
    pub embeds: bool,
    /// Also the actions of forms that are sent by GET.
    pub forms: bool,
    /// Also what styles name: `url(…)` and `@import` in `<style>` and in `style` attributes.
    pub css: bool,
    /// Also the headings.
    pub headings: bool,
    /// Also the visible text, without navigation and the like.
    pub text: bool,
    /// Also the bytes of the visible text as they stand in the page: enough to tell pages apart, at a fraction of the cost.
    pub raw_text: bool,
    /// As much of the text as is kept.
    pub text_bytes_max: usize,
    /// And of its bytes as they stand in the page.
    pub raw_text_bytes_max: usize,
    /// Robots metas under this name count too; empty for none.
    pub product_token: String,
    /// Asked for the encoding of a body that names none and is not UTF-8; else it is windows-1252.
    /// [`crate::detect_charset`] is one to ask.
    pub detect: Option<fn(&[u8]) -> &'static Encoding>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            links_max: 6_000,
            target_bytes_max: 8 * 1024,
            embeds: false,
            forms: false,
            css: false,
            headings: false,
            text: false,
            raw_text: false,
            text_bytes_max: 1024 * 1024,
            raw_text_bytes_max: 1024 * 1024,
            product_token: String::new(),
            detect: None,
        }
    }
}

/// What a page says.
#[derive(Clone, Debug, PartialEq)]
pub struct Extracted {
    /// The encoding the page was read in.
    pub charset: &'static Encoding,
    /// The first `<title>`, blanks collapsed, cut at a few kilobytes.
    pub title: Option<String>,
    /// The language the page says it is in: `<html lang>`, else the content-language of a `<meta>`; as written, such as `en-GB`.
    pub language: Option<String>,
    /// The first `<base href>`, unresolved.
    pub base: Option<String>,
    /// The links in the order of the page, duplicates included.
    pub links: Vec<Link>,
    /// The first `<link rel=canonical>`, unresolved.
    pub canonical: Option<String>,
    /// The first `<meta http-equiv=refresh>` that names a target, unresolved.
    pub refresh: Option<String>,
    /// The contents of the robots metas, for everyone or for the product token.
    pub robots_meta: Vec<String>,
    /// The headings in the order of the page, if asked for.
    pub headings: Vec<Heading>,
    /// The visible text, a line per block, if asked for.
    pub text: Option<String>,
    /// Its bytes as they stand in the page, entities and all, with blanks where elements part words; if asked for.
    pub raw_text: Option<Vec<u8>>,
    /// Links beyond [`Options::links_max`], and targets beyond [`Options::target_bytes_max`].
    pub links_dropped: u32,
}

/// As much of a title's raw text as is looked at.
const TITLE_BYTES_MAX: usize = 4 * 1024;
/// Robots metas kept, and bytes of each: no honest page has more.
const ROBOTS_METAS_MAX: usize = 32;
const ROBOTS_META_BYTES_MAX: usize = 1024;
/// The longest tag that anybody registered.
const LANGUAGE_BYTES_MAX: usize = 35;

/// Reads one HTML body. `content_type` is the value of the HTTP header, as it came.
pub fn extract(body: &[u8], content_type: Option<&str>, options: &Options) -> Extracted {
    let charset = charset(body, content_type, options.detect);
    let xml = content_type
        .is_some_and(|value| value.as_bytes().windows(4).any(|four| four.eq_ignore_ascii_case(b"+xml")));
    match read(body, charset, xml, options) {
        Ok(extracted) => extracted,
        // The guess was wrong: once more, now that the page has said what it is.
        Err(encoding) => read(body, Charset { encoding, mark_bytes: 0, guessed: false }, xml, options)
            .expect("a charset that is not guessed is not corrected"),
    }
}

/// One pass; fails with the page's own word if that contradicts a guessed charset.
fn read(body: &[u8], charset: Charset, xml: bool, options: &Options) -> Result<Extracted, &'static Encoding> {
    let body = &body[charset.mark_bytes..];
    if charset.encoding.is_ascii_compatible() {
        return Reader::new(charset.encoding, charset.guessed, options).read(body, xml);
    }
    let (text, _) = charset.encoding.decode_without_bom_handling(body);
    let mut extracted = Reader::new(encoding_rs::UTF_8, false, options).read(text.as_bytes(), xml)?;
    extracted.charset = charset.encoding;
    Ok(extracted)
}

struct Reader<'o> {
    options: &'o Options,
    guessed: bool,
    out: Extracted,
}

impl<'o> Reader<'o> {
    fn new(encoding: &'static Encoding, guessed: bool, options: &'o Options) -> Reader<'o> {
        let out = Extracted {
            charset: encoding,
            title: None,
            language: None,
            base: None,
            links: Vec::new(),
            canonical: None,
            refresh: None,
            robots_meta: Vec::new(),
            headings: Vec::new(),
            text: None,
            raw_text: None,
            links_dropped: 0,
        };
        Reader { options, guessed, out }
    }

    fn read(mut self, bytes: &[u8], xml: bool) -> Result<Extracted, &'static Encoding> {
        match Watcher::new(self.options, self.out.charset) {
            None => {
                self.scan(&mut Scanner::new(bytes, xml, Nobody), |_, _| {})?;
            }
            Some(watcher) => {
                let mut scanner = Scanner::new(bytes, xml, watcher);
                self.scan(&mut scanner, |reader, watcher| {
                    for style in watcher.take_styles() {
                        let text = attribute_text(style, reader.out.charset);
                        reader.css(&text);
                    }
                })?;
                let found = scanner.watch.finish();
                (self.out.text, self.out.raw_text) = (found.text, found.raw);
                self.out.headings = found.headings;
            }
        }
        Ok(self.out)
    }

    /// Goes through all tags; `between` is called before each of them and at the end.
    fn scan<'a, W: Watch<'a>>(
        &mut self,
        scanner: &mut Scanner<'a, W>,
        between: impl Fn(&mut Self, &mut W),
    ) -> Result<(), &'static Encoding> {
        let mut values = Values::default();
        while let Some(start) = scanner.next_tag(&mut values) {
            between(self, &mut scanner.watch);
            match start {
                Start { tag: Tag::Title, foreign: false } if self.out.title.is_none() => {
                    self.out.title = Some(self.title(scanner.text()));
                }
                Start { tag: Tag::Style, foreign: false } if self.options.css => {
                    let (text, _) = self.out.charset.decode_without_bom_handling(scanner.text());
                    self.css(&text);
                }
                _ => self.tag(start, &values)?,
            }
        }
        between(self, &mut scanner.watch);
        Ok(())
    }

    fn tag(&mut self, start: Start, values: &Values<'_>) -> Result<(), &'static Encoding> {
        let get = |attribute| values.get(attribute);
        if start.foreign {
            // Of foreign elements only SVG's own anchor is a link.
            if start.tag == Tag::A
                && let Some(href) = get(Attribute::Href).or(get(Attribute::XlinkHref))
            {
                self.link(LinkKind::Anchor, href, false);
            }
            return Ok(());
        }
        let embeds = self.options.embeds;
        match start.tag {
            Tag::A => self.anchor(LinkKind::Anchor, values),
            Tag::Area => self.anchor(LinkKind::Area, values),
            Tag::Link => self.link_element(values),
            Tag::Meta => self.meta(values)?,
            Tag::Base => {
                if self.out.base.is_none()
                    && let Some(href) =
                        get(Attribute::Href).filter(|href| href.len() <= self.options.target_bytes_max)
                {
                    self.out.base = Some(clean(attribute_text(href, self.out.charset)));
                }
            }
            Tag::Html => {
                let language = get(Attribute::Lang).or(get(Attribute::XmlLang));
                self.out.language = self.out.language.take().or(language.and_then(language_of));
            }
            Tag::Frame | Tag::Iframe => self.maybe(LinkKind::Frame, get(Attribute::Src)),
            Tag::Form if self.options.forms && get(Attribute::Method).is_none_or(is_get) => {
                self.maybe(LinkKind::Form, get(Attribute::Action));
            }
            Tag::Script if embeds => self.maybe(LinkKind::Script, get(Attribute::Src)),
            Tag::Img | Tag::Image if embeds => {
                self.maybe(LinkKind::Image, get(Attribute::Src));
                self.srcset(get(Attribute::Srcset));
            }
            Tag::Input
                if embeds && get(Attribute::Type).is_some_and(|kind| kind.eq_ignore_ascii_case(b"image")) =>
            {
                self.maybe(LinkKind::Image, get(Attribute::Src));
            }
            Tag::Source if embeds => {
                self.maybe(LinkKind::Media, get(Attribute::Src));
                self.srcset(get(Attribute::Srcset));
            }
            Tag::Video if embeds => {
                self.maybe(LinkKind::Media, get(Attribute::Src));
                self.maybe(LinkKind::Image, get(Attribute::Poster));
            }
            Tag::Audio | Tag::Track if embeds => self.maybe(LinkKind::Media, get(Attribute::Src)),
            Tag::Embed if embeds => self.maybe(LinkKind::Object, get(Attribute::Src)),
            Tag::Object if embeds => self.maybe(LinkKind::Object, get(Attribute::Data)),
            _ => {}
        }
        Ok(())
    }

    fn anchor(&mut self, kind: LinkKind, values: &Values<'_>) {
        if let Some(href) = values.get(Attribute::Href) {
            let nofollow = values.get(Attribute::Rel).is_some_and(is_nofollow);
            self.link(kind, href, nofollow);
        }
    }

    fn link_element(&mut self, values: &Values<'_>) {
        let rel = values.get(Attribute::Rel).unwrap_or_default();
        let rel = &rel[..rel.len().min(ROBOTS_META_BYTES_MAX)];
        let Some(kind) = kind_of_rel(&attribute_text(rel, self.out.charset)) else { return };
        if kind.is_embed() {
            if !self.options.embeds {
                return;
            }
            self.srcset(values.get(Attribute::Imagesrcset));
        }
        let Some(href) = values.get(Attribute::Href) else { return };
        if kind == LinkKind::Canonical
            && self.out.canonical.is_none()
            && href.len() <= self.options.target_bytes_max
        {
            self.out.canonical =
                Some(clean(attribute_text(href, self.out.charset))).filter(|target| !target.is_empty());
        }
        self.link(kind, href, is_nofollow(rel));
    }

    fn meta(&mut self, values: &Values<'_>) -> Result<(), &'static Encoding> {
        if self.guessed
            && let Some(encoding) = of_meta(values)
            && encoding.is_ascii_compatible()
        {
            self.guessed = false;
            if encoding != self.out.charset {
                return Err(encoding);
            }
        }
        let Some(content) = values.get(Attribute::Content) else { return Ok(()) };
        if let Some(name) = values.get(Attribute::Name) {
            let token = self.options.product_token.as_bytes();
            let name = name.trim_ascii();
            let for_us = name.eq_ignore_ascii_case(b"robots")
                || (!token.is_empty() && name.eq_ignore_ascii_case(token));
            if for_us && self.out.robots_meta.len() < ROBOTS_METAS_MAX {
                let content = &content[..content.len().min(ROBOTS_META_BYTES_MAX)];
                self.out.robots_meta.push(attribute_text(content, self.out.charset).into_owned());
            }
        }
        let is_http = |header: &[u8]| {
            values.get(Attribute::HttpEquiv).is_some_and(|name| name.eq_ignore_ascii_case(header))
        };
        if self.out.language.is_none() && is_http(b"content-language") {
            self.out.language = language_of(content);
        }
        if is_http(b"refresh") {
            if content.len() > self.options.target_bytes_max {
                self.out.links_dropped = self.out.links_dropped.saturating_add(1);
                return Ok(());
            }
            let text = attribute_text(content, self.out.charset);
            if let Some(target) = refresh::target(&text)
                && !leads_nowhere(target.as_bytes())
            {
                let target = clean(target.into());
                self.out.refresh.get_or_insert_with(|| target.clone());
                self.push(LinkKind::Refresh, target, false);
            }
        }
        Ok(())
    }

    fn srcset(&mut self, value: Option<&[u8]>) {
        let Some(value) = value else { return };
        let text = attribute_text(value, self.out.charset);
        for url in srcset::urls(&text) {
            self.resource(LinkKind::Image, url);
        }
    }

    fn css(&mut self, text: &str) {
        for url in css::urls(text) {
            self.resource(LinkKind::Css, &url);
        }
    }

    /// A URL out of a list of them.
    fn resource(&mut self, kind: LinkKind, url: &str) {
        if leads_nowhere(url.as_bytes()) {
            return;
        }
        if url.len() > self.options.target_bytes_max {
            self.out.links_dropped = self.out.links_dropped.saturating_add(1);
        } else {
            self.push(kind, clean(url.into()), false);
        }
    }

    fn maybe(&mut self, kind: LinkKind, value: Option<&[u8]>) {
        if let Some(value) = value {
            self.link(kind, value, false);
        }
    }

    fn link(&mut self, kind: LinkKind, raw: &[u8], nofollow: bool) {
        if leads_nowhere(raw) {
            return;
        }
        // Without a base, a bare fragment is this page again.
        if raw[0] == b'#' && self.out.base.is_none() {
            return;
        }
        if raw.len() > self.options.target_bytes_max || self.out.links.len() >= self.options.links_max {
            self.out.links_dropped = self.out.links_dropped.saturating_add(1);
            return;
        }
        let target = match plain_target(raw) {
            Some(target) => target.to_owned(),
            None => clean(attribute_text(raw, self.out.charset)),
        };
        self.push(kind, target, nofollow);
    }

    fn push(&mut self, kind: LinkKind, target: String, nofollow: bool) {
        if target.is_empty() {
            return;
        }
        if self.out.links.len() >= self.options.links_max {
            self.out.links_dropped = self.out.links_dropped.saturating_add(1);
        } else {
            self.out.links.push(Link { kind, target, nofollow });
        }
    }

    fn title(&self, raw: &[u8]) -> String {
        let raw = &raw[..raw.len().min(TITLE_BYTES_MAX)];
        let (text, _) = self.out.charset.decode_without_bom_handling(raw);
        let text = decode(text, Context::Text);
        let mut title = String::with_capacity(text.len());
        for word in text.split_ascii_whitespace() {
            if !title.is_empty() {
                title.push(' ');
            }
            title.push_str(word);
        }
        title
    }
}

/// A language tag, if it looks like one: of several, the first.
fn language_of(raw: &[u8]) -> Option<String> {
    let tag = raw.split(|&b| b == b',').next()?.trim_ascii();
    let plausible = (2..=LANGUAGE_BYTES_MAX).contains(&tag.len())
        && tag.iter().all(|&b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    plausible.then(|| String::from_utf8_lossy(tag).into_owned())
}

/// Whatever is not one of the other methods counts as GET.
fn is_get(method: &[u8]) -> bool {
    !method.eq_ignore_ascii_case(b"post") && !method.eq_ignore_ascii_case(b"dialog")
}

fn is_nofollow(rel: &[u8]) -> bool {
    rel.split(|b| b.is_ascii_whitespace()).any(|word| word.eq_ignore_ascii_case(b"nofollow"))
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;
