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
//! Costs: reads everything once, writes it once, and the keys of `seen` twice more. Memory: that of the new frontiers, an eighth of it for
//! the owners, another for reading queues, and the benches of the old ones.

mod known;
mod owners;
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
}

/// A frontier that is divided.
struct Source {
    dir: PathBuf,
    saved: Saved,
    /// Where Beast's queues are, if there are budgets.
    places: Option<Places>,
    /// Memory for its queues.
    queues_bytes: u64,
}

impl Source {
    fn open(env: &Env, dir: &Path, checkpoint: u64, queues_bytes: u64) -> Result<Source> {
        let saved = state::read(env, dir, checkpoint)?.ok_or(FrontierError::Record)?;
        let places = saved.budgets().map(|(_, beast)| Places::decode(beast).ok_or(FrontierError::Record));
        Ok(Source { dir: dir.to_owned(), places: places.transpose()?, saved, queues_bytes })
    }
}

impl Division {
    /// Opens what there is, and makes what is to be.
    pub fn open(env: &Env, options: DivisionOptions<'_>) -> Result<Division> {
        let DivisionOptions { from, from_checkpoint, to, to_checkpoint, scratch, owner_of, frontier } =
            options;
        let memory_bytes = frontier.memory_bytes * to.len() as u64;
        let queues_bytes = memory_bytes / 8 / from.len().max(1) as u64;
        let source = |dir: &PathBuf| Source::open(env, dir, from_checkpoint, queues_bytes);
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
            owners: Owners::open(env, scratch, memory_bytes / 8, owner_of, to.len())?,
            settled: vec![Accounts::default(); to.len()],
        })
    }

    /// A URL was settled: by an answer of its server, or without one.
    pub fn settled(&mut self, url: &WebUrl, answered: bool) -> Result<()> {
        let accounts = &mut self.settled[self.owners.note(url)?];
        if answered {
            accounts.fetched += 1;
        } else {
            accounts.failed += 1;
        }
        Ok(())
    }

    /// Divides everything, and makes it durable as the checkpoint that was named: what each of the new frontiers has. All URLs that were
    /// settled must have been told.
    pub fn finish(mut self) -> Result<Vec<Counts>> {
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
        let mut counts = Vec::with_capacity(self.shares.len());
        for mut share in self.shares {
            share.save(self.checkpoint, self.now)?;
            counts.push(share.counts());
        }
        Ok(counts)
    }

    /// Each share has what is settled and what waits; what nobody can tell apart is the first one's.
    fn divide_accounts(&mut self) {
        let mut left = Accounts::default();
        self.sources.iter().for_each(|source| left.add(&source.saved.accounts));
        for (share, settled) in self.shares.iter_mut().zip(&self.settled).skip(1) {
            share.accounts = Accounts { seen: settled.settled() + share.counts().queued, ..*settled };
            left.seen = left.seen.saturating_sub(share.accounts.seen);
            left.fetched = left.fetched.saturating_sub(settled.fetched);
            left.failed = left.failed.saturating_sub(settled.failed);
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
