//! Lists as rows: `from documents, unnest(links) as t (link)`, also `cross join unnest(…)` and `with ordinality`, which numbers the elements from 1.
//!
//! The engine takes lists apart among the columns of a query only. So `from a, unnest(x) with ordinality as t (e, n)` is read as
//! `from (select a.*, unnest(x) as e, unnest(range(1, cardinality(x) + 1)) as n from a) as a`, and `t.e` as `a.e`. A row without elements has no rows.

use std::ops::ControlFlow;

use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{
    self, Expr, Ident, JoinConstraint, JoinOperator, ObjectNamePart, Query, Select, SelectItem, SetExpr,
    Spanned as _, TableAlias, TableFactor, TableWithJoins, Value, VisitMut as _, VisitorMut,
};

use super::complain::{find_word, place};
use super::parse::parse;
use crate::complaint::Complaint;

const HINT: &str =
    "put what stands before `unnest` into a `with`, and write `from that, unnest(…) as t (element)`";

/// Changes the lists of a query's own `from`; queries within it are visited by themselves. `alone` is told of each `select` whose rows were those of
/// one table, before it is changed.
pub(super) fn rewrite(
    text: &str,
    query: &mut Query,
    alone: &mut dyn FnMut(&mut Select),
) -> Result<(), Complaint> {
    let mut renamed = Vec::new();
    fold_body(text, &mut query.body, alone, &mut renamed)?;
    if !renamed.is_empty() {
        let _: ControlFlow<()> = query.visit(&mut Renamed(renamed));
    }
    Ok(())
}

fn fold_body(
    text: &str,
    body: &mut SetExpr,
    alone: &mut dyn FnMut(&mut Select),
    renamed: &mut Vec<(String, Ident)>,
) -> Result<(), Complaint> {
    match body {
        SetExpr::Select(select) => fold_select(text, select, alone, renamed),
        SetExpr::SetOperation { left, right, .. } => {
            for side in [left, right] {
                let mut of_side = Vec::new();
                fold_body(text, side, alone, &mut of_side)?;
                let _: ControlFlow<()> = side.visit(&mut Renamed(of_side));
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn fold_select(
    text: &str,
    select: &mut Select,
    alone: &mut dyn FnMut(&mut Select),
    renamed: &mut Vec<(String, Ident)>,
) -> Result<(), Complaint> {
    let is_list = |factor: &TableFactor| matches!(factor, TableFactor::UNNEST { .. });
    let lists = select
        .from
        .iter()
        .flat_map(|from| std::iter::once(&from.relation).chain(from.joins.iter().map(|join| &join.relation)));
    let (count, tables) = lists.fold((0, 0), |(lists, tables), factor| match is_list(factor) {
        true => (lists + 1, tables),
        false => (lists, tables + 1),
    });
    if count == 0 || (tables == 0 && count == 1 && !is_numbered(&select.from[0].relation)) {
        return Ok(());
    }
    if tables == 1 && !is_list(&select.from[0].relation) {
        alone(select);
    }
    let mut from: Vec<TableWithJoins> = Vec::new();
    for mut table in std::mem::take(&mut select.from) {
        let joins = std::mem::take(&mut table.joins);
        match from.last_mut() {
            Some(before) if is_list(&table.relation) => fold(text, before, table.relation, renamed)?,
            _ if is_list(&table.relation) => {
                let relation = taken_apart(text, None, table.relation, renamed)?;
                from.push(TableWithJoins { relation, joins: Vec::new() });
            }
            _ => from.push(table),
        }
        let Some(last) = from.last_mut() else { continue };
        for join in joins {
            if !is_list(&join.relation) {
                last.joins.push(join);
            } else if has_no_condition(&join.join_operator) {
                fold(text, last, join.relation, renamed)?;
            } else {
                return Err(at(text, &join.relation, "`unnest` is joined by a comma or by `cross join`"));
            }
        }
    }
    select.from = from;
    Ok(())
}

fn is_numbered(factor: &TableFactor) -> bool {
    matches!(factor, TableFactor::UNNEST { with_ordinality: true, .. })
}

fn has_no_condition(operator: &JoinOperator) -> bool {
    let is_true = |condition: &JoinConstraint| match condition {
        JoinConstraint::None => true,
        JoinConstraint::On(Expr::Value(value)) => matches!(value.value, Value::Boolean(true)),
        _ => false,
    };
    match operator {
        JoinOperator::CrossJoin(condition)
        | JoinOperator::Join(condition)
        | JoinOperator::Inner(condition) => is_true(condition),
        _ => false,
    }
}

/// Puts the elements of lists beside the rows of the one table before them.
fn fold(
    text: &str,
    before: &mut TableWithJoins,
    lists: TableFactor,
    renamed: &mut Vec<(String, Ident)>,
) -> Result<(), Complaint> {
    if !before.joins.is_empty() {
        return Err(at(text, &lists, "`unnest` stands behind one table, and not behind a join").hint(HINT));
    }
    let base = before.relation.clone();
    before.relation = taken_apart(text, Some(base), lists, renamed)?;
    Ok(())
}

/// What a table is called in its query.
fn name_of(factor: &TableFactor) -> Option<Ident> {
    match factor {
        TableFactor::Table { alias: Some(alias), .. } | TableFactor::Derived { alias: Some(alias), .. } => {
            Some(alias.name.clone())
        }
        TableFactor::Table { name, .. } => match name.0.last() {
            Some(ObjectNamePart::Identifier(name)) => Some(name.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// A table by one name, also if it is named with its schema.
fn with_alias(mut table: TableFactor, name: &Ident) -> TableFactor {
    if let TableFactor::Table { alias: alias @ None, .. } = &mut table {
        *alias = Some(alias_of(name.clone()));
    }
    table
}

fn alias_of(name: Ident) -> TableAlias {
    TableAlias { explicit: true, name, columns: Vec::new(), at: None }
}

/// The table with columns for the elements of lists.
fn taken_apart(
    text: &str,
    base: Option<TableFactor>,
    lists: TableFactor,
    renamed: &mut Vec<(String, Ident)>,
) -> Result<TableFactor, Complaint> {
    let here = at(text, &lists, "`unnest` stands behind a table that has a name").hint(HINT);
    let TableFactor::UNNEST { alias, array_exprs, with_ordinality, .. } = lists else { return Err(here) };
    let called = alias.as_ref().map(|alias| alias.name.clone());
    let name = match &base {
        Some(base) => name_of(base).ok_or_else(|| here.clone())?,
        None => called.clone().unwrap_or_else(|| Ident::new("unnest")),
    };
    let mut columns: Vec<Ident> =
        alias.iter().flat_map(|alias| &alias.columns).map(|column| column.name.clone()).collect();
    if columns.len() > array_exprs.len() + usize::from(with_ordinality) {
        let message = format!(
            "there are {} names for {} column(s)",
            columns.len(),
            array_exprs.len() + usize::from(with_ordinality)
        );
        return Err(Complaint { message, hint: None, ..here });
    }
    let given = columns.len();
    for at in given..array_exprs.len() {
        // `unnest(links) as link` names the one column as well.
        let own = called.clone().filter(|_| given == 0 && array_exprs.len() == 1);
        columns.push(own.unwrap_or_else(|| {
            Ident::new(if at == 0 { "element".to_owned() } else { format!("element_{}", at + 1) })
        }));
    }
    let base = base.map(|base| with_alias(base, &name));
    let mut items: Vec<SelectItem> = Vec::new();
    let mut projected = String::new();
    if base.is_some() {
        projected += &format!("{name}.*, ");
    }
    projected += &vec!["unnest(x)"; array_exprs.len() + usize::from(with_ordinality)].join(", ");
    let mut query = query_of(&format!("select {projected}"));
    let SetExpr::Select(select) = query.body.as_mut() else { return Err(here) };
    let numbered = with_ordinality.then(|| (numbers(&array_exprs), columns.get(array_exprs.len()).cloned()));
    let mut elements: Vec<(Expr, Ident)> = array_exprs.into_iter().zip(columns).collect();
    elements.extend(numbered.map(|(list, name)| (list, name.unwrap_or_else(|| Ident::new("ordinality")))));
    let mut elements = elements.into_iter();
    for item in std::mem::take(&mut select.projection) {
        items.push(match item {
            SelectItem::UnnamedExpr(call) => {
                let Some((list, alias)) = elements.next() else { continue };
                SelectItem::ExprWithAlias { expr: with_argument(call, list), alias }
            }
            other => other,
        });
    }
    select.projection = items;
    select.from = base.into_iter().map(|relation| TableWithJoins { relation, joins: Vec::new() }).collect();
    if let Some(called) = called {
        renamed.push((called.value, name.clone()));
    }
    let alias = Some(alias_of(name));
    Ok(TableFactor::Derived { lateral: false, subquery: Box::new(query), alias, sample: None })
}

/// The numbers of the elements of the longest list.
fn numbers(lists: &[Expr]) -> Expr {
    let count = lists.iter().map(|list| format!("cardinality({list})")).collect::<Vec<_>>();
    let longest = if count.len() == 1 { count.concat() } else { format!("greatest({})", count.join(", ")) };
    let query = query_of(&format!("select range(1, cast({longest} as bigint) + 1)"));
    match *query.body {
        SetExpr::Select(select) => match select.projection.into_iter().next() {
            Some(SelectItem::UnnamedExpr(expression)) => expression,
            _ => unreachable!("it is a call"),
        },
        _ => unreachable!("it is a query"),
    }
}

fn query_of(text: &str) -> Query {
    let Ok(Statement::Statement(statement)) = parse(text) else { unreachable!("it is SQL: {text}") };
    let ast::Statement::Query(query) = *statement else { unreachable!("it is a query") };
    *query
}

fn with_argument(mut call: Expr, argument: Expr) -> Expr {
    if let Expr::Function(function) = &mut call
        && let ast::FunctionArguments::List(list) = &mut function.args
    {
        list.args = vec![ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(argument))];
    }
    call
}

fn at(text: &str, lists: &TableFactor, message: &str) -> Complaint {
    let span = place(text, lists.span()).or_else(|| find_word(text, "unnest"));
    Complaint { text: text.to_owned(), span, message: message.to_owned(), hint: None }
}

/// Calls columns of lists by the table that they are in now.
struct Renamed(Vec<(String, Ident)>);

impl VisitorMut for Renamed {
    type Break = ();

    fn pre_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<()> {
        if let Expr::CompoundIdentifier(names) = expression
            && let [table, _] = names.as_mut_slice()
            && let Some((_, now)) =
                self.0.iter().find(|(before, _)| before.eq_ignore_ascii_case(&table.value))
        {
            *table = now.clone();
        }
        ControlFlow::Continue(())
    }
}
