//! The Web-in-a-Box language into the expressions that SQL would give, with types checked where the text can be pointed at.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, ident, lit};

use super::ast::{Condition, Operand, Placed, Query, Relation};
use crate::by_url::Absence;
use crate::columns::{Column, Columns};
use crate::complaint::{Complaint, Span, nearest};
use crate::functions::any_match;

/// What values can be compared with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Text,
    Number,
    Time,
    Boolean,
    List,
    Bytes,
}

impl Class {
    fn of(data_type: &DataType) -> Class {
        match data_type {
            DataType::Boolean => Class::Boolean,
            DataType::Timestamp(..) => Class::Time,
            DataType::List(_) => Class::List,
            DataType::Binary | DataType::BinaryView => Class::Bytes,
            data_type if data_type.is_numeric() => Class::Number,
            _ => Class::Text,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Class::Text => "text",
            Class::Number => "a number",
            Class::Time => "a date",
            Class::Boolean => "a truth value",
            Class::List => "a list",
            Class::Bytes => "bytes",
        }
    }
}

/// Looks up names and types in the words of the query's text.
pub(crate) struct Planner<'a> {
    /// The query's text.
    pub(crate) text: &'a str,
    /// The columns there are.
    pub(crate) columns: &'a Columns,
}

impl Planner<'_> {
    /// The columns that a query names, each once, in order.
    pub(crate) fn named(&self, query: &Query) -> Result<Vec<Column>, Complaint> {
        let mut names: Vec<&Placed<String>> = query.columns.iter().collect();
        if let Some(condition) = &query.condition {
            condition.columns(&mut names);
        }
        let mut found: Vec<Column> = Vec::new();
        for name in names {
            if !found.iter().any(|column| *column.field.name() == name.value) {
                found.push(self.column(name)?);
            }
        }
        Ok(found)
    }

    /// Complains of the first name that is no column, or that stands there twice.
    pub(crate) fn check(&self, names: &[Placed<String>]) -> Result<(), Complaint> {
        for (at, name) in names.iter().enumerate() {
            self.column(name)?;
            if names[..at].iter().any(|other| other.value == name.value) {
                let message = format!("`{}` is there already", name.value);
                return Err(Complaint::at(self.text, name.span, message));
            }
        }
        Ok(())
    }

    fn column(&self, name: &Placed<String>) -> Result<Column, Complaint> {
        self.columns.find(&name.value).ok_or_else(|| unknown(self.text, name.span, &name.value, self.columns))
    }

    /// What a document must fulfil.
    pub(crate) fn condition(&self, condition: &Condition) -> Result<Expr, Complaint> {
        Ok(match condition {
            Condition::Or(left, right) => self.condition(left)?.or(self.condition(right)?),
            Condition::And(left, right) => self.condition(left)?.and(self.condition(right)?),
            Condition::Not(inner) => Expr::Not(Box::new(self.condition(inner)?)),
            Condition::Match(name, pattern) => match Class::of(self.column(name)?.field.data_type()) {
                Class::Text => binary(ident(&name.value), Operator::RegexMatch, lit(pattern.value.as_str())),
                Class::List => any_match().call(vec![ident(&name.value), lit(pattern.value.as_str())]),
                class => {
                    let message = format!("`{}` is {}, and `match` looks at text", name.value, class.name());
                    return Err(Complaint::at(self.text, name.span, message));
                }
            },
            Condition::Flag(name) => match Class::of(self.column(name)?.field.data_type()) {
                Class::Boolean => ident(&name.value),
                class => {
                    let message = format!("`{}` is {}, not a condition", name.value, class.name());
                    let complaint = Complaint::at(self.text, name.span, message);
                    return Err(complaint.hint("compare it with = != < <= > >= or `match`"));
                }
            },
            Condition::Relation(left, relation, right) => self.relation(left, *relation, right)?,
        })
    }

    fn relation(&self, left: &Operand, relation: Relation, right: &Operand) -> Result<Expr, Complaint> {
        let (left_class, right_class) = (self.class(left)?, self.class(right)?);
        for (class, operand) in [(left_class, left), (right_class, right)] {
            if matches!(class, Class::List | Class::Bytes) {
                let message = format!("{} cannot be compared", class.name());
                return Err(
                    Complaint::at(self.text, operand.span(), message).hint("look into lists with `match`")
                );
            }
        }
        if left_class != right_class {
            let message = format!("{} is compared with {}", left_class.name(), right_class.name());
            let complaint = Complaint::at(self.text, left.span().to(right.span()), message);
            return Err(match (left_class, right_class) {
                (Class::Time, Class::Text) | (Class::Text, Class::Time) => {
                    complaint.hint("write dates as in Date(\"2000/11/01\")")
                }
                (Class::Number, Class::Text) | (Class::Text, Class::Number) => {
                    complaint.hint("numbers stand without quotes")
                }
                _ => complaint,
            });
        }
        let operator = match relation {
            Relation::Equal => Operator::Eq,
            Relation::NotEqual => Operator::NotEq,
            Relation::Less => Operator::Lt,
            Relation::LessOrEqual => Operator::LtEq,
            Relation::Greater => Operator::Gt,
            Relation::GreaterOrEqual => Operator::GtEq,
        };
        Ok(binary(value(left), operator, value(right)))
    }

    fn class(&self, operand: &Operand) -> Result<Class, Complaint> {
        Ok(match operand {
            Operand::Column(name) => Class::of(self.column(name)?.field.data_type()),
            Operand::Text(_) => Class::Text,
            Operand::Integer(_) | Operand::Float(_) => Class::Number,
            Operand::Date(_) => Class::Time,
        })
    }
}

fn binary(left: Expr, operator: Operator, right: Expr) -> Expr {
    Expr::BinaryExpr(BinaryExpr::new(Box::new(left), operator, Box::new(right)))
}

fn value(operand: &Operand) -> Expr {
    match operand {
        Operand::Column(name) => ident(&name.value),
        Operand::Text(text) => lit(text.value.as_str()),
        Operand::Integer(integer) => lit(integer.value),
        Operand::Float(float) => lit(float.value),
        Operand::Date(date) => lit(ScalarValue::TimestampMillisecond(Some(date.value), Some("UTC".into()))),
    }
}

/// The complaint that there is no such column.
pub(crate) fn unknown(text: &str, span: impl Into<Option<Span>>, name: &str, columns: &Columns) -> Complaint {
    let (message, made) = match columns.by_url().and_then(|by_url| by_url.missing(name)) {
        Some(Absence::NotMade(advice)) => (format!("there is no column `{name}` yet"), Some(advice)),
        Some(Absence::Unreadable(why)) => (format!("the column `{name}` cannot be read"), Some(why)),
        None => (format!("there is no column `{name}`"), None),
    };
    let names = columns.names();
    let meant =
        || nearest(name, names.iter().map(String::as_str)).map(|name| format!("did you mean `{name}`?"));
    Complaint { text: text.to_string(), span: span.into(), message, hint: made.or_else(meant) }
}
