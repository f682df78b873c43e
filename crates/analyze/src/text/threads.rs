//! Pages that are threads: a question or a link, and under it what readers said. Under an article comments are waste; here they are what a reader
//! came for.
//!
//! Filled when the text was found. Where that is next to nothing, or stands below the comments, and there are many of these with more words, the page is a
//! thread; dates and scores, which are among the comments again and again, and what is below them, are then waste. Where the text is posts of a forum,
//! each in an element that is called so, it is these alone.

use std::ops::Range;

use super::blocks::{Block, Page};
use super::classes::{COMMENT, POST};
use super::names::Tag;
use super::tree::Tree;
use super::waste::Waste;

/// Text with more words in sentences is an article.
const PROSE_MAX: u32 = 400;
/// A thread has so many comments at least, and so many times the words of the text in sentences.
const COMMENTS_MIN: u32 = 3;
const TIMES: u32 = 3;
const WORDS_MIN: u32 = 60;
/// So few words, with a number, that are found so often among the comments, are none of them.
const SHAPE_WORDS: u32 = 8;
const SAME_MIN: usize = 3;
/// Posts of a forum: so many at least, with so much of the prose of the text, and fewer headings beside them than this part of their number. An index of
/// articles has a heading for each.
const POSTS_MIN: u32 = 3;
const POSTS_SHARE: f32 = 0.6;
const HEADINGS_MAX: f32 = 0.5;
/// Headings of fewer words are names and ranks of those who posted.
const TITLE_WORDS: u32 = 4;

/// The comments of the page, as the blocks from the first to the last of them, if it is a thread rather than the text at `place`.
pub(crate) fn find(tree: &Tree, page: &Page, place: u32, waste: &Waste) -> Option<Range<usize>> {
    let prose = page.kept_prose(place, waste);
    // Cheap, and enough for nearly all articles.
    let above = &tree.nodes[page.scope() as usize..place as usize];
    if prose > PROSE_MAX && above.iter().all(|node| node.hints & COMMENT == 0) {
        return None;
    }
    let comments = Comments::read(tree, page);
    // Readers speak of what stands above: a text below is not what they speak of.
    let is_below = page.range(place).start >= comments.blocks.end;
    let times = if is_below { 1 } else { TIMES };
    let is_thread = (prose <= PROSE_MAX || is_below)
        && comments.count >= COMMENTS_MIN
        && comments.words >= WORDS_MIN.max(times * prose);
    is_thread.then_some(comments.blocks)
}

/// What is called so.
struct Comments {
    count: u32,
    /// Without links.
    words: u32,
    /// From the first of the first to the last of the last.
    blocks: Range<usize>,
}

impl Comments {
    fn read(tree: &Tree, page: &Page) -> Comments {
        let mut all = Comments { count: 0, words: 0, blocks: 0..0 };
        let mut at = page.scope();
        let end = tree.nodes[at as usize].end;
        while at < end {
            let node = tree.nodes[at as usize];
            if node.tag.is_block() && node.tag != Tag::Hidden && node.hints & COMMENT != 0 {
                let (sums, own) = (page.sums(at), page.range(at));
                if sums.words > 0 {
                    let start = if all.count == 0 { own.start } else { all.blocks.start };
                    all.blocks = start..own.end;
                    all.words += sums.words - sums.link_words;
                    all.count += 1;
                }
                at = node.end;
            } else {
                at += 1;
            }
        }
        all
    }
}

/// What is waste in a thread besides: all below the comments, and the same few words with a number again and again, like dates, scores and counts of answers.
pub(crate) fn furniture(tree: &Tree, page: &Page, comments: &Range<usize>, html: &str) -> Vec<usize> {
    let is_short = |at: &usize| page.blocks[*at].words <= SHAPE_WORDS && page.blocks[*at].has_number;
    let mut shapes: Vec<(Vec<u8>, usize)> =
        comments.clone().filter(is_short).map(|at| (shape(tree, &page.blocks[at], html), at)).collect();
    shapes.sort_unstable();
    let same = shapes.chunk_by(|one, other| one.0 == other.0).filter(|same| same.len() >= SAME_MIN);
    same.flatten().map(|(_, at)| *at).chain(comments.end..page.blocks.len()).collect()
}

/// The letters of a block, with a mark for each number.
fn shape(tree: &Tree, block: &Block, html: &str) -> Vec<u8> {
    let mut shape = Vec::new();
    for node in &tree.nodes[block.first as usize..block.last as usize] {
        if node.tag != Tag::Text {
            continue;
        }
        for &byte in &html.as_bytes()[node.from as usize..node.to as usize] {
            if byte.is_ascii_digit() {
                if shape.last() != Some(&b'0') {
                    shape.push(b'0');
                }
            } else if byte.is_ascii_alphabetic() || byte >= 0x80 {
                shape.push(byte);
            }
        }
    }
    shape
}

/// What was posted, if the text at `place` is posts: who wrote each, when, and how often before is not what a reader came for.
pub(crate) fn posts(tree: &Tree, page: &Page, place: u32, waste: &Waste) -> Vec<Range<usize>> {
    let (mut posts, mut prose, mut headings, mut at) = (Vec::new(), 0, 0u32, place);
    let end = tree.nodes[place as usize].end;
    while at < end {
        let node = tree.nodes[at as usize];
        if node.tag.is_block() && node.hints & POST != 0 && at != place {
            // Where nothing was written there is no place either.
            posts.extend(Some(page.range(at)).filter(|blocks| !blocks.is_empty()));
            prose += page.sums(at).prose;
            at = node.end;
        } else {
            headings += u32::from(node.tag == Tag::Heading && page.sums(at).words >= TITLE_WORDS);
            at += 1;
        }
    }
    let count = posts.len() as u32;
    let are_posts = count >= POSTS_MIN
        && headings as f32 <= HEADINGS_MAX * count as f32
        && prose as f32 >= POSTS_SHARE * page.kept_prose(place, waste) as f32;
    if are_posts { posts } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::super::main_text;

    const SAID: &str = "It froze again last night, so I would wait for a week before planting anything out.";

    #[test]
    fn comments_are_the_text_of_a_thread() {
        let comment = format!("<div class='comment x1'><a href=u>ann</a> 5 points<p>{SAID}</p></div>");
        let rules = "<li>Be kind to all others, please.".repeat(8);
        let page = |text: &str| {
            let said = comment.repeat(9);
            format!("<body><h1>When do you plant tulips?</h1>{text}<div>{said}</div><ul>{rules}</ul>")
        };
        assert_eq!(main_text(&page("")).matches("It froze").count(), 9);
        // A long one is what the others speak of.
        let question =
            "<p>Mine came up in February, and now it snows again, so that I wonder what you do about it.</p>"
                .repeat(6);
        let text = main_text(&page(&question).replace(SAID, &SAID.repeat(4)));
        assert_eq!(
            (text.matches("Mine came up").count(), text.matches("It froze").count()),
            (6, 36),
            "{text}"
        );
        let article = format!(
            "<article>{}</article>",
            "<p>Tulips are planted in autumn, once the soil is cold, and well before it freezes.</p>"
                .repeat(8)
        );
        let text = main_text(&page(&article));
        assert!(text.contains("in autumn") && !text.contains("It froze"), "{text}");
    }

    const RULE: &str = "<p>Whoever is rude to others, in whatever words, is asked to leave, and will not be let in again.</p>";

    #[test]
    fn a_thread_without_dates_scores_and_what_is_below_it() {
        let comment =
            |score: String| format!("<div class=comment><div>ann</div><div>{score}</div><p>{SAID}</p></div>");
        let rules = RULE.repeat(5);
        let page = |comments: &str| {
            format!("<body><div><h1>Tulips</h1>{comments}</div><div><h2>Rules</h2>{rules}</div>")
        };
        let comments: String = (1..8).map(|at| comment(format!("{at}.5k points, {at} days ago"))).collect();
        assert_eq!(main_text(&page(&comments)), format!("Tulips{}", format!("\nann\n{SAID}").repeat(7)));
        // Above the comments it is what they are about.
        for above in ["", &comments] {
            let article = format!(
                "<body><div>{above}</div><div><h1>Rules</h1>{}</div><div>{}</div>",
                rules.repeat(5),
                comments.repeat(16)
            );
            let text = main_text(&article);
            assert!(text.contains("rude") && !text.contains("It froze"), "{text}");
        }
        // Twice is no rule, nor are words without a number.
        let few: String =
            (0..8).map(|at| comment(if at < 2 { format!("In {at} days") } else { "Soon".into() })).collect();
        let text = main_text(&page(&few));
        assert_eq!((text.matches("days").count(), text.matches("Soon").count()), (2, 6), "{text}");
        assert!(!text.contains("rude"), "{text}");
    }

    #[test]
    fn a_thread_of_few_words_is_no_list() {
        let comments = "<div class=comment><p>Not before May, I think.</p></div>".repeat(20);
        let boards = "<div><a href=b>Boards about all kinds of bulbs</a><div>1,205 readers</div></div>";
        let page = format!("<body><div>{comments}</div><div>{}{}</div>", RULE.repeat(4), boards.repeat(60));
        assert_eq!(main_text(&page), ["Not before May, I think."; 20].join("\n"));
    }

    #[test]
    fn posts_without_who_posted_them() {
        let post =
            format!("<tr><td>Gardener of the year, 1,205 posts<td><div id=post_message_7>{SAID}</div>");
        let page = format!("<body><h1>Tulips</h1><table>{}</table>", post.repeat(4));
        assert_eq!(main_text(&page), [SAID; 4].join("\n"));
        // Names of people may be headings.
        let named = post.replace("<tr><td>", "<tr><td><h4>Ann Elk</h4><h5>Full member</h5>");
        let page = format!("<body><h1>Tulips</h1><table>{}</table>", named.repeat(4));
        assert_eq!(main_text(&page), [SAID; 4].join("\n"));
        // In an index of articles each has a title besides.
        let entry = format!(
            "<div><h2><a href=t>On planting in autumn</a></h2><div class=post-content>{SAID}</div></div>"
        );
        assert_eq!(
            main_text(&format!("<body>{}", entry.repeat(4))).matches("On planting in autumn").count(),
            4
        );
    }
}
