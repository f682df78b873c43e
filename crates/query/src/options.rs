//! What a session is given.

use std::path::PathBuf;
use std::sync::Arc;

use mattock_analyze::Analyzer;
use mattock_env::Random;

use crate::given::GivenTable;

/// Settings of a [`Session`](crate::Session).
#[derive(Clone)]
pub struct Options {
    /// Bytes of memory that queries may use: sorts, joins and aggregates spill to disk before they take more.
    pub memory_bytes: usize,
    /// Threads that compute.
    pub threads: usize,
    /// Instances that were fetched after this do not exist: milliseconds since 1970.
    pub as_of_ms: Option<i64>,
    /// Instances that were inserted into the repository after this do not exist: milliseconds since 1970. A sample of what was there at a date
    /// is the same for ever.
    pub inserted_by_ms: Option<i64>,
    /// Analyzers that the user brought. They come before those built in that have the same name.
    pub analyzers: Vec<Arc<dyn Analyzer>>,
    /// Tables beside the repository's own, of files that the user has named.
    pub tables: Vec<GivenTable>,
    /// Where what does not fit into memory is put; the system's directory for temporary files if nothing is said.
    pub temporary: Option<PathBuf>,
    /// Where seeds come from that nobody named.
    pub random: Random,
}

impl Options {
    /// 512 MiB, two threads, everything that there is.
    pub fn new(random: Random) -> Options {
        Options {
            memory_bytes: 512 << 20,
            threads: 2,
            as_of_ms: None,
            inserted_by_ms: None,
            analyzers: Vec::new(),
            tables: Vec::new(),
            temporary: None,
            random,
        }
    }
}

/// Where so few rows are handed on at a time, they are wide, or memory is very small.
pub(crate) const WIDE_ROWS_MAX: usize = 256;

impl Options {
    /// Rows that operators hand to each other at a time. A sort must be able to hold several such batches, of rows of about
    /// a kilobyte, in its share of the memory.
    pub(crate) fn batch_rows(&self) -> usize {
        (self.memory_bytes / self.threads.max(1) / (32 << 10)).clamp(64, 8_192)
    }

    /// The same for rows that have whole documents in them, of tens of kilobytes each.
    pub(crate) fn wide_batch_rows(&self) -> usize {
        (self.memory_bytes / self.threads.max(1) / (4 << 20)).clamp(16, WIDE_ROWS_MAX)
    }
}

/// The languages that queries are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// The Web-in-a-Box language: see [`crate::wib`].
    Wib,
    /// SQL, as DataFusion has it.
    Sql,
}
