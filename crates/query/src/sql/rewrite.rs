//! What is changed about a statement before it is planned.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{
    self, ExcludeSelectItem, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, ObjectName, Query,
    Select, SelectItem, TableFactor, Value, VisitMut as _, VisitorMut,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};

use super::sample;
use crate::columns::{Column, Columns, Origin};
use crate::complaint::Complaint;
use crate::documents::{CCINDEX, DOCUMENTS};
use crate::sampling::{INSTANCE, SAMPLED};
use crate::sql::{athena, unnest};

/// The columns beside those of the index that words of the texts may mean, each once.
pub(crate) fn named(texts: &[&str], columns: &Columns) -> Vec<Column> {
    // What cannot be cut into words cannot be parsed either, which is said better there.
    let words = |text: &&str| Tokenizer::new(&GenericDialect {}, text).tokenize().unwrap_or_default();
    let tokens = texts.iter().flat_map(words);
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for token in tokens {
        let Token::Word(word) = token else { continue };
        let name = if word.quote_style.is_some() { word.value } else { word.value.to_lowercase() };
        if seen.insert(name.clone())
            && let Some(column) = columns.find_lowercase(&name)
            && !matches!(column.origin, Origin::Index)
        {
            found.push(column);
        }
    }
    found
}

/// Changes the statements of a text in place. The seed for samples that name none comes from `seed`; the answer is the seeds of all samples.
pub(crate) fn rewrite(
    text: &str,
    statements: &mut [Statement],
    computed: &[Column],
    seed: &mut dyn FnMut() -> u64,
) -> Result<Vec<u64>, Complaint> {
    let mut rewriter = Rewriter { text, computed, seed, shadowed: false, drawn: None, seeds: Vec::new() };
    for statement in statements {
        let statement = match statement {
            Statement::Explain(explain) => explain.statement.as_mut(),
            other => other,
        };
        let Statement::Statement(statement) = statement else { continue };
        athena::rewrite(statement);
        rewriter.shadowed = false;
        if let ControlFlow::Break(complaint) = statement.visit(&mut rewriter) {
            return Err(complaint);
        }
    }
    Ok(rewriter.seeds)
}

/// Whether a statement only asks.
pub(crate) fn is_query(statement: &Statement) -> bool {
    match statement {
        Statement::Statement(statement) => {
            matches!(statement.as_ref(), ast::Statement::Query(_) | ast::Statement::Explain { .. })
        }
        Statement::Explain(explain) => is_query(&explain.statement),
        _ => false,
    }
}

/// Whether a statement gives a query a name.
pub(crate) fn is_view(statement: &Statement) -> bool {
    matches!(statement, Statement::Statement(statement) if matches!(statement.as_ref(), ast::Statement::CreateView(_)))
}

struct Rewriter<'a> {
    text: &'a str,
    computed: &'a [Column],
    seed: &'a mut dyn FnMut() -> u64,
    /// Whether a `with` calls something else by the table's name.
    shadowed: bool,
    /// The seed of all samples that name none.
    drawn: Option<u64>,
    seeds: Vec<u64>,
}

impl Rewriter<'_> {
    fn sampled_by(&mut self, seed: u64) {
        if !self.seeds.contains(&seed) {
            self.seeds.push(seed);
        }
    }

    /// Makes a call of `sampled` whole.
    fn complete(&mut self, arguments: &mut Vec<FunctionArg>) -> Result<(), Complaint> {
        let given: Vec<&Expr> = arguments.iter().filter_map(expression_of).collect();
        let seed = match sample::check_call(self.text, &given)? {
            Some(seed) => seed,
            None if arguments.len() == 1 => {
                let drawn = *self.drawn.get_or_insert_with(|| (self.seed)());
                arguments.push(argument(Expr::Value(Value::Number(drawn.to_string(), false).into())));
                drawn
            }
            // The planner says what is wrong with it.
            None => return Ok(()),
        };
        self.sampled_by(seed);
        if arguments.len() == 2 {
            arguments.push(argument(Expr::Identifier(Ident::new(INSTANCE))));
        }
        Ok(())
    }
}

fn expression_of(argument: &FunctionArg) -> Option<&Expr> {
    match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expression)) => Some(expression),
        _ => None,
    }
}

fn argument(expression: Expr) -> FunctionArg {
    FunctionArg::Unnamed(FunctionArgExpr::Expr(expression))
}

impl VisitorMut for Rewriter<'_> {
    type Break = Complaint;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Complaint> {
        let mut named = query.with.iter().flat_map(|with| &with.cte_tables);
        self.shadowed |= named.any(|table| {
            [DOCUMENTS, CCINDEX].iter().any(|name| table.alias.name.value.eq_ignore_ascii_case(name))
        });
        let computed = self.computed;
        match unnest::rewrite(self.text, query, &mut |select| leave_out(select, computed)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(complaint) => ControlFlow::Break(complaint),
        }
    }

    /// When everything in it was visited: what comes in its place is as it should be.
    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<Complaint> {
        match sample::asked(self.text, factor, self.shadowed) {
            Ok(Some(asked)) => {
                let (drawn, draw) = (&mut self.drawn, &mut *self.seed);
                let seed = sample::replace(factor, &asked, || *drawn.get_or_insert_with(draw));
                self.sampled_by(seed);
                ControlFlow::Continue(())
            }
            Ok(None) => ControlFlow::Continue(()),
            Err(complaint) => ControlFlow::Break(complaint),
        }
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<Complaint> {
        if is_documents_alone(select) {
            leave_out(select, self.computed);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<Complaint> {
        if let Expr::Function(function) = expression
            && function.name.to_string().eq_ignore_ascii_case(SAMPLED)
            && let FunctionArguments::List(list) = &mut function.args
            && let Err(complaint) = self.complete(&mut list.args)
        {
            return ControlFlow::Break(complaint);
        }
        ControlFlow::Continue(())
    }
}

/// Lets `*` mean the columns of the index alone.
fn leave_out(select: &mut Select, computed: &[Column]) {
    if computed.is_empty() {
        return;
    }
    for item in &mut select.projection {
        if let SelectItem::Wildcard(options) = item
            && options.opt_exclude.is_none()
            && options.opt_except.is_none()
        {
            let names = computed
                .iter()
                .map(|column| ObjectName::from(vec![Ident::with_quote('"', column.field.name())]));
            options.opt_exclude = Some(ExcludeSelectItem::Multiple(names.collect()));
        }
    }
}

/// Whether a query's rows are those of the one table.
fn is_documents_alone(select: &Select) -> bool {
    match select.from.as_slice() {
        [from] if from.joins.is_empty() => {
            matches!(&from.relation, TableFactor::Table { name, .. } if sample::is_documents(name))
        }
        _ => false,
    }
}
