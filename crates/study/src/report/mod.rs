//! The report on a data set: what a researcher would put into a paper's section about it, as one HTML page and as one JSON object.
//!
//! ```text
//!  repository ─► size, shares, course, change, copies ─┐
//!  a sample ───► content (languages, lengths, ages) ───┤─► DataSet ─┬─► page (HTML)
//!  features ───► links (degrees, bow-tie, ranks) ──────┤            └─► JSON
//!  crawl ──────► account, settings (handed in) ────────┘
//! ```
//!
//! [`gather`] asks everything; [`DataSet`] holds the figures; [`DataSet::to_html`] shows them. What is missing because it was never
//! computed is named with the command that computes it.
//!
//! Invariants:
//! - Every figure has a definition and a command that gives it again, which is what was asked to get it.
//! - The same repository, features, options and version give the same bytes: nothing depends on the day or on the number of threads.
//! - What comes from features that are not of the documents of the report is told as such.
//! - Whatever the Web has put into titles, URLs or headers stays text on the page.
//!
//! Costs: a dozen aggregate queries on the index, within the memory of the session; the documents of the sample; and for the
//! links what the algorithms of `graph` take, within the memory of the report: a graph that does not fit is left out, and told as missing.

mod age;
mod ask;
mod change;
mod content;
mod copies;
mod course;
mod crawl;
mod error;
mod links;
mod page;
mod shares;
mod size;
mod spread;

use std::path::Path;

use mattock_env::{Files, is_url};
use mattock_query::{Cancel, Session};
use serde::Serialize;

pub use ask::Definition;
pub use change::Change;
pub use content::{Content, LanguageShare, Languages};
pub use copies::{Clusters, Copies};
pub use course::{Course, Stretch};
pub use crawl::{CrawlFigures, Setting};
pub use error::{ReportError, Result};
pub use links::{BowtieSizes, DegreeFigures, GraphFigures, LinkFigures, Ranked, Reach};
pub use shares::{NameSize, Names, Properties, Share, Shares};
pub use size::{InstancesPerUrl, Size};
pub use spread::{Spread, SpreadBin};

use ask::Desk;

/// How a report is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportOptions {
    /// About so many documents are read.
    pub sample: u64,
    /// Which ones follows from this.
    pub seed: u64,
    /// Memory for each link graph; queries have that of their session.
    pub memory_bytes: usize,
    /// Threads that rank pages.
    pub threads: usize,
}

impl Default for ReportOptions {
    fn default() -> ReportOptions {
        ReportOptions { sample: 2000, seed: 1, memory_bytes: 512 << 20, threads: 1 }
    }
}

/// What the report is about.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The repository's directory or URL.
    pub root: &'a Path,
    /// What it is called.
    pub name: &'a str,
    /// How a user writes it in a command, quoted for a shell.
    pub shown: &'a str,
    /// The directory whose features are used, and how a user writes it; those of the repository if nothing is said.
    pub features: Option<(&'a Path, &'a str)>,
    /// The flags with the dates that are asked for, as a user writes them; everything if nothing is said.
    pub dates: Option<&'a str>,
    /// Of the program that makes the report.
    pub version: &'a str,
}

/// What is being done.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// In a few words.
    pub what: &'a str,
    /// Documents that were read, of how many.
    pub documents: Option<(u64, u64)>,
}

/// All figures: what `mattock report --json` prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DataSet {
    /// What it is called.
    pub name: String,
    /// How it was named in the command.
    pub repository: String,
    /// How the directory of its features was named, if that is another one.
    pub features: Option<String>,
    /// The version of the program that made this.
    pub mattock: String,
    /// How much there is.
    pub size: Size,
    /// What the crawl says of itself; nothing for imported archives.
    pub crawl: Option<CrawlFigures>,
    /// What the instances are.
    pub properties: Properties,
    /// What the records take in the archive, of pages that are stored with their payload.
    pub record_bytes: Option<Spread>,
    /// When it was fetched.
    pub course: Course,
    /// What the documents of a sample tell.
    pub content: Content,
    /// What is there more than once.
    pub copies: Copies,
    /// What became of pages that were fetched again.
    pub change: Change,
    /// What the links tell; nothing before features were built.
    pub links: Option<LinkFigures>,
    /// What is not here or not of these documents, and how to get it.
    pub missing: Vec<Missing>,
    /// What each figure is, and what gives it again.
    pub definitions: Vec<Definition>,
}

/// Figures that cannot be told, or not of these documents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// Which ones; `features` are all that come from them.
    pub figures: &'static str,
    /// Why, as a sentence without its beginning and end.
    pub why: String,
    /// The command after which they can, if there is one.
    pub command: Option<String>,
}

impl DataSet {
    /// One self-contained page.
    pub fn to_html(&self) -> String {
        page::page(self).to_html()
    }

    /// What a figure is; empty if it has no definition.
    pub(crate) fn definition(&self, figure: &str) -> &str {
        let found = self.definitions.iter().find(|definition| definition.figure == figure);
        found.map_or("", |definition| &definition.definition)
    }

    /// What is said of figures that are missing.
    pub(crate) fn lacks(&self, figures: &str) -> Option<&Missing> {
        self.missing.iter().find(|missing| missing.figures == figures)
    }
}

/// Asks a repository everything.
pub fn gather(
    files: &Files,
    session: &Session,
    subject: &Subject<'_>,
    crawl: Option<CrawlFigures>,
    options: &ReportOptions,
    progress: &mut dyn FnMut(&Progress<'_>),
    cancel: &Cancel,
) -> Result<DataSet> {
    let Subject { shown, dates, .. } = *subject;
    let features = subject.features.map(|(_, shown)| shown);
    let desk = &mut Desk { session, cancel, progress, shown, features, dates, definitions: Vec::new() };
    let size = size::gather(desk)?;
    if let Some(crawl) = &crawl {
        crawl.define(desk);
    }
    let properties = shares::gather(desk, &size)?;
    let record_bytes = record_bytes(desk)?;
    let course = course::gather(desk, &size)?;
    let change = change::gather(desk, &size)?;
    let mut copies = copies::gather(desk)?;
    let content = content::gather(desk, options)?;
    let mut missing = Vec::new();
    let links = of_features(desk, files, subject, &size, options, &mut copies, &mut missing)?;
    Ok(DataSet {
        name: subject.name.to_owned(),
        repository: subject.shown.to_owned(),
        features: features.map(str::to_owned),
        mattock: subject.version.to_owned(),
        size,
        crawl,
        properties,
        record_bytes,
        course,
        content,
        copies,
        change,
        links,
        missing,
        definitions: std::mem::take(&mut desk.definitions),
    })
}

/// What comes from features: near-duplicates go to the other copies, links are given back.
fn of_features(
    desk: &mut Desk<'_>,
    files: &Files,
    subject: &Subject<'_>,
    size: &Size,
    options: &ReportOptions,
    copies: &mut Copies,
    missing: &mut Vec<Missing>,
) -> Result<Option<LinkFigures>> {
    let build = desk.build_command();
    let home = subject.features.map_or(subject.root, |(home, _)| home);
    let Some(features) = links::open(files, &home.join(crate::FEATURES))? else {
        let duplicates = format!("{build} && {}", desk.features_command("duplicates"));
        let why = match subject.features.is_none() && is_url(subject.root) {
            true => {
                "there are no feature databases at a URL; --features names the directory that they are in"
            }
            false => "there are no feature databases yet",
        };
        for (figures, command) in [("links", build), ("copies.near", duplicates)] {
            missing.push(Missing { figures, why: why.to_owned(), command: Some(command) });
        }
        return Ok(None);
    };
    let has_date = subject.dates.is_some();
    if let Some(other) = age::compare(files, subject.root, &features, size.instances, has_date)? {
        let why = other.sentence(features.generation());
        let command = (other != age::Other::Newer).then_some(build);
        missing.push(Missing { figures: "features", why, command });
    }
    copies.near = copies::clusters(desk, files, &features, options)?;
    if copies.near.is_none() {
        let (why, command) =
            ("they were not looked for yet".to_owned(), Some(desk.features_command("duplicates")));
        missing.push(Missing { figures: "copies.near", why, command });
    }
    links::gather(desk, &features, options, missing).map(Some)
}

fn record_bytes(desk: &mut Desk<'_>) -> Result<Option<Spread>> {
    desk.begin("sizes of records")?;
    let sql = "select warc_record_length as bytes, count(*) as pages from documents \
               where fetch_status = 200 and record_type = 'response' group by 1 order by 1";
    let counts = desk.all(sql, |row| Ok((row.count("bytes")?, row.count("pages")?)))?;
    desk.define_query(
        sql,
        &[(
            "record_bytes",
            "What the record of a page takes in the archive, head and compression included; of pages stored with their payload.",
        )],
    );
    Ok(Spread::of(counts))
}
