//! Orders that are written as a comparison, `(a, b) -> if(a.freq < b.freq, 1, if(a.freq = b.freq, 0, -1))`, which says -1 where `a` comes first.
//!
//! The engine sorts by values. So it is tried out what the comparison says of a smaller, an equal and a greater `a`: if each of its questions is
//! about the same field of `a` and `b`, that is the order, whichever way it is written.

use std::cmp::Ordering;

use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, Ident, LambdaFunction, UnaryOperator, Value};

/// By what a list is sorted.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Order {
    /// The field of its elements; empty if it is by the elements themselves.
    pub(super) field: String,
    /// Whether the greatest comes first.
    pub(super) descending: bool,
}

/// The order that a comparison of two elements means, if it is one of values.
pub(super) fn of(comparison: &LambdaFunction) -> Option<Order> {
    let [one, other] = &comparison.params[..] else { return None };
    let mut tried = Tried { one: &one.name, other: &other.name, assumed: Ordering::Less, field: None };
    let [less, equal, greater] = [Ordering::Less, Ordering::Equal, Ordering::Greater].map(|assumed| {
        tried.assumed = assumed;
        tried.number(&comparison.body).map(i64::signum)
    });
    let descending = match (less?, equal?, greater?) {
        (-1, 0, 1) => false,
        (1, 0, -1) => true,
        _ => return None,
    };
    Some(Order { field: tried.field.unwrap_or_default(), descending })
}

/// One way in which two elements may compare.
struct Tried<'a> {
    one: &'a Ident,
    other: &'a Ident,
    assumed: Ordering,
    /// What was compared so far.
    field: Option<String>,
}

impl Tried<'_> {
    /// What an expression says then.
    fn number(&mut self, expression: &Expr) -> Option<i64> {
        match expression {
            Expr::Nested(inner) => self.number(inner),
            Expr::UnaryOp { op: UnaryOperator::Minus, expr } => Some(-self.number(expr)?),
            Expr::Value(value) => match &value.value {
                Value::Number(digits, _) => digits.parse().ok(),
                _ => None,
            },
            Expr::Case { operand: None, conditions, else_result, .. } => {
                for when in conditions {
                    if self.holds(&when.condition)? {
                        return self.number(&when.result);
                    }
                }
                self.number(else_result.as_ref()?)
            }
            _ => None,
        }
    }

    /// Whether a condition holds then.
    fn holds(&mut self, condition: &Expr) -> Option<bool> {
        let (left, op, right) = match condition {
            Expr::Nested(inner) => return self.holds(inner),
            Expr::BinaryOp { left, op, right } => (left, op, right),
            _ => return None,
        };
        let ((left, left_field), (right, right_field)) = (self.element(left)?, self.element(right)?);
        if left == right || left_field != right_field {
            return None;
        }
        if self.field.get_or_insert_with(|| left_field.clone()) != &left_field {
            return None;
        }
        let ordering = if left { self.assumed } else { self.assumed.reverse() };
        Some(match op {
            BinaryOperator::Lt => ordering.is_lt(),
            BinaryOperator::LtEq => ordering.is_le(),
            BinaryOperator::Gt => ordering.is_gt(),
            BinaryOperator::GtEq => ordering.is_ge(),
            BinaryOperator::Eq => ordering.is_eq(),
            BinaryOperator::NotEq => ordering.is_ne(),
            _ => return None,
        })
    }

    /// Whether an expression is the first element or the other one, and which field of it.
    fn element(&self, expression: &Expr) -> Option<(bool, String)> {
        let (name, field) = match expression {
            Expr::Identifier(name) => (name, String::new()),
            Expr::CompoundIdentifier(names) => match names.as_slice() {
                [name, field] => (name, field.value.to_lowercase()),
                _ => return None,
            },
            _ => return None,
        };
        let is = |ident: &Ident| ident.value.eq_ignore_ascii_case(&name.value);
        (is(self.one) || is(self.other)).then(|| (is(self.one), field))
    }
}
