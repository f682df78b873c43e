//! Sorting what does not fit into memory: sorted runs on disk, merged when they are read.
//!
//! A sorter is filled with records until its share of the memory is full, sorts them, writes them as a run, and begins anew. Finished,
//! it can be read as often as wanted: from memory if it never was full, else by merging its runs. Runs are made of blocks with
//! checksums ([`run`]): what a disk changed in between is found, not built in.
//!
//! [`pairs`] has pairs of numbers (links, fingerprints with ids), [`texts`] has texts, each once.
//!
//! Costs: a record is written and read once, for up to [`RUNS_MAX`] runs; more are first merged into larger ones. A run that is being read
//! has one buffer of [`run::BLOCK_BYTES`].

pub(crate) mod merge;
pub(crate) mod pairs;
mod run;
pub(crate) mod texts;

use std::path::{Path, PathBuf};

use mattock_env::Files;

/// So many runs are merged at once.
const RUNS_MAX: usize = 256;

/// Where runs go: a directory that is there.
#[derive(Clone, Debug)]
pub struct Scratch {
    pub(crate) files: Files,
    pub(crate) dir: PathBuf,
}

impl Scratch {
    /// A directory that somebody else makes and removes.
    pub fn new(files: &Files, dir: &Path) -> Scratch {
        Scratch { files: files.clone(), dir: dir.into() }
    }
}
