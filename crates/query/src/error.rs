//! What can go wrong with a query.

use std::path::PathBuf;

use datafusion::common::DataFusionError;

use mattock_env::Panic;

use crate::complaint::Complaint;

/// See the module. What documents and analyzers do wrong is no error: it is counted in the report.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The query says something that cannot be understood or done.
    #[error("{0}")]
    Query(Box<Complaint>),
    /// Reading the index or computing the answer failed.
    #[error("the query failed: {0}")]
    Engine(#[source] Box<DataFusionError>),
    /// What reads files panicked, on a file that nobody could have written so.
    #[error(
        "a file of the repository is damaged, and its reader fails on it: {0}; `mattock check` tells which one"
    )]
    Unreadable(Panic),
    /// It needs more memory than it may use.
    #[error("the query needs more memory than it may use: raise --memory, or ask for less at a time ({})", first_line(.0))]
    Memory(Box<DataFusionError>),
    /// A file of the repository cannot be read.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file that is to be a table cannot be one.
    #[error("--table {path}: {reason}", path = path.display())]
    Table {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// Somebody else is keeping columns, or forgetting them.
    #[error("{path} is locked: another process changes the kept columns of this repository", path = path.display())]
    Locked {
        /// The lock.
        path: PathBuf,
    },
    /// The answer cannot be written.
    #[error("the answer cannot be written: {0}")]
    Output(#[source] std::io::Error),
    /// There is no column of this name to be kept.
    #[error("there is no analyzer `{name}`{hint}")]
    NoAnalyzer {
        /// What was asked for.
        name: String,
        /// What may have been meant.
        hint: String,
    },
}

impl From<Complaint> for QueryError {
    fn from(complaint: Complaint) -> QueryError {
        QueryError::Query(Box::new(complaint))
    }
}

impl From<DataFusionError> for QueryError {
    fn from(error: DataFusionError) -> QueryError {
        match error.find_root() {
            DataFusionError::ResourcesExhausted(what) if !what.contains("disk") => {
                QueryError::Memory(Box::new(error))
            }
            _ => QueryError::Engine(Box::new(error)),
        }
    }
}

/// What the engine says of memory, without its advice about settings that are not ours.
fn first_line(error: &DataFusionError) -> String {
    match error.find_root() {
        DataFusionError::ResourcesExhausted(what) => what.lines().next().unwrap_or_default().to_owned(),
        other => other.to_string(),
    }
}

impl QueryError {
    /// Whether the text of the query is at fault, and not the machine or the repository.
    pub fn is_of_query(&self) -> bool {
        matches!(self, QueryError::Query(_) | QueryError::NoAnalyzer { .. } | QueryError::Table { .. })
    }

    /// A failure to read `path`.
    pub(crate) fn io(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> QueryError {
        let path = path.to_path_buf();
        move |source| QueryError::Io { path, source }
    }
}
