//! How records move: out of `seen`, into the bands, onto the bench, into its overflow and back.
//!
//! Nothing here waits for the disk. What is not there yet comes with a later call, and whoever has nothing else to do
//! [hurries](Frontier::hurry) the stages that collect batches.

use std::cmp::Reverse;

use mattock_env::Time;

use crate::bench::Slot;
use crate::budget::Supply;
use crate::error::{FrontierError, Result};
use crate::frontier::{DeferredRequest, Frontier};
use crate::host::Rules;
use crate::overflow::Fate;
use crate::{BAND_LAST, Request, record};

/// Records taken out of a stage at once.
const BATCH: usize = 128;
/// New URLs that are taken before somebody else has a turn.
const NEW_MAX: usize = 512;

impl Frontier {
    /// Moves everything as far as it goes.
    pub(crate) fn flow(&mut self, now: Time) -> Result<()> {
        self.take_new()?;
        self.take_deferred(now)?;
        self.feed(now)?;
        self.take_rules(now)
    }

    /// Reads from disk for hosts that have become short of URLs; whether there were any.
    pub(crate) fn feed(&mut self, now: Time) -> Result<bool> {
        let hungry = self.bench.take_hungry();
        for &slot in &hungry {
            self.read_overflow(slot, now)?;
        }
        Ok(!hungry.is_empty())
    }

    /// Takes a few URLs that are within their budget into the bands; whether there were any, or are coming.
    pub(crate) fn take_budgeted(&mut self) -> Result<Supply> {
        match &mut self.budget {
            Some(budget) => {
                let content = &self.content;
                budget.pop(|domain| content.factor(domain) as f32, |record| self.ready.push(record))
            }
            None => Ok(Supply::None),
        }
    }

    /// URLs that are new go to be budgeted, or into their bands; whether there may be more. After a merge there can be millions, and
    /// whoever has visits to make must not wait for them.
    pub(crate) fn take_new(&mut self) -> Result<bool> {
        let mut taken = 0;
        loop {
            self.pass_on_new()?;
            if taken >= NEW_MAX {
                return Ok(true);
            }
            let new = &mut self.new;
            let count = self.seen.new_links_ready(BATCH, |record| new.push_back(record.to_vec()))?;
            self.accounts.seen += count as u64;
            taken += count;
            if count == 0 {
                return Ok(false);
            }
        }
    }

    /// Those that were taken already.
    pub(crate) fn pass_on_new(&mut self) -> Result<()> {
        while let Some(record) = self.new.front() {
            match &mut self.budget {
                Some(budget) => {
                    let request = record::decode(record).ok_or(FrontierError::Record)?;
                    // A seed is wanted whoever links to it.
                    if request.depth == 0 {
                        self.ready.push(record)?;
                    } else {
                        let domain = request.url.domain_fingerprint().0;
                        budget.push(domain, self.content.factor(domain) as f32, record)?;
                    }
                }
                None => self.ready.push(record)?,
            }
            self.new.pop_front();
        }
        Ok(())
    }

    /// Requests whose time has come for another try.
    fn take_deferred(&mut self, now: Time) -> Result<()> {
        while let Some(Reverse((time, ..))) = self.deferred.peek()
            && *time <= now
        {
            let Some(Reverse((_, _, DeferredRequest(request)))) = self.deferred.pop() else { break };
            let slot = self.slot_of(&request.url)?;
            self.bench.push(slot, request, now);
        }
        Ok(())
    }

    /// Puts a few more requests on the bench, if it has room; whether there were any. Only for who has nothing else to do: the
    /// longer a URL waits in its queue, the more is known of its domain when its turn comes.
    pub(crate) fn refill(&mut self, now: Time) -> Result<bool> {
        if !self.bench.has_room() {
            return Ok(false);
        }
        if self.ready.len_up_to(self.band_max()) == 0 && self.take_budgeted()? != Supply::Some {
            return Ok(false);
        }
        let mut batch = Vec::with_capacity(BATCH);
        let count = self.ready.pop(BATCH as u64, self.band_max(), |record| batch.push(record.to_vec()))?;
        for mut record in batch {
            self.place(&mut record, now)?;
        }
        self.take_rules(now)?;
        Ok(count > 0)
    }

    /// The last band that the bench takes from now: half of its room is kept for what does not look like a trap.
    pub(crate) fn band_max(&self) -> u8 {
        if self.bench.is_half_empty() { BAND_LAST } else { BAND_LAST - 1 }
    }

    /// Puts a request on the bench, or behind it if its host has enough there.
    fn place(&mut self, record: &mut [u8], now: Time) -> Result<()> {
        let mut request = record::decode(record).ok_or(FrontierError::Record)?;
        // Its turn comes after that of all domains that have news.
        if request.band < BAND_LAST && self.content.is_stale(request.url.domain_fingerprint().0) {
            record::set_band(record, BAND_LAST);
            return self.ready.push(record);
        }
        let slot = self.slot_of(&request.url)?;
        let host = self.bench.host(slot);
        // Who has some waiting there keeps its order by going behind them.
        if host.overflow > 0 || host.queued() >= self.bench.share() {
            let (key, known) = (host.key, host.overflow);
            self.overflow.push(&self.queues, key, known, record)?;
            self.bench.host_mut(slot).overflow += 1;
            self.bench.schedule(slot, now);
            return Ok(());
        }
        request.number = self.take_number();
        self.bench.push(slot, request, now);
        Ok(())
    }

    pub(crate) fn take_number(&mut self) -> u64 {
        self.number_next += 1;
        self.number_next
    }

    /// Feeds a host, and whoever shares its queue, from disk.
    fn read_overflow(&mut self, hungry: Slot, now: Time) -> Result<()> {
        let key = self.bench.host(hungry).key;
        let mut taken: Vec<(Slot, Request)> = Vec::new();
        let share = self.bench.share().div_ceil(2);
        let bench = std::cell::RefCell::new(&mut self.bench);
        let number_next = &mut self.number_next;
        self.overflow.read(
            key,
            || {
                let bench = bench.borrow();
                let host = bench.host(hungry);
                (share.saturating_sub(host.queued() + host.promised) as u64, host.overflow)
            },
            |record| {
                let mut request = record::decode(record).ok_or(FrontierError::Record)?;
                let mut bench = bench.borrow_mut();
                let slot = bench.find(request.url.host_fingerprint().0).ok_or(FrontierError::Record)?;
                let host = bench.host_mut(slot);
                if host.queued() + host.promised >= share {
                    return Ok(Fate::Kept);
                }
                host.overflow -= 1;
                host.promised += 1;
                *number_next += 1;
                request.number = *number_next;
                taken.push((slot, request));
                Ok(Fate::Taken)
            },
        )?;
        for (slot, request) in taken {
            self.bench.host_mut(slot).promised = 0;
            self.bench.push(slot, request, now);
        }
        Ok(())
    }

    /// Hosts whose rules were looked for in the cache.
    fn take_rules(&mut self, now: Time) -> Result<()> {
        let bench = &mut self.bench;
        let (restarted, crawl_delay_max) = (self.restarted, self.politeness.crawl_delay_max);
        self.robots.answers(|key, known| {
            let Some(slot) = bench.find(key) else { return };
            let host = bench.host_mut(slot);
            if matches!(host.rules, Rules::Checking) {
                if let (Some(time), Some((robots, _))) = (restarted, &known) {
                    let asked = robots.crawl_delay().unwrap_or_default().min(crawl_delay_max);
                    host.next_allowed = host.next_allowed.max(time + asked);
                }
                host.rules = match known {
                    Some((robots, expires)) => Rules::Known { robots: robots.into(), expires },
                    None => Rules::Unknown { before: None },
                };
                bench.schedule(slot, now);
            }
        })
    }
}
