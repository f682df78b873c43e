//! Which queue a domain's next URL goes into.
//!
//! A domain fills the queues in order, so all there is to know of it is the last queue it got a place in, and how many it has
//! there. An entry whose queue is being read, or was, says nothing any more. Queues have absolute numbers that only grow.
//!
//! Bound: `domains_max` entries of at most 34 bytes. When they are all in use, queues are *closed*, the nearest first: nothing more is
//! placed in them, so that what is known about them can be forgotten. A domain then never gets more than its budget, but some
//! get theirs in a later queue than they could. If every queue is closed all goes to QF, until the next one opens.

use super::words::{Map, Words, put};

/// Entries pack a queue's number and a count.
const USED_BITS: u32 = 24;
const USED_MAX: u32 = (1 << USED_BITS) - 1;

/// A place for one URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) queue: u64,
    /// How many the domain will have there.
    used: u32,
    /// Whether it has to be remembered.
    counted: bool,
}

#[derive(Debug)]
pub(super) struct Placement {
    domains_max: usize,
    entries: Map<u64>,
    /// Up to here, nothing is placed any more.
    closed: u64,
    /// How often the table was full, so that queues had to be closed.
    pub(super) closings: u64,
}

impl Placement {
    pub(super) fn new(domains_max: usize) -> Placement {
        Placement { domains_max: domains_max.max(4), entries: Map::default(), closed: 0, closings: 0 }
    }

    /// Everything up to this queue is being read or was.
    pub(super) fn pass(&mut self, current: u64) {
        self.closed = self.closed.max(current);
    }

    /// The first queue from `from` to `last` in which the domain has less than its budget. Who has no limit waits behind everybody
    /// else, but never in QF.
    pub(super) fn find(&self, domain: u64, budget: u32, from: u64, last: u64) -> Option<Spot> {
        if budget >= USED_MAX {
            return Some(Spot { queue: last, used: 0, counted: false });
        }
        let from = from.max(self.closed + 1);
        let (queue, used) = match self.entries.get(&domain) {
            Some(entry) if entry >> USED_BITS >= from => (entry >> USED_BITS, *entry as u32 & USED_MAX),
            _ => (from, 0),
        };
        let (queue, used) = if used < budget { (queue, used + 1) } else { (queue + 1, 1) };
        (budget > 0 && queue <= last).then_some(Spot { queue, used, counted: true })
    }

    /// The place that was found is taken.
    pub(super) fn take(&mut self, domain: u64, spot: Spot) {
        if !spot.counted {
            return;
        }
        let entry = spot.queue << USED_BITS | u64::from(spot.used);
        if let Some(known) = self.entries.get_mut(&domain) {
            *known = entry;
            return;
        }
        if self.entries.len() >= self.domains_max {
            self.make_room();
        }
        // Where making room has closed the very queue, it must not be known that it is not full.
        if spot.queue > self.closed {
            self.entries.insert(domain, entry);
        }
    }

    /// Forgets what queues that are closed had, and closes as many as it takes to free a quarter of the table.
    fn make_room(&mut self) {
        let before = self.closed;
        self.forget();
        let keep = self.domains_max / 4 * 3;
        if self.entries.len() <= keep {
            return;
        }
        let mut queues: Vec<u64> = self.entries.values().map(|entry| entry >> USED_BITS).collect();
        let surplus = queues.len() - keep;
        self.closed = *queues.select_nth_unstable(surplus - 1).1;
        self.closings += self.closed - before;
        self.forget();
    }

    fn forget(&mut self) {
        let closed = self.closed;
        self.entries.retain(|_, entry| *entry >> USED_BITS > closed);
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let mut entries: Vec<(u64, u64)> = self
            .entries
            .iter()
            .filter(|(_, entry)| **entry >> USED_BITS > self.closed)
            .map(|(domain, entry)| (*domain, *entry))
            .collect();
        entries.sort_unstable();
        put(out, self.closed);
        put(out, entries.len() as u64);
        for (domain, entry) in entries {
            put(out, domain);
            put(out, entry);
        }
    }

    /// What was encoded, within perhaps another bound.
    pub(super) fn decode(words: &mut Words<'_>, domains_max: usize) -> Option<Placement> {
        let mut placement = Placement::new(domains_max);
        placement.closed = words.next()?;
        for _ in 0..words.next()? {
            placement.entries.insert(words.next()?, words.next()?);
        }
        if placement.entries.len() > placement.domains_max {
            placement.make_room();
        }
        Some(placement)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(placement: &mut Placement, domain: u64, budget: u32, last: u64) -> Option<u64> {
        let spot = placement.find(domain, budget, 0, last)?;
        placement.take(domain, spot);
        Some(spot.queue)
    }

    #[test]
    fn a_domain_fills_the_queues_in_order() {
        let mut placement = Placement::new(100);
        placement.pass(3);
        let queues: Vec<_> = (0..7).map(|_| place(&mut placement, 1, 2, 6)).collect();
        assert_eq!(queues, [Some(4), Some(4), Some(5), Some(5), Some(6), Some(6), None]);
        assert_eq!(place(&mut placement, 2, 2, 6), Some(4));
        placement.pass(5);
        assert_eq!(place(&mut placement, 1, 2, 8), Some(7), "6 is full");
        assert_eq!(place(&mut placement, 2, 2, 8), Some(6));
        assert_eq!(place(&mut placement, 1, 3, 8), Some(7), "the budget has grown");
        assert_eq!(place(&mut placement, 3, 0, 8), None);
        assert_eq!(place(&mut placement, 3, u32::MAX, 8), Some(8));
        assert_eq!(placement.len(), 2);
    }

    #[test]
    fn a_full_table_closes_queues_and_keeps_budgets() {
        let mut placement = Placement::new(8);
        let mut counts = std::collections::BTreeMap::new();
        for turn in 0..4000u64 {
            let (domain, last) = (turn * 7 % 23, 6);
            if let Some(queue) = place(&mut placement, domain, 3, last) {
                assert!(queue <= last);
                *counts.entry((domain, queue)).or_insert(0) += 1;
            }
            assert!(placement.len() <= 8);
        }
        assert!(counts.values().all(|count| *count <= 3), "{counts:?}");
        assert!(placement.closings > 0);
        assert!(counts.len() > 23, "the table was of some use");
    }

    #[test]
    fn a_saved_table_is_the_same_again() {
        let mut placement = Placement::new(100);
        for turn in 0..500u64 {
            place(&mut placement, turn % 90, 2, 3);
        }
        placement.pass(1);
        let encoded = |placement: &Placement| {
            let mut bytes = Vec::new();
            placement.encode(&mut bytes);
            bytes
        };
        let bytes = encoded(&placement);
        let mut again = Placement::decode(&mut Words::new(&bytes), 100).unwrap();
        assert_eq!(encoded(&again), bytes);
        assert_eq!(place(&mut again, 89, 2, 4), place(&mut placement, 89, 2, 4));
        let smaller = Placement::decode(&mut Words::new(&bytes), 40).unwrap();
        assert!(smaller.len() <= 40 && smaller.closed >= placement.closed);
        assert!(Placement::decode(&mut Words::new(&bytes[..30]), 100).is_none());
    }
}
