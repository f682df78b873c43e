//! [`CompactExec`] gives the strings of each batch buffers of their own, and cuts batches that are too large for a sort.
//!
//! Strings read from Parquet are views of whole pages. An operator that keeps batches, such as a sort, is charged for the pages, many times
//! over, and would run out of memory that nobody uses. Documents are large: a batch that takes all of a sort's memory cannot be sorted, and
//! the sorted pieces of one that has more rows than a batch are each charged for all of it. [`CompactSorts`] puts one below every sort that
//! has to keep all its rows, and, if rows are wide, one above it: what it merges are
//! again views of what it read, and whoever merges the sorts of several partitions is charged for all of that.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode as _, TreeNodeRecursion};
use datafusion::common::{Result, internal_err};
use datafusion::execution::memory_pool::MemoryLimit;
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

use crate::metadata::{add_sizes, compacted};
use crate::options::WIDE_ROWS_MAX;

/// A sort can hold so many batches at least.
const BATCHES_MIN: usize = 32;

/// The rule that puts them where they are needed. The last of all rules.
#[derive(Debug)]
pub(crate) struct CompactSorts;

impl PhysicalOptimizerRule for CompactSorts {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        options: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let wide = options.execution.batch_size.get() <= WIDE_ROWS_MAX;
        let changed = plan.transform_up(|plan| match plan.downcast_ref::<SortExec>() {
            Some(sort) if sort.fetch().is_none() && !sort.input().is::<CompactExec>() => {
                let keeps = sort.preserve_partitioning();
                let input: Arc<dyn ExecutionPlan> = Arc::new(CompactExec::new(sort.input().clone()));
                let sort = SortExec::new(sort.expr().clone(), input).with_preserve_partitioning(keeps);
                let sort: Arc<dyn ExecutionPlan> = Arc::new(sort);
                let sort = if wide && keeps { Arc::new(CompactExec::new(sort)) } else { sort };
                Ok(Transformed::yes(sort))
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

/// The same rows in pieces of at most so many, and of about so many bytes or one row.
fn cut(batch: &RecordBatch, rows_max: usize, bytes_max: usize) -> Vec<RecordBatch> {
    let rows = batch.num_rows();
    if rows <= rows_max && batch.get_array_memory_size() <= bytes_max {
        return vec![batch.clone()];
    }
    let mut sizes = vec![0; rows];
    batch.columns().iter().for_each(|column| add_sizes(column, &mut sizes));
    let mut pieces = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (row, size) in sizes.into_iter().enumerate() {
        if row > start && (row - start >= rows_max || bytes + size > bytes_max) {
            pieces.push(batch.slice(start, row - start));
            (start, bytes) = (row, 0);
        }
        bytes += size;
    }
    pieces.push(batch.slice(start, rows - start));
    pieces
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
        let config = context.session_config();
        let rows_max = config.batch_size();
        let bytes_max = match context.memory_pool().memory_limit() {
            MemoryLimit::Finite(bytes) => bytes / config.target_partitions().max(1) / BATCHES_MIN,
            _ => usize::MAX,
        };
        let input = self.input.execute(partition, context)?.flat_map(move |batch| {
            let pieces = match batch {
                Ok(batch) => cut(&batch, rows_max, bytes_max).iter().map(compact).collect(),
                Err(error) => vec![Err(error)],
            };
            futures::stream::iter(pieces)
        });
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

#[cfg(test)]
mod tests {
    use datafusion::arrow::array::{ArrayRef, Int32Array, StringViewArray};

    use super::*;

    #[test]
    fn large_batches_are_cut_by_rows_and_by_bytes() {
        let texts: ArrayRef =
            Arc::new(StringViewArray::from_iter_values((0..10).map(|row| "x".repeat(100 * row))));
        let numbers: ArrayRef = Arc::new(Int32Array::from_iter_values(0..10));
        let batch = RecordBatch::try_from_iter([("text", texts), ("number", numbers)]).unwrap();
        let rows = |rows_max, bytes_max| -> Vec<usize> {
            cut(&batch, rows_max, bytes_max).iter().map(RecordBatch::num_rows).collect()
        };
        assert_eq!(rows(10, 1 << 20), [10]);
        assert_eq!(rows(4, 1 << 20), [4, 4, 2]);
        assert_eq!(rows(10, 1000), [4, 2, 1, 1, 1, 1], "a row that is too large comes alone");
        let pieces = cut(&batch, 10, 1000);
        assert_eq!(datafusion::arrow::compute::concat_batches(&batch.schema(), &pieces).unwrap(), batch);
        let small = compact(&pieces[0]).unwrap();
        assert!(small.get_array_memory_size() < 2000 && pieces[0].get_array_memory_size() > 4000);
    }
}
