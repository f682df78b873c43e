//! What can go wrong with a study, with the place where it did.

use std::io;
use std::path::{Path, PathBuf};

use mattock_features::FeaturesError;
use mattock_index::IndexError;
use mattock_query::QueryError;
use mattock_repository::RepositoryError;

/// The result of everything here that can fail.
pub type Result<T> = std::result::Result<T, StudyError>;

/// Why something was not studied.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// The feature databases.
    #[error(transparent)]
    Features(#[from] FeaturesError),
    /// The index of the repository.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// Reading the documents.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// Reading an archive of others.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// The file system said no.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// A column could not be written.
    #[error("{path}: {source}", path = path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: parquet::errors::ParquetError,
    },
    /// Somebody else is building here.
    #[error("{dir}: another process is building features here; wait for it, or stop it", dir = dir.display())]
    Locked {
        /// The directory of the features.
        dir: PathBuf,
    },
    /// There is nothing to build from.
    #[error("{dir} has no documents yet: crawl into it, or take archives into it with `mattock import`", dir = dir.display())]
    Empty {
        /// The repository.
        dir: PathBuf,
    },
}

impl StudyError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> StudyError {
        let path = path.to_path_buf();
        move |source| StudyError::Io { path, source }
    }

    pub(crate) fn parquet(path: &Path) -> impl FnOnce(parquet::errors::ParquetError) -> StudyError {
        let path = path.to_path_buf();
        move |source| StudyError::Parquet { path, source }
    }
}
