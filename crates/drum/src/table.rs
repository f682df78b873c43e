//! Keys with values, all of them, in RAM: while they fit, every check is answered at once.
//!
//! What is stored goes to the buckets as well; so when the table gets too large it is simply dropped.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::value::Value;

/// Keys are hashes already.
#[derive(Default)]
struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys hash as one u64")
    }

    fn write_u64(&mut self, key: u64) {
        // The table takes its tags from the high bits and its slots from the low ones; keys may be weak in either.
        self.0 = key.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }
}

/// What an entry takes beside its value's bytes, about: key, pointers, slack of the hash table and the allocator.
pub(crate) const ENTRY_BYTES: usize = 80;

pub(crate) struct Table<V> {
    entries: HashMap<u64, V, BuildHasherDefault<Identity>>,
    bytes: usize,
    bytes_max: usize,
}

impl<V: Value> Table<V> {
    pub(crate) fn new(bytes_max: usize) -> Table<V> {
        Table { entries: HashMap::default(), bytes: 0, bytes_max }
    }

    pub(crate) fn get(&self, key: u64, now_s: i64) -> Option<&V> {
        self.entries.get(&key).filter(|value| !value.expired(now_s))
    }

    /// Applies an update; `size` is what the value's bytes are. Whether there is still room.
    pub(crate) fn update(&mut self, key: u64, value: V, size: usize, now_s: i64) -> bool {
        let stored = self.entries.remove(&key);
        if stored.is_none() {
            self.bytes += ENTRY_BYTES;
        }
        // Counted by what was added, which is never too little, and counted anew when that is too much.
        self.bytes += size;
        let stored = stored.filter(|value| !value.expired(now_s));
        self.entries.insert(key, V::update(stored, value));
        self.bytes <= self.bytes_max || self.count_anew()
    }

    /// Whether much less is in use than was added over time.
    fn count_anew(&mut self) -> bool {
        let mut bytes = Vec::new();
        self.bytes = self.entries.len() * ENTRY_BYTES;
        for value in self.entries.values() {
            bytes.clear();
            value.encode(&mut bytes);
            self.bytes += bytes.len();
        }
        self.bytes <= self.bytes_max / 4 * 3
    }
}
