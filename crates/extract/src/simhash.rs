//! A 64-bit sketch of a text that changes little when the text does (Charikar 2002; Manku, Jain and Das Sarma 2007 found three
//! bits of difference to tell near duplicates from others among eight thousand million pages).
//!
//! The text is cut into words, runs of letters and digits. Case counts for nothing, and every word with a digit in it is the same
//! word: dates, counters and identifiers are what copies differ in. Three words after each other are a feature; each bit
//! of the sketch is what most features have in that place.
//!
//! Costs a little more than a microsecond per kilobyte: 64 bytes are classed at once, words are read sixteen bytes at a time, and the 64 sums are
//! kept as planes of bits, so that a feature is added to all of them with a few operations. At most [`TEXT_BYTES_MAX`] bytes
//! are looked at.

/// What is looked at of a text.
pub const TEXT_BYTES_MAX: usize = 64 << 10;

/// Features of [`TEXT_BYTES_MAX`] bytes are fewer than 2 to this power.
const PLANES: usize = 17;
const BLOCK: usize = 64;
/// The bytes of a word that are taken at once.
const PIECE: usize = 16;
/// The word for all words with digits.
const NUMBER: u64 = 0x6e75_6d62_6572_2121;

/// The sketch of a text, in any encoding that has ASCII in it; 0 if it has no words.
pub fn simhash(text: impl AsRef<[u8]>) -> u64 {
    sketch(text.as_ref())
}

fn sketch(text: &[u8]) -> u64 {
    let bytes = &text[..text.len().min(TEXT_BYTES_MAX)];
    let mut features = Features::new();
    // The part of a word that filled the blocks before.
    let mut begun: Option<Word> = None;
    let mut start = 0;
    while start < bytes.len() {
        let rest = &bytes[start..];
        let mut padded = [0; BLOCK + PIECE];
        let block = rest.first_chunk().unwrap_or_else(|| {
            let length = rest.len().min(BLOCK);
            padded[..length].copy_from_slice(&rest[..length]);
            &padded
        });
        let (letters, digits) = classes(block);
        if let Some(word) = begun.take() {
            // Words are seldom so long; this way all others need no look at what was before.
            let length = letters.trailing_ones() as usize;
            let word = word.extended(block, 0, length, digits);
            start += length;
            if length == BLOCK {
                begun = Some(word);
            } else {
                features.word(word);
            }
            continue;
        }
        // A word that goes on behind the block begins the next one, so that what it is does not depend on where it stands.
        let open = letters.leading_ones() as usize;
        let goes_on = rest.len() > BLOCK;
        if goes_on && open == BLOCK {
            begun = Some(Word::default().extended(block, 0, BLOCK, digits));
            start += BLOCK;
            continue;
        }
        let length = if goes_on { BLOCK - open } else { BLOCK };
        let letters = letters & (u64::MAX >> (BLOCK - length));
        let mut starts = letters & !(letters << 1);
        let mut ends = letters & !(letters >> 1);
        while starts != 0 {
            let (from, to) = (starts.trailing_zeros() as usize, ends.trailing_zeros() as usize + 1);
            starts &= starts - 1;
            ends &= ends - 1;
            features.word(Word::default().extended(block, from, to, digits));
        }
        features.sum_whole_groups();
        start += length;
    }
    if let Some(word) = begun {
        features.word(word);
    }
    features.majority()
}

/// Which bytes belong to words, and which of these are digits.
fn classes(block: &[u8; BLOCK + PIECE]) -> (u64, u64) {
    let mut letters = [0u8; BLOCK];
    let mut digits = [0u8; BLOCK];
    for at in 0..BLOCK {
        let byte = block[at];
        let digit = u8::from(byte.wrapping_sub(b'0') < 10);
        digits[at] = digit;
        letters[at] = digit | u8::from((byte | 0x20).wrapping_sub(b'a') < 26) | (byte >> 7);
    }
    (mask(&letters), mask(&digits))
}

/// The lowest bits of 64 bytes.
fn mask(bytes: &[u8; BLOCK]) -> u64 {
    let mut mask = 0;
    for (at, part) in bytes.as_chunks::<8>().0.iter().enumerate() {
        let bits = u64::from_le_bytes(*part).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        mask |= bits << (8 * at);
    }
    mask
}

/// A word, or the beginning of one.
#[derive(Clone, Copy, Default)]
struct Word {
    hash: u64,
    number: bool,
}

impl Word {
    /// With what is in the block between these places.
    #[inline]
    fn extended(mut self, block: &[u8; BLOCK + PIECE], from: usize, to: usize, digits: u64) -> Word {
        if from == to {
            return self;
        }
        self.number |= digits & (u64::MAX >> (BLOCK - (to - from)) << from) != 0;
        let mut at = from;
        // Nearly always once.
        while at < to {
            let piece = block[at..].first_chunk::<PIECE>().expect("a piece fits in behind every block");
            self.take(piece, (to - at).min(PIECE));
            at += PIECE;
        }
        self
    }

    /// Takes the first so many bytes of a piece.
    #[inline]
    fn take(&mut self, piece: &[u8; PIECE], length: usize) {
        let (parts, _) = piece.as_chunks::<8>();
        // The bit that tells upper from lower case is set in digits and in most of the rest too.
        let lower = |at: usize| (u64::from_le_bytes(parts[at]) | 0x2020_2020_2020_2020) & FIRST[length][at];
        let low = (self.hash.rotate_left(5) ^ lower(0)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        self.hash = (low.rotate_left(32) ^ lower(1)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// Masks for the first bytes of a piece, by their number.
const FIRST: [[u64; 2]; PIECE + 1] = {
    let mut masks = [[0; 2]; PIECE + 1];
    let mut length = 1;
    while length <= PIECE {
        masks[length] = if length <= 8 {
            [u64::MAX >> (64 - 8 * length), 0]
        } else {
            [u64::MAX, u64::MAX >> (128 - 8 * length)]
        };
        length += 1;
    }
    masks
};

/// Words that wait at most: those of a block and of an unfinished group, with room to spare.
const WAITING_MAX: usize = 64;

/// The sums of all features, by bit.
struct Features {
    /// Words whose features are not summed yet, after the two that are parts of the first of these.
    waiting: [u64; WAITING_MAX],
    /// How many of them there are.
    length: usize,
    count: u32,
    planes: [u64; PLANES],
}

impl Features {
    fn new() -> Features {
        Features { waiting: [0; WAITING_MAX], length: 0, count: 0, planes: [0; PLANES] }
    }

    #[inline]
    fn word(&mut self, word: Word) {
        self.waiting[self.length % WAITING_MAX] = if word.number { NUMBER } else { word.hash };
        self.length += 1;
        if self.length == WAITING_MAX {
            self.sum_whole_groups();
        }
    }

    /// Sums features by eights, and keeps the words of those that are left.
    #[inline]
    fn sum_whole_groups(&mut self) {
        let groups = self.length.saturating_sub(2) / 8;
        for group in 0..groups {
            let words = self.waiting[8 * group..].first_chunk::<10>().expect("a group has ten words");
            let features = std::array::from_fn(|at| feature(words[at], words[at + 1], words[at + 2]));
            self.sum(features, 8);
        }
        self.waiting.copy_within(8 * groups..self.length, 0);
        self.length -= 8 * groups;
    }

    /// Adds eight, or fewer and zeros: a tree of full adders leaves one carry for the planes from eight up.
    #[inline]
    fn sum(&mut self, [a, b, c, d, e, f, g, h]: [u64; 8], count: u32) {
        self.count += count;
        let [ones, twos, fours, ..] = self.planes;
        let (ones, twos_a) = add(ones, a, b);
        let (ones, twos_b) = add(ones, c, d);
        let (ones, twos_c) = add(ones, e, f);
        let (ones, twos_d) = add(ones, g, h);
        let (twos, fours_a) = add(twos, twos_a, twos_b);
        let (twos, fours_b) = add(twos, twos_c, twos_d);
        let (fours, mut carry) = add(fours, fours_a, fours_b);
        [self.planes[0], self.planes[1], self.planes[2]] = [ones, twos, fours];
        // No sum is greater than the count, so no carry comes out of its highest place.
        let top = (u32::BITS - self.count.leading_zeros()).clamp(3, PLANES as u32) as usize;
        for plane in &mut self.planes[3..top] {
            let next = *plane & carry;
            *plane ^= carry;
            carry = next;
        }
    }

    fn majority(mut self) -> u64 {
        if self.count == 0 && (1..3).contains(&self.length) {
            // Too short for a feature: the words themselves, and nothing.
            self.length = 3;
        }
        self.sum_whole_groups();
        let mut last = [0; 8];
        let left = self.length.saturating_sub(2);
        for (feature_left, words) in last.iter_mut().zip(self.waiting[..self.length].windows(3)) {
            *feature_left = feature(words[0], words[1], words[2]);
        }
        self.sum(last, left as u32);
        // All 64 sums are compared with half the count at once, from the highest plane down.
        let half = self.count / 2;
        let (mut more, mut equal) = (0, u64::MAX);
        for place in (0..PLANES).rev() {
            let limit = if half >> place & 1 == 1 { u64::MAX } else { 0 };
            more |= equal & self.planes[place] & !limit;
            equal &= !(self.planes[place] ^ limit);
        }
        more
    }
}

/// Three words after each other.
#[inline]
fn feature(first: u64, second: u64, third: u64) -> u64 {
    let mixed = first.rotate_left(17) ^ second.rotate_left(37) ^ third;
    let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    mixed ^ (mixed >> 32)
}

/// A full adder for each of 64 places: sum and carry.
#[inline]
fn add(a: u64, b: u64, c: u64) -> (u64, u64) {
    let half = a ^ b;
    (half ^ c, (a & b) | (half & c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same, a word and a bit at a time.
    fn naive(text: &str) -> u64 {
        let bytes = &text.as_bytes()[..text.len().min(TEXT_BYTES_MAX)];
        let mut words: Vec<u64> = bytes
            .split(|byte| !byte.is_ascii_alphanumeric() && byte.is_ascii())
            .filter(|word| !word.is_empty())
            .map(|word| if word.iter().any(u8::is_ascii_digit) { NUMBER } else { word_hash(word) })
            .collect();
        if words.is_empty() {
            return 0;
        }
        while words.len() < 3 {
            words.push(0);
        }
        let mut sums = [0i32; 64];
        for three in words.windows(3) {
            let feature = feature(three[0], three[1], three[2]);
            for (bit, sum) in sums.iter_mut().enumerate() {
                *sum += if feature >> bit & 1 == 1 { 1 } else { -1 };
            }
        }
        (0..64).map(|bit| u64::from(sums[bit] > 0) << bit).sum()
    }

    fn word_hash(bytes: &[u8]) -> u64 {
        let mut word = Word::default();
        for part in bytes.chunks(PIECE) {
            let mut piece = [0; PIECE];
            piece[..part.len()].copy_from_slice(part);
            word.take(&piece, part.len());
        }
        word.hash
    }

    proptest! {
        #[test]
        fn it_is_what_the_definition_says(text in "([a-cA-C1é ,]{0,90}|[a-z]{1,70} ?){0,6}") {
            prop_assert_eq!(simhash(&text), naive(&text), "{}", text);
        }

        #[test]
        fn any_text_has_a_sketch(text in "\\PC{0,400}") {
            let sketch = simhash(&text);
            prop_assert_eq!(sketch, simhash(text.to_ascii_uppercase()));
        }
    }

    fn distance(one: &str, other: &str) -> u32 {
        (simhash(one) ^ simhash(other)).count_ones()
    }

    /// A text of words that are as good as random.
    fn article(seed: u64, words: u64) -> String {
        let word = |number: u64| {
            let mixed = (seed << 32 | number).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let hash = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            let hash = hash ^ (hash >> 31);
            let letters = (0..2 + hash % 7).map(|at| char::from(b'a' + (hash >> (8 * at)) as u8 % 26));
            letters.collect::<String>()
        };
        (0..words).map(word).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_differs_in_numbers_only_is_the_same() {
        assert_eq!(distance("2020-1-1: nothing happens", "9998-12-28: nothing happens"), 0);
        assert_eq!(distance("Page 1 of 20", "PAGE 17 of 20!"), 0);
        assert_ne!(distance("Page 1 of 20", "Image 1 of 20"), 0);
        assert_eq!((simhash(""), simhash(" -- ")), (0, 0));
    }

    #[test]
    fn near_texts_are_near_and_others_far() {
        let text = article(1, 1_000);
        let changed = format!("A new title. {text} And a few words at the end.");
        assert!(distance(&text, &changed) <= 3, "{}", distance(&text, &changed));
        for seed in 2..100 {
            let far = distance(&text, &article(seed, 1_000));
            assert!((12..=52).contains(&far), "{far}");
        }
    }

    #[test]
    fn the_longest_text_overflows_no_sum() {
        let text = "a ".repeat(TEXT_BYTES_MAX);
        assert_eq!(simhash(&text), naive(&text));
        assert_eq!(simhash(&text), simhash("a a a"));
    }
}
