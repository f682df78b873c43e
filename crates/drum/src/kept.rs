//! Which checkpoints can be opened, and what goes once one is not needed any longer.
//!
//! [`Options::checkpoints_kept`](crate::Options::checkpoints_kept) of them stay, and all from the *pinned* one on. Somebody who
//! makes one state out of many repositories knows only later which of their checkpoints belong to it, and may fail to
//! find that out several times in a row: the one that was agreed upon last must not go before there is another.

use std::sync::Arc;

use mattock_env::{Step, copy_name};

use crate::drum::Drum;
use crate::manifest::{self, Manifest};
use crate::value::Value;

/// Nothing is pinned.
pub(crate) const NO_PIN: u64 = u64::MAX;

/// A checkpoint whose files must stay.
pub(crate) struct Kept {
    pub(crate) number: u64,
    pub(crate) files: Vec<String>,
    /// Whether it was acknowledged. One that failed may yet be on disk, and then a crash goes back to it.
    pub(crate) durable: bool,
}

impl Kept {
    /// One that is on disk.
    pub(crate) fn found(manifest: &Manifest) -> Kept {
        let mut files: Vec<String> = manifest.files().into_iter().map(|(name, _)| name).collect();
        let copies: Vec<String> =
            files.iter().filter(|name| is_tail(name)).map(|name| copy_name(name)).collect();
        files.extend(copies);
        Kept { number: manifest.number, files, durable: true }
    }

    /// One that is on its way there.
    pub(crate) fn begun(manifest: &Manifest) -> Kept {
        Kept { durable: false, ..Kept::found(manifest) }
    }
}

fn is_tail(name: &str) -> bool {
    name.starts_with("tail-")
}

impl<V: Value> Drum<V> {
    /// The number of the newest checkpoint that was acknowledged or opened; 0 before the first.
    pub fn newest_checkpoint(&self) -> u64 {
        self.kept.iter().rev().find(|kept| kept.durable).map_or(0, |kept| kept.number)
    }

    /// Keeps every checkpoint with this number or a higher one, however many there are; of the others those that
    /// [`Options::checkpoints_kept`](crate::Options::checkpoints_kept) still wants, and the rest goes now.
    /// [`open_at`](Drum::open_at) has done this with its number. `u64::MAX` pins nothing.
    pub fn keep_from(&mut self, number: u64) {
        self.pinned = number;
        self.forget_checkpoints();
    }

    /// Removes checkpoints that are not kept any longer, and then the files that only they needed.
    pub(crate) fn forget_checkpoints(&mut self) {
        let newest = self.newest_checkpoint();
        let durable = self.kept.iter().filter(|kept| kept.durable).count();
        let mut surplus = durable.saturating_sub(self.options.checkpoints_kept.max(1));
        let mut names = std::mem::take(&mut self.dead);
        let mut manifests = Vec::new();
        for kept in std::mem::take(&mut self.kept) {
            // One that failed was told to nobody, and a crash goes back to the newest that did not.
            let goes =
                if kept.durable { surplus > 0 && kept.number < self.pinned } else { kept.number < newest };
            if !goes {
                self.kept.push_back(kept);
                continue;
            }
            surplus -= usize::from(kept.durable);
            manifests.extend(manifest::names(kept.number));
            names.extend(kept.files.into_iter().filter(|name| is_tail(name)));
        }
        for name in manifests {
            let disk = Arc::clone(&self.disk);
            self.chores.submit(Box::new(move || {
                disk.remove(&name);
                Step::Done
            }));
        }
        for name in names {
            self.retire(name);
        }
    }

    /// A checkpoint failed before its manifest had its name: nothing of it is of use, and space may be what it failed for.
    pub(crate) fn forget_failed(&mut self, number: u64) {
        let Some(place) = self.kept.iter().position(|kept| kept.number == number) else { return };
        let failed = self.kept.remove(place);
        let mut names = std::mem::take(&mut self.dead);
        names.extend(manifest::names(number).map(|name| format!("{name}.tmp")));
        names.extend(failed.into_iter().flat_map(|kept| kept.files).filter(|name| is_tail(name)));
        for name in names {
            self.retire(name);
        }
    }

    /// What the checkpoint that was opened does not need, but earlier ones that are kept do: it goes with them.
    pub(crate) fn find_dead(&mut self) {
        let Some(opened) = self.kept.pop_back() else { return };
        let others = self.kept.iter().flat_map(|kept| &kept.files);
        let mut dead: Vec<String> =
            others.filter(|name| !is_tail(name) && !opened.files.contains(name)).cloned().collect();
        dead.sort_unstable();
        dead.dedup();
        self.dead = dead;
        self.kept.push_back(opened);
    }
}
