//! Which checkpoints can be opened, and what goes once one is not needed any longer.
//!
//! [`Options::checkpoints_kept`](crate::Options::checkpoints_kept) of them stay, and all from the *pinned* one on. Somebody who
//! makes one state out of many stores knows only later which of their checkpoints belong to it, and may fail to find that
//! out several times in a row: the one that was agreed upon last must not go before there is another.

use std::collections::BTreeSet;
use std::sync::Arc;

use mattock_env::Step;

use crate::manifest::{self, Manifest};
use crate::queues::Queues;
use crate::segment::{Disk, SegmentFile, lock};
use crate::state::State;

/// Nothing is pinned.
pub(crate) const NO_PIN: u64 = u64::MAX;

/// A checkpoint whose files must stay.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) number: u64,
    pub(crate) segments: BTreeSet<u64>,
    pub(crate) phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Captured, and on its way.
    Pending,
    /// Its manifest may be on disk or not.
    Unknown,
    Durable,
}

impl Kept {
    /// One that was found on disk.
    pub(crate) fn found(manifest: &Manifest) -> Kept {
        Kept { phase: Phase::Durable, ..Kept::pending(manifest) }
    }

    pub(crate) fn pending(manifest: &Manifest) -> Kept {
        let segments = manifest.queues.iter().flat_map(|queue| &queue.segments);
        let segments = segments.map(|segment| segment.number).collect();
        Kept { number: manifest.number, segments, phase: Phase::Pending }
    }

    pub(crate) fn is_durable(&self) -> bool {
        self.phase == Phase::Durable
    }
}

/// What is to be removed, by somebody who does not hold the state's lock.
#[derive(Default)]
pub(crate) struct Forgotten {
    checkpoints: Vec<u64>,
    segments: Vec<Arc<SegmentFile>>,
}

impl Forgotten {
    fn is_empty(&self) -> bool {
        self.checkpoints.is_empty() && self.segments.is_empty()
    }

    /// Manifests first, then what only they needed.
    pub(crate) fn remove(&self, disk: &Disk) {
        for number in &self.checkpoints {
            manifest::names(*number).iter().for_each(|name| disk.remove(name));
        }
        for number in &self.checkpoints {
            manifest::tail_names(*number).iter().for_each(|name| disk.remove(name));
        }
        self.segments.iter().for_each(|file| file.remove());
    }
}

impl State {
    /// The newest checkpoint that is known to be durable; 0 before the first.
    pub(crate) fn newest_checkpoint(&self) -> u64 {
        self.kept.iter().rev().find(|kept| kept.is_durable()).map_or(0, |kept| kept.number)
    }

    /// Forgets the checkpoints that are not kept any longer.
    pub(crate) fn forget_checkpoints(&mut self) -> Forgotten {
        let newest = self.newest_checkpoint();
        let durable = self.kept.iter().filter(|kept| kept.is_durable()).count();
        let mut surplus = durable.saturating_sub(self.checkpoints_kept);
        let mut forgotten = Forgotten::default();
        for kept in std::mem::take(&mut self.kept) {
            let goes = match kept.phase {
                Phase::Pending => false,
                // One that failed was told to nobody, and a crash goes back to the newest that did not.
                Phase::Unknown => kept.number < newest,
                Phase::Durable => surplus > 0 && kept.number < self.pinned,
            };
            if !goes {
                self.kept.push_back(kept);
                continue;
            }
            surplus -= usize::from(kept.is_durable());
            forgotten.checkpoints.push(kept.number);
        }
        self.bury();
        forgotten.segments = std::mem::take(&mut self.removals);
        forgotten
    }
}

impl Queues {
    /// The number of the newest checkpoint that is known to be durable; 0 before the first.
    pub fn newest_checkpoint(&self) -> u64 {
        lock(&self.shared.state).newest_checkpoint()
    }

    /// Keeps every checkpoint with this number or a higher one, however many there are; of the others those that
    /// [`Options::checkpoints_kept`](crate::Options::checkpoints_kept) still wants, and the rest goes, in the background.
    /// [`open_at`](Queues::open_at) has done this with its number. `u64::MAX` pins nothing.
    pub fn keep_from(&self, number: u64) {
        let forgotten = {
            let mut state = lock(&self.shared.state);
            state.pinned = number;
            state.forget_checkpoints()
        };
        if forgotten.is_empty() {
            return;
        }
        let disk = Arc::clone(&self.shared.disk);
        self.shared.chores.submit(Box::new(move || {
            forgotten.remove(&disk);
            Step::Done
        }));
    }
}
