//! Waste: what is on the page and not in its text.

use std::ops::Range;

use super::blocks::{PROSE_MIN, Page, density};
use super::classes::{ADVERT, AGAINST, BODY, BYLINE, CHROME, COMMENT, HIDDEN, MAIN, SIDE, SOCIAL, TEASER};
use super::names::Tag;
use super::tree::{Node, Tree};

/// How much is believed of what a page says of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Care {
    /// Names and elements.
    All,
    /// Elements only.
    Tags,
    /// Elements, and names of comments, bylines, sidebars, notices about cookies and what is hidden.
    FewNames,
    /// Names and elements, on a page whose main part is a list: links are no waste, and sentences no sign of it.
    Lists,
    /// Names and elements, on a page whose main part is what readers said.
    Threads,
}

/// A footer with more of the prose than this may be the text itself.
const FOOTER_SHARE: f32 = 0.7;
/// What is called navigation and has more of its words in links is a menu, however large, unless more than this part of the page is in it: names of what is
/// around the whole page tell of its layout.
const MENU_LINKS: f32 = 0.8;
const MENU_SHARE: f32 = 0.7;
/// What is called navigation, sidebar or the like may have as much of the prose as this.
const SIDEBAR_SHARE: f32 = 0.55;
/// Teasers with so much of the page are what the page is about.
const TEASERS_SHARE: f32 = 0.5;
/// What has less of the words of a list is one of its entries or columns.
const COLUMN_SHARE: f32 = 0.05;

/// An index of articles has so many, and none with more of the prose.
const ARTICLES_MIN: u32 = 3;
const ARTICLE_SHARE: f32 = 0.5;

/// Which blocks are waste.
pub(crate) struct Waste(Vec<bool>);

impl Waste {
    pub(crate) fn none(page: &Page) -> Waste {
        Waste(vec![false; page.blocks.len()])
    }

    pub(crate) fn has(&self, block: usize) -> bool {
        self.0[block]
    }

    /// These blocks are waste, too.
    pub(crate) fn add(&mut self, blocks: &[usize]) {
        for &block in blocks {
            self.0[block] = true;
        }
    }

    /// Everything but these, which are in order, is waste, too.
    pub(crate) fn keep_only(&mut self, parts: &[Range<usize>]) {
        let mut end = 0;
        for part in parts {
            self.0[end..part.start].fill(true);
            end = part.end;
        }
        self.0[end..].fill(true);
    }

    pub(crate) fn find(tree: &Tree, page: &Page, care: Care) -> Waste {
        let mut waste = Waste::none(page);
        let names = Names::of(tree, page, care);
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
    /// The share of articles that are called teasers or advertisements.
    teasers: f32,
    /// Whether the page has several articles: the headers of these are their titles.
    is_index: bool,
}

impl Names {
    /// What the articles of a page say of it. On the page that lists a site's articles each may be called a teaser or an advertisement.
    fn of(tree: &Tree, page: &Page, care: Care) -> Names {
        let (mut teasers, mut articles, mut greatest, mut at) = (0.0, 0, 0.0f32, page.scope());
        let end = tree.nodes[page.scope() as usize].end;
        while at < end {
            let node = tree.nodes[at as usize];
            at += 1;
            if node.tag == Tag::Article {
                let share = page.share(at - 1);
                if node.hints & (TEASER | ADVERT) != 0 {
                    teasers += share;
                    at = node.end;
                }
                greatest = greatest.max(share);
                articles += 1;
            }
        }
        Names { care, teasers, is_index: articles >= ARTICLES_MIN && greatest <= ARTICLE_SHARE }
    }
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
        Tag::Header => {
            let is_title = names.is_index && is_within_article(tree, node);
            (links > 0.4 && !is_title || !has_heading(tree, at, node)) && share < 0.2
        }
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

fn is_within_article(tree: &Tree, mut node: Node) -> bool {
    while node.parent != 0 {
        node = tree.nodes[node.parent as usize];
        if node.tag == Tag::Article {
            return true;
        }
    }
    false
}

/// Whether what the element is called is believed.
fn by_name(node: Node, share: f32, links: f32, names: Names) -> bool {
    let mut hints = node.hints;
    if names.teasers >= TEASERS_SHARE {
        hints &= !(TEASER | ADVERT);
    }
    if names.care == Care::FewNames {
        let firm = if hints & SIDE != 0 { CHROME } else { 0 };
        hints &= HIDDEN | COMMENT | BYLINE | BODY | MAIN | firm;
    }
    if names.care == Care::Threads {
        hints &= !COMMENT;
    }
    if names.care == Care::Lists {
        if hints & CHROME != 0 && links > MENU_LINKS && share < MENU_SHARE {
            return true;
        }
        // What is called teasers is the list, or a part of it.
        hints &= !TEASER;
        if share < COLUMN_SHARE || node.tag == Tag::Cell {
            // Answers, comments, promoted: entries and columns of the list.
            hints &= !(COMMENT | BYLINE | ADVERT);
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
    let limit = match hints & (MAIN | CHROME) {
        CHROME => SIDEBAR_SHARE,
        0 => 0.4,
        _ => 0.1,
    };
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
    // A main part with little prose is such a list, and is meant.
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

    #[test]
    fn a_sidebar_with_more_prose_than_the_text() {
        let page = format!(
            "<div class=content><h1>Contact</h1>{}</div><div class=sidebar>{}<ul>{}</ul></div>",
            PROSE.repeat(3),
            SMALL_PRINT.repeat(2),
            menu(20)
        );
        let text = main_text(&page);
        assert!(text.contains("Write to us") && !text.contains("trademarks"), "{text}");
    }

    #[test]
    fn parts_of_an_offer_that_are_called_banners_and_teasers() {
        let part = |name: &str| format!("<section class='{name}'><h2>Hoses</h2>{PROSE}</section>");
        let parts: String =
            ["banner-large", "teaser", "overlay-text", "carousel", "banner", "dropdown"].map(part).concat();
        let page =
            |parts: &str| format!("<ul>{}</ul><div>{PROSE}{PROSE}{parts}</div><p>12.50 €</p>", menu(20));
        let written = |parts: String| main_text(&page(&parts)).matches("Write to us").count();
        assert_eq!(written(parts.clone()), 8);
        // Beside a text of their length they are waste, and comments are always.
        assert_eq!(written(format!("{}{parts}", PROSE.repeat(6))), 8);
        assert_eq!(written(format!("{}{}", PROSE.repeat(4), part("comments").repeat(6))), 6);
        // So are notices about cookies, however long.
        assert_eq!(written(format!("{}{}", PROSE.repeat(4), part("cookie-consent").repeat(8))), 6);
    }

    #[test]
    fn an_index_of_articles_has_their_titles() {
        let entry = |at: usize| {
            format!("<article><header><h2><a href={at}>Title number {at}</a></h2></header>{PROSE}</article>")
        };
        let index: String = (0..4).map(entry).collect();
        assert_eq!(main_text(&format!("<body>{index}")).matches("Title number").count(), 4);
    }

    #[test]
    fn goods_without_what_buyers_said_and_what_is_in_the_cart() {
        let page = format!(
            "<div class=shopping_cart><p>There are 0 items in your cart, and the total, with tax, is 0 €.</p></div>
            <div><h1>Garden hose</h1><p>12.50 €</p>{}</div><div id=product-reviews><h3>Reviews</h3>{SMALL_PRINT}</div>",
            PROSE.repeat(3)
        );
        let text = main_text(&page);
        assert!(text.contains("Garden hose"), "{text}");
        assert!(!text.contains("in your cart") && !text.contains("trademarks"), "{text}");
    }
}
