//! The table `outcomes`: what became of every URL that the crawl is done with, failures included. For SQL only, and only of crawls: an
//! import has no ledgers, and a publication leaves them behind.

use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::catalog::streaming::StreamingTable;
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::datasource::{ViewTable, provider_as_source};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{LogicalPlanBuilder, ident, lit};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use futures::stream;
use mattock_env::Files;
use mattock_index::{LedgerSource, Outcomes, outcomes_schema};

use crate::content::tally::Tally;
use crate::query::Dates;

/// The table's name.
pub(crate) const OUTCOMES: &str = "outcomes";

/// The rows of these ledgers up to `dates`, each ledger read by a thread of its own.
pub(crate) fn table(
    files: &Files,
    ledgers: &[LedgerSource],
    dates: Dates,
    tally: &Arc<Tally>,
) -> Result<Arc<dyn TableProvider>> {
    let partition = |ledger: &LedgerSource| {
        let (files, ledger, tally) = (files.clone(), ledger.clone(), tally.clone());
        Arc::new(Ledger { files, ledger, schema: outcomes_schema(), tally }) as Arc<dyn PartitionStream>
    };
    let table = StreamingTable::try_new(outcomes_schema(), ledgers.iter().map(partition).collect())?;
    let mut plan = LogicalPlanBuilder::scan(OUTCOMES, provider_as_source(Arc::new(table)), None)?;
    for (column, date_ms) in [("fetch_time", dates.as_of_ms), ("insertion_time", dates.inserted_by_ms)] {
        if let Some(date_ms) = date_ms {
            let date = ScalarValue::TimestampMillisecond(Some(date_ms), Some("UTC".into()));
            plan = plan.filter(ident(column).lt_eq(lit(date)))?;
        }
    }
    Ok(Arc::new(ViewTable::new(plan.build()?, None)))
}

/// One ledger.
#[derive(Debug)]
struct Ledger {
    files: Files,
    ledger: LedgerSource,
    schema: SchemaRef,
    /// Told of blocks that cannot be read.
    tally: Arc<Tally>,
}

impl PartitionStream for Ledger {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let rows: Box<dyn Iterator<Item = _> + Send> = match Outcomes::open(&self.files, &self.ledger) {
            Ok(mut outcomes) => {
                let (tally, name) = (self.tally.clone(), self.ledger.name.clone());
                Box::new(std::iter::from_fn(move || {
                    let batch = outcomes.next_batch().transpose();
                    tally.lost(&name, outcomes.damaged());
                    batch
                }))
            }
            Err(error) => Box::new(std::iter::once(Err(error))),
        };
        let rows = rows.map(|batch| batch.map_err(|error| DataFusionError::External(Box::new(error))));
        Box::pin(RecordBatchStreamAdapter::new(self.schema.clone(), stream::iter(rows)))
    }
}
