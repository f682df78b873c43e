//! Who has the crawl pause, and why: no visit begins while there is anybody.
//!
//! Filled by the operator, the schedule and the watch on the disk, each for itself; asked by every partition before it begins
//! anything, robots.txt and look-ups of names included. What is under way ends, and checkpoints go on.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;

/// Who has the crawl pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PausedBy {
    /// Somebody has asked for it.
    Operator,
    /// An entry of the schedule.
    Schedule,
    /// The disk is nearly full.
    Disk,
}

/// A pause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Paused {
    /// Who has asked for it.
    pub by: PausedBy,
    /// Since when: microseconds since 1970.
    pub since_unix_micros: i64,
    /// Why.
    pub reason: String,
}

/// The pauses there are now.
#[derive(Debug, Default)]
pub(crate) struct Pauses {
    any: AtomicBool,
    pauses: Mutex<BTreeMap<PausedBy, Paused>>,
}

impl Pauses {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<PausedBy, Paused>> {
        self.pauses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nothing may begin.
    pub(crate) fn any(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    /// All of them.
    pub(crate) fn list(&self) -> Vec<Paused> {
        self.lock().values().cloned().collect()
    }

    /// Pauses for this reason; whether that is new.
    pub(crate) fn pause(&self, by: PausedBy, since_unix_micros: i64, reason: String) -> bool {
        let mut pauses = self.lock();
        let since = pauses.get(&by).map_or(since_unix_micros, |before| before.since_unix_micros);
        let before = pauses.insert(by, Paused { by, since_unix_micros: since, reason });
        self.any.store(true, Ordering::Relaxed);
        before.is_none()
    }

    /// Pauses from before there was a clock begin now.
    pub(crate) fn date(&self, unix_micros: i64) {
        for paused in self.lock().values_mut().filter(|paused| paused.since_unix_micros == 0) {
            paused.since_unix_micros = unix_micros;
        }
    }

    /// Lifts a pause; whether there was one.
    pub(crate) fn lift(&self, by: PausedBy) -> bool {
        let mut pauses = self.lock();
        let before = pauses.remove(&by);
        self.any.store(!pauses.is_empty(), Ordering::Relaxed);
        before.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_lifts_only_their_own_pause() {
        let pauses = Pauses::default();
        assert!(!pauses.any());
        assert!(pauses.pause(PausedBy::Disk, 5, "full".into()));
        assert!(pauses.pause(PausedBy::Operator, 7, "lunch".into()));
        assert!(!pauses.pause(PausedBy::Disk, 9, "fuller".into()), "it is the same pause");
        assert!(pauses.lift(PausedBy::Operator) && !pauses.lift(PausedBy::Operator));
        assert!(pauses.any(), "the disk is still full");
        let left = Paused { by: PausedBy::Disk, since_unix_micros: 5, reason: "fuller".into() };
        assert_eq!(pauses.list(), [left]);
        assert!(pauses.lift(PausedBy::Disk) && !pauses.any());
    }
}
