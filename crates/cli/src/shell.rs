//! Commands for the user to type, as a shell takes them.

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
    }
}
