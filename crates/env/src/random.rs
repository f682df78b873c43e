//! Randomness: in the real world from the operating system, in a simulation from a seed.
//!
//! | where | generator | a fork, a clone |
//! |---|---|---|
//! | real world | ChaCha20 under a key from the operating system, drawn when the first number is asked for | has a key of its own |
//! | simulation, samples, tests | SplitMix64 (Steele, Lea, Flood 2014), written out here so that a seed means the same run for ever, whatever a dependency does | follows from the seed and the name; a clone repeats the sequence |
//!
//! DNS queries are protected by nothing but numbers that nobody can guess, and names of records, which come from here too, are published.
//! Hence a real generator shares nothing with any other. SplitMix64 is not for that: whoever sees one number knows the seed, and with it
//! every fork.

use std::fmt;

use chacha20::ChaCha20Rng;
use chacha20::rand_core::{Rng, SeedableRng};

/// A small generator. [`fork`](Random::fork) it to get an independent one.
pub struct Random {
    source: Source,
}

enum Source {
    /// The state of SplitMix64.
    Seeded(u64),
    /// Of the operating system; nobody has asked for a number yet.
    Untouched,
    /// Of the operating system.
    Keyed(Box<ChaCha20Rng>),
}

impl Random {
    /// The same seed gives the same sequence, in every version. For what must be repeatable; everybody can foretell it.
    pub const fn from_seed(seed: u64) -> Random {
        Random { source: Source::Seeded(seed) }
    }

    /// Numbers that nobody can foretell.
    ///
    /// # Panics
    ///
    /// If the operating system has no random numbers to give: there is nothing to put in their place.
    pub fn from_entropy() -> Random {
        // Fails now, and not at the first number.
        let _ = key();
        Random { source: Source::Untouched }
    }

    /// An independent generator, named so that adding one does not shift the others. In the real world a second fork of this name is another
    /// generator.
    pub fn fork(&self, name: &str) -> Random {
        let Source::Seeded(mut state) = self.source else { return Random { source: Source::Untouched } };
        for byte in name.bytes() {
            state = mix(state ^ u64::from(byte));
        }
        Random::from_seed(mix(state))
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        match &mut self.source {
            Source::Seeded(state) => {
                *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                mix(*state)
            }
            Source::Keyed(generator) => generator.next_u64(),
            Source::Untouched => self.begin(),
        }
    }

    /// The first number under a new key.
    #[cold]
    fn begin(&mut self) -> u64 {
        let mut generator = Box::new(ChaCha20Rng::from_seed(key()));
        let first = generator.next_u64();
        self.source = Source::Keyed(generator);
        first
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

impl Clone for Random {
    /// A generator with a seed gives its sequence to the clone. One of the operating system does not: two that say the same would betray
    /// each other.
    fn clone(&self) -> Random {
        let source = match self.source {
            Source::Seeded(state) => Source::Seeded(state),
            Source::Untouched | Source::Keyed(_) => Source::Untouched,
        };
        Random { source }
    }
}

/// Without the state, from which all that follows could be told.
impl fmt::Debug for Random {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(if matches!(self.source, Source::Seeded(_)) { "Random(seeded)" } else { "Random(…)" })
    }
}

/// A new key.
fn key() -> [u8; 32] {
    let mut key = [0; 32];
    if let Err(error) = getrandom::fill(&mut key) {
        panic!(
            "the operating system gives no random numbers ({error}), without which DNS can be forged: allow the system call getrandom, or \
             provide /dev/urandom"
        );
    }
    key
}

const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_seed_means_the_same_sequence_for_ever() {
        let mut random = Random::from_seed(0);
        assert_eq!(random.next_u64(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(random.next_u64(), 0x6e78_9e6a_a1b9_65f4);
        let mut fork = Random::from_seed(3).fork("a");
        assert_eq!(fork.clone().next_u64(), fork.next_u64());
    }

    #[test]
    fn below_stays_below_and_reaches_everything() {
        for mut random in [Random::from_seed(1), Random::from_entropy()] {
            let mut seen = [false; 7];
            for _ in 0..1000 {
                seen[random.below(7) as usize] = true;
            }
            assert_eq!(seen, [true; 7]);
        }
    }

    #[test]
    fn forks_differ_by_name_and_do_not_disturb_the_parent() {
        let parent = Random::from_seed(3);
        let (mut a, mut b, mut again) = (parent.fork("a"), parent.fork("b"), parent.fork("a"));
        let first = a.next_u64();
        assert_ne!(first, b.next_u64());
        assert_eq!(first, again.next_u64());
    }

    #[test]
    fn no_two_generators_of_the_real_world_say_the_same() {
        let (mut parent, other) = (Random::from_entropy(), Random::from_entropy());
        parent.next_u64();
        // As partitions take theirs: of clones, under the same name.
        let mut all = [
            parent.fork("a"),
            parent.fork("a"),
            parent.clone().fork("a"),
            other.fork("a"),
            parent.clone(),
            other,
        ];
        let mut said: Vec<u64> = all
            .iter_mut()
            .flat_map(|random| (0..100).map(|_| random.next_u64()).collect::<Vec<_>>())
            .collect();
        said.extend((0..100).map(|_| parent.next_u64()));
        let count = said.len();
        assert_eq!(said.into_iter().collect::<HashSet<_>>().len(), count);
    }

    #[test]
    fn what_is_shown_of_a_generator_does_not_tell_what_it_says() {
        assert_eq!(
            format!("{:?} {:?}", Random::from_seed(77), Random::from_entropy()),
            "Random(seeded) Random(…)"
        );
    }
}
