//! Errands that are back and wait to be settled: plain ones at once, bulky ones at a pace that leaves time for the others.
//!
//! Filled by the partition's loop as tasks report, emptied by it a turn's worth at a time. A document is settled in one piece, and
//! one of ten megabytes takes as long as hundreds of pages. A row of them would make every other host wait, and it is the quick
//! hosts that lose most by waiting. So plain documents go first, a bulky one goes when there is nothing else to do and is the last of
//! its turn, and while the others want most of the core ([`Demand`]) the bulky ones get one part in [`BULKY_PART`] of the time. While they want
//! less, a bulky one goes whenever the core would rest otherwise.
//!
//! Invariants: within a class the order is that of arrival; the first bulky one waits for at most twice [`PAUSE_MAX`]; the core does not rest
//! beside a bulky one for longer than it takes to see that the others leave it idle, which is less than twice [`DEMAND_MEMORY`].
//! How long a document takes is reckoned from its bytes and not measured, so that virtual time has one course.

use std::collections::VecDeque;
use std::time::Duration;

use mattock_env::Time;

/// From here on a document is bulky: bytes that came and bytes that they were decoded to.
pub(crate) const BULKY_BYTES: u64 = 256 * 1024;
/// What a byte takes to be stored, read and digested.
const BYTE_NS: u64 = 6;
/// The part of the time that bulky documents get beside plain ones.
const BULKY_PART: u32 = 8;
/// The longest that bulky documents pause, and for how long a plain one keeps them back that was settled last.
const PAUSE_MAX: Duration = Duration::from_secs(1);
/// The time over which is looked at what the others want of the core.
const DEMAND_MEMORY: Duration = Duration::from_millis(50);
/// The share of the core from which on they are made way for. The loop cannot tell the work of fetches from rest, and where the core is
/// busy they have up to half of it.
const DEMAND_HIGH: f64 = 0.25;

/// What share of the core everything but bulky documents wants: that of the time in which it was not idle, time with bulky documents left
/// out. Older times count exponentially less, by [`DEMAND_MEMORY`]. In virtual time work takes none, so that there nobody wants any.
#[derive(Clone, Copy, Debug)]
struct Demand {
    share: f64,
    /// Up to here it is known.
    at: Time,
}

impl Demand {
    /// All of it, as long as nothing is known.
    fn new(now: Time) -> Demand {
        Demand { share: 1.0, at: now }
    }

    /// From what was known until `now` the core was busy, or idle.
    fn was(&mut self, busy: bool, now: Time) {
        let kept = (-now.since(self.at).as_secs_f64() / DEMAND_MEMORY.as_secs_f64()).exp();
        self.share = self.share * kept + if busy { 1.0 - kept } else { 0.0 };
        self.at = now;
    }

    /// When it will not be high any more, if the core is idle from here on.
    fn low_at(&self) -> Time {
        self.at + DEMAND_MEMORY.mul_f64((self.share / DEMAND_HIGH).ln().max(0.0))
    }
}

/// How much there is to do besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Haste {
    /// Visits can begin.
    Busy,
    /// Everybody waits.
    Idle,
    /// All of it must be settled, and nothing else.
    Ending,
}

pub(crate) struct Returns<T> {
    plain: VecDeque<T>,
    bulky: VecDeque<T>,
    /// When the next bulky one may be settled.
    bulky_next: Time,
    /// When a plain one was settled last.
    plain_last: Option<Time>,
    demand: Demand,
}

impl<T> Returns<T> {
    pub(crate) fn new(now: Time) -> Returns<T> {
        let demand = Demand::new(now);
        Returns {
            plain: VecDeque::new(),
            bulky: VecDeque::new(),
            bulky_next: Time::ZERO,
            plain_last: None,
            demand,
        }
    }

    /// There is nothing to do from now on.
    pub(crate) fn rests(&mut self, now: Time) {
        self.demand.was(true, now);
    }

    /// There was nothing to do until now.
    pub(crate) fn rested(&mut self, now: Time) {
        self.demand.was(false, now);
    }

    pub(crate) fn put(&mut self, came: T, bulky: bool) {
        if bulky { self.bulky.push_back(came) } else { self.plain.push_back(came) }
    }

    /// Plain ones that wait.
    pub(crate) fn plain(&self) -> usize {
        self.plain.len()
    }

    /// All that wait.
    pub(crate) fn len(&self) -> usize {
        self.plain.len() + self.bulky.len()
    }

    /// When the next of the bulky ones may be settled, if there are any and the core rests until then.
    pub(crate) fn due(&self) -> Option<Time> {
        (!self.bulky.is_empty()).then(|| self.paced().min(self.demand.low_at()))
    }

    /// When the next bulky one may be settled, whatever others want.
    fn paced(&self) -> Time {
        // With nobody to make way for there is no reason to pause.
        let alone = self.plain_last.map_or(Time::ZERO, |last| last + PAUSE_MAX);
        self.bulky_next.min(alone)
    }

    /// The next to be settled. A bulky one is if it may be, or only if it has waited for long, or at any rate.
    pub(crate) fn take(&mut self, now: Time, haste: Haste) -> Option<T> {
        if let Some(plain) = self.plain.pop_front() {
            self.plain_last = Some(now);
            return Some(plain);
        }
        let due = self.due()?;
        let may = match haste {
            Haste::Busy => self.paced() + PAUSE_MAX <= now,
            Haste::Idle => due <= now,
            Haste::Ending => true,
        };
        let bulky = if may { self.bulky.pop_front() } else { None };
        if bulky.is_some() {
            self.demand.was(true, now);
        }
        bulky
    }

    /// A document of so many bytes was settled; whether that is enough for one turn.
    pub(crate) fn settled(&mut self, bytes: u64, now: Time) -> bool {
        if bytes < BULKY_BYTES {
            return false;
        }
        // Others had no part in this.
        self.demand.at = now;
        let took = Duration::from_nanos(bytes.saturating_mul(BYTE_NS));
        self.bulky_next = now + (took * BULKY_PART).min(PAUSE_MAX);
        true
    }

    /// Forgets what waits.
    pub(crate) fn clear(&mut self) {
        self.plain.clear();
        self.bulky.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    /// Returns of a core that the others keep busy.
    fn busy<T>() -> Returns<T> {
        Returns::new(at(0))
    }

    #[test]
    fn plain_documents_go_first_and_bulky_ones_pause_between_them() {
        let mut returns = busy();
        for name in ["large 1", "large 2", "large 3"] {
            returns.put(name, true);
        }
        returns.put("small 1", false);
        assert_eq!(returns.plain(), 1);
        assert_eq!(returns.take(at(1000), Haste::Idle), Some("small 1"));
        assert_eq!(returns.take(at(1000), Haste::Idle), Some("large 1"));
        assert!(!returns.settled(BULKY_BYTES - 1, at(1000)));
        assert!(returns.settled(2_000_000, at(1000)));
        returns.rests(at(1090));
        assert_eq!(returns.take(at(1095), Haste::Idle), None);
        assert_eq!(returns.due(), Some(at(1096)), "12 ms of work are an eighth of this");
        returns.put("small 2", false);
        assert_eq!(returns.take(at(1095), Haste::Idle), Some("small 2"));
        assert_eq!(returns.take(at(1096), Haste::Busy), None);
        assert_eq!(returns.take(at(1096), Haste::Idle), Some("large 2"));
        returns.settled(2_000_000, at(1100));
        returns.rests(at(2195));
        assert_eq!(returns.take(at(2195), Haste::Busy), None);
        assert_eq!(returns.take(at(2196), Haste::Busy), Some("large 3"), "it has waited for long");
        assert_eq!((returns.take(at(9999), Haste::Idle), returns.due()), (None, None));
    }

    #[test]
    fn where_the_core_is_idle_nobody_pauses() {
        let mut returns = busy();
        for name in 0..100 {
            returns.put(name, true);
        }
        // A plain one comes every 10 ms, and takes 1 ms.
        let mut taken = 0;
        for turn in 0..40 {
            let begun = 10 * turn;
            returns.rested(at(begun));
            returns.put(1000, false);
            assert_eq!(returns.take(at(begun), Haste::Idle), Some(1000));
            returns.settled(20_000, at(begun + 1));
            returns.rests(at(begun + 1));
            if returns.due().is_some_and(|due| due <= at(begun + 5)) {
                returns.rested(at(begun + 5));
                assert!(returns.take(at(begun + 5), Haste::Idle).is_some_and(|name| name < 1000));
                assert!(returns.settled(1_000_000, at(begun + 9)));
                returns.rests(at(begun + 9));
                taken += 1;
            }
        }
        assert!(taken > 25, "{taken}");
        // Then others keep it busy.
        returns.rests(at(1000));
        assert_eq!(returns.take(at(1000), Haste::Idle), Some(taken), "it has waited for long");
        returns.settled(1_000_000, at(1006));
        returns.put(1000, false);
        assert_eq!(returns.take(at(1007), Haste::Idle), Some(1000));
        returns.rests(at(1020));
        assert_eq!(returns.take(at(1020), Haste::Idle), None);
        assert_eq!(returns.due(), Some(at(1054)), "6 ms of work are an eighth of this");
    }

    #[test]
    fn nobody_pauses_alone_or_at_the_end() {
        let mut returns = busy();
        returns.put(1, true);
        returns.settled(10_000_000, at(0));
        assert_eq!(returns.take(at(1), Haste::Idle), Some(1), "there was nothing plain");
        returns.put(2, false);
        returns.put(3, true);
        assert_eq!(returns.take(at(10), Haste::Idle), Some(2));
        returns.settled(u64::MAX, at(200));
        returns.rests(at(1005));
        assert_eq!(returns.take(at(1009), Haste::Idle), None);
        assert_eq!(returns.due(), Some(at(1010)), "the plain one was long ago");
        assert_eq!(returns.take(at(1009), Haste::Ending), Some(3));
        returns.put(4, true);
        returns.clear();
        assert_eq!(returns.take(at(999), Haste::Ending), None);
    }
}
