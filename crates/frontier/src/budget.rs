//! Budgets: what a domain may have per pass, by its reputation ([`Star`]), kept without losing anything ([`Beast`]).
//!
//! Filled by `seen`, emptied into the ready bands whenever they run low. With [`BudgetPolicy::Unlimited`] there is no such stage:
//! new URLs go to their band at once.
//!
//! What belongs to domains that are not proven waits in Beast's QF, even while nobody else is ready: those who are may only be waiting
//! for their delays. When QF is looked at, one page of them goes along for every [`PROBATION_SHARE`] visits. All of them go once nobody
//! else has any left ([`Budget::release`]), so nothing is lost.

use std::collections::VecDeque;
use std::path::Path;

use mattock_drum::{Options, Sources};
use mattock_env::Env;
use mattock_queue::Queues;

use crate::beast::{Beast, BeastOptions, Popped};
use crate::error::{FrontierError, Result};
use crate::record;
use crate::star::{BudgetPolicy, Budgeted, Star};

/// Records moved at once.
const BATCH: usize = 256;
pub(crate) const PREFIX: &str = "beast";
/// The directory of in-degrees.
pub(crate) const DEGREES: &str = "degrees";
/// One in so many visits is to a domain that is not proven: enough to find those that are worth it, too little for a farm.
const PROBATION_SHARE: u64 = 64;

pub(crate) struct Budget {
    star: Star,
    beast: Beast,
    /// What Star has answered and Beast has not taken yet: domain, budget, whether it comes from a rescan, record.
    answered: VecDeque<(u64, u32, bool, Vec<u8>)>,
    buffer: Vec<u8>,
    /// Edges known when nothing but what has no budget was left.
    withheld_at: Option<u64>,
    probation: Probation,
}

/// Who of those goes along that are not proven.
#[derive(Debug, Default)]
struct Probation {
    /// Visits that are not made up for.
    owed: u64,
    /// Nobody else has any left.
    release: bool,
}

impl Probation {
    /// The budget of a URL that was just found, or is looked at again.
    fn grant(&mut self, known: &Budgeted<'_>) -> u32 {
        if known.is_proven {
            return known.budget;
        }
        if known.again && self.release {
            return known.budget.max(1);
        }
        if known.again && self.owed >= PROBATION_SHARE {
            self.owed -= PROBATION_SHARE;
            return known.budget;
        }
        0
    }
}

/// What came of asking for more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Supply {
    /// Some came.
    Some,
    /// None yet: it is being budgeted.
    Coming,
    /// Nothing is here, or nothing that has a budget.
    None,
}

impl Budget {
    /// The stage as it was saved, or empty; `None` if there are no budgets.
    pub(crate) fn open(
        env: &Env,
        dir: &Path,
        queues: &Queues,
        policy: &BudgetPolicy,
        memory_bytes: u64,
        saved: Option<(&[u8], &[u8])>,
    ) -> Result<Option<Budget>> {
        if *policy == BudgetPolicy::Unlimited && saved.is_none() {
            return Ok(None);
        }
        let (star, beast) = saved.unzip();
        let star = Star::open(env, &dir.join(DEGREES), policy.clone(), Options::new(memory_bytes), star)?
            .ok_or(FrontierError::Record)?;
        let options = BeastOptions::default();
        let beast = match beast {
            Some(state) => Beast::restore(queues, PREFIX, options, state).ok_or(FrontierError::Record)?,
            None => Beast::new(queues, PREFIX, options),
        };
        let (answered, buffer) = (VecDeque::new(), Vec::new());
        let probation = Probation::default();
        Ok(Some(Budget { star, beast, answered, buffer, withheld_at: None, probation }))
    }

    /// The in-degree of a domain as it was answered last, if that is remembered.
    pub(crate) fn last_in_degree(&self, domain: u64) -> Option<u64> {
        self.star.last_in_degree(domain)
    }

    /// Links between domains: pairs of target and source.
    pub(crate) fn link(&mut self, edges: impl IntoIterator<Item = (u64, u64)>) -> Result<()> {
        Ok(self.star.link(edges)?)
    }

    /// Takes a new URL; `factor` is the share of its budget that its domain deserves.
    pub(crate) fn push(&mut self, domain: u64, factor: f32, record: &[u8]) -> Result<()> {
        let Budget { star, answered, probation, .. } = self;
        star.push(domain, factor, record, |known| {
            answered.push_back((domain, probation.grant(&known), false, record.to_vec()));
        })?;
        self.place()
    }

    /// Moves what Star has answered to Beast.
    fn place(&mut self) -> Result<()> {
        while let Some((domain, budget, again, record)) = self.answered.front() {
            self.buffer.clear();
            record::with_budget(record, *budget, &mut self.buffer).ok_or(FrontierError::Record)?;
            if *again {
                self.beast.push_again(*domain, *budget, &self.buffer)?;
            } else {
                self.beast.push(*domain, *budget, &self.buffer)?;
            }
            self.answered.pop_front();
        }
        Ok(())
    }

    fn take_answers(&mut self) -> Result<usize> {
        let Budget { star, answered, probation, .. } = self;
        let count = star.deliver(BATCH, |known| {
            answered.push_back((known.domain, probation.grant(&known), known.again, known.record.to_vec()));
        })?;
        self.place()?;
        Ok(count)
    }

    /// Hands out some of what is within its budget; `factor` is the share of it that a domain deserves.
    pub(crate) fn pop(
        &mut self,
        factor: impl Fn(u64) -> f32,
        sink: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<Supply> {
        while self.take_answers()? == BATCH {}
        match self.beast.pop(BATCH as u64, sink)? {
            Popped::Some(_) => {
                self.probation.release = false;
                return Ok(Supply::Some);
            }
            Popped::None if self.star.is_empty() => return Ok(Supply::None),
            Popped::None => {}
            Popped::Withheld => {
                // More links may have given somebody a budget: not before degrees are asked for again.
                let edges = self.star.stats().edges;
                let asked = self.withheld_at.is_some_and(|then| edges - then <= then / 16);
                let released = std::mem::take(&mut self.probation.release);
                if self.star.is_empty() && (asked || released) {
                    return Ok(Supply::None);
                }
                self.withheld_at = Some(edges);
                self.beast.retry();
            }
            Popped::Rescan => {
                let (star, probation) = (&mut self.star, &mut self.probation);
                self.beast.rescan(BATCH as u64, |domain, record| {
                    let mut budget = None;
                    star.push_again(domain, factor(domain), record, |known| {
                        budget = Some(probation.grant(&known));
                    })?;
                    Ok::<_, FrontierError>(budget)
                })?;
            }
        }
        if self.take_answers()? == 0 && !self.star.is_empty() {
            self.star.flush()?;
        }
        Ok(Supply::Coming)
    }

    /// A page is being visited.
    pub(crate) fn visited(&mut self) {
        self.probation.owed += 1;
    }

    /// Nothing else is left: lets those through that are not proven, and has another look at those that have no budget if there are
    /// new links; whether anything can come of it.
    pub(crate) fn release(&mut self) -> bool {
        let edges = self.star.stats().edges;
        let changed = self.star.policy().has_probation() || self.withheld_at != Some(edges);
        if self.len() == 0 || !changed {
            return false;
        }
        self.probation.release = true;
        self.withheld_at = Some(edges);
        self.beast.retry();
        true
    }

    /// Begins with as many queues as those that it takes over from had, and takes over what they knew of these domains; `None` if that
    /// cannot be read. `parts`: one of how many it is.
    pub(crate) fn adopt_saved(
        &mut self,
        (star, width): (&[u8], u64),
        parts: u64,
        wanted: impl Fn(u64) -> bool,
    ) -> Option<()> {
        self.beast.widen(width);
        self.star.adopt_saved(star, parts, wanted)
    }

    /// Takes over who links to a domain.
    pub(crate) fn adopt_degree(&mut self, domain: u64, sources: Sources) -> Result<()> {
        Ok(self.star.adopt(domain, sources)?)
    }

    /// Takes over a URL that waited for the turn of its domain's budget, or with 0 over it.
    pub(crate) fn adopt(&mut self, domain: u64, budget: u32, record: &[u8]) -> Result<()> {
        Ok(self.beast.push(domain, budget, record)?)
    }

    /// URLs that wait here.
    pub(crate) fn len(&self) -> u64 {
        self.star.len() + self.beast.len() + self.answered.len() as u64
    }

    /// Begins to make the degrees durable, and says the rest of its state: Star's and Beast's.
    pub(crate) fn begin_save(&mut self) -> Result<(Vec<u8>, Vec<u8>)> {
        self.place()?;
        self.star.begin_checkpoint()?;
        let (mut star, mut beast) = (Vec::new(), Vec::new());
        self.star.encode(&mut star);
        self.beast.encode(&mut beast);
        Ok((star, beast))
    }

    /// How the save ended: once, and `None` while it is being written.
    pub(crate) fn finished_save(&mut self) -> Option<Result<()>> {
        self.star.finished_checkpoint().map(|outcome| Ok(outcome.map(|_| ())?))
    }

    /// Waits until it can be told.
    pub(crate) fn wait_for_save(&mut self) {
        self.star.wait_for_checkpoint();
    }

    /// A restart goes back to the last save that has ended.
    pub(crate) fn committed(&mut self) {
        self.star.keep_newest_checkpoint();
    }
}
