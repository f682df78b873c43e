//! Arguments of `mattock report`.

use std::path::PathBuf;

use super::parse_count;
use super::repository::{EngineArgs, FeaturesPlace};
use crate::places::place;

/// Arguments of `mattock report`.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct ReportArgs {
    /// The crawl's directory, or that of a repository; or the URL where it was published, like s3://bucket/prefix
    #[arg(value_name = "DIR", value_parser = place())]
    pub(crate) dir: PathBuf,

    /// Write the page to this file; report.html in the directory if not given
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Print the figures as one JSON object, or write them to this file; a page is then made only if --output is given
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub(crate) json: Option<PathBuf>,

    /// About so many documents are read, for languages, lengths and ages; everything else is in the index
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = parse_count)]
    pub(crate) sample: u64,

    /// The seed of this sample: the same one draws the same documents
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) features: FeaturesPlace,

    /// Show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) engine: EngineArgs,
}
