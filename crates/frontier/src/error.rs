//! What can go wrong with the frontier itself: its files. What the Web does wrong is data.

use std::path::PathBuf;

use mattock_drum::DrumError;
use mattock_queue::QueueError;

/// Why the frontier cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum FrontierError {
    /// A repository on disk failed.
    #[error(transparent)]
    Drum(#[from] DrumError),
    /// A queue on disk failed.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was said.
        source: std::io::Error,
    },
    /// The state of an earlier run cannot be used.
    #[error("{}: {problem}", path.display())]
    State {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: StateProblem,
    },
    /// A record between two stages cannot be read, although its block was intact.
    #[error(
        "a record in the frontier's queues cannot be read: it was written by another version, or this is a bug"
    )]
    Record,
}

impl FrontierError {
    /// Whether bytes are lost, rather than out of reach for now or of another version.
    pub fn is_loss(&self) -> bool {
        match self {
            FrontierError::Drum(error) => error.is_loss(),
            FrontierError::Queue(error) => error.is_loss(),
            FrontierError::Io { source, .. } => mattock_env::is_loss(source),
            FrontierError::State { problem, .. } => *problem == StateProblem::Damaged,
            FrontierError::Record => true,
        }
    }

    /// Whether what was looked at may have made way for a newer checkpoint meanwhile.
    pub fn has_moved_on(&self) -> bool {
        match self {
            FrontierError::Drum(error) => matches!(error, DrumError::NoSuchCheckpoint { .. }),
            FrontierError::Queue(error) => matches!(error, QueueError::NoSuchCheckpoint { .. }),
            FrontierError::Io { source, .. } => source.kind() == std::io::ErrorKind::NotFound,
            FrontierError::State { .. } | FrontierError::Record => false,
        }
    }
}

impl FrontierError {
    /// Whether it is over once there is room on the disk.
    pub fn is_disk_full(&self) -> bool {
        use std::io::ErrorKind;
        match self {
            FrontierError::Drum(DrumError::DiskFull { .. })
            | FrontierError::Queue(QueueError::DiskFull { .. }) => true,
            FrontierError::Io { source, .. } => {
                matches!(source.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
            }
            _ => false,
        }
    }

    /// Whether a sync has failed, after which only opening again helps.
    pub fn is_poisoned(&self) -> bool {
        matches!(
            self,
            FrontierError::Drum(DrumError::Poisoned { .. })
                | FrontierError::Queue(QueueError::Poisoned { .. })
        )
    }
}

/// What is wrong with a saved state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateProblem {
    /// Not a state at all.
    #[error("it is not the state of a frontier")]
    NotAState,
    /// Of another version.
    #[error("it has format version {0}, and this program knows version {known}; use the program that wrote it", known = crate::state::VERSION)]
    Version(u32),
    /// Bytes changed or are missing.
    #[error("it is damaged (its checksum is wrong); restore it from a copy")]
    Damaged,
}

/// Of the frontier.
pub(crate) type Result<T, E = FrontierError> = std::result::Result<T, E>;
