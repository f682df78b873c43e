//! A partition's side of a checkpoint: begin, go on working, report when everything is durable.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mattock_env::{Env, Lane, Step, Time};
use mattock_repository::{Ledger, RepositoryError, Unsynced, WarcWriter};

use super::{PartitionRecord, Passed, Seat};
use crate::summary::Totals;
use crate::{CrawlError, End};
use mattock_frontier::Frontier;

/// How often a checkpoint that is being written is looked at.
const LOOK: Duration = Duration::from_millis(5);

type Outcome = Arc<Mutex<Option<Result<(), RepositoryError>>>>;

/// Saves one partition.
pub(crate) struct Part {
    pub(crate) seat: Seat,
    env: Env,
    lane: Lane,
    under_way: Option<UnderWay>,
    /// The number that the frontier knows to count.
    committed: u64,
    /// The longest that the partition has stood still.
    pub(crate) longest_pause: Duration,
}

/// A partition's part of a checkpoint.
pub(crate) struct Report {
    pub(crate) record: PartitionRecord,
    /// Archive files that have changed, and their lengths.
    pub(crate) archive: Vec<(String, u64)>,
    /// Why the run ends, if it does.
    pub(crate) end: Option<End>,
}

struct UnderWay {
    number: u64,
    /// What is to be reported once everything is durable.
    report: Option<Report>,
    frontier: bool,
    archive: Outcome,
    archived: bool,
}

impl Part {
    pub(crate) fn new(env: &Env, seat: Seat) -> Part {
        let committed = seat.coordinator.committed();
        let lane = env.workers.lane("archive", 1);
        Part { seat, env: env.clone(), lane, under_way: None, committed, longest_pause: Duration::ZERO }
    }

    /// The newest checkpoint that counts, as far as this partition has heard.
    pub(crate) fn committed(&self) -> u64 {
        self.committed
    }

    /// Whether one is being written here, or elsewhere while this one is done.
    pub(crate) fn is_busy(&self) -> bool {
        self.under_way.is_some()
    }

    /// When to look again, if one is being written.
    pub(crate) fn look_at(&self, now: Time) -> Option<Time> {
        self.is_busy().then(|| now + LOOK)
    }

    /// Begins to save the partition as it is now, as the checkpoint whose gate was passed last.
    pub(crate) fn begin(
        &mut self,
        Passed { number, moment }: Passed,
        frontier: &mut Frontier,
        archive: &mut WarcWriter,
        ledger: &mut Ledger,
        totals: Totals,
        end: Option<End>,
    ) -> Result<(), CrawlError> {
        frontier.begin_save(number, self.env.clock.now())?;
        let mut unsynced = Unsynced::new(&self.env.files);
        let files = archive.mark(&mut unsynced)?;
        let ledger_bytes = ledger.mark(&mut unsynced, moment)?;
        let record = PartitionRecord::new(ledger_bytes, &frontier.counts(), totals);
        let outcome = Outcome::default();
        let written = outcome.clone();
        self.lane.submit(Box::new(move || {
            let result = match unsynced.sync_one() {
                Ok(Step::Again) => return Step::Again,
                Ok(Step::Done) => Ok(()),
                Err(error) => Err(error),
            };
            *written.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
            Step::Done
        }));
        self.under_way = Some(UnderWay {
            number,
            report: Some(Report { record, archive: files, end }),
            frontier: false,
            archive: outcome,
            archived: false,
        });
        Ok(())
    }

    /// Looks how far it is, reports once it is durable here, and lets the frontier know once it counts. Whether all is done.
    pub(crate) fn poll(&mut self, frontier: &mut Frontier) -> Result<bool, CrawlError> {
        self.lane.poll();
        let Some(under_way) = &mut self.under_way else { return Ok(true) };
        if let Some(outcome) = frontier.finished_save() {
            outcome?;
            under_way.frontier = true;
        }
        let outcome = under_way.archive.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(outcome) = outcome {
            outcome?;
            under_way.archived = true;
        }
        if under_way.frontier
            && under_way.archived
            && let Some(report) = under_way.report.take()
        {
            self.seat.saved(report);
        }
        let committed = self.seat.committed()?;
        if committed > self.committed {
            self.committed = committed;
            frontier.committed(committed);
        }
        if committed < under_way.number {
            return match self.seat.has_failed() {
                true => Err(CrawlError::OtherPartition),
                false => Ok(false),
            };
        }
        self.under_way = None;
        Ok(true)
    }
}
