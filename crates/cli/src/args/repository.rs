//! Arguments of what asks and fills a repository: `query`, `get`, `history`, `index`, `import`, `export`, `materialize`, `publish`.

use std::path::PathBuf;

use clap::ValueEnum;
use mattock_crawl::units::parse_size;
use mattock_query::GivenTable;

use super::analyzer::LoadedArgs;
use super::parse_archived_url;
use super::rows::{RowFormat, RowsArgs};
use crate::places::place;

/// What asking takes.
#[derive(Debug, clap::Args)]
pub(crate) struct AskArgs {
    #[command(flatten)]
    pub(crate) engine: EngineArgs,

    #[command(flatten)]
    pub(crate) loaded: LoadedArgs,
}

/// What the engine may take, and as of when it is asked.
#[derive(Debug, clap::Args)]
pub(crate) struct EngineArgs {
    /// Memory that may be used, like 512MiB; what does not fit goes to disk
    #[arg(long, value_name = "SIZE", env = "MATTOCK_QUERY_MEMORY", value_parser = parse_size, default_value = "512MiB")]
    pub(crate) memory: u64,

    /// Threads that compute; as many as there are cores if not given, and at least 8 that wait for a URL
    #[arg(long, value_name = "N", env = "MATTOCK_THREADS", value_parser = threads)]
    pub(crate) threads: Option<usize>,

    /// Ask as of a date: what was fetched later does not exist. Like 2026-01-31 or 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME")]
    pub(crate) as_of: Option<String>,

    /// Ask what was in the repository at a date: what a crawl or an import added later does not exist. Draws a sample again, which tells this
    /// date
    #[arg(long, value_name = "TIME")]
    pub(crate) inserted_by: Option<String>,
}

/// Where the features of a repository are.
#[derive(Debug, clap::Args)]
pub(crate) struct FeaturesPlace {
    /// The directory that features were built into (`mattock features build --into`), if it is not the repository's
    #[arg(id = "features", long = "features", value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

/// Arguments of `mattock query`.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct QueryArgs {
    /// The crawl's directory, or that of a repository; or the URL where it was published, like s3://bucket/prefix
    #[arg(value_name = "DIR", value_parser = place())]
    pub(crate) dir: PathBuf,

    /// The query: `select name where match(content, "Rust")`, or SQL with --sql. `-` reads it from stdin
    #[arg(value_name = "QUERY")]
    pub(crate) query: String,

    /// The query is SQL; the table is `documents`
    #[arg(long)]
    pub(crate) sql: bool,

    /// Make a table for SQL of a CSV or Parquet file: `ranks=top.csv`, or `ranks(rank,site)=top.csv` where the first line has no names. May be
    /// given several times
    #[arg(long = "table", value_name = "NAME=FILE", value_parser = parse_table)]
    pub(crate) tables: Vec<GivenTable>,

    /// How rows are written; a table on a terminal and JSON lines elsewhere if not given
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,

    /// Write no control characters into JSON lines and CSV, and no formulas into CSV, as docs/query.md says
    #[arg(long)]
    pub(crate) safe: bool,

    /// Write to this file, or for `files` into this directory, instead of stdout
    #[arg(long, short, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,

    /// Say what would be read, and how, instead of running it
    #[arg(long)]
    pub(crate) explain: bool,

    /// Print no progress and no report, only rows
    #[arg(long, short)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) features: FeaturesPlace,

    #[command(flatten)]
    pub(crate) ask: AskArgs,
}

/// Arguments of `mattock columns`.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct ColumnsArgs {
    #[command(flatten)]
    pub(crate) rows: RowsArgs,
}

/// A table of a file, as users name it: `NAME=FILE`, or `NAME(COLUMN,…)=FILE`.
fn parse_table(text: &str) -> Result<GivenTable, String> {
    let form = "write `ranks=top.csv`, or `ranks(rank,site)=top.csv`";
    let (name, path) = text.split_once('=').ok_or(format!("it names no file: {form}"))?;
    let (name, columns) = match name.split_once('(') {
        Some((name, columns)) => {
            let columns = columns.strip_suffix(')').ok_or(format!("a parenthesis is not closed: {form}"))?;
            (name, columns.split(',').map(|column| column.trim().to_lowercase()).collect())
        }
        None => (name, Vec::new()),
    };
    let name = name.trim().to_lowercase();
    let is_word = |word: &str| {
        word.starts_with(|first: char| first.is_alphabetic() || first == '_')
            && word.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
    };
    if let Some(wrong) = std::iter::once(&name).chain(&columns).find(|word| !is_word(word)) {
        return Err(format!("`{wrong}` is no name: use letters, digits and `_`"));
    }
    if let Some(twice) = columns.iter().enumerate().find(|(at, column)| columns[..*at].contains(column)) {
        return Err(format!("two columns are called `{}`", twice.1));
    }
    if ["documents", "outcomes", "ccindex"].contains(&name.as_str()) {
        return Err(format!("there is a table `{name}` already: take another name"));
    }
    if path.is_empty() {
        return Err(format!("it names no file: {form}"));
    }
    Ok(GivenTable { name, columns, path: PathBuf::from(path) })
}

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Table,
    /// One JSON object in a line for each row
    Jsonl,
    /// With a line of names
    Csv,
    /// For other engines
    Parquet,
    /// A directory with a file for each row
    Files,
}

impl Format {
    /// The same as one of the formats that all commands have; `None` for the directory.
    pub(crate) fn of_rows(self) -> Option<RowFormat> {
        match self {
            Format::Table => Some(RowFormat::Table),
            Format::Jsonl => Some(RowFormat::Jsonl),
            Format::Csv => Some(RowFormat::Csv),
            Format::Parquet => Some(RowFormat::Parquet),
            Format::Files => None,
        }
    }
}

/// Arguments of `mattock get`.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct GetArgs {
    /// The crawl's directory, or that of a repository; or the URL where it was published, like s3://bucket/prefix
    #[arg(value_name = "DIR", value_parser = place())]
    pub(crate) dir: PathBuf,

    /// The page's URL
    #[arg(value_name = "URL", value_parser = parse_archived_url)]
    pub(crate) url: String,

    /// The instance that was there at this time, like 2026-01-31 or 2026-01-31T12:00:00Z; the newest if not given
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<String>,

    /// What to print of it
    #[arg(long, value_enum, default_value_t = Print::Body)]
    pub(crate) print: Print,
}

/// What `mattock get` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Print {
    /// The body, with its codings undone
    Body,
    /// The status line and the header fields
    Head,
    /// The whole record, as it is in the archive
    Record,
    /// The main text
    Text,
}

/// Arguments of `mattock history`.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct HistoryArgs {
    /// The crawl's directory, or that of a repository; or the URL where it was published, like s3://bucket/prefix
    #[arg(value_name = "DIR", value_parser = place())]
    pub(crate) dir: PathBuf,

    /// The page's URL
    #[arg(value_name = "URL", value_parser = parse_archived_url)]
    pub(crate) url: String,

    /// Show what changed in the text from each instance to the next
    #[arg(long)]
    pub(crate) diff: bool,

    /// Print one JSON object for each instance
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `mattock index`.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct IndexArgs {
    /// The crawl's directory, or that of a repository; or the URL where it was published, like s3://bucket/prefix
    #[arg(value_name = "DIR", value_parser = place())]
    pub(crate) dir: PathBuf,

    /// Make all of it anew
    #[arg(long)]
    pub(crate) rebuild: bool,
}

/// Arguments of `mattock import`.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct ImportArgs {
    /// The repository's directory or URL: new, or one that has imports or a crawl already
    #[arg(value_name = "DIR", value_parser = place())]
    pub(crate) dir: PathBuf,

    /// WARC or ARC files, plain, gzip or Zstandard, or WACZ; by path or URL
    #[arg(value_name = "FILE", required = true, value_parser = place())]
    pub(crate) archives: Vec<PathBuf>,

    /// Copy the files into the repository, taken apart where that is needed to find their records; otherwise they are read where they are
    #[arg(long)]
    pub(crate) copy: bool,

    /// What the column `crawl` says; the directory's name if not given
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// Do not look up in which languages documents are: faster, but the column `content_languages` then reads all of them each time it is asked
    /// for
    #[arg(long)]
    pub(crate) no_languages: bool,

    /// Compare every record with its digest, and end with exit code 1 if anything is damaged or a file gave nothing
    #[arg(long)]
    pub(crate) strict: bool,

    /// Print one JSON object with what was found and all that was left out
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `mattock export`.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct ExportArgs {
    /// The crawl's directory, or that of a repository; or the URL where it was published, like s3://bucket/prefix
    #[arg(value_name = "DIR", value_parser = place())]
    pub(crate) dir: PathBuf,

    /// What to write
    #[arg(long, value_enum)]
    pub(crate) format: ExportFormat,

    /// Columns of parquet, jsonl and csv, like `url,title,language`: those of the index if not given
    #[arg(long, value_name = "NAMES")]
    pub(crate) columns: Option<String>,

    /// Write no control characters into jsonl and csv, and no formulas into csv, as docs/query.md says
    #[arg(long)]
    pub(crate) safe: bool,

    /// Where to
    #[arg(long, short, value_name = "PATH")]
    pub(crate) output: PathBuf,

    /// Only documents for which this holds: the condition of a query, `status = 200 && language = "deu"`, or of SQL, `fetch_status = 200 and title is not null`
    #[arg(long = "where", value_name = "CONDITION")]
    pub(crate) condition: Option<String>,

    #[command(flatten)]
    pub(crate) ask: AskArgs,
}

/// What `mattock export` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// One WARC file of the records, each verified
    Warc,
    /// A web archive collection with index and pages, for replay tools
    Wacz,
    /// A sorted index for replay tools
    Cdxj,
    /// Columns, for other engines
    Parquet,
    /// Columns, one JSON object in a line for each document
    Jsonl,
    /// Columns, with a line of names
    Csv,
}

impl ExportFormat {
    /// The same as one of the formats that all commands have; `None` for archives.
    pub(crate) fn of_rows(self) -> Option<RowFormat> {
        match self {
            ExportFormat::Parquet => Some(RowFormat::Parquet),
            ExportFormat::Jsonl => Some(RowFormat::Jsonl),
            ExportFormat::Csv => Some(RowFormat::Csv),
            ExportFormat::Warc | ExportFormat::Wacz | ExportFormat::Cdxj => None,
        }
    }
}

/// Arguments of `mattock materialize`.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct MaterializeArgs {
    /// The crawl's directory, or that of a repository; or the URL where it was published, like s3://bucket/prefix
    #[arg(value_name = "DIR", value_parser = place())]
    pub(crate) dir: PathBuf,

    /// The column: that of an analyzer
    #[arg(value_name = "COLUMN")]
    pub(crate) column: String,

    /// Forget what was kept of the column, of whatever version, instead
    #[arg(long)]
    pub(crate) drop: bool,

    #[command(flatten)]
    pub(crate) ask: AskArgs,
}

/// Arguments of `mattock publish`.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct PublishArgs {
    /// The crawl's directory, or that of a repository
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,

    /// Where to: a URL like s3://bucket/prefix, gs://bucket/prefix, az://container/prefix or file:///path, or a directory
    #[arg(value_name = "URL", value_parser = place())]
    pub(crate) target: PathBuf,

    /// Put it in the place of what another repository has published there
    #[arg(long)]
    pub(crate) replace: bool,

    /// Send archives too that were imported and lie outside of the directory; otherwise they are only listed
    #[arg(long)]
    pub(crate) with_imported: bool,

    /// Print one JSON object with what was sent
    #[arg(long)]
    pub(crate) json: bool,
}

/// As many threads as make sense.
fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count @ 1..=1024) => Ok(count),
        _ => Err("use 1 to 1024".to_owned()),
    }
}
