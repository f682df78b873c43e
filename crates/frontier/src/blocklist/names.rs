//! A set of fingerprints that is built once and asked often.
//!
//! Sorted, with the place where each group of equal leading bits begins: a group has about eight members, so a lookup costs one
//! miss for its place and one for itself, in a million as in a thousand. 8.5 bytes per member.

/// The number of members for each entry of the table.
const GROUP: usize = 8;

/// Fingerprints of names.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    sorted: Vec<u64>,
    /// Where the members with these leading bits begin; one more at the end.
    starts: Vec<u32>,
    /// How far a fingerprint is shifted to give its leading bits.
    shift: u32,
}

impl Names {
    pub(super) fn new(mut members: Vec<u64>) -> Names {
        members.sort_unstable();
        members.dedup();
        if members.is_empty() {
            return Names::default();
        }
        let bits = (members.len() / GROUP).next_power_of_two().trailing_zeros().max(1);
        let shift = 64 - bits;
        let mut starts = Vec::with_capacity((1 << bits) + 1);
        for (at, member) in members.iter().enumerate() {
            while starts.len() as u64 <= member >> shift {
                starts.push(place(at));
            }
        }
        starts.resize((1 << bits) + 1, place(members.len()));
        members.shrink_to_fit();
        Names { sorted: members, starts, shift }
    }

    pub(super) fn contains(&self, fingerprint: u64) -> bool {
        if self.sorted.is_empty() {
            return false;
        }
        let group = (fingerprint >> self.shift) as usize;
        let (start, end) = (self.starts[group] as usize, self.starts[group + 1] as usize);
        self.sorted[start..end].binary_search(&fingerprint).is_ok()
    }

    pub(super) fn members(&self) -> &[u64] {
        &self.sorted
    }

    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.sorted.capacity() * 8 + self.starts.capacity() * 4
    }
}

fn place(at: usize) -> u32 {
    u32::try_from(at).expect("a list of four thousand million names fits in no memory")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn it_holds_what_it_was_given(
            members in proptest::collection::vec(prop_oneof![any::<u64>(), 0u64..9, u64::MAX - 9..=u64::MAX], 0..200),
            others in proptest::collection::vec(prop_oneof![any::<u64>(), 0u64..9], 0..50),
        ) {
            let model: BTreeSet<u64> = members.iter().copied().collect();
            let names = Names::new(members.clone());
            prop_assert_eq!(names.members(), model.iter().copied().collect::<Vec<_>>());
            for value in members.iter().chain(&others) {
                prop_assert_eq!(names.contains(*value), model.contains(value));
            }
        }
    }
}
