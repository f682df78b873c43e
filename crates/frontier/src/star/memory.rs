//! What [`Star`](super::Star) remembers so that most questions and most edges never reach the repository: direct-mapped tables
//! of a fixed size, in which the newest takes the place of what was there.
//!
//! Pages of one domain link to the same few domains again and again, and most URLs belong to domains that were just asked for.
//! A table that forgets costs a question more, never a wrong answer.

use mattock_drum::InDegree;

use crate::beast::words::mix;

/// Edges that were counted lately.
#[derive(Debug)]
pub(super) struct Edges {
    seen: Vec<u64>,
}

impl Edges {
    /// A table of `size` edges, a power of two; 8 bytes each.
    pub(super) fn new(size: usize) -> Edges {
        Edges { seen: vec![0; size] }
    }

    /// Whether the edge is not remembered. From now on it is.
    pub(super) fn is_new(&mut self, target: u64, source: u64) -> bool {
        let edge = mix(target) ^ source.wrapping_mul(0xd6e8_feb8_6659_fd93) | 1;
        let place = mix(edge) as usize & (self.seen.len() - 1);
        std::mem::replace(&mut self.seen[place], edge) != edge
    }
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    domain: u64,
    degree: InDegree,
    /// Edges that had been counted when the degree was asked for.
    edges: u64,
    /// The number of the last question about it that is not answered; 0 if there is none.
    waiting: u64,
}

const NOBODY: InDegree = InDegree { count: 0, exact: true };

/// In-degrees that were answered lately.
#[derive(Debug)]
pub(super) struct Known {
    entries: Vec<Entry>,
}

impl Known {
    /// A table of `size` domains, a power of two; 48 bytes each.
    pub(super) fn new(size: usize) -> Known {
        Known { entries: vec![Entry { domain: 0, degree: NOBODY, edges: 0, waiting: u64::MAX }; size] }
    }

    fn entry(&mut self, domain: u64) -> &mut Entry {
        let place = mix(domain) as usize & (self.entries.len() - 1);
        &mut self.entries[place]
    }

    /// The in-degree, unless it is too old or a question about it is under way: what asks now must not overtake that.
    ///
    /// Edges go to a domain in proportion to those that it has, about; so while their number grows by a sixteenth, a degree
    /// does too.
    pub(super) fn get(&mut self, domain: u64, edges: u64) -> Option<InDegree> {
        let entry = self.entry(domain);
        let fresh = entry.domain == domain && entry.waiting == 0 && edges - entry.edges <= entry.edges / 16;
        fresh.then_some(entry.degree)
    }

    /// The last answer about the domain, however old, if it is remembered.
    pub(super) fn last(&self, domain: u64) -> Option<InDegree> {
        let entry = &self.entries[mix(domain) as usize & (self.entries.len() - 1)];
        (entry.domain == domain && entry.waiting == 0).then_some(entry.degree)
    }

    /// Question `number` about the domain is asked.
    pub(super) fn ask(&mut self, domain: u64, number: u64, edges: u64) {
        *self.entry(domain) = Entry { domain, degree: NOBODY, edges, waiting: number };
    }

    /// Question `number` about the domain is answered. Of interest only if it was the last one, which shows in that it is still
    /// here.
    pub(super) fn answer(&mut self, domain: u64, number: u64, degree: InDegree) {
        let entry = self.entry(domain);
        if entry.domain == domain && entry.waiting == number {
            entry.degree = degree;
            entry.waiting = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_is_new_once_while_it_is_remembered() {
        let mut edges = Edges::new(64);
        assert!(edges.is_new(1, 2) && edges.is_new(2, 1) && edges.is_new(1, 3));
        assert!(!edges.is_new(1, 2) && !edges.is_new(2, 1) && !edges.is_new(1, 3));
        assert!((10..10_000).all(|source| edges.is_new(1, source)));
        assert!(edges.is_new(1, 2), "forgotten, so it counts as new");
    }

    #[test]
    fn a_degree_is_known_from_its_last_answer_until_many_edges_came() {
        let mut known = Known::new(16);
        let degree = InDegree { count: 9, exact: true };
        assert_eq!(known.get(0, 0), None);
        known.ask(5, 1, 1600);
        known.ask(5, 2, 1600);
        known.answer(5, 1, degree);
        assert_eq!(known.get(5, 1600), None, "another question is under way");
        known.answer(5, 2, degree);
        assert_eq!(known.get(5, 1700), Some(degree));
        assert_eq!(known.get(5, 1701), None);
        assert_eq!(known.get(6, 1700), None);
    }

    #[test]
    fn an_answer_that_was_displaced_is_not_taken() {
        let mut known = Known::new(1);
        let degree = InDegree { count: 9, exact: true };
        known.ask(5, 1, 0);
        known.ask(6, 2, 0);
        known.answer(5, 1, degree);
        assert_eq!(known.get(5, 0), None);
        known.answer(6, 2, degree);
        assert_eq!(known.get(6, 0), Some(degree));
    }
}
