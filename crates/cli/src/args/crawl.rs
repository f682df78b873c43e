//! Arguments of `mattock crawl`.

use std::path::PathBuf;

use clap::ValueEnum;

use super::desk::TokenArgs;
use super::network::NetworkArgs;
use super::{checked_duration, checked_size, parse_url};

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
    pub(crate) token: TokenArgs,

    /// Print the result as one JSON object on stdout
    #[arg(long)]
    pub(crate) json: bool,

    /// Show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// What domains may have.
#[derive(Clone, Copy, Debug, ValueEnum)]
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
