//! Arguments of `mattock lab`.

use std::path::PathBuf;

use clap::Subcommand;
use mattock_crawl::units::parse_size;

use super::checked_duration;

/// Arguments of `mattock lab`.
#[derive(Debug, clap::Args)]
pub(crate) struct LabArgs {
    #[command(subcommand)]
    pub(crate) command: LabCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LabCommand {
    /// What budgets cost as the crawl grows: BEAST against the two queues that it replaced
    ///
    /// Queues of URLs on disk, without a network. Writes beast.md, beast.svg and beast.json.
    Beast(LabBeastArgs),
    /// What a crawl spends on spam, with budgets by reputation and without
    ///
    /// Whole crawls of the simulated Web `spam` in virtual time: seconds. Writes star.md, star-share.svg, star-degree.svg and star.json.
    Star(LabStarArgs),
}

#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct LabBeastArgs {
    /// Where the report goes, and the queues while it runs
    #[arg(long, value_name = "DIR", default_value = "mattock-lab-beast")]
    pub(crate) out: PathBuf,

    /// Domains that links lead to
    #[arg(long, value_name = "N", default_value_t = 250, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub(crate) domains: u64,

    /// Pages that a domain may have per pass
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) budget: u32,

    /// Rounds of BEAST; each is twice as long as the one before
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=20))]
    pub(crate) rounds: u32,

    /// Rounds after which the two queues stop: their work grows with the square
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=20))]
    pub(crate) naive_rounds: u32,

    /// Memory for the queues, like 4MiB
    #[arg(long, value_name = "SIZE", default_value = "4MiB", value_parser = parse_size)]
    pub(crate) memory: u64,

    /// Print the result as one JSON object on stdout
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct LabStarArgs {
    /// Where the report goes
    #[arg(long, value_name = "DIR", default_value = "mattock-lab-star")]
    pub(crate) out: PathBuf,

    /// Honest domains; there are 10,000 of farms
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) domains: u64,

    /// The seed that the world follows from
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Stop after so many pages, in percent of the honest ones
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) percent: u64,

    /// Fetches at once
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(crate) connections: u64,

    /// Time between two requests to one host, like 500ms or 2s
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = checked_duration)]
    pub(crate) delay: String,

    /// Print the result as one JSON object on stdout
    #[arg(long)]
    pub(crate) json: bool,
}
