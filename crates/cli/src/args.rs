//! The command line.

pub(crate) mod analyzer;
pub(crate) mod bench;
pub(crate) mod crawl;
pub(crate) mod desk;
pub(crate) mod duplicates;
pub(crate) mod features;
pub(crate) mod graph;
pub(crate) mod lab;
pub(crate) mod look;
pub(crate) mod network;
pub(crate) mod probe;
pub(crate) mod report;
pub(crate) mod repository;
pub(crate) mod rows;
pub(crate) mod simweb;
pub(crate) mod terms;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{Parser, Subcommand};
use mattock_crawl::units::{parse_duration, parse_size};
use mattock_weburl::WebUrl;

use crate::places::place;
use probe::{FetchArgs, RobotsArgs};

/// Crawls, stores and studies the Web.
#[derive(Debug, Parser)]
#[command(name = "mattock", version, propagate_version = true, args_override_self = true)]
#[command(after_help = "Begin with `mattock demo`: it crawls a simulated Web and needs no network.")]
pub(crate) struct Args {
    /// Trust what directories ask for beyond themselves: commands, proxies, archives elsewhere
    #[arg(long, global = true)]
    pub(crate) trust: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Args {
    /// Arguments as the command line of this process has them.
    pub(crate) fn of_process() -> Result<Args, clap::Error> {
        Args::try_parse_from(line())
    }
}

/// The command line of this process.
pub(crate) fn line() -> impl Iterator<Item = OsString> {
    std::env::args_os().map(shielded)
}

/// An argument as it is to be read. A query may begin with a comment, as in `mattock query DIR --sql "$(cat file.sql)"`: what begins with two hyphens
/// and goes on with a blank, or on another line, is no option, which a blank before it says.
fn shielded(argument: OsString) -> OsString {
    let is_comment = |text: &str| {
        text.strip_prefix("--")
            .is_some_and(|rest| rest.starts_with(char::is_whitespace) || rest.contains('\n'))
    };
    match argument.to_str().is_some_and(is_comment) {
        true => [OsStr::new(" "), &argument].into_iter().collect(),
        false => argument,
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Crawl from seeds into a directory; the same command again goes on where it stopped
    Crawl(Box<crawl::CrawlArgs>),
    /// Verify a crawl or a repository, byte for byte: its state, ledger, archives and index
    ///
    /// Nothing is changed without --repair, and a crawl that runs is not disturbed: it is checked as of its last checkpoint.
    ///
    /// Exit code: 0 if it is whole, 1 if anything is wrong.
    Check(CheckArgs),
    /// Crawl a simulated Web for a while and show what was found
    Demo(DemoArgs),
    /// Say where a URL is in a crawl, running or not, and why
    Why(look::WhyArgs),
    /// Say what limits a crawl, running or not, and what would change that
    Stalls(look::StallsArgs),
    /// Steer a crawl that is running: pause, speed, blocks, seeds, checkpoints
    Ctl(desk::CtlArgs),
    /// Show a crawl that is not running in a browser
    Console(desk::ConsoleArgs),
    /// Ask a repository: in the Web-in-a-Box language or in SQL
    Query(repository::QueryArgs),
    /// List the columns that a query can ask for, each with a sentence
    ///
    /// `mattock query DIR --sql 'describe documents'` has those of one repository, with columns of your own.
    Columns(repository::ColumnsArgs),
    /// Print a stored page
    Get(repository::GetArgs),
    /// List the stored instances of a URL, and what changed between them
    History(repository::HistoryArgs),
    /// Bring the index of a repository up to date
    Index(repository::IndexArgs),
    /// Take foreign WARC and ARC files into a repository
    Import(repository::ImportArgs),
    /// Write documents of a repository as WARC, WACZ or CDXJ
    Export(repository::ExportArgs),
    /// Keep a computed column, so that queries need not compute it again
    Materialize(repository::MaterializeArgs),
    /// Write one page about a data set: size, outcomes, types, languages, links, copies, change
    Report(report::ReportArgs),
    /// Put a repository into object storage, where it can be asked by its URL
    Publish(repository::PublishArgs),
    /// Feature databases: URLs, hosts, links, terms and sketches of all pages, small enough for one machine
    Features(features::FeaturesArgs),
    /// Find pages that say nearly the same, and hosts that mirror each other
    ///
    /// Works on the features of a repository (`mattock features build`). Pages get the column `cluster` in queries: the id of the page that
    /// stands for them.
    Duplicates(duplicates::DuplicatesArgs),
    /// Name the most telling terms of a page, a host or a query, or the pages that are most like a page
    ///
    /// Works on the features of a repository (`mattock features build`).
    Terms(Box<terms::TermsArgs>),
    /// What links tell: components, ranks, related pages, distances, samples
    Graph(graph::GraphArgs),
    /// Columns that are computed
    Analyzer(analyzer::AnalyzerArgs),
    /// Fetch one URL the way a crawl would, and show step by step what happens
    Fetch(Box<FetchArgs>),
    /// Read robots.txt files
    Robots(RobotsArgs),
    /// Show a URL as crawls and indexes know it: canonical form, keys, fingerprints
    ///
    /// Asks nobody. Exit code: 0 if all are URLs that can be crawled, 1 if not.
    Url(probe::UrlArgs),
    /// Serve, measure and audit the simulated Web
    Simweb(simweb::SimwebArgs),
    /// Show the configuration
    Config(ConfigArgs),
    /// Measure this machine: ratios within one run
    Bench(bench::BenchArgs),
    /// Repeat an experiment of the papers: data, charts, a page
    Lab(lab::LabArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
}

/// Arguments of `mattock check`.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct CheckArgs {
    /// The directory of a crawl, or of a repository, which may also be at a URL
    #[arg(value_name = "DIR", value_parser = place())]
    pub(crate) directory: PathBuf,

    /// Bring in order what can be, and say what was done; the crawl must not be running
    ///
    /// Cuts off what is younger than the last checkpoint, makes a damaged state anew from what can be read, and a lost checkpoint if
    /// everything else is whole. Nothing that a checkpoint counts is ever removed: damaged files are put aside.
    #[arg(long)]
    pub(crate) repair: bool,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,

    /// Show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Arguments of `mattock demo`.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct DemoArgs {
    /// How long to crawl
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) seconds: u64,

    /// Where the crawl and the report go; must be new or empty
    #[arg(long, value_name = "DIR", default_value = "mattock-demo")]
    pub(crate) out: PathBuf,
}

/// Arguments of `mattock config`.
#[derive(Debug, clap::Args)]
pub(crate) struct ConfigArgs {
    /// Print a commented example with every key and its default
    #[arg(long, required = true)]
    pub(crate) example: bool,
}

/// Arguments of `mattock completions`.
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

fn parse_url(text: &str) -> Result<String, String> {
    WebUrl::parse(text).map(|_| text.to_owned()).map_err(|error| error.to_string())
}

/// A URL of an archive, which may be longer than those of crawls.
fn parse_archived_url(text: &str) -> Result<String, String> {
    WebUrl::parse_archived(text).map(|_| text.to_owned()).map_err(|error| error.to_string())
}

/// A whole number, also as 1e9.
fn parse_count(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text:?} is not a count; write it like 20000000 or 1e9");
    if let Ok(number) = text.parse() {
        return Ok(number);
    }
    match text.parse::<f64>() {
        Ok(number) if number.fract() == 0.0 && (0.0..1e15).contains(&number) => Ok(number as u64),
        _ => Err(wrong()),
    }
}

fn checked_duration(text: &str) -> Result<String, String> {
    parse_duration(text).map(|_| text.to_owned())
}

fn checked_size(text: &str) -> Result<String, String> {
    parse_size(text).map(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::{Args, Command, shielded};

    #[test]
    fn a_query_that_begins_with_a_comment_is_no_option() {
        for comment in ["-- count\nselect 1", "--\n-- count = 1\nselect 1", "--count\nselect 1"] {
            let line = ["mattock", "query", "dir", "--sql", comment, "--quiet"];
            let args = Args::try_parse_from(line.map(|argument| shielded(argument.into()))).unwrap();
            let Command::Query(args) = args.command else { panic!("{comment}") };
            assert_eq!((args.query.trim_start(), args.sql, args.quiet), (comment, true, true));
        }
        for option in ["--sql", "--format=csv", "--", "-", "--fromat", "--x y"] {
            assert_eq!(shielded(option.into()), option);
        }
    }

    #[test]
    fn a_table_has_a_name_and_a_file() {
        let parsed = |table: &str| {
            let args =
                Args::try_parse_from(["mattock", "query", "dir", "--sql", "select 1", "--table", table])?;
            let Command::Query(args) = args.command else { panic!("{table}") };
            Ok(args.tables.into_iter().map(|table| (table.name, table.columns, table.path)).next())
        };
        let named = |name: &str, columns: &[&str], path: &str| {
            let columns = columns.iter().map(|column| (*column).to_owned()).collect();
            Some((name.to_owned(), columns, std::path::PathBuf::from(path)))
        };
        assert_eq!(parsed("Ranks=a=b.csv").unwrap(), named("ranks", &[], "a=b.csv"));
        assert_eq!(parsed("r(rank, Site)=x").unwrap(), named("r", &["rank", "site"], "x"));
        for (table, told) in [
            ("ranks", "it names no file"),
            ("ranks=", "it names no file"),
            ("1st=x", "`1st` is no name"),
            ("r(a=x", "a parenthesis is not closed"),
            ("r(a,b c)=x", "`b c` is no name"),
            ("r(a,a)=x", "two columns are called `a`"),
            ("documents=x", "there is a table `documents` already"),
        ] {
            let error: clap::Error = parsed(table).unwrap_err();
            assert!(error.to_string().contains(told), "{table}: {error}");
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }
}
