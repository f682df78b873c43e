//! How many connections those hosts may have together of which it is doubtful that a visit is soon over.
//!
//! Hosts that hang keep a connection for as long as the limits of a fetch allow, and a few hundred of them would keep all that
//! there are. So a part of the connections is for hosts that have earned it: a host's [`Standing`] rises with every visit that ends well
//! and within [`BRISK`], and falls to nothing with one that does not. The lower hosts stand, the fewer connections they may have
//! together with all that stand lower still. Many of those that hang have a robots.txt and a first page that come at once: they
//! fill what is open to their standing, and whoever does better finds room above. Filled and emptied by the
//! [bench](crate::bench) as visits and look-ups begin and end.
//!
//! Invariants: nothing begins that would bring the hosts of its standing and below above their share; a visit that lasts longer
//! than [`BRISK`] counts as one of the lowest, but is never hindered. Hosts of the highest standing have no limit but the caller's.
//!
//! Costs: a few comparisons per visit, and an entry for every visit that began within [`BRISK`] above the lowest standing.

use std::collections::VecDeque;
use std::time::Duration;

use mattock_env::Time;

use crate::bench::Slot;

/// How long a visit takes at most that counts as quick.
const BRISK: Duration = Duration::from_secs(2);

/// How many standings there are.
pub(crate) const STANDINGS: usize = 5;

/// What is expected of a host: from nothing, over a robots.txt and one or two pages in a row that came well and soon, to three of
/// them, which is *brisk*.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Standing(u8);

impl Standing {
    pub(crate) const BRISK: Standing = Standing(STANDINGS as u8 - 1);

    /// After a visit that ended well, or not, and took so long.
    pub(crate) fn after(self, is_page: bool, well: bool, took: Duration) -> Standing {
        match (well && took <= BRISK, is_page) {
            (false, _) => Standing::default(),
            (true, true) => Standing((self.0.max(1) + 1).min(Standing::BRISK.0)),
            (true, false) => Standing(self.0.max(1)),
        }
    }

    /// All of them, from the lowest.
    pub(crate) fn all() -> impl Iterator<Item = Standing> {
        (0..STANDINGS as u8).map(Standing)
    }

    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A host that is busy: since when, where, who.
pub(crate) type Begun = (Time, Slot, u64);

pub(crate) struct Doubts {
    /// What is under way of hosts that stand so or lower, and how much of that may be.
    busy: [usize; STANDINGS],
    busy_max: [usize; STANDINGS],
    /// What hosts above the lowest standing have begun, oldest first.
    begun: VecDeque<Begun>,
}

impl Doubts {
    /// Without a limit.
    pub(crate) fn new() -> Doubts {
        Doubts { busy: [0; STANDINGS], busy_max: [usize::MAX; STANDINGS], begun: VecDeque::new() }
    }

    /// Shares out so many connections: a half to the lowest, an eighth more with every step.
    pub(crate) fn share(&mut self, connections: usize) {
        for (standing, busy_max) in self.busy_max.iter_mut().enumerate().take(STANDINGS - 1) {
            let kept = STANDINGS - 1 - standing;
            *busy_max = connections - connections * kept / (2 * (STANDINGS - 1));
        }
    }

    /// Whether a host that stands so may begin something.
    pub(crate) fn permit(&self, standing: Standing) -> bool {
        let from = standing.index();
        self.busy[from..].iter().zip(&self.busy_max[from..]).all(|(busy, max)| busy < max)
    }

    pub(crate) fn enter(&mut self, standing: Standing) {
        self.busy[standing.index()..].iter_mut().for_each(|busy| *busy += 1);
    }

    pub(crate) fn leave(&mut self, standing: Standing) {
        self.busy[standing.index()..].iter_mut().for_each(|busy| *busy -= 1);
    }

    pub(crate) fn watch(&mut self, begun: Begun) {
        if self.busy_max[0] < usize::MAX {
            self.begun.push_back(begun);
        }
    }

    /// The next that was begun so long ago that it must be over if its host is quick.
    pub(crate) fn overdue(&mut self, now: Time) -> Option<Begun> {
        let &(since, ..) = self.begun.front()?;
        if since + BRISK < now { self.begun.pop_front() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(visits: &[(bool, bool, u64)]) -> Standing {
        visits.iter().fold(Standing::default(), |standing, &(is_page, well, took_ms)| {
            standing.after(is_page, well, Duration::from_millis(took_ms))
        })
    }

    #[test]
    fn standing_is_earned_by_pages_and_lost_at_once() {
        let (robots, page) = ((false, true, 10), (true, true, 2000));
        assert_eq!(standing(&[robots]), Standing(1));
        assert_eq!(standing(&[robots, robots, robots, robots]), Standing(1));
        assert_eq!(standing(&[robots, page]), standing(&[page]));
        assert!(standing(&[robots, page, page]) < Standing::BRISK);
        assert_eq!(standing(&[robots, page, page, page]), Standing::BRISK);
        assert_eq!(standing(&[page, page, page, page, robots, page]), Standing::BRISK);
        assert_eq!(standing(&[page, page, page, (true, true, 2001)]), Standing::default());
        assert_eq!(standing(&[page, page, page, (false, false, 1)]), Standing::default());
    }

    #[test]
    fn shares_add_up_and_few_connections_are_not_kept_back() {
        for (connections, shares) in [(256, [128, 160, 192, 224]), (4, [2, 3, 3, 4]), (1, [1, 1, 1, 1])] {
            let mut doubts = Doubts::new();
            doubts.share(connections);
            assert_eq!(doubts.busy_max[..4], shares);
            for (standing, share) in shares.into_iter().enumerate() {
                let standing = Standing(standing as u8);
                while doubts.permit(standing) {
                    doubts.enter(standing);
                }
                assert_eq!(doubts.busy[standing.index()], share);
            }
            assert!(doubts.permit(Standing::BRISK));
        }
    }

    #[test]
    fn what_counts_lower_leaves_less_to_the_lower() {
        let mut doubts = Doubts::new();
        doubts.share(8);
        for _ in 0..5 {
            doubts.enter(Standing::default());
        }
        assert!(!doubts.permit(Standing::default()) && !doubts.permit(Standing(1)));
        assert!(doubts.permit(Standing(2)) && doubts.permit(Standing::BRISK));
        doubts.leave(Standing::default());
        assert!(doubts.permit(Standing(1)));
    }
}
