//! What a link is, and how a raw attribute value becomes its target.

use std::borrow::Cow;

use encoding_rs::Encoding;

use crate::entities::{Context, decode};
use crate::work;

/// One link as the page has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// What the link is for.
    pub kind: LinkKind,
    /// Decoded, cleaned of tabs, newlines and outer blanks, not resolved; never empty.
    pub target: String,
    /// The link itself says `rel=nofollow`.
    pub nofollow: bool,
}

/// What a link is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkKind {
    /// `<a href>`.
    Anchor,
    /// `<area href>`.
    Area,
    /// `<frame src>` and `<iframe src>`.
    Frame,
    /// `<meta http-equiv=refresh>`.
    Refresh,
    /// `<form action>` of a form that is sent by GET.
    Form,
    /// `<link rel=next>`.
    Next,
    /// `<link rel=prev>`.
    Prev,
    /// `<link rel=canonical>`.
    Canonical,
    /// `<link rel=alternate>`: translations, feeds, other forms of the page.
    Alternate,
    /// Any other `<link>`.
    Related,
    /// `<link rel=stylesheet>`.
    Stylesheet,
    /// `<link rel=icon>` and its relatives.
    Icon,
    /// `<link rel=preload>`, `prefetch`, `modulepreload`, `manifest`.
    Preload,
    /// `<img>`, `srcset`, `<input type=image>`, `<video poster>`.
    Image,
    /// `<script src>`.
    Script,
    /// `<video>`, `<audio>`, `<source>`, `<track>`.
    Media,
    /// `<object data>`, `<embed src>`.
    Object,
    /// `url(…)` and `@import` in a `<style>` or a `style` attribute.
    Css,
}

impl LinkKind {
    /// Whether the link leads to another page.
    pub fn is_navigation(self) -> bool {
        use LinkKind::{Alternate, Anchor, Area, Canonical, Frame, Next, Prev, Refresh};
        matches!(self, Anchor | Area | Frame | Refresh | Next | Prev | Canonical | Alternate)
    }

    /// Whether the link is a part that the page is shown with.
    pub fn is_embed(self) -> bool {
        use LinkKind::{Css, Icon, Image, Media, Object, Preload, Script, Stylesheet};
        matches!(self, Stylesheet | Icon | Preload | Image | Script | Media | Object | Css)
    }
}

/// What a `<link>` with these `rel` words is; `None` if it names no resource. Of several words the most telling one counts.
pub(crate) fn kind_of_rel(rel: &str) -> Option<LinkKind> {
    let has = |words: &[&str]| {
        rel.split_ascii_whitespace().any(|word| words.iter().any(|known| known.eq_ignore_ascii_case(word)))
    };
    if has(&["stylesheet"]) {
        Some(LinkKind::Stylesheet)
    } else if has(&["canonical"]) {
        Some(LinkKind::Canonical)
    } else if has(&["next"]) {
        Some(LinkKind::Next)
    } else if has(&["prev", "previous"]) {
        Some(LinkKind::Prev)
    } else if has(&["alternate"]) {
        Some(LinkKind::Alternate)
    } else if has(&["icon", "apple-touch-icon", "apple-touch-icon-precomposed", "mask-icon"]) {
        Some(LinkKind::Icon)
    } else if has(&["preload", "prefetch", "modulepreload", "manifest"]) {
        Some(LinkKind::Preload)
    } else if has(&["dns-prefetch", "preconnect"]) {
        None
    } else {
        Some(LinkKind::Related)
    }
}

/// Whether a raw value can lead nowhere a crawler goes: empty, or a scheme that is fetched by nobody. Looks at the first bytes only, so that
/// a ten-megabyte `data:` costs nothing.
pub(crate) fn leads_nowhere(raw: &[u8]) -> bool {
    const SCHEMES: [&[u8]; 7] = [b"data:", b"javascript:", b"mailto:", b"tel:", b"sms:", b"about:", b"blob:"];
    let start = raw.iter().position(|&b| b > b' ' || b == 0);
    let Some(start) = start else { return true };
    let raw = &raw[start..];
    // Most addresses begin with a slash or with `http`.
    if matches!(raw[0], b'/' | b'h' | b'.' | b'#') {
        return false;
    }
    SCHEMES.iter().any(|scheme| raw.get(..scheme.len()).is_some_and(|head| head.eq_ignore_ascii_case(scheme)))
}

/// A value that is its own target: visible ASCII without references, as nearly all addresses are. The same in every encoding that is scanned.
pub(crate) fn plain_target(raw: &[u8]) -> Option<&str> {
    // Without a way out in the middle, so that it is done many bytes at a time.
    let other =
        raw.iter().fold(false, |other, &b| other | (b.wrapping_sub(b'!') > b'~' - b'!') | (b == b'&'));
    work::count(raw.len());
    if other { None } else { std::str::from_utf8(raw).ok() }
}

/// From a raw attribute value to text: charset, then character references.
pub(crate) fn attribute_text<'a>(raw: &'a [u8], encoding: &'static Encoding) -> Cow<'a, str> {
    work::count(raw.len());
    let (text, _) = encoding.decode_without_bom_handling(raw);
    let text =
        if memchr::memchr(0, raw).is_some() { Cow::Owned(text.replace('\0', "\u{fffd}")) } else { text };
    decode(text, Context::Attribute)
}

/// What the URL standard does before it parses: tabs and newlines out, controls and blanks off both ends.
pub(crate) fn clean(text: Cow<'_, str>) -> String {
    let trimmed = text.trim_matches(|c: char| c <= ' ');
    if memchr::memchr3(b'\t', b'\n', b'\r', trimmed.as_bytes()).is_some() {
        trimmed.replace(['\t', '\n', '\r'], "")
    } else if trimmed.len() == text.len() {
        text.into_owned()
    } else {
        trimmed.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rel_words() {
        for (rel, kind) in [
            ("StyleSheet", Some(LinkKind::Stylesheet)),
            ("alternate stylesheet", Some(LinkKind::Stylesheet)),
            ("alternate", Some(LinkKind::Alternate)),
            ("shortcut icon", Some(LinkKind::Icon)),
            ("prev", Some(LinkKind::Prev)),
            ("next prefetch", Some(LinkKind::Next)),
            ("preconnect", None),
            ("author", Some(LinkKind::Related)),
            ("", Some(LinkKind::Related)),
        ] {
            assert_eq!(kind_of_rel(rel), kind, "{rel}");
        }
        assert!(LinkKind::Anchor.is_navigation() && !LinkKind::Anchor.is_embed());
        assert!(LinkKind::Image.is_embed() && !LinkKind::Form.is_navigation() && !LinkKind::Form.is_embed());
    }

    #[test]
    fn values_are_cleaned() {
        assert_eq!(plain_target(b"/a?b=c#!~"), Some("/a?b=c#!~"));
        for raw in [&b"/a b"[..], b"/&amp;", b"/\xc3\xa4", b"/\x7f", b"\0", b"\t/"] {
            assert_eq!(plain_target(raw), None, "{raw:?}");
        }
        assert_eq!(clean(Cow::Borrowed(" \u{1}/a\n\tb c \r\n")), "/ab c");
        assert_eq!(attribute_text(b"\xe4&amp;\0", encoding_rs::WINDOWS_1252), "ä&\u{fffd}");
        for raw in ["", " \n", " data:x", "JavaScript:void(0)", "mailto:a@b"] {
            assert!(leads_nowhere(raw.as_bytes()), "{raw}");
        }
        assert!(!leads_nowhere(b"database/x") && !leads_nowhere(b"/") && !leads_nowhere(b"tel"));
    }
}
