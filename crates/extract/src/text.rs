//! The visible text of a page, and its headings.
//!
//! Filled by the scanner, piece by piece; emptied once, at the end of the page. Blocks stand on lines of their own, blanks are collapsed. What is
//! around the content rather than in it is left out: navigation, footers, asides, controls, pictures, and what is shown
//! only without scripts. There is no tree: an element that is left out ends at its own end tag, or where `main`
//! begins, so that one that is never closed does not take the page with it.
//!
//! Costs: each piece is decoded once and copied once; what is left out is not decoded. Memory is bounded by
//! [`Options::text_bytes_max`], [`Options::raw_text_bytes_max`] and a fixed number of headings.

use std::borrow::Cow;

use encoding_rs::Encoding;

use crate::entities::{Context, decode};
use crate::names::{Flow, Key, key};
use crate::{Options, work};

/// A heading of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// 1 for `h1`, and so on to 6.
    pub level: u8,
    /// Its text, blanks collapsed, cut at a kilobyte; never empty.
    pub text: String,
}

/// What was found.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) text: Option<String>,
    pub(crate) raw: Option<Vec<u8>>,
    pub(crate) headings: Vec<Heading>,
}

const HEADINGS_MAX: usize = 256;
/// Room for the text of a small page, at once.
const CAPACITY: usize = 4 << 10;
const HEADING_BYTES_MAX: usize = 1024;

pub(crate) struct TextReader {
    encoding: &'static Encoding,
    text: Option<Lines>,
    raw: Option<Raw>,
    /// `None` if nobody asked.
    headings: Option<Vec<Heading>>,
    heading: Option<(u8, Lines)>,
    /// The element that is left out, and how many of its kind are open.
    hidden: Option<(Key, u32)>,
    /// There is room for no more.
    done: bool,
}

impl TextReader {
    pub(crate) fn new(options: &Options, encoding: &'static Encoding) -> TextReader {
        TextReader {
            encoding,
            text: options.text.then(|| Lines::new(options.text_bytes_max)),
            raw: options.raw_text.then(|| Raw::new(options.raw_text_bytes_max)),
            headings: options.headings.then(Vec::new),
            heading: None,
            hidden: None,
            done: false,
        }
    }

    pub(crate) fn text(&mut self, raw: &[u8]) {
        if self.done {
            return;
        }
        if let Some(bytes) = self.raw.as_mut().filter(|_| self.hidden.is_none()) {
            bytes.push(raw);
        }
        self.read(raw);
        let full =
            self.text.as_ref().is_none_or(Lines::is_full) && self.raw.as_ref().is_none_or(Raw::is_full);
        self.done = full && self.headings.is_none();
    }

    fn read(&mut self, raw: &[u8]) {
        let in_text = self.text.as_mut().filter(|text| self.hidden.is_none() && !text.is_full());
        let in_heading = self.heading.as_mut().map(|(_, text)| text).filter(|text| !text.is_full());
        if in_text.is_none() && in_heading.is_none() {
            return;
        }
        work::count(raw.len());
        let text = match std::str::from_utf8(raw) {
            Ok(text) if raw.is_ascii() || self.encoding == encoding_rs::UTF_8 => Cow::Borrowed(text),
            _ => self.encoding.decode_without_bom_handling(raw).0,
        };
        let text = decode(text, Context::Text);
        for lines in in_text.into_iter().chain(in_heading) {
            lines.push(&text);
        }
    }

    /// `empty`: there will be no end tag.
    pub(crate) fn start(&mut self, name: &[u8], empty: bool) {
        if self.done {
            return;
        }
        let Some(flow) = Flow::of(name) else { return };
        match flow {
            Flow::Hidden if empty => {}
            Flow::Hidden => {
                let name = key(name);
                match &mut self.hidden {
                    Some((hidden, depth)) => *depth += u32::from(*hidden == name),
                    None => self.hidden = Some((name, 1)),
                }
                self.gap(Gap::Line);
            }
            Flow::Main => {
                self.hidden = None;
                self.gap(Gap::Line);
            }
            Flow::Heading => {
                self.end_heading();
                self.gap(Gap::Line);
                let level = name[1] - b'0';
                if self.headings.as_ref().is_some_and(|headings| headings.len() < HEADINGS_MAX) {
                    self.heading = Some((level, Lines::new(HEADING_BYTES_MAX)));
                }
            }
            Flow::Block => self.gap(Gap::Line),
            Flow::Cell => self.gap(Gap::Blank),
        }
    }

    pub(crate) fn end(&mut self, name: &[u8]) {
        if self.done {
            return;
        }
        let Some(flow) = Flow::of(name) else { return };
        match flow {
            Flow::Hidden => {
                if let Some((hidden, depth)) = &mut self.hidden
                    && *hidden == key(name)
                {
                    *depth -= 1;
                    if *depth == 0 {
                        self.hidden = None;
                    }
                }
                self.gap(Gap::Line);
            }
            Flow::Heading => {
                self.end_heading();
                self.gap(Gap::Line);
            }
            Flow::Main | Flow::Block => self.gap(Gap::Line),
            Flow::Cell => self.gap(Gap::Blank),
        }
    }

    pub(crate) fn finish(mut self) -> Found {
        self.end_heading();
        Found {
            text: self.text.map(|text| text.out),
            raw: self.raw.map(|raw| raw.out),
            headings: self.headings.unwrap_or_default(),
        }
    }

    fn end_heading(&mut self) {
        if let Some((level, Lines { out: text, .. })) = self.heading.take()
            && let Some(headings) = &mut self.headings
            && !text.is_empty()
        {
            headings.push(Heading { level, text });
        }
    }

    fn gap(&mut self, gap: Gap) {
        if let Some(text) = &mut self.text {
            text.gap = text.gap.max(gap);
        }
        if let Some(raw) = &mut self.raw {
            raw.gap = true;
        }
        // A heading is one line.
        if let Some((_, text)) = &mut self.heading {
            text.gap = text.gap.max(Gap::Blank);
        }
    }
}

/// The bytes of the text under way.
struct Raw {
    out: Vec<u8>,
    /// Whether what comes next is another word.
    gap: bool,
    bytes_max: usize,
}

impl Raw {
    fn new(bytes_max: usize) -> Raw {
        Raw { out: Vec::with_capacity(bytes_max.min(CAPACITY)), gap: false, bytes_max }
    }

    fn is_full(&self) -> bool {
        self.out.len() >= self.bytes_max
    }

    fn push(&mut self, raw: &[u8]) {
        if self.is_full() || raw.is_empty() {
            return;
        }
        if std::mem::take(&mut self.gap) {
            self.out.push(b' ');
        }
        let room = self.bytes_max - self.out.len();
        let taken = &raw[..raw.len().min(room)];
        work::count(taken.len());
        self.out.extend_from_slice(taken);
    }
}

/// What separates the next word from the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    Blank,
    Line,
}

/// Text under way.
struct Lines {
    out: String,
    gap: Gap,
    bytes_max: usize,
}

impl Lines {
    fn new(bytes_max: usize) -> Lines {
        Lines { out: String::with_capacity(bytes_max.min(CAPACITY)), gap: Gap::None, bytes_max }
    }

    fn is_full(&self) -> bool {
        self.out.len() >= self.bytes_max
    }

    fn push(&mut self, text: &str) {
        work::count(text.len());
        let mut rest = text;
        loop {
            let word = rest.trim_ascii_start();
            if word.len() < rest.len() {
                self.gap = self.gap.max(Gap::Blank);
            }
            if word.is_empty() || self.is_full() {
                return;
            }
            let room = self.bytes_max - self.out.len();
            let mut length = collapsed(word.as_bytes());
            if length >= room {
                length = word.bytes().position(|b| b.is_ascii_whitespace()).unwrap_or(word.len());
            }
            let separator = match self.gap {
                _ if self.out.is_empty() => "",
                Gap::None => "",
                Gap::Blank => " ",
                Gap::Line => "\n",
            };
            self.gap = Gap::None;
            if separator.len() + length > room {
                // A word is not begun that cannot be finished, unless it is the only one.
                if self.out.is_empty() {
                    self.out.push_str(&word[..word.floor_char_boundary(room)]);
                }
                self.bytes_max = self.out.len();
                return;
            }
            self.out.push_str(separator);
            self.out.push_str(&word[..length]);
            rest = &word[length..];
        }
    }
}

/// How many bytes from the first word on are words with one blank between them: they can be taken as they are.
fn collapsed(bytes: &[u8]) -> usize {
    let mut at = 0;
    loop {
        let Some(blank) = bytes[at..].iter().position(u8::is_ascii_whitespace) else { return bytes.len() };
        at += blank;
        let goes_on = bytes[at] == b' ' && bytes.get(at + 1).is_some_and(|next| !next.is_ascii_whitespace());
        if !goes_on {
            return at;
        }
        at += 2;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::{Options, extract};

    fn options() -> Options {
        Options { text: true, headings: true, ..Options::default() }
    }

    fn text(html: &str) -> String {
        extract(html.as_bytes(), Some("text/html; charset=utf-8"), &options()).text.unwrap()
    }

    fn headings(html: &str) -> Vec<(u8, String)> {
        let found = extract(html.as_bytes(), Some("text/html; charset=utf-8"), &options());
        found.headings.into_iter().map(|heading| (heading.level, heading.text)).collect()
    }

    #[test]
    fn what_is_shown() {
        for (html, expected) in [
            ("<title>t</title><body>a <b>b</b>c\n\n d&amp;e", "a bc d&e"),
            ("<p>a<p>b<div>c</div>d<br>e", "a\nb\nc\nd\ne"),
            ("<table><tr><td>a<td>b<tr><th>c</table>", "a b\nc"),
            ("a<script>x</script><style>y</style><!-- z --><textarea>w</textarea>b", "ab"),
            ("1 < 2 <3 & 4", "1 < 2 <3 & 4"),
            ("a<", "a<"),
            ("a<b", "a"),
            ("a &nbsp; b &#9; c", "a \u{a0} b c"),
            ("<svg><title>x</title><text>y</text></svg>a<svg/>b", "ab"),
            ("", ""),
        ] {
            assert_eq!(text(html), expected, "{html}");
        }
        assert_eq!(extract(b"<p>\xe4", Some("text/html; charset=latin1"), &options()).text.unwrap(), "ä");
        let wide: Vec<u8> = "\u{feff}<p>ä<h1>ö".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(extract(&wide, None, &options()).text.unwrap(), "ä\nö");
    }

    #[test]
    fn what_is_around_the_content_is_left_out() {
        assert_eq!(
            text(
                "<nav>x<nav>y</nav>z</nav>a<footer>f</footer><select><option>o</select><noscript>n</noscript>b"
            ),
            "a\nb"
        );
        assert_eq!(text("<nav>never closed<p>x<main>a</main>b"), "a\nb");
        assert_eq!(text("<aside>x</nav>y</aside>a</aside>b"), "a\nb");
        assert_eq!(text("<template>x</template>a<button>y</button>"), "a");
    }

    #[test]
    fn headings_of_all_levels() {
        assert_eq!(
            headings(
                "<h1>A <i>b</i>\n c</h1>x<H2>d<div>e</div></h2><h3></h3><nav><h6>f&lt;</h6></nav><h4>g<h5>h"
            ),
            [(1, "A b c"), (2, "d e"), (6, "f<"), (4, "g"), (5, "h")]
                .map(|(level, text)| (level, text.to_owned()))
        );
        assert_eq!(headings("<h7>x</h7><h0>y</h0><header>z</header>"), []);
        assert_eq!(headings(&"<h1>x</h1>".repeat(1_000)).len(), super::HEADINGS_MAX);
        assert_eq!(headings(&format!("<h1>{}", "x ".repeat(9_000)))[0].1.len(), super::HEADING_BYTES_MAX - 1);
    }

    #[test]
    fn raw_text_is_that_of_the_page() {
        let raw = |html: &str, raw_text_bytes_max| {
            let options = Options { raw_text: true, raw_text_bytes_max, ..Options::default() };
            String::from_utf8(extract(html.as_bytes(), None, &options).raw_text.unwrap()).unwrap()
        };
        let html = "<nav>x</nav><p>a<b>b</b>&amp; c</p><td>d<script>e</script><h1>f</h1>";
        assert_eq!(raw(html, 99), " ab&amp; c d f");
        assert_eq!(raw(html, 5), " ab&a");
        assert_eq!(raw("", 5), "");
    }

    #[test]
    fn nothing_is_kept_unasked() {
        let found = extract(b"<h1>a</h1>b", None, &Options::default());
        assert!(found.text.is_none() && found.headings.is_empty());
        let found = extract(b"<h1>a</h1>b", None, &Options { headings: true, ..Options::default() });
        assert!(found.text.is_none() && found.headings.len() == 1);
    }

    proptest! {
        #[test]
        fn bounded_and_collapsed(html in "(<p>|<nav>|</nav>|<h1>|</h1>|<main>|<td>| |\\n|ä|word|&amp;|<|>|<!--|-->|<script>|</script>){0,40}", bytes_max in 0usize..40) {
            let found = extract(html.as_bytes(), None, &Options { text_bytes_max: bytes_max, ..options() });
            let text = found.text.unwrap();
            prop_assert!(text.len() <= bytes_max);
            prop_assert!(!text.contains("  ") && !text.contains("\n\n") && text.trim_ascii() == text);
            prop_assert!(found.headings.iter().all(|heading| !heading.text.is_empty()));
        }

        /// Watching changes nothing of what else is found.
        #[test]
        fn links_are_the_same(html in "(<a href=x>|<a href=|<p>|<nav>|<svg>|</svg>|<title>|</title>|<style>|</style>|'|\"|>|<!--|-->|<script>|</script>|y){0,40}") {
            let plain = extract(html.as_bytes(), None, &Options::default());
            let watched = extract(html.as_bytes(), None, &options());
            prop_assert_eq!(plain.links, watched.links);
            prop_assert_eq!(plain.title, watched.title);
        }
    }
}
