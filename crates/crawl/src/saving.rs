//! The loop's side of a [checkpoint](crate::checkpoint): meet the others, begin to save, go on, and at the end wait for it.

use crate::checkpoint::Call;
use crate::partition::{Partition, Run};
use crate::{CrawlError, End};

impl Run<'_> {
    /// Takes part in a checkpoint: everybody's links are where they belong, and then everybody begins to save.
    pub(crate) async fn take_part(&mut self, call: Call, end: Option<End>) -> Result<(), CrawlError> {
        let clock = self.partition.env.clock.clone();
        let before = clock.now();
        self.partition.outbox.flush();
        let passed = self.partition.part.seat.pass(call).await?;
        for _ in 0..self.partition.inbox.len() {
            let Some(parcel) = self.partition.inbox.try_take() else { break };
            self.take_in(parcel)?;
        }
        self.count_failed()?;
        let totals = self.partition.totals_now();
        let Partition { part, frontier, archive, ledger, .. } = &mut *self.partition;
        part.begin(passed, frontier, archive, ledger, totals, end)?;
        part.longest_pause = part.longest_pause.max(clock.now().since(before));
        Ok(())
    }

    /// Goes on with a checkpoint that is being written; whether none is.
    pub(crate) fn poll_checkpoint(&mut self) -> Result<bool, CrawlError> {
        let partition = &mut *self.partition;
        if !partition.part.is_busy() {
            return Ok(true);
        }
        let done = partition.part.poll(&mut partition.frontier)?;
        let (made, took) = partition.part.seat.coordinator.made();
        partition.progress.committed(partition.part.committed(), made, took);
        Ok(done)
    }

    /// Waits until the last checkpoint counts.
    pub(crate) async fn end(&mut self, end: End) -> Result<End, CrawlError> {
        let clock = self.partition.env.clock.clone();
        while !self.poll_checkpoint()? {
            clock.sleep_until(self.partition.part.look_at(clock.now()).unwrap_or_default()).await;
        }
        self.partition.part.seat.leave();
        Ok(end)
    }
}
