//! Small things that the budget stages share: a hash map that is the same in every run, and saved state as 64-bit words.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map from fingerprints. Its order depends on nothing but its content, yet nothing may depend on its order.
pub(crate) type Map<V> = HashMap<u64, V, BuildHasherDefault<Fingerprint>>;

/// Fingerprints are hashes already; one multiplication makes up for whatever chose their bits.
#[derive(Default)]
pub(crate) struct Fingerprint(u64);

impl Hasher for Fingerprint {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("fingerprints hash as one u64")
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = mix(key);
    }
}

/// Spreads the bits of a fingerprint.
pub(crate) fn mix(key: u64) -> u64 {
    key.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

/// Appends a word.
pub(crate) fn put(out: &mut Vec<u8>, word: u64) {
    out.extend_from_slice(&word.to_le_bytes());
}

/// Reads words back.
pub(crate) struct Words<'a>(&'a [u8]);

impl<'a> Words<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Words<'a> {
        Words(bytes)
    }

    pub(crate) fn next(&mut self) -> Option<u64> {
        let (word, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*word))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
