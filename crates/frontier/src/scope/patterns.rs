//! Regular expressions on URLs, all tried in one pass over the text.
//!
//! Compiled once; matching is linear in the length of the URL whatever the expressions are, since nothing backtracks. They
//! see bytes: a canonical URL is ASCII, so the tables of Unicode would be weight without use. An expression matches
//! anywhere in the URL unless it says `^` or `$`.

use regex::bytes::{RegexSet, RegexSetBuilder};

use super::RuleError;

/// What the expressions of one list may take together once compiled, and again for the automaton that is built as it runs.
const BYTES_MAX: usize = 16 << 20;

/// A list of expressions.
#[derive(Clone, Debug)]
pub(crate) struct Patterns {
    set: RegexSet,
}

impl Default for Patterns {
    fn default() -> Patterns {
        Patterns { set: RegexSet::empty() }
    }
}

impl Patterns {
    /// Compiles expressions.
    pub(crate) fn new<'a>(expressions: impl IntoIterator<Item = &'a str>) -> Result<Patterns, RuleError> {
        RegexSetBuilder::new(expressions)
            .unicode(false)
            .size_limit(BYTES_MAX)
            .dfa_size_limit(BYTES_MAX)
            .build()
            .map(|set| Patterns { set })
            .map_err(|error| RuleError::Pattern { reason: error.to_string() })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    /// Whether one of them matches.
    pub(crate) fn matches(&self, text: &str) -> bool {
        !self.set.is_empty() && self.set.is_match(text.as_bytes())
    }
}

/// The expression that matches what a pattern with wildcards does: the whole text, `*` being any of it.
pub(crate) fn wildcard(pattern: &str) -> String {
    let mut expression = String::with_capacity(pattern.len() * 2 + 8);
    expression.push_str("(?s-u)^");
    for (index, literal) in pattern.split('*').enumerate() {
        if index > 0 {
            expression.push_str(".*");
        }
        expression.push_str(&regex::escape(literal));
    }
    expression.push('$');
    expression
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, by trying everything.
    fn naive(pattern: &[u8], text: &[u8]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some((b'*', rest)) => (0..=text.len()).any(|skipped| naive(rest, &text[skipped..])),
            Some((byte, rest)) => text.first() == Some(byte) && naive(rest, &text[1..]),
        }
    }

    proptest! {
        #[test]
        fn wildcards_match_as_defined(pattern in "[ab.*/?]{0,8}", text in "[ab./?]{0,10}") {
            let expression = wildcard(&pattern);
            let patterns = Patterns::new([expression.as_str()]).unwrap();
            prop_assert_eq!(patterns.matches(&text), naive(pattern.as_bytes(), text.as_bytes()));
        }
    }

    #[test]
    fn what_is_too_large_or_wrong_is_an_error() {
        assert!(Patterns::new([r"(\w{1000}){1000}"]).is_err());
        let error = Patterns::new(["a(b"]).unwrap_err();
        assert!(error.to_string().contains("unclosed group"), "{error}");
        assert!(!Patterns::default().matches("anything"));
    }
}
