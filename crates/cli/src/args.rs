//! The command line.

pub(crate) mod analyzer;
pub(crate) mod bench;
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
pub(crate) mod terms;

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use mattock_crawl::units::{parse_duration, parse_size};
use mattock_simweb::Preset;
use mattock_weburl::WebUrl;

use network::NetworkArgs;
use probe::{FetchArgs, RobotsArgs};

/// Crawls, stores and studies the Web.
#[derive(Debug, Parser)]
#[command(name = "mattock", version, propagate_version = true, args_override_self = true)]
#[command(after_help = "Begin with `mattock demo`: it crawls a simulated Web and needs no network.")]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Crawl from seeds into a directory; the same command again goes on where it stopped
    Crawl(Box<CrawlArgs>),
    /// Verify a whole crawl: state, archive and ledger, byte for byte and against each other
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
    /// Serve, measure and audit the simulated Web
    Simweb(SimwebArgs),
    /// Show the configuration
    Config(ConfigArgs),
    /// Measure this machine: ratios within one run
    Bench(bench::BenchArgs),
    /// Repeat an experiment of the papers: data, charts, a page
    Lab(lab::LabArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
}

/// Arguments of `mattock crawl`.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct CrawlArgs {
    /// URLs to begin with
    #[arg(value_name = "SEED", value_parser = parse_url)]
    pub(crate) seeds: Vec<String>,

    /// The crawl's directory: new, empty, or an earlier crawl to go on with
    #[arg(long, value_name = "DIR", env = "MATTOCK_OUT")]
    pub(crate) out: PathBuf,

    /// Stop after so many pages
    #[arg(long, value_name = "N", env = "MATTOCK_MAX_PAGES")]
    pub(crate) max_pages: Option<u64>,

    /// Follow links at most so many steps away from a seed
    #[arg(long, value_name = "N", env = "MATTOCK_MAX_DEPTH")]
    pub(crate) max_depth: Option<u32>,

    /// How far links are followed
    #[arg(long, value_enum, env = "MATTOCK_SCOPE")]
    pub(crate) scope: Option<Scope>,

    /// What domains may have before others have their turn
    #[arg(long, value_enum, env = "MATTOCK_BUDGET")]
    pub(crate) budget: Option<Budget>,

    /// In which order pages are fetched
    #[arg(long, value_enum, env = "MATTOCK_ORDER")]
    pub(crate) order: Option<Order>,

    /// A file of hosts, domains, addresses and URLs that must not be touched; may be changed while the crawl runs
    #[arg(long, value_name = "FILE", env = "MATTOCK_BLOCKLIST")]
    pub(crate) blocklist: Option<String>,

    /// Parts of the crawl, by domain, each on a core of its own; as many as there are cores if not given
    #[arg(long, value_name = "N", env = "MATTOCK_PARTITIONS")]
    pub(crate) partitions: Option<usize>,

    /// Time between two requests to one host, like 500ms or 2s
    #[arg(long, value_name = "DURATION", env = "MATTOCK_DELAY", value_parser = checked_duration)]
    pub(crate) delay: Option<String>,

    /// Time between two requests to one server (IP address); half of --delay and at most 1s if not given
    #[arg(long, value_name = "DURATION", env = "MATTOCK_SERVER_DELAY", value_parser = checked_duration)]
    pub(crate) server_delay: Option<String>,

    /// Memory for the frontier, like 512MB; what does not fit waits on disk
    #[arg(long, value_name = "SIZE", env = "MATTOCK_MEMORY", value_parser = checked_size)]
    pub(crate) memory: Option<String>,

    /// Retries of a URL that failed for a passing reason, at most
    #[arg(long, value_name = "N", env = "MATTOCK_RETRIES")]
    pub(crate) retries: Option<u8>,

    /// Connections open at once
    #[arg(long, value_name = "N", env = "MATTOCK_CONNECTIONS")]
    pub(crate) connections: Option<usize>,

    /// Cut bodies at this size, like 10MiB
    #[arg(long, value_name = "SIZE", env = "MATTOCK_BODY_MAX", value_parser = checked_size)]
    pub(crate) body_max: Option<String>,

    #[command(flatten)]
    pub(crate) network: NetworkArgs,

    /// Show and steer the crawl in a browser, at this address: 127.0.0.1:7070
    #[arg(long, value_name = "ADDRESS", env = "MATTOCK_CONSOLE")]
    pub(crate) console: Option<String>,

    #[command(flatten)]
    pub(crate) token: desk::TokenArgs,

    /// Print the result as one JSON object on stdout
    #[arg(long)]
    pub(crate) json: bool,

    /// Show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// What domains may have.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum Budget {
    /// Everything, in the order of the links
    Unlimited,
    /// The same number of pages for each in turn
    Equal,
    /// More for domains that many others link to
    Broad,
    /// Nothing for domains that few others link to
    PopularOnly,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Order {
    /// As they are found
    BreadthFirst,
    /// Those with the shortest paths first
    ShortPathsFirst,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Scope {
    /// The seeds' hosts
    Host,
    /// All hosts under the seeds' pay-level domains
    Domain,
    /// Anywhere
    Any,
}

/// Arguments of `mattock check`.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct CheckArgs {
    /// The crawl's directory
    #[arg(value_name = "DIR")]
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

/// Arguments of `mattock simweb`.
#[derive(Debug, clap::Args)]
pub(crate) struct SimwebArgs {
    #[command(subcommand)]
    pub(crate) command: SimwebCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SimwebCommand {
    /// Serve a world on loopback addresses until interrupted
    ///
    /// The first line on stdout, printed when it is ready, is the `mattock crawl` command that crawls it.
    Serve(ServeArgs),
    /// Say what a perfect crawl of a world would find
    Truth(TruthArgs),
    /// Judge a crawler by the server's log of its requests
    ///
    /// Exit code: 0 if it did nothing that none may do, 1 if it did. Requests that came too soon count only if --delay
    /// is given: a crawl may have been told another delay than the one asked for when serving.
    Audit(AuditArgs),
    /// Print a world's parameters as a commented TOML file
    Params(ParamsArgs),
}

/// Which world.
#[derive(Debug, clap::Args)]
pub(crate) struct WorldArgs {
    /// A ready-made world: tiny, small, large, huge or spam
    #[arg(long, value_name = "NAME", default_value_t = Preset::Tiny)]
    pub(crate) preset: Preset,

    /// A TOML file of parameters instead of a preset (see `mattock simweb params`)
    #[arg(long, value_name = "FILE", conflicts_with = "preset")]
    pub(crate) params: Option<PathBuf>,

    /// The seed that everything in the world follows from
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}

#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) world: WorldArgs,

    /// Log every request to this file, for `mattock simweb audit`
    #[arg(long, value_name = "FILE")]
    pub(crate) audit: Option<PathBuf>,

    /// The delay that crawlers are asked to keep; part of the printed command and judged by the auditor
    #[arg(long, value_name = "DURATION", default_value = "100ms", value_parser = checked_duration)]
    pub(crate) delay: String,

    /// TCP port of the Web servers on every 127.x.y.z; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(crate) http_port: u16,

    /// UDP port of the name server on 127.0.0.1; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(crate) dns_port: u16,

    /// Seconds of the world that pass in one second: pages change faster
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    pub(crate) time_scale: f64,
}

#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct TruthArgs {
    #[command(flatten)]
    pub(crate) world: WorldArgs,

    /// Give up on worlds with more URLs than this
    #[arg(long, value_name = "N", default_value_t = 20_000_000)]
    pub(crate) limit: usize,

    /// Also list the pages, one per line
    #[arg(long)]
    pub(crate) pages: bool,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct AuditArgs {
    /// The log that `mattock simweb serve --audit` wrote
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Judge by this delay instead of the one that was asked for when serving
    #[arg(long, value_name = "DURATION", value_parser = checked_duration)]
    pub(crate) delay: Option<String>,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ParamsArgs {
    /// The preset to begin with: tiny, small, large, huge or spam
    #[arg(long, value_name = "NAME", default_value_t = Preset::Tiny)]
    pub(crate) preset: Preset,
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
    use super::Args;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }
}
