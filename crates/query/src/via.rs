//! The column `via`: the URL that the link to a page was found on first.
//!
//! The index has only the fingerprint of that URL (`via_key`), and of every row's own (`url_key`). The text comes from a join of the index
//! with itself, in which every URL counts once, however often it was fetched, so that no row is ever doubled. Who was found by a page that is
//! not stored itself has none, as seeds have none.
//!
//! Costs: one more pass over two columns of the index, sorted by key on disk where memory is short; nothing is known of the other side of
//! the join, so no condition of the query makes that smaller. No archive is opened.

use datafusion::arrow::datatypes::{Field, Schema};
use datafusion::common::{Column as Name, JoinType, Result};
use datafusion::functions_window::expr_fn::row_number;
use datafusion::logical_expr::{Expr, ExprFunctionExt as _, LogicalPlanBuilder, SortExpr, ident, lit};

/// What it is called in queries.
pub(crate) const VIA: &str = "via";

/// The column of the rows that are asked for which it needs.
pub(crate) const VIA_KEY: &str = "via_key";

/// The columns of the index that it reads of the rows that it looks up.
pub(crate) const SOURCE: [&str; 3] = ["url_key", "url", "fetch_time"];

/// The key of a looked up row; no query can name it.
const FOUND: &str = "__via_key";

/// Its column, if the index has what it needs.
pub(crate) fn field(index: &Schema) -> Option<Field> {
    let has = |name: &str| index.field_with_name(name).is_ok();
    let url = index.field_with_name("url").ok()?;
    let known = has(VIA_KEY) && SOURCE.iter().all(|name| has(name));
    known.then(|| Field::new(VIA, url.data_type().clone(), true))
}

/// Adds the column to a plan that has [`VIA_KEY`]; `index` has the columns [`SOURCE`] of all rows that exist. All that the plan had stays.
pub(crate) fn add(plan: LogicalPlanBuilder, index: LogicalPlanBuilder) -> Result<LogicalPlanBuilder> {
    let mut kept: Vec<Expr> = plan.schema().fields().iter().map(|field| ident(field.name())).collect();
    kept.push(ident(VIA));
    let [key, url, time] = SOURCE.map(ident);
    let order = vec![SortExpr::new(time, true, false)];
    let number = row_number().partition_by(vec![key.clone()]).order_by(order).build()?.alias("__number");
    let sources = index
        .window(vec![number])?
        .filter(ident("__number").eq(lit(1u64)))?
        .project(vec![key.alias(FOUND), url.alias(VIA)])?
        .build()?;
    let on = (vec![Name::from_name(VIA_KEY)], vec![Name::from_name(FOUND)]);
    plan.join(sources, JoinType::Left, on, None)?.project(kept)
}
