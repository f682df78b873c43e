//! Merging sorted sources: a tree of losers, one comparison a level for each record.
//!
//! The root holds the source with the least record; every inner node holds the one that lost there. When the winner goes on to its next
//! record, only the matches on its way to the root are played again. Equal records come out in the order of the sources.

use crate::error::Result;

/// A sorted sequence that stands at a record, or at its end.
pub(crate) trait Source {
    /// Whether this one's record comes before the other's. A source at its end comes after all.
    fn before(&self, other: &Self) -> bool;

    /// Whether it is at its end.
    fn is_done(&self) -> bool;

    /// On to the next record.
    fn advance(&mut self) -> Result<()>;
}

#[derive(Debug)]
pub(crate) struct Merge<S> {
    sources: Vec<S>,
    /// `losers[0]` is the winner; the matches are at 1.. .
    losers: Vec<usize>,
}

impl<S: Source> Merge<S> {
    pub(crate) fn new(sources: Vec<S>) -> Merge<S> {
        let count = sources.len();
        let mut merge = Merge { sources, losers: vec![usize::MAX; count.max(1)] };
        for index in (0..count).rev() {
            merge.play(index);
        }
        merge
    }

    /// The source with the least record; `None` if all are at their end.
    pub(crate) fn least(&self) -> Option<&S> {
        self.sources.get(self.losers[0]).filter(|source| !source.is_done())
    }

    /// Takes the least record away.
    pub(crate) fn advance(&mut self) -> Result<()> {
        let winner = self.losers[0];
        self.sources[winner].advance()?;
        self.play(winner);
        Ok(())
    }

    fn wins(&self, one: usize, other: usize) -> bool {
        match self.sources[one].before(&self.sources[other]) {
            true => true,
            false => one < other && !self.sources[other].before(&self.sources[one]),
        }
    }

    fn play(&mut self, source: usize) {
        let mut winner = source;
        let mut node = (source + self.sources.len()) / 2;
        while node > 0 {
            let rival = self.losers[node];
            // While the tree is built, a source waits where its rival has not come yet.
            if rival == usize::MAX {
                self.losers[node] = winner;
                return;
            }
            if self.wins(rival, winner) {
                self.losers[node] = winner;
                winner = rival;
            }
            node /= 2;
        }
        self.losers[0] = winner;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    struct List(Vec<u8>, usize);

    impl Source for List {
        fn before(&self, other: &List) -> bool {
            self.0.get(self.1).map_or(256, |value| i32::from(*value))
                < other.0.get(other.1).map_or(256, |value| i32::from(*value))
        }
        fn is_done(&self) -> bool {
            self.1 >= self.0.len()
        }
        fn advance(&mut self) -> Result<()> {
            self.1 += 1;
            Ok(())
        }
    }

    proptest! {
        #[test]
        fn sources_become_one(lists in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..9), 0..12)) {
            let mut all: Vec<u8> = lists.concat();
            all.sort_unstable();
            let sources = lists.into_iter().map(|mut list| { list.sort_unstable(); List(list, 0) }).collect();
            let mut merge = Merge::new(sources);
            let mut merged = Vec::new();
            while let Some(List(list, at)) = merge.least() {
                merged.push(list[*at]);
                merge.advance().unwrap();
            }
            prop_assert_eq!(merged, all);
        }
    }
}
