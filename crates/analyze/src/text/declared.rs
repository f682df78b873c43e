//! The main part that a page declares: `<main>`, or the role that says the same to readers' tools.
//!
//! A page without prose, like an index or a list of links, gives nothing away by itself: its text is what stands in that part. It is believed if there is just
//! one, and if more words are in it than elsewhere, not counting what is called navigation, header or footer.

use super::blocks::Page;
use super::classes::{CHROME, MAIN_ROLE};
use super::names::Tag;
use super::tree::{Node, Tree};

/// What is declared is believed if it holds this part of the words.
const SHARE: f32 = 0.5;

/// The element that the page declares to be its main part, if that is believed.
pub(crate) fn find(tree: &Tree, page: &Page) -> Option<u32> {
    let is_main = |node: &Node| node.tag == Tag::Main || node.hints & MAIN_ROLE != 0;
    let mut found = (0u32..).zip(&tree.nodes).filter(|(_, node)| is_main(node));
    let (main, node) = found.next()?;
    // One within the other is the same twice.
    if found.any(|(other, _)| other >= node.end) {
        return None;
    }
    let own = page.sums(main).words;
    let other = page.sums(0).words - own - chrome(tree, page, main);
    (own > 0 && own as f32 >= SHARE * (own + other) as f32).then_some(main)
}

/// The words outside of `main` in elements that surround the main parts of pages.
fn chrome(tree: &Tree, page: &Page, main: u32) -> u32 {
    let (mut words, mut at) = (0, 1);
    while (at as usize) < tree.nodes.len() {
        let node = tree.nodes[at as usize];
        let surrounds = matches!(node.tag, Tag::Nav | Tag::Header | Tag::Footer | Tag::Aside)
            || node.tag.is_block() && node.hints & CHROME != 0;
        let around_main = at <= main && main < node.end;
        if at == main {
            at = node.end;
        } else if surrounds && !around_main {
            words += page.sums(at).words;
            at = node.end;
        } else {
            at += 1;
        }
    }
    words
}
