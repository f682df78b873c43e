//! [`Analyzer`]: what computes a column, and how it fails.

use crate::{Document, Kind, Value};

/// Computes one column. Shared by the threads of a query, so it keeps no state between documents.
pub trait Analyzer: Send + Sync {
    /// The column's name: letters, digits and underscores.
    fn name(&self) -> &str;

    /// Changes whenever the same document may give another value: a number for what is compiled in, a hash for what is
    /// loaded. Stored columns of another version are not used.
    fn version(&self) -> String;

    /// What [`Analyzer::analyze`] gives, apart from [`Value::Null`].
    fn kind(&self) -> Kind;

    /// Whether nothing decides about the value but the body, and the type and charset that its `Content-Type` names: the same bytes
    /// give the same under another URL, at another time, with other header fields. Then a stored column has it once for each distinct
    /// payload of a type and charset. To say no is never wrong.
    fn of_payload(&self) -> bool {
        false
    }

    /// The value for one document. Fails for this document only.
    fn analyze(&self, document: &Document<'_>) -> Result<Value, AnalyzeError>;
}

/// Why an analyzer has no value for a document, or cannot be had at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnalyzeError {
    /// The analyzer itself says why.
    #[error("{0}")]
    Failed(String),
    /// It gave a value of another kind than it announced.
    #[error("gave {given} for a column of kind {kind}")]
    WrongKind {
        /// What it gave.
        given: Kind,
        /// What it announced.
        kind: Kind,
    },
}
