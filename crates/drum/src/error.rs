//! What can go wrong: the disk, and what is found on it.

use std::io;
use std::path::{Path, PathBuf};

/// An error of the repository, with the file it is about.
#[derive(Debug, thiserror::Error)]
pub enum DrumError {
    /// No room for what has to be written. Nothing is lost: the call can be made again once there is space.
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
    /// Files of another version of the format.
    #[error("{} has format version {version:?}, which this version does not know: open it with the version that wrote it", path.display())]
    UnknownVersion {
        /// The manifest.
        path: PathBuf,
        /// The byte that names the version.
        version: char,
    },
    /// A sync failed earlier, so it is unknown what of the unmerged data is on disk. Only reopening helps.
    #[error("an earlier sync of {} failed: open the repository again, it continues from its last checkpoint", path.display())]
    Poisoned {
        /// The file whose sync failed.
        path: PathBuf,
    },
    /// The repository was made with other options, which cannot be changed afterwards.
    #[error("{}: {what}", path.display())]
    Incompatible {
        /// Its manifest.
        path: PathBuf,
        /// What differs.
        what: &'static str,
    },
    /// A value or auxiliary text that is larger than a block.
    #[error("{bytes} bytes are too much for one record: {limit} is the limit with this memory")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// What would be possible.
        limit: usize,
    },
    /// A checkpoint that is not there: it never was, or whoever works on the repository has moved on meanwhile, and there is a newer one.
    #[error("{} holds no checkpoint {number}; there may be a newer one", path.display())]
    NoSuchCheckpoint {
        /// The directory.
        path: PathBuf,
        /// The number asked for.
        number: u64,
    },
}

/// Short for results of this crate.
pub type Result<T> = std::result::Result<T, DrumError>;

impl DrumError {
    /// Whether bytes are lost, rather than out of reach for now or of another version.
    pub fn is_loss(&self) -> bool {
        match self {
            DrumError::Corrupt { .. } | DrumError::NoSuchCheckpoint { .. } => true,
            DrumError::Io { source, .. } => mattock_env::is_loss(source),
            _ => false,
        }
    }

    pub(crate) fn io(path: &Path, source: io::Error) -> DrumError {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                DrumError::DiskFull { path: path.into() }
            }
            io::ErrorKind::UnexpectedEof => {
                DrumError::Corrupt { path: path.into(), offset: 0, what: "the file is too short" }
            }
            _ => DrumError::Io { path: path.into(), source },
        }
    }

    pub(crate) fn corrupt(path: &Path, offset: u64, what: &'static str) -> DrumError {
        DrumError::Corrupt { path: path.into(), offset, what }
    }
}
