//! What one scan of `documents` needs: which columns are read for it and where they come from, and which condition can be answered when.

use std::collections::BTreeSet;

use datafusion::catalog::TableProvider as _;
use datafusion::common::tree_node::{Transformed, TreeNode as _};
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::{Expr, ident};

use super::{DocumentsTable, RECORD_TYPE};
use crate::by_url;
use crate::columns::Origin;
use crate::content::work::PLACE;
use crate::history::History;
use crate::insertion;
use crate::sampling::INSTANCE;
use crate::via;

/// What one scan needs.
#[derive(Clone)]
pub(super) struct Demand {
    pub(super) wanted: Vec<usize>,
    /// Conditions on the index and on history alone.
    pub(super) conditions: Vec<Expr>,
    /// Conditions on computed columns.
    pub(super) content_conditions: Vec<Expr>,
    /// Computed columns: those of the conditions, then the others.
    pub(super) computed: Vec<usize>,
    /// How many of them the conditions need.
    pub(super) first: usize,
    pub(super) histories: Vec<History>,
    /// Conditions on what is joined to the index: what was found where, and values by URL.
    pub(super) joined_conditions: Vec<Expr>,
    /// Whether it is asked where pages were found.
    pub(super) via: bool,
    /// Columns by URL.
    pub(super) by_url: Vec<usize>,
    /// Columns of the index that are read.
    pub(super) needed: BTreeSet<String>,
}

impl DocumentsTable {
    /// The condition with the index's own names for its columns.
    fn without_aliases(&self, condition: &Expr) -> Result<Expr> {
        let renamed = condition.clone().transform(|expression| {
            if let Expr::Column(name) = &expression
                && let Some(at) = self.position(&name.name)
                && let Origin::Alias(base) = &self.columns[at].origin
            {
                return Ok(Transformed::yes(ident(base)));
            }
            Ok(Transformed::no(expression))
        })?;
        Ok(renamed.data)
    }

    pub(super) fn demand(&self, projection: Option<&Vec<usize>>, filters: &[Expr]) -> Result<Demand> {
        let wanted = projection.cloned().unwrap_or_else(|| (0..self.columns.len()).collect());
        let mut demand = Demand {
            wanted,
            conditions: Vec::new(),
            content_conditions: Vec::new(),
            computed: Vec::new(),
            first: 0,
            histories: Vec::new(),
            joined_conditions: Vec::new(),
            via: false,
            by_url: Vec::new(),
            needed: BTreeSet::new(),
        };
        for filter in filters {
            let condition = self.without_aliases(filter)?;
            let (mut of_content, mut of_joined) = (false, false);
            for name in sorted_names(&condition) {
                let Some(at) = self.position(&name) else {
                    return internal_err!("a condition on an unknown column {name}");
                };
                of_content |= self.columns[at].is_computed();
                of_joined |= matches!(self.columns[at].origin, Origin::Via | Origin::ByUrl(_));
                self.need(&mut demand, at);
            }
            let conditions = match (of_content, of_joined) {
                (true, _) => &mut demand.content_conditions,
                (false, true) => &mut demand.joined_conditions,
                (false, false) => &mut demand.conditions,
            };
            conditions.push(condition);
        }
        demand.first = demand.computed.len();
        for at in demand.wanted.clone() {
            self.need(&mut demand, at);
        }
        if !demand.computed.is_empty() {
            demand.needed.extend(PLACE.map(str::to_string));
            for at in &demand.computed {
                if let Some(kept) = self.kept.get(self.columns[*at].field.name()) {
                    demand.needed.extend(kept.key.needs(&self.metadata.schema()).map(str::to_string));
                }
            }
        }
        if !demand.histories.is_empty() {
            demand.needed.extend(History::NEEDS.map(str::to_string));
            if self.metadata.schema().field_with_name(RECORD_TYPE).is_ok() {
                demand.needed.insert(RECORD_TYPE.to_string());
            }
        }
        if let Some(missing) = &self.only_missing {
            demand.needed.extend(missing.key.needs(&self.metadata.schema()).map(str::to_string));
            demand.needed.insert(INSTANCE.to_string());
            if self.metadata.schema().field_with_name(RECORD_TYPE).is_ok() {
                demand.needed.insert(RECORD_TYPE.to_string());
            }
        }
        if self.dates.as_of_ms.is_some() {
            demand.needed.insert("fetch_time".to_string());
        }
        if self.dates.inserted_by_ms.is_some() {
            demand.needed.insert(insertion::column(&self.metadata.schema()).to_string());
        }
        Ok(demand)
    }

    fn need(&self, demand: &mut Demand, at: usize) {
        match &self.columns[at].origin {
            Origin::Index => {
                demand.needed.insert(self.columns[at].field.name().clone());
            }
            Origin::Alias(base) => {
                demand.needed.insert(base.clone());
            }
            Origin::History(history) => {
                if !demand.histories.contains(history) {
                    demand.histories.push(*history);
                }
            }
            Origin::Via => {
                demand.via = true;
                demand.needed.insert(via::VIA_KEY.to_string());
            }
            Origin::ByUrl(_) => {
                if !demand.by_url.contains(&at) {
                    demand.by_url.push(at);
                }
                demand.needed.insert(by_url::URL_KEY.to_string());
            }
            Origin::Body | Origin::Analyzer(_) | Origin::FailureOfLast(_) => {
                if !demand.computed.contains(&at) {
                    demand.computed.push(at);
                }
            }
        }
    }
}

/// The columns that an expression reads, each once.
pub(super) fn sorted_names(expression: &Expr) -> BTreeSet<String> {
    expression.column_refs().into_iter().map(|name| name.name.clone()).collect()
}
