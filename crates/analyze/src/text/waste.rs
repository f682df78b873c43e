//! Waste: what is on the page and not in its text.

use super::blocks::{PROSE_MIN, Page, density};
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
    /// Names and elements, on a page whose main part is a list: links are no waste, and sentences no sign of it.
    Lists,
}

/// A footer with more of the prose than this may be the text itself.
const FOOTER_SHARE: f32 = 0.7;
/// What is called navigation and has more of its words in links is a menu, however large.
const MENU_LINKS: f32 = 0.8;
/// Teasers with so much of the page are what the page is about.
const TEASERS_SHARE: f32 = 0.5;
/// What has less of the words of a list is one of its entries or columns.
const COLUMN_SHARE: f32 = 0.05;

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
        let names = Names { care, teasers: teasers(tree, page) };
        let mut at = 1;
        while at < tree.nodes.len() {
            let node = tree.nodes[at];
            let range = page.range(at as u32);
            if node.tag.is_block() && !range.is_empty() && is_waste(tree, page, at as u32, node, names) {
                waste.0[range].fill(true);
                at = node.end as usize;
            } else {
                at += 1;
            }
        }
        waste
    }
}

/// What is known before names are believed.
#[derive(Clone, Copy)]
struct Names {
    care: Care,
    /// The share of articles that are called teasers.
    teasers: f32,
}

/// The share of all articles that are called teasers or advertisements: on the page that lists a site's articles each is.
fn teasers(tree: &Tree, page: &Page) -> f32 {
    let (mut share, mut at) = (0.0, page.scope());
    let end = tree.nodes[page.scope() as usize].end;
    while at < end {
        let node = tree.nodes[at as usize];
        if node.tag == Tag::Article && node.hints & (TEASER | ADVERT) != 0 {
            share += page.share(at);
            at = node.end;
        } else {
            at += 1;
        }
    }
    share
}

fn is_waste(tree: &Tree, page: &Page, at: u32, node: Node, names: Names) -> bool {
    let care = names.care;
    let sums = page.sums(at);
    let share = if care == Care::Lists { page.share_of_words(at) } else { page.share(at) };
    let links = density(sums.link_words, sums.words);
    let by_tag = match node.tag {
        Tag::Nav => share < 0.4 || links > 0.5,
        Tag::Footer => share < FOOTER_SHARE || page.share_of_words(at) < 0.3,
        Tag::Aside => share < 0.3,
        Tag::Header => (links > 0.4 || !has_heading(tree, at, node)) && share < 0.2,
        // Where goods are sold, each is a form.
        Tag::Form => care != Care::Lists && share < 0.2,
        _ => false,
    };
    if by_tag {
        return true;
    }
    if care != Care::Tags && node.hints & AGAINST != 0 && by_name(node, share, links, names) {
        return true;
    }
    care != Care::Lists && is_link_list(page, at, node, share, links)
}

/// Whether what the element is called is believed.
fn by_name(node: Node, share: f32, links: f32, names: Names) -> bool {
    let mut hints = node.hints;
    if names.teasers >= TEASERS_SHARE {
        hints &= !(TEASER | ADVERT);
    }
    if names.care == Care::Lists {
        if hints & CHROME != 0 && links > MENU_LINKS {
            return true;
        }
        if share < COLUMN_SHARE || node.tag == Tag::Cell {
            // Answers, comments, latest, promoted: entries and columns of the list.
            hints &= !(TEASER | COMMENT | BYLINE | ADVERT);
        }
    }
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
            links > 0.6 && share < 0.4 && blocks >= 2 && page.sums(at).prose < PROSE_MIN
        }
        _ => false,
    }
}

pub(crate) fn has_heading(tree: &Tree, at: u32, node: Node) -> bool {
    tree.nodes[at as usize..node.end as usize].iter().any(|node| node.tag == Tag::Heading)
}

#[cfg(test)]
mod tests {
    use super::super::main_text;

    const PROSE: &str = "<p>Write to us, or call: we answer within a day, and in most cases before the evening of the same one.</p>";
    const SMALL_PRINT: &str = "<p>All trademarks are those of their owners, and nothing here may be reproduced, stored or sold without \
        consent in writing. Offers are subject to change, errors are excepted, and no liability is accepted for anything at all.</p>";

    fn menu(entries: usize) -> String {
        (0..entries).map(|entry| format!("<li><a href={entry}>Entry {entry}</a>")).collect()
    }

    #[test]
    fn a_footer_with_most_of_the_prose_is_no_text() {
        let page =
            format!("<ul>{}</ul><div><h1>Contact</h1>{PROSE}</div><footer>{SMALL_PRINT}</footer>", menu(60));
        assert!(main_text(&page).ends_with("same one."), "{}", main_text(&page));
        // Unless there is nothing else.
        assert!(main_text(&format!("<footer>{SMALL_PRINT}</footer>")).starts_with("All trademarks"));
    }

    #[test]
    fn a_part_with_prose_is_no_list_of_links() {
        let page = format!(
            "<div><div><ul>{}</ul></div><div><h1>Contact</h1>{}</div></div><div>{SMALL_PRINT}</div><footer>{}</footer>",
            menu(100),
            PROSE.repeat(3),
            SMALL_PRINT.repeat(2)
        );
        assert!(main_text(&page).contains("Write to us"), "{}", main_text(&page));
    }

    #[test]
    fn teasers_are_text_where_there_is_nothing_else() {
        let teaser = format!(
            "<article class='node node-teaser'><h2>Title</h2><div class=view-teaser>{PROSE}</div></article>"
        );
        let list = format!("<main>{SMALL_PRINT}{}</main>", teaser.repeat(4));
        assert_eq!(main_text(&list).matches("Write to us").count(), 4, "{}", main_text(&list));
        let article =
            format!("<main><article>{}</article>{}</main>", SMALL_PRINT.repeat(5), teaser.repeat(2));
        assert!(!main_text(&article).contains("Write to us"), "{}", main_text(&article));
    }
}
