//! The front cache: an exact set of keys that were submitted not long ago.
//!
//! The producer asks it about every key first. A hit proves that the key was submitted before, so the repeat needs no disk;
//! there are no false hits. Nobody empties it: a new key takes the place of the least popular of its set.
//!
//! Until the first key had to go, the cache holds *all* keys, and a miss proves that a key is new. That is what
//! [`Cache::is_complete`] says, and what makes small crawls instant.
//!
//! # Layout
//!
//! A set is one cache line of 64 bytes: ten tags of 48 bits (32 and 16 apart, so that four can be compared at once), ten
//! popularity counters of 2 bits, the fill and the hand that looks for the next victim (second chance with counters).
//! Which of the `n` sets a key belongs to, and the tag that tells it from all others of that set, come from two
//! multiplications: `set = ⌊key·n / 2⁶⁴⌋`, and with `f = key·n mod 2⁶⁴`, `tag = ⌊f·⌈2⁶⁴/n⌉ / 2⁶⁴⌋`. Keys of one set have values
//! of `f` that are at least `n` apart, so their tags differ; and tags stay below 2⁴⁸ if `n` is not below 2¹⁶: 25 % more keys
//! than full keys would leave room for, for any `n`. Keys must be hashes: consecutive numbers would all fall into one set.
//!
//! # Growth
//!
//! Keys are spread over all sets, so even a few would soon touch every page of a large cache. The first half million are therefore
//! kept [elsewhere](crate::first), fewer in a small cache; then it grows by steps of four and more when a tenth of it is in use: a
//! small crawl stays small. Tags give their keys back, because the `j`-th key of a set has the tag `j`, `j + 1` or `j + 2`.
//!
//! Costs: 6.4 bytes per key, one cache miss per question; [`Cache::touch`] lets the misses of a batch overlap.

use crate::first::First;

/// Sets of the smallest cache: below, tags would not fit into 48 bits.
pub(crate) const SETS_MIN: usize = (1 << 16) + 1;
/// Bytes of one set.
pub(crate) const SET_BYTES: usize = 64;
/// Keys of one set.
pub(crate) const WAYS: usize = 10;
/// Keys that [`Cache::touch`] takes at once.
pub(crate) const BATCH: usize = 64;

const WORDS: usize = 16;
const META: usize = 15;
const HAND_SHIFT: u32 = 4;
const COUNTERS_SHIFT: u32 = 8;

type Line = [u32; WORDS];

/// Where a key belongs.
#[derive(Clone, Copy, Default)]
pub(crate) struct Place {
    set: usize,
    tag: u64,
}

pub(crate) struct Cache {
    /// All keys, while they are few; there are no sets then, and a [`Place`] is the key as its tag.
    first: Option<Box<First>>,
    memory: Vec<u32>,
    /// Words before the first full cache line.
    start: usize,
    sets: u64,
    /// To grow to.
    sets_max: u64,
    reciprocal: u64,
    keys: u64,
    complete: bool,
}

impl Cache {
    /// A cache without keys that may grow to `sets`. `complete` says that it is to stand for a set that is empty as well.
    pub(crate) fn new(sets: usize, complete: bool) -> Cache {
        let sets = sets.max(SETS_MIN);
        Cache {
            first: Some(Box::new(First::new(sets * SET_BYTES / 4))),
            memory: Vec::new(),
            start: 0,
            sets: 0,
            sets_max: sets as u64,
            reciprocal: 0,
            keys: 0,
            complete,
        }
    }

    fn with_sets(sets: usize, complete: bool) -> Cache {
        // Fresh zeros from the system cost no memory before they are touched.
        let memory = vec![0; (sets + 1) * WORDS];
        let start = memory.as_ptr().align_offset(SET_BYTES).min(WORDS);
        let sets = sets as u64;
        let reciprocal = u64::MAX / sets + 1;
        Cache { first: None, memory, start, sets, sets_max: sets, reciprocal, keys: 0, complete }
    }

    /// Takes more memory, if there is more and it is time. Places that were found before are void.
    #[inline]
    pub(crate) fn grow_if_needed(&mut self) {
        while self.sets < self.sets_max && (!self.complete || self.keys > self.keys_soon_max()) {
            self.grow();
        }
    }

    /// With more keys it is time to grow.
    #[inline]
    fn keys_soon_max(&self) -> u64 {
        match &self.first {
            // A batch must find room.
            Some(first) => (first.keys_max() - BATCH) as u64,
            // One key in a set on average: hardly one set among millions has more than it can hold.
            None => self.sets,
        }
    }

    /// How many sets there are after so many.
    fn sets_after(&self, sets: u64) -> u64 {
        // Both are in memory for a moment: the smaller one must not matter much. The last steps are to a quarter and to all of
        // it: keys fall everywhere, so that a cache takes all of its memory with the first of them.
        match sets {
            0 => SETS_MIN as u64,
            sets if sets * 32 <= self.sets_max => sets * 8,
            sets if sets < self.sets_max / 4 => self.sets_max / 4,
            _ => self.sets_max,
        }
    }

    #[cold]
    fn grow(&mut self) {
        let mut sets = self.sets_after(self.sets);
        while sets < self.keys && sets < self.sets_max {
            sets = self.sets_after(sets);
        }
        let mut larger = Cache { sets_max: self.sets_max, ..Cache::with_sets(sets as usize, self.complete) };
        if let Some(first) = self.first.take() {
            for key in first.keys() {
                larger.insert(larger.place(key));
            }
            *self = larger;
            return;
        }
        let (lines, _) = self.memory[self.start..].as_chunks::<WORDS>();
        for (set, line) in lines[..self.sets as usize].iter().enumerate() {
            for way in 0..(line[META] & 0xf) as usize {
                let high = (line[WAYS + way / 2] >> (16 * (way % 2))) & 0xffff;
                let tag = u64::from(high) << 32 | u64::from(line[way]);
                if let Some(key) = self.key(set, tag) {
                    larger.insert(larger.place(key));
                }
            }
        }
        *self = larger;
    }

    /// The key with this tag in this set.
    fn key(&self, set: usize, tag: u64) -> Option<u64> {
        let first = ((set as u128) << 64).div_ceil(u128::from(self.sets)) as u64;
        (0..=tag.min(2)).map(|step| first.wrapping_add(tag - step)).find(|key| {
            let place = self.place(*key);
            place.set == set && place.tag == tag
        })
    }

    #[inline]
    pub(crate) fn place(&self, key: u64) -> Place {
        if self.first.is_some() {
            return Place { set: 0, tag: key };
        }
        let product = u128::from(key) * u128::from(self.sets);
        let tag = (u128::from(product as u64) * u128::from(self.reciprocal)) >> 64;
        Place { set: (product >> 64) as usize, tag: tag as u64 }
    }

    /// Finds the places of up to [`BATCH`] keys and begins to load their sets: the processor waits for many at a time.
    pub(crate) fn touch(&self, keys: &[u64], places: &mut [Place; BATCH]) {
        if self.first.is_some() {
            for (key, place) in keys.iter().zip(places.iter_mut()) {
                *place = self.place(*key);
            }
            return;
        }
        let (lines, _) = self.memory[self.start..].as_chunks::<WORDS>();
        let mut seen = 0;
        for (key, place) in keys.iter().zip(places.iter_mut()) {
            *place = self.place(*key);
            seen ^= lines[place.set][META];
        }
        std::hint::black_box(seen);
    }

    /// Whether a key is here, without learning it.
    pub(crate) fn contains(&mut self, place: Place) -> bool {
        if let Some(first) = &self.first {
            return first.contains(place.tag);
        }
        let line = self.line(place);
        match find(line, place.tag) {
            Some(way) => {
                praise(line, way);
                true
            }
            None => false,
        }
    }

    /// Whether a key is here, without making it more popular.
    pub(crate) fn holds(&self, place: Place) -> bool {
        if let Some(first) = &self.first {
            return first.contains(place.tag);
        }
        let (lines, _) = self.memory[self.start..].as_chunks::<WORDS>();
        find(&lines[place.set], place.tag).is_some()
    }

    /// Whether a key was here; from now on it is.
    #[inline]
    pub(crate) fn insert(&mut self, place: Place) -> bool {
        if let Some(first) = &mut self.first {
            self.complete &= !first.is_full();
            let known = first.insert(place.tag);
            self.keys = first.len() as u64;
            return known;
        }
        let line = self.line(place);
        if let Some(way) = find(line, place.tag) {
            praise(line, way);
            return true;
        }
        let len = line[META] & 0xf;
        if (len as usize) < WAYS {
            put(line, len as usize, place.tag);
            line[META] += 1;
            self.keys += 1;
        } else {
            let way = victim(line);
            put(line, way, place.tag);
            self.complete = false;
        }
        false
    }

    /// Whether every key that was ever inserted is here.
    pub(crate) fn is_complete(&self) -> bool {
        self.complete
    }

    /// Keys that are here.
    pub(crate) fn keys(&self) -> u64 {
        self.keys
    }

    /// Keys that have room when it has grown.
    pub(crate) fn capacity(&self) -> u64 {
        self.sets_max * WAYS as u64
    }

    #[inline]
    fn line(&mut self, place: Place) -> &mut Line {
        let (lines, _) = self.memory[self.start..].as_chunks_mut::<WORDS>();
        &mut lines[place.set]
    }
}

#[inline]
fn find(line: &Line, tag: u64) -> Option<usize> {
    let (low, high) = (tag as u32, (tag >> 32) as u32);
    let mut mask = 0u32;
    for (way, word) in line[..WAYS].iter().enumerate() {
        mask |= u32::from(*word == low) << way;
    }
    mask &= (1 << (line[META] & 0xf)) - 1;
    while mask != 0 {
        let way = mask.trailing_zeros() as usize;
        if (line[WAYS + way / 2] >> (16 * (way % 2))) & 0xffff == high {
            return Some(way);
        }
        mask &= mask - 1;
    }
    None
}

/// Stores a tag; its popularity starts at none.
fn put(line: &mut Line, way: usize, tag: u64) {
    line[way] = tag as u32;
    let shift = 16 * (way % 2);
    let word = &mut line[WAYS + way / 2];
    *word = *word & !(0xffff << shift) | ((tag >> 32) as u32) << shift;
}

#[inline]
fn praise(line: &mut Line, way: usize) {
    let shift = COUNTERS_SHIFT + 2 * way as u32;
    if (line[META] >> shift) & 3 != 3 {
        line[META] += 1 << shift;
    }
}

/// The next key without popularity; those before it in the round lose one point.
fn victim(line: &mut Line) -> usize {
    let mut hand = (line[META] >> HAND_SHIFT) & 0xf;
    loop {
        let way = hand;
        hand = (hand + 1) % WAYS as u32;
        let shift = COUNTERS_SHIFT + 2 * way;
        if (line[META] >> shift) & 3 == 0 {
            line[META] = line[META] & !(0xf << HAND_SHIFT) | hand << HAND_SHIFT;
            return way as usize;
        }
        line[META] -= 1 << shift;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mattock_env::Random;
    use std::collections::BTreeSet;

    #[test]
    fn a_hit_is_always_right_and_completeness_too() {
        let mut random = Random::from_seed(1);
        let mut cache = Cache::with_sets(SETS_MIN, true);
        let mut inserted = BTreeSet::new();
        for round in 0..400_000u64 {
            // A quarter of the keys crowd into a few neighbouring sets and differ in low bits only.
            let key =
                if random.chance(0.25) { 7 << 60 | random.below(1 << 50) >> 3 } else { random.next_u64() };
            let key = if random.chance(0.3) && !inserted.is_empty() {
                *inserted.range(key..).next().unwrap_or(&key)
            } else {
                key
            };
            let complete = cache.is_complete();
            let hit = cache.insert(cache.place(key));
            assert!(!hit || inserted.contains(&key), "round {round}");
            assert!(!complete || hit == inserted.contains(&key), "round {round}");
            inserted.insert(key);
            assert!(cache.contains(cache.place(key)));
        }
        assert!(!cache.is_complete());
        assert!(cache.keys() <= cache.capacity());
    }

    #[test]
    fn tags_tell_neighbours_apart_at_the_edges_of_sets() {
        for sets in [SETS_MIN, 100_003, 1 << 20] {
            let mut cache = Cache::with_sets(sets, true);
            for set in [0u128, 1, 77, sets as u128 - 1] {
                let edge = ((set << 64) / sets as u128) as u64;
                for key in (0..5).flat_map(|d| [edge.wrapping_add(d), edge.wrapping_sub(d + 1)]) {
                    let place = cache.place(key);
                    assert!(place.tag < 1 << 48);
                    assert_eq!(cache.key(place.set, place.tag), Some(key));
                    assert!(!cache.insert(cache.place(key)), "{key:x} of {sets}");
                }
            }
        }
    }

    #[test]
    fn growing_forgets_nothing() {
        let mut random = Random::from_seed(3);
        let mut cache = Cache::new(SETS_MIN * 5, true);
        let keys: Vec<u64> = (0..400_000).map(|_| random.next_u64()).collect();
        for (index, key) in keys.iter().enumerate() {
            cache.grow_if_needed();
            assert!(!cache.insert(cache.place(*key)));
            assert!(cache.insert(cache.place(*key)) && cache.contains(cache.place(keys[index / 2])));
            if index % 5000 == 0 {
                assert!(keys[..=index].iter().all(|key| cache.holds(cache.place(*key))), "{index}");
            }
        }
        assert_eq!(cache.sets, SETS_MIN as u64 * 5);
        assert!(cache.is_complete());
        assert_eq!(cache.keys(), keys.len() as u64);
        assert!(keys.iter().all(|key| cache.holds(cache.place(*key))));
    }

    #[test]
    fn popular_keys_stay() {
        let mut cache = Cache::with_sets(SETS_MIN, true);
        let popular = cache.place(5);
        for key in 0..1000 {
            cache.insert(cache.place(key << 8));
            assert_eq!(cache.insert(popular), key > 0);
        }
    }
}
