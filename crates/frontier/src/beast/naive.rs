//! The two queues that BEAST replaced (IRLbot, §6.2): Q with what passed the budget, QF with what failed. After Q is empty, QF is read in
//! its entirety and split again.
//!
//! Here to be measured against: its disk cost per page grows with the crawl (theorem 4). Everything is as in [`Beast`](super::Beast)
//! otherwise, except that the table of domains has no bound.

use mattock_queue::{Queue, Queues, Result};

use super::words::Map;
use super::{BeastStats, DOMAIN_BYTES};

/// Two queues, and a full pass over the second whenever the first is empty.
#[derive(Debug)]
pub struct NaiveQueue {
    within: Queue,
    over: Queue,
    /// What each domain had in this pass.
    used: Map<u32>,
    buffer: Vec<u8>,
    stats: BeastStats,
}

impl NaiveQueue {
    /// Empty, on two queues whose names begin with `prefix`.
    pub fn new(queues: &Queues, prefix: &str) -> NaiveQueue {
        NaiveQueue {
            within: queues.queue(&format!("{prefix}-within")),
            over: queues.queue(&format!("{prefix}-over")),
            used: Map::default(),
            buffer: Vec::new(),
            stats: BeastStats::default(),
        }
    }

    /// Takes a URL's record.
    pub fn push(&mut self, domain: u64, budget: u32, record: &[u8]) -> Result<()> {
        // With its domain in both, so that it can go from one to the other and back as it is.
        self.buffer.clear();
        self.buffer.extend_from_slice(&domain.to_le_bytes());
        self.buffer.extend_from_slice(record);
        let bytes = std::mem::take(&mut self.buffer);
        let outcome = self.place(domain, budget, &bytes);
        self.buffer = bytes;
        outcome
    }

    fn place(&mut self, domain: u64, budget: u32, bytes: &[u8]) -> Result<()> {
        let used = self.used.entry(domain).or_insert(0);
        if *used < budget {
            self.within.push(bytes)?;
            *used += 1;
        } else {
            self.over.push(bytes)?;
            self.stats.over_budget += 1;
        }
        self.stats.written_bytes += bytes.len() as u64;
        Ok(())
    }

    /// Hands out up to `limit` records; how many there were. If there is none within the budget, all of QF is budgeted again first.
    pub fn pop(
        &mut self,
        limit: u64,
        mut budget: impl FnMut(u64) -> u32,
        mut sink: impl FnMut(&[u8]),
    ) -> Result<u64> {
        if self.within.is_empty() {
            self.rescan(&mut budget)?;
        }
        let before = self.within.bytes();
        let popped = self.within.pop_with(limit, |bytes| sink(&bytes[DOMAIN_BYTES..]))?;
        self.stats.popped += popped;
        self.stats.read_bytes += before - self.within.bytes();
        Ok(popped)
    }

    fn rescan(&mut self, budget: &mut impl FnMut(u64) -> u32) -> Result<()> {
        let over = self.over.clone();
        self.used.clear();
        over.try_pop_with(over.len(), |bytes| {
            let domain = bytes.first_chunk().map_or(0, |domain| u64::from_le_bytes(*domain));
            self.stats.read_bytes += bytes.len() as u64;
            self.stats.rescanned += 1;
            self.place(domain, budget(domain), bytes)
        })?;
        self.stats.rescans += 1;
        Ok(())
    }

    /// Records in both queues.
    pub fn len(&self) -> u64 {
        self.within.len() + self.over.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Counters.
    pub fn stats(&self) -> BeastStats {
        self.stats
    }
}
