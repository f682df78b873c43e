//! From a text to a statement: as DataFusion reads it, but for one word.
//!
//! `cluster` is a column of ours. In the grammar it may also begin a `cluster by`, which no query here has, and for that it would end a list
//! of columns. So it is taken for the name that it is.

use datafusion::common::{DataFusionError, Result, not_impl_err, plan_err};
use datafusion::sql::parser::{DFParserBuilder, Statement};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::ParserError;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};

/// The one statement of a text.
pub(crate) fn parse(text: &str) -> Result<Statement> {
    let dialect = GenericDialect {};
    let tokens = Tokenizer::new(&dialect, text).tokenize_with_location();
    let mut tokens = tokens.map_err(|error| DataFusionError::from(ParserError::from(error)))?;
    for token in &mut tokens {
        if let Token::Word(word) = &mut token.token
            && word.keyword == Keyword::CLUSTER
        {
            word.keyword = Keyword::NoKeyword;
        }
    }
    let mut statements = DFParserBuilder::new(tokens).with_dialect(&dialect).build()?.parse_statements()?;
    if statements.len() > 1 {
        return not_impl_err!("The context currently only supports a single SQL statement");
    }
    match statements.pop_front() {
        Some(statement) => Ok(statement),
        None => plan_err!("No SQL statements were provided in the query string"),
    }
}
