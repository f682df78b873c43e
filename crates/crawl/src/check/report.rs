//! What a check has found.

use std::fmt;
use std::path::Path;

use serde::Serialize;

/// Findings that are kept; of more it is told how many there are.
const FINDINGS_MAX: usize = 1000;

/// Of what kind a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// `crawl.toml` cannot be used.
    Configuration,
    /// `crawl.toml` is not as the crawl wrote it.
    ConfigurationChanged,
    /// `CHECKPOINT` cannot be used.
    Checkpoint,
    /// A file that is kept twice is damaged, and the other one is whole.
    Copy,
    /// A file of a frontier is damaged, or contradicts another one.
    State,
    /// URLs are not accounted for.
    Accounts,
    /// An archive file is missing, or shorter than the checkpoint says.
    ArchiveFile,
    /// A record of the archive is damaged.
    Record,
    /// A page that the ledger has is not in the archive, or another one is in its place.
    Page,
    /// A page in the archive is not in the ledger.
    Unlisted,
    /// A block of a ledger is damaged.
    Ledger,
    /// A URL is in the ledger more than once.
    Twice,
    /// A file that has grown since the checkpoint, or that only another checkpoint needs.
    Younger,
    /// A part that could not be looked at.
    Unchecked,
    /// Something that was brought in order.
    Repaired,
}

impl FindingKind {
    /// What can be done about it.
    pub fn advice(self) -> &'static str {
        match self {
            FindingKind::Configuration => "mend crawl.toml, or restore it from a copy",
            FindingKind::Checkpoint => {
                "`--repair` makes it anew if the crawl was stopped before; otherwise restore it from a copy"
            }
            FindingKind::Copy => {
                "nothing is lost, as the other one is whole: the crawl goes on with that, and `--repair` writes this one anew"
            }
            FindingKind::State | FindingKind::Accounts => {
                "`--repair` makes it anew from what can be read, and says what is lost; or restore `state` from a copy of the same \
                 day as `warc`"
            }
            FindingKind::ArchiveFile => {
                "put the file back if it was moved, or restore it from a copy; `--repair` has the crawl go on without what is lost"
            }
            FindingKind::Record | FindingKind::Page => {
                "restore the file from a copy; or fetch the pages that are named again, into another directory: `mattock \
                 crawl --out NEW --max-depth 0 URL…`. All other records of the file can be read"
            }
            FindingKind::Ledger | FindingKind::Unlisted => {
                "restore the ledger from a copy, or have `--repair` begin new ones if it ends early; its rows were an index of the archive, where the pages still are"
            }
            FindingKind::Twice => "this is a bug: please report it",
            FindingKind::Younger => {
                "nothing: the next run goes back to the checkpoint, and so does `--repair`"
            }
            FindingKind::Unchecked => "stop the crawl and check again",
            FindingKind::ConfigurationChanged | FindingKind::Repaired => "nothing",
        }
    }
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Of what kind.
    pub kind: FindingKind,
    /// The file, as it is called in the crawl's directory.
    pub file: String,
    /// Where in it, if at a place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// What is the matter.
    pub what: String,
    /// The page that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.file)?;
        if let Some(offset) = self.offset {
            write!(out, " at byte {offset}")?;
        }
        write!(out, ": {}", self.what)?;
        self.url.iter().try_for_each(|url| write!(out, " ({url})"))
    }
}

/// The outcome of a check: what `mattock check --json` prints.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CheckReport {
    /// Whether nothing is wrong.
    pub whole: bool,
    /// Whether somebody is crawling.
    pub running: bool,
    /// Whether nothing of the state is there, but an archive is: nobody will go on with this crawl.
    #[serde(skip)]
    pub has_lost_state: bool,
    /// The checkpoint that was looked at; 0 if there is none.
    pub checkpoint: u64,
    /// When it was made: seconds since 1970.
    pub checkpoint_unix_s: i64,
    /// Partitions of the crawl.
    pub partitions: u64,
    /// URLs that are known.
    pub urls_seen: u64,
    /// URLs that are settled.
    pub urls_settled: u64,
    /// URLs that wait or are under way.
    pub urls_open: u64,
    /// One number for all that the state says: equal states have equal ones. `None` if it cannot be read whole.
    pub state_hash: Option<String>,
    /// Archive files that were read.
    pub archive_files: u64,
    /// Their bytes up to the checkpoint.
    pub archive_bytes: u64,
    /// Whole records in them.
    pub records: u64,
    /// Those that are responses.
    pub responses: u64,
    /// Rows of the ledgers.
    pub rows: u64,
    /// Rows whose page is in the archive as they say.
    pub pages: u64,
    /// What was brought in order.
    pub repaired: Vec<Finding>,
    /// What is wrong.
    pub problems: Vec<Finding>,
    /// How many more things are wrong.
    pub problems_untold: u64,
    /// What is worth knowing and not wrong.
    pub notes: Vec<Finding>,
}

impl CheckReport {
    pub(super) fn take(&mut self, found: Findings) {
        self.problems = found.problems;
        self.problems_untold = found.untold;
        self.notes = found.notes;
        self.whole = self.problems.is_empty();
    }
}

/// Collects findings.
pub(super) struct Findings {
    root: std::path::PathBuf,
    problems: Vec<Finding>,
    untold: u64,
    notes: Vec<Finding>,
}

impl Findings {
    pub(super) fn new(root: &Path) -> Findings {
        Findings { root: root.to_path_buf(), problems: Vec::new(), untold: 0, notes: Vec::new() }
    }

    pub(super) fn finding(
        &self,
        kind: FindingKind,
        path: &Path,
        offset: Option<u64>,
        what: impl Into<String>,
    ) -> Finding {
        let file = path.strip_prefix(&self.root).unwrap_or(path).display().to_string();
        Finding { kind, file, offset, what: what.into(), url: None }
    }

    pub(super) fn problem(
        &mut self,
        kind: FindingKind,
        path: &Path,
        offset: Option<u64>,
        what: impl Into<String>,
    ) {
        let finding = self.finding(kind, path, offset, what);
        self.add(finding);
    }

    /// Something that is wrong with a page.
    pub(super) fn page(
        &mut self,
        kind: FindingKind,
        path: &Path,
        offset: u64,
        url: &str,
        what: impl Into<String>,
    ) {
        let finding = self.finding(kind, path, Some(offset), what);
        self.add(Finding { url: Some(url.to_owned()), ..finding });
    }

    pub(super) fn add(&mut self, finding: Finding) {
        if self.problems.len() < FINDINGS_MAX {
            self.problems.push(finding);
        } else {
            self.untold += 1;
        }
    }

    pub(super) fn note(&mut self, kind: FindingKind, path: &Path, what: impl Into<String>) {
        if self.notes.len() < FINDINGS_MAX {
            let finding = self.finding(kind, path, None, what);
            self.notes.push(finding);
        }
    }
}
