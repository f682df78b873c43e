//! Where in SVG or MathML the scanner stands: a small stack in place of a tree.
//!
//! Inside foreign content there is no raw text and `<![CDATA[` means something; inside an integration point
//! (`foreignObject`) HTML rules again; an HTML tag such as `<div>` leads out. That is all the scanner has to know. The stack
//! does not know what else is open: an end tag of HTML in the middle of SVG, which closes the SVG if its element is open around
//! it, is passed over, and the next HTML start tag leads out instead. It is capped: deeper levels are not counted, which costs an input that nests so deep its exactness and nothing else.

use crate::names::{Key, key};

const DEPTH_MAX: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Level {
    name: Key,
    /// In SVG; else in MathML. An `svg` in MathML is MathML, and the other way round.
    svg: bool,
    /// HTML rules inside.
    integration: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Foreign(Vec<Level>);

const SVG: Key = key(b"svg");
const MATH: Key = key(b"math");

/// Start tags that never stand in foreign content; the scanner leaves it at them.
const BREAKOUT: [Key; 44] = [
    key(b"b"),
    key(b"big"),
    key(b"blockquote"),
    key(b"body"),
    key(b"br"),
    key(b"center"),
    key(b"code"),
    key(b"dd"),
    key(b"div"),
    key(b"dl"),
    key(b"dt"),
    key(b"em"),
    key(b"embed"),
    key(b"h1"),
    key(b"h2"),
    key(b"h3"),
    key(b"h4"),
    key(b"h5"),
    key(b"h6"),
    key(b"head"),
    key(b"hr"),
    key(b"i"),
    key(b"img"),
    key(b"li"),
    key(b"listing"),
    key(b"menu"),
    key(b"meta"),
    key(b"nobr"),
    key(b"ol"),
    key(b"p"),
    key(b"pre"),
    key(b"ruby"),
    key(b"s"),
    key(b"small"),
    key(b"span"),
    key(b"strong"),
    key(b"strike"),
    key(b"sub"),
    key(b"sup"),
    key(b"table"),
    key(b"tt"),
    key(b"u"),
    key(b"ul"),
    key(b"var"),
];

impl Foreign {
    /// Whether the scanner stands in foreign content, not in an integration point of it.
    #[inline]
    pub(crate) fn inside(&self) -> bool {
        self.0.last().is_some_and(|level| !level.integration)
    }

    /// A start tag came. Returns whether the element itself is foreign.
    #[inline]
    pub(crate) fn start(&mut self, name: &[u8], self_closing: bool) -> bool {
        if self.0.is_empty() && !matches!(name, [b's' | b'S', _, _] | [b'm' | b'M', _, _, _]) {
            return false;
        }
        self.start_within(name, self_closing)
    }

    /// The rest of [`Foreign::start`], for the few names that could lead in, and for what is inside.
    fn start_within(&mut self, name: &[u8], self_closing: bool) -> bool {
        let name = key(name);
        if self.inside() && BREAKOUT.contains(&name) {
            self.leave();
        }
        let root = name == SVG || name == MATH;
        let within = self.0.last().filter(|level| !level.integration).map(|level| level.svg);
        let foreign = root || within.is_some();
        let svg = within.unwrap_or(name == SVG);
        let integration = within.is_some() && is_integration_point(name, svg);
        if (root || integration) && !self_closing && self.0.len() < DEPTH_MAX {
            self.0.push(Level { name, svg, integration });
        }
        foreign
    }

    /// An end tag came.
    #[inline]
    pub(crate) fn end(&mut self, name: &[u8]) {
        if self.0.is_empty() {
            return;
        }
        let name = key(name);
        if let Some(at) = self.0.iter().rposition(|level| level.name == name) {
            self.0.truncate(at);
        } else if self.inside() && (name == key(b"p") || name == key(b"br")) {
            self.leave();
        }
    }

    fn leave(&mut self) {
        while self.inside() {
            self.0.pop();
        }
    }
}

fn is_integration_point(name: Key, svg: bool) -> bool {
    const SVG_POINTS: [Key; 3] = [key(b"foreignobject"), key(b"desc"), key(b"title")];
    const MATH_POINTS: [Key; 5] = [key(b"mi"), key(b"mo"), key(b"mn"), key(b"ms"), key(b"mtext")];
    if svg { SVG_POINTS.contains(&name) } else { MATH_POINTS.contains(&name) }
}
