//! The Web-in-a-Box language (SRC 174, section 4.3, figures 3 and 4).
//!
//! ```text
//! [samplingProb=0.1, samplingSeed=789]
//! select name, content where
//!   (match(name, ".html$") && insertionDate < Date("2000/11/01"));
//! ```
//!
//! A text holds one or more queries, each a projection with a condition; there are no joins and no aggregates, on purpose:
//! for these there is SQL on the same table. [`parse`] makes an [`ast::Query`] with the place of everything in the text, the
//! printer (its `Display`) makes text again, and `plan` makes the plan that SQL would make too.
//!
//! What the paper leaves open is decided here:
//! * `&&` binds closer than `||`, `!` closest; relations are `=` (also `==`) `!=` `<` `<=` `>` `>=`.
//! * `match(column, "…")` finds a regular expression anywhere in the value, so `^` and `$` mean what they say. Of a column that is a list
//!   one element must match. A column of truth values (`latest`, `changed`) is a condition by itself.
//! * In strings `\"` is `"`, `\\` is `\`, and `\$` is `$`, as figure 3 writes it; any other backslash stays, as regular expressions
//!   want it. A dollar that means itself is `[$]`.
//! * The sampling parameters stand in front of the query, as in figure 4, or behind it. Without a seed one is drawn.
//! * What is missing (null) fulfils no condition, and neither does its negation, as in SQL.
//! * Names and words are told apart by case, as in the paper. `//` and `#` begin a comment to the end of the line.

pub mod ast;
mod date;
mod lexer;
mod parser;
pub(crate) mod plan;
mod print;

pub use date::{parse_date, print_date};
pub use parser::parse;
pub(crate) use parser::{CONDITIONS_MAX, parse_condition, parse_names};
