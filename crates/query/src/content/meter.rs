//! [`MeterExec`] passes rows through and adds up what their documents take, so that it is known how much there is to read before
//! reading begins: the sort behind it waits for the last row.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use datafusion::arrow::array::{Int32Array, RecordBatch};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::StreamExt as _;

use super::tally::Tally;

/// See the module.
#[derive(Debug)]
pub(crate) struct MeterExec {
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
    tally: Arc<Tally>,
}

impl MeterExec {
    /// Counts what comes from `input`.
    pub(crate) fn new(input: Arc<dyn ExecutionPlan>, tally: Arc<Tally>) -> MeterExec {
        // No order is passed on: a sort below would let rows through before the last one was counted.
        let properties = PlanProperties::new(
            EquivalenceProperties::new(input.schema()),
            Partitioning::UnknownPartitioning(input.properties().partitioning.partition_count()),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        MeterExec { input, properties: Arc::new(properties), tally }
    }
}

/// What the documents of a batch take in the archives.
pub(super) fn archive_bytes(batch: &RecordBatch) -> u64 {
    let lengths = batch
        .column_by_name("warc_record_length")
        .and_then(|column| column.as_any().downcast_ref::<Int32Array>());
    lengths.map_or(0, |lengths| lengths.iter().flatten().map(|length| u64::from(length.unsigned_abs())).sum())
}

impl DisplayAs for MeterExec {
    fn fmt_as(&self, _: DisplayFormatType, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("MeterExec")
    }
}

impl ExecutionPlan for MeterExec {
    fn name(&self) -> &str {
        "MeterExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match children.pop() {
            Some(input) if children.is_empty() => Ok(Arc::new(MeterExec::new(input, self.tally.clone()))),
            _ => internal_err!("MeterExec has one input"),
        }
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let tally = self.tally.clone();
        let input = self.input.execute(partition, context)?.inspect(move |batch| {
            if let Ok(batch) = batch {
                tally.rows_total.fetch_add(batch.num_rows() as u64, Ordering::Relaxed);
                tally.bytes_total.fetch_add(archive_bytes(batch), Ordering::Relaxed);
            }
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), input)))
    }
}
