//! Arguments of `mattock simweb`.

use std::path::PathBuf;

use clap::Subcommand;
use mattock_simweb::Preset;

use super::checked_duration;

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
