//! Making frontiers anew whose files are damaged: what is known is put together again, and what is lost is counted.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use mattock_drum::{Batch, DrumError, Value, View};
use mattock_weburl::WebUrl;

use super::Division;
use crate::error::Result;

/// Keys that are handed to `seen` together.
const BATCH_MAX: usize = 1024;

/// What a division keeps in mind while it leaves out what cannot be read.
pub(super) struct Salvage {
    /// Keys whose URLs were met, on their way into `seen` of each share.
    known: Vec<Batch<()>>,
    /// URLs that waited and were not met.
    pub(super) lost: u64,
    /// Whether links on their way through `seen` are lost, nobody knows how many.
    pub(super) lost_links: bool,
    /// Whether URLs were settled of which nobody has the text.
    pub(super) some_are_unknown: bool,
    /// Changes that are lost of each repository.
    lost_changes: RefCell<BTreeMap<String, Option<u64>>>,
}

impl Salvage {
    pub(super) fn new(shares: usize) -> Salvage {
        let known = (0..shares).map(|_| Batch::new()).collect();
        Salvage {
            known,
            lost: 0,
            lost_links: false,
            some_are_unknown: false,
            lost_changes: RefCell::default(),
        }
    }

    /// So many changes to a repository could not be read, or nobody knows how many.
    fn note_lost(&self, name: &str, lost: Option<u64>) {
        // What is missing in `seen` comes back with the texts of the URLs.
        if lost != Some(0) && name != "seen" {
            let mut changes = self.lost_changes.borrow_mut();
            let known = changes.entry(name.to_owned()).or_insert(Some(0));
            *known = known.zip(lost).map(|(known, lost)| known + lost);
        }
    }

    /// How many changes are lost of each repository, if that is known.
    pub(super) fn lost_changes(&self) -> Vec<(String, Option<u64>)> {
        self.lost_changes.borrow().iter().map(|(name, lost)| (name.clone(), *lost)).collect()
    }

    /// Whether keys of which nobody has the text are forgotten: they may be of URLs that are lost.
    pub(super) fn forgets(&self) -> bool {
        (self.lost > 0 || self.lost_links) && !self.some_are_unknown
    }
}

impl Division {
    /// A repository of an old frontier.
    pub(super) fn view<V: Value>(&self, dir: &Path, name: &str, checkpoint: u64) -> Result<View<V>> {
        let (env, dir) = (&self.env, dir.join(name));
        let Some(salvage) = &self.salvage else { return Ok(View::open(env, &dir, checkpoint)?) };
        // Without its manifest there is nothing to be had of it.
        let view = or_empty(View::salvage(env, &dir, checkpoint), || View::open(env, &dir, 0))?;
        salvage.note_lost(name, view.lost_operations().filter(|_| view.number() == checkpoint));
        Ok(view)
    }

    /// What no merge has applied and nobody was handed of it.
    pub(super) fn results<V: Value>(&mut self, dir: &Path, name: &str, checkpoint: u64) -> Result<View<V>> {
        let (env, dir) = (&self.env, dir.join(name));
        let Some(salvage) = &mut self.salvage else { return Ok(View::open(env, &dir, checkpoint)?) };
        let view = or_empty(View::salvage_results(env, &dir, checkpoint), || View::open(env, &dir, 0))?;
        salvage.lost_links |= name == "seen" && (view.has_lost_results() || view.number() != checkpoint);
        Ok(view)
    }

    /// The queues of an old frontier.
    pub(super) fn queues(&self, dir: &Path, checkpoint: u64) -> Result<mattock_queue::View> {
        let (env, dir) = (&self.env, dir.join("queues"));
        let opened = match self.salvage {
            None => mattock_queue::View::open(env, &dir, checkpoint),
            Some(_) => match mattock_queue::View::salvage(env, &dir, checkpoint) {
                Err(error) if error.is_loss() => mattock_queue::View::open(env, &dir, 0),
                opened => opened,
            },
        };
        Ok(opened?)
    }

    pub(super) fn forgets(&self) -> bool {
        self.salvage.as_ref().is_some_and(Salvage::forgets)
    }

    /// The partition of a URL that is in `seen`, or was.
    pub(super) fn note_known(&mut self, url: &WebUrl) -> Result<usize> {
        let owner = self.owners.note(url)?;
        if let Some(salvage) = &mut self.salvage {
            let batch = &mut salvage.known[owner];
            batch.update(url.fingerprint().0, ());
            if batch.len() >= BATCH_MAX {
                self.shares[owner].seen.submit(batch)?;
                batch.clear();
            }
        }
        Ok(owner)
    }

    /// Has everything that was noted in `seen`.
    pub(super) fn settle_known(&mut self) -> Result<()> {
        if let Some(salvage) = &mut self.salvage {
            for (batch, share) in salvage.known.iter_mut().zip(&mut self.shares) {
                share.seen.submit(batch)?;
                batch.clear();
            }
        }
        Ok(())
    }

    /// How many of the URLs that waited are not there. All that could be read must have been handed on.
    pub(super) fn count_lost(&mut self) {
        if let Some(salvage) = &mut self.salvage {
            let open = |accounts: &crate::Accounts| accounts.seen.saturating_sub(accounts.settled());
            let before: u64 = self.sources.iter().map(|source| open(&source.saved.accounts)).sum();
            let found: u64 = self.shares.iter().map(|share| share.counts().queued).sum();
            salvage.lost = before.saturating_sub(found);
        }
    }
}

/// What was opened, or nothing at all if it is lost.
fn or_empty<T>(
    opened: std::result::Result<T, DrumError>,
    empty: impl FnOnce() -> std::result::Result<T, DrumError>,
) -> Result<T> {
    match opened {
        Err(error) if error.is_loss() => Ok(empty()?),
        opened => Ok(opened?),
    }
}
