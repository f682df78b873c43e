//! Commands for the user to type, as a shell takes them.

use std::borrow::Cow;

use mattock_printable::{Layout, terminal};

/// The name of this program as the user called it: a path if it was one, because then `mattock` alone may not be found.
pub(crate) fn program() -> String {
    let called = std::env::args().next().unwrap_or_default();
    if called.contains('/') { quoted(&called) } else { "mattock".into() }
}

/// A word as a shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else if matches!(terminal(word, Layout::Line), Cow::Owned(_)) {
        // The same word, but nothing in it does anything before it is typed.
        let bytes = word.bytes().map(|byte| match byte {
            b'\'' | b'\\' => format!("\\{}", char::from(byte)),
            b' '..=b'~' => char::from(byte).to_string(),
            _ => format!("\\{byte:03o}"),
        });
        format!("$'{}'", bytes.collect::<String>())
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn only_what_needs_quotes_gets_them() {
        assert_eq!(quoted("crawls/a-b_c.1"), "crawls/a-b_c.1");
        assert_eq!(quoted("my crawl"), "'my crawl'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("größe"), "'größe'");
    }

    #[test]
    fn what_does_not_show_is_named_as_shells_name_it() {
        assert_eq!(quoted("a\u{1b}[2J'\\ 1\n"), r"$'a\033[2J\'\\ 1\012'");
        assert_eq!(quoted("\u{202e}ä"), r"$'\342\200\256\303\244'");
    }
}
