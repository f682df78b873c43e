//! Which characters show as themselves.
//!
//! These do not: controls (C0, DEL, C1), which terminals obey; format characters, which rearrange text (U+202A to U+202E, U+2066 to U+2069, U+200E,
//! U+200F, U+061C) or take no room; separators of lines and paragraphs; blank letters, such as the Hangul fillers; private and unassigned ones, of
//! which nobody knows how they look. Two kinds of invisible characters stay where scripts and emoji need them, one behind a visible
//! character: joiners (U+200C, U+200D) and selectors of a variant (U+FE0E, U+FE0F).

/// What stands in for a character before the text, or for one that was escaped: nothing joins it.
pub(crate) const NOTHING: char = ' ';

/// Whether a character behind `before` shows as itself, and does nothing else.
pub(crate) fn shows(letter: char, before: char) -> bool {
    match letter {
        '\u{200c}' | '\u{200d}' => before == '\u{fe0f}' || (before >= '\u{600}' && is_visible(before)),
        '\u{fe0e}' | '\u{fe0f}' => {
            matches!(before, '0'..='9' | '#' | '*') || (before >= '\u{a9}' && is_visible(before))
        }
        _ => is_visible(letter),
    }
}

fn is_visible(letter: char) -> bool {
    match letter {
        ' '..='~' => true,
        '\0'..='\u{9f}' | '\u{ad}' => false,
        // The most frequent ones need no table: Latin, Cyrillic, Chinese characters, Hangul.
        '\u{a0}'..='\u{2ff}' | '\u{400}'..='\u{52f}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => {
            true
        }
        // Letters and marks that show nothing.
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}' | '\u{ffa0}' => false,
        '\u{180b}'..='\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e0fff}' => false,
        '\u{2028}' | '\u{2029}' => false,
        // Blanks of other widths.
        letter if letter.is_whitespace() => true,
        letter => is_in_tables(letter),
    }
}

/// Whether the standard library's tables have it for a character that can be printed. They are asked as `Debug` of a text asks them, where
/// behind another letter only controls, format characters and private or unassigned ones are escaped.
fn is_in_tables(letter: char) -> bool {
    let mut bytes = [b'x'; 5];
    let end = 1 + letter.encode_utf8(&mut bytes[1..]).len();
    std::str::from_utf8(&bytes[..end]).is_ok_and(|text| text.escape_debug().nth(1) != Some('\\'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_something_does_not_show() {
        let controls = (0..0x20).chain(0x7f..0xa0);
        let marks = [0xad, 0x61c, 0x180e, 0x200b, 0x200e, 0x200f, 0x2028, 0x2029, 0xfeff, 0xfffe, 0xffff];
        let rearranging = (0x202a..=0x202e).chain(0x2060..=0x206f).chain(0xfff9..=0xfffb);
        let blank = [0x34f, 0x115f, 0x1160, 0x3164, 0xffa0, 0x1d173, 0xe0001, 0xe0041, 0xe0100];
        let unknown = [0x378, 0xe000, 0xf8ff, 0xf0000, 0x10ffff, 0x2fffe];
        for code in controls.chain(marks).chain(rearranging).chain(blank).chain(unknown) {
            let letter = char::from_u32(code).unwrap();
            for before in [NOTHING, 'a', 'ä', 'م', '😀', letter] {
                assert!(!shows(letter, before), "U+{code:04X} behind {before:?}");
            }
        }
    }

    #[test]
    fn writing_shows() {
        for text in [
            "größe, naïve\u{301}",
            "Ελλάδα",
            "Москва",
            "日本語\u{3000}文字",
            "한국어",
            "ไทย",
            "עברית",
            "€½→□🦀",
        ] {
            for letter in text.chars() {
                assert!(shows(letter, NOTHING), "{letter:?} of {text}");
            }
        }
    }

    #[test]
    fn joiners_and_selectors_stay_where_they_are_needed() {
        for text in [
            "می\u{200c}خواهم",
            "क\u{94d}\u{200d}ष",
            "👩\u{200d}💻",
            "❤\u{fe0f}\u{200d}🔥",
            "1\u{fe0f}\u{20e3}",
        ] {
            let before = std::iter::once(NOTHING).chain(text.chars());
            assert!(text.chars().zip(before).all(|(letter, before)| shows(letter, before)), "{text:?}");
        }
        for (letter, before) in
            [('\u{200d}', 'a'), ('\u{200d}', '\u{200d}'), ('\u{fe0f}', '\u{fe0f}'), ('\u{200c}', NOTHING)]
        {
            assert!(!shows(letter, before), "{letter:?} behind {before:?}");
        }
    }
}
