//! Waste: what is on the page and not in its text.

use super::blocks::{Page, density};
use super::classes::{ADVERT, AGAINST, BODY, BYLINE, CHROME, COMMENT, HIDDEN, MAIN, SOCIAL, TEASER};
use super::names::Tag;
use super::tree::{Node, Tree};

/// How much is believed of what a page says of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Care {
    /// Names and elements.
    All,
    /// Elements only.
    Tags,
}

/// Which blocks are waste.
pub(crate) struct Waste(Vec<bool>);

impl Waste {
    pub(crate) fn none(page: &Page) -> Waste {
        Waste(vec![false; page.blocks.len()])
    }

    pub(crate) fn has(&self, block: usize) -> bool {
        self.0[block]
    }

    pub(crate) fn find(tree: &Tree, page: &Page, care: Care) -> Waste {
        let mut waste = Waste::none(page);
        let mut at = 1;
        while at < tree.nodes.len() {
            let node = tree.nodes[at];
            let range = page.range(at as u32);
            if node.tag.is_block() && !range.is_empty() && is_waste(tree, page, at as u32, node, care) {
                waste.0[range].fill(true);
                at = node.end as usize;
            } else {
                at += 1;
            }
        }
        waste
    }
}

fn is_waste(tree: &Tree, page: &Page, at: u32, node: Node, care: Care) -> bool {
    let sums = page.sums(at);
    let share = page.share(at);
    let links = density(sums.link_words, sums.words);
    let by_tag = match node.tag {
        Tag::Nav => share < 0.4 || links > 0.5,
        Tag::Footer => share < 0.3,
        Tag::Aside => share < 0.3,
        Tag::Header => (links > 0.4 || !has_heading(tree, at, node)) && share < 0.2,
        Tag::Form => share < 0.2,
        _ => false,
    };
    if by_tag {
        return true;
    }
    if care == Care::All && node.hints & AGAINST != 0 && by_name(node, share, links) {
        return true;
    }
    is_link_list(page, at, node, share, links)
}

/// Whether what the element is called is believed.
fn by_name(node: Node, share: f32, links: f32) -> bool {
    let hints = node.hints;
    if hints & BODY != 0 && hints & HIDDEN == 0 {
        return false;
    }
    if matches!(node.tag, Tag::Article | Tag::Main) {
        return hints & (COMMENT | ADVERT | TEASER) != 0 && share < 0.3;
    }
    if matches!(node.tag, Tag::P | Tag::Pre | Tag::Quote) && hints & (HIDDEN | ADVERT | TEASER | BYLINE) == 0
    {
        // A paragraph is text, whatever its style is called after.
        return false;
    }
    let limit = if hints & MAIN != 0 { 0.1 } else { 0.4 };
    let believed = share < limit;
    if hints & HIDDEN != 0 {
        return share < 0.5;
    }
    if hints & (CHROME | TEASER | ADVERT | SOCIAL) != 0 {
        return believed && (links > 0.2 || share < 0.2);
    }
    if hints & COMMENT != 0 {
        return share < 0.6;
    }
    if hints & BYLINE != 0 {
        return share < 0.05;
    }
    false
}

/// Whether an element holds links and little else.
fn is_link_list(page: &Page, at: u32, node: Node, share: f32, links: f32) -> bool {
    // A main part without prose is such a list, and is meant.
    if page.scope() != 0 && !page.has_prose() {
        return false;
    }
    let blocks = page.range(at).len();
    match node.tag {
        Tag::List | Tag::Div | Tag::Section | Tag::Table | Tag::Block | Tag::Rows => {
            links > 0.6 && share < 0.4 && blocks >= 2
        }
        _ => false,
    }
}

fn has_heading(tree: &Tree, at: u32, node: Node) -> bool {
    tree.nodes[at as usize..node.end as usize].iter().any(|node| node.tag == Tag::Heading)
}
