//! STAR: Spam Tracking and Avoidance through Reputation (IRLbot, §5.2). Gives every URL its domain's budget.
//!
//! A domain's reputation is its *in-degree*: how many other domains link to it. Domains cost money, so it is hard to fake. Links
//! between domains are the updates of a [`DomainInDegree`] repository, URLs that passed `seen` are its checks, and the
//! [policy](BudgetPolicy) turns the answer into a budget. [`Beast`](crate::beast::Beast) then keeps it.
//!
//! ```text
//! edges ──► edges of late (RAM) ──► DomainInDegree ◄── URLs whose domain is not known of late
//!                                        │ answers
//!                                        ▼
//!              degrees of late, ranks (RAM) ──► budget = policy(in-degree, ranks) × factor ──► Beast
//! ```
//!
//! Filled with the edges of pages, with URLs after `seen`, and with those that Beast looks at again. Emptied by whoever takes
//! the answers: at once where the degree is known, otherwise from [`Star::deliver`], and either way to Beast.
//!
//! # Invariants
//!
//! - Everything that is pushed comes out once. The URLs of a domain come out in the order in which they were pushed; those of
//!   different domains may pass each other.
//! - An edge counts once, however often it is submitted; a domain's edges to itself do not count.
//! - A degree is that of the edges submitted before, or up to a sixteenth older; ranks are recounted when an
//!   eighth of them may have changed. Budgets are no exact science.
//!
//! # Costs
//!
//! With a policy that needs no degrees, nothing: there is no repository. Otherwise 20 ns for a URL or an edge that RAM knows, below a
//! microsecond for one that the repository has in RAM, and its disk cost beyond. RAM: what the repository is given, 40 bytes
//! per rank, and 1.3 MB.
//!
//! # Where we differ from the paper
//!
//! - Degrees above 128 are estimated (the repository says how); the paper keeps every neighbour.
//! - Of domains that hardly anybody links to we say that they are not proven, and the stage `budget` lets them wait.
//! - The paper asks the repository for every URL. We ask anew only when the answer may be another.

mod adopt;
mod memory;
mod policy;
mod ranks;
mod standing;

use std::path::Path;

use mattock_drum::{Batch, Checkpoint, DomainInDegree, DrumError, InDegree, Options, Result, Sources};
use mattock_env::Env;

pub use policy::{BudgetPolicy, UNLIMITED};
pub use standing::Standing;
pub(crate) use standing::Standings;

use crate::beast::words::{Words, put};
use memory::{Edges, Known};
use ranks::Ranks;

/// Operations that are handed to the repository together.
const BATCH_MAX: usize = 1024;
/// Edges that are remembered.
const EDGES_KNOWN: usize = 1 << 16;
/// Degrees that are remembered.
const DEGREES_KNOWN: usize = 1 << 14;
/// Of one record, before the header.
const RECORD_BYTES_MAX: usize = 32 << 10;
/// Flags, factor, domain.
pub(crate) const HEADER_BYTES: usize = 10;
const VERSION: u64 = 1;
const NOBODY: InDegree = InDegree { count: 0, exact: true };

/// A URL and what its domain may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budgeted<'a> {
    /// The URL's domain.
    pub domain: u64,
    /// As it was pushed.
    pub record: &'a [u8],
    /// How many domains link to its domain; 0 where the policy does not ask.
    pub in_degree: InDegree,
    /// Pages of the domain per pass; [`UNLIMITED`] if there is no limit.
    pub budget: u32,
    /// Whether enough is known of the domain to give it its budget now.
    pub is_proven: bool,
    /// Whether it comes from Beast's rescan, by [`Star::push_again`].
    pub again: bool,
}

/// Counters since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StarStats {
    /// Edges that went to the repository.
    pub edges: u64,
    /// Edges that were known to be counted.
    pub edges_repeated: u64,
    /// URLs that were pushed.
    pub pushed: u64,
    /// Of these, how many had to ask the repository.
    pub asked: u64,
}

/// The stage; see the [module's documentation](self).
pub struct Star {
    policy: BudgetPolicy,
    degrees: Option<Degrees>,
    stats: StarStats,
}

/// What there is only if the policy asks for degrees.
struct Degrees {
    repository: DomainInDegree,
    batch: Batch<Sources>,
    aux: Vec<u8>,
    ranks: Ranks,
    edges: Edges,
    known: Known,
    /// Edges that were counted, over all times it was opened.
    edge_count: u64,
    /// The last question's number, and the last answer's.
    asked: u64,
    answered: u64,
    /// The repository's checkpoint that belongs to the state as it is encoded.
    checkpoint: u64,
}

impl Star {
    /// Opens the stage with its repository in `dir`: as [saved](Star::encode), or empty. `None` if what was saved cannot be read.
    pub fn open(
        env: &Env,
        dir: &Path,
        policy: BudgetPolicy,
        options: Options,
        saved: Option<&[u8]>,
    ) -> Result<Option<Star>> {
        let saved = match saved.map(|bytes| Saved::decode(bytes, policy.top())) {
            None => Saved::empty(policy.top()),
            Some(Some(saved)) => saved,
            Some(None) => return Ok(None),
        };
        let stats = StarStats::default();
        // Under another policy than before there may still be URLs that wait for an answer.
        if !policy.uses_degrees() && saved.waiting == 0 {
            return Ok(Some(Star { policy, degrees: None, stats }));
        }
        let degrees = Degrees {
            repository: DomainInDegree::open_at(env, dir, options, Some(saved.checkpoint))?,
            batch: Batch::new(),
            aux: Vec::new(),
            ranks: saved.ranks,
            edges: Edges::new(EDGES_KNOWN),
            known: Known::new(DEGREES_KNOWN),
            edge_count: saved.edge_count,
            asked: saved.waiting,
            answered: 0,
            checkpoint: saved.checkpoint,
        };
        Ok(Some(Star { policy, degrees: Some(degrees), stats }))
    }

    /// The policy in force.
    pub fn policy(&self) -> &BudgetPolicy {
        &self.policy
    }

    /// Takes edges between domains: pairs of target and source. After an error those before it were taken, and all may be
    /// given again.
    pub fn link(&mut self, edges: impl IntoIterator<Item = (u64, u64)>) -> Result<()> {
        if !self.policy.uses_degrees() {
            return Ok(());
        }
        let Some(degrees) = &mut self.degrees else { return Ok(()) };
        for (target, source) in edges {
            if target == source {
                continue;
            }
            if degrees.batch.len() >= BATCH_MAX {
                degrees.submit()?;
            }
            if degrees.edges.is_new(target, source) {
                degrees.batch.update(target, Sources::one(source));
                degrees.edge_count += 1;
                self.stats.edges += 1;
            } else {
                self.stats.edges_repeated += 1;
            }
        }
        Ok(())
    }

    /// The in-degree of a domain as it was answered last, if that is remembered.
    pub fn last_in_degree(&self, domain: u64) -> Option<u64> {
        Some(self.degrees.as_ref()?.known.last(domain)?.count)
    }

    /// Takes a URL. If its domain's degree is known, `sink` gets it at once; otherwise it comes from [`deliver`](Star::deliver).
    /// `factor`, from 0 to 1, is the share of its budget that the domain deserves. After an error nothing was taken.
    pub fn push(
        &mut self,
        domain: u64,
        factor: f32,
        record: &[u8],
        sink: impl FnOnce(Budgeted<'_>),
    ) -> Result<()> {
        self.take(domain, factor, record, false, sink)
    }

    /// The same for a URL that Beast looks at again.
    pub fn push_again(
        &mut self,
        domain: u64,
        factor: f32,
        record: &[u8],
        sink: impl FnOnce(Budgeted<'_>),
    ) -> Result<()> {
        self.take(domain, factor, record, true, sink)
    }

    fn take(
        &mut self,
        domain: u64,
        factor: f32,
        record: &[u8],
        again: bool,
        sink: impl FnOnce(Budgeted<'_>),
    ) -> Result<()> {
        let factor = (factor.clamp(0.0, 1.0) * 255.0).round() as u8;
        self.stats.pushed += 1;
        let uses_degrees = self.policy.uses_degrees();
        let Some(degrees) = self.degrees.as_mut().filter(|_| uses_degrees) else {
            let budget = policy::scaled(self.policy.budget(0, &Ranks::new(1)), factor);
            sink(Budgeted { domain, record, in_degree: NOBODY, budget, is_proven: true, again });
            return Ok(());
        };
        if let Some(in_degree) = degrees.known.get(domain, degrees.edge_count) {
            let budget = policy::scaled(self.policy.budget(in_degree.count, &degrees.ranks), factor);
            let is_proven = self.policy.is_proven(in_degree.count, &degrees.ranks);
            sink(Budgeted { domain, record, in_degree, budget, is_proven, again });
            return Ok(());
        }
        degrees.ask(domain, factor, record, again)?;
        self.stats.asked += 1;
        Ok(())
    }

    /// Hands out up to `limit` URLs that had to wait for an answer; how many there were. Fewer than `limit` means that the next answer
    /// is not known yet: a hungry caller then calls [`flush`](Star::flush).
    pub fn deliver(&mut self, limit: usize, mut sink: impl FnMut(Budgeted<'_>)) -> Result<usize> {
        let Some(degrees) = &mut self.degrees else { return Ok(0) };
        degrees.submit()?;
        let Degrees { repository, ranks, known, answered, .. } = degrees;
        let policy = &self.policy;
        repository.answers(limit, |aux, in_degree| {
            *answered += 1;
            let Some((header, record)) = aux.split_first_chunk::<HEADER_BYTES>() else { return };
            let domain = u64::from_le_bytes(*header.last_chunk().expect("a header ends in eight bytes"));
            ranks.note(domain, in_degree.count);
            known.answer(domain, *answered, in_degree);
            let budget = policy::scaled(policy.budget(in_degree.count, ranks), header[1]);
            let is_proven = policy.is_proven(in_degree.count, ranks);
            sink(Budgeted { domain, record, in_degree, budget, is_proven, again: header[0] == 1 });
        })
    }

    /// Has everything that was pushed answered soon.
    pub fn flush(&mut self) -> Result<()> {
        let Some(degrees) = &mut self.degrees else { return Ok(()) };
        degrees.submit()?;
        degrees.repository.flush()
    }

    /// Has everything that was pushed answered, and waits for that.
    pub fn settle(&mut self) -> Result<()> {
        self.flush()?;
        match &mut self.degrees {
            Some(degrees) => degrees.repository.wait_for_merges(),
            None => Ok(()),
        }
    }

    /// URLs that wait for an answer.
    pub fn len(&self) -> u64 {
        self.degrees.as_ref().map_or(0, |degrees| degrees.asked - degrees.answered)
    }

    /// Whether none does.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Counters.
    pub fn stats(&self) -> StarStats {
        self.stats
    }

    /// The repository, for its counters and its troubles; `None` if the policy needs none.
    pub fn repository(&self) -> Option<&DomainInDegree> {
        self.degrees.as_ref().map(|degrees| &degrees.repository)
    }

    /// Waits until [`finished_checkpoint`](Star::finished_checkpoint) can tell.
    pub fn wait_for_checkpoint(&mut self) {
        self.degrees.iter_mut().for_each(|degrees| degrees.repository.wait_for_checkpoint());
    }

    /// Earlier checkpoints than the last one will not be opened again.
    pub fn keep_newest_checkpoint(&mut self) {
        if let Some(degrees) = &mut self.degrees {
            degrees.repository.keep_from(degrees.checkpoint);
        }
    }

    /// Makes the repository durable. [`encode`](Star::encode) right after this says the rest.
    pub fn checkpoint(&mut self) -> Result<()> {
        let Some(degrees) = &mut self.degrees else { return Ok(()) };
        degrees.submit()?;
        degrees.checkpoint = degrees.repository.checkpoint()?.number;
        Ok(())
    }

    /// Begins to make the repository durable as it is now. [`encode`](Star::encode) right after this says the rest.
    pub fn begin_checkpoint(&mut self) -> Result<()> {
        let Some(degrees) = &mut self.degrees else { return Ok(()) };
        degrees.submit()?;
        degrees.checkpoint = degrees.repository.begin_checkpoint()?;
        Ok(())
    }

    /// How the checkpoint ended: once, and `None` while it is being written. At once where there is nothing to write.
    pub fn finished_checkpoint(&mut self) -> Option<Result<Option<Checkpoint>>> {
        match &mut self.degrees {
            None => Some(Ok(None)),
            Some(degrees) => degrees.repository.finished_checkpoint().map(|outcome| outcome.map(Some)),
        }
    }

    /// Says what belongs to the checkpoint begun last, but is not in the repository: its number, what waits, the ranks.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put(out, VERSION);
        match &self.degrees {
            None => {
                [0, 0, 0].into_iter().for_each(|word| put(out, word));
                Ranks::new(1).encode(out);
            }
            Some(degrees) => {
                debug_assert!(degrees.batch.is_empty(), "encode comes right after begin_checkpoint");
                put(out, degrees.checkpoint);
                put(out, degrees.edge_count);
                put(out, degrees.asked - degrees.answered);
                degrees.ranks.encode(out);
            }
        }
    }
}

impl Degrees {
    fn ask(&mut self, domain: u64, factor: u8, record: &[u8], again: bool) -> Result<()> {
        if record.len() > RECORD_BYTES_MAX {
            return Err(DrumError::TooLarge { bytes: record.len(), limit: RECORD_BYTES_MAX });
        }
        if self.batch.len() >= BATCH_MAX {
            self.submit()?;
        }
        self.aux.clear();
        self.aux.extend_from_slice(&[u8::from(again), factor]);
        self.aux.extend_from_slice(&domain.to_le_bytes());
        self.aux.extend_from_slice(record);
        self.batch.check(domain, &self.aux);
        self.asked += 1;
        self.known.ask(domain, self.asked, self.edge_count);
        Ok(())
    }

    fn submit(&mut self) -> Result<()> {
        if !self.batch.is_empty() {
            self.repository.submit(&self.batch)?;
            self.batch.clear();
        }
        Ok(())
    }
}

/// The repository's checkpoint and the number of URLs that wait, of what [`Star::encode`] wrote; `None` if it cannot be read.
pub(crate) fn checkpoint_and_waiting(state: &[u8]) -> Option<(u64, u64)> {
    let saved = Saved::decode(state, 1)?;
    Some((saved.checkpoint, saved.waiting))
}

/// All of it but the number of the checkpoint: what says the same at two of them.
pub(crate) fn after_checkpoint(state: &[u8]) -> &[u8] {
    state.get(2 * size_of::<u64>()..).unwrap_or_default()
}

/// What [`Star::encode`] wrote.
struct Saved {
    checkpoint: u64,
    edge_count: u64,
    waiting: u64,
    ranks: Ranks,
}

impl Saved {
    fn empty(top: usize) -> Saved {
        Saved { checkpoint: 0, edge_count: 0, waiting: 0, ranks: Ranks::new(top) }
    }

    fn decode(bytes: &[u8], top: usize) -> Option<Saved> {
        let mut words = Words::new(bytes);
        (words.next()? == VERSION).then_some(())?;
        let (checkpoint, edge_count, waiting) = (words.next()?, words.next()?, words.next()?);
        let ranks = Ranks::decode(&mut words, top)?;
        words.is_empty().then_some(Saved { checkpoint, edge_count, waiting, ranks })
    }
}

#[cfg(test)]
mod tests;
