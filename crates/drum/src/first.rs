//! The first keys of a [cache](crate::cache): whole keys in a small table.
//!
//! Filled and asked by the cache while it has few keys, and emptied into its sets when it is full. Sets need 4 MB to begin with, and
//! keys are spread over all of it: a crawl of a thousand pages would touch every page of that memory for a few bytes each. Here it
//! touches 128 KB.
//!
//! Open addressing with linear probing, at most half full, so that a question costs one or two looks. Nothing is ever removed.

/// A power of two.
const SLOTS: usize = 16 << 10;

/// A set of up to [`First::KEYS_MAX`] keys.
#[derive(Default)]
pub(crate) struct First {
    /// No key is 0; made with the first key.
    slots: Vec<u64>,
    has_zero: bool,
    keys: usize,
}

impl First {
    /// Keys that it has room for.
    pub(crate) const KEYS_MAX: usize = SLOTS / 2;

    /// Where a key is, or else would be.
    fn slot(&self, key: u64) -> usize {
        // Hashes need no more mixing, but nothing is lost by it if some of them are alike.
        let mut slot = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SLOTS.ilog2())) as usize;
        while self.slots[slot] != 0 && self.slots[slot] != key {
            slot = (slot + 1) % SLOTS;
        }
        slot
    }

    pub(crate) fn contains(&self, key: u64) -> bool {
        if key == 0 {
            return self.has_zero;
        }
        !self.slots.is_empty() && self.slots[self.slot(key)] == key
    }

    /// Whether the key was here; from now on it is, unless there is no room.
    pub(crate) fn insert(&mut self, key: u64) -> bool {
        if self.contains(key) {
            return true;
        }
        if self.is_full() {
            return false;
        }
        self.keys += 1;
        if key == 0 {
            self.has_zero = true;
            return false;
        }
        if self.slots.is_empty() {
            self.slots = vec![0; SLOTS];
        }
        let slot = self.slot(key);
        self.slots[slot] = key;
        false
    }

    pub(crate) fn is_full(&self) -> bool {
        self.keys == First::KEYS_MAX
    }

    pub(crate) fn len(&self) -> usize {
        self.keys
    }

    /// All keys, in any order.
    pub(crate) fn keys(&self) -> impl Iterator<Item = u64> + '_ {
        let others = self.slots.iter().copied().filter(|key| *key != 0);
        self.has_zero.then_some(0).into_iter().chain(others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mattock_env::Random;
    use std::collections::BTreeSet;

    #[test]
    fn it_is_a_set() {
        let mut random = Random::from_seed(5);
        let (mut first, mut model) = (First::default(), BTreeSet::new());
        while !first.is_full() {
            // Some come again, some are neighbours.
            let key = if random.chance(0.5) { random.below(600) } else { random.next_u64() };
            assert_eq!(first.contains(key), model.contains(&key));
            assert_eq!(first.insert(key), !model.insert(key));
            assert_eq!(first.len(), model.len());
        }
        assert!(model.contains(&0));
        assert_eq!(first.keys().collect::<BTreeSet<u64>>(), model);
        let other = (0..).find(|key| !model.contains(key)).unwrap();
        assert!(!first.insert(other) && !first.contains(other));
        assert!(model.iter().all(|key| first.insert(*key)));
    }
}
