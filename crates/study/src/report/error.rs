//! What keeps a report from being made.

use std::path::PathBuf;

use mattock_features::FeaturesError;
use mattock_index::IndexError;
use mattock_query::QueryError;

/// See the module. What is wrong with single documents is no error: it is counted on the page.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The repository cannot be asked.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The list of the index' parts cannot be read.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The features cannot be read.
    #[error(transparent)]
    Features(#[from] FeaturesError),
    /// A column that was kept cannot be read.
    #[error("{path}: {source}; `mattock duplicates` makes it anew")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// An answer is not what was asked for.
    #[error("the answer to `{sql}` has no {what}: this is a bug, please report it")]
    Answer {
        /// The question.
        sql: String,
        /// What it lacks.
        what: &'static str,
    },
    /// Somebody did not want to wait for it.
    #[error("stopped: no report was made")]
    Stopped,
}

/// Short for what this module's functions give.
pub type Result<T> = std::result::Result<T, ReportError>;
