//! The light tree: elements and texts in the order of the page, in one array.
//!
//! Filled by the scanner; read by all later steps. A node knows its parent and where its subtree ends, so a subtree is a slice. The
//! rules of the standard's tree builder are kept as far as the text depends on them: elements without end tags, end tags that are left
//! out, end tags that close what is open inside.

use mattock_extract::{Markup, read_markup};

use super::classes::{self, Hints, Known};
use super::names::Tag;

/// What is nested deeper is hung up at this depth.
pub(crate) const DEPTH_MAX: usize = 256;
/// Nodes behind these are left out.
pub(crate) const NODES_MAX: usize = 1 << 20;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) tag: Tag,
    pub(crate) hints: Hints,
    pub(crate) parent: u32,
    /// The node behind the last one within this.
    pub(crate) end: u32,
    /// For text: where it stands in the page.
    pub(crate) from: u32,
    pub(crate) to: u32,
}

pub(crate) struct Tree {
    pub(crate) nodes: Vec<Node>,
    /// Bytes of text that only browsers without scripts show, and that were left out.
    pub(crate) unscripted_bytes: usize,
}

impl Tree {
    /// Reads a page as browsers with scripts show it. Node 0 is the whole.
    pub(crate) fn read(html: &str) -> Tree {
        Tree::read_for(html, Tag::Hidden)
    }

    /// Reads a page as browsers without scripts show it.
    pub(crate) fn read_unscripted(html: &str) -> Tree {
        Tree::read_for(html, Tag::Block)
    }

    fn read_for(html: &str, noscript: Tag) -> Tree {
        let root = Node { tag: Tag::Body, hints: 0, parent: 0, end: 0, from: 0, to: 0 };
        // Pages beyond four gigabytes do not come from anywhere.
        let html = &html[..html.floor_char_boundary(u32::MAX as usize / 2)];
        let base = html.as_ptr() as usize;
        let builder = Builder {
            base,
            nodes: vec![root],
            open: vec![0],
            hints: 0,
            known: Known::new(),
            hidden: None,
            noscript,
            unscripted_bytes: 0,
        };
        let mut builder = read_markup(html, builder);
        builder.close_to(0);
        builder.nodes[0].end = builder.nodes.len() as u32;
        Tree { nodes: builder.nodes, unscripted_bytes: builder.unscripted_bytes }
    }
}

struct Builder<'a> {
    /// Where the page stands in memory: texts are told by their distance from it.
    base: usize,
    nodes: Vec<Node>,
    /// The open elements, outermost first.
    open: Vec<u32>,
    /// Of the attributes of the tag that comes next.
    hints: Hints,
    known: Known<'a>,
    /// Within an element that is not shown: its name, and how many of that name are open.
    hidden: Option<(&'a [u8], u32)>,
    /// The kind of element that `noscript` is.
    noscript: Tag,
    unscripted_bytes: usize,
}

impl Builder<'_> {
    fn tag_of(&self, name: &[u8]) -> Tag {
        match Tag::of(name) {
            Tag::Hidden if is_noscript(name) => self.noscript,
            tag => tag,
        }
    }

    fn tag_at(&self, level: usize) -> Tag {
        self.nodes[self.open[level] as usize].tag
    }

    /// Closes the elements from this level of `open` on.
    fn close_to(&mut self, level: usize) {
        let end = self.nodes.len() as u32;
        for &node in &self.open[level..] {
            self.nodes[node as usize].end = end;
        }
        self.open.truncate(level.max(1));
    }

    fn push(&mut self, node: Node) -> bool {
        if self.nodes.len() >= NODES_MAX {
            return false;
        }
        self.nodes.push(node);
        true
    }

    /// Closes what a start tag ends without being told: a paragraph at a block, an item at the next one.
    fn imply_end(&mut self, tag: Tag) {
        let (closes, stops): (&[Tag], &[Tag]) = match tag {
            Tag::Item => (&[Tag::Item], &[Tag::List]),
            Tag::Term => (&[Tag::Term], &[Tag::List]),
            Tag::Cell => (&[Tag::Cell], &[Tag::Row, Tag::Table]),
            Tag::Row => (&[Tag::Row], &[Tag::Rows, Tag::Table]),
            Tag::Rows => (&[Tag::Rows], &[Tag::Table]),
            Tag::A => (&[Tag::A], &[Tag::Cell, Tag::Table]),
            _ => (&[], &[]),
        };
        if let Some(level) = self.find(closes, stops) {
            self.close_to(level);
        }
        if tag.is_block() {
            // A paragraph ends where a block begins, unless something other than inline elements lies between.
            for level in (1..self.open.len()).rev() {
                match self.tag_at(level) {
                    Tag::P => {
                        self.close_to(level);
                        break;
                    }
                    Tag::Inline | Tag::A => {}
                    _ => break,
                }
            }
        }
    }

    /// Whether this start tag ends a list of options that is open, as the standard says.
    fn ends_select(&self, tag: Tag, name: &[u8]) -> bool {
        self.hidden.is_some_and(|(hidden, _)| hidden.eq_ignore_ascii_case(b"select"))
            && (matches!(tag, Tag::Table | Tag::Rows | Tag::Row | Tag::Cell)
                || [&b"select"[..], b"input", b"textarea"]
                    .iter()
                    .any(|other| other.eq_ignore_ascii_case(name)))
    }

    /// The innermost open element of these kinds, if none of the others is within it.
    fn find(&self, wanted: &[Tag], stops: &[Tag]) -> Option<usize> {
        if wanted.is_empty() {
            return None;
        }
        for level in (1..self.open.len()).rev() {
            let tag = self.tag_at(level);
            if wanted.contains(&tag) {
                return Some(level);
            }
            if stops.contains(&tag) {
                return None;
            }
        }
        None
    }
}

impl<'a> Markup<'a> for Builder<'a> {
    fn text(&mut self, raw: &'a [u8]) {
        if let Some((hidden, _)) = self.hidden {
            if is_noscript(hidden) {
                self.unscripted_bytes += raw.trim_ascii().len();
            }
            return;
        }
        if raw.is_empty() {
            return;
        }
        let from = (raw.as_ptr() as usize - self.base) as u32;
        let to = from + raw.len() as u32;
        let parent = *self.open.last().expect("the root is never closed");
        let end = self.nodes.len() as u32 + 1;
        self.push(Node { tag: Tag::Text, hints: 0, parent, end, from, to });
    }

    fn attribute(&mut self, name: &'a [u8], value: &'a [u8]) {
        let is = |attribute: &[u8]| name.eq_ignore_ascii_case(attribute);
        match name.len() {
            5 if is(b"class") => self.hints |= self.known.hints(value),
            2 if is(b"id") => self.hints |= classes::hints(value),
            4 if is(b"role") => self.hints |= role(value),
            8 if is(b"itemprop") => self.hints |= classes::hints(value) & classes::BODY,
            6 if is(b"hidden") => self.hints |= classes::HIDDEN,
            11 if is(b"aria-hidden") && value.eq_ignore_ascii_case(b"true") => self.hints |= classes::HIDDEN,
            5 if is(b"style") && hides(value) => self.hints |= classes::HIDDEN,
            _ => {}
        }
    }

    fn start(&mut self, name: &'a [u8], self_closing: bool, foreign: bool) {
        let hints = std::mem::take(&mut self.hints);
        let tag = if foreign { Tag::Hidden } else { self.tag_of(name) };
        if self.ends_select(tag, name) {
            self.hidden = None;
            self.close_to(self.open.len() - 1);
            if name.eq_ignore_ascii_case(b"select") {
                return;
            }
        }
        if let Some((hidden, count)) = &mut self.hidden {
            if !self_closing && hidden.eq_ignore_ascii_case(name) {
                *count += 1;
            }
            let never_within = matches!(tag, Tag::Main | Tag::Article | Tag::Footer | Tag::Nav | Tag::Table);
            if foreign || !never_within || may_hold_all(hidden) {
                return;
            }
            // A button that is never closed does not take the page with it.
            self.hidden = None;
            self.close_to(self.open.len() - 1);
        }
        if tag == Tag::Body {
            // The second of two, or one in the middle, adds its names to the whole.
            return;
        }
        self.imply_end(tag);
        let parent = *self.open.last().expect("the root is never closed");
        let at = self.nodes.len() as u32;
        if !self.push(Node { tag, hints, parent, end: at + 1, from: 0, to: 0 }) {
            return;
        }
        let empty = tag.is_void() || (foreign && self_closing) || self.open.len() >= DEPTH_MAX;
        if !empty {
            self.open.push(at);
            if tag == Tag::Hidden {
                self.hidden = Some((name, 1));
            }
        }
    }

    fn end(&mut self, name: &'a [u8]) {
        let tag = self.tag_of(name);
        if let Some((hidden, count)) = &mut self.hidden {
            if hidden.eq_ignore_ascii_case(name) {
                *count -= 1;
                if *count == 0 {
                    self.hidden = None;
                    self.close_to(self.open.len() - 1);
                }
            }
            return;
        }
        if tag == Tag::Br {
            self.start(b"br", false, false);
            return;
        }
        if tag.is_void() || tag == Tag::Body {
            return;
        }
        let stops: &[Tag] = match tag {
            Tag::Table => &[],
            Tag::Rows | Tag::Row | Tag::Cell => &[Tag::Table],
            // Emphasis that is closed outside of the paragraph it was opened in was closed there.
            Tag::Inline => &[Tag::P, Tag::Div, Tag::Item, Tag::Cell, Tag::Section, Tag::Article, Tag::Quote],
            _ => &[Tag::Cell, Tag::Table],
        };
        if let Some(level) = self.find(&[tag], stops) {
            self.close_to(level);
        }
    }
}

fn is_noscript(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"noscript")
}

/// Whether any markup may stand within an element of this name that is not shown.
fn may_hold_all(name: &[u8]) -> bool {
    [&b"noscript"[..], b"template", b"svg"].iter().any(|known| known.eq_ignore_ascii_case(name))
}

fn role(value: &[u8]) -> Hints {
    match value.trim_ascii().to_ascii_lowercase().as_slice() {
        b"navigation" | b"banner" | b"contentinfo" | b"search" | b"dialog" | b"alertdialog" | b"menu"
        | b"menubar" | b"toolbar" | b"complementary" => classes::CHROME,
        b"main" => classes::MAIN | classes::MAIN_ROLE,
        b"article" => classes::MAIN,
        _ => 0,
    }
}

/// Whether a style says that nothing is shown.
fn hides(style: &[u8]) -> bool {
    let compact: Vec<u8> = style
        .iter()
        .take(1024)
        .filter(|byte| !byte.is_ascii_whitespace())
        .map(u8::to_ascii_lowercase)
        .collect();
    [&b"display:none"[..], b"visibility:hidden"]
        .iter()
        .any(|sign| compact.windows(sign.len()).any(|window| window == *sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(html: &str) -> String {
        fn write(tree: &Tree, html: &str, at: usize, out: &mut String) -> usize {
            let node = tree.nodes[at];
            if node.tag == Tag::Text {
                out.push_str(&html[node.from as usize..node.to as usize]);
                return at + 1;
            }
            out.push_str(&format!("{:?}(", node.tag));
            let mut next = at + 1;
            while next < node.end as usize {
                assert_eq!(tree.nodes[next].parent as usize, at);
                next = write(tree, html, next, out);
            }
            out.push(')');
            next
        }
        let mut out = String::new();
        let tree = Tree::read(html);
        assert_eq!(write(&tree, html, 0, &mut out), tree.nodes.len());
        out
    }

    #[test]
    fn end_tags_that_are_left_out() {
        for (html, expected) in [
            ("<p>a<p>b<div>c", "P(a)P(b)Div(c)"),
            ("<p>a<b>b<div>c</div>", "P(aInline(b))Div(c)"),
            ("<ul><li>a<li>b<ul><li>c</ul><li>d</ul>e", "List(Item(a)Item(bList(Item(c)))Item(d))e"),
            ("<table><tr><td>a<td>b<tr><td>c</table>d", "Table(Row(Cell(a)Cell(b))Row(Cell(c)))d"),
            ("<div>a</p></span></div>b</div>c", "Div(a)bc"),
            ("<table><td><div>a</td>b</table>c", "Table(Cell(Div(a))b)c"),
            ("<a>a<a>b</a>c", "A(a)A(b)c"),
            ("a<br>b<img>c", "aBr()bVoid()c"),
            ("<b><p>a</b>b</p>c", "Inline(P(ab)c)"),
        ] {
            assert_eq!(shape(html), format!("Body({expected})"), "{html}");
        }
    }

    #[test]
    fn what_is_not_shown_has_no_text() {
        assert_eq!(shape("a<script>b</script>c<select><option>d</select>e"), "Body(aHidden()cHidden()e)");
        assert_eq!(shape("<noscript><p>a</noscript>b<svg><text>c</text></svg>d"), "Body(Hidden()bHidden()d)");
        assert_eq!(shape("a<svg/>b"), "Body(aHidden()b)");
        assert_eq!(shape("<head><title>t</title><body>a"), "Body(Hidden()a)");
        assert_eq!(shape("<button>a<main>b</main>"), "Body(Hidden()Main(b))");
        assert_eq!(shape("<svg><g><svg></svg></g>a</svg>b"), "Body(Hidden()b)");
    }

    #[test]
    fn bytes_that_browsers_with_scripts_do_not_show() {
        let html = "a<noscript> <p>bc</p> d<noscript>e</noscript></noscript>f<script>g</script><noscript>h";
        assert_eq!(Tree::read(html).unscripted_bytes, 5);
        let unscripted = Tree::read_unscripted(html);
        assert_eq!(unscripted.unscripted_bytes, 0);
        let texts = unscripted.nodes.iter().filter(|node| node.tag == Tag::Text && node.to > node.from);
        assert_eq!(
            texts.map(|text| html[text.from as usize..text.to as usize].trim()).collect::<String>(),
            "abcdefh"
        );
    }

    #[test]
    fn a_list_of_options_ends_at_the_next_control_or_cell() {
        for (html, expected) in [
            ("<select><option>a<select>b", "Hidden()b"),
            ("<select><option>a<input>b", "Hidden()Void()b"),
            ("<table><tr><td><select><option>a<td>b</table>c", "Table(Row(Cell(Hidden())Cell(b)))c"),
            ("<select><option>a<div>b</div></select>c", "Hidden()c"),
        ] {
            assert_eq!(shape(html), format!("Body({expected})"), "{html}");
        }
    }
}
