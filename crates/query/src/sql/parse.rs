//! From a text to a statement: as DataFusion reads it, but for one word.
//!
//! `cluster` is a column of ours. In the grammar it may also begin a `cluster by`, which no query here has, and for that it would end a list
//! of columns. So it is taken for the name that it is.

use datafusion::common::{DataFusionError, Result, plan_err};
use datafusion::sql::parser::{DFParserBuilder, Statement};
use datafusion::sql::sqlparser::ast::Expr;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

use super::athena::types_of_athena;
use super::dialect::WithArrows;
use crate::wib::CONDITIONS_MAX;

const DIALECT: WithArrows = WithArrows;

/// The words of a text.
fn tokens(text: &str) -> Result<Vec<TokenWithSpan>> {
    let tokens = Tokenizer::new(&DIALECT, text).tokenize_with_location();
    let mut tokens = tokens.map_err(|error| DataFusionError::from(ParserError::from(error)))?;
    let joins = |token: &&TokenWithSpan| matches!(&token.token, Token::Word(word) if matches!(word.keyword, Keyword::AND | Keyword::OR));
    if tokens.iter().filter(joins).count() >= CONDITIONS_MAX {
        return plan_err!(
            "there are more than {CONDITIONS_MAX} conditions; look for many values with `in (…)`"
        );
    }
    for token in &mut tokens {
        if let Token::Word(word) = &mut token.token
            && word.keyword == Keyword::CLUSTER
        {
            word.keyword = Keyword::NoKeyword;
        }
    }
    types_of_athena(&mut tokens);
    Ok(tokens)
}

/// The condition that a text is.
pub(crate) fn parse_condition(text: &str) -> Result<Expr> {
    let mut parser = Parser::new(&DIALECT).with_tokens_with_locations(tokens(text)?);
    let condition = parser.parse_expr().map_err(DataFusionError::from)?;
    parser.expect_token(&Token::EOF).map_err(DataFusionError::from)?;
    Ok(condition)
}

/// The one statement of a text that is none of the user's.
pub(crate) fn parse(text: &str) -> Result<Statement> {
    match parse_all(text)?.pop() {
        Some(statement) => Ok(statement),
        None => plan_err!("there is no query"),
    }
}

/// The statements of a text, in their order.
pub(crate) fn parse_all(text: &str) -> Result<Vec<Statement>> {
    let parser = DFParserBuilder::new(tokens(text)?).with_dialect(&DIALECT);
    Ok(parser.build()?.parse_statements()?.into())
}
