//! Arguments of the tools that ask one question: `fetch` and `robots`.

use std::path::PathBuf;

use clap::Subcommand;

use super::network::NetworkArgs;
use super::parse_url;

/// Arguments of `mattock fetch`.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct FetchArgs {
    /// The URL to fetch
    #[arg(value_name = "URL", value_parser = parse_url)]
    pub(crate) url: String,

    /// Fetch it even if robots.txt forbids it; the verdict is shown all the same
    #[arg(long)]
    pub(crate) no_robots: bool,

    /// Show all links, not just the first
    #[arg(long)]
    pub(crate) links: bool,

    /// Save the body, decoded, in this file
    #[arg(long, value_name = "FILE")]
    pub(crate) body: Option<PathBuf>,

    /// Send this as the User-Agent; robots.txt is still read for our own product token
    #[arg(long, value_name = "TEXT")]
    pub(crate) user_agent: Option<String>,

    #[command(flatten)]
    pub(crate) network: NetworkArgs,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `mattock url`.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct UrlArgs {
    /// URLs, as they stand in pages, archives or lists
    #[arg(value_name = "URL", required = true)]
    pub(crate) texts: Vec<String>,

    /// Say which of so many partitions of a crawl each belongs to
    #[arg(long, value_name = "N", value_parser = parse_partitions)]
    pub(crate) partitions: Option<usize>,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

fn parse_partitions(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|count| (1..=1024).contains(count)).ok_or("it must be from 1 to 1024".to_owned())
}

/// Arguments of `mattock robots`.
#[derive(Debug, clap::Args)]
pub(crate) struct RobotsArgs {
    #[command(subcommand)]
    pub(crate) command: RobotsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RobotsCommand {
    /// Say whether robots.txt allows a URL, and which rule decides
    ///
    /// Exit code: 0 if it is allowed, 1 if it is not (also if robots.txt cannot be had), 2 for wrong usage.
    Check(Box<CheckArgs>),
}

/// Arguments of `mattock robots check`.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct CheckArgs {
    /// The URL to ask about
    #[arg(value_name = "URL", value_parser = parse_url)]
    pub(crate) url: String,

    /// Read the rules from this file instead of fetching the host's robots.txt
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// The product token whose rules count, instead of our own
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,

    #[command(flatten)]
    pub(crate) network: NetworkArgs,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
