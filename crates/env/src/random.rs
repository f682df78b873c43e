//! Randomness from a seed: SplitMix64 (Steele, Lea, Flood 2014), written out here so that a seed means the same run
//! for ever, whatever a dependency does. Not for cryptography.

/// A small generator. Clone it to repeat a sequence, [`fork`](Random::fork) it to get an independent one.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The same seed gives the same sequence, in every version.
    pub const fn from_seed(seed: u64) -> Random {
        Random { state: seed }
    }

    /// A seed from the operating system.
    pub fn from_entropy() -> Random {
        // Without entropy a fixed seed is still a working generator; nothing here is secret.
        Random::from_seed(getrandom::u64().unwrap_or(0x6d61_7474_6f63_6b21))
    }

    /// An independent generator, named so that adding one does not shift the others.
    pub fn fork(&self, name: &str) -> Random {
        let mut state = self.state;
        for byte in name.bytes() {
            state = mix(state ^ u64::from(byte));
        }
        Random { state: mix(state) }
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.state)
    }

    /// Uniform in `0..bound`; `bound` must not be 0. (The bias is below 2^-32 for bounds below 2^32.)
    pub fn below(&mut self, bound: u64) -> u64 {
        debug_assert!(bound > 0);
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Uniform in `[0, 1)`.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with the given probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }
}

const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_means_the_same_sequence_for_ever() {
        let mut random = Random::from_seed(0);
        assert_eq!(random.next_u64(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(random.next_u64(), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn below_stays_below_and_reaches_everything() {
        let mut random = Random::from_seed(1);
        let mut seen = [false; 7];
        for _ in 0..1000 {
            seen[random.below(7) as usize] = true;
        }
        assert_eq!(seen, [true; 7]);
    }

    #[test]
    fn forks_differ_by_name_and_do_not_disturb_the_parent() {
        let parent = Random::from_seed(3);
        let (mut a, mut b, mut again) = (parent.fork("a"), parent.fork("b"), parent.fork("a"));
        let first = a.next_u64();
        assert_ne!(first, b.next_u64());
        assert_eq!(first, again.next_u64());
    }
}
