//! Samples that SQL asks for: the arguments of `sampled`, and `tablesample`.
//!
//! `documents tablesample bernoulli (1) repeatable (7)` is read as `(select * from documents where sampled(0.01, 7, instance)) as documents`,
//! so that it is a sample like any other. A table in blocks is not what is stored here, so `system` means the same. Whatever else a sample
//! may be in SQL is refused: an answer over all rows would look like one over some.

use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{
    self, Expr, Ident, ObjectName, ObjectNamePart, Spanned as _, TableAlias, TableFactor, TableSample,
    TableSampleKind, TableSampleMethod, TableSampleModifier, TableSampleUnit, UnaryOperator, Value,
};

use super::complain::{find_word, place};
use super::parse::parse;
use crate::complaint::Complaint;
use crate::documents::{CCINDEX, DOCUMENTS};
use crate::sampling::{INSTANCE, SAMPLED};

/// How it is written.
const HINT: &str = "write `tablesample bernoulli (1) repeatable (7)`: one per cent, drawn by the seed 7";

/// What a table in a query is to be a sample of.
pub(super) struct Asked {
    probability: f64,
    seed: Option<u64>,
}

/// The sample that a part of `from` asks for, if it does. `shadowed` says that the query calls something else `documents`.
pub(super) fn asked(text: &str, factor: &TableFactor, shadowed: bool) -> Result<Option<Asked>, Complaint> {
    let (sample, is_documents) = match factor {
        TableFactor::Table { name, sample, .. } => (sample, !shadowed && is_documents(name)),
        TableFactor::Derived { sample, .. } => (sample, false),
        _ => return Ok(None),
    };
    let (TableSampleKind::BeforeTableAlias(sample) | TableSampleKind::AfterTableAlias(sample)) = match sample
    {
        Some(sample) => sample,
        None => return Ok(None),
    };
    if !is_documents {
        let message = format!("only the table `{DOCUMENTS}` can be sampled");
        return Err(at_keyword(text, sample, factor, message).hint("sample it where it is read from"));
    }
    if let Some(bucket) = &sample.bucket {
        return Err(at(text, bucket.bucket.span, sample, "a sample is no bucket").hint(HINT));
    }
    if let Some(offset) = &sample.offset {
        return Err(at(text, offset.span(), sample, "a sample has no offset").hint(HINT));
    }
    let Some(quantity) = &sample.quantity else {
        return Err(at_keyword(text, sample, factor, "how large is the sample?".into()).hint(HINT));
    };
    let here = quantity.value.span();
    let by_percent = match (sample.name, quantity.unit) {
        (_, Some(TableSampleUnit::Rows)) => {
            return Err(at(text, here, sample, "a sample has no fixed number of rows").hint(HINT));
        }
        (_, Some(TableSampleUnit::Percent)) => true,
        (Some(TableSampleMethod::Bernoulli | TableSampleMethod::System), None) => quantity.parenthesized,
        _ => false,
    };
    // Without these words some take the number for a share, and some for rows.
    if !by_percent || sample.modifier == TableSampleModifier::Sample {
        return Err(at(text, here, sample, "a share of what?").hint(HINT));
    }
    let Some(probability) = percent(&quantity.value).filter(|share| (0.0..=1.0).contains(share)) else {
        return Err(at(text, here, sample, "a percentage is a number from 0 to 100"));
    };
    let seed = sample.seed.as_ref().map(|seed| seed_of(&seed.value.value).ok_or(seed.value.span)).transpose();
    let seed = seed.map_err(|span| at(text, span, sample, SEED_RULE))?;
    Ok(Some(Asked { probability, seed }))
}

/// Puts the sample in the place of its table. The seed that it has, or else `draw` gives one.
pub(super) fn replace(factor: &mut TableFactor, asked: &Asked, draw: impl FnOnce() -> u64) -> u64 {
    let seed = asked.seed.unwrap_or_else(draw);
    let condition = format!("{SAMPLED}({}, {seed}, {INSTANCE})", asked.probability);
    let statement = parse(&format!("select * from {DOCUMENTS} where {condition}")).expect("it is SQL");
    let Statement::Statement(statement) = statement else { unreachable!("it is a query") };
    let ast::Statement::Query(subquery) = *statement else { unreachable!("it is a query") };
    let TableFactor::Table { name, alias, .. } = factor else { return seed };
    let named = || match name.0.last() {
        Some(ObjectNamePart::Identifier(name)) => name.clone(),
        _ => Ident::new(DOCUMENTS),
    };
    let alias = alias.take().unwrap_or_else(|| TableAlias {
        explicit: true,
        name: named(),
        columns: Vec::new(),
        at: None,
    });
    *factor = TableFactor::Derived { lateral: false, subquery, alias: Some(alias), sample: None };
    seed
}

/// Whether a name is that of the table, or Common Crawl's for it.
pub(super) fn is_documents(name: &ObjectName) -> bool {
    let is = |part: &ObjectNamePart, name: &str| match part {
        ObjectNamePart::Identifier(part) => part.value.eq_ignore_ascii_case(name),
        ObjectNamePart::Function(_) => false,
    };
    match name.0.as_slice() {
        [name] => is(name, DOCUMENTS) || is(name, CCINDEX),
        [schema, name] => is(schema, CCINDEX) && is(name, CCINDEX),
        _ => false,
    }
}

/// What a seed is.
const SEED_RULE: &str = "a seed is a whole number from 0 to 2^64 - 1";

/// Checks the arguments of a call of `sampled`; its seed, if it names one.
pub(super) fn check_call(text: &str, arguments: &[&Expr]) -> Result<Option<u64>, Complaint> {
    let complain = |expression: &Expr, message: &str| Complaint {
        text: text.to_owned(),
        span: place(text, expression.span()).or_else(|| find_word(text, SAMPLED)),
        message: message.to_owned(),
        hint: None,
    };
    if let Some(probability) = arguments.first()
        && !number(probability).is_some_and(|probability| (0.0..=1.0).contains(&probability))
    {
        return Err(complain(probability, "a probability is a number from 0 to 1"));
    }
    let Some(seed) = arguments.get(1) else { return Ok(None) };
    match seed {
        Expr::Value(value) => seed_of(&value.value),
        _ => None,
    }
    .map(Some)
    .ok_or_else(|| complain(seed, SEED_RULE))
}

fn seed_of(value: &Value) -> Option<u64> {
    match value {
        Value::Number(digits, _) => digits.parse().ok(),
        _ => None,
    }
}

/// A number that stands in the text.
fn number(expression: &Expr) -> Option<f64> {
    match expression {
        Expr::Value(value) => match &value.value {
            Value::Number(digits, _) => digits.parse().ok(),
            _ => None,
        },
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => number(expr).map(|number| -number),
        Expr::Nested(inner) => number(inner),
        _ => None,
    }
}

/// A percentage as a share: exactly the number that the text has with its point two places further left.
fn percent(expression: &Expr) -> Option<f64> {
    if let Expr::Value(value) = expression
        && let Value::Number(digits, _) = &value.value
        && let Ok(share) = format!("{digits}e-2").parse()
    {
        return Some(share);
    }
    number(expression).map(|percent| percent / 100.0)
}

fn at(
    text: &str,
    span: datafusion::sql::sqlparser::tokenizer::Span,
    sample: &TableSample,
    message: &str,
) -> Complaint {
    let span = place(text, span).or_else(|| find_word(text, keyword(sample)));
    Complaint { text: text.to_owned(), span, message: message.to_owned(), hint: None }
}

/// At what is to be sampled, or else at the word.
fn at_keyword(text: &str, sample: &TableSample, factor: &TableFactor, message: String) -> Complaint {
    let span = match factor {
        TableFactor::Table { name, .. } => place(text, name.span()),
        _ => None,
    };
    let span = span.or_else(|| find_word(text, keyword(sample)));
    Complaint { text: text.to_owned(), span, message, hint: None }
}

fn keyword(sample: &TableSample) -> &'static str {
    match sample.modifier {
        TableSampleModifier::Sample => "sample",
        TableSampleModifier::TableSample => "tablesample",
    }
}
