//! From a text of SQL to a plan: its statements, the tables that they can read, and what is asked about these.

use std::collections::BTreeSet;
use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::common::tree_node::TreeNode as _;
use datafusion::common::{DataFusionError, TableReference};
use datafusion::execution::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::parser::Statement;

use super::complain::complain;
use super::parse::parse_all;
use super::{rewrite, views};
use crate::columns::Column;
use crate::complaint::{Complaint, Span};
use crate::content::tally::Tally;
use crate::described::{self, Asked, INFORMATION};
use crate::documents::{CCINDEX, DOCUMENTS};
use crate::error::QueryError;
use crate::outcomes::{self, OUTCOMES};
use crate::query::{Dates, Query};
use crate::session::Session;

impl Session {
    /// The plan of a text of SQL: views, and the query behind them.
    pub(crate) fn plan_sql(&self, text: &str) -> Result<Query, QueryError> {
        let statements = parse_all(text).map_err(|error| self.complain(text, &error))?;
        let complaint = |message: &str, hint: &str| {
            QueryError::from(Complaint::at(text, Span::new(0, 0), message).hint(hint))
        };
        let Some((query, views)) = statements.split_last() else {
            return Err(complaint("there is no query", "begin with `select` or `with`"));
        };
        if let Some(asked) = Asked::of(query) {
            return self.plan_question(text, &asked);
        }
        if rewrite::is_view(query) {
            return Err(complaint(
                "a view is there for the queries of its own command only",
                "put a `;` behind it, and then the query that reads it",
            ));
        }
        if !rewrite::is_query(query) {
            return Err(complaint("only queries are answered here", "begin with `select` or `with`"));
        }
        if !views.iter().all(rewrite::is_view) {
            return Err(complaint("this is more than one query", "ask them one by one"));
        }
        self.plan_statements(statements, text, &[text], &mut || self.draw())
    }

    /// What is wrong with `text`.
    pub(crate) fn complain(&self, text: &str, error: &DataFusionError) -> QueryError {
        complain(text, &self.inner.columns, error)
    }

    /// The plan of views and the query behind them that were made of `words`; complaints are about `text`. Samples that name no seed have the one
    /// of `seed`.
    pub(crate) fn plan_statements(
        &self,
        mut statements: Vec<Statement>,
        text: &str,
        words: &[&str],
        seed: &mut dyn FnMut() -> u64,
    ) -> Result<Query, QueryError> {
        let complain = |error: DataFusionError| self.complain(text, &error);
        let named = rewrite::named(words, &self.inner.columns);
        let wide: BTreeSet<String> = named
            .iter()
            .filter(|column| column.is_wide())
            .map(|column| column.field.name().clone())
            .collect();
        let seeds = rewrite::rewrite(text, &mut statements, &named, seed)?;
        let dates = self.dates(!seeds.is_empty())?;
        let tally = Arc::new(Tally::default());
        let mut state = self.state();
        self.add_tables(&state, named, dates, &tally)?;
        if words.iter().any(|words| words.to_lowercase().contains(INFORMATION)) {
            self.add_information(&state)?;
        }
        let Some(query) = statements.pop() else {
            return Err(Complaint::of(text, "there is no query").into());
        };
        for view in statements {
            let plan = self.block_on(state.statement_to_plan(view))?.map_err(complain)?;
            views::add(&state, text, plan)?;
        }
        let plan = self.block_on(state.statement_to_plan(query))?.map_err(complain)?;
        // Types are checked by the analyzer, whose complaints are about the text too.
        let plan = state.optimize(&plan).map_err(complain)?;
        // A word of the text need not be the column of that name.
        if reads(&plan, &wide)? {
            self.narrow(&mut state);
        }
        Ok(Query { session: self.clone(), state, plan, tally, seeds, dates })
    }

    /// The plan of what answers a question about tables.
    fn plan_question(&self, text: &str, asked: &Asked) -> Result<Query, QueryError> {
        if let Asked::Columns(table) = asked {
            let given = self.inner.given.iter().map(|(name, _)| name.as_str());
            let mut known = given.chain([DOCUMENTS, CCINDEX]).collect::<Vec<_>>();
            known.extend(Some(OUTCOMES).filter(|_| !self.inner.source.ledgers.is_empty()));
            if !known.contains(&table.as_str()) {
                let missing = DataFusionError::Plan(format!("table '{table}' not found"));
                return Err(self.complain(text, &missing));
            }
        }
        let sql = asked.sql();
        self.plan_statements(parse_all(&sql)?, text, &[&sql], &mut || self.draw())
    }

    /// Gives SQL the lists of tables and columns.
    fn add_information(&self, state: &SessionState) -> Result<(), QueryError> {
        let information = state.schema_for_ref(TableReference::partial(INFORMATION, INFORMATION))?;
        let default_schema = &state.config_options().catalog.default_schema;
        let has_outcomes = !self.inner.source.ledgers.is_empty();
        let (columns, given) = (&self.inner.columns, &self.inner.given);
        Ok(described::add(information.as_ref(), default_schema, columns, has_outcomes, given)?)
    }

    /// Gives SQL its tables.
    fn add_tables(
        &self,
        state: &SessionState,
        named: Vec<Column>,
        dates: Dates,
        tally: &Arc<Tally>,
    ) -> Result<(), QueryError> {
        let documents: Arc<dyn TableProvider> = Arc::new(self.table(named, dates, None, tally)?);
        let tables = state.schema_for_ref(DOCUMENTS)?;
        let of_common_crawl = state.schema_for_ref(TableReference::partial(CCINDEX, CCINDEX))?;
        tables.register_table(DOCUMENTS.to_owned(), documents.clone())?;
        for schema in [&tables, &of_common_crawl] {
            schema.register_table(CCINDEX.to_owned(), documents.clone())?;
            for (name, table) in &self.inner.given {
                schema.register_table(name.clone(), table.clone())?;
            }
        }
        if !self.inner.source.ledgers.is_empty() {
            let table = outcomes::table(&self.inner.files, &self.inner.source.ledgers, dates, tally)?;
            tables.register_table(OUTCOMES.to_owned(), table)?;
        }
        Ok(())
    }
}

/// Whether one of these columns is read anywhere in a plan.
fn reads(plan: &LogicalPlan, columns: &BTreeSet<String>) -> Result<bool, DataFusionError> {
    if columns.is_empty() {
        return Ok(false);
    }
    plan.exists(|node| {
        let LogicalPlan::TableScan(scan) = node else { return Ok(false) };
        let is_asked = scan.projected_schema.fields().iter().any(|field| columns.contains(field.name()));
        let in_filter = scan.filters.iter().flat_map(|filter| filter.column_refs());
        Ok(is_asked || in_filter.into_iter().any(|column| columns.contains(&column.name)))
    })
}
