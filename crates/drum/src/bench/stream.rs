//! The stream of the benchmark: what a crawler's links look like to `UrlSeen`, made on the fly and without memory.
//!
//! Simon's process (1955): with probability p = 1/9 a link is to a new URL, otherwise it repeats a uniformly random *earlier
//! event*, so that popular URLs are repeated more: the in-degrees get the Web's power law, exponent 1 + 1/(1−p) = 2.125.
//! No history is kept: every ninth event is new, and "the event that event `t` repeats" is a hash of `t`, so following it
//! back until a new event is reached (9 steps on average) gives the same answer every time.
//!
//! A URL's text has 100 bytes on average and follows from its key.

/// How repeats are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StreamKind {
    /// Simon's process, but repeats of the first 1,000 URLs (a quarter of the stream) are spread evenly over all: the
    /// hardest for a cache.
    Flat,
    /// Simon's process as it is: a few URLs get a tenth of all links.
    Simon,
    /// Repeats by Zipf's law with exponent 1: the n-th URL is n times rarer than the first.
    Zipf,
}

impl std::str::FromStr for StreamKind {
    type Err = String;
    fn from_str(name: &str) -> Result<StreamKind, String> {
        match name {
            "flat" => Ok(StreamKind::Flat),
            "simon" => Ok(StreamKind::Simon),
            "zipf" => Ok(StreamKind::Zipf),
            _ => Err(format!("there is no stream `{name}`: use flat, simon or zipf")),
        }
    }
}

/// Checks per new key.
pub const CHECKS_PER_KEY: u64 = 9;
/// Events of the URLs whose repeats `flat` spreads.
const HEAD: u64 = 1000 * CHECKS_PER_KEY;

/// A part of the stream: keys and texts.
#[derive(Default)]
pub(crate) struct Links {
    pub(crate) keys: Vec<u64>,
    text: Vec<u8>,
    ends: Vec<u32>,
}

impl Links {
    pub(crate) fn text(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        &self.text[start..self.ends[index] as usize]
    }

    pub(crate) fn text_bytes(&self) -> u64 {
        self.text.len() as u64
    }
}

/// Makes the stream from its start.
#[derive(Clone)]
pub(crate) struct Stream {
    kind: StreamKind,
    seed: u64,
    event: u64,
}

impl Stream {
    pub(crate) fn new(kind: StreamKind, seed: u64) -> Stream {
        Stream { kind, seed, event: 0 }
    }

    /// Goes on where `keys` keys were new.
    #[cfg(any(feature = "rocksdb", feature = "redb", feature = "fjall"))]
    pub(crate) fn skip_to(&mut self, keys: u64) {
        self.event = keys * CHECKS_PER_KEY;
    }

    /// The keys that were new up to here, sorted.
    #[cfg(any(feature = "rocksdb", feature = "redb", feature = "fjall"))]
    pub(crate) fn keys_so_far(&self) -> Vec<u64> {
        let news = (0..self.event.div_ceil(CHECKS_PER_KEY)).map(|key| mix(key * CHECKS_PER_KEY ^ self.seed));
        let mut keys: Vec<u64> = news.collect();
        keys.sort_unstable();
        keys
    }

    /// The next `count` links.
    pub(crate) fn fill(&mut self, count: usize, links: &mut Links) {
        links.keys.clear();
        links.ends.clear();
        links.text.resize(count * TEXT_MAX, 0);
        let mut at = 0;
        for _ in 0..count {
            let key = mix(self.id(self.event) ^ self.seed);
            self.event += 1;
            links.keys.push(key);
            at += write_text(key, &mut links.text[at..]);
            links.ends.push(at as u32);
        }
        links.text.truncate(at);
    }

    /// The URL of an event: the event at which it was new.
    fn id(&self, event: u64) -> u64 {
        if event.is_multiple_of(CHECKS_PER_KEY) {
            return event;
        }
        let draw = hash(event ^ self.seed);
        if self.kind == StreamKind::Zipf {
            // A rank whose logarithm is uniform: probability 1/rank.
            let urls = (event / CHECKS_PER_KEY + 1) as f64;
            let rank = (urls.ln() * (draw >> 11) as f64 / (1u64 << 53) as f64).exp() as u64;
            return (rank - 1).min(event / CHECKS_PER_KEY) * CHECKS_PER_KEY;
        }
        let mut earlier = below(draw, event);
        while !earlier.is_multiple_of(CHECKS_PER_KEY) {
            earlier = below(hash(earlier ^ self.seed), earlier);
        }
        if self.kind == StreamKind::Flat && earlier < HEAD {
            return below(mix(event), event / CHECKS_PER_KEY + 1) * CHECKS_PER_KEY;
        }
        earlier
    }
}

#[inline]
fn below(draw: u64, bound: u64) -> u64 {
    ((u128::from(draw) * u128::from(bound)) >> 64) as u64
}

/// Good enough for a walk, and quick.
#[inline]
fn hash(value: u64) -> u64 {
    let value = value.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (value ^ value >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

/// Good enough for keys.
#[inline]
fn mix(value: u64) -> u64 {
    let mut value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

const TEXT_MAX: usize = 160;
const PATH: &[u8; 197] =
    b"archive/2007/06/stories/of-the-open-web/science/papers/irlbot/scaling-to-6-billion-pages/and-beyond/\
    index/products/catalogue/winter/garden/tools/mattocks-and-spades/reviews/customers/page/comments/";

/// Writes a URL of 70 to 130 bytes; its length.
fn write_text(key: u64, out: &mut [u8]) -> usize {
    const SCHEME: &[u8] = b"https://w";
    out[..9].copy_from_slice(SCHEME);
    hex(key >> 32, &mut out[9..17]);
    out[17..22].copy_from_slice(b".com/");
    let len = 31 + (key as usize & 0xff) * 61 / 256;
    let start = (key >> 8) as usize & 0x3f;
    out[22..22 + len].copy_from_slice(&PATH[start..start + len]);
    let at = 22 + len;
    out[at] = b'/';
    hex(key >> 32, &mut out[at + 1..at + 9]);
    hex(key, &mut out[at + 9..at + 17]);
    at + 17
}

/// The low 32 bits in 8 digits.
fn hex(value: u64, out: &mut [u8]) {
    // Spreads eight half bytes over eight bytes, then turns each into its digit.
    let value = value & 0xffff_ffff;
    let value = (value | value << 16) & 0x0000_ffff_0000_ffff;
    let value = (value | value << 8) & 0x00ff_00ff_00ff_00ff;
    let value = (value | value << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    let letters = (value + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101;
    out.copy_from_slice(&(value + 0x3030_3030_3030_3030 + letters * 0x27).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn links(kind: StreamKind, count: usize) -> Links {
        let mut links = Links::default();
        Stream::new(kind, 7).fill(count, &mut links);
        links
    }

    #[test]
    fn every_ninth_check_is_new_and_the_text_follows_from_the_key() {
        for kind in [StreamKind::Flat, StreamKind::Simon, StreamKind::Zipf] {
            let links = links(kind, 90_000);
            let mut texts = BTreeMap::new();
            for (index, key) in links.keys.iter().enumerate() {
                assert_eq!(texts.contains_key(key), !index.is_multiple_of(9));
                let text = links.text(index);
                assert_eq!(*texts.entry(*key).or_insert(text), text);
            }
            assert_eq!(texts.values().collect::<BTreeSet<_>>().len(), 10_000);
            let average = links.text_bytes() as f64 / 90_000.0;
            assert!((95.0..105.0).contains(&average), "{average}");
        }
        assert!(links(StreamKind::Flat, 1).text(0).starts_with(b"https://w"));
    }

    #[test]
    fn the_head_is_heavy_in_simon_and_not_in_flat() {
        let most = |kind| {
            let mut counts = BTreeMap::new();
            for key in links(kind, 900_000).keys {
                *counts.entry(key).or_insert(0u32) += 1;
            }
            f64::from(*counts.values().max().unwrap()) / 900_000.0
        };
        assert!(most(StreamKind::Simon) > 0.01);
        assert!(most(StreamKind::Flat) < 0.003);
    }

    #[test]
    fn digits_are_right() {
        let mut out = [0; 8];
        hex(0x0123_cdef, &mut out);
        assert_eq!(&out, b"0123cdef");
    }
}
