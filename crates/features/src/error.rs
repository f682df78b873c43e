//! What can go wrong with feature databases, with the place where it did.

use std::io;
use std::path::{Path, PathBuf};

use crate::generation::FORMAT;

/// The result of everything here that can fail.
pub type Result<T> = std::result::Result<T, FeaturesError>;

/// Why a feature database cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum FeaturesError {
    /// The file system said no.
    #[error("{path}: {source}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// A file is not as it was written.
    #[error(
        "{path} is damaged at byte {offset}: {what}; make the features anew with `mattock features build --rebuild`"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where in it.
        offset: u64,
        /// What is wrong.
        what: String,
    },
    /// A file is of another version.
    #[error(
        "{path} has version {version:?}, which this program does not know; use the program that wrote it, or build the features again"
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// The version that is in it.
        version: String,
    },
    /// There are no features yet.
    #[error("{dir} has no features; make them with `mattock features build`")]
    Missing {
        /// Where they would be.
        dir: PathBuf,
    },
    /// A build that ended meanwhile has removed what was asked for.
    #[error("{dir} is no longer in use: the features were built anew meanwhile; run the command again")]
    Replaced {
        /// The generation.
        dir: PathBuf,
    },
    /// A graph of numbers was asked for names.
    #[error("{dir} was built of numbers: its nodes have no URLs, hosts or domains, only their ids")]
    NoUrls {
        /// The generation.
        dir: PathBuf,
    },
    /// What features are to be built from cannot be read.
    #[error("{name}, line {line}: {what}")]
    Input {
        /// The input's name.
        name: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        what: String,
    },
    /// What was said of a page makes no sense.
    #[error("{url}: {what}")]
    Content {
        /// The page.
        url: String,
        /// What is wrong.
        what: String,
    },
    /// The code of links refused.
    #[error("{path}: {what}")]
    Links {
        /// The graph file.
        path: PathBuf,
        /// What was refused.
        what: String,
    },
}

impl FeaturesError {
    /// Whether a build may take the place of what could not be opened: what is not there, what is damaged, and what an older program made. What
    /// a newer one made, or what the file system does not let one see, may be as good as ever.
    pub fn may_be_built_over(&self) -> bool {
        match self {
            FeaturesError::Missing { .. } | FeaturesError::Damaged { .. } => true,
            FeaturesError::Version { version, .. } => {
                version.parse().is_ok_and(|version: u32| version < FORMAT)
            }
            _ => false,
        }
    }

    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> FeaturesError {
        let path = path.to_path_buf();
        move |source| FeaturesError::Io { path, source }
    }

    pub(crate) fn damaged(path: &Path, offset: u64, what: impl Into<String>) -> FeaturesError {
        FeaturesError::Damaged { path: path.into(), offset, what: what.into() }
    }

    /// A failed read: what ends too soon is damaged, everything else is the file system's.
    pub(crate) fn reading(path: &Path, offset: u64) -> impl FnOnce(io::Error) -> FeaturesError {
        let path = path.to_path_buf();
        move |source| match source.kind() {
            io::ErrorKind::UnexpectedEof => FeaturesError::damaged(&path, offset, "the file ends too soon"),
            io::ErrorKind::NotFound => FeaturesError::damaged(&path, offset, "the file is missing"),
            _ => FeaturesError::Io { path, source },
        }
    }
}
