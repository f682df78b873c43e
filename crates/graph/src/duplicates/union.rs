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

    /// The sets of two pages or more, by their least page, each in order. Takes four bytes a page beside the result.
    pub(super) fn sets(mut self) -> Sets {
        /// Of a page that is in no set.
        const ALONE: u32 = u32::MAX;
        let pages = 0..self.above.len() as u32;
        let mut next = vec![0_u32; self.above.len()];
        for page in pages.clone() {
            next[self.root(page) as usize] += 1;
        }
        // From sizes to the places where the first page of each set goes.
        let (mut ends, mut end) = (Vec::new(), 0);
        for size in &mut next {
            match *size {
                0 | 1 => *size = ALONE,
                _ => {
                    end += std::mem::replace(size, end);
                    ends.push(end);
                }
            }
        }
        let mut members = vec![0; end as usize];
        for page in pages {
            let place = &mut next[self.root(page) as usize];
            if *place != ALONE {
                members[*place as usize] = page;
                *place += 1;
            }
        }
        Sets { members, ends }
    }
}

/// Sets, one behind the other.
#[derive(Debug)]
pub(super) struct Sets {
    members: Vec<u32>,
    /// Where each ends.
    ends: Vec<u32>,
}

impl Sets {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.members[start as usize..*end as usize])
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
            let roots: Vec<u32> = (0..60).map(|page| union.root(page)).collect();
            let sets = union.sets();
            for set in sets.iter() {
                prop_assert!(set.len() > 1 && set.is_sorted_by(|one, two| one < two));
                prop_assert!(set.iter().all(|page| roots[*page as usize] == set[0]));
            }
            prop_assert!(sets.iter().map(|set| set[0]).is_sorted() && sets.iter().count() == sets.len());
            let in_sets: usize = sets.iter().map(<[u32]>::len).sum();
            let alone = (0..60).filter(|one| labels.iter().filter(|label| **label == labels[*one]).count() == 1).count();
            prop_assert_eq!(in_sets + alone, 60);
        }
    }
}
