//! Columns that the other instances of the same URL decide, ordered by fetch time.
//!
//! They are computed by windows over the whole index (as of the date asked for), before any condition of the query but those on the
//! URL itself: whether an instance is the latest does not depend on what else was asked.

use datafusion::arrow::datatypes::{DataType, Field, TimeUnit};
use datafusion::common::Result;
use datafusion::functions_window::expr_fn::{first_value, lag, lead, row_number};
use datafusion::logical_expr::expr::NullTreatment;
use datafusion::logical_expr::{Expr, ExprFunctionExt as _, LogicalPlanBuilder, SortExpr, ident, lit, when};

use crate::sampling::INSTANCE;

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum History {
    /// 1 for the first instance of a URL, and so on.
    InstanceNumber,
    /// When the first instance was fetched.
    FirstSeen,
    /// Whether the payload is another than the one known last before; nothing for the first one, nor where digests do not tell. A
    /// revisit without a digest is what its server said: not changed.
    Changed,
    /// Whether no later instance exists.
    Latest,
}

impl History {
    /// All of them.
    pub(crate) const ALL: [History; 4] =
        [History::InstanceNumber, History::FirstSeen, History::Changed, History::Latest];

    /// What it is called in queries.
    pub(crate) fn name(self) -> &'static str {
        match self {
            History::InstanceNumber => "instance_number",
            History::FirstSeen => "first_seen",
            History::Changed => "changed",
            History::Latest => "latest",
        }
    }

    /// The one of this name.
    pub(crate) fn find(name: &str) -> Option<History> {
        History::ALL.into_iter().find(|history| history.name() == name)
    }

    /// Its column.
    pub(crate) fn field(self) -> Field {
        let (data_type, nullable) = match self {
            History::InstanceNumber => (DataType::UInt64, false),
            History::FirstSeen => (DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())), true),
            History::Changed => (DataType::Boolean, true),
            History::Latest => (DataType::Boolean, false),
        };
        Field::new(self.name(), data_type, nullable)
    }

    /// The columns of the index that it needs.
    pub(crate) const NEEDS: [&'static str; 4] = ["url", "fetch_time", "content_digest", INSTANCE];
}

/// Whether a condition on this column of the index says the same of all instances of a URL.
pub(crate) fn is_of_url(column: &str) -> bool {
    column == "url" || column.starts_with("url_")
}

/// Adds the columns to a plan that has [`History::NEEDS`]; all that the plan had stays.
pub(crate) fn add(plan: LogicalPlanBuilder, asked: &[History]) -> Result<LogicalPlanBuilder> {
    let mut kept: Vec<Expr> = plan.schema().fields().iter().map(|field| ident(field.name())).collect();
    let tells_revisits = kept.contains(&ident("record_type"));
    let mut windows = vec![over(row_number(), "__number")?];
    if asked.contains(&History::FirstSeen) {
        windows.push(over(first_value(ident("fetch_time")), "__first")?);
    }
    if asked.contains(&History::Changed) {
        // The last one that is known: a revisit may say only that it is the same.
        let before = lag(ident("content_digest"), Some(1), None);
        windows.push(over_known(before, "__before", NullTreatment::IgnoreNulls)?);
    }
    if asked.contains(&History::Latest) {
        windows.push(over(lead(ident(INSTANCE), Some(1), None), "__behind")?);
    }
    for history in asked {
        let value = match history {
            History::InstanceNumber => ident("__number"),
            History::FirstSeen => ident("__first"),
            History::Changed => {
                let digest = || ident("content_digest");
                let later = || ident("__number").gt(lit(1u64));
                let differs = digest().not_eq(ident("__before"));
                let mut changed = when(later().and(digest().is_not_null()), differs);
                if tells_revisits {
                    let same = ident("record_type").eq(lit("revisit"));
                    changed = changed.when(later().and(same), lit(false));
                }
                changed.end()?
            }
            History::Latest => ident("__behind").is_null(),
        };
        kept.push(value.alias(history.name()));
    }
    plan.window(windows)?.project(kept)
}

/// The rows of a plan that are the first ones with their value of `key`: by the column `before`, if there is one, then by instance.
pub(crate) fn first_of(
    plan: LogicalPlanBuilder,
    key: &str,
    before: Option<&str>,
) -> Result<LogicalPlanBuilder> {
    let kept: Vec<Expr> = plan.schema().fields().iter().map(|field| ident(field.name())).collect();
    let order = before.into_iter().chain([INSTANCE]);
    let order = order.map(|column| SortExpr::new(ident(column), true, false)).collect();
    let number = row_number().partition_by(vec![ident(key)]).order_by(order).build()?.alias("__number");
    plan.window(vec![number])?.filter(ident("__number").eq(lit(1u64)))?.project(kept)
}

fn over(function: Expr, name: &str) -> Result<Expr> {
    over_known(function, name, NullTreatment::RespectNulls)
}

fn over_known(function: Expr, name: &str, nulls: NullTreatment) -> Result<Expr> {
    let order = |column: &str| SortExpr::new(ident(column), true, false);
    let window = function
        .partition_by(vec![ident("url")])
        .order_by(vec![order("fetch_time"), order(INSTANCE)])
        .null_treatment(nulls)
        .build()?;
    Ok(window.alias(name))
}
