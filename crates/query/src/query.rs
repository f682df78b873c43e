//! [`Query`]: a plan that can be explained and run.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::DataFusionError;
use datafusion::execution::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use futures::StreamExt as _;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::cancel::Cancel;
use crate::content::tally::{Failures, Tally};
use crate::error::QueryError;
use crate::session::Session;
use crate::sink::Sink;

/// See the module. Made by [`Session::plan`].
pub struct Query {
    pub(crate) session: Session,
    pub(crate) state: SessionState,
    /// Optimized: it is carried out as it is.
    pub(crate) plan: LogicalPlan,
    pub(crate) tally: Arc<Tally>,
    pub(crate) seeds: Vec<u64>,
    pub(crate) dates: Dates,
}

/// What a query is asked of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dates {
    /// Instances that were fetched later do not exist: milliseconds since 1970.
    pub as_of_ms: Option<i64>,
    /// Nor do those that were inserted later: milliseconds since 1970. A sample always has this date, so that it can be drawn again.
    pub inserted_by_ms: Option<i64>,
}

/// So many are computed ahead of what takes them.
const BATCHES_WAITING: usize = 2;

/// A task that goes when nobody waits for it any more, at the next place where it can.
struct AbortOnDrop(JoinHandle<()>);

impl AbortOnDrop {
    /// Waits for its end, which is no cancellation; a panic of it goes on here.
    async fn end(mut self, session: &Session) -> Result<bool, QueryError> {
        if let Err(error) = (&mut self.0).await
            && let Ok(payload) = error.try_into_panic()
        {
            match session.panicked() {
                Some(panic) => return Err(QueryError::Unreadable(panic)),
                None => std::panic::resume_unwind(payload),
            }
        }
        Ok(false)
    }
}

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// How far a query has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Rows of the answer so far.
    pub rows: u64,
    /// Documents looked at so far.
    pub documents: u64,
    /// And how many there are, once that is known.
    pub documents_total: Option<u64>,
    /// What the documents looked at take in the archives.
    pub bytes: u64,
    /// And what all of them take.
    pub bytes_total: Option<u64>,
}

/// What a query did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Rows of the answer.
    pub rows: u64,
    /// Documents that were read from archives.
    pub documents_read: u64,
    /// Bytes of archives that were read.
    pub archive_bytes_read: u64,
    /// Values that were taken from kept columns instead of being computed.
    pub values_kept: u64,
    /// Bytes of kept columns that were read for these values.
    pub kept_bytes_read: u64,
    /// What analyzers and archives did wrong; empty if nothing.
    pub failures: Vec<Failures>,
    /// Documents whose bodies could be decoded in part only: their values are made of that part.
    pub partial: Option<Failures>,
    /// Blocks of ledgers that could not be read: the rows of `outcomes` in them are missing.
    pub blocks_lost: u64,
    /// The seeds of samples, given or drawn.
    pub seeds: Vec<u64>,
    /// The dates that the answer holds for.
    pub dates: Dates,
    /// It was stopped: the answer is not complete.
    pub cancelled: bool,
}

impl Query {
    /// The columns of the answer.
    pub fn schema(&self) -> SchemaRef {
        with_names_of_their_own(&Arc::new(self.plan.schema().as_arrow().clone()))
    }

    /// The seeds of its samples, given or drawn.
    pub fn seeds(&self) -> &[u64] {
        &self.seeds
    }

    /// The dates that it holds for.
    pub fn dates(&self) -> Dates {
        self.dates
    }

    /// The plan that is carried out.
    pub(crate) fn physical(&self) -> Result<Arc<dyn ExecutionPlan>, QueryError> {
        let planner = self.state.query_planner();
        let planned = planner.create_physical_plan(&self.plan, &self.state);
        self.session.block_on(planned)?.map_err(|error| self.session.failed(error))
    }

    /// Runs it: rows go into `sink`, and `progress` is called now and then. Stopped or not, the sink is finished, so that
    /// what it has written is whole; if the query fails, the sink is told.
    pub fn run(
        self,
        sink: &mut dyn Sink,
        progress: &mut dyn FnMut(&Progress),
        cancel: &Cancel,
    ) -> Result<Report, QueryError> {
        let physical = self.physical()?;
        let schema = with_names_of_their_own(&physical.schema());
        let is_renamed = schema != physical.schema();
        sink.begin(&schema).map_err(QueryError::Output)?;
        let runtime = &self.session.inner.runtime;
        let mut rows = 0;
        let outcome = runtime.block_on(async {
            let mut stream = execute_stream(physical, self.state.task_ctx())?;
            // Elsewhere: an operator may compute for minutes before it has a row to give, and is to be stopped all the same.
            let (give, mut batches) = mpsc::channel(BATCHES_WAITING);
            let running = tokio::spawn(async move {
                while let Some(batch) = stream.next().await {
                    if give.send(batch).await.is_err() {
                        break;
                    }
                }
            });
            let running = AbortOnDrop(running);
            loop {
                tokio::select! {
                    biased;
                    () = cancel.cancelled() => return Ok::<bool, QueryError>(true),
                    batch = batches.recv() => {
                        let Some(batch) = batch else { return running.end(&self.session).await };
                        let mut batch = batch?;
                        if is_renamed {
                            batch = RecordBatch::try_new(schema.clone(), batch.columns().to_vec())
                                .map_err(DataFusionError::from)?;
                        }
                        sink.write(&batch).map_err(QueryError::Output)?;
                        rows += batch.num_rows() as u64;
                    }
                    () = self.tally.changed.notified() => {}
                }
                progress(&self.progress(rows));
            }
        });
        let finished = if outcome.is_ok() { sink.finish() } else { sink.fail() };
        let finished = finished.map_err(QueryError::Output);
        let cancelled = outcome.map_err(|error| self.session.failed(error))?;
        finished?;
        progress(&self.progress(rows));
        Ok(Report {
            rows,
            documents_read: Tally::get(&self.tally.records_read),
            archive_bytes_read: Tally::get(&self.tally.bytes_read),
            values_kept: Tally::get(&self.tally.values_kept),
            kept_bytes_read: Tally::get(&self.tally.kept_bytes_read),
            failures: self.tally.failures(),
            partial: self.tally.partial(),
            blocks_lost: self.tally.blocks_lost(),
            seeds: self.seeds,
            dates: self.dates,
            cancelled,
        })
    }

    fn progress(&self, rows: u64) -> Progress {
        let known = self.tally.total_known.load(Ordering::Relaxed);
        Progress {
            rows,
            documents: Tally::get(&self.tally.rows),
            documents_total: known.then(|| Tally::get(&self.tally.rows_total)),
            bytes: Tally::get(&self.tally.bytes),
            bytes_total: known.then(|| Tally::get(&self.tally.bytes_total)),
        }
    }
}

/// The same columns, of which each has a name of its own: both sides of a join may have a `url`, and no format has room for two. The second one is
/// `url_2` then.
fn with_names_of_their_own(schema: &SchemaRef) -> SchemaRef {
    let mut taken: BTreeSet<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    if taken.len() == schema.fields().len() {
        return schema.clone();
    }
    let mut seen = BTreeSet::new();
    let fields = schema.fields().iter().map(|field| {
        if seen.insert(field.name().clone()) {
            return field.as_ref().clone();
        }
        let names = (2..).map(|number| format!("{}_{number}", field.name()));
        let name = names.into_iter().find(|name| taken.insert(name.clone())).unwrap_or_default();
        field.as_ref().clone().with_name(name)
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}
