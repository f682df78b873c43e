//! What is changed about a statement before it is planned.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{
    self, ExcludeSelectItem, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, ObjectName,
    Select, SelectItem, TableFactor, Value, VisitMut as _, VisitorMut,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};

use crate::columns::{Column, Columns, Origin};
use crate::documents::DOCUMENTS;
use crate::sampling::{INSTANCE, SAMPLED};
use crate::sql::athena;

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

/// Changes a statement in place. The seed for calls of `sampled` that name none comes from `seed`; the answer is the seeds of all calls.
pub(crate) fn rewrite(
    statement: &mut Statement,
    computed: &[Column],
    seed: &mut dyn FnMut() -> u64,
) -> Vec<u64> {
    let statement = match statement {
        Statement::Explain(explain) => explain.statement.as_mut(),
        other => other,
    };
    let Statement::Statement(statement) = statement else { return Vec::new() };
    athena::rewrite(statement);
    let mut rewriter = Rewriter { computed, seed, drawn: None, seeds: Vec::new() };
    let _: ControlFlow<()> = statement.visit(&mut rewriter);
    rewriter.seeds
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

struct Rewriter<'a> {
    computed: &'a [Column],
    seed: &'a mut dyn FnMut() -> u64,
    /// The seed of all calls that name none.
    drawn: Option<u64>,
    seeds: Vec<u64>,
}

impl VisitorMut for Rewriter<'_> {
    type Break = ();

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        if is_documents_alone(select) && !self.computed.is_empty() {
            for item in &mut select.projection {
                if let SelectItem::Wildcard(options) = item
                    && options.opt_exclude.is_none()
                    && options.opt_except.is_none()
                {
                    let names = self
                        .computed
                        .iter()
                        .map(|column| ObjectName::from(vec![Ident::with_quote('"', column.field.name())]));
                    options.opt_exclude = Some(ExcludeSelectItem::Multiple(names.collect()));
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<()> {
        if let Expr::Function(function) = expression
            && function.name.to_string().eq_ignore_ascii_case(SAMPLED)
            && let FunctionArguments::List(list) = &mut function.args
        {
            if list.args.len() == 1 {
                let drawn = *self.drawn.get_or_insert_with(|| (self.seed)());
                let value = Expr::Value(Value::Number(drawn.to_string(), false).into());
                list.args.push(FunctionArg::Unnamed(FunctionArgExpr::Expr(value)));
            }
            if let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Value(value)))) = list.args.get(1)
                && let Value::Number(digits, _) = &value.value
                && let Ok(seed) = digits.parse::<u64>()
                && !self.seeds.contains(&seed)
            {
                self.seeds.push(seed);
            }
            if list.args.len() == 2 {
                let instance = Expr::Identifier(Ident::new(INSTANCE));
                list.args.push(FunctionArg::Unnamed(FunctionArgExpr::Expr(instance)));
            }
        }
        ControlFlow::Continue(())
    }
}

/// Whether a query's rows are those of the one table.
fn is_documents_alone(select: &Select) -> bool {
    match select.from.as_slice() {
        [from] if from.joins.is_empty() => {
            matches!(&from.relation, TableFactor::Table { name, .. } if name.to_string().eq_ignore_ascii_case(DOCUMENTS))
        }
        _ => false,
    }
}
