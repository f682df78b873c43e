//! Queries into text that reads as the same queries.

use std::fmt::{self, Display, Formatter};

use super::ast::{Condition, Operand, Query, Relation};
use super::date::print_date;

impl Display for Query {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        if let Some(sampling) = &self.sampling {
            write!(formatter, "[samplingProb={:?}", sampling.probability.value)?;
            if let Some(seed) = &sampling.seed {
                write!(formatter, ", samplingSeed={}", seed.value)?;
            }
            write!(formatter, "] ")?;
        }
        for (index, column) in self.columns.iter().enumerate() {
            write!(formatter, "{}{}", if index == 0 { "select " } else { ", " }, column.value)?;
        }
        match &self.condition {
            Some(condition) => write!(formatter, " where {condition}"),
            None => Ok(()),
        }
    }
}

/// How closely a condition's outermost sign binds.
fn rank(condition: &Condition) -> u8 {
    match condition {
        Condition::Or(..) => 0,
        Condition::And(..) => 1,
        Condition::Not(..) => 2,
        _ => 3,
    }
}

/// Writes `condition`, in parentheses if it binds less closely than `least`.
fn within(condition: &Condition, least: u8, formatter: &mut Formatter<'_>) -> fmt::Result {
    if rank(condition) < least {
        write!(formatter, "({condition})")
    } else {
        write!(formatter, "{condition}")
    }
}

impl Display for Condition {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Condition::Or(left, right) => {
                within(left, 0, formatter)?;
                formatter.write_str(" || ")?;
                within(right, 1, formatter)
            }
            Condition::And(left, right) => {
                within(left, 1, formatter)?;
                formatter.write_str(" && ")?;
                within(right, 2, formatter)
            }
            Condition::Not(inner) => {
                formatter.write_str("!")?;
                within(inner, 3, formatter)
            }
            Condition::Relation(left, relation, right) => write!(formatter, "{left} {relation} {right}"),
            Condition::Match(column, pattern) => {
                write!(formatter, "match({}, ", column.value)?;
                text(&pattern.value, formatter)?;
                formatter.write_str(")")
            }
            Condition::Flag(column) => formatter.write_str(&column.value),
        }
    }
}

impl Display for Relation {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Relation::Equal => "=",
            Relation::NotEqual => "!=",
            Relation::Less => "<",
            Relation::LessOrEqual => "<=",
            Relation::Greater => ">",
            Relation::GreaterOrEqual => ">=",
        })
    }
}

impl Display for Operand {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Column(name) => formatter.write_str(&name.value),
            Operand::Text(value) => text(&value.value, formatter),
            Operand::Integer(value) => write!(formatter, "{}", value.value),
            Operand::Float(value) => write!(formatter, "{:?}", value.value),
            Operand::Date(value) => {
                let date = print_date(value.value).unwrap_or_default();
                write!(formatter, "Date(\"{date}\")")
            }
        }
    }
}

/// A string in quotes. A backslash is doubled only where the letter behind it would make it mean something else.
fn text(value: &str, formatter: &mut Formatter<'_>) -> fmt::Result {
    formatter.write_str("\"")?;
    let mut letters = value.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => formatter.write_str("\\\"")?,
            '\\' if matches!(letters.peek(), None | Some('"' | '\\' | '$')) => formatter.write_str("\\\\")?,
            // The letter behind it belongs to it, so it is written now: it must not be looked at as the first of a pair.
            '\\' => {
                formatter.write_str("\\")?;
                write!(formatter, "{}", letters.next().unwrap_or_default())?;
            }
            letter => write!(formatter, "{letter}")?,
        }
    }
    formatter.write_str("\"")
}
