//! What Athena and Presto write otherwise, and the engine has: each becomes what it means.
//!
//! | written | read as |
//! |---|---|
//! | `if(condition, then, otherwise)` | a `case`, of which only one branch is computed |
//! | `transform(list, w -> …)`, `filter(list, w -> …)`, `any_match(list, w -> …)` | `array_transform`, `array_filter`, `array_any_match` |
//! | `slice(list, start, length)` | `array_slice(list, start, start + length - 1)` |
//! | `array_sort(list, (a, b) -> …)` | the list by what is compared: see [`order`] |
//! | `cast(… as array(row(name type, …)))` | a cast of fields that have these names |
//! | `cast(… as json)` | the value as JSON, as a text |
//!
//! Types in parentheses are read by [`types_of_athena`], before there is a statement.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::helpers::attached_token::AttachedToken;
use datafusion::sql::sqlparser::ast::{
    ArrayElemTypeDef, BinaryOperator, CaseWhen, DataType, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArgumentList, FunctionArguments, Ident, ObjectName, StructField, Value, VisitMut, VisitorMut,
};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

use super::order;
use crate::functions::{AS_JSON, NAMED, SORTED};

/// Changes a statement in place.
pub(crate) fn rewrite(statement: &mut impl VisitMut) {
    let _: ControlFlow<()> = statement.visit(&mut Words);
}

struct Words;

impl VisitorMut for Words {
    type Break = ();

    fn post_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<()> {
        let meant = match expression {
            Expr::Function(function) => meant_by(function),
            Expr::Cast { expr, data_type, .. } => cast(expr, data_type),
            _ => None,
        };
        if let Some(meant) = meant {
            *expression = meant;
        }
        ControlFlow::Continue(())
    }
}

/// What a call stands for, if it stands for another expression.
fn meant_by(function: &mut Function) -> Option<Expr> {
    let name = function.name.to_string().to_lowercase();
    let FunctionArguments::List(list) = &function.args else { return None };
    let arguments: Vec<&Expr> = list.args.iter().map(expression_of).collect::<Option<_>>()?;
    match (name.as_str(), arguments.as_slice()) {
        ("if", [condition, then]) => Some(case(condition, then, None)),
        ("if", [condition, then, otherwise]) => Some(case(condition, then, Some(otherwise))),
        ("transform", _) => renamed(function, "array_transform"),
        ("filter", _) => renamed(function, "array_filter"),
        ("any_match", [_, Expr::Lambda(_)]) => renamed(function, "array_any_match"),
        ("slice", [list, start, length]) => slice(list, start, length),
        ("array_sort", [list, Expr::Lambda(lambda)]) => {
            let order = order::of(lambda)?;
            let direction = if order.descending { "desc" } else { "asc" };
            Some(call(SORTED, [(*list).clone(), text(&order.field), text(direction)]))
        }
        _ => None,
    }
}

fn expression_of(argument: &FunctionArg) -> Option<&Expr> {
    match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expression)) => Some(expression),
        _ => None,
    }
}

fn renamed(function: &mut Function, name: &str) -> Option<Expr> {
    function.name = ObjectName::from(vec![Ident::new(name)]);
    None
}

fn case(condition: &Expr, then: &Expr, otherwise: Option<&Expr>) -> Expr {
    Expr::Case {
        case_token: AttachedToken::empty(),
        end_token: AttachedToken::empty(),
        operand: None,
        conditions: vec![CaseWhen { condition: condition.clone(), result: then.clone() }],
        else_result: otherwise.cloned().map(Box::new),
    }
}

/// A part of a list. From its end, which a negative start counts from, the engine counts otherwise.
fn slice(list: &Expr, start: &Expr, length: &Expr) -> Option<Expr> {
    let Expr::Value(value) = start else { return None };
    let Value::Number(digits, _) = &value.value else { return None };
    let before = digits.parse::<u32>().ok()?.checked_sub(1)?;
    let before = Expr::Value(Value::Number(before.to_string(), false).into());
    let end = Expr::BinaryOp {
        left: Box::new(before),
        op: BinaryOperator::Plus,
        right: Box::new(Expr::Nested(Box::new(length.clone()))),
    };
    Some(call("array_slice", [list.clone(), start.clone(), end]))
}

/// What a cast to a type stands for that the engine does not have.
fn cast(inner: &mut Box<Expr>, data_type: &DataType) -> Option<Expr> {
    if matches!(data_type, DataType::JSON) {
        return Some(call(AS_JSON, [inner.as_ref().clone()]));
    }
    let fields = fields_of(data_type)?;
    let names: Vec<Expr> =
        fields.iter().map(|field| Some(text(&field.field_name.as_ref()?.value))).collect::<Option<_>>()?;
    // Fields are cast by name. Those of the value have others, and Athena goes by their order.
    **inner = call(NAMED, std::iter::once(inner.as_ref().clone()).chain(names));
    None
}

fn fields_of(data_type: &DataType) -> Option<&[StructField]> {
    match data_type {
        DataType::Struct(fields, _) => Some(fields),
        DataType::Array(ArrayElemTypeDef::AngleBracket(element)) => fields_of(element),
        _ => None,
    }
}

fn text(text: &str) -> Expr {
    Expr::Value(Value::SingleQuotedString(text.to_owned()).into())
}

fn call(name: &str, arguments: impl IntoIterator<Item = Expr>) -> Expr {
    let args = arguments.into_iter().map(|argument| FunctionArg::Unnamed(FunctionArgExpr::Expr(argument)));
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args: args.collect(),
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

/// Writes the types `array(…)` and `row(…)` behind `as` in the parser's way, `array<…>` and `struct<…>`.
pub(super) fn types_of_athena(tokens: &mut [TokenWithSpan]) {
    let mut open = Vec::new();
    // The words before, with their places.
    let mut before: [Option<(usize, Keyword)>; 2] = [None, None];
    for at in 0..tokens.len() {
        let word = match &tokens[at].token {
            Token::Whitespace(_) => continue,
            Token::LParen => {
                // `as row(`, or a type within one that was begun so.
                let is_type = matches!(
                    (before, open.last()),
                    ([Some((_, Keyword::AS)), Some((_, Keyword::ARRAY | Keyword::ROW))], _)
                        | ([_, Some((_, Keyword::ARRAY | Keyword::ROW))], Some(true))
                );
                if let ([_, Some((name, keyword))], true) = (before, is_type) {
                    if keyword == Keyword::ROW {
                        tokens[name].token = Token::make_keyword("STRUCT");
                    }
                    tokens[at].token = Token::Lt;
                }
                open.push(is_type);
                None
            }
            Token::RParen => {
                if open.pop() == Some(true) {
                    tokens[at].token = Token::Gt;
                }
                None
            }
            Token::Word(word) => Some((at, word.keyword)),
            _ => None,
        };
        before = [before[1], word];
    }
}
