//! A bounded table from fingerprints to small values of fixed size, which forgets.
//!
//! Sets of eight entries; a key belongs to one set. Where a set is full, the entry of least credit goes, of these the one that was
//! used longest ago, and the others lose one credit: an entry that is worth much outlives a stream of newcomers that are
//! not, and not for ever. All memory is taken at the first use and never grows. Same calls, same contents.

/// The entries of a set.
const WAYS: usize = 8;

/// A value in the table.
pub(crate) trait Value: Default {
    /// The length of its encoding.
    const BYTES: usize;

    /// How many newcomers it should outlive.
    fn credit(&self) -> u8;

    fn encode(&self, bytes: &mut Vec<u8>);

    /// From exactly [`Value::BYTES`] bytes.
    fn decode(bytes: &[u8]) -> Self;
}

#[derive(Debug)]
struct Entry<T> {
    key: u64,
    /// The number of its last use; 0 if nothing was ever here.
    used: u64,
    credit: u8,
    value: T,
}

/// Sets to begin with.
const SETS_FIRST: usize = 64;

fn vacant<T: Value>(sets: usize) -> Vec<Entry<T>> {
    let vacant = || Entry { key: 0, used: 0, credit: 0, value: T::default() };
    std::iter::repeat_with(vacant).take(sets * WAYS).collect()
}

/// The table.
#[derive(Debug)]
pub(crate) struct Table<T> {
    /// Empty until the first use; doubled whenever a set is full, until there are as many sets as there may be.
    entries: Vec<Entry<T>>,
    sets: usize,
    sets_max: usize,
    uses: u64,
    version: u8,
}

impl<T: Value> Table<T> {
    /// For so many values, rounded up; `version` is that of the values' encoding.
    pub(crate) fn new(values_max: usize, version: u8) -> Table<T> {
        let sets_max = values_max.div_ceil(WAYS).next_power_of_two();
        Table { entries: Vec::new(), sets: sets_max.min(SETS_FIRST), sets_max, uses: 0, version }
    }

    /// What all of it takes, once it is used.
    pub(crate) fn bytes_max(&self) -> usize {
        self.sets_max * WAYS * size_of::<Entry<T>>()
    }

    fn set(&self, key: u64) -> std::ops::Range<usize> {
        // The upper bits: the lower ones may have chosen the partition.
        let start = ((u128::from(key) * self.sets as u128) >> 64) as usize * WAYS;
        start..start + WAYS
    }

    pub(crate) fn get(&self, key: u64) -> Option<&T> {
        let set = self.entries.get(self.set(key))?;
        set.iter().find(|entry| entry.key == key && entry.used > 0).map(|entry| &entry.value)
    }

    /// Changes the value of a key, which is the default one if the table has none.
    pub(crate) fn update<R>(&mut self, key: u64, change: impl FnOnce(&mut T) -> R) -> R {
        self.uses += 1;
        let uses = self.uses;
        let entry = self.entry(key);
        let result = change(&mut entry.value);
        entry.used = uses;
        entry.credit = entry.value.credit();
        result
    }

    fn entry(&mut self, key: u64) -> &mut Entry<T> {
        if self.entries.is_empty() {
            self.entries = vacant(self.sets);
        }
        let is_full = |set: &[Entry<T>]| set.iter().all(|entry| entry.used > 0 && entry.key != key);
        while self.sets < self.sets_max && is_full(&self.entries[self.set(key)]) {
            self.grow();
        }
        let range = self.set(key);
        let set = &mut self.entries[range];
        if let Some(at) = set.iter().position(|entry| entry.key == key && entry.used > 0) {
            return &mut set[at];
        }
        let rank = |at: &usize| (set[*at].used > 0, set[*at].credit, set[*at].used);
        let victim = (0..WAYS).min_by_key(rank).expect("a set is not empty");
        if set[victim].used > 0 {
            set.iter_mut().for_each(|entry| entry.credit = entry.credit.saturating_sub(1));
        }
        set[victim] = Entry { key, used: 0, credit: 0, value: T::default() };
        &mut set[victim]
    }

    /// Twice as many sets: each is split in two, so everything finds its place.
    fn grow(&mut self) {
        self.sets *= 2;
        for entry in std::mem::replace(&mut self.entries, vacant(self.sets)) {
            if entry.used > 0 {
                let range = self.set(entry.key);
                let place = self.entries[range].iter_mut().find(|place| place.used == 0);
                *place.expect("half of a set has room in a set") = entry;
            }
        }
    }

    /// Appends all of it: version, number of uses, number of entries, and the entries in order of their last use.
    pub(crate) fn encode(&self, bytes: &mut Vec<u8>) {
        let mut used: Vec<&Entry<T>> = self.entries.iter().filter(|entry| entry.used > 0).collect();
        used.sort_unstable_by_key(|entry| entry.used);
        bytes.push(self.version);
        bytes.extend_from_slice(&self.uses.to_le_bytes());
        bytes.extend_from_slice(&(used.len() as u32).to_le_bytes());
        for entry in used {
            bytes.extend_from_slice(&entry.key.to_le_bytes());
            bytes.extend_from_slice(&entry.used.to_le_bytes());
            bytes.push(entry.credit);
            entry.value.encode(bytes);
        }
    }

    /// Takes over what [`Table::encode`] wrote; `None` if these bytes are nothing of the kind. Exactly the same table comes back, or
    /// as much of it as fits if this one is smaller.
    pub(crate) fn decode(mut self, bytes: &[u8]) -> Option<Table<T>> {
        let (last, entries) = parse::<T>(self.version, bytes)?;
        for entry in entries {
            let (key, used, credit, value) = entry?;
            if used == 0 || used > last {
                return None;
            }
            *self.entry(key) = Entry { key, used, credit, value: T::decode(value) };
        }
        self.uses = last;
        Some(self)
    }
}

/// The number of uses in an encoded table, and its entries: key, last use, credit, value. `None` if these bytes are nothing of the kind.
#[expect(clippy::type_complexity, reason = "it is taken apart at once")]
fn parse<T: Value>(
    version: u8,
    bytes: &[u8],
) -> Option<(u64, impl Iterator<Item = Option<(u64, u64, u8, &[u8])>>)> {
    let (found, rest) = bytes.split_first()?;
    let (uses, rest) = rest.split_first_chunk()?;
    let (count, rest) = rest.split_first_chunk()?;
    let size = 17 + T::BYTES;
    let count = u32::from_le_bytes(*count) as usize;
    if *found != version || rest.len() != count.checked_mul(size)? {
        return None;
    }
    let entries = rest.chunks_exact(size).map(|entry| {
        let (key, entry) = entry.split_first_chunk()?;
        let (used, entry) = entry.split_first_chunk()?;
        let (credit, value) = entry.split_first()?;
        Some((u64::from_le_bytes(*key), u64::from_le_bytes(*used), *credit, value))
    });
    Some((u64::from_le_bytes(*uses), entries))
}

impl<T: Value> Table<T> {
    /// The keys of an encoded table, those used last at the end; `None` as for [`Table::decode`].
    pub(crate) fn keys(version: u8, bytes: &[u8]) -> Option<Vec<u64>> {
        parse::<T>(version, bytes)?.1.map(|entry| entry.map(|(key, ..)| key)).collect()
    }

    /// Takes over those of an encoded table that are wanted, as used now; of two of the same key the one of more credit stays. `None` as
    /// for [`Table::decode`].
    pub(crate) fn adopt(&mut self, bytes: &[u8], mut wanted: impl FnMut(u64) -> bool) -> Option<()> {
        for entry in parse::<T>(self.version, bytes)?.1 {
            let (key, _, credit, value) = entry?;
            if !wanted(key) {
                continue;
            }
            self.uses += 1;
            let used = self.uses;
            let known = self.entry(key);
            if known.used == 0 || known.credit < credit {
                *known = Entry { key, used, credit, value: T::decode(value) };
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Counts its uses, which are what it is worth.
    #[derive(Debug, Default, PartialEq)]
    struct Uses(u8);

    impl Value for Uses {
        const BYTES: usize = 1;

        fn credit(&self) -> u8 {
            self.0
        }

        fn encode(&self, bytes: &mut Vec<u8>) {
            bytes.push(self.0);
        }

        fn decode(bytes: &[u8]) -> Uses {
            Uses(bytes[0])
        }
    }

    fn touch(table: &mut Table<Uses>, key: u64) -> u8 {
        table.update(key, |uses| {
            uses.0 = uses.0.saturating_add(1);
            uses.0
        })
    }

    fn touch_all(table: &mut Table<Uses>, keys: impl IntoIterator<Item = u64>) {
        for key in keys {
            touch(table, key);
        }
    }

    #[test]
    fn what_is_worth_much_outlives_newcomers_for_a_while() {
        let mut table = Table::new(8, 1);
        touch_all(&mut table, [1; 20]);
        touch_all(&mut table, 100..107);
        touch_all(&mut table, 200..210);
        assert_eq!(table.get(1), Some(&Uses(20)));
        assert_eq!(table.get(100), None);
        assert_eq!(table.get(209), Some(&Uses(1)));
        touch_all(&mut table, 300..400);
        assert_eq!(table.get(1), None);
    }

    proptest! {
        #[test]
        fn while_there_is_room_it_is_a_map(keys in proptest::collection::vec(0u64..8, 0..100)) {
            let mut table = Table::new(8, 1);
            let mut model = [0u8; 8];
            for key in keys {
                model[key as usize] += 1;
                prop_assert_eq!(touch(&mut table, key), model[key as usize]);
            }
            for (key, count) in model.iter().enumerate() {
                prop_assert_eq!(table.get(key as u64).map_or(0, |uses| uses.0), *count);
            }
        }

        #[test]
        fn a_copy_from_bytes_goes_on_in_the_same_way(
            before in proptest::collection::vec(0u64..40, 0..200),
            after in proptest::collection::vec(0u64..40, 0..100),
        ) {
            let key = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mut table = Table::new(16, 1);
            for number in before {
                touch(&mut table, key(number));
            }
            let mut bytes = Vec::new();
            table.encode(&mut bytes);
            let mut copy = Table::<Uses>::new(16, 1).decode(&bytes).unwrap();
            for number in after {
                prop_assert_eq!(touch(&mut copy, key(number)), touch(&mut table, key(number)));
            }
            let [mut one, mut other] = [Vec::new(), Vec::new()];
            table.encode(&mut one);
            copy.encode(&mut other);
            prop_assert_eq!(one, other);
            prop_assert!(Table::<Uses>::new(16, 2).decode(&bytes).is_none());
            prop_assert!(Table::<Uses>::new(16, 1).decode(&bytes[..bytes.len() - 1]).is_none());
            prop_assert!(Table::<Uses>::new(8, 1).decode(&bytes).is_some());
        }
    }
}
