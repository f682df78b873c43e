//! When rows were inserted into the repository, which is what makes samples repeatable.
//!
//! What is committed later has a later time, however long its visit took and however old the document is. So "all that was inserted by
//! this date" names the same rows for ever, once the date is that of something committed; "all that was fetched by this date" does
//! not: a visit that began earlier may end later, and archives of others are older than their import.
//!
//! Parts of earlier versions of the index do not have the column; there it is the end of the visit. Tables of others have no such time at all:
//! there it is the time of the fetch.

use datafusion::arrow::datatypes::{DataType, Schema, TimeUnit};
use datafusion::common::ScalarValue;
use datafusion::functions::core::expr_fn::coalesce;
use datafusion::logical_expr::{Expr, cast, ident, lit};

/// The column.
pub(crate) const INSERTION_TIME: &str = "insertion_time";

/// What it follows from where it is null.
pub(crate) const VISIT: [&str; 2] = ["fetch_time", "took_ms"];

/// The column that says when rows were inserted.
pub(crate) fn column(schema: &Schema) -> &'static str {
    if schema.field_with_name(INSERTION_TIME).is_ok() { INSERTION_TIME } else { "fetch_time" }
}

/// Whether a row was inserted by this date, in ms since 1970.
pub(crate) fn by(schema: &Schema, date_ms: i64) -> Expr {
    ident(column(schema)).lt_eq(lit(ScalarValue::TimestampMillisecond(Some(date_ms), Some("UTC".into()))))
}

/// The time of rows that may not have one, if they have [`VISIT`].
pub(crate) fn or_end_of_visit() -> Expr {
    let [fetch_time, took_ms] = VISIT;
    let end = cast(ident(fetch_time), DataType::Int64) + coalesce(vec![ident(took_ms), lit(0i64)]);
    let time = DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()));
    coalesce(vec![ident(INSERTION_TIME), cast(end, time)]).alias(INSERTION_TIME)
}
