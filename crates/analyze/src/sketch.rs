//! Digests and sketches: whether two documents are the same, and whether they are nearly the same.
//!
//! - `digest`: `sha1:` and the Base32 of the body's SHA-1, as archives compare payloads.
//! - `simhash`: the 64-bit sketch of the visible text that the crawl itself compares pages by; near duplicates differ in few bits.
//! - `shingles`: a min-wise sketch (Broder 1997). The main text is cut into words, runs of letters and digits in lower case; every
//!   [`SHINGLE_WORDS`] words in a row are a shingle, a text with fewer words is one shingle. A shingle is hashed by XXH3 with 64 bits over its
//!   words, each followed by a zero byte, with seed 0; hash `h` is turned into [`SKETCH_LENGTH`] others by multiplying with an odd number and
//!   mixing, `i` being part of both; place `i` of the sketch has the least of them. The part of the places in which two sketches agree
//!   estimates how much of the shingles two texts share. This definition is fixed: sketches made years apart are compared.

use std::collections::HashSet;

use data_encoding::BASE32;
use mattock_extract::{Options, detect_charset, extract, simhash as simhash_of};
use sha1::{Digest as _, Sha1};
use xxhash_rust::xxh3::xxh3_64;

use crate::document::Form;
use crate::words::words;
use crate::{Document, Value};

/// The visible text that `simhash` looks at: as much as the crawl does, so that its sketches and these can be compared.
const SIMHASHED_BYTES_MAX: usize = 8 << 10;
/// Words in a shingle.
const SHINGLE_WORDS: usize = 8;
/// Numbers in a sketch.
const SKETCH_LENGTH: usize = 64;
/// A text has as many shingles as words; after so many distinct ones the sketch is taken.
const SHINGLES_MAX: usize = 1 << 17;

pub(crate) fn digest(document: &Document<'_>) -> Value {
    Value::Text(format!("sha1:{}", BASE32.encode(&Sha1::digest(document.body))))
}

pub(crate) fn simhash(document: &Document<'_>) -> Value {
    let sketch = match document.form() {
        Form::Html => {
            let options = Options {
                links_max: 0,
                raw_text: true,
                raw_text_bytes_max: SIMHASHED_BYTES_MAX,
                detect: Some(detect_charset),
                ..Options::default()
            };
            let page = extract(document.body, document.content_type().as_deref(), &options);
            simhash_of(page.raw_text.unwrap_or_default())
        }
        Form::Plain => simhash_of(&document.body[..document.body.len().min(SIMHASHED_BYTES_MAX)]),
        Form::Other => return Value::Null,
    };
    // All 64 bits count; the column is signed. No words, no sketch.
    if sketch == 0 { Value::Null } else { Value::Integer(sketch.cast_signed()) }
}

pub(crate) fn shingles(document: &Document<'_>) -> Value {
    match document.main_text() {
        Some(text) => Value::IntegerList(sketch_of(text)),
        None => Value::Null,
    }
}

/// The sketch of a text; empty if it has no words.
fn sketch_of(text: &str) -> Vec<i64> {
    let mut joined = Vec::with_capacity(text.len());
    let mut starts = Vec::new();
    for word in words(text) {
        starts.push(joined.len());
        joined.extend_from_slice(word.as_bytes());
        joined.push(0);
    }
    if starts.is_empty() {
        return Vec::new();
    }
    let last = starts.len().saturating_sub(SHINGLE_WORDS);
    let mut seen = HashSet::new();
    let mut least = [u64::MAX; SKETCH_LENGTH];
    for first in 0..=last {
        let end = starts.get(first + SHINGLE_WORDS).copied().unwrap_or(joined.len());
        let hash = xxh3_64(&joined[starts[first]..end]);
        if seen.insert(hash) {
            for (place, least) in (0u64..).zip(&mut least) {
                *least = (*least).min(permuted(hash, place));
            }
            if seen.len() == SHINGLES_MAX {
                break;
            }
        }
    }
    least.map(u64::cast_signed).to_vec()
}

/// Function `place` of a family of hashes of `hash`: each a bijection, so equal results mean equal shingles.
#[inline]
fn permuted(hash: u64, place: u64) -> u64 {
    // Odd numbers, far apart.
    let factor = (place.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0xd1b5_4a32_d192_ed03)) | 1;
    let mixed = (hash ^ (place << 56 | place)).wrapping_mul(factor);
    (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agreeing(one: &str, other: &str) -> usize {
        sketch_of(one).iter().zip(sketch_of(other)).filter(|(one, other)| **one == *other).count()
    }

    fn text(from: u64, to: u64) -> String {
        (from..to).map(|number| format!("w{} ", number.wrapping_mul(0x9e37_79b9))).collect()
    }

    #[test]
    fn near_and_far() {
        assert_eq!(agreeing(&text(0, 1_000), &text(0, 1_000).to_uppercase()), 64);
        assert_eq!(agreeing(&text(0, 1_000), &text(2_000, 3_000)), 0);
        // Half of each text is in both: a third of all shingles.
        let third = agreeing(&text(0, 4_000), &text(2_000, 6_000));
        assert!((10..=34).contains(&third), "{third}");
        assert_eq!(sketch_of("a"), sketch_of(" A."));
        assert_eq!(sketch_of(" ."), []);
    }

    /// Sketches are stored and compared for years.
    #[test]
    fn fixed_for_ever() {
        let sketch = sketch_of("The quick brown fox jumps over the lazy dog, doesn't it? Ça alors, 42!");
        assert_eq!(sketch.len(), 64);
        assert_eq!(
            &sketch[..3],
            &[210_744_242_772_862_805, 2_749_788_493_605_356_273, 222_819_254_783_547_129]
        );
    }
}
