//! When the simulated disk fails: the running number of operations, the faults planned for some of them, and chance.
//!
//! A test fills in the plan; every operation asks [`Faults::begin`] before it does anything, and then brings about
//! itself what the fault means for it (half a write, a sync that drops data).

use std::collections::BTreeMap;
use std::io;

use crate::Random;

/// What can go wrong with an operation of the simulated disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// `ENOSPC` ([`io::ErrorKind::StorageFull`]); a write may have been done in part. Never happens to reads.
    NoSpace,
    /// `EIO`; a write may have been done in part, and a failed sync drops data for good.
    Io,
    /// The world stops in the middle of the operation: it and all that follow fail with [`Stopped`], until
    /// [`SimFiles::crash`](super::SimFiles::crash) or [`SimFiles::kill`](super::SimFiles::kill).
    Stop,
}

/// The source of the error that every operation returns once the world has stopped; see [`is_stopped`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the simulated machine has stopped")]
pub struct Stopped;

/// The source of the error from a file that was opened before the last crash or kill.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("this simulated file was opened before the crash: open it again")]
struct OpenedBeforeCrash;

/// Whether an operation failed because the simulated world was stopped by [`Fault::Stop`].
pub fn is_stopped(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|source| source.is::<Stopped>())
}

/// What a file from before the crash answers to everything.
pub(super) fn opened_before_crash() -> io::Error {
    io::Error::other(OpenedBeforeCrash)
}

impl Fault {
    pub(super) fn error(self) -> io::Error {
        match self {
            Fault::NoSpace => io::Error::from_raw_os_error(28),
            Fault::Io => io::Error::from_raw_os_error(5),
            Fault::Stop => io::Error::other(Stopped),
        }
    }
}

/// Whether an operation leaves the disk as it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Change,
}

pub(super) struct Faults {
    random: Random,
    operations: u64,
    count_reads: bool,
    planned: BTreeMap<u64, Fault>,
    /// Per operation, in the order of `CHANCES`.
    chances: [f64; CHANCES.len()],
    stopped: bool,
}

const CHANCES: [Fault; 3] = [Fault::NoSpace, Fault::Io, Fault::Stop];

impl Faults {
    pub(super) fn new(random: Random) -> Faults {
        Faults {
            random,
            operations: 0,
            count_reads: false,
            planned: BTreeMap::new(),
            chances: [0.0; CHANCES.len()],
            stopped: false,
        }
    }

    pub(super) fn operations(&self) -> u64 {
        self.operations
    }

    pub(super) fn count_reads(&mut self, count: bool) {
        self.count_reads = count;
    }

    pub(super) fn plan(&mut self, operation: u64, fault: Fault) {
        self.planned.insert(operation, fault);
    }

    pub(super) fn set_chance(&mut self, fault: Fault, chance: f64) {
        self.chances[fault as usize] = chance;
    }

    pub(super) fn clear(&mut self) {
        self.planned.clear();
        self.chances = [0.0; CHANCES.len()];
    }

    /// The machine runs again.
    pub(super) fn restart(&mut self) {
        self.stopped = false;
    }

    /// Numbers the operation that starts now and tells what will go wrong with it. An error if the world stands still
    /// already.
    pub(super) fn begin(&mut self, access: Access) -> io::Result<Option<Fault>> {
        if self.stopped {
            return Err(Fault::Stop.error());
        }
        if access == Access::Read && !self.count_reads {
            return Ok(None);
        }
        let mut fault = self.planned.remove(&self.operations);
        self.operations += 1;
        for (candidate, chance) in CHANCES.into_iter().zip(self.chances) {
            if chance > 0.0 && self.random.chance(chance) && fault.is_none() {
                fault = Some(candidate);
            }
        }
        if access == Access::Read && fault == Some(Fault::NoSpace) {
            fault = None;
        }
        self.stopped = fault == Some(Fault::Stop);
        Ok(fault)
    }

    /// For a read: it fails or it does not.
    pub(super) fn read(&mut self) -> io::Result<()> {
        self.begin(Access::Read)?.map_or(Ok(()), |fault| Err(fault.error()))
    }

    /// For something that happens whole or not at all. When the world stops, nobody learns which it was.
    pub(super) fn change<T>(&mut self, action: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        match self.begin(Access::Change)? {
            None => action(),
            Some(fault) => {
                if fault == Fault::Stop && self.random.chance(0.5) {
                    // Its own failure, if it has one, is never seen: the machine stands still.
                    drop(action());
                }
                Err(fault.error())
            }
        }
    }

    /// How much of `whole` a failing operation still did: often all or nothing.
    pub(super) fn part(&mut self, whole: usize) -> usize {
        match self.random.below(4) {
            0 => 0,
            1 => whole,
            _ => self.random.below(whole as u64 + 1) as usize,
        }
    }

    pub(super) fn random(&mut self) -> &mut Random {
        &mut self.random
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_numbered_from_zero_and_reads_only_on_request() {
        let mut faults = Faults::new(Random::from_seed(1));
        faults.plan(1, Fault::Io);
        faults.read().unwrap();
        faults.change(|| Ok(())).unwrap();
        assert_eq!(faults.operations(), 1);
        faults.count_reads(true);
        assert_eq!(faults.read().unwrap_err().raw_os_error(), Some(5));
        faults.read().unwrap();
        assert_eq!(faults.operations(), 3);
    }

    #[test]
    fn stopping_lasts_until_the_restart_and_is_recognised() {
        let mut faults = Faults::new(Random::from_seed(1));
        faults.plan(0, Fault::Stop);
        assert!(is_stopped(&faults.change(|| Ok(())).unwrap_err()));
        assert!(is_stopped(&faults.read().unwrap_err()));
        assert!(is_stopped(&faults.change(|| Ok(())).unwrap_err()));
        assert_eq!(faults.operations(), 1, "a machine that stands still does nothing");
        faults.restart();
        faults.change(|| Ok(())).unwrap();
        for other in [Fault::Io.error(), Fault::NoSpace.error(), opened_before_crash()] {
            assert!(!is_stopped(&other));
        }
    }

    #[test]
    fn a_stopped_change_has_happened_or_not() {
        let happened = (0..100).filter(|seed| {
            let mut faults = Faults::new(Random::from_seed(*seed));
            faults.plan(0, Fault::Stop);
            let mut done = false;
            let action = || {
                done = true;
                Ok(())
            };
            faults.change(action).unwrap_err();
            done
        });
        assert!((20..80).contains(&happened.count()));
    }

    #[test]
    fn chances_are_kept_and_cleared() {
        let mut faults = Faults::new(Random::from_seed(1));
        faults.set_chance(Fault::NoSpace, 0.25);
        faults.set_chance(Fault::Io, 0.25);
        let kinds: Vec<_> = (0..1000).filter_map(|_| faults.change(|| Ok(())).err()).collect();
        let full = kinds.iter().filter(|error| error.kind() == io::ErrorKind::StorageFull).count();
        assert!((200..300).contains(&full), "{full}");
        assert!((140..240).contains(&(kinds.len() - full)), "{}", kinds.len());
        faults.clear();
        assert!((0..1000).all(|_| faults.change(|| Ok(())).is_ok()));
    }
}
