//! What can go wrong with an index.

use std::io;
use std::path::PathBuf;

use mattock_repository::RepositoryError;

use crate::snapshot::TAIL_ROWS_MAX;

/// What is said of an archive whose rows are of one that it replaced.
pub(crate) const ANOTHER: &str = "is another file than the one that was imported by this name, which rows of the index are of: give it another name and \
     import that, and put the old one back if its documents are wanted";

/// Says which file, and what can be done.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// A file of the index could not be read or written.
    #[error("cannot {action} {path}: {source}", path = path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// With what.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The list of parts is not what was written.
    #[error("{path} is damaged ({why}); the index can be made again: mattock index --rebuild", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Made by a newer program.
    #[error("{path} is of version {version}; this program reads version {known}: mattock index --rebuild makes it anew (of parts that this program cannot read, archives are imported again), or use the program that wrote it", path = path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
        /// The newest that is known.
        known: u32,
    },
    /// A Parquet file could not be read or written.
    #[error("{path}: {source}", path = path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: parquet::errors::ParquetError,
    },
    /// Rows could not be put together.
    #[error("rows do not fit together: {0}")]
    Arrow(#[from] arrow_schema::ArrowError),
    /// A record lies where Common Crawl's schema has no number for it.
    #[error(
        "{file}: a record at {offset} lies beyond 2 GiB, where the index has no number for it: split the file; `mattock import --copy` does"
    )]
    TooFar {
        /// The archive file.
        file: String,
        /// Where the record begins.
        offset: u64,
    },
    /// Somebody else is making parts.
    #[error("{path} is locked: another process is indexing this repository, or importing into it", path = path.display())]
    Locked {
        /// The lock.
        path: PathBuf,
    },
    /// There are parts, but no list of them.
    #[error("{path} is missing, though there are parts: `mattock index --rebuild` makes it of them again", path = path.display())]
    Lost {
        /// The list.
        path: PathBuf,
    },
    /// Rows were made of an archive that had another content.
    #[error("{name} {ANOTHER}")]
    Replaced {
        /// The archive.
        name: String,
    },
    /// A list that only its repository can make again.
    #[error("{path} was published, and its list of parts is damaged: publish the repository that it was published from again", path = path.display())]
    Published {
        /// The publication.
        path: PathBuf,
    },
    /// A part is missing, or not as it was written.
    #[error("{path} {what}: {advice}", path = path.display())]
    LostPart {
        /// The part.
        path: PathBuf,
        /// What is wrong with it.
        what: &'static str,
        /// What can be done about it.
        advice: &'static str,
    },
    /// There is nothing to make parts of.
    #[error("{path} has an index, but no ledgers to make it anew from: the crawl's state is not there; `mattock import` makes an index of its archives in another directory", path = path.display())]
    NoLedgers {
        /// The repository.
        path: PathBuf,
    },
    /// Parts have to be made before anything can be asked.
    #[error("{path} has more than {TAIL_ROWS_MAX} documents that are in no part of its index, and none could be made: `mattock index` says why", path = path.display())]
    Unindexed {
        /// The repository.
        path: PathBuf,
    },
    /// What is published has something that the repository does not know.
    #[error("{target} holds what was imported there ({name}), and would lose it: import it into the repository, or publish elsewhere", target = target.display())]
    Elsewhere {
        /// Where to publish.
        target: PathBuf,
        /// An archive that was imported there.
        name: String,
    },
    /// What another repository has published is there.
    #[error("{target} holds what another repository has published ({rows} rows): publish elsewhere, or let --replace put this one in its place", target = target.display())]
    OfAnother {
        /// Where to publish.
        target: PathBuf,
        /// What is there.
        rows: u64,
    },
    /// The target is no place for a publication.
    #[error("{target} is a repository itself, perhaps the one that would be published: publish elsewhere", target = target.display())]
    NoPublication {
        /// Where to publish.
        target: PathBuf,
    },
    /// An archive of another content has the name.
    #[error("{target} is there already, and is another file than {path}: remove it, or publish elsewhere", target = target.display(), path = path.display())]
    OtherFile {
        /// What is there.
        target: PathBuf,
        /// What would be sent.
        path: PathBuf,
    },
    /// A list names something as an archive that does not begin as one.
    #[error("{path} is named as an archive, and is none: it is not published. Whoever made this index has named it; `mattock index --rebuild` makes one of what is there", path = path.display())]
    NoArchive {
        /// The file.
        path: PathBuf,
    },
    /// An imported archive that a reader of the directory would not find in it.
    #[error("{name} was imported from outside of the repository, and in a directory there is no place for it: publish to file://{target}, or import with --copy", target = target.display())]
    Outside {
        /// Where to publish.
        target: PathBuf,
        /// The archive.
        name: String,
    },
    /// The ledger or the archive.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
}

impl IndexError {
    pub(crate) fn io(action: &'static str, path: &std::path::Path) -> impl FnOnce(io::Error) -> IndexError {
        let path = path.to_path_buf();
        move |source| IndexError::Io { action, path, source }
    }
}
