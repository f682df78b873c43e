//! The addresses in a piece of CSS: `url(…)` and `@import "…"`, outside of comments and strings.
//!
//! One pass by the rules of CSS's tokenizer as far as they decide where an address begins and ends; nothing is parsed.

use std::borrow::Cow;

use crate::work;

/// The addresses in `css`, escapes replaced, in order.
pub(crate) fn urls(css: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let bytes = css.as_bytes();
    let mut pos = 0;
    std::iter::from_fn(move || {
        while let Some(&byte) = bytes.get(pos) {
            let start = pos;
            let mut found = None;
            match byte {
                b'/' if bytes.get(pos + 1) == Some(&b'*') => {
                    let body = &bytes[pos + 2..];
                    pos = memchr::memmem::find(body, b"*/").map_or(bytes.len(), |end| pos + 2 + end + 2);
                }
                b'"' | b'\'' => pos = string_end(bytes, pos).1,
                b'@' if has_word(&bytes[pos + 1..], b"import") => {
                    pos = skip_blanks(bytes, pos + 7);
                    if let Some(b'"' | b'\'') = bytes.get(pos) {
                        let (content, after) = string_end(bytes, pos);
                        found = css.get(pos + 1..content);
                        pos = after;
                    }
                }
                _ if is_word(byte) => {
                    let end =
                        bytes[pos..].iter().position(|&b| !is_word(b)).map_or(bytes.len(), |end| pos + end);
                    let is_url =
                        bytes[pos..end].eq_ignore_ascii_case(b"url") && bytes.get(end) == Some(&b'(');
                    pos = end;
                    if is_url {
                        (found, pos) = address(css, end + 1);
                    }
                }
                b'\\' => pos += 2,
                _ => pos += 1,
            }
            work::count(pos.min(bytes.len()) - start);
            if let Some(url) = found.filter(|url| !url.is_empty()) {
                return Some(unescape(url));
            }
        }
        None
    })
}

/// From behind `url(`: the address, if it is one, and the position behind it.
fn address(css: &str, from: usize) -> (Option<&str>, usize) {
    let bytes = css.as_bytes();
    let start = skip_blanks(bytes, from);
    if let Some(b'"' | b'\'') = bytes.get(start) {
        let (content, after) = string_end(bytes, start);
        return (css.get(start + 1..content), after);
    }
    let mut end = start;
    // Not an address, whatever it is; it ends at the same place.
    let mut bad = false;
    while let Some(&byte) = bytes.get(end) {
        match byte {
            b')' => return ((!bad).then(|| css[start..end].trim_ascii_end()), end + 1),
            b'"' | b'\'' | b'(' => {
                bad = true;
                end += 1;
            }
            b'\\' => end += 2,
            _ => end += 1,
        }
    }
    // The end of the input closes it.
    (css.get(start..).filter(|_| !bad).map(str::trim_ascii_end), bytes.len())
}

/// From an opening quote: where the content ends, and the position behind the string. A line end breaks it off.
fn string_end(bytes: &[u8], open: usize) -> (usize, usize) {
    let mut pos = open + 1;
    while let Some(&byte) = bytes.get(pos) {
        match byte {
            b'\n' | b'\r' | 0x0c => return (pos, pos),
            b'\\' => pos += 2,
            _ if byte == bytes[open] => return (pos, pos + 1),
            _ => pos += 1,
        }
    }
    (bytes.len(), bytes.len())
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_' || byte >= 0x80
}

fn has_word(bytes: &[u8], word: &[u8]) -> bool {
    bytes.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
        && bytes.get(word.len()).is_none_or(|&b| !is_word(b))
}

fn skip_blanks(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    bytes.len() - rest.trim_ascii_start().len()
}

/// `\26 ` is a number, `\(` the character itself, a line end behind a backslash nothing.
fn unescape(text: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\\', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    work::count(text.len());
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let digits = after.bytes().take(6).take_while(u8::is_ascii_hexdigit).count();
        if digits > 0 {
            let number = u32::from_str_radix(&after[..digits], 16).unwrap_or_default();
            out.push(char::from_u32(number).filter(|&c| c != '\0').unwrap_or(char::REPLACEMENT_CHARACTER));
            rest = &after[digits..];
            rest = rest.strip_prefix(|c: char| c.is_ascii_whitespace()).unwrap_or(rest);
            continue;
        }
        let mut characters = after.chars();
        out.extend(characters.next().filter(|c| !"\n\r\u{c}".contains(*c)));
        rest = characters.as_str();
    }
    out.push_str(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn addresses() {
        for (css, expected) in [
            ("a{background:url(x.png)}", &["x.png"][..]),
            ("URL( 'x y.png' ) url(\t\"z)\" )", &["x y.png", "z)"]),
            ("@import 'a.css'; @IMPORT url(b.css) screen; @import\"c\"", &["a.css", "b.css", "c"]),
            ("@imports 'a'; 'url(x)' /* url(y) */ url (z) my-url(w) curl(v)", &[]),
            ("url(a\\)b) url(\\26 c) url('d\\\ne')", &["a)b", "&c", "de"]),
            ("url() url('') url( )", &[]),
            ("url(a\"b) url(c", &["c"]),
            ("url(a(b) url(c)", &["c"]),
            ("'broken\nurl(x)", &["x"]),
            ("url('open", &["open"]),
            ("/* open url(x)", &[]),
            ("url(ä) \\", &["ä"]),
            ("url(\\", &["\\"]),
        ] {
            let found: Vec<_> = urls(css).collect();
            // A backslash that ends the input stands for nothing.
            let expected: Vec<_> = expected.iter().filter(|&&url| url != "\\").collect();
            assert_eq!(found.iter().filter(|url| !url.is_empty()).collect::<Vec<_>>(), expected, "{css}");
        }
    }

    proptest! {
        #[test]
        fn linear_on_anything(css in "(url\\(|@import|'|\"|\\\\|/\\*|\\*/|\\)|\\(| |\n|ä|x|26){0,60}") {
            let work = work::of(|| { urls(&css).for_each(drop) });
            prop_assert!(work <= 2 * css.len() as u64);
        }
    }
}
