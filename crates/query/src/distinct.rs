//! `count(distinct a)` beside plain counts becomes two groupings.
//!
//! The engine does that by itself where only sums, minima and maxima stand beside the distinct one. With a count there, as in
//! `select domain, count(*), count(distinct url)`, it keeps a set of values for every group, which is slower, and which it
//! cannot put onto the disk when memory is short. This rule makes of it what a person would write:
//!
//! ```text
//! select d, count(*), count(distinct u)                  select d, sum(n), count(u)
//! from t                                         ──►     from (select d, u, count(*) as n from t group by d, u)
//! group by d                                             group by d
//! ```
//!
//! Invariants: names and types of the answer do not change (where they would, as with sums of decimals, the plan stays as it
//! was), and a count over nothing is 0, where a sum is null.

use std::sync::Arc;

use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, DFSchema, Result};
use datafusion::functions::core::expr_fn::coalesce;
use datafusion::functions_aggregate::count::Count;
use datafusion::functions_aggregate::min_max::{Max, Min};
use datafusion::functions_aggregate::sum::{Sum, sum_udaf};
use datafusion::logical_expr::expr::{AggregateFunction, AggregateFunctionParams};
use datafusion::logical_expr::{Aggregate, AggregateUDF, Expr, LogicalPlan, LogicalPlanBuilder, lit};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// The column of distinct values between the two groupings.
const VALUE: &str = "__distinct_value";

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct CountsBesideDistinct;

impl OptimizerRule for CountsBesideDistinct {
    fn name(&self) -> &str {
        "counts_beside_distinct"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::TopDown)
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let LogicalPlan::Aggregate(aggregate) = &plan else { return Ok(Transformed::no(plan)) };
        match in_two(aggregate)? {
            Some(other) => Ok(Transformed::yes(other)),
            None => Ok(Transformed::no(plan)),
        }
    }
}

/// What an aggregate becomes between and behind the two groupings.
enum Piece<'a> {
    /// The function over the distinct values.
    Distinct(&'a Arc<AggregateUDF>),
    /// The same over the parts as over the rows.
    Plain(&'a AggregateFunction),
    /// The sum of the parts.
    Count(&'a AggregateFunction),
}

/// The two groupings that say the same; `None` where the engine does well by itself, or this does not apply.
fn in_two(aggregate: &Aggregate) -> Result<Option<LogicalPlan>> {
    if aggregate.group_expr.iter().any(|expr| matches!(expr, Expr::GroupingSet(_))) {
        return Ok(None);
    }
    let Some((value, pieces)) = pieces(&aggregate.aggr_expr) else { return Ok(None) };
    let groups = aggregate.group_expr.len();
    let group = |at: usize| format!("__group_{at}");
    let part = |at: usize| format!("__part_{at}");
    let mut first_groups: Vec<Expr> =
        aggregate.group_expr.iter().enumerate().map(|(at, expr)| expr.clone().alias(group(at))).collect();
    first_groups.push(value.clone().alias(VALUE));
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for (at, piece) in pieces.iter().enumerate() {
        let (function, argument) = match piece {
            Piece::Distinct(function) => (Arc::clone(function), VALUE.to_owned()),
            Piece::Plain(call) => (Arc::clone(&call.func), part(at)),
            Piece::Count(_) => (sum_udaf(), part(at)),
        };
        if let Piece::Plain(call) | Piece::Count(call) = piece {
            first.push(Expr::AggregateFunction((*call).clone()).alias(part(at)));
        }
        let arguments = vec![Expr::Column(Column::from_name(argument))];
        let call = AggregateFunction::new_udf(function, arguments, false, None, Vec::new(), None);
        second.push(Expr::AggregateFunction(call).alias(format!("__whole_{at}")));
    }
    let second_groups = (0..groups).map(|at| Expr::Column(Column::from_name(group(at))));
    let plan = LogicalPlanBuilder::from(Arc::clone(&aggregate.input))
        .aggregate(first_groups, first)?
        .aggregate(second_groups, second)?;
    // Under the names that others know them by.
    let named = plan.schema().columns().into_iter().enumerate().map(|(at, column)| {
        let (qualifier, field) = aggregate.schema.qualified_field(at);
        let column = Expr::Column(column);
        let is_count =
            at.checked_sub(groups).is_some_and(|at| matches!(pieces.get(at), Some(Piece::Count(_))));
        let column = if is_count { coalesce(vec![column, lit(0_i64)]) } else { column };
        column.alias_qualified(qualifier.cloned(), field.name())
    });
    let named: Vec<Expr> = named.collect();
    let plan = plan.project(named)?.build()?;
    let types =
        |plan: &DFSchema| plan.fields().iter().map(|field| field.data_type().clone()).collect::<Vec<_>>();
    Ok((types(&aggregate.schema) == types(plan.schema())).then_some(plan))
}

/// The one distinct argument and what is made of all aggregates, if there are counts beside it and nothing else that cannot be divided.
fn pieces(aggregates: &[Expr]) -> Option<(&Expr, Vec<Piece<'_>>)> {
    let (mut value, mut counts, mut pieces) = (None, 0, Vec::new());
    for expr in aggregates {
        let Expr::AggregateFunction(call) = expr else { return None };
        let AggregateFunctionParams { args, distinct, filter, order_by, null_treatment } = &call.params;
        if filter.is_some() || !order_by.is_empty() || null_treatment.is_some() {
            return None;
        }
        let function = call.func.inner();
        let divides = function.is::<Sum>() || function.is::<Min>() || function.is::<Max>();
        if *distinct {
            let [argument] = args.as_slice() else { return None };
            let is_counted = function.is::<Count>() || divides;
            if !is_counted || value.is_some_and(|value| value != argument) {
                return None;
            }
            value = Some(argument);
            pieces.push(Piece::Distinct(&call.func));
        } else if function.is::<Count>() {
            counts += 1;
            pieces.push(Piece::Count(call));
        } else if divides {
            pieces.push(Piece::Plain(call));
        } else {
            return None;
        }
    }
    value.filter(|_| counts > 0).map(|value| (value, pieces))
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::array::{Int64Array, RecordBatch, StringArray};
    use datafusion::arrow::util::pretty::pretty_format_batches;
    use datafusion::datasource::MemTable;
    use datafusion::execution::SessionStateBuilder;
    use datafusion::prelude::SessionContext;

    use super::*;

    /// Rows with nulls in every column.
    fn rows(count: i64) -> RecordBatch {
        let some = |number: i64, modulus: i64| (number % modulus > 0).then_some(number * 7919 % modulus);
        let text = |modulus| (0..count).map(move |number| some(number, modulus).map(|text| text.to_string()));
        let columns: [(&str, Arc<dyn datafusion::arrow::array::Array>); 3] = [
            ("d", Arc::new(StringArray::from_iter(text(5)))),
            ("u", Arc::new(StringArray::from_iter(text(23)))),
            ("n", Arc::new(Int64Array::from_iter((0..count).map(|number| some(number, 11))))),
        ];
        RecordBatch::try_from_iter(columns).unwrap()
    }

    /// The answer, and whether it was grouped twice.
    fn asked(query: &str, rows: &RecordBatch, rule: bool) -> (String, bool) {
        let mut builder = SessionStateBuilder::new().with_default_features();
        if rule {
            builder = builder.with_optimizer_rule(Arc::new(CountsBesideDistinct));
        }
        let context = SessionContext::new_with_state(builder.build());
        let table = MemTable::try_new(rows.schema(), vec![vec![rows.clone()]]).unwrap();
        context.register_table("t", Arc::new(table)).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let frame = context.sql(query).await.unwrap();
            let plan = frame.clone().into_optimized_plan().unwrap().display_indent().to_string();
            let answer = frame.collect().await.unwrap();
            (pretty_format_batches(&answer).unwrap().to_string(), plan.contains(VALUE))
        })
    }

    #[test]
    fn counts_are_the_same_in_two_groupings() {
        for count in [0, 1, 500] {
            let rows = rows(count);
            for query in [
                "select d, count(*) as n, count(distinct u) as urls from t group by d order by d",
                "select count(distinct u), count(*), count(n), min(n), max(u), sum(n) from t",
                "select d || 'x' as x, n % 2, count(n), count(distinct u), max(u) from t group by 1, 2 order by 1, 2",
                "select d, count(distinct n), sum(distinct n), count(u) from t group by d having count(*) > 3 order by d",
                "select count(distinct d) + count(*) as both from t where n > 4",
            ] {
                let ((plain, _), (ours, is_in_two)) = (asked(query, &rows, false), asked(query, &rows, true));
                assert!(is_in_two, "{query}");
                assert_eq!(ours, plain, "{query} of {count} rows");
            }
        }
    }

    #[test]
    fn what_cannot_be_divided_stays_as_it_was() {
        let rows = rows(100);
        for query in [
            "select d, count(distinct u), count(distinct n), count(*) from t group by d order by d",
            "select d, count(distinct u) filter (where n > 3), count(*) from t group by d order by d",
            "select d, count(distinct u), count(*), avg(n) from t group by d order by d",
            "select d, count(distinct u), count(*), sum(cast(n as decimal(10, 2))) from t group by d order by d",
            "select d, count(distinct u), count(*) from t group by grouping sets ((d), ()) order by d",
        ] {
            let ((plain, _), (ours, is_in_two)) = (asked(query, &rows, false), asked(query, &rows, true));
            assert!(!is_in_two, "{query}");
            assert_eq!(ours, plain, "{query}");
        }
    }
}
