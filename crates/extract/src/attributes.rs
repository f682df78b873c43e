//! The inside of a tag, from behind its name to its `>`, by the standard's attribute states.
//!
//! Used by the scanner for every tag and by the charset prescan for `<meta>`. Values are raw bytes: nothing is decoded here.

use crate::names::is_space;

/// How a tag ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TagEnd {
    /// The position behind the `>`.
    pub(crate) after: usize,
    /// `/>`.
    pub(crate) self_closing: bool,
}

/// What ends an attribute name: blanks, `/`, `>` and `=`.
const NAME_END: [bool; 256] = {
    let mut table = [false; 256];
    let ends = b"\t\n\x0c\r />=";
    let mut i = 0;
    while i < ends.len() {
        table[ends[i] as usize] = true;
        i += 1;
    }
    table
};

/// Walks the attributes from `pos` on and hands each (name, value) over, duplicates included. `None` if the input ends
/// inside the tag, which then counts as not written.
#[inline(always)]
pub(crate) fn walk<'a>(
    bytes: &'a [u8],
    mut pos: usize,
    mut each: impl FnMut(&'a [u8], &'a [u8]),
) -> Option<TagEnd> {
    loop {
        let mut byte = *bytes.get(pos)?;
        while is_space(byte) {
            pos += 1;
            byte = *bytes.get(pos)?;
        }
        match byte {
            b'>' => return Some(TagEnd { after: pos + 1, self_closing: false }),
            b'/' => {
                pos += 1;
                if *bytes.get(pos)? == b'>' {
                    return Some(TagEnd { after: pos + 1, self_closing: true });
                }
                continue;
            }
            _ => {}
        }
        // An equals sign in first place belongs to the name.
        let name_start = pos;
        pos += 1;
        while !NAME_END[usize::from(*bytes.get(pos)?)] {
            pos += 1;
        }
        let name = &bytes[name_start..pos];
        while is_space(*bytes.get(pos)?) {
            pos += 1;
        }
        if bytes[pos] != b'=' {
            each(name, &[]);
            continue;
        }
        pos += 1;
        while is_space(*bytes.get(pos)?) {
            pos += 1;
        }
        let value_start;
        let value_end;
        match bytes[pos] {
            quote @ (b'"' | b'\'') => {
                value_start = pos + 1;
                value_end = value_start + find_near(quote, &bytes[value_start..])?;
                pos = value_end + 1;
            }
            b'>' => {
                each(name, &[]);
                continue;
            }
            _ => {
                value_start = pos;
                while !matches!(*bytes.get(pos)?, b'\t' | b'\n' | 0x0c | b'\r' | b' ' | b'>') {
                    pos += 1;
                }
                value_end = pos;
            }
        }
        each(name, &bytes[value_start..value_end]);
    }
}

/// The first `byte`, which is likely to be near: most values and most texts are short, and a call costs more than looking at them.
#[inline(always)]
pub(crate) fn find_near(byte: u8, bytes: &[u8]) -> Option<usize> {
    const LOW: u64 = u64::from_ne_bytes([1; 8]);
    let Some((near, far)) = bytes.split_first_chunk::<32>() else {
        return bytes.iter().position(|&b| b == byte);
    };
    let (parts, _) = near.as_chunks::<8>();
    for (part, bytes) in parts.iter().enumerate() {
        // A byte that is equal becomes zero, and the lowest zero is the first to borrow.
        let word = u64::from_le_bytes(*bytes) ^ (LOW * u64::from(byte));
        let zeros = word.wrapping_sub(LOW) & !word & (LOW << 7);
        if zeros != 0 {
            return Some(part * 8 + zeros.trailing_zeros() as usize / 8);
        }
    }
    memchr::memchr(byte, far).map(|at| near.len() + at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn near_and_far(bytes in proptest::collection::vec(prop_oneof![Just(0u8), Just(1), Just(0x3c), Just(0x3d), Just(0xbc), Just(0xff)], 0..40), byte in prop_oneof![Just(0u8), Just(0x3c), Just(0xff)]) {
            prop_assert_eq!(find_near(byte, &bytes), memchr::memchr(byte, &bytes));
        }
    }

    type Pairs = Vec<(String, String)>;

    fn all(tag: &str) -> Option<(Pairs, bool, usize)> {
        let mut found = Vec::new();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let end = walk(tag.as_bytes(), 0, |name, value| found.push((text(name), text(value))))?;
        Some((found, end.self_closing, end.after))
    }

    fn pairs(tag: &str) -> Pairs {
        all(tag).unwrap().0
    }

    fn owned(list: &[(&str, &str)]) -> Pairs {
        list.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    }

    #[test]
    fn quoting() {
        assert_eq!(
            pairs(" a=\"1>2\" b='\"' c=d/e f>"),
            owned(&[("a", "1>2"), ("b", "\""), ("c", "d/e"), ("f", "")])
        );
        assert_eq!(pairs(" a = \n 'x' b\t=y>"), owned(&[("a", "x"), ("b", "y")]));
        assert_eq!(pairs(" a='1'b='2'>"), owned(&[("a", "1"), ("b", "2")]));
        assert_eq!(pairs("/a/b=/c/>"), owned(&[("a", ""), ("b", "/c/")]));
        assert_eq!(pairs(" a=it's b=\"c\">"), owned(&[("a", "it's"), ("b", "c")]));
        assert_eq!(pairs(" =\"x\" a==b>"), owned(&[("=\"x\"", ""), ("a", "=b")]));
        assert_eq!(pairs(" \"q\" '>"), owned(&[("\"q\"", ""), ("'", "")]));
        assert_eq!(pairs(" a=>b"), owned(&[("a", "")]));
    }

    #[test]
    fn ends() {
        assert_eq!(all("/>x"), Some((vec![], true, 2)));
        assert_eq!(all(" a />x").map(|(_, closing, after)| (closing, after)), Some((true, 5)));
        assert_eq!(all(" a=b/>x").map(|(_, closing, after)| (closing, after)), Some((false, 6)));
        for open in ["", " ", " a", " a=", " a='", " a='>", " a=b", "/", " a = "] {
            assert_eq!(all(open), None, "{open:?}");
        }
    }
}
