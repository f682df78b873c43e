//! [`RunsExec`] counts rows that are alike and stand one after the other, so that a grouping looks at each run once instead of at each row.
//!
//! Rows of the index are in the order of URLs: those of one top-level domain, of one host, mostly of one type and status stand together.
//! A grouping that only counts rows, the most frequent question of all, would look up the same name in its table a thousand times. The rule
//! [`CountsInRuns`] makes of it, below what was there before:
//!
//! ```text
//! Final    count(*) by g                          Final    count(*) by g
//! Partial  count(*) by g                 ──►      Partial  sum(n) by g
//! …                                               Runs     g, n: one row for each run of a batch
//!                                                 …
//! ```
//!
//! What a count hands on is a number that the final grouping adds up, and so is a sum: the final grouping stays as it is.
//!
//! Invariants: a run need not be as long as it could be (it ends with its batch), but all its rows are alike, nulls among nulls. Costs: one
//! comparison of 16 bytes for each row and text, and of the texts where only these tell. Where runs turn out to be short, rows are handed on as they
//! are, each with the number 1, and nothing is compared any more.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, Int64Array, RecordBatch, UInt32Array, cast::AsArray as _};
use datafusion::arrow::buffer::BooleanBuffer;
use datafusion::arrow::compute::kernels::cmp::distinct;
use datafusion::arrow::compute::take;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode as _, TreeNodeRecursion};
use datafusion::common::{Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::functions_aggregate::count::Count;
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::physical_expr::aggregate::{AggregateExprBuilder, AggregateFunctionExpr};
use datafusion::physical_expr::expressions::{Column, Literal};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode, PhysicalGroupBy};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties as _, InputOrderMode, PlanProperties,
};
use futures::StreamExt as _;

/// The column with the lengths of runs.
const LENGTH: &str = "__run";
/// After so many rows it is known whether there are runs.
const ROWS_TRIED: usize = 1 << 16;
/// Runs of fewer rows than this on average are not worth looking for.
const ROWS_MIN: usize = 3;

/// The rule that puts them below groupings that only count rows.
#[derive(Debug)]
pub(crate) struct CountsInRuns;

impl PhysicalOptimizerRule for CountsInRuns {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let changed = plan.transform_up(|plan| {
            let in_runs = match plan.downcast_ref::<AggregateExec>() {
                Some(grouping) if is_for_runs(grouping)? => Some(in_runs(grouping)?),
                _ => None,
            };
            Ok(match in_runs {
                Some(grouping) => Transformed::yes(grouping),
                None => Transformed::no(plan),
            })
        })?;
        Ok(changed.data)
    }

    fn name(&self) -> &str {
        "counts_in_runs"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Whether a grouping only counts rows, and by something that can be compared here.
fn is_for_runs(grouping: &AggregateExec) -> Result<bool> {
    let groups = grouping.group_expr();
    if *grouping.mode() != AggregateMode::Partial
        || *grouping.input_order_mode() != InputOrderMode::Linear
        || grouping.limit_options().is_some()
        || !groups.is_single()
        || groups.is_empty()
        || grouping.aggr_expr().is_empty()
        || !grouping.aggr_expr().iter().all(|call| counts_rows(call))
        || grouping.filter_expr().iter().any(Option::is_some)
    {
        return Ok(false);
    }
    let input = grouping.input().schema();
    for (group, _) in groups.expr() {
        let compared = match group.data_type(&input)? {
            DataType::Utf8View | DataType::Utf8 | DataType::LargeUtf8 | DataType::Boolean => true,
            other => other.is_primitive(),
        };
        if !compared {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether this is `count(*)`, which is the count of a constant by now.
fn counts_rows(call: &AggregateFunctionExpr) -> bool {
    let is_constant = |argument: &Arc<dyn PhysicalExpr>| {
        argument.downcast_ref::<Literal>().is_some_and(|constant| !constant.value().is_null())
    };
    call.fun().inner().is::<Count>()
        && !call.is_distinct()
        && call.order_bys().is_empty()
        && call.expressions().iter().all(is_constant)
}

/// The same grouping, of runs.
fn in_runs(grouping: &AggregateExec) -> Result<Arc<dyn ExecutionPlan>> {
    let groups = grouping.group_expr().expr();
    let runs = RunsExec::try_new(grouping.input().clone(), groups.to_vec())?;
    let schema = runs.schema();
    let length: Arc<dyn PhysicalExpr> = Arc::new(Column::new(LENGTH, groups.len()));
    let mut sums = Vec::new();
    for call in grouping.aggr_expr() {
        let sum = AggregateExprBuilder::new(sum_udaf(), vec![length.clone()])
            .schema(schema.clone())
            .alias(call.name())
            .human_display(format!("sum({LENGTH})"))
            .build()?;
        sums.push(Arc::new(sum));
    }
    let columns = groups.iter().enumerate().map(|(at, (_, name))| {
        let column: Arc<dyn PhysicalExpr> = Arc::new(Column::new(name, at));
        (column, name.clone())
    });
    let columns = PhysicalGroupBy::new_single(columns.collect());
    let filters = vec![None; sums.len()];
    let partial =
        AggregateExec::try_new(AggregateMode::Partial, columns, sums, filters, Arc::new(runs), schema)?;
    Ok(Arc::new(partial))
}

/// See the module.
#[derive(Debug)]
pub(crate) struct RunsExec {
    input: Arc<dyn ExecutionPlan>,
    /// What rows of a run have in common, and its name.
    groups: Vec<(Arc<dyn PhysicalExpr>, String)>,
    properties: Arc<PlanProperties>,
}

impl RunsExec {
    fn try_new(
        input: Arc<dyn ExecutionPlan>,
        groups: Vec<(Arc<dyn PhysicalExpr>, String)>,
    ) -> Result<RunsExec> {
        let read = input.schema();
        let mut fields = Vec::new();
        for (group, name) in &groups {
            fields.push(group.return_field(&read)?.as_ref().clone().with_name(name));
        }
        fields.push(Field::new(LENGTH, DataType::Int64, false));
        let properties = PlanProperties::new(
            EquivalenceProperties::new(Arc::new(Schema::new_with_metadata(fields, read.metadata().clone()))),
            Partitioning::UnknownPartitioning(input.output_partitioning().partition_count()),
            input.pipeline_behavior(),
            input.boundedness(),
        );
        Ok(RunsExec { input, groups, properties: Arc::new(properties) })
    }
}

/// One partition's search for runs.
struct Runs {
    groups: Vec<Arc<dyn PhysicalExpr>>,
    schema: SchemaRef,
    rows: usize,
    runs: usize,
}

impl Runs {
    /// The runs of a batch, or its rows if they are hardly fewer.
    fn of(&mut self, batch: &RecordBatch) -> Result<RecordBatch> {
        let rows = batch.num_rows();
        let mut columns = Vec::with_capacity(self.groups.len() + 1);
        for group in &self.groups {
            columns.push(group.evaluate(batch)?.into_array(rows)?);
        }
        let starts = if self.is_worth_it() { self.starts(&columns, rows)? } else { None };
        let lengths = match starts {
            Some(starts) => {
                let ends = starts.iter().skip(1).copied().chain([rows as u32]);
                let lengths = starts.iter().zip(ends).map(|(start, end)| i64::from(end - start));
                let lengths = Int64Array::from_iter_values(lengths);
                let starts = UInt32Array::from(starts);
                for column in &mut columns {
                    *column = take(column.as_ref(), &starts, None)?;
                }
                lengths
            }
            None => Int64Array::from_value(1, rows),
        };
        columns.push(Arc::new(lengths));
        Ok(RecordBatch::try_new(self.schema.clone(), columns)?)
    }

    fn is_worth_it(&self) -> bool {
        self.rows < ROWS_TRIED || self.runs * ROWS_MIN <= self.rows
    }

    /// Where runs begin; `None` if there are hardly fewer of them than rows.
    fn starts(&mut self, columns: &[ArrayRef], rows: usize) -> Result<Option<Vec<u32>>> {
        let mut other: Option<BooleanBuffer> = None;
        for column in columns.iter().filter(|_| rows > 1) {
            let changes = changes(column, rows)?;
            other = Some(other.map_or_else(|| changes.clone(), |other| &other | &changes));
        }
        let runs = rows.min(1) + other.as_ref().map_or(0, BooleanBuffer::count_set_bits);
        self.rows += rows;
        self.runs += runs;
        if rows == 0 || runs * 2 > rows {
            return Ok(None);
        }
        let mut starts = Vec::with_capacity(runs);
        starts.push(0);
        starts.extend(other.iter().flat_map(BooleanBuffer::set_indices).map(|row| row as u32 + 1));
        Ok(Some(starts))
    }
}

/// For each row but the last, whether the next one is another.
fn changes(column: &ArrayRef, rows: usize) -> Result<BooleanBuffer> {
    let Some(texts) = column.as_string_view_opt() else {
        let changes = distinct(&column.slice(1, rows - 1), &column.slice(0, rows - 1))?;
        return Ok(changes.values().clone());
    };
    // Views that are the same are the same text, as those of one entry of a dictionary are. Others may be, too, if they have the same length
    // and beginning, which are the lower half of a view.
    let views = texts.views();
    let changes = BooleanBuffer::collect_bool(rows - 1, |row| {
        let (view, next) = (views[row], views[row + 1]);
        view != next && (view as u64 != next as u64 || texts.value(row) != texts.value(row + 1))
    });
    Ok(match texts.nulls().filter(|nulls| nulls.null_count() > 0) {
        // What the view of a null is, nobody knows.
        Some(nulls) => {
            let appears = |row| nulls.is_null(row) != nulls.is_null(row + 1);
            &changes | &BooleanBuffer::collect_bool(rows - 1, appears)
        }
        None => changes,
    })
}

impl DisplayAs for RunsExec {
    fn fmt_as(&self, _: DisplayFormatType, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let groups: Vec<String> = self.groups.iter().map(|(group, _)| group.to_string()).collect();
        write!(formatter, "RunsExec: of=[{}]", groups.join(", "))
    }
}

impl ExecutionPlan for RunsExec {
    fn name(&self) -> &str {
        "RunsExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        look: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        let mut next = TreeNodeRecursion::Continue;
        for (group, _) in &self.groups {
            next = next.visit_sibling(|| look(group))?;
        }
        Ok(next)
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match children.pop() {
            Some(input) if children.is_empty() => {
                Ok(Arc::new(RunsExec::try_new(input, self.groups.clone())?))
            }
            _ => internal_err!("RunsExec has one input"),
        }
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let groups = self.groups.iter().map(|(group, _)| group.clone()).collect();
        let mut runs = Runs { groups, schema: self.schema(), rows: 0, runs: 0 };
        let input = self.input.execute(partition, context)?;
        let batches = input.map(move |batch| runs.of(&batch?));
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), batches)))
    }
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::array::{BooleanArray, Float64Array, Int32Array, StringArray, StringViewArray};
    use datafusion::arrow::util::pretty::pretty_format_batches;
    use datafusion::datasource::MemTable;
    use datafusion::execution::SessionStateBuilder;
    use datafusion::prelude::{SessionConfig, SessionContext};

    use super::*;

    /// Rows whose values change every so many of them, with nulls, in batches of other sizes.
    fn batches(count: usize, every: usize) -> Vec<RecordBatch> {
        let value = |row: usize| row / every * 7919 % 23;
        let text = |row: usize| match value(row) {
            0..3 => None,
            // Short texts lie in their views, long ones elsewhere.
            value if value % 2 == 0 => Some(format!("{value}")),
            value => Some(format!("a long text, the same at its beginning, {value}")),
        };
        let some = |row: usize| (value(row) % 5 > 0).then_some(value(row) as i32 % 4);
        let mut batches = Vec::new();
        let mut start = 0;
        while start < count {
            let end = (start + 1 + start * 7 % 900).min(count);
            let texts = || (start..end).map(text);
            let floats = |row: usize| match value(row) % 4 {
                0 => f64::NAN,
                1 => 0.0,
                2 => -0.0,
                value => value as f64,
            };
            let columns: [(&str, ArrayRef); 5] = [
                ("f", Arc::new(Float64Array::from_iter_values((start..end).map(floats)))),
                ("v", Arc::new(StringViewArray::from_iter(texts()))),
                ("t", Arc::new(StringArray::from_iter(texts()))),
                ("n", Arc::new(Int32Array::from_iter((start..end).map(some)))),
                (
                    "b",
                    Arc::new(BooleanArray::from_iter(
                        (start..end).map(|row| some(row).map(|number| number > 1)),
                    )),
                ),
            ];
            batches.push(
                RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true)))
                    .unwrap(),
            );
            start = end;
        }
        batches
    }

    /// The answer, and its plan.
    fn asked(query: &str, batches: &[RecordBatch], rule: bool) -> (String, String) {
        let config = SessionConfig::new().with_target_partitions(2).with_batch_size(1000);
        let mut builder = SessionStateBuilder::new().with_default_features().with_config(config);
        if rule {
            builder = builder.with_physical_optimizer_rule(Arc::new(CountsInRuns));
        }
        let context = SessionContext::new_with_state(builder.build());
        let (one, two) = batches.split_at(batches.len() / 3);
        let table = MemTable::try_new(batches[0].schema(), vec![one.to_vec(), two.to_vec()]).unwrap();
        context.register_table("t", Arc::new(table)).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let frame = context.sql(query).await.unwrap();
            let plan = frame.clone().create_physical_plan().await.unwrap();
            let plan = datafusion::physical_plan::displayable(plan.as_ref()).indent(false).to_string();
            let answer = frame.collect().await.unwrap();
            (pretty_format_batches(&answer).unwrap().to_string(), plan)
        })
    }

    #[test]
    fn counts_are_the_same_in_runs() {
        for every in [1, 2, 3, 10, 1000] {
            let batches = batches(20_000, every);
            for query in [
                "select v, count(*) as n from t group by v order by v",
                "select t, n, count(*) as c from t group by t, n order by t, n",
                "select length(v) as l, b, count(*) as c from t where n is not null group by l, b order by l, b",
                "select f, count(*) as c from t group by f order by f, c",
                "select v, count(*) as c from t group by v order by c desc, v limit 3",
                "select v, count(*) as c, count(1) + 1 as d from t group by v having count(*) > 5 order by v",
            ] {
                let (plain, _) = asked(query, &batches, false);
                let (in_runs, plan) = asked(query, &batches, true);
                assert!(plan.contains("RunsExec"), "{query}\n{plan}");
                assert_eq!(plain, in_runs, "{query}, runs of {every}");
            }
        }
    }

    #[test]
    fn other_groupings_stay_as_they_are() {
        let batches = batches(2000, 10);
        for query in [
            "select v, count(n) as c from t group by v order by v",
            "select v, sum(n) as s, count(*) as c from t group by v order by v",
            "select v, count(distinct n) as c from t group by v order by v",
            "select v, count(*) filter (where n > 1) as c from t group by v order by v",
            "select v, n, count(*) as c from t group by cube (v, n) order by v, n, c",
            "select distinct v from t order by v",
            "select count(*) from t",
        ] {
            let (plain, _) = asked(query, &batches, false);
            let (other, plan) = asked(query, &batches, true);
            assert!(!plan.contains("RunsExec"), "{query}\n{plan}");
            assert_eq!(plain, other, "{query}");
        }
    }

    fn found(runs: &mut Runs, batch: &RecordBatch) -> Vec<(Option<String>, i64)> {
        let found = runs.of(batch).unwrap();
        let texts = found.column(0).as_string_view().iter().map(|text| text.map(str::to_owned));
        let lengths = found.column(1).as_primitive::<datafusion::arrow::datatypes::Int64Type>();
        texts.zip(lengths.values().iter().copied()).collect()
    }

    fn runs_of_texts() -> Runs {
        let fields =
            vec![Field::new("v", DataType::Utf8View, true), Field::new(LENGTH, DataType::Int64, false)];
        let schema = Arc::new(Schema::new(fields));
        Runs { groups: vec![Arc::new(Column::new("v", 0))], schema, rows: 0, runs: 0 }
    }

    fn texts(texts: impl IntoIterator<Item = Option<&'static str>>) -> RecordBatch {
        let column: ArrayRef = Arc::new(StringViewArray::from_iter(texts));
        RecordBatch::try_from_iter_with_nullable([("v", column, true)]).unwrap()
    }

    #[test]
    fn a_null_and_the_empty_text_are_two_runs() {
        let batch = texts([None, None, Some(""), Some(""), Some(""), None, None, None]);
        let empty = Some(String::new());
        assert_eq!(found(&mut runs_of_texts(), &batch), [(None, 2), (empty, 3), (None, 3)]);
        assert_eq!(found(&mut runs_of_texts(), &batch.slice(1, 2)), [(None, 1), (Some(String::new()), 1)]);
        assert_eq!(found(&mut runs_of_texts(), &batch.slice(0, 0)), []);
    }

    #[test]
    fn texts_that_lie_at_two_places_are_one_run() {
        let batch = texts([
            Some("twice the same long text"),
            Some("twice the same long text"),
            Some("twice the same lost text"),
        ]);
        let twice = datafusion::arrow::compute::concat_batches(&batch.schema(), [&batch, &batch]).unwrap();
        let one = |text: &str, length| (Some(text.to_owned()), length);
        let (same, other) = ("twice the same long text", "twice the same lost text");
        assert_eq!(found(&mut runs_of_texts(), &batch.slice(0, 2)), [one(same, 2)]);
        assert_eq!(
            found(&mut runs_of_texts(), &twice.slice(0, 3)),
            [one(same, 1), one(same, 1), one(other, 1)],
            "hardly fewer"
        );
        let mut many = vec![Some(same); 5];
        many.extend(vec![Some(other); 3]);
        assert_eq!(found(&mut runs_of_texts(), &texts(many)), [one(same, 5), one(other, 3)]);
    }

    #[test]
    fn rows_that_change_all_the_time_are_soon_handed_on_as_they_are() {
        let mut runs = runs_of_texts();
        let other = texts((0..8192).map(|row| Some(if row % 2 == 0 { "a" } else { "b" })));
        for _ in 0..10 {
            assert_eq!(found(&mut runs, &other).len(), 8192);
        }
        assert_eq!(runs.rows, ROWS_TRIED, "looked at no longer");
        let alike = texts((0..100).map(|_| Some("a")));
        assert_eq!(found(&mut runs, &alike).len(), 100);
    }
}
