//! Running text: words, sentences and paragraphs, some bytes at a time.
//!
//! The inner loop copies 16 bytes for each word and each mark, whatever its length, and moves on by the length: no branch
//! depends on what was drawn. About 1.5 ns a word.

use crate::mix::Stream;
use crate::names::{PaddedWord, pad, push_word};
use crate::vocabulary::{Table, WORD_BITS};

/// Words drawn from one 64-bit number; the bits that are left over make the punctuation.
const WORDS_PER_DRAW: usize = 5;
const LONGEST_WORD: usize = 16;
/// The most that one draw adds: its words, and a paragraph's end and beginning.
const DRAW_BYTES: usize = WORDS_PER_DRAW * LONGEST_WORD + 16;

/// The marks from here on end a sentence.
const FIRST_STOP: u64 = 12;

/// What follows five words, by four random bits: mostly nothing, a comma now and then, the end of a sentence after 20
/// words and of a paragraph after four sentences. Each replaces the space after the last word.
static MARKS: [PaddedWord; 16] = [
    pad(" "),
    pad(" "),
    pad(" "),
    pad(" "),
    pad(" "),
    pad(" "),
    pad(" "),
    pad(" "),
    pad(" "),
    pad(" "),
    pad(", "),
    pad(", "),
    pad(". "),
    pad(". "),
    pad(".\n"),
    pad(".</p>\n<p>"),
];

/// Appends about `bytes` of text in sentences and paragraphs; stops in the middle of a sentence, after a space or tag.
pub(crate) fn write_text(table: &Table, mut stream: Stream, bytes: usize, out: &mut Vec<u8>) {
    let mut at = out.len();
    let end = at + bytes;
    out.resize(end + 2 * DRAW_BYTES, 0);
    let buffer = out.as_mut_slice();
    let mut capital = false;
    while at < end {
        let mut bits = stream.next();
        let draw = &mut buffer[at..at + DRAW_BYTES];
        let first = table.word(bits)[0];
        let mut length = 0;
        for _ in 0..WORDS_PER_DRAW {
            let word = table.word(bits);
            draw[length..length + LONGEST_WORD].copy_from_slice(word);
            length += usize::from(word[LONGEST_WORD - 1]);
            bits >>= WORD_BITS;
        }
        draw[0] = first - (u8::from(capital & first.is_ascii_lowercase()) << 5);
        capital = bits & 15 >= FIRST_STOP;
        let mark = &MARKS[(bits & 15) as usize];
        draw[length - 1..length - 1 + LONGEST_WORD].copy_from_slice(mark);
        at += length - 1 + usize::from(mark[LONGEST_WORD - 1]);
    }
    out.truncate(at);
}

/// Appends a few words (at most ten), capitalised, without a space at the end: a title or the text of a link.
pub(crate) fn write_phrase(table: &Table, stream: &mut Stream, words: usize, out: &mut Vec<u8>) {
    let start = out.len();
    let mut bits = stream.next();
    for i in 0..words {
        if i == WORDS_PER_DRAW {
            bits = stream.next();
        }
        push_word(table.word(bits), out);
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
