//! The value of one document, as the module gives it: piece by piece.

use mattock_analyze::{AnalyzeError, Kind, Value};

/// One call of a `give_` function.
pub(crate) enum Given {
    Text(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    Time(i64),
    /// A list begins, which may stay empty.
    List,
}

/// See the module. Bounded: a piece too many ends the call.
#[derive(Debug)]
pub(crate) struct Answer {
    kind: Kind,
    value: Value,
    bytes: usize,
    bytes_max: usize,
}

/// What a piece of a list takes besides its bytes.
const PIECE_BYTES: usize = 24;

impl Answer {
    /// Nothing given yet, for a column of `kind`.
    pub(crate) fn new(kind: Kind, bytes_max: usize) -> Answer {
        Answer { kind, value: Value::Null, bytes: 0, bytes_max }
    }

    /// Whether so many bytes more can be given.
    pub(crate) fn expect_bytes(&mut self, bytes: usize) -> Result<(), AnalyzeError> {
        self.bytes = self.bytes.saturating_add(bytes).saturating_add(PIECE_BYTES);
        if self.bytes > self.bytes_max.saturating_add(PIECE_BYTES) {
            let message = format!("the answer is larger than {} bytes", self.bytes_max);
            return Err(AnalyzeError::Failed(message));
        }
        Ok(())
    }

    /// Takes what was given. A column of lists takes piece after piece; the others take one.
    pub(crate) fn give(&mut self, given: Given) -> Result<(), AnalyzeError> {
        if let Kind::TextList | Kind::IntegerList = self.kind {
            return self.give_to_list(given);
        }
        let value = match given {
            Given::Text(text) => Value::Text(text),
            Given::Integer(integer) => Value::Integer(integer),
            // Which bits say "not a number" depends on the processor.
            Given::Float(float) => Value::Float(if float.is_nan() { f64::NAN } else { float }),
            Given::Boolean(boolean) => Value::Boolean(boolean),
            Given::Time(time) => Value::Time(time),
            Given::List => {
                let message = format!("`give_list` is for columns of lists, not of kind {}", self.kind);
                return Err(AnalyzeError::Failed(message));
            }
        };
        match value.kind() {
            Some(given) if given != self.kind => Err(AnalyzeError::WrongKind { given, kind: self.kind }),
            _ if self.value != Value::Null => {
                Err(AnalyzeError::Failed(format!("gave two values for a column of kind {}", self.kind)))
            }
            _ => {
                self.value = value;
                Ok(())
            }
        }
    }

    fn give_to_list(&mut self, given: Given) -> Result<(), AnalyzeError> {
        if self.value == Value::Null {
            self.value = match self.kind {
                Kind::TextList => Value::TextList(Vec::new()),
                _ => Value::IntegerList(Vec::new()),
            };
        }
        let kind = self.kind;
        let given = match (&mut self.value, given) {
            (_, Given::List) => return Ok(()),
            (Value::TextList(texts), Given::Text(text)) => {
                texts.push(text);
                return Ok(());
            }
            (Value::IntegerList(integers), Given::Integer(integer)) => {
                integers.push(integer);
                return Ok(());
            }
            (_, Given::Text(_)) => Kind::Text,
            (_, Given::Integer(_)) => Kind::Integer,
            (_, Given::Float(_)) => Kind::Float,
            (_, Given::Boolean(_)) => Kind::Boolean,
            (_, Given::Time(_)) => Kind::Time,
        };
        Err(AnalyzeError::WrongKind { given, kind })
    }

    /// All that was given.
    pub(crate) fn into_value(self) -> Value {
        self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_or_a_list() {
        let mut answer = Answer::new(Kind::Integer, 100);
        answer.give(Given::Integer(1)).unwrap();
        assert!(answer.give(Given::Integer(1)).unwrap_err().to_string().contains("two values"));
        assert_eq!(answer.into_value(), Value::Integer(1));
        let mut answer = Answer::new(Kind::IntegerList, 100);
        answer.give(Given::List).unwrap();
        for n in 1..4 {
            answer.give(Given::Integer(n)).unwrap();
        }
        assert_eq!(answer.into_value(), Value::IntegerList(vec![1, 2, 3]));
        assert_eq!(Answer::new(Kind::TextList, 100).into_value(), Value::Null);
    }

    #[test]
    fn pieces_count_even_if_they_are_empty() {
        let mut answer = Answer::new(Kind::TextList, 1000);
        let given = (0..).take_while(|_| answer.expect_bytes(0).is_ok()).count();
        assert!((40..=43).contains(&given), "{given}");
        let mut answer = Answer::new(Kind::Text, 1000);
        answer.expect_bytes(1000).unwrap();
        assert!(Answer::new(Kind::Text, 1000).expect_bytes(1001).is_err());
        assert!(Answer::new(Kind::Text, 1000).expect_bytes(usize::MAX).is_err());
    }
}
