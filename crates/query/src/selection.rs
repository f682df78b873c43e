//! Documents by a condition that somebody wrote, and columns of them: what exports ask.
//!
//! The condition is one of the Web-in-a-Box language or of SQL, whichever it can be read as; what both can read means the same in both. A mistake is
//! shown where it is in the text that was written, so nothing is put together as a text.

use std::sync::Arc;

use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{Expr, LogicalPlanBuilder, ident};
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast;

use crate::columns::Column;
use crate::complaint::Complaint;
use crate::content::tally::Tally;
use crate::documents::DOCUMENTS;
use crate::error::QueryError;
use crate::query::Query;
use crate::session::Session;
use crate::sql::parse::{parse, parse_condition};
use crate::wib;
use crate::wib::ast::Placed;
use crate::wib::plan::Planner;

impl Session {
    /// The plan of a query for columns, `a, b, c`, of documents that fulfil a condition in either language, in the order of the columns `order`
    /// of the index. A condition with a sample that names no seed means the same sample every time it is asked for here.
    pub fn plan_selection(
        &self,
        columns: &str,
        condition: Option<&str>,
        order: &[&str],
    ) -> Result<Query, QueryError> {
        let names = wib::parse_names(columns)?;
        Planner { text: columns, columns: &self.inner.columns }.check(&names)?;
        let Some(text) = condition else { return self.selection_wib(&names, None, order) };
        let parsed = wib::parse_condition(text);
        let complaint = match &parsed {
            Ok(condition) => match self.selection_wib(&names, Some((text, condition)), order) {
                Err(QueryError::Query(complaint)) => *complaint,
                planned => return planned,
            },
            Err(complaint) => complaint.clone(),
        };
        // Whichever language it is meant in, it can be read in that one, or for longer.
        let is_sql = |other: &Complaint| {
            parsed.is_err() && (parse_condition(text).is_ok() || place(other) > place(&complaint))
        };
        match self.selection_sql(&names, text, order) {
            Err(QueryError::Query(other)) if is_sql(&other) => Err(QueryError::Query(other)),
            Err(QueryError::Query(_)) => Err(complaint.into()),
            planned => planned,
        }
    }

    fn selection_wib(
        &self,
        names: &[Placed<String>],
        condition: Option<(&str, &wib::ast::Condition)>,
        order: &[&str],
    ) -> Result<Query, QueryError> {
        let (text, condition) = condition.unzip();
        let planner = Planner { text: text.unwrap_or_default(), columns: &self.inner.columns };
        let query =
            wib::ast::Query { sampling: None, columns: names.to_vec(), condition: condition.cloned() };
        let named = planner.named(&query)?;
        let condition = condition.map(|condition| planner.condition(condition)).transpose()?;
        let state = self.state_for(named.iter().any(Column::is_wide));
        let dates = self.dates(false)?;
        let tally = Arc::new(Tally::default());
        let table = self.table(named, dates, None, &tally)?;
        let mut plan = LogicalPlanBuilder::scan(DOCUMENTS, provider_as_source(Arc::new(table)), None)?;
        if let Some(condition) = condition {
            plan = plan.filter(condition)?;
        }
        if !order.is_empty() {
            plan = plan.sort(order.iter().map(|name| ident(*name).sort(true, false)))?;
        }
        let columns: Vec<Expr> = names.iter().map(|name| ident(&name.value)).collect();
        let plan = state.optimize(&plan.project(columns)?.build()?)?;
        Ok(Query { session: self.clone(), state, plan, tally, seeds: Vec::new(), dates })
    }

    fn selection_sql(
        &self,
        names: &[Placed<String>],
        text: &str,
        order: &[&str],
    ) -> Result<Query, QueryError> {
        let quoted = |names: &mut dyn Iterator<Item = &str>| -> String {
            names.map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
        };
        let mut head =
            format!("select {} from {DOCUMENTS}", quoted(&mut names.iter().map(|name| name.value.as_str())));
        if !order.is_empty() {
            head += &format!(" order by {}", quoted(&mut order.iter().copied()));
        }
        let condition = parse_condition(text).map_err(|error| self.complain(text, &error))?;
        let mut statement = parse(&head)?;
        if let Statement::Statement(statement) = &mut statement
            && let ast::Statement::Query(query) = statement.as_mut()
            && let ast::SetExpr::Select(select) = query.body.as_mut()
        {
            select.selection = Some(condition);
        }
        let mut seed = || *self.inner.selection_seed.get_or_init(|| self.draw());
        self.plan_statements(vec![statement], text, &[&head, text], &mut seed)
    }
}

/// How far a text is right.
fn place(complaint: &Complaint) -> usize {
    complaint.span.map_or(0, |span| span.start)
}
