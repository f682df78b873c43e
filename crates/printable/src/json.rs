//! Texts as JSON has them (RFC 8259).

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::terminal::{Escaper, Escapes, Layout};

/// Appends a text as a JSON string, in which nothing is escaped but what must be.
pub fn json(text: &str, out: &mut String) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            letter if letter < ' ' => {
                let _ = write!(out, "\\u{:04x}", letter as u32);
            }
            letter => out.push(letter),
        }
    }
    out.push('"');
}

/// JSON, whoever wrote it, as it may be shown on a terminal. What does not show is escaped like `\u009b`: such characters stand in strings
/// only, where a reader takes the escape for the same character.
pub fn json_on_terminal(json: &str) -> Cow<'_, str> {
    Escaper::new(Layout::Lines, Escapes::Json).whole(json)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_must_be_is_escaped() {
        let mut out = String::new();
        json("a\"b\\c\n\r\t\u{1}\u{1b}\u{7f}\u{9b}\u{202e}\u{2028}ä", &mut out);
        assert_eq!(out, "\"a\\\"b\\\\c\\n\\r\\t\\u0001\\u001b\u{7f}\u{9b}\u{202e}\u{2028}ä\"");
        assert_eq!(
            json_on_terminal(&out),
            "\"a\\\"b\\\\c\\n\\r\\t\\u0001\\u001b\\u007f\\u009b\\u202e\\u2028ä\""
        );
    }
}
