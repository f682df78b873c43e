//! New hosts of a domain are tried a few at a time.
//!
//! A page can name a thousand hosts of one domain, and asking each for its address and its robots.txt would cost a thousand
//! look-ups and requests before the first page shows that they are all the same. So at most [`TRIED_AT_ONCE`] hosts of a domain are
//! on trial: from the first thing that is done for them until a page of theirs was visited, or they failed. The others are
//! parked, in order. By then [`content`](crate::content) knows what the domain is worth.
//!
//! Filled and emptied by the bench. Holds domains with hosts on trial only.

use std::collections::{HashMap, VecDeque};

use crate::bench::Slot;

/// Hosts of a domain on trial at once.
pub(crate) const TRIED_AT_ONCE: usize = 8;

/// How far a host has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trial {
    /// Nothing was done for it.
    Ahead,
    /// On trial.
    Running,
    /// A page of it was visited, or it failed.
    Over,
}

#[derive(Debug, Default)]
struct Domain {
    running: usize,
    parked: VecDeque<Slot>,
}

/// Who is on trial, by domain.
#[derive(Debug, Default)]
pub(crate) struct Trials {
    domains: HashMap<u64, Domain>,
}

impl Trials {
    /// Takes a host on trial; or parks it, and then says no.
    pub(crate) fn enter(&mut self, domain: u64, slot: Slot) -> bool {
        let domain = self.domains.entry(domain).or_default();
        if domain.running >= TRIED_AT_ONCE {
            domain.parked.push_back(slot);
            return false;
        }
        domain.running += 1;
        true
    }

    /// A trial is over.
    pub(crate) fn leave(&mut self, domain: u64) {
        if let Some(trials) = self.domains.get_mut(&domain) {
            trials.running = trials.running.saturating_sub(1);
        }
    }

    /// A parked host that could be tried now. Whoever calls must see whether it is still parked, and ask again if not.
    pub(crate) fn unpark(&mut self, domain: u64) -> Option<Slot> {
        let trials = self.domains.get_mut(&domain)?;
        if trials.running >= TRIED_AT_ONCE {
            return None;
        }
        let slot = trials.parked.pop_front();
        if slot.is_none() && trials.running == 0 {
            self.domains.remove(&domain);
        }
        slot
    }
}
