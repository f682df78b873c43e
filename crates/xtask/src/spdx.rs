//! SPDX licence expressions: may a package be used, given the licences that we accept?
//!
//! ```text
//! any    = all  { ("OR" | "/") all }      "/" is how Cargo.toml said OR before SPDX
//! all    = one  { "AND" one }
//! one    = "(" any ")"  |  licence [ "WITH" exception ]
//! ```
//! A licence with an exception is accepted only if the pair is; `X+` (X or a later version) is accepted if X is.

use std::fmt;

/// What is wrong with an expression.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SpdxError {
    /// It ends where a licence or an exception should follow.
    EndsEarly,
    /// This word is not expected where it stands.
    Unexpected(String),
}

impl fmt::Display for SpdxError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EndsEarly => write!(formatter, "the licence expression ends early"),
            Self::Unexpected(word) => {
                write!(formatter, "`{word}` does not belong there in a licence expression")
            }
        }
    }
}

impl std::error::Error for SpdxError {}

/// Whether the choices that the expression leaves can be made so that only accepted licences are left.
pub(crate) fn satisfiable(expression: &str, accepted: &[&str]) -> Result<bool, SpdxError> {
    let mut parser = Parser { words: words(expression), next: 0, accepted };
    let result = parser.any()?;
    match parser.take() {
        None => Ok(result),
        Some(word) => Err(SpdxError::Unexpected(word)),
    }
}

fn words(expression: &str) -> Vec<String> {
    let mut spaced = String::new();
    for character in expression.chars() {
        match character {
            '(' | ')' | '/' => spaced.extend([' ', character, ' ']),
            _ => spaced.push(character),
        }
    }
    spaced.split_whitespace().map(str::to_owned).collect()
}

struct Parser<'a> {
    words: Vec<String>,
    next: usize,
    accepted: &'a [&'a str],
}

impl Parser<'_> {
    fn take(&mut self) -> Option<String> {
        let word = self.words.get(self.next).cloned();
        self.next += 1;
        word
    }

    fn take_if(&mut self, wanted: &[&str]) -> bool {
        let found = self.words.get(self.next).is_some_and(|word| wanted.contains(&word.as_str()));
        self.next += usize::from(found);
        found
    }

    fn any(&mut self) -> Result<bool, SpdxError> {
        let mut result = self.all()?;
        while self.take_if(&["OR", "/"]) {
            // Not `||`: the rest must be read, and be well formed, whatever came before.
            result |= self.all()?;
        }
        Ok(result)
    }

    fn all(&mut self) -> Result<bool, SpdxError> {
        let mut result = self.one()?;
        while self.take_if(&["AND"]) {
            result &= self.one()?;
        }
        Ok(result)
    }

    fn one(&mut self) -> Result<bool, SpdxError> {
        if self.take_if(&["("]) {
            let result = self.any()?;
            return match self.take() {
                Some(word) if word == ")" => Ok(result),
                Some(word) => Err(SpdxError::Unexpected(word)),
                None => Err(SpdxError::EndsEarly),
            };
        }
        let licence = self.name()?;
        if self.take_if(&["WITH"]) {
            let exception = self.name()?;
            return Ok(self.accepts(&format!("{licence} WITH {exception}")));
        }
        Ok(self.accepts(licence.strip_suffix('+').unwrap_or(&licence)))
    }

    fn name(&mut self) -> Result<String, SpdxError> {
        let word = self.take().ok_or(SpdxError::EndsEarly)?;
        let legal = |character: char| character.is_ascii_alphanumeric() || "-.:+".contains(character);
        if ["AND", "OR", "WITH"].contains(&word.as_str()) || !word.chars().all(legal) {
            return Err(SpdxError::Unexpected(word));
        }
        Ok(word)
    }

    fn accepts(&self, licence: &str) -> bool {
        self.accepted.iter().any(|known| known.eq_ignore_ascii_case(licence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCEPTED: [&str; 4] = ["MIT", "Apache-2.0", "ISC", "Apache-2.0 WITH LLVM-exception"];

    fn ok(expression: &str) -> bool {
        satisfiable(expression, &ACCEPTED).unwrap()
    }

    #[test]
    fn single_licences() {
        assert!(ok("MIT"));
        assert!(ok("mit"), "licence names do not depend on case");
        assert!(!ok("GPL-3.0-only"));
        assert!(!ok("LicenseRef-ours"));
    }

    #[test]
    fn one_choice_is_enough_but_all_parts_are_needed() {
        assert!(ok("GPL-2.0-only OR MIT"));
        assert!(ok("MIT OR Apache-2.0 OR LGPL-2.1-or-later"));
        assert!(!ok("GPL-2.0-only AND MIT"));
        assert!(ok("ISC AND MIT"));
        assert!(!ok("GPL-2.0-only OR LGPL-2.1-only"));
    }

    #[test]
    fn and_binds_closer_than_or() {
        assert!(ok("MIT OR GPL-2.0-only AND LGPL-2.1-only"));
        assert!(ok("GPL-2.0-only AND LGPL-2.1-only OR MIT"));
        assert!(!ok("(MIT OR GPL-2.0-only) AND LGPL-2.1-only"));
        assert!(ok("(MIT OR GPL-2.0-only) AND (ISC)"));
        assert!(ok("((MIT))AND(ISC)"));
    }

    #[test]
    fn the_old_slash_means_or() {
        assert!(ok("Unlicense/MIT"));
        assert!(ok("MIT / Apache-2.0"));
        assert!(!ok("GPL-2.0/LGPL-2.1"));
    }

    #[test]
    fn exceptions_are_accepted_as_pairs() {
        assert!(ok("Apache-2.0 WITH LLVM-exception"));
        assert!(ok("Apache-2.0 WITH LLVM-exception OR GPL-2.0-only"));
        assert!(!ok("MIT WITH Something-else"));
        assert!(!ok("GPL-2.0-only WITH Classpath-exception-2.0"));
    }

    #[test]
    fn a_later_version_may_be_declined() {
        assert!(ok("Apache-2.0+"));
        assert!(!ok("GPL-2.0+"));
    }

    #[test]
    fn malformed_expressions_are_errors_even_where_the_rest_would_do() {
        let error = |expression| satisfiable(expression, &ACCEPTED).unwrap_err();
        assert_eq!(error(""), SpdxError::EndsEarly);
        assert_eq!(error("MIT OR"), SpdxError::EndsEarly);
        assert_eq!(error("(MIT"), SpdxError::EndsEarly);
        assert_eq!(error("MIT)"), SpdxError::Unexpected(")".into()));
        assert_eq!(error("MIT ISC"), SpdxError::Unexpected("ISC".into()));
        assert_eq!(error("OR MIT"), SpdxError::Unexpected("OR".into()));
        assert_eq!(error("MIT OR AND"), SpdxError::Unexpected("AND".into()));
        assert_eq!(error("MIT, ISC"), SpdxError::Unexpected("MIT,".into()));
        assert_eq!(error("(MIT) WITH x"), SpdxError::Unexpected("WITH".into()));
    }
}
