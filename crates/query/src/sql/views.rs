//! Views: `create view name as select …;` in front of a query gives a query a name, for that one command. Nothing is kept.

use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::datasource::ViewTable;
use datafusion::execution::SessionState;
use datafusion::logical_expr::{DdlStatement, LogicalPlan};

use super::complain::find_word;
use crate::complaint::Complaint;
use crate::error::QueryError;

/// Makes a table of the view that `plan` creates, for the queries of `state`.
pub(crate) fn add(state: &SessionState, text: &str, plan: LogicalPlan) -> Result<(), QueryError> {
    let LogicalPlan::Ddl(DdlStatement::CreateView(view)) = plan else {
        return Err(Complaint::of(text, "only views are created here").into());
    };
    let name = view.name.table().to_owned();
    let schema = state.schema_for_ref(view.name)?;
    if schema.table_exist(&name) {
        let message = format!("there is a table `{name}` already");
        let span = find_word(text, &name);
        return Err(Complaint { span, ..Complaint::of(text, message) }
            .hint("give the view another name")
            .into());
    }
    let table: Arc<dyn TableProvider> =
        Arc::new(ViewTable::new(Arc::unwrap_or_clone(view.input), view.definition));
    schema.register_table(name, table)?;
    Ok(())
}
