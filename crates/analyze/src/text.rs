//! The main text of a page: what a reader came for, without navigation, advertisements, teasers and small print.
//!
//! Filled with a decoded page; gives back its text, a line per block. No rule is made for a site, and nothing is learnt: all rules
//! are about what is true of pages everywhere. The steps, each linear in the page:
//!
//! 1. [`tree`]: a light tree out of the scanner's tags, in one array in the order of the page. `names` says which elements open blocks or are never shown,
//!    `classes` what the words of `class` and `id` give away.
//! 2. [`blocks`]: runs of text between block boundaries, with their words, linked words and sentences. Sums over any element are differences of two entries.
//! 3. [`declared`]: the part that the page itself declares to be its main one, if it does. Nothing else counts then.
//! 4. [`waste`]: elements that say they are navigation, comments, sharing and the like, or that hold nothing but links, unless most of the page is in them.
//!    Where most of its sentences would go, few names are believed.
//! 5. [`place`]: the element that holds the main text: the greatest sum of what its blocks are worth, where links and scraps cost.
//! 6. [`threads`]: whether the page is a thread, where what readers said is the text; steps 4 and 5 are done again then, and step 7 is not. Of posts in a forum,
//!    what was posted.
//! 7. [`lists`]: the element that holds the page's list, if the page is one, and what was found is a notice beside it.
//! 8. [`write`]: the blocks of that element that are not waste.
//!
//! Bounds: depth, elements and text are capped ([`tree::DEPTH_MAX`], [`tree::NODES_MAX`], [`TEXT_BYTES_MAX`]); what is beyond
//! counts as not written.

mod blocks;
mod classes;
mod declared;
mod lists;
mod names;
mod place;
mod threads;
mod tree;
mod waste;
mod write;

use blocks::Page;
use tree::Tree;

/// As much of the main text as is kept.
pub(crate) const TEXT_BYTES_MAX: usize = 4 << 20;
/// With fewer words than this, what was taken for waste is looked at again.
const WORDS_MIN: u32 = 25;
/// Where names of waste leave less than this part of what is in sentences, a page may call its own parts banners and teasers: only names of comments
/// and of what is hidden are believed then, if they leave so many times as much.
const NAMES_LEAVE: f32 = 0.5;
const MORE_TIMES: f32 = 1.5;
/// With fewer words than this to see, a page may have its text in `noscript`, where scripts take it from,
const VISIBLE_WORDS_MIN: u32 = 60;
/// if so much stands there: a notice that scripts are needed is shorter.
const UNSCRIPTED_BYTES_MIN: usize = 400;

/// The main text of a page, a line per block; empty if it has none.
pub(crate) fn main_text(html: &str) -> String {
    let mut tree = Tree::read(html);
    let mut page = Page::new(&tree, html);
    if page.words() < VISIBLE_WORDS_MIN && tree.unscripted_bytes >= UNSCRIPTED_BYTES_MIN {
        tree = Tree::read_unscripted(html);
        page = Page::new(&tree, html);
    }
    if let Some(main) = declared::find(&tree, &page) {
        page.look_within(main);
    }
    let mut waste = waste::Waste::find(&tree, &page, waste::Care::All);
    let mut place = place::find(&tree, &page, &waste);
    let mut is_thread = false;
    if page.kept_words(place, &waste) < WORDS_MIN.min(page.words() / 2) {
        waste = waste::Waste::find(&tree, &page, waste::Care::Tags);
        place = place::find(&tree, &page, &waste);
    } else if let Some(comments) = threads::find(&tree, &page, place, &waste) {
        waste = waste::Waste::find(&tree, &page, waste::Care::Threads);
        waste.add(&threads::furniture(&tree, &page, &comments, html));
        place = place::find(&tree, &page, &waste);
        is_thread = true;
    } else {
        let scope = page.scope();
        let left = page.kept_prose(scope, &waste) as f32;
        if left < NAMES_LEAVE * page.sums(scope).prose as f32 {
            let by_few = waste::Waste::find(&tree, &page, waste::Care::FewNames);
            if page.kept_prose(scope, &by_few) as f32 >= MORE_TIMES * left {
                waste = by_few;
                place = place::find(&tree, &page, &waste);
            }
        }
    }
    let kept = page.kept_words(place, &waste);
    if !is_thread && let Some((list, waste)) = lists::find(&tree, &page, place, kept) {
        return write::list(&tree, &page, &waste, list, html);
    }
    if kept == 0 {
        // Nothing but waste: better than nothing.
        return write::everything(&tree, &page, html);
    }
    let posts = threads::posts(&tree, &page, place, &waste);
    if !posts.is_empty() {
        waste.keep_only(&posts);
    }
    write::text(&tree, &page, &waste, place, html)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ARTICLE: &str = "<p>The first paragraph says what happened, where it happened, and who was there when it did.</p>
        <p>The second one, as is the custom, tells <a href=x>the same</a> again with more words and a quotation.</p>
        <h2>A heading</h2><ul><li>one thing<li>another</ul><pre>let x = 1;\n  let y;</pre>
        <table><tr><td>a<td>b<tr><td>c<td>d</table><blockquote>Somebody said so &amp; meant it, after all.</blockquote>";

    fn page(around: &str) -> String {
        let page = "<html><head><title>T</title></head><body><header><a href=/>Home</a> <a href=/n>News</a></header>
            <nav><ul><li><a href=1>One</a><li><a href=2>Two</a></ul></nav>
            <div class='sidebar'><p>Subscribe to our newsletter today, dear reader, it is free.</p></div>AROUND
            <div class=related-posts><h3>More</h3><a href=3>Ten things that you did not know about paragraphs</a></div>
            <div id=comments><p>First! I do not agree with any of this, and I never will.</p></div>
            <footer>Copyright 2020, all rights reserved, imprint and privacy.</footer><script>var x;</script></body>";
        page.replace("AROUND", around)
    }

    #[test]
    fn the_article_and_nothing_else() {
        let expected = "The first paragraph says what happened, where it happened, and who was there when it did.\n\
            The second one, as is the custom, tells the same again with more words and a quotation.\n\
            A heading\none thing\nanother\nlet x = 1;\n  let y;\na\tb\nc\td\n\
            Somebody said so & meant it, after all.";
        for around in [
            format!("<div class=x>{ARTICLE}</div>"),
            format!("<main>{ARTICLE}</main>"),
            format!("<div><table><tr><td>{ARTICLE}</table></div>"),
            format!(
                "<div><article class='post has-sidebar'><div class=post-content>{ARTICLE}</div><div class=tags><a href=t>tag</a></div></article></div>"
            ),
            ARTICLE.to_owned(),
        ] {
            assert_eq!(main_text(&page(&around)), expected, "{around}");
        }
    }

    #[test]
    fn what_a_page_declares_is_its_main_part_even_without_prose() {
        let list = "<h1>Classes</h1><ul><li><a href=a>Apple</a><ul><li><a href=b>Boskoop</a></ul><li><a href=c>Cherry</a></ul>";
        let expected = "Classes\nApple\nBoskoop\nCherry";
        let small_print = "<footer><p>For further reference see the documentation, which has more detailed descriptions, definitions of terms, \
            workarounds, and examples that work. All rights reserved, in this and in other countries, and their affiliates.</p></footer>";
        for declared in [format!("<main>{list}</main>"), format!("<div role=main>{list}</div>")] {
            let html = format!("<nav><a href=x>Overview</a> <a href=y>Tree</a></nav>{declared}{small_print}");
            assert_eq!(main_text(&html), expected, "{html}");
        }
        // It may begin with a few sentences.
        let intro = "<p>These are all kinds of apples that grow in our garden, with the month in which they are ripe.</p>".repeat(3);
        let entries: String = (0..60).map(|at| format!("<li><a href={at}>Apple {at}</a>")).collect();
        let main = format!("<main><h1>Apples</h1>{intro}<div><ul>{entries}</ul></div></main>{small_print}");
        assert_eq!(main_text(&main).matches("\nApple").count(), 60, "{}", main_text(&main));
        // One that holds next to nothing is not believed, nor is one of several.
        let elsewhere = format!("<main><h1>Welcome</h1></main><div>{ARTICLE}</div>");
        assert!(main_text(&page(&elsewhere)).contains("The second one"));
        let twice = format!("<main><p>Nothing, as yet.</p></main><main>{ARTICLE}</main>");
        assert!(main_text(&page(&twice)).contains("The second one"));
    }

    #[test]
    fn a_page_of_little_text_has_it_all() {
        assert_eq!(main_text("<p>Hello</p><p>world"), "Hello\nworld");
        assert_eq!(main_text("<div class=comments>Only this."), "Only this.");
        assert_eq!(main_text("<nav><a href=x>Only this"), "Only this");
        assert_eq!(main_text("<div style='display: none'>x</div><b hidden>y</b>"), "x");
        assert_eq!(main_text(""), "");
        assert_eq!(main_text("<script>x</script>"), "");
    }

    #[test]
    fn a_part_of_the_text_may_be_a_link_as_a_whole() {
        let card =
            "<a href=h><div>Hoses of rubber</div><p>Made by hand, in the colours of the season.</p></a>";
        let text = main_text(&page(&format!(
            "<div>{ARTICLE}{card}<div><a href=a>All hoses</a></div>{ARTICLE}</div>"
        )));
        assert!(text.contains("Hoses of rubber\nMade by hand"), "{text}");
        assert!(!text.contains("All hoses"), "{text}");
    }

    #[test]
    fn what_is_named_after_something_hidden_is_shown() {
        for name in ["overflow-hidden", "hide-when-deleted", "hide-scrollbar", "lg:hidden"] {
            let text = main_text(&page(&format!("<div class='box {name}'>{ARTICLE}</div>")));
            assert!(text.starts_with("The first paragraph"), "{name}: {text}");
        }
        for name in ["hidden", "is-hidden", "js-hide", "d-none"] {
            let text = main_text(&page(&format!(
                "<div>{ARTICLE}<p class='{name}'>Twice, for small screens.</p></div>"
            )));
            assert!(text.contains("The second one") && !text.contains("Twice"), "{name}: {text}");
        }
    }

    #[test]
    fn what_only_browsers_without_scripts_show_is_the_text_of_a_page_without_another() {
        let said =
            "<p>It froze again last night, so I would wait for a week before planting anything out.</p>";
        let thread = format!("<noscript><div class=thread>{}</div></noscript>", said.repeat(6));
        let shell = |noscript: &str| {
            format!("<body><header><a href=/>Garden boards</a></header>{noscript}<div id=app></div>")
        };
        assert_eq!(main_text(&shell(&thread)).matches("It froze").count(), 6);
        // A notice is no text,
        let notice =
            "<noscript>Please enable scripts to read these boards, or use another browser.</noscript>";
        assert_eq!(main_text(&shell(notice)), "Garden boards");
        // and a page that has another needs none.
        let text = main_text(&page(&format!("<div>{ARTICLE}</div>{thread}")));
        assert!(text.contains("The second one") && !text.contains("It froze"), "{text}");
    }

    #[test]
    fn two_line_breaks_are_a_paragraph() {
        assert_eq!(
            main_text("<div>one<br>two<br><br>three&nbsp; four<br> <br></div>"),
            "one two\nthree four"
        );
        assert_eq!(main_text("<p>Boots\u{ad}fahrt, sanft&shy;er"), "Bootsfahrt, sanfter");
    }

    #[test]
    fn scripts_without_blanks_have_words() {
        let article = "これは長い文章です。読点、句点もあります。".repeat(5);
        let numbers: String = article.chars().map(|letter| format!("&#{};", u32::from(letter))).collect();
        for text in [&article, &numbers] {
            let found = main_text(&page(&format!("<div><p>{text}</p></div>")));
            assert_eq!(found, article);
        }
    }

    #[test]
    fn hostile_pages() {
        for (part, times) in [
            ("<div>", 2_000_000),
            ("<b>", 1_000_000),
            ("<p>a", 1_000_000),
            ("<header><b>a</b>", 300_000),
            ("<table><tr><td>a", 300_000),
            ("</div>", 1_000_000),
            ("<a href=x class='nav menu'>a ", 200_000),
            ("<ul><li>a, b. ", 300_000),
            ("<svg>", 1_000_000),
            ("&#x30AF;", 500_000),
            ("<", 3_000_000),
            ("<button>", 500_000),
        ] {
            let page = part.repeat(times);
            let text = main_text(&page);
            assert!(text.len() <= TEXT_BYTES_MAX, "{part}");
        }
    }

    proptest! {
        #[test]
        fn any_markup(html in "(<p>|</p>|<div class=nav>|<div class=article-body>|<div class=comment>|<div class=post-content>|<div class=product-teasers>|<div class=sidebar>|</div>|<article>|</article>|5 points|12\\.50 €|<a href=x>|</a>|<br>|<table>|<tr>|<td>|</table>|<ul>|<li>|</ul>|<pre>|</pre>|<svg>|</svg>|<b hidden>|</b>|<main>|<header>|<h1>|</h1>|<select>|</select>|<!--|-->|&amp;|&#12354;|ä|語| |\\n|One, two. Three four five six seven eight\\. |word|<|>){0,120}") {
            let text = main_text(&html);
            prop_assert_eq!(text.trim_end(), &text);
            prop_assert!(!text.contains('<') || html.contains("< ") || html.contains("<") );
        }

        #[test]
        fn any_text(html in "\\PC{0,200}") {
            main_text(&html);
        }
    }
}
