//! [`CompactExec`] gives the strings of each batch buffers of their own.
//!
//! Strings read from Parquet are views of whole pages. An operator that keeps batches, such as a sort, is charged for the pages, many times
//! over, and would run out of memory that nobody uses. [`CompactSorts`] puts one below every sort that has to keep all its rows.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode as _, TreeNodeRecursion};
use datafusion::common::{Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::filter_pushdown::{
    ChildPushdownResult, FilterDescription, FilterPushdownPhase, FilterPushdownPropagation,
};
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::StreamExt as _;

use crate::metadata::compacted;

/// The rule that puts them where they are needed. The last of all rules.
#[derive(Debug)]
pub(crate) struct CompactSorts;

impl PhysicalOptimizerRule for CompactSorts {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let changed = plan.transform_up(|plan| match plan.downcast_ref::<SortExec>() {
            Some(sort) if sort.fetch().is_none() && !sort.input().is::<CompactExec>() => {
                let keeps = sort.preserve_partitioning();
                let input: Arc<dyn ExecutionPlan> = Arc::new(CompactExec::new(sort.input().clone()));
                let sort = SortExec::new(sort.expr().clone(), input);
                Ok(Transformed::yes(Arc::new(sort.with_preserve_partitioning(keeps))))
            }
            _ => Ok(Transformed::no(plan)),
        })?;
        Ok(changed.data)
    }

    fn name(&self) -> &str {
        "compact_sorts"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// See the module.
#[derive(Debug)]
pub(crate) struct CompactExec {
    input: Arc<dyn ExecutionPlan>,
}

/// The same rows in buffers of their own.
fn compact(batch: &RecordBatch) -> Result<RecordBatch> {
    let columns = batch.columns().iter().map(compacted).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(batch.schema(), columns, &options)?)
}

impl CompactExec {
    /// Compacts what comes from `input`.
    pub(crate) fn new(input: Arc<dyn ExecutionPlan>) -> CompactExec {
        CompactExec { input }
    }
}

impl DisplayAs for CompactExec {
    fn fmt_as(&self, _: DisplayFormatType, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("CompactExec")
    }
}

impl ExecutionPlan for CompactExec {
    fn name(&self) -> &str {
        "CompactExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
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
            Some(input) if children.is_empty() => Ok(Arc::new(CompactExec::new(input))),
            _ => internal_err!("CompactExec has one input"),
        }
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let input = self.input.execute(partition, context)?.map(|batch| compact(&batch?));
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), input)))
    }

    // Conditions go through to the reader of Parquet, which skips what cannot match.
    fn gather_filters_for_pushdown(
        &self,
        _: FilterPushdownPhase,
        parent_filters: Vec<Arc<dyn PhysicalExpr>>,
        _: &ConfigOptions,
    ) -> Result<FilterDescription> {
        FilterDescription::from_children(parent_filters, &self.children())
    }

    fn handle_child_pushdown_result(
        &self,
        _: FilterPushdownPhase,
        child_pushdown_result: ChildPushdownResult,
        _: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn ExecutionPlan>>> {
        Ok(FilterPushdownPropagation::if_all(child_pushdown_result))
    }
}
