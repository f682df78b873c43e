//! Running text: words, sentences and paragraphs, some bytes at a time.
//!
//! The inner loop copies 16 bytes for each word, whatever its length, and moves on by the length: no branch depends on
//! the word. About 1.5 ns a word.

use crate::mix::Stream;
use crate::vocabulary::{SLOTS, Table, WORD_BITS};

/// Words drawn from one 64-bit number; the bits that are left over make the punctuation.
const WORDS_PER_DRAW: usize = 5;
const LONGEST_WORD: usize = 16;
/// The most that one draw adds: its words, and a paragraph's end and beginning.
const DRAW_BYTES: usize = WORDS_PER_DRAW * LONGEST_WORD + 16;

/// Appends about `bytes` of text in sentences and paragraphs; stops in the middle of a sentence, after a space.
pub(crate) fn write_text(table: &Table, mut stream: Stream, bytes: usize, out: &mut Vec<u8>) {
    let mut at = out.len();
    let end = at + bytes;
    out.resize(end + 2 * DRAW_BYTES, 0);
    let buffer = out.as_mut_slice();
    while at < end {
        let mut bits = stream.next();
        for _ in 0..WORDS_PER_DRAW {
            let word = &table[bits as usize & (SLOTS - 1)];
            buffer[at..at + LONGEST_WORD].copy_from_slice(word);
            at += usize::from(word[LONGEST_WORD - 1]);
            bits >>= WORD_BITS;
        }
        // Nine bits are left: a comma now and then, a sentence of 20 words, a paragraph of five sentences.
        let mark: &[u8] = match bits & 7 {
            0 if bits >> 3 & 7 < 2 => b".</p>\n<p>",
            0 => b". ",
            1 => b".\n",
            2 => b", ",
            _ => continue,
        };
        at -= 1;
        buffer[at..at + mark.len()].copy_from_slice(mark);
        at += mark.len();
    }
    out.truncate(at);
}

/// Appends a few words, capitalised, without a space at the end: a title or the text of a link.
pub(crate) fn write_phrase(table: &Table, stream: &mut Stream, words: u64, out: &mut Vec<u8>) {
    let start = out.len();
    let mut bits = stream.next();
    for i in 0..words {
        if i > 0 && i % WORDS_PER_DRAW as u64 == 0 {
            bits = stream.next();
        }
        let word = &table[bits as usize & (SLOTS - 1)];
        out.extend_from_slice(&word[..usize::from(word[LONGEST_WORD - 1])]);
        bits >>= WORD_BITS;
    }
    out.pop();
    if let Some(first) = out.get_mut(start) {
        first.make_ascii_uppercase();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::table;

    #[test]
    fn text_has_about_the_length_asked_for() {
        for bytes in [0, 1, 50, 1_000, 20_000] {
            let mut out = b"before ".to_vec();
            write_text(table(2, 5), Stream::new(bytes as u64), bytes, &mut out);
            let text = String::from_utf8(out).expect("UTF-8");
            let length = text.strip_prefix("before ").expect("what was there stays").len();
            assert!(length >= bytes && length < bytes + DRAW_BYTES, "{length} for {bytes}");
            assert!(!text.contains('\0'));
        }
    }

    #[test]
    fn sentences_and_paragraphs_occur() {
        let mut out = Vec::new();
        write_text(table(0, 0), Stream::new(1), 20_000, &mut out);
        let text = String::from_utf8(out).expect("UTF-8");
        let sentences = text.matches('.').count();
        let paragraphs = text.matches("<p>").count();
        assert!((80..300).contains(&sentences), "{sentences}");
        assert!((5..60).contains(&paragraphs), "{paragraphs}");
    }

    #[test]
    fn phrases_are_capitalised() {
        let mut out = Vec::new();
        write_phrase(table(0, 0), &mut Stream::new(1), 7, &mut out);
        let text = String::from_utf8(out).expect("UTF-8");
        assert_eq!(text.split(' ').count(), 7);
        assert!(text.chars().next().is_some_and(char::is_uppercase));
    }
}
