//! Text for terminals: what does not [show](crate::letters) becomes an escape like `\u{1b}`.

use std::borrow::Cow;

use crate::letters::{NOTHING, shows};

/// Which characters keep their effect, since whoever prints has laid the text out with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// None: it stays one line.
    #[default]
    Line,
    /// Ends of lines: LF and CR LF, both of which are written as LF.
    Lines,
    /// Ends of lines, and tabs.
    Text,
}

impl Layout {
    fn keeps(self, letter: char) -> bool {
        match letter {
            '\n' => self != Layout::Line,
            '\t' => self == Layout::Text,
            _ => false,
        }
    }
}

/// What may be shown on a terminal. Nothing in it moves the cursor, changes a colour or a title, is answered by the terminal, or
/// hides or rearranges other text.
pub fn terminal(text: &str, layout: Layout) -> Cow<'_, str> {
    Escaper::new(layout, Escapes::Rust).whole(text)
}

/// Bytes as text that may be shown on a terminal; what is no UTF-8 becomes U+FFFD.
pub fn terminal_bytes(bytes: &[u8], layout: Layout) -> Cow<'_, str> {
    match String::from_utf8_lossy(bytes) {
        Cow::Borrowed(text) => terminal(text, layout),
        Cow::Owned(text) => Cow::Owned(terminal(&text, layout).into_owned()),
    }
}

/// How a character is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escapes {
    /// `\u{1b}`, and `\n`, `\r`, `\t`.
    Rust,
    /// `\u001b`, with two of them beyond U+FFFF: the same text to whoever reads JSON.
    Json,
}

/// Escapes a text that comes in pieces.
#[derive(Debug)]
pub(crate) struct Escaper {
    layout: Layout,
    escapes: Escapes,
    before: char,
    /// A CR that an LF may follow.
    is_returned: bool,
}

impl Escaper {
    pub(crate) fn new(layout: Layout, escapes: Escapes) -> Escaper {
        Escaper { layout, escapes, before: NOTHING, is_returned: false }
    }

    /// Escapes a text that is whole.
    pub(crate) fn whole(mut self, text: &str) -> Cow<'_, str> {
        let clean = self.clean_bytes(text);
        if clean == text.len() {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len() + 16);
        out.push_str(&text[..clean]);
        self.push(&text[clean..], &mut out);
        self.end(&mut out);
        Cow::Owned(out)
    }

    /// Appends the next piece.
    pub(crate) fn push(&mut self, text: &str, out: &mut String) {
        for letter in text.chars() {
            if std::mem::take(&mut self.is_returned) && letter != '\n' {
                self.escape('\r', out);
            }
            if letter == '\r' && self.layout.keeps('\n') {
                self.is_returned = true;
            } else if self.layout.keeps(letter) || shows(letter, self.before) {
                self.before = letter;
                out.push(letter);
            } else {
                self.escape(letter, out);
            }
        }
    }

    /// Appends what has waited for more.
    pub(crate) fn end(&mut self, out: &mut String) {
        if std::mem::take(&mut self.is_returned) {
            self.escape('\r', out);
        }
    }

    /// How much at the beginning of a text stays as it is.
    fn clean_bytes(&mut self, text: &str) -> usize {
        if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return text.len();
        }
        for (at, letter) in text.char_indices() {
            if !self.layout.keeps(letter) && !shows(letter, self.before) {
                return at;
            }
            self.before = letter;
        }
        text.len()
    }

    fn escape(&mut self, letter: char, out: &mut String) {
        self.before = NOTHING;
        match self.escapes {
            Escapes::Rust => out.extend(letter.escape_default()),
            Escapes::Json => {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clean_text_is_not_copied() {
        for text in ["", "plain", "größe 日本", "👩\u{200d}💻"] {
            assert!(matches!(terminal(text, Layout::Line), Cow::Borrowed(same) if same == text));
        }
        assert!(matches!(terminal("a\nb\n", Layout::Lines), Cow::Borrowed(_)));
        assert!(matches!(terminal_bytes(b"a\tb\n", Layout::Text), Cow::Borrowed(_)));
    }

    #[test]
    fn what_terminals_obey_is_named() {
        for (text, layout, shown) in [
            ("\u{1b}[2J\u{9b}31m\u{7f}", Layout::Text, r"\u{1b}[2J\u{9b}31m\u{7f}"),
            ("a\u{202e}b\u{2066}c", Layout::Text, r"a\u{202e}b\u{2066}c"),
            ("a\tb\nc\r\nd\re", Layout::Line, r"a\tb\nc\r\nd\re"),
            ("a\tb\nc\r\nd\re", Layout::Lines, "a\\tb\nc\nd\\re"),
            ("a\tb\nc\r\nd\r", Layout::Text, "a\tb\nc\nd\\r"),
            ("\r\r\n", Layout::Lines, "\\r\n"),
            ("a\u{200d}\u{200d}", Layout::Line, r"a\u{200d}\u{200d}"),
        ] {
            assert_eq!(terminal(text, layout), shown);
        }
        assert_eq!(terminal_bytes(b"\x1b[2Ja\tb\xff\r\n", Layout::Line), "\\u{1b}[2Ja\\tb\u{fffd}\\r\\n");
    }
}
