//! The first keys of a [cache](crate::cache): whole keys in a table that doubles.
//!
//! Filled and asked by the cache while it has few keys, and emptied into its sets when it is full. Sets need 4 MB to begin with and
//! 64 bytes a key to be safe from crowding, and keys are spread over all of it. Here a thousand keys touch 128 KB, and more of them
//! 16 to 32 bytes each.
//!
//! Open addressing with linear probing, at most half full, so that a question costs one or two looks. Nothing is ever removed.

/// Slots to begin with: a power of two.
const SLOTS_MIN: usize = 16 << 10;
/// As many as there ever are.
const SLOTS_MAX: usize = 1 << 20;

/// A set of keys that are not many.
pub(crate) struct First {
    /// No key is 0; made with the first key.
    slots: Vec<u64>,
    has_zero: bool,
    keys: usize,
    keys_max: usize,
}

impl First {
    /// One that takes at most about so much memory.
    pub(crate) fn new(bytes_max: usize) -> First {
        let slots = (bytes_max / size_of::<u64>()).clamp(SLOTS_MIN, SLOTS_MAX);
        First { slots: Vec::new(), has_zero: false, keys: 0, keys_max: (1 << slots.ilog2()) / 2 }
    }

    /// Keys that it has room for.
    pub(crate) fn keys_max(&self) -> usize {
        self.keys_max
    }

    /// Where a key is, or else would be.
    fn slot(&self, key: u64) -> usize {
        // Hashes need no more mixing, but nothing is lost by it if some of them are alike.
        let bits = self.slots.len().ilog2();
        let mut slot = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as usize;
        while self.slots[slot] != 0 && self.slots[slot] != key {
            slot = (slot + 1) % self.slots.len();
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
        if 2 * self.keys > self.slots.len() {
            self.double();
        }
        let slot = self.slot(key);
        self.slots[slot] = key;
        false
    }

    #[cold]
    fn double(&mut self) {
        let slots = vec![0; (2 * self.slots.len()).max(SLOTS_MIN)];
        for key in std::mem::replace(&mut self.slots, slots).into_iter().filter(|key| *key != 0) {
            let slot = self.slot(key);
            self.slots[slot] = key;
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.keys == self.keys_max
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
        let (mut first, mut model) = (First::new(1 << 19), BTreeSet::new());
        while !first.is_full() {
            // Some come again, some are neighbours.
            let key = if random.chance(0.5) { random.below(600) } else { random.next_u64() };
            assert_eq!(first.contains(key), model.contains(&key));
            assert_eq!(first.insert(key), !model.insert(key));
            assert_eq!(first.len(), model.len());
        }
        assert!(model.contains(&0));
        assert_eq!(first.keys().collect::<BTreeSet<u64>>(), model);
        assert_eq!((first.len(), first.slots.len()), (1 << 15, 1 << 16));
        let other = (0..).find(|key| !model.contains(key)).unwrap();
        assert!(!first.insert(other) && !first.contains(other));
        assert!(model.iter().all(|key| first.insert(*key)));
    }
}
