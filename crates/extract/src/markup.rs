//! The scanner for those who want to see all markup: tags, attributes and text in the order of the page.
//!
//! Used where a tree is built from a page. Raw text (scripts, styles, titles, text areas) is passed over. Linear in the input, without
//! memory of its own.

use std::borrow::Cow;

use crate::entities::{Context, decode};
use crate::names::Values;
use crate::scan::Scanner;
use crate::watch::Watch;

/// Told of everything in a page, in order. What it is given is as it stands in the page: character references are not decoded.
pub trait Markup<'a> {
    /// Text between tags; a run may come in several pieces.
    fn text(&mut self, raw: &'a [u8]);

    /// An attribute of the tag whose [`Markup::start`] comes next.
    fn attribute(&mut self, name: &'a [u8], value: &'a [u8]);

    /// A start tag; its attributes came before. `foreign`: it stands in SVG or MathML.
    fn start(&mut self, name: &'a [u8], self_closing: bool, foreign: bool);

    /// An end tag, whether or not anything is open.
    fn end(&mut self, name: &'a [u8]);
}

struct Pass<M>(M);

impl<'a, M: Markup<'a>> Watch<'a> for Pass<M> {
    #[inline]
    fn text(&mut self, raw: &'a [u8]) {
        self.0.text(raw);
    }

    #[inline]
    fn attribute(&mut self, name: &'a [u8], value: &'a [u8]) {
        self.0.attribute(name, value);
    }

    #[inline]
    fn start(&mut self, name: &'a [u8], self_closing: bool, foreign: bool) {
        self.0.start(name, self_closing, foreign);
    }

    #[inline]
    fn end(&mut self, name: &'a [u8]) {
        self.0.end(name);
    }
}

/// Reads a page in UTF-8 and tells `markup` of what is in it.
pub fn read_markup<'a, M: Markup<'a>>(html: &'a str, markup: M) -> M {
    let mut scanner = Scanner::new(html.as_bytes(), false, Pass(markup));
    let mut values = Values::default();
    while scanner.next_tag(&mut values).is_some() {}
    scanner.watch.0
}

/// Replaces the character references of a text between tags.
pub fn decode_text(text: Cow<'_, str>) -> Cow<'_, str> {
    decode(text, Context::Text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Log(String);

    impl<'a> Markup<'a> for Log {
        fn text(&mut self, raw: &'a [u8]) {
            self.0 += &String::from_utf8_lossy(raw);
        }

        fn attribute(&mut self, name: &'a [u8], value: &'a [u8]) {
            self.0 += &format!("{}={},", String::from_utf8_lossy(name), String::from_utf8_lossy(value));
        }

        fn start(&mut self, name: &'a [u8], self_closing: bool, foreign: bool) {
            self.0 += &format!("[{} {self_closing} {foreign}]", String::from_utf8_lossy(name));
        }

        fn end(&mut self, name: &'a [u8]) {
            self.0 += &format!("[/{}]", String::from_utf8_lossy(name));
        }
    }

    #[test]
    fn everything_in_order() {
        let html = "a<p class='x y' id=z>b &amp; c</P><script>d</script><svg><g/></svg><!-- e -->f<br/>";
        let log = read_markup(html, Log::default()).0;
        assert_eq!(
            log,
            "aclass=x y,id=z,[p false false]b &amp; c[/P][script false false][/script]\
             [svg false true][g true true][/svg]f[br true false]"
        );
        assert_eq!(decode_text("b &amp; c".into()), "b & c");
    }
}
