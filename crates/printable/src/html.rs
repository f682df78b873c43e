//! Text for HTML and SVG, in the content of elements and in quoted attributes alike.

use std::borrow::Cow;

use crate::letters::{NOTHING, shows};

/// What may stand in HTML and SVG. Besides the five characters of markup, what does not show is replaced, by U+FFFD: XML forbids controls, and
/// marks of direction would rearrange the text around them. Ends of lines, tabs and soft hyphens stay.
pub fn html(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~') && !b"<>&\"'".contains(&byte)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut before = NOTHING;
    for letter in text.chars() {
        match letter {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\r' => {}
            '\n' | '\t' | '\u{ad}' => out.push(letter),
            _ if shows(letter, before) => out.push(letter),
            _ => {
                out.push('\u{fffd}');
                before = NOTHING;
                continue;
            }
        }
        before = letter;
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_text() {
        assert_eq!(html("<script>'\"&"), "&lt;script&gt;&#39;&quot;&amp;");
        assert_eq!(html("größe 日本"), "größe 日本");
        assert!(matches!(html("plain"), Cow::Borrowed("plain")));
    }

    #[test]
    fn control_and_reordering_characters_are_replaced() {
        assert_eq!(html("a\0b\u{202e}c\r\n"), "a\u{fffd}b\u{fffd}c\n");
    }
}
