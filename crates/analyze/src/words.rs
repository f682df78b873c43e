//! Words of a text, and the most telling ones of a page.
//!
//! A word is a run of letters and digits in lower case, with apostrophes within it. Scripts that put no blanks between words (Han, kana,
//! Thai, Khmer and their neighbours) have no words in this sense: there each pair of neighbouring characters is one.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::{Document, Value};

/// Terms in a vector.
const TERMS_MAX: usize = 50;
/// Terms that are counted for those who weigh them against other pages: of the frequent ones most are in every page.
const COUNTS_MAX: usize = 256;
/// Longer words are no words: encoded data, mostly.
const TERM_BYTES_MAX: usize = 64;
/// Distinct terms that are counted; a page with more is not read by people.
const COUNTED_MAX: usize = 1 << 17;

/// The words of a text, in order.
pub(crate) fn words(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    Words { rest: text, pair: None }
}

struct Words<'a> {
    rest: &'a str,
    /// Within a run of a script without blanks: its last character, if it was not given in a pair.
    pair: Option<char>,
}

/// Whether words of this script stand without blanks between them.
fn is_unspaced(character: char) -> bool {
    matches!(u32::from(character),
        0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff
        | 0x3040..=0x30ff | 0x31f0..=0x31ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff
        | 0xff66..=0xff9f | 0x20000..=0x3ffff)
}

/// Letters, digits, and the marks that scripts write vowels with.
fn is_word(character: char) -> bool {
    character.is_alphanumeric() || is_mark(character)
}

/// Combining marks, roughly: what the scripts of the world put above, below and beside letters.
pub(crate) fn is_mark(character: char) -> bool {
    matches!(u32::from(character), 0x0300..=0x036f | 0x0591..=0x05c7 | 0x0610..=0x061a | 0x064b..=0x065f
        | 0x0900..=0x0903 | 0x093a..=0x094f | 0x0981..=0x0983 | 0x09bc..=0x09cd | 0x0a01..=0x0a03
        | 0x0a3c..=0x0a4d | 0x0a81..=0x0a83 | 0x0abc..=0x0acd | 0x0b01..=0x0b03 | 0x0b3c..=0x0b4d
        | 0x0b82 | 0x0bbe..=0x0bcd | 0x0c00..=0x0c04 | 0x0c3e..=0x0c4d | 0x0c81..=0x0c83
        | 0x0cbc..=0x0ccd | 0x0d00..=0x0d03 | 0x0d3b..=0x0d4d | 0x0dca..=0x0ddf | 0x0e31..=0x0e3a
        | 0x0e47..=0x0e4e | 0x0f71..=0x0f84 | 0x102b..=0x103e | 0x17b4..=0x17d3 | 0x3099 | 0x309a | 0xfe20..=0xfe2f)
}

impl<'a> Iterator for Words<'a> {
    type Item = Cow<'a, str>;

    fn next(&mut self) -> Option<Cow<'a, str>> {
        loop {
            let start = match self.rest.find(is_word) {
                Some(start) => start,
                None => {
                    self.rest = "";
                    return self.pair.take().map(|last| Cow::Owned(last.to_string()));
                }
            };
            if start > 0
                && let Some(last) = self.pair.take()
            {
                return Some(Cow::Owned(last.to_string()));
            }
            self.rest = &self.rest[start..];
            let first = self.rest.chars().next()?;
            if is_unspaced(first) {
                self.rest = &self.rest[first.len_utf8()..];
                let goes_on = self.rest.chars().next().is_some_and(is_unspaced);
                match self.pair.replace(first) {
                    Some(before) => {
                        if !goes_on {
                            self.pair = None;
                        }
                        return Some(Cow::Owned([before, first].iter().collect()));
                    }
                    None if !goes_on => {
                        self.pair = None;
                        return Some(Cow::Owned(first.to_string()));
                    }
                    None => continue,
                }
            }
            self.pair = None;
            let length = spaced_length(self.rest);
            let (word, rest) = self.rest.split_at(length);
            self.rest = rest;
            return Some(lower(word));
        }
    }
}

/// The length of the word at the start of `text`, apostrophes within it included.
fn spaced_length(text: &str) -> usize {
    let mut length = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let belongs = if matches!(character, '\'' | '’') {
            at > 0 && characters.peek().is_some_and(|&(_, next)| next.is_alphabetic() && !is_unspaced(next))
        } else {
            is_word(character) && !is_unspaced(character)
        };
        if !belongs {
            break;
        }
        length = at + character.len_utf8();
    }
    length
}

fn lower(word: &str) -> Cow<'_, str> {
    let is_lower = word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    if is_lower { Cow::Borrowed(word) } else { Cow::Owned(word.to_lowercase()) }
}

/// The most frequent terms of the main text as `term:count`, by count, then by term. A term has two letters or more and is no number.
pub(crate) fn term_vector(document: &Document<'_>) -> Value {
    counted(document, TERMS_MAX)
}

/// The same with more of them, as feature databases take them.
pub(crate) fn term_counts(document: &Document<'_>) -> Value {
    counted(document, COUNTS_MAX)
}

fn counted(document: &Document<'_>, terms_max: usize) -> Value {
    let Some(text) = document.main_text() else { return Value::Null };
    let terms = terms(text, terms_max).into_iter();
    Value::TextList(terms.map(|(term, count)| format!("{term}:{count}")).collect())
}

fn terms(text: &str, terms_max: usize) -> Vec<(String, u32)> {
    let mut counts: HashMap<Cow<'_, str>, u32> = HashMap::new();
    for word in words(text) {
        let telling = word.len() <= TERM_BYTES_MAX
            && word.chars().nth(1).is_some()
            && !word.chars().all(char::is_numeric);
        if !telling {
            continue;
        }
        if let Some(count) = counts.get_mut(&word) {
            *count += 1;
        } else if counts.len() < COUNTED_MAX {
            counts.insert(word, 1);
        }
    }
    let mut terms: Vec<(Cow<'_, str>, u32)> = counts.into_iter().collect();
    let order = |one: &(Cow<'_, str>, u32), other: &(Cow<'_, str>, u32)| {
        other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0))
    };
    if terms.len() > terms_max {
        terms.select_nth_unstable_by(terms_max, order);
        terms.truncate(terms_max);
    }
    terms.sort_unstable_by(order);
    terms.into_iter().map(|(term, count)| (term.into_owned(), count)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(text: &str) -> Vec<String> {
        words(text).map(Cow::into_owned).collect()
    }

    #[test]
    fn words_of_many_scripts() {
        assert_eq!(all("Don't 'stop' at 3.5%; l’été"), ["don't", "stop", "at", "3", "5", "l’été"]);
        assert_eq!(all("हिन्दी में"), ["हिन्दी", "में"]);
        assert_eq!(all("日本語 abc本"), ["日本", "本語", "abc", "本"]);
        assert_eq!(all("中。文字x"), ["中", "文字", "x"]);
        assert_eq!(all(" . "), [""; 0]);
    }

    #[test]
    fn most_frequent_first() {
        let found = terms("b a1 b 12 c a1 b x aa's", TERMS_MAX);
        assert_eq!(found, [("a1".to_owned(), 2), ("aa's".to_owned(), 1)]);
        let many: String = (0..500).map(|number| format!("x{number} ")).collect();
        let [vector, counts] = [TERMS_MAX, COUNTS_MAX].map(|terms_max| terms(&many, terms_max));
        assert_eq!((vector.len(), counts.len()), (50, 256));
        assert_eq!(vector, counts[..50]);
    }

    proptest! {
        #[test]
        fn words_are_parts_of_the_text(text in "[a-cA-C日本語ぁ。 '’1\u{300}]{0,40}") {
            let lower = text.to_lowercase();
            for word in all(&text) {
                prop_assert!(!word.is_empty() && lower.contains(&word), "{}", word);
            }
        }
    }
}
