//! Pages that are lists: boards of a forum, goods of a shop, results of a search. What little is written in sentences there, like a notice about
//! cookies or the small print, is not what a reader came for.
//!
//! Filled when what was found as the text is a small part of the page, or hardly in sentences; gives back the element that holds the list. In a list, names and
//! titles are links, and numbers, prices and descriptions stand beside them. In a menu there is nothing but links of a word or three. Where a shop says much of
//! its goods beside the list of them, both are the text.

use super::blocks::{Block, Page};
use super::classes::BODY;
use super::names::Tag;
use super::place::Worth;
use super::tree::Tree;
use super::waste::{Care, Waste, has_heading};

/// Text with more words in sentences is not given up for a list; within the main part that the page declares it may have some more, and more still
/// if nothing says that it is a text, and the list is made of rows.
const PROSE_MAX: u32 = 50;
const DECLARED_PROSE_MAX: u32 = 100;
const UNNAMED_PROSE_MAX: u32 = 150;
/// Text that is a larger part of the page's words is not given up.
const TEXT_SHARE: f32 = 0.3;
/// A list has so many times the words of the text that is given up for it.
const LIST_TIMES: u32 = 3;
/// A part of so many words with less of them in sentences is a list itself.
const LIST_WORDS: u32 = 200;
const LIST_PROSE: f32 = 0.3;
/// A link of so many words is a title; one of fewer may be an entry of a menu.
const TITLE_WORDS: u32 = 4;
/// Linked words count for less than others.
const LINK_WORTH: f32 = 0.5;
/// With so many words beside links it is no menu.
const BESIDE_WORDS: u32 = 3;
const MENU_COST: f32 = 0.5;
/// A number or a price beside links.
const NUMBER_WORTH: f32 = 2.0;
/// A part with less of the worth of the list is a menu.
const MENU_SHARE: f32 = 0.3;
/// The list is in the innermost element that has this part of the worth.
const MOST: f32 = 0.7;
/// Rows: how many there are at least, and how much of the list one may have.
const ROWS_MIN: u32 = 3;
const ROW_MAX: f32 = 0.5;
/// Among goods, one block in so many is a price or another number at least.
const NUMBERS_EVERY: usize = 4;

/// The element that holds the page's list, and what is waste in it, if the page is one rather than the text at `place`, of which so many words are
/// `kept`; or the element that holds both, if these are goods.
pub(crate) fn find(tree: &Tree, page: &Page, place: u32, kept: u32) -> Option<(u32, Waste)> {
    let sums = page.sums(place);
    let is_part = kept as f32 <= TEXT_SHARE * page.words() as f32;
    let prose_max = if page.scope() == 0 { PROSE_MAX } else { DECLARED_PROSE_MAX };
    let is_notice = sums.prose <= prose_max || sums.prose <= UNNAMED_PROSE_MAX && !is_named_text(tree, place);
    let is_list = kept >= LIST_WORDS && (sums.prose as f32) < LIST_PROSE * sums.words as f32;
    // A main part that is declared, and has no prose, is the list, if it was left whole.
    let is_whole = page.scope() != 0 && !page.has_prose() && !is_part;
    if is_whole || !(is_list || is_part) {
        return None;
    }
    let waste = Waste::find(tree, page, Care::Lists);
    let worth = Worth::new(page, &waste, worth);
    let (list, best) = innermost(tree, page, &worth);
    let listed = page.kept_words(list, &waste);
    let within = |inner: u32, outer: u32| outer <= inner && inner < tree.nodes[outer as usize].end;
    if !is_list && !is_notice {
        // Goods, and what the shop says of them.
        let both = common(tree, list, place);
        let is_beside = both != list && both != place && !is_named_text(tree, place);
        let believed =
            is_beside && listed >= kept && has_rows(tree, page, &worth, list) && has_numbers(page, list);
        return believed.then_some((both, waste));
    }
    let believed = if is_list {
        let is_menu = worth.of(page, place) < MENU_SHARE * best;
        is_menu || listed > kept && (within(place, list) || within(list, place))
    } else {
        listed >= LIST_TIMES * kept && (sums.prose <= prose_max || has_rows(tree, page, &worth, list))
    };
    (best > 0.0 && believed).then_some((list, waste))
}

/// The innermost element with both of these in it.
fn common(tree: &Tree, mut one: u32, other: u32) -> u32 {
    while !(one <= other && other < tree.nodes[one as usize].end) {
        one = tree.nodes[one as usize].parent;
    }
    one
}

/// Whether a good part of the blocks has numbers, like prices.
fn has_numbers(page: &Page, list: u32) -> bool {
    let blocks = &page.blocks[page.range(list)];
    let numbers = blocks.iter().filter(|block| block.has_number && block.link_words == 0).count();
    numbers >= blocks.len() / NUMBERS_EVERY
}

/// The innermost element that has most of what is worth most, and how much that is.
fn innermost(tree: &Tree, page: &Page, worth: &Worth) -> (u32, f32) {
    let (mut list, best) = worth.greatest(tree, page);
    for at in list + 1..tree.nodes[list as usize].end {
        let inside = at < tree.nodes[list as usize].end;
        if inside && tree.nodes[at as usize].tag.is_block() && worth.of(page, at) >= MOST * best {
            list = at;
        }
    }
    (list, best)
}

/// Whether the page says that this is a text, or gives it a heading.
fn is_named_text(tree: &Tree, place: u32) -> bool {
    if has_heading(tree, place, tree.nodes[place as usize]) {
        return true;
    }
    let mut at = place;
    while at != 0 {
        let node = tree.nodes[at as usize];
        if node.hints & BODY != 0 || node.tag == Tag::Article {
            return true;
        }
        at = node.parent;
    }
    false
}

/// Whether an element is made of three or more of a kind, none of which has most of it.
fn has_rows(tree: &Tree, page: &Page, worth: &Worth, list: u32) -> bool {
    let all = worth.of(page, list);
    let (mut rows, mut in_rows, mut tag) = (0, 0.0, None);
    let mut at = list + 1;
    while at < tree.nodes[list as usize].end {
        let node = tree.nodes[at as usize];
        let own = worth.of(page, at);
        if node.tag.is_block() && own > 0.0 {
            if own > ROW_MAX * all {
                return false;
            }
            if *tag.get_or_insert(node.tag) == node.tag {
                rows += 1;
                in_rows += own;
            }
        }
        at = node.end;
    }
    rows >= ROWS_MIN && in_rows >= MOST * all
}

/// What a block counts for in a list.
fn worth(block: &Block) -> f32 {
    // A link around several blocks is an entry of the list, with all that belongs to it.
    let link_words = if block.is_card { 0 } else { block.link_words };
    let beside = block.words - link_words;
    if 2 * link_words > block.words && link_words < TITLE_WORDS * block.links && beside < BESIDE_WORDS {
        -MENU_COST * block.links as f32
    } else if link_words == 0 && block.words < TITLE_WORDS {
        if block.has_number { NUMBER_WORTH } else { 0.0 }
    } else {
        beside as f32 + LINK_WORTH * link_words as f32
    }
}

#[cfg(test)]
mod tests {
    use super::super::main_text;

    const NOTICE: &str = "<div>If this is your first visit, be sure to read the rules. You may have to register before you can post: \
        choose the board that you want to visit from the list below.</div>";

    fn menu(entries: usize) -> String {
        (0..entries).map(|entry| format!("<div><a href={entry}>Garden hoses</a></div>")).collect()
    }

    fn page(notice: &str, list: &str) -> String {
        format!("<body><div>{}</div><div>{notice}</div><div>{list}</div><i>It is noon.</i>", menu(40))
    }

    #[test]
    fn boards_of_a_forum() {
        let row = "<tr><td><a href=b>Bulbs</a><div>Tulips, crocuses and others</div><td>1,205<td>17,300\
            <td class=latest>Today by <a href=u>Ann</a></tr>";
        let expected = "Bulbs\nTulips, crocuses and others\n1,205\t17,300\tToday by Ann\n".repeat(50);
        for times in [1, 3] {
            let text = main_text(&page(&NOTICE.repeat(times), &format!("<table>{}</table>", row.repeat(50))));
            assert_eq!(text, expected.trim_end());
        }
    }

    #[test]
    fn goods_of_a_shop() {
        for good in [
            "<form action=cart><div><a href=g>Can</a></div><div>12.50 €</div></form>",
            "<a href=g><div>Can</div><div>12.50 €</div></a>",
            "<div class=promo><h3><a href=g>Can</a></h3><span>12.50 €</span></div>",
        ] {
            let text = main_text(&page(NOTICE, &good.repeat(80)));
            let expected = "Can\n12.50 €\n".repeat(80);
            assert_eq!(text, expected.trim_end(), "{good}");
        }
    }

    #[test]
    fn a_menu_is_no_list() {
        let page = page(NOTICE, &menu(80));
        assert!(main_text(&page).starts_with("If this is your first visit"), "{}", main_text(&page));
    }

    #[test]
    fn a_short_article_is_not_given_up_for_what_surrounds_it() {
        let teasers =
            "<li><a href=t>Ten things that nobody knows about tulips</a><div>1,205 readers</div>".repeat(40);
        let article = "<p>The night was cold, and of the tulips none are left. Those who had covered theirs, as we advised, are well, \
            and so are the bulbs. Whoever wants to plant again should wait for two weeks, because the soil is wet, and then ask us \
            for advice. The next market is on Sunday, as always, from nine to noon, and there is soup.</p>";
        for article in [
            format!("<div><h1>Frost</h1>{article}</div>"),
            format!("<div class=article-body>{article}</div>"),
        ] {
            let text = main_text(&format!("<body>{article}<ul>{teasers}</ul>"));
            assert!(text.contains("The night was cold") && !text.contains("Ten things"), "{text}");
        }
    }

    #[test]
    fn goods_of_a_shop_and_what_it_says_of_them() {
        let praise = "<p>Our hoses are made to last, of rubber, by hand, and in the colours of the season: whoever has one wants another.</p>";
        let good = "<li><h3><a href=g>Hose of green rubber</a></h3><div>12.50 €</div>";
        let page = format!(
            "<body><div>{}</div><div class=x><ul>{}</ul><div>{}</div></div><i>It is noon.</i>",
            menu(150),
            good.repeat(150),
            praise.repeat(8)
        );
        let text = main_text(&page);
        assert_eq!(text.matches("12.50 €").count(), 150, "{text}");
        assert_eq!(text.matches("made to last").count(), 8, "{text}");
        assert!(!text.contains("Garden"), "{text}");
    }

    #[test]
    fn entries_may_have_a_sentence() {
        let links = "<div><div><a href=p>Where to plant it in autumn</a></div><div><a href=d>When to dig it out again</a></div></div>";
        let entry = format!("<li><div>A bulb for the garden</div><div>12.50 €</div>{links}");
        let said = "<p>Write to us, or call: we answer within a day, and in most cases before the evening of the same one.</p>";
        let entries = format!("{entry}{said}{entry}{entry}").repeat(10);
        let text = main_text(&format!("<body><div>{}</div><ul>{entries}</ul><i>It is noon.</i>", menu(40)));
        assert_eq!(
            (text.matches("Write to us").count(), text.matches("dig it out").count()),
            (10, 30),
            "{text}"
        );
    }

    #[test]
    fn what_is_around_the_whole_page_is_no_menu() {
        let name = "Hose of green rubber, made by hand in the colours of the season";
        let good = format!("<div><div><a href=g>{name}</a></div><div>12.50 €</div></div>");
        let page =
            format!("<body><div class='page menu-closed'><div>{NOTICE}</div>{}</div>", good.repeat(80));
        assert_eq!(main_text(&page).matches("12.50 €").count(), 80, "{}", main_text(&page));
    }

    #[test]
    fn what_is_called_teasers_is_the_list() {
        let good = "<li><a href=g>Hose of green rubber</a><div>12.50 €</div>";
        let list = format!("<ul class=product-teasers>{}</ul>", good.repeat(40));
        let text = main_text(&format!("<body><div>{}</div><div>{NOTICE}</div><div>{list}</div>", menu(300)));
        assert_eq!(text.matches("12.50 €").count(), 40, "{text}");
    }
}
