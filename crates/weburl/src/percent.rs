//! Percent-escapes in one form: hexadecimal digits in upper case, no escape for a character that needs none.
//!
//! Decoding must not make new escapes, or canonicalising twice would change the text: in `%%34%31` the middle
//! escape is the digit 4, and decoding both would give `%41`. So an escape stays when the character that it stands
//! for would become a hexadecimal digit of a stray `%` before it.

/// A-Z, a-z, 0-9, `-`, `.`, `_`, `~`: RFC 3986's unreserved characters, which mean the same escaped or not.
pub(crate) const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// The value of the escape at the beginning of `bytes` (which begin with `%`), if it is one.
pub(crate) fn escape(bytes: &[u8]) -> Option<u8> {
    match bytes {
        [_, high, low, ..] => Some(hex(*high)? << 4 | hex(*low)?),
        _ => None,
    }
}

const fn hex(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

/// Which characters are escaped here because the `url` crate leaves them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// `^` belongs to the path percent-encode set of today's standard, not to that of the `url` crate.
    Path,
    /// Nothing to add.
    Query,
}

/// Appends `text` (ASCII, as the `url` crate gives it) to `out` with its escapes in canonical form.
pub(crate) fn normalise(text: &str, part: Part, out: &mut String) {
    let bytes = text.as_bytes();
    let special = |byte: &u8| *byte == b'%' || (part == Part::Path && *byte == b'^');
    // Where the digits of a stray '%' would be in `out`; while out.len() is in there, digits are not decoded.
    let mut stray_digits = 0..0;
    let mut rest = 0;
    while let Some(at) = bytes[rest..].iter().position(special).map(|offset| rest + offset) {
        out.push_str(&text[rest..at]);
        // A stray '%' that something else than a digit follows will never be an escape.
        if at > rest && stray_digits.contains(&(out.len() - 1)) && !last_is_digit(out) {
            stray_digits = 0..0;
        }
        if bytes[at] == b'^' {
            out.push_str("%5E");
            rest = at + 1;
            continue;
        }
        let Some(value) = escape(&bytes[at..]) else {
            out.push('%');
            stray_digits = out.len()..out.len() + 2;
            rest = at + 1;
            continue;
        };
        let would_make_escape = value.is_ascii_hexdigit() && stray_digits.contains(&out.len());
        if is_unreserved(value) && !would_make_escape {
            if stray_digits.contains(&out.len()) {
                stray_digits = 0..0;
            }
            out.push(char::from(value));
        } else {
            out.push('%');
            out.push(char::from(bytes[at + 1].to_ascii_uppercase()));
            out.push(char::from(bytes[at + 2].to_ascii_uppercase()));
            stray_digits = 0..0;
        }
        rest = at + 3;
    }
    out.push_str(&text[rest..]);
}

fn last_is_digit(out: &str) -> bool {
    out.as_bytes().last().is_some_and(u8::is_ascii_hexdigit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::{prelude::*, test_runner::RngSeed};

    fn normal(text: &str) -> String {
        let mut out = String::new();
        normalise(text, Part::Path, &mut out);
        out
    }

    #[test]
    fn forms() {
        for (text, expected) in [
            ("/plain", "/plain"),
            ("/%7euser", "/~user"),
            ("/%41%62%2D%2e%5f", "/Ab-._"),
            ("/%2f%3f%c3%bc", "/%2F%3F%C3%BC"),
            ("/a^b", "/a%5Eb"),
            ("/100%", "/100%"),
            ("/%zz", "/%zz"),
            ("/%2541", "/%2541"),
            // Decoding all of these would make an escape that was not there.
            ("/%%34%31", "/%%341"),
            ("/%4%31", "/%4%31"),
            ("/%%41B", "/%%41B"),
            // These cannot become one.
            ("/%%67", "/%g"),
            ("/%g%41", "/%gA"),
            ("/%4/%31", "/%4/1"),
            ("/%4z%31", "/%4z1"),
            ("/%^%41", "/%%5EA"),
        ] {
            assert_eq!(normal(text), expected, "{text}");
        }
    }

    /// One pass that decodes every escape, stray ones left alone: what the receiver of the URL sees.
    fn decoded(text: &str) -> Vec<u8> {
        let (bytes, mut out, mut at) = (text.as_bytes(), Vec::new(), 0);
        while at < bytes.len() {
            match (bytes[at] == b'%').then(|| escape(&bytes[at..])).flatten() {
                Some(value) => {
                    out.push(value);
                    at += 3;
                }
                None => {
                    out.push(bytes[at]);
                    at += 1;
                }
            }
        }
        out
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            cases: 4000,
            rng_seed: RngSeed::Fixed(1),
            ..ProptestConfig::default()
        })]

        #[test]
        fn normal_text_is_a_fixpoint_and_means_the_same(text in "(%|[0-9a-fA-F]|%[2-7][0-9a-f]|[gz/^&.]){0,24}") {
            let once = normal(&text);
            prop_assert_eq!(normal(&once), once.clone());
            prop_assert_eq!(decoded(&once), decoded(&text));
        }

        #[test]
        fn no_needless_escape_is_left_unless_after_a_stray_percent(text in "([0-9a-f]|%[0-9a-f]{2}|/){0,24}") {
            let once = normal(&text);
            for (at, _) in once.match_indices('%') {
                let value = escape(&once.as_bytes()[at..]).expect("no stray percent goes in");
                prop_assert!(!is_unreserved(value), "{}", once);
                prop_assert!(!once[at..at + 3].bytes().any(|byte| byte.is_ascii_lowercase()), "{}", once);
            }
        }
    }
}
