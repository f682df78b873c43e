//! The domains that most others link to: which in-degree means which rank.
//!
//! [`Star`](super::Star) notes every in-degree that it learns, and asks for the rank of one. Only the largest are kept: at
//! twice the number of ranks, the smaller half is forgotten, and smaller degrees are not taken any more. The sorted list
//! that ranks are read from is made anew when an eighth of it may have changed. Both cost O(log) per change in the long run.
//!
//! Bound: 40 bytes times the number of ranks.

use std::cmp::Reverse;

use crate::beast::words::{Map, Words, put};

#[derive(Debug)]
pub(super) struct Ranks {
    top: usize,
    degrees: Map<u64>,
    /// No smaller degree is of interest: so many larger ones were there.
    least: u64,
    /// The degrees at the last count, the largest first.
    sorted: Vec<u64>,
    changes: usize,
}

impl Ranks {
    pub(super) fn new(top: usize) -> Ranks {
        Ranks { top, degrees: Map::default(), least: 1, sorted: Vec::new(), changes: 0 }
    }

    /// A domain has this in-degree now.
    pub(super) fn note(&mut self, domain: u64, degree: u64) {
        if degree < self.least || self.degrees.insert(domain, degree) == Some(degree) {
            return;
        }
        self.changes += 1;
        if self.degrees.len() > self.top * 2 {
            self.shrink();
        }
        if self.changes * 8 >= self.sorted.len() {
            self.recount();
        }
    }

    /// Notes what another table knows of these domains.
    pub(super) fn adopt(&mut self, other: &Ranks, wanted: impl Fn(u64) -> bool) {
        let mut entries: Vec<(u64, u64)> =
            other.degrees.iter().map(|(domain, degree)| (*domain, *degree)).collect();
        entries.sort_unstable();
        for (domain, degree) in entries.into_iter().filter(|(domain, _)| wanted(*domain)) {
            self.note(domain, degree);
        }
        self.recount();
    }

    fn shrink(&mut self) {
        let mut all: Vec<(u64, u64)> =
            self.degrees.drain().map(|(domain, degree)| (degree, domain)).collect();
        all.select_nth_unstable_by_key(self.top - 1, |entry| Reverse(*entry));
        all.truncate(self.top);
        self.least = all[self.top - 1].0;
        self.degrees.extend(all.into_iter().map(|(degree, domain)| (domain, degree)));
    }

    pub(super) fn recount(&mut self) {
        self.changes = 0;
        self.sorted.clear();
        self.sorted.extend(self.degrees.values());
        self.sorted.sort_unstable_by_key(|degree| Reverse(*degree));
        self.sorted.truncate(self.top);
    }

    /// The rank of this degree, from 1 on, and among how many; `None` if it has none. Equals share the last of their ranks:
    /// where all are alike nobody is at the top.
    pub(super) fn rank(&self, degree: u64) -> Option<(usize, usize)> {
        if degree == 0 || degree < *self.sorted.last()? {
            return None;
        }
        let rank = self.sorted.partition_point(|other| *other >= degree);
        Some((rank.max(1), self.sorted.len()))
    }

    /// The largest degree.
    pub(super) fn largest(&self) -> u64 {
        self.sorted.first().copied().unwrap_or(0)
    }

    /// Whether there are fewer than so many domains that are linked to by more.
    pub(super) fn is_top(&self, degree: u64) -> bool {
        self.sorted.len() < self.top || self.sorted.last().is_some_and(|last| degree >= *last)
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let mut entries: Vec<(u64, u64)> =
            self.degrees.iter().map(|(domain, degree)| (*domain, *degree)).collect();
        entries.sort_unstable();
        put(out, self.least);
        put(out, entries.len() as u64);
        for (domain, degree) in entries {
            put(out, domain);
            put(out, degree);
        }
    }

    /// What was encoded, for perhaps another number of ranks.
    pub(super) fn decode(words: &mut Words<'_>, top: usize) -> Option<Ranks> {
        let mut ranks = Ranks::new(top);
        let least = words.next()?;
        for _ in 0..words.next()? {
            ranks.degrees.insert(words.next()?, words.next()?);
        }
        ranks.least = least;
        if ranks.degrees.len() > top * 2 {
            ranks.shrink();
        }
        ranks.recount();
        Some(ranks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mattock_env::Random;

    #[test]
    fn the_largest_are_kept_and_ranked_whatever_the_order() {
        let mut random = Random::from_seed(7);
        let mut ranks = Ranks::new(50);
        let mut model = std::collections::BTreeMap::new();
        for _ in 0..20_000 {
            let domain = random.below(1000);
            // Degrees grow, as those of domains do; some much faster.
            let degree = model.get(&domain).copied().unwrap_or(0) + 1 + domain / 100 * random.below(3);
            model.insert(domain, degree);
            ranks.note(domain, degree);
            assert!(ranks.degrees.len() <= 100);
        }
        ranks.recount();
        let mut all: Vec<u64> = model.values().copied().collect();
        all.sort_unstable_by(|a, b| b.cmp(a));
        assert_eq!(ranks.sorted, all[..50]);
        for (index, degree) in all.iter().enumerate() {
            let last_equal = all.iter().filter(|other| *other >= degree).count();
            let expected = (index < 50 || *degree == all[49]).then_some((last_equal.min(50), 50));
            assert_eq!(ranks.rank(*degree), expected);
        }
    }

    #[test]
    fn a_saved_table_is_the_same_again() {
        let mut ranks = Ranks::new(10);
        (0..500).for_each(|domain| ranks.note(domain, domain % 83));
        ranks.recount();
        let mut bytes = Vec::new();
        ranks.encode(&mut bytes);
        let again = Ranks::decode(&mut Words::new(&bytes), 10).unwrap();
        let mut bytes_again = Vec::new();
        again.encode(&mut bytes_again);
        assert_eq!((bytes, &ranks.sorted), (bytes_again, &again.sorted));
        // With fewer ranks than before.
        let fewer = Ranks::decode(&mut Words::new(&bytes_of(&ranks)), 3).unwrap();
        assert_eq!(fewer.sorted, ranks.sorted[..3]);
        assert!(Ranks::decode(&mut Words::new(&bytes_of(&ranks)[..20]), 3).is_none());
    }

    fn bytes_of(ranks: &Ranks) -> Vec<u8> {
        let mut bytes = Vec::new();
        ranks.encode(&mut bytes);
        bytes
    }
}
