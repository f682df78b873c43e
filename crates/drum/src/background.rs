//! What goes on behind the producer: generations are sealed, merged and published, and who is too quick is slowed.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use mattock_env::{Step, Time};

use crate::drum::Drum;
use crate::error::{DrumError, Result};
use crate::generation::{Generation, Resolved};
use crate::merge::{Inputs, Merge, Merged, Progress};
use crate::plan::Deliver;
use crate::value::Value;

/// Beyond this fullness the producer is slowed in step with the merge of the generation before.
const SLOW_FROM: f64 = 0.5;
/// Beyond this fullness the producer waits until the merge is done.
const FULL: f64 = 1.25;
/// The longest wait that a batch gets while the producer is slowed.
const SLOW_WAIT: Duration = Duration::from_millis(5);
/// How long a merge that failed is left alone before it is tried again unasked.
const RETRY_AFTER: Duration = Duration::from_secs(5);

impl<V: Value> Drum<V> {
    /// Waits a little if the merge is behind, and as long as it takes if there is no more room.
    pub(crate) fn slow_down(&mut self) -> Result<()> {
        let fullness = self.fullness();
        if fullness < SLOW_FROM || self.all_merged() {
            return Ok(());
        }
        let before = self.clock.now();
        let mut waited = false;
        if fullness >= FULL {
            self.wait_for_merges()?;
            waited = true;
        } else if let Some(progress) = &self.merging {
            let done = progress.buckets_done.load(Ordering::Relaxed) as f64 / self.plan.buckets as f64;
            if (fullness - SLOW_FROM) / (1.0 - SLOW_FROM) > done {
                self.merge_lane.wait_for_progress(SLOW_WAIT);
                self.poll();
                waited = true;
            }
        }
        if waited {
            self.stats.waits += 1;
            self.note_pause(before);
        }
        Ok(())
    }

    pub(crate) fn note_pause(&mut self, since: Time) {
        let pause = self.clock.now().since(since).as_nanos() as u64;
        self.stats.longest_pause_ns = self.stats.longest_pause_ns.max(pause);
    }

    fn fullness(&self) -> f64 {
        self.open.fullness(&self.plan, self.runs.iter().map(|run| run.keys()).sum())
    }

    pub(crate) fn seal_if_full(&mut self) {
        if self.fullness() >= 1.0 && self.all_merged() {
            self.seal();
        }
    }

    fn all_merged(&self) -> bool {
        self.generations.iter().all(|generation| generation.resolved.is_some())
    }

    /// Ends the open generation and begins the next.
    fn seal(&mut self) {
        self.flush_wanted = false;
        if self.open.is_empty() {
            return;
        }
        let number = self.take_number();
        let mut sealed = std::mem::replace(&mut self.open, Generation::new(&self.disk, number, &self.plan));
        sealed.log.seal();
        sealed.sealed_s = self.clock.unix().as_seconds();
        self.generations.push_back(sealed);
        self.poll();
    }

    fn take_number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number - 1
    }

    /// Has every check that was submitted answered soon, without waiting for a generation to fill up: starts its merge. A
    /// no-op if all are answered.
    pub fn flush(&mut self) -> Result<()> {
        if self.open.first_unresolved != u32::MAX {
            self.begin()?;
            self.merge_error = None;
            self.flush_wanted = true;
            self.poll();
        }
        Ok(())
    }

    /// Why the last merge failed, if it did. It is tried again every few seconds, and by [`flush`](Drum::flush),
    /// [`merge`](Drum::merge) and whatever cannot go on without it.
    pub fn trouble(&self) -> Option<&DrumError> {
        self.merge_error.as_ref()
    }

    /// Moves everything that was submitted into the sorted store and waits for that.
    pub fn merge(&mut self) -> Result<()> {
        self.begin()?;
        self.seal();
        self.wait_for_merges()
    }

    /// Waits until everything that was sealed is merged: after [`flush`](Drum::flush) all answers can be delivered.
    pub fn wait_for_merges(&mut self) -> Result<()> {
        self.merge_error = None;
        loop {
            self.poll();
            if let Some(error) = self.merge_error.take() {
                return Err(error);
            }
            if self.merging.is_none() {
                return Ok(());
            }
            self.merge_lane.wait_for_progress(Duration::from_millis(20));
        }
    }

    /// Takes over what the lanes have finished and gives them what comes next. Every other call does this too.
    pub fn poll(&mut self) {
        self.writer.poll();
        self.merge_lane.poll();
        self.chores.poll();
        self.poll_checkpoint();
        let outcome = self
            .merging
            .as_ref()
            .and_then(|progress| progress.outcome.lock().unwrap_or_else(PoisonError::into_inner).take());
        match outcome {
            Some(Ok(merged)) => {
                self.merging = None;
                self.publish(merged);
            }
            Some(Err(error)) => {
                self.merging = None;
                self.merge_error = Some(error);
                self.retry_at = self.clock.now() + RETRY_AFTER;
            }
            None => {}
        }
        if self.flush_wanted && self.all_merged() {
            self.seal();
        }
        if self.merge_error.is_some() && self.clock.now() >= self.retry_at {
            self.merge_error = None;
        }
        if self.merging.is_none() && self.merge_error.is_none() {
            self.start_merge();
        }
    }

    /// Lets merges rest, for a fair comparison with somebody who has no background work.
    pub(crate) fn pause_merges(&self, paused: bool) {
        self.merge_lane.pause(paused);
    }

    fn start_merge(&mut self) {
        let run_number = self.next_number;
        let Some(generation) = self.generations.iter_mut().find(|generation| generation.resolved.is_none())
        else {
            return;
        };
        if generation.keys.bytes() == 0 {
            generation.resolved = Some(Resolved { bitmap: Vec::new(), answers: None });
            generation.synced = false;
            return self.start_merge();
        }
        let inputs = Inputs {
            disk: Arc::clone(&self.disk),
            writer: self.writer.clone(),
            number: generation.number,
            keys: Arc::clone(&generation.keys),
            records: generation.log.records(),
            runs: self.runs.clone(),
            now_s: generation.sealed_s,
            answers: self.options.deliver == Deliver::All,
            run_number,
            read_bytes: self.plan.read_bytes,
            chunk_bytes: self.plan.chunk_bytes,
        };
        self.next_number += 1;
        let progress = Arc::new(Progress::default());
        let mut merge = Merge::<V>::new(inputs, Arc::clone(&progress));
        self.merge_lane.submit(Box::new(move || merge.step()));
        self.merging = Some(progress);
    }

    fn publish(&mut self, merged: Merged) {
        self.stats.merges += 1;
        let old = std::mem::replace(&mut self.runs, merged.runs);
        for run in old {
            if !self.runs.iter().any(|kept| Arc::ptr_eq(kept, &run)) {
                self.retire(run.file().name().to_owned());
            }
        }
        let generation = self.generations.iter_mut().find(|generation| generation.resolved.is_none());
        if let Some(generation) = generation {
            generation.resolved = Some(Resolved { bitmap: merged.bitmap, answers: merged.answers });
            generation.synced = false;
            let file = Arc::clone(generation.keys.file());
            // The buffers are of no use any more.
            generation.keys = Arc::new(crate::buckets::Buckets::new(
                &self.disk,
                file.name().to_owned(),
                generation.number,
                0,
                generation.keys.chunk_bytes(),
            ));
            if file.exists() {
                self.retire(file.name().to_owned());
            }
        }
    }

    /// A file is of no use any more: removes it, unless a checkpoint needs it.
    pub(crate) fn retire(&mut self, name: String) {
        if self.kept.iter().any(|kept| kept.files.contains(&name)) {
            self.dead.push(name);
        } else {
            let disk = Arc::clone(&self.disk);
            self.chores.submit(Box::new(move || {
                disk.remove(&name);
                Step::Done
            }));
        }
    }
}
