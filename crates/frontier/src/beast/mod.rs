//! BEAST: Budget Enforcement with Anti-Spam Tactics (IRLbot, §6.2). Lets every domain have its budget per pass, and keeps the rest
//! for later without losing any of it.
//!
//! ```text
//!          ┌── being read            ┌── new URLs: the first B of a domain, the next B, …
//! pop ◄── Q1   Q2  Q3 … Qj   ◄───────┴── push
//!                                QF  ◄── what does not fit into Qj
//!              at the end of a round: QF is read, and spread over j more queues
//! ```
//!
//! [`Star`](crate::star::Star) fills it with URLs and their domains' budgets; the ready bands empty it, by [`Beast::pop`]. While one
//! queue is read, new URLs are spread over the others. When all j were read, a *rescan* hands out QF to be budgeted again
//! ([`Beast::rescan`]), j doubles, and the new queues take what fits now. So what exceeds its budget by far is looked at ever more
//! rarely: the disk cost per page stays flat however large the crawl (theorem 5), where rescanning QF after every pass
//! ([`NaiveQueue`]) costs more and more (theorem 4).
//!
//! Queues have absolute numbers here: 1, 2, 3, … in the order of reading. Number n is at all times the same thing: that which is
//! read n-th. A few files are used in turn for them.
//!
//! # Driving it
//!
//! ```text
//! match beast.pop(1000, |record| ready.push(record))? {
//!     Popped::Some(_) | Popped::None => {}
//!     // Constant RAM: a few at a time, some judged at once, the others when Star has the answer.
//!     Popped::Rescan => {
//!         beast.rescan(1000, |domain, record| {
//!             let mut budget = None;
//!             star.push_again(domain, factor(domain), record, |known| budget = Some(known.budget))?;
//!             Ok(budget)
//!         })?;
//!         star.deliver(1000, |known| if known.again { beast.push_again(…) } else { beast.push(…) })?;
//!     }
//!     Popped::Withheld => {}
//! }
//! ```
//!
//! A rescan may be driven before pop asks for it, while the queues from before it are read. Where everything was handed out and Star still
//! has some of it, [`Star::flush`](crate::star::Star::flush) brings the answers.
//!
//! # Invariants
//!
//! - Everything that is pushed is popped once, unless its domain's budget stays 0.
//! - No queue holds more URLs of a domain than the domain's budget when the last of them was placed.
//! - URLs of a domain that never were in QF come out in the order in which they were pushed. Those that were follow in their own order,
//!   but for what is pushed during a rescan. The ones may pass the others: a domain that was over its budget may have its newest
//!   links first. This is the paper's rule.
//! - Pop moves on to the next queue only when the one that it reads is empty, and then at once: who is hungry does not wait. During a
//!   rescan it does not enter the queues that are being filled, for else whoever comes first in QF would have all of them.
//!
//! # Costs
//!
//! A push and a pop of a queue per URL, and a look at a table: some 100 ns. Per page, with L new URLs of b bytes each, at most 2b(2L − 1)
//! bytes read and written in the long run, as long as j is below its maximum. RAM: that of the queues, and `domains_max`
//! entries ([what if there are more](BeastOptions::domains_max)).
//!
//! # Where we differ from the paper
//!
//! - j doubles only if there was anything in QF. With nothing left in the queues, the round ends early.
//! - At the maximum of j a rescan fills up what the present queues have left.
//! - The paper keeps the left-over budget of each domain in each queue; one number and one count per domain do as well.

mod naive;
mod placement;
mod saved;
pub(crate) mod words;

pub(crate) use saved::Places;

use mattock_queue::{Queue, QueueError, Queues, Result};

pub use naive::NaiveQueue;
use placement::Placement;

/// Before each record in QF: its domain.
pub(crate) const DOMAIN_BYTES: usize = 8;

/// What the owner decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BeastOptions {
    /// Queues to begin with. The paper's formulas are for 1.
    pub queues_first: u64,
    /// Queues at most; fixed for the crawl. At least 2.
    pub queues_max: u64,
    /// Domains whose places are known at a time. If there are more, the nearest queues are closed early: budgets still hold, but
    /// URLs are placed later than they could be, and at worst in QF.
    pub domains_max: usize,
}

impl Default for BeastOptions {
    fn default() -> BeastOptions {
        BeastOptions { queues_first: 1, queues_max: 1024, domains_max: 1 << 18 }
    }
}

/// What came of a [pop](Beast::pop).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Popped {
    /// So many records.
    Some(u64),
    /// None before the rescan is further: call [`Beast::rescan`].
    Rescan,
    /// Nothing is here but URLs of domains whose budget is 0: nothing comes before a budget has changed, see [`Beast::retry`].
    Withheld,
    /// Nothing is here.
    None,
}

/// Counters since it was opened. Bytes are those of records, whether they reached a disk or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BeastStats {
    /// Records that were popped.
    pub popped: u64,
    /// Bytes pushed to any queue.
    pub written_bytes: u64,
    /// Bytes popped from any queue.
    pub read_bytes: u64,
    /// Rescans of QF that were finished.
    pub rescans: u64,
    /// Records that they looked at.
    pub rescanned: u64,
    /// Times a record was put into QF.
    pub over_budget: u64,
    /// Queues that were closed because too many domains were about.
    pub closings: u64,
}

/// QF on its way back into the queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rescan {
    /// Nothing of it goes into queues before this one.
    from: u64,
    /// Pop does not reach this queue before the rescan has ended.
    hold: u64,
    /// Records of QF that are still to be handed out; those behind them are the next QF.
    left: u64,
    /// Records that were handed out and have not come back.
    out: u64,
    /// Records that found a place.
    placed: u64,
}

/// The stage; see the [module's documentation](self).
#[derive(Debug)]
pub struct Beast {
    queues: Queues,
    prefix: String,
    /// By absolute number modulo their count.
    slots: Vec<Option<Queue>>,
    /// QF.
    over: Queue,
    placement: Placement,
    /// The queue that is read.
    current: u64,
    /// The last queue that may be written to.
    last: u64,
    /// The last queue of this round.
    round_last: u64,
    /// j.
    width: u64,
    width_max: u64,
    rescan: Option<Rescan>,
    /// A rescan with nothing in the queues found a place for none.
    withheld: bool,
    /// Records and their bytes in all queues but QF.
    records: u64,
    bytes: u64,
    buffer: Vec<u8>,
    stats: BeastStats,
}

impl Beast {
    /// Empty, on queues of its own whose names begin with `prefix`.
    pub fn new(queues: &Queues, prefix: &str, options: BeastOptions) -> Beast {
        let width_max = options.queues_max.max(2);
        let width = options.queues_first.clamp(1, width_max);
        Beast {
            over: queues.queue(&format!("{prefix}-over")),
            queues: queues.clone(),
            prefix: prefix.to_owned(),
            // One more than may be written to: the one that is read.
            slots: vec![None; width_max as usize + 1],
            placement: Placement::new(options.domains_max),
            current: 0,
            last: width,
            round_last: width,
            width,
            width_max,
            rescan: None,
            withheld: false,
            records: 0,
            bytes: 0,
            buffer: Vec::new(),
            stats: BeastStats::default(),
        }
    }

    /// Takes a URL's record. After an error nothing was taken.
    pub fn push(&mut self, domain: u64, budget: u32, record: &[u8]) -> Result<()> {
        self.place(domain, budget, record, 0).map(|_| ())
    }

    /// Takes back a record that a rescan has handed out, with the budget that its domain has now. After an error nothing was taken.
    pub fn push_again(&mut self, domain: u64, budget: u32, record: &[u8]) -> Result<()> {
        let from = self.rescan.map_or(0, |rescan| rescan.from);
        let placed = self.place(domain, budget, record, from)?;
        self.came_back(placed);
        Ok(())
    }

    /// A record that a rescan has handed out will not come back: somebody had a reason to refuse it.
    pub fn refused_again(&mut self) {
        self.came_back(false);
    }

    fn came_back(&mut self, placed: bool) {
        if let Some(rescan) = &mut self.rescan {
            rescan.out = rescan.out.saturating_sub(1);
            rescan.placed += u64::from(placed);
        }
        self.end_rescan_if_done();
    }

    /// Whether there was room in a queue.
    fn place(&mut self, domain: u64, budget: u32, record: &[u8], from: u64) -> Result<bool> {
        let Some(spot) = self.placement.find(domain, budget, from, self.last) else {
            self.buffer.clear();
            self.buffer.extend_from_slice(&domain.to_le_bytes());
            self.buffer.extend_from_slice(record);
            self.over.push(&self.buffer)?;
            self.stats.over_budget += 1;
            self.stats.written_bytes += self.buffer.len() as u64;
            return Ok(false);
        };
        let slot = self.slot(spot.queue);
        let Beast { slots, queues, prefix, .. } = self;
        slots[slot].get_or_insert_with(|| queues.queue(&format!("{prefix}-{slot}"))).push(record)?;
        self.placement.take(domain, spot);
        self.records += 1;
        self.bytes += record.len() as u64;
        self.stats.written_bytes += record.len() as u64;
        self.withheld = false;
        Ok(true)
    }

    fn slot(&self, queue: u64) -> usize {
        (queue % self.slots.len() as u64) as usize
    }

    /// Hands out up to `limit` records of the current queue, or of the next one that has any. A record that `sink` refuses stays.
    pub fn pop<E: From<QueueError>>(
        &mut self,
        limit: u64,
        mut sink: impl FnMut(&[u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<Popped, E> {
        while self.records > 0 {
            let popped = self.pop_current(limit, &mut sink)?;
            if popped > 0 || limit == 0 {
                return Ok(Popped::Some(popped));
            }
            if !self.advance() {
                return Ok(Popped::Rescan);
            }
        }
        if self.rescan.is_none() && !self.over.is_empty() && !self.withheld {
            // The rest of the round is empty.
            self.current = self.round_last;
            self.placement.pass(self.current);
            self.begin_rescan();
        }
        Ok(match self.rescan {
            Some(_) => Popped::Rescan,
            None if self.over.is_empty() => Popped::None,
            None => Popped::Withheld,
        })
    }

    fn pop_current<E: From<QueueError>>(
        &mut self,
        limit: u64,
        sink: &mut impl FnMut(&[u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<u64, E> {
        let Some(queue) = &self.slots[self.slot(self.current)] else { return Ok(0) };
        let (records, bytes) = (queue.len(), queue.bytes());
        if records == 0 {
            return Ok(0);
        }
        let outcome = queue.try_pop_with(limit, sink);
        let (records, bytes) = (records - queue.len(), bytes - queue.bytes());
        self.records -= records;
        self.bytes -= bytes;
        self.stats.popped += records;
        self.stats.read_bytes += bytes;
        outcome
    }

    /// Goes on to the next queue; `false` if a rescan must end first.
    fn advance(&mut self) -> bool {
        if self.current == self.round_last && self.rescan.is_none() {
            if self.over.is_empty() {
                self.round_last += self.width;
            } else {
                self.begin_rescan();
            }
        }
        if self.rescan.is_some_and(|rescan| self.current + 1 >= rescan.hold) {
            return false;
        }
        self.current += 1;
        self.placement.pass(self.current);
        self.open();
        true
    }

    /// While a queue is read, j − 1 others may be written to.
    fn open(&mut self) {
        self.last = self.last.max(self.current + self.width - 1);
    }

    /// The round is over: j doubles, and QF is to be spread over the queues that this opens.
    fn begin_rescan(&mut self) {
        self.open();
        let doubled = (self.width * 2).min(self.width_max);
        let hold = self.last + 1;
        let from = if doubled > self.width { hold } else { 0 };
        self.width = doubled;
        self.round_last = self.current + doubled;
        self.open();
        self.rescan = Some(Rescan { from, hold, left: self.over.len(), out: 0, placed: 0 });
    }

    /// Looks at QF again if only URLs of domains without budget are here: for when budgets may have changed.
    pub fn retry(&mut self) {
        self.withheld = false;
    }

    /// Whether a rescan is under way.
    pub fn is_rescanning(&self) -> bool {
        self.rescan.is_some()
    }

    /// Hands out up to `limit` records of QF, each with its domain, to be budgeted again; how many there were. What `judge` gives a budget
    /// is placed at once; for the others [`push_again`](Beast::push_again) must be called later, in any order. A record for which it
    /// fails stays.
    pub fn rescan<E: From<QueueError>>(
        &mut self,
        limit: u64,
        mut judge: impl FnMut(u64, &[u8]) -> std::result::Result<Option<u32>, E>,
    ) -> std::result::Result<u64, E> {
        let Some(before) = self.rescan else { return Ok(0) };
        let over = self.over.clone();
        let outcome = over.try_pop_with(limit.min(before.left), |bytes| {
            let Some((domain, record)) = bytes.split_first_chunk::<DOMAIN_BYTES>() else { return Ok(()) };
            let domain = u64::from_le_bytes(*domain);
            let budget = judge(domain, record)?;
            let placed = match budget {
                Some(budget) => self.place(domain, budget, record, before.from)?,
                None => false,
            };
            self.stats.read_bytes += bytes.len() as u64;
            self.stats.rescanned += 1;
            if let Some(rescan) = &mut self.rescan {
                rescan.left -= 1;
                rescan.out += u64::from(budget.is_none());
                rescan.placed += u64::from(placed);
            }
            Ok(())
        });
        self.end_rescan_if_done();
        outcome
    }

    fn end_rescan_if_done(&mut self) {
        let Some(Rescan { left: 0, out: 0, placed, .. }) = self.rescan else { return };
        self.rescan = None;
        self.stats.rescans += 1;
        self.withheld = placed == 0 && self.records == 0;
    }

    /// Records that are here; those that a rescan has handed out are not.
    pub fn len(&self) -> u64 {
        self.records + self.over.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Records over budget: those in QF.
    pub fn over_budget(&self) -> u64 {
        self.over.len()
    }

    /// Bytes of all records that are here.
    pub fn bytes(&self) -> u64 {
        self.bytes + self.over.bytes()
    }

    /// The number of the queue that is read: 0 before the first.
    pub fn current(&self) -> u64 {
        self.current
    }

    /// How many queues there are now: j.
    pub fn width(&self) -> u64 {
        self.width
    }

    /// Domains whose places are known.
    pub fn domains(&self) -> usize {
        self.placement.len()
    }

    /// Counters.
    pub fn stats(&self) -> BeastStats {
        BeastStats { closings: self.placement.closings, ..self.stats }
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod theorems;
