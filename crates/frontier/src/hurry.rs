//! When the stages that collect batches have to answer before their batch is full.
//!
//! A batch that is not full costs as much as a full one: all that the stage has stored is read, and written again. So a stage is hurried
//! at once only if nobody has anything else to do; else from time to time, the more seldom the more it has stored, and only for
//! somebody: `seen` while the bench has room for more than the bands hold, the rules while a host on the bench waits for them.

use std::time::Duration;

use mattock_env::Time;

use crate::budget::Supply;
use crate::error::Result;
use crate::frontier::Frontier;

/// How often a stage that has stored little is hurried.
const EVERY: Duration = Duration::from_millis(500);
/// How much makes it twice as long, three times…: merging that much takes some thirtieth of [`EVERY`] and more.
const LITTLE_BYTES: u64 = 8 << 20;

/// A stage's next time.
#[derive(Debug, Default)]
pub(crate) struct Hurry {
    next: Option<Time>,
}

impl Hurry {
    fn is_due(&self, now: Time) -> bool {
        self.next.is_none_or(|next| now >= next)
    }

    fn put_off(&mut self, now: Time, stored_bytes: u64) {
        let times = u32::try_from(stored_bytes / LITTLE_BYTES).unwrap_or(u32::MAX).saturating_add(1);
        self.next = Some(now + EVERY.saturating_mul(times));
    }
}

impl Frontier {
    /// Has stages that collect batches answer if it is time; whether there is something to wait for that nothing else announces.
    pub(crate) fn hurry(&mut self, now: Time) -> Result<bool> {
        let mut coming = false;
        let starved = self.bench.queued() == 0 && self.ready.len() == 0;
        let idle = starved || self.bench.busy() == 0 && self.bench.due().is_none();
        let checking = self.robots.checking() > 0;
        // Hosts that wait for their rules will have something to do.
        let idle_without_rules = starved || idle && !checking;
        let wanted = idle_without_rules || self.is_short() && self.hurry_seen.is_due(now);
        if self.seen.is_unsettled() && wanted {
            self.seen.flush()?;
            self.hurry_seen.put_off(now, self.seen.stats().store_bytes);
            coming |= idle_without_rules;
        }
        if checking && (idle || self.hurry_robots.is_due(now)) {
            self.robots.hurry()?;
            self.hurry_robots.put_off(now, self.robots.stored_bytes());
            coming |= idle;
        }
        if !self.bench.has_room() {
            return Ok(coming);
        }
        if self.ready.len_up_to(self.band_max()) == 0 {
            coming |= self.take_budgeted()? != Supply::None;
        }
        // What the bands are reading from disk, if the bench could take it.
        Ok(coming || self.ready.len_up_to(self.band_max()) > 0)
    }

    /// Whether there would be room on the bench for more than is known.
    fn is_short(&self) -> bool {
        self.bench.has_room() && self.ready.len_up_to(self.band_max()) == 0
    }

    /// When somebody has to look again because of that.
    pub(crate) fn hurry_next(&self) -> Option<Time> {
        let seen =
            (self.seen.is_unsettled() && self.bench.has_room()).then_some(self.hurry_seen.next).flatten();
        let robots = (self.robots.checking() > 0).then_some(self.hurry_robots.next).flatten();
        seen.into_iter().chain(robots).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_is_stored_the_longer_it_takes() {
        let mut hurry = Hurry::default();
        let at = |milliseconds| Time::ZERO + Duration::from_millis(milliseconds);
        assert!(hurry.is_due(at(0)));
        hurry.put_off(at(0), 0);
        assert!(!hurry.is_due(at(499)) && hurry.is_due(at(500)));
        hurry.put_off(at(1000), 3 * LITTLE_BYTES);
        assert!(!hurry.is_due(at(2999)) && hurry.is_due(at(3000)));
    }
}
