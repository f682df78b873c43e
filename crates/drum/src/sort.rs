//! Sorting one bucket: records by key, those of one key in order of arrival.
//!
//! Keys of a bucket are uniform below their common prefix, so one counting pass over the bits that follow puts every
//! record within a few places of its own; short stable sorts do the rest. Linear, two passes over memory.

/// One operation of a generation on a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) key: u64,
    /// Operation in the two high bits, number of the log record in the others.
    pub(crate) tag: u32,
    /// Where the value starts in the bucket's bytes.
    pub(crate) at: u32,
}

/// Sorts `items` by key, keeping the order of equal keys. `prefix_bits` high bits are the same in all. `scratch` is kept
/// by the caller, so that its memory is used again.
pub(crate) fn sort(items: &mut Vec<Item>, prefix_bits: u32, scratch: &mut Vec<Item>, counts: &mut Vec<u32>) {
    let digits = items.len().checked_ilog2().unwrap_or(0).saturating_sub(1).min(16);
    if digits < 4 || prefix_bits + digits > 63 {
        items.sort_by_key(|item| item.key);
        return;
    }
    let slot = |item: &Item| ((item.key << prefix_bits) >> (64 - digits)) as usize;
    counts.clear();
    counts.resize((1 << digits) + 1, 0);
    for item in items.iter() {
        counts[slot(item) + 1] += 1;
    }
    for index in 1..counts.len() {
        counts[index] += counts[index - 1];
    }
    scratch.clear();
    scratch.resize(items.len(), Item::default());
    for item in items.iter() {
        let place = &mut counts[slot(item)];
        scratch[*place as usize] = *item;
        *place += 1;
    }
    let mut start = 0;
    for end in counts[..1 << digits].iter().map(|end| *end as usize) {
        sort_few(&mut scratch[start..end]);
        start = end;
    }
    std::mem::swap(items, scratch);
}

fn sort_few(items: &mut [Item]) {
    if items.len() > 24 {
        items.sort_by_key(|item| item.key);
        return;
    }
    for right in 1..items.len() {
        let item = items[right];
        let mut place = right;
        while place > 0 && items[place - 1].key > item.key {
            items[place] = items[place - 1];
            place -= 1;
        }
        items[place] = item;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mattock_env::Random;

    #[test]
    fn it_is_a_stable_sort() {
        let mut random = Random::from_seed(1);
        for round in 0..60u32 {
            let prefix_bits = round % 9;
            let universe = if round % 3 == 0 { 50 } else { u64::MAX };
            let mut items: Vec<Item> = (0..random.below(5000) as u32)
                .map(|tag| Item { key: random.below(universe) >> prefix_bits, tag, at: tag })
                .collect();
            let mut expected = items.clone();
            expected.sort_by_key(|item| item.key);
            sort(&mut items, prefix_bits, &mut Vec::new(), &mut Vec::new());
            assert_eq!(items, expected);
        }
    }
}
