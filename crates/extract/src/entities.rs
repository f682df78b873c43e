//! Character references: `&amp;`, `&#38;`, `&#x26;`, by the standard's rules for text and for attribute values.
//!
//! The table of the standard's 2,231 names is sorted once, at first use; a lookup is at most six binary searches, from the
//! longest name that could stand there down to the shortest, so that the longest match wins.

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::work;

/// Where a reference stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Context {
    Text,
    /// In an attribute a name without a semicolon before a letter, digit or `=` is left alone: `?a=b&copy=1`.
    Attribute,
}

/// Names without the ampersand, with their semicolon if they have one, in byte order.
static NAMES: LazyLock<Vec<(&'static [u8], &'static str)>> = LazyLock::new(|| {
    let mut names: Vec<_> =
        entities::ENTITIES.iter().map(|entity| (&entity.entity.as_bytes()[1..], entity.characters)).collect();
    names.sort_unstable();
    names
});

/// The longest name, `CounterClockwiseContourIntegral;`.
const NAME_BYTES_MAX: usize = 32;
/// The longest name that stands without a semicolon, such as `Ccedil`: keeps the search for a shorter match short.
const OPEN_NAME_BYTES_MAX: usize = 6;

/// Replaces every character reference in `text`.
pub(crate) fn decode(text: Cow<'_, str>, context: Context) -> Cow<'_, str> {
    work::count(text.len());
    let Some(first) = memchr::memchr(b'&', text.as_bytes()) else { return text };
    let mut out = String::with_capacity(text.len());
    let mut pos = 0;
    let mut next = Some(first);
    while let Some(ampersand) = next {
        out.push_str(&text[pos..ampersand]);
        pos = ampersand + 1;
        let rest = &text.as_bytes()[pos..];
        let taken = match rest.first() {
            Some(b'#') => numeric(&rest[1..]).map(|(character, len)| {
                out.push(character);
                len + 1
            }),
            Some(byte) if byte.is_ascii_alphanumeric() => named(rest, context).map(|(characters, len)| {
                out.push_str(characters);
                len
            }),
            _ => None,
        };
        match taken {
            Some(len) => pos += len,
            None => out.push('&'),
        }
        next = memchr::memchr(b'&', &text.as_bytes()[pos..]).map(|at| pos + at);
    }
    out.push_str(&text[pos..]);
    Cow::Owned(out)
}

fn named(rest: &[u8], context: Context) -> Option<(&'static str, usize)> {
    let word = rest.iter().take(NAME_BYTES_MAX).take_while(|b| b.is_ascii_alphanumeric()).count();
    work::count(word);
    let closed = (rest.get(word) == Some(&b';')).then_some(word + 1);
    // Only the end of the word can hold a semicolon, so every shorter match is an open name.
    let (len, characters) =
        closed.into_iter().chain((2..=word.min(OPEN_NAME_BYTES_MAX)).rev()).find_map(|len| {
            let at = NAMES.binary_search_by(|(name, _)| (*name).cmp(&rest[..len])).ok()?;
            Some((len, NAMES[at].1))
        })?;
    let open = rest[len - 1] != b';';
    if context == Context::Attribute
        && open
        && rest.get(len).is_some_and(|&b| b == b'=' || b.is_ascii_alphanumeric())
    {
        return None;
    }
    Some((characters, len))
}

/// From behind `&#`: the character and the bytes taken.
fn numeric(rest: &[u8]) -> Option<(char, usize)> {
    let (radix, prefix) = if matches!(rest.first(), Some(b'x' | b'X')) { (16, 1) } else { (10, 0) };
    let mut number = 0u32;
    let mut len = prefix;
    while let Some(digit) = rest.get(len).and_then(|&b| char::from(b).to_digit(radix)) {
        number = number.saturating_mul(radix).saturating_add(digit);
        len += 1;
    }
    work::count(len);
    if len == prefix {
        return None;
    }
    if rest.get(len) == Some(&b';') {
        len += 1;
    }
    Some((character(number), len))
}

/// Numbers that name a C1 control mean windows-1252; those that name no character are U+FFFD.
fn character(number: u32) -> char {
    const C1: [u16; 32] = [
        0x20ac, 0x81, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160, 0x2039, 0x0152,
        0x8d, 0x017d, 0x8f, 0x90, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x02dc, 0x2122,
        0x0161, 0x203a, 0x0153, 0x9d, 0x017e, 0x0178,
    ];
    let number = match number {
        0 => 0xfffd,
        0x80..=0x9f => u32::from(C1[number as usize - 0x80]),
        other => other,
    };
    char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(text: &str) -> String {
        decode(Cow::Borrowed(text), Context::Attribute).into_owned()
    }

    fn text(text: &str) -> String {
        decode(Cow::Borrowed(text), Context::Text).into_owned()
    }

    #[test]
    fn names() {
        assert_eq!(attribute("a&amp;b&ampx&amp=&amp"), "a&b&ampx&amp=&");
        assert_eq!(text("a&amp;b&ampx&amp=&amp"), "a&b&x&=&");
        assert_eq!(attribute("?a=b&copy=1&copy;2&notit;"), "?a=b&copy=1©2&notit;");
        assert_eq!(text("&notit; &notin; &CounterClockwiseContourIntegral;"), "¬it; ∉ ∳");
        assert_eq!(text("&acE; &fjlig;"), "∾\u{333} fj");
        assert_eq!(text("&unknown; &; & &AMP &Amp; &ä"), "&unknown; &; & & &Amp; &ä");
        assert_eq!(attribute("&&amp;&"), "&&&");
    }

    #[test]
    fn the_table_has_the_lengths_we_rely_on() {
        assert_eq!(NAMES.len(), 2_231);
        assert_eq!(NAMES.iter().map(|(name, _)| name.len()).max(), Some(NAME_BYTES_MAX));
        let open = NAMES.iter().filter(|(name, _)| !name.ends_with(b";"));
        assert_eq!(open.map(|(name, _)| name.len()).max(), Some(OPEN_NAME_BYTES_MAX));
    }

    #[test]
    fn numbers() {
        assert_eq!(text("&#65;&#x42;&#X43&#68e"), "ABCDe");
        assert_eq!(text("&#;&#x;&#xg&#"), "&#;&#x;&#xg&#");
        assert_eq!(text("&#0;&#xD800;&#x110000;&#99999999999999999999;"), "\u{fffd}\u{fffd}\u{fffd}\u{fffd}");
        assert_eq!(text("&#128;&#x9f;&#x81;"), "€Ÿ\u{81}");
    }

    #[test]
    fn a_giant_run_of_letters_is_no_trouble() {
        let giant = format!("&{}", "a".repeat(1_000_000));
        assert_eq!(text(&giant), giant);
        assert_eq!(text(&"&".repeat(1_000_000)).len(), 1_000_000);
    }

    /// The standard's own cases, of which those count that are nothing but text.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the suite is a real file that lies outside the project")]
    #[expect(clippy::print_stderr, reason = "a skipped suite says so")]
    fn html5lib_cases() {
        let folder = std::env::var("MATTOCK_CONFORMANCE").unwrap_or_else(|_| {
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/conformance").to_owned()
        });
        let mut count = 0;
        for file in ["namedEntities.test", "numericEntities.test", "entities.test"] {
            let path = format!("{folder}/html5lib/tokenizer/{file}");
            let Ok(suite) = std::fs::read_to_string(&path) else {
                eprintln!("skipped: {path} is not here");
                return;
            };
            let suite: serde_json::Value = serde_json::from_str(&suite).unwrap();
            for case in suite["tests"].as_array().unwrap() {
                if let [token] = case["output"].as_array().unwrap().as_slice()
                    && token[0] == "Character"
                    && case.get("initialStates").is_none()
                {
                    let input = case["input"].as_str().unwrap();
                    assert_eq!(text(input), token[1].as_str().unwrap(), "{input}");
                    count += 1;
                }
                if let [token] = case["output"].as_array().unwrap().as_slice()
                    && token[0] == "StartTag"
                    && let Some(value) = token[2].as_object().and_then(|map| map.values().next())
                    && let Some(raw) = case["input"].as_str().unwrap().split(['"', '\'']).nth(1)
                {
                    assert_eq!(attribute(raw), value.as_str().unwrap(), "{raw}");
                    count += 1;
                }
            }
        }
        assert!(count > 4_000, "only {count} cases: the suite is not whole");
    }
}
