//! `if(condition, then, otherwise)`, as Athena and Presto have it, becomes a `case`: it is no function, since only one branch may be
//! computed.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::helpers::attached_token::AttachedToken;
use datafusion::sql::sqlparser::ast::{
    CaseWhen, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, VisitMut, VisitorMut,
};

/// Changes a statement in place.
pub(crate) fn rewrite(statement: &mut impl VisitMut) {
    let _: ControlFlow<()> = statement.visit(&mut Ifs);
}

struct Ifs;

impl VisitorMut for Ifs {
    type Break = ();

    fn post_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<()> {
        if let Some(case) = case(expression) {
            *expression = case;
        }
        ControlFlow::Continue(())
    }
}

/// The case that a call of `if` stands for.
fn case(expression: &Expr) -> Option<Expr> {
    let Expr::Function(function) = expression else { return None };
    if !function.name.to_string().eq_ignore_ascii_case("if") {
        return None;
    }
    let FunctionArguments::List(list) = &function.args else { return None };
    let argument = |at: usize| match list.args.get(at) {
        Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(expression))) => Some(expression.clone()),
        _ => None,
    };
    let (condition, result) = (argument(0)?, argument(1)?);
    if list.args.len() > 3 {
        return None;
    }
    Some(Expr::Case {
        case_token: AttachedToken::empty(),
        end_token: AttachedToken::empty(),
        operand: None,
        conditions: vec![CaseWhen { condition, result }],
        else_result: argument(2).map(Box::new),
    })
}
