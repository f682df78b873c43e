//! The scanner: start tags, one after the other, out of raw bytes.
//!
//! Filled with a body in an ASCII-compatible encoding; emptied by `page`, one [`Scanner::next_tag`] at a time. It knows
//! the standard's tokenizer states as far as they decide where a tag begins and ends: comments and their odd endings,
//! doctypes, bogus comments, CDATA, quoting, raw text and scripts. `pos` only grows, and no byte is looked at more
//! than a few times: that is what makes the time linear.

use crate::attributes::{TagEnd, find_near, walk};
use crate::foreign::Foreign;
use crate::names::{Tag, Values, ends_tag_name};
use crate::raw::{closing_name, script_end, text_end};
use crate::watch::Watch;
use crate::work;

pub(crate) struct Scanner<'a, W> {
    bytes: &'a [u8],
    pos: usize,
    foreign: Foreign,
    /// The content type says XML: CDATA counts everywhere, and `<script/>` is empty.
    xml: bool,
    /// The raw content that begins at `pos` and has not been passed yet.
    raw: Option<Tag>,
    pub(crate) watch: W,
}

/// A start tag that says something; its attributes are in the [`Values`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    pub(crate) tag: Tag,
    /// It stands in SVG or MathML.
    pub(crate) foreign: bool,
}

impl<'a, W: Watch<'a>> Scanner<'a, W> {
    pub(crate) fn new(bytes: &'a [u8], xml: bool, watch: W) -> Scanner<'a, W> {
        Scanner { bytes, pos: 0, foreign: Foreign::default(), xml, raw: None, watch }
    }

    /// The next start tag that says something; the others are passed over.
    pub(crate) fn next_tag(&mut self, values: &mut Values<'a>) -> Option<Start> {
        self.text();
        // Where the text began that the next tag ends.
        let mut from = self.pos;
        loop {
            let Some(at) = find_near(b'<', &self.bytes[self.pos..]) else {
                work::count(self.bytes.len() - self.pos);
                self.watch.text(&self.bytes[from..]);
                self.pos = self.bytes.len();
                return None;
            };
            work::count(at + 1);
            let open = self.pos + at;
            self.pos = open + 1;
            let Some(&byte) = self.bytes.get(self.pos) else {
                self.watch.text(&self.bytes[from..]);
                return None;
            };
            if !byte.is_ascii_alphabetic() && !matches!(byte, b'/' | b'!' | b'?') {
                continue;
            }
            self.watch.text(&self.bytes[from..open]);
            match byte {
                b'/' => match *self.bytes.get(self.pos + 1)? {
                    byte if byte.is_ascii_alphabetic() => self.end_tag()?,
                    _ => self.pass(b'>', self.pos + 1)?,
                },
                b'!' => self.declaration()?,
                b'?' => self.pass(b'>', self.pos + 1)?,
                _ => {
                    if let Some(start) = self.start_tag(values)? {
                        return Some(start);
                    }
                }
            }
            from = self.pos;
        }
    }

    /// The raw content of the tag just given, such as a title's text; passes over it.
    pub(crate) fn text(&mut self) -> &'a [u8] {
        let Some(tag) = self.raw.take() else { return &[] };
        let start = self.pos;
        self.pos = match (tag, closing_name(tag)) {
            (Tag::Script, _) => script_end(self.bytes, start),
            (_, Some(name)) => text_end(self.bytes, start, name),
            (_, None) => self.bytes.len(),
        };
        &self.bytes[start..self.pos]
    }

    /// The name that begins at `from`; `None` if the input ends in it.
    fn name(&mut self, from: usize) -> Option<&'a [u8]> {
        let rest = &self.bytes[from..];
        let len = rest.iter().position(|&b| ends_tag_name(b));
        work::count(len.unwrap_or(rest.len()));
        self.pos = from + len?;
        Some(&rest[..len?])
    }

    /// Outer `None`: the input ended. Inner: the tag says nothing.
    #[expect(clippy::option_option, reason = "the end of the input and a dull tag are two things")]
    fn start_tag(&mut self, values: &mut Values<'a>) -> Option<Option<Start>> {
        let name = self.name(self.pos)?;
        let tag = Tag::of(name);
        let watch = &mut self.watch;
        let end = if tag.is_some() {
            values.clear();
            walk(self.bytes, self.pos, |name, value| {
                values.add(name, value);
                watch.attribute(name, value);
            })
        } else {
            walk(self.bytes, self.pos, |name, value| watch.attribute(name, value))
        };
        work::count(end.map_or(self.bytes.len(), |end| end.after) - self.pos);
        let TagEnd { after, self_closing } = end?;
        self.pos = after;
        let foreign = self.foreign.start(name, self_closing);
        self.watch.start(name, self_closing, foreign);
        let Some(tag) = tag else { return Some(None) };
        let empty = foreign || (self.xml && self_closing);
        if !empty && (tag == Tag::Plaintext || closing_name(tag).is_some()) {
            self.raw = Some(tag);
        }
        Some(Some(Start { tag, foreign }))
    }

    fn end_tag(&mut self) -> Option<()> {
        let name = self.name(self.pos + 1)?;
        let end = walk(self.bytes, self.pos, |_, _| {});
        work::count(end.map_or(self.bytes.len(), |end| end.after) - self.pos);
        self.pos = end?.after;
        self.foreign.end(name);
        self.watch.end(name);
        Some(())
    }

    /// From the `!` of `<!`: a comment, CDATA, or something that ends at the first `>`, as doctypes do in every state.
    fn declaration(&mut self) -> Option<()> {
        let rest = &self.bytes[self.pos + 1..];
        if rest.starts_with(b"--") {
            let end = comment_end(self.bytes, self.pos + 3);
            work::count(end.unwrap_or(self.bytes.len()) - self.pos);
            self.pos = end?;
            Some(())
        } else if rest.starts_with(b"[CDATA[") && (self.xml || self.foreign.inside()) {
            let start = self.pos + 8;
            let length = memchr::memmem::find(&self.bytes[start..], b"]]>");
            work::count(length.unwrap_or(self.bytes.len() - start) + 8);
            self.pos = start + length? + 3;
            Some(())
        } else {
            self.pass(b'>', self.pos + 1)
        }
    }

    /// Goes behind the first `byte` at or after `from`.
    fn pass(&mut self, byte: u8, from: usize) -> Option<()> {
        let length = memchr::memchr(byte, &self.bytes[from..]);
        work::count(length.unwrap_or(self.bytes.len() - from));
        self.pos = from + length? + 1;
        Some(())
    }
}

/// The position behind a comment whose text begins at `start`: `<!-->` and `<!--->` are whole, `-->` and `--!>` end it.
pub(crate) fn comment_end(bytes: &[u8], start: usize) -> Option<usize> {
    let text = &bytes[start..];
    if text.starts_with(b">") {
        return Some(start + 1);
    }
    if text.starts_with(b"->") {
        return Some(start + 2);
    }
    memchr::memchr_iter(b'>', text)
        .find(|&end| text[..end].ends_with(b"--") || text[..end].ends_with(b"--!"))
        .map(|end| start + end + 1)
}

#[cfg(test)]
mod html5lib;
#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Nobody;
    use proptest::prelude::*;

    fn tags(text: &str) -> Vec<Tag> {
        let mut scanner = Scanner::new(text.as_bytes(), false, Nobody);
        let mut values = Values::default();
        std::iter::from_fn(|| scanner.next_tag(&mut values)).map(|start| start.tag).collect()
    }

    #[test]
    fn comments_hide_and_end() {
        for hidden in [
            "<!-- <a> -->",
            "<!--<a>--!>",
            "<!----<a>-->",
            "<!-- --!-<a> -->",
            "<!---!><a>-->",
            "<!-- <!-- <a> -->",
            "<!doctype <a>",
            "<!x<a>",
            "<?<a>",
            "</ <a>",
            "<![CDATA[<a>",
            "<!-- <a>",
            "<!--><!--<a>",
        ] {
            assert_eq!(tags(hidden), [], "{hidden}");
        }
        for ended in [
            "<!--><a>",
            "<!---><a>",
            "<!----><a>",
            "<!----!><a>",
            "<!-- <!--><a>",
            "<!><a>",
            "</><a>",
            "<!doctype 'x><a>",
            "<![CDATA[ ]]><a>",
            "<<a>",
            "1<2 <a>",
            "< a><a>",
            "</x a='>'><a>",
        ] {
            assert_eq!(tags(ended), [Tag::A], "{ended}");
        }
    }

    #[test]
    fn raw_text_is_no_markup() {
        for name in ["script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes"] {
            assert_eq!(tags(&format!("<{name}><a></{name}><base>")).last(), Some(&Tag::Base), "{name}");
            assert_eq!(tags(&format!("<{name}><a></{name}><base>")).len(), 2, "{name}");
            assert_eq!(tags(&format!("<{name}/><a>")).len(), 1, "{name}");
        }
        assert_eq!(tags("<noscript><a></noscript>"), [Tag::A]);
        assert_eq!(tags("<plaintext><a></plaintext><a>"), [Tag::Plaintext]);
    }

    #[test]
    fn foreign_content() {
        assert_eq!(tags("<svg><![CDATA[<a>]]><a></svg>"), [Tag::Svg, Tag::A]);
        assert_eq!(
            tags("<svg><style><a></style></svg><style><a></style>"),
            [Tag::Svg, Tag::Style, Tag::A, Tag::Style]
        );
        assert_eq!(tags("<svg/><style><a></style>"), [Tag::Svg, Tag::Style]);
        assert_eq!(
            tags("<svg><foreignObject><style><a></style></foreignObject><style><a></svg>"),
            [Tag::Svg, Tag::Style, Tag::Style, Tag::A]
        );
        assert_eq!(tags("<svg><g><div><style><a></style>"), [Tag::Svg, Tag::Style]);
        assert_eq!(tags("<math></p><script><a></script>"), [Tag::Math, Tag::Script]);
    }

    #[test]
    fn xml_takes_empty_elements_at_their_word() {
        let mut scanner = Scanner::new(b"<script/><![CDATA[<a>]]><a/>", true, Nobody);
        let mut values = Values::default();
        let found: Vec<_> =
            std::iter::from_fn(|| scanner.next_tag(&mut values)).map(|start| start.tag).collect();
        assert_eq!(found, [Tag::Script, Tag::A]);
    }

    proptest! {
        /// Linear: every step moves on, so there are no more steps than bytes.
        #[test]
        fn the_position_only_grows(text in "(<|>|/|!|-|--|a|script|svg|\\[CDATA\\[|\\]\\]|\"|'|=| |title|div|\\?|x){0,60}") {
            let mut scanner = Scanner::new(text.as_bytes(), false, Nobody);
            let mut values = Values::default();
            let mut last = 0;
            while scanner.next_tag(&mut values).is_some() {
                prop_assert!(scanner.pos > last && scanner.pos <= text.len());
                last = scanner.pos;
            }
        }
    }
}
