//! The frontiers of a crawl divided among another number of partitions.
//!
//! ```text
//!  ledgers ──► settled ─┐
//!  N frontiers at a     ├─► owners: fingerprint → partition ─┬─► seen, robots, novelty ─┐
//!  checkpoint ─► what waits, by its domain ──────────────────┴─► bench, queues, budgets ┴─► M frontiers, saved
//! ```
//!
//! Driven once, by who opens a crawl with another number of partitions than its checkpoint has, and before anything runs:
//! [`Division::settled`] for every URL of the ledgers, then [`Division::finish`]. The old frontiers are read and not changed: until the
//! caller commits a checkpoint that names the new ones, the old one counts, and what was written here is litter.
//!
//! What waits has its URL with it, and so its domain and its partition. Of what is settled `seen` has only fingerprints; whose they are
//! the ledgers' URLs say, and a key of which nobody has the text (robots.txt or the blocklist refused it) goes to all partitions:
//! links to it come to one of them only, and there it is known.
//!
//! What is no domain's goes to all: the digests of contents, and what was learnt of queries. What counts and cannot be told apart (URLs that
//! were refused) stands in the accounts of the first partition, so that the accounts of each add up, and all together to what they were.
//!
//! Invariants: a URL that waits, waits in exactly one of the new frontiers, those of a host in the order they had; what was under way
//! counts as not made; hosts are left alone for as long as before.
//!
//! With [`salvage`](DivisionOptions::salvage) the same makes frontiers anew whose files are damaged: what cannot be read is left out. Every
//! URL whose text is there goes into `seen` again, so that a block of lost keys has nothing fetched twice. If URLs that waited are
//! lost, their keys are forgotten, and with them those that were refused: a link to one of them finds it again.
//!
//! Costs: reads everything once (salvaging, runs twice), writes it once, and the keys of `seen` twice more. Memory: that of the new frontiers, an eighth of it for
//! the owners, and the benches of the old ones.

mod known;
mod owners;
mod salvage;
mod waiting;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mattock_env::{Env, Time};
use mattock_weburl::WebUrl;

pub use owners::OwnerOf;

use crate::beast::Places;
use crate::error::{FrontierError, Result};
use crate::state::{self, Saved};
use crate::{Accounts, Counts, Frontier, FrontierOptions, Servers};
use owners::Owners;
use salvage::Salvage;

/// What is to be divided, and how.
pub struct DivisionOptions<'a> {
    /// The directories of the frontiers that there are.
    pub from: &'a [PathBuf],
    /// The checkpoint that is divided.
    pub from_checkpoint: u64,
    /// The directories of those that are to be; nothing is there yet.
    pub to: &'a [PathBuf],
    /// The checkpoint that they are saved as.
    pub to_checkpoint: u64,
    /// A directory for what is needed meanwhile; the caller removes it.
    pub scratch: &'a Path,
    /// Whose a domain is.
    pub owner_of: OwnerOf,
    /// What each of the new frontiers is made with.
    pub frontier: FrontierOptions,
    /// Whether what cannot be read is left out, rather than an error.
    pub salvage: bool,
}

/// What came of a division.
#[derive(Clone, Debug, Default)]
pub struct Divided {
    /// What each of the new frontiers has.
    pub counts: Vec<Counts>,
    /// URLs that waited and could not be read.
    pub lost: u64,
    /// Whether links are lost of which it was not known yet whether they are new.
    pub lost_links: bool,
    /// Whether keys were forgotten, so that other links find what is lost again.
    pub forgotten: bool,
    /// Changes that no merge had applied and that could not be read, of each repository that lost any; `None` if nobody knows how many.
    pub lost_changes: Vec<(String, Option<u64>)>,
}

/// A division that is under way; see the [module's documentation](self).
pub struct Division {
    env: Env,
    now: Time,
    checkpoint: u64,
    sources: Vec<Source>,
    shares: Vec<Frontier>,
    owners: Owners,
    /// What the ledgers have of each share.
    settled: Vec<Accounts>,
    salvage: Option<Salvage>,
}

/// A frontier that is divided.
struct Source {
    dir: PathBuf,
    saved: Saved,
    /// Where Beast's queues are, if there are budgets.
    places: Option<Places>,
}

impl Source {
    fn open(env: &Env, dir: &Path, checkpoint: u64) -> Result<Source> {
        let saved = state::read(env, dir, checkpoint)?.ok_or(FrontierError::Record)?;
        let places = saved.budgets().map(|(_, beast)| Places::decode(beast).ok_or(FrontierError::Record));
        Ok(Source { dir: dir.to_owned(), places: places.transpose()?, saved })
    }
}

impl Division {
    /// Opens what there is, and makes what is to be.
    pub fn open(env: &Env, options: DivisionOptions<'_>) -> Result<Division> {
        let DivisionOptions {
            from,
            from_checkpoint,
            to,
            to_checkpoint,
            scratch,
            owner_of,
            frontier,
            salvage,
        } = options;
        let memory_bytes = frontier.memory_bytes * to.len() as u64;
        let source = |dir: &PathBuf| Source::open(env, dir, from_checkpoint);
        let sources = from.iter().map(source).collect::<Result<Vec<_>>>()?;
        let servers = Arc::new(Servers::new(Duration::ZERO));
        let frontier = FrontierOptions { checkpoint: 0, restarted: false, ..frontier };
        let share = |dir: &PathBuf| Frontier::open(env, dir, frontier.clone(), servers.clone());
        Ok(Division {
            env: env.clone(),
            now: env.clock.now(),
            checkpoint: to_checkpoint,
            sources,
            shares: to.iter().map(share).collect::<Result<Vec<_>>>()?,
            owners: Owners::open(env, scratch, memory_bytes / 8, owner_of, (to.len(), salvage))?,
            settled: vec![Accounts::default(); to.len()],
            salvage: salvage.then(|| Salvage::new(to.len())),
        })
    }

    /// A URL was settled: by an answer of its server, or without one.
    pub fn settled(&mut self, url: &WebUrl, answered: bool) -> Result<()> {
        let owner = self.note_known(url)?;
        let accounts = &mut self.settled[owner];
        if answered {
            accounts.fetched += 1;
        } else {
            accounts.failed += 1;
        }
        Ok(())
    }

    /// Of some URLs that were settled nobody knows which they are: no key may be forgotten.
    pub fn some_are_unknown(&mut self) {
        if let Some(salvage) = &mut self.salvage {
            salvage.some_are_unknown = true;
        }
    }

    /// Divides everything, and makes it durable as the checkpoint that was named. All URLs that were settled must have been told.
    pub fn finish(mut self) -> Result<Divided> {
        self.divide_budgets()?;
        self.divide_bench()?;
        self.divide_queues()?;
        self.note_arriving()?;
        self.divide_content()?;
        self.divide_learnt()?;
        self.push_budgeting()?;
        self.divide_accounts();
        self.divide_seen()?;
        self.push_arriving()?;
        self.divide_robots()?;
        let salvaged =
            self.salvage.as_ref().map(|salvage| (salvage.lost, salvage.lost_links, salvage.forgets()));
        let (lost, lost_links, forgotten) = salvaged.unwrap_or_default();
        let lost_changes = self.salvage.as_ref().map(Salvage::lost_changes).unwrap_or_default();
        let mut counts = Vec::with_capacity(self.shares.len());
        for mut share in self.shares {
            share.save(self.checkpoint, self.now)?;
            counts.push(share.counts());
        }
        Ok(Divided { counts, lost, lost_links, forgotten, lost_changes })
    }

    /// Each share has what is settled and what waits; what nobody can tell apart is the first one's.
    fn divide_accounts(&mut self) {
        self.count_lost();
        let mut left = Accounts::default();
        self.sources.iter().for_each(|source| left.add(&source.saved.accounts));
        for (share, settled) in self.shares.iter_mut().zip(&self.settled).skip(1) {
            share.accounts = Accounts { seen: settled.settled() + share.counts().queued, ..*settled };
            left.seen = left.seen.saturating_sub(share.accounts.seen);
            left.fetched = left.fetched.saturating_sub(settled.fetched);
            left.failed = left.failed.saturating_sub(settled.failed);
        }
        if self.salvage.is_some() {
            left.refused = if self.forgets() { 0 } else { left.refused };
            left.seen = left.settled() + self.shares[0].counts().queued;
        }
        self.shares[0].accounts = left;
    }
}

/// Calls what may fail from where nothing may; the first error is kept.
fn keep_error<T>(kept: &mut Result<()>, item: T, mut call: impl FnMut(T) -> Result<()>) {
    if kept.is_ok() {
        *kept = call(item);
    }
}
