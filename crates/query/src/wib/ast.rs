//! What a text in the Web-in-a-Box language says. Made by the parser, read by the printer and the planner.

use crate::complaint::Span;

/// Something with its place in the text. Two are equal if they say the same, wherever they say it.
#[derive(Clone, Debug)]
pub struct Placed<T> {
    /// What it is.
    pub value: T,
    /// Where it stands.
    pub span: Span,
}

impl<T: PartialEq> PartialEq for Placed<T> {
    fn eq(&self, other: &Placed<T>) -> bool {
        self.value == other.value
    }
}

impl<T> Placed<T> {
    /// `value`, found at `span`.
    pub fn new(value: T, span: Span) -> Placed<T> {
        Placed { value, span }
    }
}

/// One query.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// `[samplingProb=…, samplingSeed=…]`
    pub sampling: Option<Sampling>,
    /// The columns asked for, at least one.
    pub columns: Vec<Placed<String>>,
    /// What a document must fulfil; nothing if there is no `where`.
    pub condition: Option<Condition>,
}

/// Which part of the documents is looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampling {
    /// The probability of each document, from 0 to 1.
    pub probability: Placed<f64>,
    /// The seed; one is drawn if there is none.
    pub seed: Option<Placed<u64>>,
}

/// A boolean expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// `a || b`
    Or(Box<Condition>, Box<Condition>),
    /// `a && b`
    And(Box<Condition>, Box<Condition>),
    /// `!a`
    Not(Box<Condition>),
    /// `a < b`
    Relation(Operand, Relation, Operand),
    /// `match(column, "pattern")`
    Match(Placed<String>, Placed<String>),
    /// A column of truth values.
    Flag(Placed<String>),
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// One side of a relation.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A column's value.
    Column(Placed<String>),
    /// `"…"`
    Text(Placed<String>),
    /// A whole number.
    Integer(Placed<i64>),
    /// A number with a point.
    Float(Placed<f64>),
    /// `Date("…")`, in milliseconds since 1970 (UTC).
    Date(Placed<i64>),
}

impl Operand {
    /// Where it stands.
    pub fn span(&self) -> Span {
        match self {
            Operand::Column(placed) | Operand::Text(placed) => placed.span,
            Operand::Integer(placed) | Operand::Date(placed) => placed.span,
            Operand::Float(placed) => placed.span,
        }
    }
}

impl Condition {
    /// The columns that it reads, in order of appearance.
    pub fn columns<'a>(&'a self, found: &mut Vec<&'a Placed<String>>) {
        match self {
            Condition::Or(left, right) | Condition::And(left, right) => {
                left.columns(found);
                right.columns(found);
            }
            Condition::Not(inner) => inner.columns(found),
            Condition::Relation(left, _, right) => {
                for side in [left, right] {
                    if let Operand::Column(name) = side {
                        found.push(name);
                    }
                }
            }
            Condition::Match(name, _) | Condition::Flag(name) => found.push(name),
        }
    }
}
