//! Tokens into queries, by recursive descent. Knows the grammar only: whether a column exists is asked later.
//!
//! ```text
//! text      = { query ";" }                      the last ";" may be left out
//! query     = [sampling] "select" name { "," name } [ "where" condition ] [sampling]
//! sampling  = "[" "samplingProb" "=" number [ "," "samplingSeed" "=" number ] "]"     in any order
//! condition = and { "||" and }        and = not { "&&" not }        not = "!" not | "(" condition ")" | simple
//! simple    = "match" "(" name "," string ")" | operand relation operand | name
//! operand   = name | string | number | "Date" "(" string ")"
//! ```

use super::ast::{Condition, Operand, Placed, Query, Relation, Sampling};
use super::date::parse_date;
use super::lexer::{Token, tokens};
use crate::complaint::{Complaint, Span};

/// How deep conditions may be nested: deeper ones are nobody's, and would exhaust the stack.
const DEPTH_MAX: usize = 200;

/// How many conditions one text may have: `a || b || c` is a tree as deep as it is long.
pub(crate) const CONDITIONS_MAX: usize = 1_000;

/// The queries in `text`.
pub fn parse(text: &str) -> Result<Vec<Query>, Complaint> {
    let mut parser = Parser { text, tokens: tokens(text)?, next: 0, depth: 0, conditions: 0 };
    let mut queries = Vec::new();
    loop {
        while parser.take(";") {}
        if parser.peek() == &Token::End {
            break;
        }
        queries.push(parser.query()?);
        if parser.peek() != &Token::End && !parser.take(";") {
            return Err(parser.trailing());
        }
    }
    if queries.is_empty() {
        let hint = "for example: select name where match(name, \"^https://\")";
        return Err(Complaint::at(text, Span::new(0, 0), "there is no query").hint(hint));
    }
    Ok(queries)
}

/// The condition that `text` is.
pub(crate) fn parse_condition(text: &str) -> Result<Condition, Complaint> {
    let mut parser = Parser { text, tokens: tokens(text)?, next: 0, depth: 0, conditions: 0 };
    let condition = parser.condition()?;
    if parser.peek() == &Token::End { Ok(condition) } else { Err(parser.trailing()) }
}

/// The names in `text`, with commas between them.
pub(crate) fn parse_names(text: &str) -> Result<Vec<Placed<String>>, Complaint> {
    let mut parser = Parser { text, tokens: tokens(text)?, next: 0, depth: 0, conditions: 0 };
    let names = parser.names()?;
    if parser.peek() == &Token::End { Ok(names) } else { Err(parser.expected("a comma")) }
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Placed<Token>>,
    next: usize,
    depth: usize,
    conditions: usize,
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.next].value
    }

    fn span(&self) -> Span {
        self.tokens[self.next].span
    }

    /// Goes on; the end stays where it is.
    fn advance(&mut self) -> Span {
        let span = self.span();
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        span
    }

    /// Whether `sign` or the word `sign` is next; if so, goes past it.
    fn take(&mut self, sign: &str) -> bool {
        let is = match self.peek() {
            Token::Sign(found) => *found == sign,
            Token::Word(found) => found == sign,
            _ => false,
        };
        if is {
            self.advance();
        }
        is
    }

    fn demand(&mut self, sign: &str) -> Result<Span, Complaint> {
        let span = self.span();
        if self.take(sign) { Ok(span) } else { Err(self.expected(&format!("`{sign}`"))) }
    }

    /// The complaint that `what` should be here.
    fn expected(&self, what: &str) -> Complaint {
        Complaint::at(self.text, self.span(), format!("expected {what}, but {}", self.peek().described()))
    }

    /// Something stands behind the end of a query.
    fn trailing(&self) -> Complaint {
        let complaint = self.expected("the end of the query");
        match self.peek() {
            Token::Word(word) if ["and", "AND", "or", "OR"].contains(&word.as_str()) => {
                complaint.hint("`and` is written `&&`, `or` is written `||`")
            }
            Token::Word(word) if word.eq_ignore_ascii_case("from") => {
                complaint.hint("there is one table; with `from` it is SQL")
            }
            Token::Word(word) if word.eq_ignore_ascii_case("where") => complaint.hint("write `where`"),
            _ => complaint,
        }
    }

    fn query(&mut self) -> Result<Query, Complaint> {
        let before = self.sampling()?;
        if !self.take("select") {
            let complaint = self.expected("`select`");
            return Err(match self.peek() {
                Token::Word(word) if word.eq_ignore_ascii_case("select") => {
                    complaint.hint("write `select`, in small letters")
                }
                _ => complaint,
            });
        }
        let columns = self.names()?;
        let condition = if self.take("where") { Some(self.condition()?) } else { None };
        let span = self.span();
        let behind = self.sampling()?;
        if before.is_some() && behind.is_some() {
            return Err(Complaint::at(
                self.text,
                span,
                "the sampling parameters stand in front of the query already",
            ));
        }
        Ok(Query { sampling: before.or(behind), columns, condition })
    }

    fn sampling(&mut self) -> Result<Option<Sampling>, Complaint> {
        let open = self.span();
        if !self.take("[") {
            return Ok(None);
        }
        let (mut probability, mut seed) = (None, None);
        loop {
            if probability.is_none() && self.take("samplingProb") {
                self.demand("=")?;
                probability = Some(self.probability()?);
            } else if seed.is_none() && self.take("samplingSeed") {
                self.demand("=")?;
                seed = Some(self.seed()?);
            } else {
                return Err(self.expected("`samplingProb` or `samplingSeed`"));
            }
            if !self.take(",") {
                break;
            }
        }
        let close = self.demand("]")?;
        match probability {
            Some(probability) => Ok(Some(Sampling { probability, seed })),
            None => Err(Complaint::at(self.text, open.to(close), "`samplingProb` is missing")),
        }
    }

    fn probability(&mut self) -> Result<Placed<f64>, Complaint> {
        let value = match self.peek() {
            Token::Integer(integer) => *integer as f64,
            Token::Float(float) => *float,
            _ => return Err(self.expected("a probability")),
        };
        if !(0.0..=1.0).contains(&value) {
            return Err(Complaint::at(self.text, self.span(), "a probability is a number from 0 to 1"));
        }
        let span = self.advance();
        // There is one zero, so that what is printed reads the same.
        Ok(Placed::new(value.abs(), span))
    }

    fn seed(&mut self) -> Result<Placed<u64>, Complaint> {
        let seed = match self.peek() {
            Token::Integer(integer) => u64::try_from(*integer).ok(),
            // Seeds above the largest signed number come as their digits.
            Token::Float(_) => self.text[self.span().start..self.span().end].parse().ok(),
            _ => return Err(self.expected("a seed")),
        };
        match seed {
            Some(seed) => Ok(Placed::new(seed, self.advance())),
            None => Err(Complaint::at(self.text, self.span(), "a seed is a whole number from 0 to 2^64 - 1")),
        }
    }

    fn name(&mut self, what: &str) -> Result<Placed<String>, Complaint> {
        match self.peek() {
            Token::Word(word) if word != "select" && word != "where" => {
                let word = word.clone();
                Ok(Placed::new(word, self.advance()))
            }
            _ => Err(self.expected(what)),
        }
    }

    fn names(&mut self) -> Result<Vec<Placed<String>>, Complaint> {
        let mut names = vec![self.name("a column")?];
        while self.take(",") {
            names.push(self.name("a column")?);
        }
        Ok(names)
    }

    fn string(&mut self, what: &str) -> Result<Placed<String>, Complaint> {
        match self.peek() {
            Token::Text(text) => {
                let text = text.clone();
                Ok(Placed::new(text, self.advance()))
            }
            _ => Err(self.expected(what)),
        }
    }

    fn condition(&mut self) -> Result<Condition, Complaint> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(Complaint::at(self.text, self.span(), "this condition is nested too deeply"));
        }
        let mut left = self.conjunction()?;
        while self.take("||") {
            left = Condition::Or(Box::new(left), Box::new(self.conjunction()?));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn conjunction(&mut self) -> Result<Condition, Complaint> {
        let mut left = self.negation()?;
        while self.take("&&") {
            left = Condition::And(Box::new(left), Box::new(self.negation()?));
        }
        Ok(left)
    }

    fn negation(&mut self) -> Result<Condition, Complaint> {
        if self.take("!") {
            self.depth += 1;
            if self.depth > DEPTH_MAX {
                return Err(Complaint::at(self.text, self.span(), "this condition is nested too deeply"));
            }
            let inner = self.negation()?;
            self.depth -= 1;
            return Ok(Condition::Not(Box::new(inner)));
        }
        if self.take("(") {
            let inner = self.condition()?;
            self.demand(")")?;
            return Ok(inner);
        }
        self.simple()
    }

    /// Whether the next token is the word `word` and an opening parenthesis follows.
    fn calls(&self, word: &str) -> bool {
        let behind = self.tokens.get(self.next + 1).map(|token| &token.value);
        matches!(self.peek(), Token::Word(found) if found == word) && behind == Some(&Token::Sign("("))
    }

    fn simple(&mut self) -> Result<Condition, Complaint> {
        self.conditions += 1;
        if self.conditions > CONDITIONS_MAX {
            let message = format!("there are more than {CONDITIONS_MAX} conditions");
            let hint = "look for many words with one `match`, or for many values with `in (…)` in SQL";
            return Err(Complaint::at(self.text, self.span(), message).hint(hint));
        }
        if self.calls("match") {
            self.advance();
            self.advance();
            let column = self.name("a column")?;
            self.demand(",")?;
            let pattern = self.string("a regular expression in double quotes")?;
            self.demand(")")?;
            if let Err(error) = regex::Regex::new(&pattern.value) {
                let reason = error.to_string();
                let reason =
                    reason.lines().last().unwrap_or("it cannot be read").trim_start_matches("error: ");
                return Err(Complaint::at(
                    self.text,
                    pattern.span,
                    format!("not a regular expression: {reason}"),
                ));
            }
            return Ok(Condition::Match(column, pattern));
        }
        let left = self.operand()?;
        let relation = match self.peek() {
            Token::Sign("=") => Relation::Equal,
            Token::Sign("!=") => Relation::NotEqual,
            Token::Sign("<") => Relation::Less,
            Token::Sign("<=") => Relation::LessOrEqual,
            Token::Sign(">") => Relation::Greater,
            Token::Sign(">=") => Relation::GreaterOrEqual,
            _ => {
                return match left {
                    Operand::Column(name) => Ok(Condition::Flag(name)),
                    _ => Err(self.expected("one of = != < <= > >=")),
                };
            }
        };
        self.advance();
        Ok(Condition::Relation(left, relation, self.operand()?))
    }

    fn operand(&mut self) -> Result<Operand, Complaint> {
        if self.calls("Date") {
            let start = self.advance();
            self.advance();
            let date = self.string("a date in double quotes")?;
            let Some(time_ms) = parse_date(&date.value) else {
                let complaint =
                    Complaint::at(self.text, date.span, format!("`{}` is not a date", date.value));
                return Err(complaint.hint("write it as in Date(\"2000/11/01\")"));
            };
            let end = self.demand(")")?;
            return Ok(Operand::Date(Placed::new(time_ms, start.to(end))));
        }
        match self.peek() {
            Token::Integer(integer) => {
                let integer = *integer;
                Ok(Operand::Integer(Placed::new(integer, self.advance())))
            }
            Token::Float(float) => {
                let float = *float;
                Ok(Operand::Float(Placed::new(float, self.advance())))
            }
            Token::Text(_) => self.string("a value").map(Operand::Text),
            _ => self.name("a column, a string, a number or Date(\"…\")").map(Operand::Column),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The figures of the paper, letter by letter.
    const FIGURE_3: &str = r#"
select name, content where
    match(name, "^http://") && match(name, ".ram\$");
select mmlinks where
    match(http_content_type, "^text/");
"#;
    const FIGURE_4: &str = r#"
[samplingProb=0.1, samplingSeed=789]
select name, content where
  (match(name, ".html$")
  && insertionDate < Date("2000/11/01"));
"#;

    #[test]
    fn the_queries_of_the_paper_are_read() {
        let queries = parse(FIGURE_3).unwrap();
        assert_eq!(queries.len(), 2);
        assert_eq!(
            queries[0].to_string(),
            r#"select name, content where match(name, "^http://") && match(name, ".ram$")"#
        );
        assert_eq!(queries[1].to_string(), r#"select mmlinks where match(http_content_type, "^text/")"#);
        let queries = parse(FIGURE_4).unwrap();
        assert_eq!(
            queries[0].to_string(),
            r#"[samplingProb=0.1, samplingSeed=789] select name, content where match(name, ".html$") && insertionDate < Date("2000/11/01")"#
        );
    }

    #[test]
    fn the_sampling_parameters_may_stand_behind() {
        let before =
            parse("[samplingSeed=18446744073709551615, samplingProb=1] select a where b = 1").unwrap();
        let behind =
            parse("select a where b = 1 [samplingProb=1, samplingSeed=18446744073709551615];").unwrap();
        assert_eq!(before, behind);
    }

    #[test]
    fn mistakes_are_pointed_at() {
        for (text, place, part) in [
            ("", "", "no query"),
            ("SELECT name", "SELECT", "small letters"),
            ("select name from documents", "from", "SQL"),
            ("select name where a = 1 and b = 2", "and", "&&"),
            ("select name where", "", "the query ends"),
            ("select name where a =", "", "the query ends"),
            ("select name where match(name, \"a(\")", "\"a(\"", "unclosed group"),
            ("select name where match(\"a\", name)", "\"a\"", "expected a column"),
            ("select name where d < Date(\"1/2/2000\")", "\"1/2/2000\"", "Date(\"2000/11/01\")"),
            ("select name where (a = 1", "", "expected `)`"),
            ("select name where 1", "", "one of ="),
            ("[samplingProb=2] select name", "2", "from 0 to 1"),
            ("[samplingSeed=2] select name", "[samplingSeed=2]", "samplingProb"),
            ("[samplingProb=1, samplingSeed=-2] select name", "-2", "whole number"),
            ("[samplingProb=1] select name [samplingProb=1]", "[", "already"),
            ("select name,, content", ",", "expected a column"),
            ("select select", "select", "expected a column"),
        ] {
            let complaint = parse(text).unwrap_err();
            let span = complaint.span.unwrap();
            assert_eq!(&text[span.start..span.end], place, "{text}");
            assert!(complaint.to_string().contains(part), "{text}: {complaint}");
        }
    }

    #[test]
    fn more_conditions_than_the_stack_holds_are_refused() {
        let text = |count: usize| format!("select a where {}", vec!["a = 1"; count].join(" || "));
        assert!(parse(&text(CONDITIONS_MAX)).is_ok());
        let complaint = parse(&text(CONDITIONS_MAX + 1)).unwrap_err();
        assert!(complaint.message.contains("more than 1000 conditions"), "{}", complaint.message);
    }

    #[test]
    fn deep_nesting_is_refused_before_the_stack_ends() {
        for text in ["(", "!"] {
            let complaint = parse(&format!("select a where {}", text.repeat(100_000))).unwrap_err();
            assert!(complaint.message.contains("too deeply"));
        }
    }
}
