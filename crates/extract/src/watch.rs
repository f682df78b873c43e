//! Who else looks on while the scanner runs: text and headings, and the styles of elements.
//!
//! The scanner is generic over a [`Watch`]. [`Nobody`] is what most pages are read with: its calls are empty and vanish, so that
//! finding links costs the same whether or not anything could be watched. [`Watcher`] collects what [`crate::Options`] asks for.

use encoding_rs::Encoding;

use crate::text::{Found, TextReader};
use crate::{Options, work};

/// Told of everything the scanner passes, in the order of the page.
pub(crate) trait Watch<'a> {
    /// Text between tags; a run may come in several pieces.
    #[inline(always)]
    fn text(&mut self, _raw: &'a [u8]) {}

    /// An attribute of the tag whose [`Watch::start`] comes next.
    #[inline(always)]
    fn attribute(&mut self, _name: &'a [u8], _value: &'a [u8]) {}

    /// A start tag, its attributes done. `foreign`: it stands in SVG or MathML.
    #[inline(always)]
    fn start(&mut self, _name: &'a [u8], _self_closing: bool, _foreign: bool) {}

    #[inline(always)]
    fn end(&mut self, _name: &'a [u8]) {}
}

pub(crate) struct Nobody;

impl Watch<'_> for Nobody {}

/// Collects what was asked for.
pub(crate) struct Watcher<'a> {
    text: Option<TextReader>,
    /// The raw values of `style` attributes that may name something, until the page reader takes them.
    styles: Option<Vec<&'a [u8]>>,
}

impl<'a> Watcher<'a> {
    /// `None` if the options ask for nothing that needs one.
    pub(crate) fn new(options: &Options, encoding: &'static Encoding) -> Option<Watcher<'a>> {
        let text = (options.text || options.raw_text || options.headings)
            .then(|| TextReader::new(options, encoding));
        let styles = options.css.then(Vec::new);
        (text.is_some() || styles.is_some()).then_some(Watcher { text, styles })
    }

    pub(crate) fn take_styles(&mut self) -> Vec<&'a [u8]> {
        self.styles.as_mut().map(std::mem::take).unwrap_or_default()
    }

    pub(crate) fn finish(self) -> Found {
        self.text.map(TextReader::finish).unwrap_or_default()
    }
}

impl<'a> Watch<'a> for Watcher<'a> {
    fn text(&mut self, raw: &'a [u8]) {
        if let Some(text) = &mut self.text {
            text.text(raw);
        }
    }

    fn attribute(&mut self, name: &'a [u8], value: &'a [u8]) {
        if let Some(styles) = &mut self.styles
            && name.eq_ignore_ascii_case(b"style")
        {
            work::count(value.len());
            if memchr::memchr(b'(', value).is_some() {
                styles.push(value);
            }
        }
    }

    fn start(&mut self, name: &'a [u8], self_closing: bool, foreign: bool) {
        if let Some(text) = &mut self.text {
            text.start(name, self_closing && foreign);
        }
    }

    fn end(&mut self, name: &'a [u8]) {
        if let Some(text) = &mut self.text {
            text.end(name);
        }
    }
}
