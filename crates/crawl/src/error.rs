//! What can go wrong with a crawl itself; the Web's failures are outcomes and not errors.

use std::io;
use std::path::{Path, PathBuf};

use mattock_env::Reach;
use mattock_frontier::FrontierError;
use mattock_repository::RepositoryError;

use crate::ConfigError;

/// Why a crawl could not go on.
#[derive(Debug, thiserror::Error)]
pub enum CrawlError {
    /// There is nothing to begin with.
    #[error("no seed: name at least one URL to begin with, like http://example.com/")]
    NoSeed,
    /// The configuration in the directory reaches beyond it, and this user has not set it here.
    #[error(
        "{} was set up by somebody else, or elsewhere, and asks for more than its own directory:\n{}\nIf you want that, say --trust; otherwise \
         name other values, with flags or with --config",
        path.display(),
        listed(reaches)
    )]
    Untrusted {
        /// The directory.
        path: PathBuf,
        /// What it asks for.
        reaches: Vec<Reach>,
    },
    /// The directory holds something else.
    #[error("{} is not a crawl: it has files but no {}; name an empty or new directory with --out", path.display(), crate::directory::MARKER)]
    NotACrawl {
        /// The directory.
        path: PathBuf,
    },
    /// There is no crawl there.
    #[error("there is no crawl in {}: it has no {}; name the directory that was given with --out", path.display(), crate::directory::MARKER)]
    NoCrawl {
        /// The directory.
        path: PathBuf,
    },
    /// Somebody else is at it.
    #[error("another process is crawling into {}; wait for it or stop it first", path.display())]
    InUse {
        /// The directory.
        path: PathBuf,
    },
    /// A file of the crawl could not be read or written.
    #[error("cannot {action} {}: {source}{}", path.display(), hint(source))]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The blocklist cannot be used.
    #[error("the blocklist {}: {message}", path.display())]
    Blocklist {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// There is no crawl that could do it now.
    #[error("the crawl does not run; try again when it does")]
    NotRunning,
    /// A setting that cannot be changed now.
    #[error("`{name}` cannot be changed while the crawl runs{}", suggestion.as_ref().map_or(String::new(), |near| format!("; did you mean `{near}`?")))]
    NotLive {
        /// What was asked for.
        name: String,
        /// The setting that is most like it.
        suggestion: Option<String>,
    },
    /// Something that an operator has written and that means nothing.
    #[error("{rule}: {message}")]
    Rule {
        /// What was written, or where.
        rule: String,
        /// What is wrong with it.
        message: String,
    },
    /// Another partition could not go on; its error says why.
    #[error("another partition of the crawl has failed")]
    OtherPartition,
    /// The frontier could not go on.
    #[error(transparent)]
    Frontier(#[from] FrontierError),
    /// The checkpoint that the crawl would go on from cannot be used.
    #[error("the checkpoint {}: {problem}", path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: CheckpointProblem,
    },
    /// The configuration was written by another version of the program.
    #[error("{} has format version {version}, and this program knows version {known}; use the program that wrote it", path.display(), known = crate::directory::CONFIG_VERSION)]
    ConfigVersion {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// The configuration of a crawl has no end.
    #[error("{} is cut off: its last line is missing, and perhaps settings before it; restore it from a copy, or mend it and end it with `{}`", path.display(), crate::directory::LAST)]
    ConfigCut {
        /// The file.
        path: PathBuf,
    },
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The archive could not be written.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
}

/// What is wrong with a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointProblem {
    /// Of another version.
    #[error("it has format version {0}, and this program knows version {known}; use the program that wrote it", known = crate::checkpoint::VERSION)]
    Version(u32),
    /// Bytes changed or are missing.
    #[error(
        "it is damaged (its checksum is wrong); restore it from a copy, or see what is left with `mattock check`"
    )]
    Damaged,
    /// Not there, although it was once.
    #[error("it is missing; restore it from a copy, or see what is left with `mattock check`")]
    Missing,
    /// Not there, and nothing else of the state either, but an archive is.
    #[error(
        "it is missing with all of the state, and the archive, which is there, would go if the crawl began anew; restore the state from a \
         copy, or crawl into another directory with --out; queries of this one work as before"
    )]
    Gone,
}

fn hint(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; choose a directory that you may write to with --out"
        }
        io::ErrorKind::StorageFull => "; make room and run the same command again",
        io::ErrorKind::NotADirectory => "; name a directory and not a file with --out",
        _ => "",
    }
}

impl CrawlError {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> CrawlError {
        let path = path.to_path_buf();
        move |source| CrawlError::Io { action, path, source }
    }
}

/// A line for each.
fn listed(reaches: &[Reach]) -> String {
    reaches.iter().map(|reach| format!("  {reach}")).collect::<Vec<_>>().join("\n")
}
