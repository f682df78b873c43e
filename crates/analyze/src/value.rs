//! What an analyzer answers: the kinds of columns, and one cell.

use std::fmt;
use std::str::FromStr;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Text in UTF-8.
    Text,
    /// A whole number of 64 bits.
    Integer,
    /// A floating-point number of 64 bits.
    Float,
    /// True or false.
    Boolean,
    /// A moment, in microseconds since 1970 began in UTC.
    Time,
    /// Texts in an order that means something.
    TextList,
    /// Whole numbers in an order that means something.
    IntegerList,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 7] = [
        Kind::Text,
        Kind::Integer,
        Kind::Float,
        Kind::Boolean,
        Kind::Time,
        Kind::TextList,
        Kind::IntegerList,
    ];

    /// The name in configurations and in modules: `text`, `integer`, `float`, `boolean`, `time`, `text list`, `integer list`.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Text => "text",
            Kind::Integer => "integer",
            Kind::Float => "float",
            Kind::Boolean => "boolean",
            Kind::Time => "time",
            Kind::TextList => "text list",
            Kind::IntegerList => "integer list",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Kind, String> {
        Kind::ALL.into_iter().find(|kind| kind.name() == text).ok_or_else(|| {
            let names = Kind::ALL.map(Kind::name).join(", ");
            format!("`{text}` is no kind of column; there are {names}")
        })
    }
}

/// One cell of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// The document has nothing to say about this.
    Null,
    /// For [`Kind::Text`].
    Text(String),
    /// For [`Kind::Integer`].
    Integer(i64),
    /// For [`Kind::Float`].
    Float(f64),
    /// For [`Kind::Boolean`].
    Boolean(bool),
    /// For [`Kind::Time`]: microseconds since 1970.
    Time(i64),
    /// For [`Kind::TextList`].
    TextList(Vec<String>),
    /// For [`Kind::IntegerList`].
    IntegerList(Vec<i64>),
}

impl Value {
    /// The column it fits into; `None` for [`Value::Null`], which fits into all.
    pub fn kind(&self) -> Option<Kind> {
        Some(match self {
            Value::Null => return None,
            Value::Text(_) => Kind::Text,
            Value::Integer(_) => Kind::Integer,
            Value::Float(_) => Kind::Float,
            Value::Boolean(_) => Kind::Boolean,
            Value::Time(_) => Kind::Time,
            Value::TextList(_) => Kind::TextList,
            Value::IntegerList(_) => Kind::IntegerList,
        })
    }

    /// Text, or null if there is none.
    pub fn text(text: Option<impl Into<String>>) -> Value {
        text.map_or(Value::Null, |text| Value::Text(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for kind in Kind::ALL {
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
        assert!("texts".parse::<Kind>().unwrap_err().contains("text list"));
    }
}
