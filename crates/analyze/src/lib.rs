//! Columns that are computed from one stored document.
//!
//! A query hands in a [`Document`], as the archive has it, and asks [`Analyzer`]s for one [`Value`] each; what comes out becomes a
//! column. The built-in ones are found by name with [`built_in`]; programs add their own by the trait.
//!
//! - `document`: what an analyzer is given. What several analyzers need (the page read once, its text) is computed at the first
//!   question and kept with the document.
//! - `value`: what an analyzer answers.
//! - `found`: the languages that crawls and imports write into the index, when there is no time for the main text.
//! - `built_in`: the table of names. `page`, `address`, `words` and `sketch` have the analyzers.
//!
//! Invariants:
//! - Pure: the same document gives the same value for ever, as long as the analyzer's version is the same. No clock, no file, no network,
//!   no chance. Stored columns depend on it.
//! - Linear in the body, bounded in memory, and no input makes one panic: the Web is on the other side.
//! - A document that has nothing to say (an image asked for its title) gives [`Value::Null`], which is no error.

mod address;
mod analyzer;
mod built_in;
mod document;
mod found;
mod language;
mod page;
mod sketch;
mod text;
mod value;
mod words;

pub use analyzer::{AnalyzeError, Analyzer};
pub use built_in::{built_in, built_ins};
pub use document::{Cache, Document};
pub use found::{LANGUAGE_TEXT_BYTES, index_languages, languages_found};
pub use language::known as languages_known;
pub use value::{Kind, Value};
