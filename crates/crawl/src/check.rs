//! Checking a whole crawl: its state, its archive and its ledgers, byte for byte and against each other.
//!
//! ```text
//!  crawl.toml ─► CHECKPOINT ─► of each partition: STATE-N, repositories, queues     (state)
//!                    │                            ledger ─┬─ no URL twice           (ledger)
//!                    └─ lengths of files ─► WARC records ─┴─ a row for each page    (archive)
//! ```
//!
//! [`check`] writes nothing and may be used beside a crawl that runs: it looks at the last checkpoint, and what is younger is
//! nobody's business. Whatever is wrong becomes a [`Finding`], and the search goes on behind it, so that the report says all that is
//! lost: one record or one block for one damaged byte. [`repair`] first brings in order what can be, and says what it did. It
//! never removes a byte that a checkpoint counts.
//!
//! Costs: everything is read once (queues twice, the ledgers three times and again for every 16 million rows); memory for 16 million numbers,
//! one WARC record and a thousand findings.

mod archive;
mod ledger;
mod payloads;
mod rebuild;
mod repair;
mod report;
mod robots;
mod rows;
mod state;

use std::path::{Path, PathBuf};

use mattock_env::{Env, copy_path};

use crate::checkpoint::Checkpoint;
use crate::directory::{Directory, MARKER, Seal};
use crate::{CheckpointProblem, CrawlError, RawConfig};

pub use archive::told;
pub use repair::repair;
pub use report::{CheckReport, Finding, FindingKind};

use report::Findings;

/// How far a check is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckProgress<'a> {
    /// Bytes that were read.
    pub done: u64,
    /// Bytes that there are.
    pub total: u64,
    /// What is being read.
    pub at: &'a Path,
}

/// A check under way.
struct Check<'a> {
    env: &'a Env,
    directory: Directory,
    /// To be taken in place of the one on disk.
    assumed: Option<&'a Checkpoint>,
    found: Findings,
    report: CheckReport,
    progress: Meter<'a>,
}

/// Counts bytes.
struct Meter<'a> {
    done: u64,
    total: u64,
    tell: &'a mut dyn FnMut(CheckProgress<'_>),
}

impl Meter<'_> {
    fn add(&mut self, bytes: u64, at: &Path) {
        self.done += bytes;
        (self.tell)(CheckProgress { done: self.done, total: self.total.max(self.done), at });
    }
}

/// Verifies the crawl in `root`. An error only if there is none, or if it cannot even be listed.
pub fn check(
    env: &Env,
    root: &Path,
    progress: &mut dyn FnMut(CheckProgress<'_>),
) -> Result<CheckReport, CrawlError> {
    let env = &env.within(root);
    let running = open(env, root)?.is_in_use();
    check_at(env, root, running, None, progress)
}

/// The directory of a crawl, whatever its state.
fn open(env: &Env, root: &Path) -> Result<Directory, CrawlError> {
    let marker = root.join(MARKER);
    if env.files.entry(&marker).map_err(CrawlError::io("look at", &marker))?.is_none() {
        return Err(CrawlError::NoCrawl { path: root.to_path_buf() });
    }
    Ok(Directory::at(&env.files, root))
}

/// Verifies a crawl as if this were its checkpoint, or at the one that it has.
fn check_at(
    env: &Env,
    root: &Path,
    running: bool,
    assumed: Option<&Checkpoint>,
    progress: &mut dyn FnMut(CheckProgress<'_>),
) -> Result<CheckReport, CrawlError> {
    let mut check = Check {
        env,
        directory: Directory::at(&env.files, root),
        assumed,
        found: Findings::new(root),
        report: CheckReport { running, ..CheckReport::default() },
        progress: Meter { done: 0, total: bytes_below(env, root)?, tell: progress },
    };
    let partitions = check.config()?;
    if check.frontiers(partitions)? {
        check.archive()?;
    }
    check.report.take(check.found);
    Ok(check.report)
}

/// Bytes of all files in a directory and below.
fn bytes_below(env: &Env, path: &Path) -> Result<u64, CrawlError> {
    let mut bytes = 0;
    for entry in env.files.list(path).map_err(CrawlError::io("list", path))? {
        let path = path.join(&entry.name);
        bytes += match entry.is_dir {
            // A crawl that runs may have removed it by now.
            true => bytes_below(env, &path).unwrap_or(0),
            false => entry.len,
        };
    }
    Ok(bytes)
}

impl Check<'_> {
    /// The configuration; how many partitions it says that there are.
    fn config(&mut self) -> Result<Option<usize>, CrawlError> {
        let path = self.directory.root().join(MARKER);
        let bytes = self.env.files.read(&path).map_err(CrawlError::io("read", &path))?;
        self.progress.add(bytes.len() as u64, &path);
        let unusable = |error: &dyn std::fmt::Display| format!("it cannot be used: {error}");
        match self.directory.seal()? {
            Seal::Whole => {}
            Seal::Changed => {
                let what = "it was changed after the crawl wrote it: fine if that was you, and the next run writes it anew";
                self.found.note(FindingKind::ConfigurationChanged, &path, what);
            }
            Seal::Cut => {
                let error = CrawlError::ConfigCut { path: path.clone() };
                self.found.problem(FindingKind::Configuration, &path, None, unusable(&error));
            }
            Seal::Version(version) => {
                let error = CrawlError::ConfigVersion { path: path.clone(), version };
                self.found.problem(FindingKind::Configuration, &path, None, unusable(&error));
                return Ok(None);
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        let raw = match RawConfig::parse_saved(&text, &path.display().to_string()) {
            Ok(raw) => raw,
            Err(error) => {
                self.found.problem(FindingKind::Configuration, &path, None, unusable(&error));
                return Ok(None);
            }
        };
        if let Err(error) = raw.check_saved() {
            self.found.problem(FindingKind::Configuration, &path, None, unusable(&error));
        }
        Ok(Some(raw.crawl.partitions.unwrap_or(1)))
    }

    fn read_checkpoint(&self) -> Result<Option<Checkpoint>, CrawlError> {
        match self.assumed {
            Some(checkpoint) => Ok(Some(checkpoint.clone())),
            None => Checkpoint::read(&self.env.files, &self.directory.checkpoint()),
        }
    }

    /// The checkpoint; a problem if it cannot be read. `None` also if there never was one.
    fn checkpoint(&mut self) -> Result<Option<Checkpoint>, CrawlError> {
        let path = self.directory.checkpoint();
        match self.read_checkpoint() {
            Ok(Some(checkpoint)) => {
                self.twins(&path);
                return Ok(Some(checkpoint));
            }
            Ok(None) => {
                if has_lost_checkpoint(self.env, &self.directory)? {
                    let newest = newest_state(self.env, &self.directory)?;
                    let what = format!("it is missing, and a frontier is at checkpoint {newest}");
                    self.found.problem(FindingKind::Checkpoint, &path, None, what);
                } else if self.directory.has_lost_state()? {
                    self.report.has_lost_state = true;
                    let what = "it is not there, nor anything else of the state: the crawl cannot go on, and only its archive and its index can be checked";
                    self.found.note(FindingKind::Checkpoint, &path, what);
                } else {
                    let what = "there is none yet: the crawl has not come to its first";
                    self.found.note(FindingKind::Checkpoint, &path, what);
                }
            }
            Err(CrawlError::Checkpoint { problem, .. }) => {
                let what = match problem {
                    CheckpointProblem::Damaged => "it is damaged: its checksum is wrong".to_owned(),
                    other => other.to_string(),
                };
                self.found.problem(FindingKind::Checkpoint, &path, None, what);
            }
            Err(error) => self.found.problem(FindingKind::Checkpoint, &path, None, error.to_string()),
        }
        Ok(None)
    }

    /// Whether the checkpoint and its copy are whole and the same.
    fn twins(&mut self, path: &Path) {
        let files = &self.env.files;
        if self.assumed.is_some() {
            return;
        }
        if let Some(damaged) = files.damaged_twin(path, Checkpoint::decode) {
            self.found.problem(FindingKind::Copy, &damaged, None, state::DAMAGED_TWIN);
            return;
        }
        let copy = copy_path(path);
        if let (Ok(first), Ok(second)) = (files.read(path), files.read(&copy))
            && first != second
            && !self.report.running
        {
            let what = "it is of another checkpoint than the file of which it is the copy";
            self.found.note(FindingKind::Younger, &copy, what);
        }
    }
}

/// The frontiers that are in a directory: partition and directory of each.
fn frontiers(env: &Env, path: PathBuf) -> Result<Vec<(usize, PathBuf)>, CrawlError> {
    let entry = env.files.entry(&path).map_err(CrawlError::io("look at", &path))?;
    if entry.is_none_or(|entry| !entry.is_dir) {
        return Ok(Vec::new());
    }
    let entries = env.files.list(&path).map_err(CrawlError::io("list", &path))?;
    let mut found: Vec<(usize, PathBuf)> = entries
        .into_iter()
        .filter_map(|entry| Some((entry.name.parse().ok()?, path.join(entry.name))))
        .collect();
    found.sort();
    Ok(found)
}

/// Whether the crawl has come to a checkpoint, to be asked where none can be found. Without it everything would be taken for younger, and go.
pub(crate) fn has_lost_checkpoint(env: &Env, directory: &Directory) -> Result<bool, CrawlError> {
    Ok(newest_state(env, directory)? > 1 || Checkpoint::was_written(&env.files, &directory.checkpoint())?)
}

/// The newest checkpoint that any partition has written.
fn newest_state(env: &Env, directory: &Directory) -> Result<u64, CrawlError> {
    let mut newest = 0;
    for path in directory.all_frontiers()? {
        for (_, path) in frontiers(env, path)? {
            newest = newest.max(mattock_frontier::Frontier::newest(env, &path)?);
        }
    }
    Ok(newest)
}
