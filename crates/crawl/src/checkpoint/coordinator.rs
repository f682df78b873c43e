//! What makes the partitions' checkpoints one: numbers that all take part in, a gate that all pass together, and the file that counts.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mattock_env::{Clock, Env, Files, Lane, Step, Time, UnixTime};

use super::part::Report;
use super::{Checkpoint, Era, PartitionRecord};
use crate::config::CheckpointOptions;
use crate::watched::Watched;
use crate::{CrawlError, End};

/// Shared by all partitions of a run.
pub(crate) struct Coordinator {
    clock: Clock,
    files: Files,
    path: PathBuf,
    partitions: usize,
    every_ns: AtomicU64,
    pages_max: AtomicU64,
    /// Pages since the last checkpoint was asked for.
    pages: AtomicU64,
    stage: Watched<Stage>,
    /// What checkpoints have from the one before.
    layout: u64,
    eras: Vec<Era>,
    gathered: Mutex<Gathered>,
    written: Written,
    lane: Lane,
}

/// How far everybody is.
#[derive(Clone, Copy, Debug)]
struct Stage {
    /// The newest checkpoint that was asked for.
    wanted: u64,
    /// Whether it is the last of the run.
    last: bool,
    /// Partitions that have arrived at the gate of any number of this run.
    arrived: u64,
    /// The number before the run's first.
    base: u64,
    /// The newest that counts.
    committed: u64,
    /// Somebody has gone without being done.
    failed: bool,
    asked_at: Time,
    /// The moment of the newest whose gate all have passed: microseconds since 1970, in whole milliseconds. Each is later than the one before,
    /// whatever the clock says: what it adds is told from what was there by this.
    unix_micros: i64,
    /// Whether another is wanted as soon as the one at hand is made.
    again: bool,
    /// When the newest that counts was made, and how long that took.
    made_unix_micros: i64,
    took: Duration,
}

/// What partitions have reported for the checkpoint at hand.
#[derive(Debug, Default)]
struct Gathered {
    archive: BTreeMap<String, u64>,
    records: Vec<Option<PartitionRecord>>,
    end: Option<End>,
}

/// What became of the file that was written last: its number, or why there is none.
type Written = Arc<Mutex<Option<std::io::Result<u64>>>>;

/// How soon other times are noticed.
const LOOK: Duration = Duration::from_secs(1);

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// The moment of a checkpoint that is made `now` and follows one of `before`, in whole milliseconds, as the index tells times.
pub(crate) fn moment(now: UnixTime, before: i64) -> i64 {
    let milliseconds = |micros: i64| micros.div_euclid(1000);
    milliseconds(now.as_micros()).max(milliseconds(before) + 1) * 1000
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Coordinator {
    /// For a run that goes on from this checkpoint.
    pub(crate) fn new(
        env: &Env,
        path: PathBuf,
        from: &Checkpoint,
        partitions: usize,
        CheckpointOptions { every, pages: pages_max, .. }: CheckpointOptions,
    ) -> Arc<Coordinator> {
        let stage = Stage {
            wanted: from.number,
            last: false,
            arrived: 0,
            base: from.number,
            committed: from.number,
            failed: false,
            asked_at: env.clock.now(),
            unix_micros: from.unix_micros,
            again: false,
            made_unix_micros: from.unix_micros,
            took: Duration::ZERO,
        };
        Arc::new(Coordinator {
            clock: env.clock.clone(),
            files: env.files.clone(),
            path,
            partitions,
            every_ns: AtomicU64::new(nanos(every)),
            pages_max: AtomicU64::new(pages_max),
            pages: AtomicU64::new(0),
            stage: Watched::new(stage),
            layout: from.layout,
            eras: from.eras.clone(),
            gathered: Mutex::new(Gathered {
                archive: from.archive.clone(),
                records: vec![None; partitions],
                ..Gathered::default()
            }),
            written: Written::default(),
            lane: env.workers.lane("checkpoint", 1),
        })
    }

    fn gathered(&self) -> MutexGuard<'_, Gathered> {
        lock(&self.gathered)
    }

    /// Asks for a checkpoint, unless one is being made.
    pub(crate) fn ask(&self) {
        let now = self.clock.now();
        self.pages.store(0, Ordering::Relaxed);
        self.stage.update(|stage| {
            if stage.committed == stage.wanted && !stage.last {
                stage.wanted += 1;
                stage.asked_at = now;
            }
        });
    }

    /// Asks for one that holds everything that is there now; its number.
    pub(crate) fn ask_now(&self) -> u64 {
        let now = self.clock.now();
        let mut number = 0;
        self.pages.store(0, Ordering::Relaxed);
        self.stage.update(|stage| {
            number = if stage.last {
                stage.wanted
            } else if stage.committed == stage.wanted {
                stage.wanted += 1;
                stage.asked_at = now;
                stage.wanted
            } else {
                // The one at hand may have begun before.
                stage.again = true;
                stage.wanted + 1
            };
        });
        number
    }

    /// Other times from now on.
    pub(crate) fn set(&self, every: Duration, pages_max: u64) {
        self.every_ns.store(nanos(every), Ordering::Relaxed);
        self.pages_max.store(pages_max, Ordering::Relaxed);
    }

    /// Whether one is being made.
    pub(crate) fn is_under_way(&self) -> bool {
        let stage = self.stage.get();
        stage.committed < stage.wanted
    }

    /// When the newest that counts was made, and how long that took.
    pub(crate) fn made(&self) -> (i64, Duration) {
        let stage = self.stage.get();
        (stage.made_unix_micros, stage.took)
    }

    /// Asks for the last one of the run: nothing is under way any more where this comes from.
    fn ask_for_last(&self) {
        let now = self.clock.now();
        self.stage.update(|stage| {
            if !stage.last {
                stage.last = true;
                stage.wanted += 1;
                stage.asked_at = now;
            }
        });
    }

    /// A page was fetched.
    pub(crate) fn count_page(&self) {
        if self.pages.fetch_add(1, Ordering::Relaxed) + 1 >= self.pages_max.load(Ordering::Relaxed) {
            self.ask();
        }
    }

    /// Asks for a checkpoint whenever it is time. Never comes back.
    pub(crate) async fn keep_time(self: Arc<Coordinator>) {
        loop {
            let every = Duration::from_nanos(self.every_ns.load(Ordering::Relaxed));
            let (now, due) = (self.clock.now(), self.stage.get().asked_at + every);
            if now >= due {
                self.ask();
                // If one is being made for so long, the next may wait as well.
                self.sleep_until(now + every).await;
            } else {
                self.sleep_until(due).await;
            }
        }
    }

    /// Until a time, or until others are wanted.
    async fn sleep_until(&self, time: Time) {
        let every = self.every_ns.load(Ordering::Relaxed);
        while self.clock.now() < time && every == self.every_ns.load(Ordering::Relaxed) {
            self.clock.sleep_until(time.min(self.clock.now() + LOOK)).await;
        }
    }

    /// The newest checkpoint that counts.
    pub(crate) fn committed(&self) -> u64 {
        self.stage.get().committed
    }

    /// A partition's part of a checkpoint is durable. The last one to say so has the file written.
    fn saved(&self, index: usize, number: u64, report: Report) {
        let mut gathered = self.gathered();
        gathered.archive.extend(report.archive);
        gathered.records[index] = Some(report.record);
        gathered.end = gathered.end.or(report.end);
        if gathered.records.iter().any(Option::is_none) {
            return;
        }
        let partitions = gathered.records.iter_mut().filter_map(Option::take).collect();
        let checkpoint = Checkpoint {
            number,
            unix_micros: self.stage.get().unix_micros,
            end: gathered.end,
            partitions,
            layout: self.layout,
            eras: self.eras.clone(),
            archive: gathered.archive.clone(),
        };
        drop(gathered);
        for (index, record) in checkpoint.partitions.iter().enumerate() {
            if record.missing() != 0 {
                tracing::error!(
                    partition = index,
                    missing = record.missing(),
                    "URLs are unaccounted for: this is a bug"
                );
            }
            debug_assert_eq!(record.missing(), 0, "partition {index}: {record:?}");
        }
        // The job holds nothing of the lane's owner: when a run has failed, the lane ends with it, and nothing is written any more.
        let (files, path, written) = (self.files.clone(), self.path.clone(), self.written.clone());
        self.lane.submit(Box::new(move || {
            let outcome = checkpoint.write(&files, &path);
            *lock(&written) = Some(outcome.map(|()| checkpoint.number));
            Step::Done
        }));
    }

    /// Takes over what the lane has done.
    fn poll(&self) -> Result<(), CrawlError> {
        self.lane.poll();
        let outcome = lock(&self.written).take();
        match outcome {
            None => Ok(()),
            Some(Ok(number)) => {
                let (now, unix_micros) = (self.clock.now(), self.clock.unix().as_micros());
                self.stage.update(|stage| {
                    stage.committed = number;
                    stage.made_unix_micros = unix_micros;
                    stage.took = now.since(stage.asked_at);
                    if std::mem::take(&mut stage.again) && !stage.last {
                        stage.wanted += 1;
                        stage.asked_at = now;
                    }
                });
                Ok(())
            }
            Some(Err(error)) => Err(CrawlError::io("write", &self.path)(error)),
        }
    }
}

/// A partition's place among the others. If it is dropped before its last checkpoint, nobody waits for it: the run has failed.
pub(crate) struct Seat {
    pub(crate) coordinator: Arc<Coordinator>,
    index: usize,
    /// The last number that it took part in.
    made: u64,
    done: bool,
}

/// A checkpoint to take part in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) number: u64,
    /// Whether it is the last of the run.
    pub(crate) last: bool,
}

/// A checkpoint that all have come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passed {
    pub(crate) number: u64,
    /// The moment that it is of, the same for all.
    pub(crate) moment: UnixTime,
}

impl Seat {
    pub(crate) fn new(coordinator: &Arc<Coordinator>, index: usize) -> Seat {
        let made = coordinator.committed();
        Seat { coordinator: coordinator.clone(), index, made, done: false }
    }

    /// The next checkpoint to take part in, if one was asked for.
    pub(crate) fn call(&self) -> Option<Call> {
        let stage = self.coordinator.stage.get();
        let number = self.made + 1;
        (stage.wanted >= number).then_some(Call { number, last: stage.last && stage.wanted == number })
    }

    /// Waits for a call.
    pub(crate) async fn called(&self) {
        self.coordinator.stage.wait_for(|stage| stage.wanted > self.made).await;
    }

    /// Nothing is under way here and nothing will be.
    pub(crate) fn ask_for_last(&self) {
        self.coordinator.ask_for_last();
    }

    /// Arrives at the gate of a checkpoint, having sent everything that it has for others; comes back when all have.
    pub(crate) async fn pass(&mut self, call: Call) -> Result<Passed, CrawlError> {
        self.made = call.number;
        let coordinator = &self.coordinator;
        let (all, now) = (coordinator.partitions as u64, coordinator.clock.unix());
        let have_all = |stage: &Stage| stage.arrived >= (call.number - stage.base) * all;
        coordinator.stage.update(|stage| {
            stage.arrived += 1;
            if have_all(stage) {
                stage.unix_micros = moment(now, stage.unix_micros);
            }
        });
        let stage = coordinator.stage.wait_for(|stage: &Stage| stage.failed || have_all(stage)).await;
        match stage.failed {
            true => Err(CrawlError::OtherPartition),
            false => Ok(Passed { number: call.number, moment: UnixTime::from_micros(stage.unix_micros) }),
        }
    }

    /// Its part of the checkpoint that it took part in last is durable.
    pub(crate) fn saved(&self, report: Report) {
        self.coordinator.saved(self.index, self.made, report);
    }

    /// The newest checkpoint that counts.
    pub(crate) fn committed(&self) -> Result<u64, CrawlError> {
        self.coordinator.poll()?;
        Ok(self.coordinator.committed())
    }

    /// Whether a partition has gone without being done.
    pub(crate) fn has_failed(&self) -> bool {
        self.coordinator.stage.get().failed
    }

    /// The last checkpoint counts: it may go.
    pub(crate) fn leave(&mut self) {
        self.done = true;
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if !self.done {
            self.coordinator.stage.update(|stage| stage.failed = true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_follow_each_other_whatever_the_clock_says() {
        let at = UnixTime::from_micros;
        assert_eq!(moment(at(5_999), 0), 5_000);
        assert_eq!(moment(at(5_999), 5_000), 6_000, "a second one in the same millisecond");
        assert_eq!(moment(at(2_000), 6_000), 7_000, "the clock went back");
        assert_eq!(moment(at(2_000), 6_001), 7_000, "one of an earlier version");
    }
}
