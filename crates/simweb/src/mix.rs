//! Hashing: the only source of chance in the simulated Web.
//!
//! Every property of a domain, host or page is `mix(seed, tag, a, b)`: a pure function, so nothing is stored and
//! any part of the world can be asked for in any order. Inside a page a [`Stream`] draws many numbers from one key.
//!
//! The constants and the order of operations are part of every world: changing one changes all worlds for ever.
//! Costs: about 3 ns for `mix`, 1 ns for a step of a stream.

/// Odd 64-bit constants without structure (the first digits of the square roots of 2, 3, 5, 7 and 11, made odd).
const KEYS: [u64; 5] = [
    0x6a09_e667_f3bc_c909,
    0xbb67_ae85_84ca_a73b,
    0x3c6e_f372_fe94_f82b,
    0xa54f_f53a_5f1d_36f1,
    0x510e_527f_ade6_82d1,
];

/// What a hash is about: two properties of the same thing have different tags, hence independent values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum Tag {
    NameRound = 1,
    Suffix,
    Language,
    TopicTurn,
    BareName,
    HostCount,
    HostKey,
    PagePhase,
    PageCount,
    Style,
    Sections,
    Session,
    Calendar,
    Mirror,
    MirrorOf,
    RobotsKind,
    RobotsDetail,
    DomainFate,
    HostFate,
    Slow,
    Delay,
    Server,
    ServerOwn,
    Slug,
    PageKind,
    RedirectTo,
    NearDuplicate,
    Change,
    PageTopic,
    LinkCount,
    PageSize,
    Navigation,
    ContentLinks,
    Text,
    Title,
    Print,
    FarmKey,
    FarmLinks,
    Sitemap,
}

/// Multiplies to 128 bits and folds the halves together: each input bit reaches each output bit.
#[inline]
const fn fold(a: u64, b: u64) -> u64 {
    let product = (a as u128) * (b as u128);
    (product as u64) ^ ((product >> 64) as u64)
}

/// The hash of two numbers under a tag and a seed.
#[inline]
pub(crate) const fn mix(seed: u64, tag: Tag, a: u64, b: u64) -> u64 {
    let tagged = seed ^ (tag as u64).wrapping_mul(KEYS[4]);
    let first = fold(a ^ KEYS[0], tagged ^ KEYS[1]);
    let second = fold(b ^ KEYS[2], first ^ KEYS[3]);
    fold(second ^ KEYS[0], first ^ KEYS[4])
}

/// The hash of some bytes (for names that somebody else made up).
pub(crate) fn mix_bytes(seed: u64, bytes: &[u8]) -> u64 {
    let mut hash = seed ^ KEYS[2];
    for chunk in bytes.chunks(8) {
        let mut word = [0u8; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash = fold(hash ^ KEYS[0], u64::from_le_bytes(word) ^ KEYS[1]).wrapping_add(chunk.len() as u64);
    }
    fold(hash ^ KEYS[3], bytes.len() as u64 ^ KEYS[4])
}

/// A hash as a number in [0, 1).
#[inline]
pub(crate) fn unit(hash: u64) -> f64 {
    (hash >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// A hash as a number in 0..bound, by multiplication (no division, and every value is equally likely but for 2^-64).
#[inline]
pub(crate) fn below(hash: u64, bound: u64) -> u64 {
    ((u128::from(hash) * u128::from(bound)) >> 64) as u64
}

/// A sequence of hashes from one key.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    state: u64,
}

impl Stream {
    #[inline]
    pub(crate) const fn new(key: u64) -> Self {
        Self { state: key }
    }

    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(KEYS[4]);
        fold(self.state, self.state ^ KEYS[1])
    }

    #[inline]
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        below(self.next(), bound)
    }

    #[inline]
    pub(crate) fn unit(&mut self) -> f64 {
        unit(self.next())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_fixed_for_ever() {
        // Computed apart from this code, from the definition.
        assert_eq!(mix(1, Tag::NameRound, 2, 3), 0xddc3_e9f0_0199_65ff);
        let mut stream = Stream::new(7);
        assert_eq!([stream.next(), stream.next()], [0x22d3_76bd_40e1_b127, 0x93f1_ae4e_54dd_a9ae]);
        assert_ne!(mix(1, Tag::Slug, 2, 3), mix(1, Tag::Text, 2, 3));
        assert_ne!(mix(1, Tag::Slug, 2, 3), mix(1, Tag::Slug, 3, 2));
        assert_ne!(mix_bytes(1, b"a"), mix_bytes(1, b"a\0"));
    }

    #[test]
    fn bits_are_balanced() {
        // Consecutive inputs, as all callers have them: each output bit is set in about half of the cases.
        let samples = 20_000u64;
        let mut set = [0u32; 64];
        for i in 0..samples {
            let hash = mix(7, Tag::PageKind, i / 100, i % 100);
            for (bit, count) in set.iter_mut().enumerate() {
                *count += (hash >> bit & 1) as u32;
            }
        }
        for (bit, &count) in set.iter().enumerate() {
            assert!((9_600..10_400).contains(&count), "bit {bit} is set {count} times of {samples}");
        }
    }

    #[test]
    fn bounded_values_stay_below() {
        let mut stream = Stream::new(3);
        for bound in 1..500 {
            assert!(stream.below(bound) < bound);
            assert!((0.0..1.0).contains(&stream.unit()));
        }
    }
}
