//! Sets that are joined: union-find, with the least page as the root of its set.

#[derive(Debug)]
pub(super) struct Union {
    above: Vec<u32>,
}

impl Union {
    /// Each page on its own.
    pub(super) fn new(pages: usize) -> Union {
        Union { above: (0..pages as u32).collect() }
    }

    /// The least page of the set that a page is in.
    pub(super) fn root(&mut self, mut page: u32) -> u32 {
        loop {
            let above = self.above[page as usize];
            if above == page {
                return page;
            }
            // Every other step is made shorter, so that ways stay short.
            let next = self.above[above as usize];
            self.above[page as usize] = next;
            page = next;
        }
    }

    /// Makes one set of those of two pages.
    pub(super) fn join(&mut self, one: u32, two: u32) {
        let (one, two) = (self.root(one), self.root(two));
        self.above[one.max(two) as usize] = one.min(two);
    }

    /// The sets of two pages or more, by their least page, each in order.
    pub(super) fn sets(&mut self) -> Vec<Vec<u32>> {
        let pages = 0..self.above.len() as u32;
        let mut joined: Vec<(u32, u32)> = pages.map(|page| (self.root(page), page)).collect();
        let mut sizes = vec![0_u32; self.above.len()];
        joined.iter().for_each(|(root, _)| sizes[*root as usize] += 1);
        joined.retain(|(root, _)| sizes[*root as usize] > 1);
        joined.sort_unstable();
        let sets = joined.chunk_by(|one, two| one.0 == two.0);
        sets.map(|set| set.iter().map(|(_, page)| *page).collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sets_are_what_was_joined(pairs in proptest::collection::vec((0_u32..60, 0_u32..60), 0..50)) {
            let mut union = Union::new(60);
            let mut labels: Vec<u32> = (0..60).collect();
            for (one, two) in pairs {
                union.join(one, two);
                let (from, to) = (labels[one as usize], labels[two as usize]);
                labels.iter_mut().filter(|label| **label == from).for_each(|label| *label = to);
            }
            for one in 0..60_u32 {
                for two in 0..60_u32 {
                    prop_assert_eq!(union.root(one) == union.root(two), labels[one as usize] == labels[two as usize]);
                }
                prop_assert!(union.root(one) <= one);
            }
            let sets = union.sets();
            prop_assert!(sets.iter().all(|set| set.len() > 1 && set.is_sorted() && union.root(set[1]) == set[0]));
            let in_sets: usize = sets.iter().map(Vec::len).sum();
            let alone = (0..60).filter(|one| labels.iter().filter(|label| **label == labels[*one]).count() == 1).count();
            prop_assert_eq!(in_sets + alone, 60);
        }
    }
}
