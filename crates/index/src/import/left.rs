//! What an import did, and what it left out: by kind, so that damage is not lost among what was never meant to be taken.

use std::collections::BTreeMap;
use std::path::PathBuf;

use mattock_repository::RepositoryError;

/// Why something was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Left {
    /// Bytes that are damaged or cut off.
    Damage,
    /// A whole file: it is another one by now, or nothing was taken of it.
    File,
    /// A document with more bytes than are read at once.
    TooLarge,
    /// A document that the index has no place for: it shares its member with others, or lies too far behind.
    Place,
    /// A document without a URL of the Web, or without a date.
    Head,
    /// A document that is no HTTP response.
    NotHttp,
    /// A name that was looked up.
    Dns,
    /// A file without an HTTP response around it.
    Resource,
    /// Another form of a document.
    Conversion,
    /// A further segment of a record.
    Segment,
    /// A record of a type that the standard does not have.
    UnknownType,
}

impl Left {
    /// What it is called in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Left::Damage => "damage",
            Left::File => "file",
            Left::TooLarge => "too-large",
            Left::Place => "place",
            Left::Head => "head",
            Left::NotHttp => "not-http",
            Left::Dns => "dns",
            Left::Resource => "resource",
            Left::Conversion => "conversion",
            Left::Segment => "segment",
            Left::UnknownType => "unknown-type",
        }
    }

    /// That of what a reader could not read.
    pub fn of(error: &RepositoryError) -> Left {
        match error {
            RepositoryError::TooLarge { .. } => Left::TooLarge,
            _ => Left::Damage,
        }
    }

    /// Whether something is missing that was there once: what `--strict` minds.
    pub fn is_loss(self) -> bool {
        matches!(self, Left::Damage | Left::File)
    }
}

/// Something in a file that could not be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Untaken {
    /// Of which kind that is.
    pub kind: Left,
    /// The file.
    pub file: String,
    /// Where in it.
    pub offset: u64,
    /// Why.
    pub why: String,
}

/// What an import did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Files that documents were taken of.
    pub files: u64,
    /// Files that were there already.
    pub known: u64,
    /// All records.
    pub records: u64,
    /// Rows: responses and revisits.
    pub instances: u64,
    /// Of which revisits.
    pub revisits: u64,
    /// Records that belong to documents: requests, metadata and the like.
    pub others: u64,
    /// What was left out, of each kind the first of it: what is lost comes first.
    pub untaken: Vec<Untaken>,
    /// How many there are of each kind.
    pub left: BTreeMap<Left, u64>,
    /// Files that are others than those that were imported by their names: nothing was taken of them.
    pub replaced: u64,
    /// Files whose rows are lost, and that cannot be had again now.
    pub lost: Vec<PathBuf>,
    /// So much is told of each kind.
    pub(crate) told_max: usize,
}

impl Imported {
    /// Notes that something was left out.
    pub fn leave(&mut self, kind: Left, file: &str, offset: u64, why: impl Into<String>) {
        let count = self.left.entry(kind).or_default();
        *count += 1;
        if *count <= self.told_max as u64 {
            self.untaken.push(Untaken { kind, file: file.to_owned(), offset, why: why.into() });
        }
    }

    /// How many were left out.
    pub fn untaken_count(&self) -> u64 {
        self.left.values().sum()
    }

    /// How many of these are missing that were there once.
    pub fn losses(&self) -> u64 {
        self.left.iter().filter(|(kind, _)| kind.is_loss()).map(|(_, count)| count).sum()
    }
}
