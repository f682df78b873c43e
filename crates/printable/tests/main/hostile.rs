//! Strings that try everything: pieces that terminals obey, marks that rearrange or hide text, markup, formulas, and bytes that are no UTF-8.

/// Each does something to some terminal, or to what stands around it.
const PIECES: [&[u8]; 56] = [
    // Colours, erasing, moving, scrolling, the whole terminal anew.
    b"\x1b[31;5;7m",
    b"\x1b[2J",
    b"\x1b[3J",
    b"\x1b[H",
    b"\x1b[99;99H",
    b"\x1b[5;10r",
    b"\x1b[?6h",
    b"\x1b[4h",
    b"\x1b[10L",
    b"\x1b[10M",
    b"\x1b[9S",
    b"\x1b[9T",
    b"\x1bM",
    b"\x1bc",
    b"\x1b[!p",
    b"\x1b#8",
    // Another screen, no cursor, no wrapping, the mouse, pastes, keys.
    b"\x1b[?1049h",
    b"\x1b[?47h",
    b"\x1b[?25l",
    b"\x1b[?7l",
    b"\x1b[?1000h\x1b[?1006h",
    b"\x1b[?1003h",
    b"\x1b[?2004h",
    b"\x1b[?1h\x1b=",
    b"\x1b[?1004h",
    b"\x1b[?5h",
    b"\x1b[3g",
    // Questions that a terminal answers as if somebody had typed.
    b"\x1b[c",
    b"\x1b[>c",
    b"\x1b[5n",
    b"\x1b[6n",
    b"\x1b[21t",
    b"\x1bZ",
    b"\x05",
    b"\x1bP$qm\x1b\\",
    // Titles, the clipboard, links, names of windows, other character sets.
    b"\x1b]0;owned\x07",
    b"\x1b]2;owned\x1b\\",
    b"\x1bkowned\x1b\\",
    b"\x1b]52;c;b3duZWQ=\x07",
    b"\x1b]8;;http://evil.example/\x1b\\",
    b"\x1b(0",
    b"\x0e",
    // Single controls, C1 as UTF-8 and as bytes.
    b"\x07",
    b"\x08\x08\x08",
    b"\r",
    b"\x0b\x0c",
    b"\x00\x7f",
    b"\xc2\x9b31m",
    b"\xc2\x9d0;owned\xc2\x9c",
    b"\x9b2J",
    // Direction, nothing to see, ends of lines.
    b"\xe2\x80\xae",
    b"\xe2\x81\xa6\xe2\x80\x8f",
    b"\xe2\x80\x8b\xef\xbb\xbf\xd8\x9c",
    b"\xe2\x80\xa8\xe2\x80\xa9",
    b"\xf3\xa0\x81\x81\xee\x80\x80",
    b"\xff\xc3(",
];

/// What stands between.
const WORDS: [&str; 10] =
    ["x", "größe ", "日本", "<b title='", "\"&", ",;", "=1+1", "👩\u{200d}💻", "a b", "-"];

/// Numbers that follow from a seed (SplitMix64).
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }

    /// A string of one to five pieces, with words and random bytes between.
    pub(crate) fn string(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for _ in 0..=self.below(5) {
            match self.below(8) {
                0 => bytes.push(self.below(256) as u8),
                1 => {
                    let letter = char::from_u32(self.below(0x11_0000) as u32).unwrap_or('\u{85}');
                    bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                }
                2 => bytes.extend_from_slice(WORDS[self.below(WORDS.len())].as_bytes()),
                _ => bytes.extend_from_slice(PIECES[self.below(PIECES.len())]),
            }
        }
        bytes
    }
}
