//! The upper limit: a hash set in RAM that nothing on disk can beat.

use crate::cache::BATCH;

/// Keys in open addressing, at most two thirds full, all of its memory touched before it is used.
pub(crate) struct RamSet {
    slots: Vec<u64>,
    shift: u32,
    has_zero: bool,
}

impl RamSet {
    pub(crate) fn bytes_for(keys: u64) -> u64 {
        (keys * 3 / 2).next_power_of_two() * 8
    }

    pub(crate) fn new(keys: u64) -> RamSet {
        let len = (RamSet::bytes_for(keys) / 8) as usize;
        let mut slots = vec![0u64; len];
        for slot in slots.iter_mut().step_by(512) {
            // The system gives memory at the first write; that is not what is measured.
            *std::hint::black_box(slot) = 0;
        }
        RamSet { slots, shift: 64 - len.trailing_zeros(), has_zero: false }
    }

    /// Calls `new` with the index of every key that was not in the set.
    pub(crate) fn insert_all(&mut self, keys: &[u64], mut new: impl FnMut(usize)) {
        let mask = self.slots.len() - 1;
        for (start, part) in keys.chunks(BATCH).enumerate() {
            let mut seen = 0;
            for key in part {
                seen ^= self.slots[(key >> self.shift) as usize];
            }
            std::hint::black_box(seen);
            for (index, key) in part.iter().enumerate() {
                let is_new = if *key == 0 {
                    !std::mem::replace(&mut self.has_zero, true)
                } else {
                    let mut at = (key >> self.shift) as usize;
                    while self.slots[at] != 0 && self.slots[at] != *key {
                        at = (at + 1) & mask;
                    }
                    std::mem::replace(&mut self.slots[at], *key) == 0
                };
                if is_new {
                    new(start * BATCH + index);
                }
            }
        }
    }
}
