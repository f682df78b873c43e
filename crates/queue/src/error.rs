//! What can go wrong: the disk, what is found on it, and calls at the wrong time.

use std::io;
use std::path::{Path, PathBuf};

/// An error of the queues, with the file it is about.
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    /// No room for what has to be written. Nothing is lost and nothing was taken: the call can be made again once there is space.
    #[error("the disk is full ({}): free some space and go on", path.display())]
    DiskFull {
        /// The file that could not grow.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// The bytes on disk are not those that were written.
    #[error("{} is damaged at byte {offset}: {what}; restore the file from a copy, or open an earlier checkpoint", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Where it was noticed.
        offset: u64,
        /// What does not fit.
        what: &'static str,
    },
    /// A file of another version of this format.
    #[error("{} has format version {version:?}, which this version does not know: open it with the version that wrote it", path.display())]
    UnknownVersion {
        /// The file.
        path: PathBuf,
        /// The byte that names the version.
        version: char,
    },
    /// A sync failed earlier, so it is unknown what is on disk. Only opening again helps.
    #[error("an earlier sync of {} failed: open the queues again, they continue from their last checkpoint", path.display())]
    Poisoned {
        /// The file whose sync failed.
        path: PathBuf,
    },
    /// A record that is larger than a block may hold.
    #[error("{bytes} bytes are too much for one record: {limit} is the limit")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// What would be possible.
        limit: usize,
    },
    /// A pop, or a capture, while a pop of this queue is under way.
    #[error("queue {queue} is being popped: end that first")]
    Popping {
        /// Its name.
        queue: String,
    },
    /// A checkpoint that is not there: it never was, or whoever works on the queues has moved on meanwhile, and there is a newer one.
    #[error("{} holds no checkpoint {number}; there may be a newer one", path.display())]
    NoSuchCheckpoint {
        /// The directory.
        path: PathBuf,
        /// The number asked for.
        number: u64,
    },
}

/// Short for results of this crate.
pub type Result<T> = std::result::Result<T, QueueError>;

impl QueueError {
    /// Whether bytes are lost, rather than out of reach for now or of another version.
    pub fn is_loss(&self) -> bool {
        match self {
            QueueError::Corrupt { .. } | QueueError::NoSuchCheckpoint { .. } => true,
            QueueError::Io { source, .. } => mattock_env::is_loss(source),
            _ => false,
        }
    }

    /// What the operating system said about a file. A file that ends too early is damaged, at `offset`.
    pub(crate) fn io(path: &Path, offset: u64, source: io::Error) -> QueueError {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                QueueError::DiskFull { path: path.into() }
            }
            io::ErrorKind::UnexpectedEof => QueueError::corrupt(path, offset, "the file is too short"),
            io::ErrorKind::NotFound => QueueError::corrupt(path, 0, "the file is missing"),
            _ => QueueError::Io { path: path.into(), source },
        }
    }

    pub(crate) fn corrupt(path: &Path, offset: u64, what: &'static str) -> QueueError {
        QueueError::Corrupt { path: path.into(), offset, what }
    }
}
