//! Pages that are threads: a question or a link, and under it what readers said. Under an article comments are waste; here they are what a reader
//! came for.
//!
//! Filled when the text was found. Where that is next to nothing, and there are many comments with much more, the page is a thread. Where it is posts of a forum,
//! each in an element that is called so, it is these alone.

use std::ops::Range;

use super::blocks::Page;
use super::classes::{COMMENT, POST};
use super::names::Tag;
use super::tree::Tree;
use super::waste::Waste;

/// Text with more words in sentences is an article.
const PROSE_MAX: u32 = 60;
/// A thread has so many comments at least, and so many times the words of the text in sentences.
const COMMENTS_MIN: u32 = 3;
const TIMES: u32 = 3;
const WORDS_MIN: u32 = 60;
/// Posts of a forum: so many at least, with so much of the prose of the text, and fewer headings beside them than this part of their number. An index of
/// articles has a heading for each.
const POSTS_MIN: u32 = 3;
const POSTS_SHARE: f32 = 0.6;
const HEADINGS_MAX: f32 = 0.5;

/// Whether the page is a thread rather than the text at `place`.
pub(crate) fn is_one(tree: &Tree, page: &Page, place: u32, waste: &Waste) -> bool {
    let prose = page.kept_prose(place, waste);
    if prose > PROSE_MAX {
        return false;
    }
    let (mut comments, mut words, mut at) = (0, 0, page.scope());
    let end = tree.nodes[page.scope() as usize].end;
    while at < end {
        let node = tree.nodes[at as usize];
        if node.tag.is_block() && node.tag != Tag::Hidden && node.hints & COMMENT != 0 {
            let sums = page.sums(at);
            words += sums.words - sums.link_words;
            comments += u32::from(sums.words > 0);
            at = node.end;
        } else {
            at += 1;
        }
    }
    comments >= COMMENTS_MIN && words >= WORDS_MIN.max(TIMES * prose)
}

/// What was posted, if the text at `place` is posts: who wrote each, when, and how often before is not what a reader came for.
pub(crate) fn posts(tree: &Tree, page: &Page, place: u32, waste: &Waste) -> Vec<Range<usize>> {
    let (mut posts, mut prose, mut headings, mut at) = (Vec::new(), 0, 0u32, place);
    let end = tree.nodes[place as usize].end;
    while at < end {
        let node = tree.nodes[at as usize];
        if node.tag.is_block() && node.hints & POST != 0 && at != place {
            posts.push(page.range(at));
            prose += page.sums(at).prose;
            at = node.end;
        } else {
            headings += u32::from(node.tag == Tag::Heading);
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
        let article = format!(
            "<article>{}</article>",
            "<p>Tulips are planted in autumn, once the soil is cold, and well before it freezes.</p>"
                .repeat(8)
        );
        let text = main_text(&page(&article));
        assert!(text.contains("in autumn") && !text.contains("It froze"), "{text}");
    }

    #[test]
    fn posts_without_who_posted_them() {
        let post =
            format!("<tr><td>Gardener of the year, 1,205 posts<td><div id=post_message_7>{SAID}</div>");
        let page = format!("<body><h1>Tulips</h1><table>{}</table>", post.repeat(4));
        assert_eq!(main_text(&page), [SAID; 4].join("\n"));
        // In an index of articles each has a title besides.
        let entry =
            format!("<div><h2><a href=t>On planting</a></h2><div class=post-content>{SAID}</div></div>");
        assert_eq!(main_text(&format!("<body>{}", entry.repeat(4))).matches("On planting").count(), 4);
    }
}
