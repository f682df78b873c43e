//! What can go wrong here, with the file, the place in it, and what to do.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a record's bytes cannot be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// The compressed data is invalid.
    Compressed,
    /// The data decompresses, but not to what its checksum was made of.
    Checksum,
    /// A record's block does not end where its head says.
    Length,
    /// A record's head breaks off, and another record begins in it.
    Head,
    /// There are bytes where a record should begin.
    Garbage,
}

impl fmt::Display for Damage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Damage::Compressed => "its compressed data is invalid",
            Damage::Checksum => "its checksum is wrong",
            Damage::Length => "its block does not end where its Content-Length says",
            Damage::Head => "its head breaks off",
            Damage::Garbage => "no record begins there",
        })
    }
}

/// An error of the repository.
#[derive(Debug, thiserror::Error)]
pub enum RepositoryError {
    /// The file system refused. Nothing that was acknowledged before is lost, and the same call may be tried again.
    #[error("cannot {action} {} at byte {offset}: {source}; check free space and permissions, then try again", path.display())]
    Io {
        /// What was being done.
        action: &'static str,
        /// To which file or directory.
        path: PathBuf,
        /// Where in it.
        offset: u64,
        /// What the system said.
        source: io::Error,
    },
    /// A write or sync failed and could not be undone. The file is closed for good; the next page opens another.
    #[error(
        "cannot {action} {}: {source}; what was written from byte {offset} on is lost: fetch those pages again, and repair the file's tail",
        path.display()
    )]
    Abandoned {
        /// What was being done.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Everything before this byte is safe; records from here on must count as never written.
        offset: u64,
        /// What the system said.
        source: io::Error,
    },
    /// The file ends inside a record.
    #[error("{} ends inside the record at byte {offset}; repair its tail before use", path.display())]
    Torn {
        /// The file.
        path: PathBuf,
        /// Where the torn record begins.
        offset: u64,
    },
    /// A record's bytes have changed since they were written.
    #[error("{} is damaged at the record at byte {offset}: {damage}; restore the file from a copy", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where the damaged record begins.
        offset: u64,
        /// How it shows.
        damage: Damage,
    },
    /// The bytes may be intact, but to read them takes something that is not there.
    #[error("the record at byte {offset} of {} cannot be read: {what}; unpack the file with the tool that wrote it", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Where the record begins.
        offset: u64,
        /// What it takes.
        what: &'static str,
    },
    /// The bytes are intact, but they are not a WARC record.
    #[error("{} holds no WARC record at byte {offset}: {what}; name a .warc, .warc.gz or .warc.zst file", path.display())]
    NotWarc {
        /// The file.
        path: PathBuf,
        /// Where a record was expected.
        offset: u64,
        /// What was found instead.
        what: &'static str,
    },
    /// A place does not hold the document that it was given for.
    #[error(
        "{} holds another record at byte {offset} ({found}) than that of {wanted}: the file was changed; put back the one that was indexed",
        path.display()
    )]
    AnotherRecord {
        /// The file.
        path: PathBuf,
        /// The place.
        offset: u64,
        /// What is there: type and URL, and when it was fetched if only that is different.
        found: String,
        /// The URL that should be there, and when it was fetched.
        wanted: String,
    },
    /// A record is larger than the reader may hold. Reading can go on behind it.
    #[error(
        "the record at byte {offset} of {} has {bytes} bytes and the limit is {limit}; raise the limit or skip it",
        path.display()
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Where the record begins.
        offset: u64,
        /// Its block's length.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// A repair would cut off whole records, so nothing was changed.
    #[error(
        "{} is damaged at byte {offset}, but a whole record follows at byte {next}: this is no torn tail; \
         keep the file as it is, write to a new one, and restore it from a copy",
        path.display()
    )]
    NotATornTail {
        /// The file.
        path: PathBuf,
        /// Where the damage is.
        offset: u64,
        /// Where the next whole record begins.
        next: u64,
    },
    /// A file of another version of this program.
    #[error("{} has format version {version}, and this program knows version {known}; use the program that wrote it", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
        /// Ours.
        known: u32,
    },
    /// A file has lost what a checkpoint says that it holds.
    #[error(
        "{} has {bytes} bytes, and the checkpoint says {expected}; restore it from a copy, or see what is left with `mattock check`",
        path.display()
    )]
    Short {
        /// The file.
        path: PathBuf,
        /// What is there.
        bytes: u64,
        /// What should be.
        expected: u64,
    },
    /// The writer was given something it cannot use.
    #[error("{name} cannot be {value:?}: {rule}")]
    Option {
        /// The option.
        name: &'static str,
        /// What was given.
        value: String,
        /// What would do.
        rule: &'static str,
    },
}

impl RepositoryError {
    /// Where in the file it is, if it is at a place.
    pub fn offset(&self) -> Option<u64> {
        match self {
            RepositoryError::Io { offset, .. }
            | RepositoryError::Abandoned { offset, .. }
            | RepositoryError::Torn { offset, .. }
            | RepositoryError::Damaged { offset, .. }
            | RepositoryError::Unreadable { offset, .. }
            | RepositoryError::NotWarc { offset, .. }
            | RepositoryError::TooLarge { offset, .. }
            | RepositoryError::AnotherRecord { offset, .. }
            | RepositoryError::NotATornTail { offset, .. } => Some(*offset),
            RepositoryError::Version { .. }
            | RepositoryError::Short { .. }
            | RepositoryError::Option { .. } => None,
        }
    }

    /// Whether bytes are lost, rather than out of reach for now or of another version.
    pub fn is_loss(&self) -> bool {
        match self {
            RepositoryError::Io { source, .. } => mattock_env::is_loss(source),
            RepositoryError::Torn { .. }
            | RepositoryError::Damaged { .. }
            | RepositoryError::Unreadable { .. }
            | RepositoryError::NotWarc { .. }
            | RepositoryError::AnotherRecord { .. }
            | RepositoryError::Short { .. } => true,
            _ => false,
        }
    }
}
