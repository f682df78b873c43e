//! Arguments of the tools that look at a crawl: `why` and `stalls`.

use std::path::PathBuf;

use super::parse_url;

/// Arguments of `mattock why`.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct WhyArgs {
    /// The crawl's directory
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,

    /// The URLs to look for; many at once take hardly longer than one
    #[arg(value_name = "URL", value_parser = parse_url, required = true)]
    pub(crate) urls: Vec<String>,

    /// Print one JSON object for each, in a line of its own
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `mattock stalls`.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct StallsArgs {
    /// The crawl's directory
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
