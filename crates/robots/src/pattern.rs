//! Path patterns: normalised bytes with `*` and a final `$`, and a matcher that never backtracks.
//!
//! RFC 9309 compares after percent-encoding; both sides go through [`normalise`] so that a byte has one spelling:
//! - an encoded unreserved byte is decoded (`%62` becomes `b`), every other escape gets upper-case digits;
//! - what a URL may not hold raw (non-ASCII, controls, blanks, `"<>\^` and backquote, braces, bar) is encoded, and so is
//!   a percent sign that begins no escape: otherwise it could form one with what is decoded behind it;
//! - a literal asterisk or dollar is `%2A` or `%24`, which leaves the raw characters to the pattern language.
//!
//! The RFC's table also has `?baz=https://foo.bar` and `?baz=https%3A%2F%2Ffoo.bar` as one. So a pattern that itself
//! names a query is compared in a second spelling where `: / ? @` lose their escapes behind the first question mark;
//! a pattern without a question mark sees the plain spelling, in which `%2F` and `/` differ as they do in a path.

const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

const fn is_raw(byte: u8) -> bool {
    is_unreserved(byte)
        || matches!(
            byte,
            b'/' | b'?'
                | b':'
                | b'@'
                | b'!'
                | b'&'
                | b'\''
                | b'('
                | b')'
                | b'+'
                | b','
                | b';'
                | b'='
                | b'['
                | b']'
                | b'#'
        )
}

fn hex(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}

fn push_escape(byte: u8, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.extend([b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
}

/// How [`normalise`] treats the characters that have two readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// A path and query: `*` and `$` are literals.
    Url,
    /// A pattern: `*` stays; its final `$` was taken off before.
    Pattern,
}

/// Appends the one spelling of `bytes` to `out`. With `query_decoded`, see the second spelling above.
pub(crate) fn normalise(bytes: &[u8], side: Side, query_decoded: bool, out: &mut Vec<u8>) {
    let mut in_query = false;
    let mut i = 0;
    while i < bytes.len() {
        let byte = bytes[i];
        i += 1;
        if byte == b'%'
            && let (Some(high), Some(low)) =
                (bytes.get(i).copied().and_then(hex), bytes.get(i + 1).copied().and_then(hex))
        {
            i += 2;
            let decoded = high << 4 | low;
            if is_unreserved(decoded)
                || (query_decoded && in_query && matches!(decoded, b':' | b'/' | b'?' | b'@'))
            {
                out.push(decoded);
            } else {
                push_escape(decoded, out);
            }
            continue;
        }
        in_query |= byte == b'?';
        if is_raw(byte) || (byte == b'*' && side == Side::Pattern) {
            out.push(byte);
        } else {
            push_escape(byte, out);
        }
    }
}

/// Whether the second spelling of this normalised URL differs from the first.
pub(crate) fn has_escaped_query(url: &[u8]) -> bool {
    memchr::memchr(b'?', url).is_some_and(|mark| memchr::memchr(b'%', &url[mark..]).is_some())
}

/// Whether `pattern` (normalised, without its final `$`) matches `path`: from the start, and up to the end if `anchored`.
///
/// Every literal between asterisks is taken at its leftmost place, which never hides a match that a later place would
/// give; so the cost is that of one linear substring search over the path.
pub(crate) fn matches(pattern: &[u8], anchored: bool, path: &[u8]) -> bool {
    let Some(star) = memchr::memchr(b'*', pattern) else {
        return path.starts_with(pattern) && (!anchored || path.len() == pattern.len());
    };
    let Some(mut rest) = path.strip_prefix(&pattern[..star]) else { return false };
    let mut tail = &pattern[star + 1..];
    while let Some(star) = memchr::memchr(b'*', tail) {
        let literal = &tail[..star];
        tail = &tail[star + 1..];
        match find(rest, literal) {
            Some(at) => rest = &rest[at + literal.len()..],
            None => return false,
        }
    }
    if anchored { rest.ends_with(tail) } else { find(rest, tail).is_some() }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    match needle {
        [] => Some(0),
        [byte] => memchr::memchr(*byte, haystack),
        _ => memchr::memmem::find(haystack, needle),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spelled(text: &str, side: Side, query_decoded: bool) -> String {
        let mut out = Vec::new();
        normalise(text.as_bytes(), side, query_decoded, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn one_spelling_per_byte() {
        for (from, to) in [
            ("/a%62%7e%7E", "/ab~~"),
            ("/ä", "/%C3%A4"),
            ("/%c3%a4", "/%C3%A4"),
            ("/a%2fb", "/a%2Fb"),
            ("/%", "/%25"),
            ("/%4", "/%254"),
            ("/%zz%%41", "/%25zz%25A"),
            ("/a b<\"", "/a%20b%3C%22"),
            ("/*$", "/%2A%24"),
            ("/x?q=%2f%3a", "/x?q=%2F%3A"),
        ] {
            assert_eq!(spelled(from, Side::Url, false), to, "{from}");
        }
        assert_eq!(spelled("/*%2a$%24", Side::Pattern, false), "/*%2A%24%24");
        assert_eq!(spelled("/a%2f?b=https%3A%2f%2Ff", Side::Url, true), "/a%2F?b=https://f");
    }

    #[test]
    fn thirty_asterisks_do_not_explode() {
        let pattern = format!("/{}b", "*a".repeat(30));
        assert!(!matches(pattern.as_bytes(), true, format!("/{}", "a".repeat(100_000)).as_bytes()));
        assert!(matches(pattern.as_bytes(), true, format!("/{}b", "a".repeat(100_000)).as_bytes()));
    }

    /// The meaning, written as plainly as can be.
    fn model(pattern: &[u8], anchored: bool, path: &[u8]) -> bool {
        match pattern {
            [] => !anchored || path.is_empty(),
            [b'*', rest @ ..] => (0..=path.len()).any(|skip| model(rest, anchored, &path[skip..])),
            [first, rest @ ..] => path.first() == Some(first) && model(rest, anchored, &path[1..]),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn agrees_with_the_model(pattern in "[ab*]{0,9}", anchored: bool, path in "[abc]{0,12}") {
            let (pattern, path) = (pattern.as_bytes(), path.as_bytes());
            prop_assert_eq!(matches(pattern, anchored, path), model(pattern, anchored, path));
        }

        #[test]
        fn normalising_twice_changes_nothing(text in "[/?%2aAfF3b*$ä:]{0,20}", query_decoded: bool) {
            let once = spelled(&text, Side::Pattern, query_decoded);
            prop_assert_eq!(spelled(&once, Side::Pattern, query_decoded), once.clone());
        }
    }
}
