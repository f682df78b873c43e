//! Arguments of `mattock duplicates`.

use std::path::PathBuf;

use mattock_crawl::units::parse_size;

use super::rows::RowsArgs;

/// Arguments of `mattock duplicates`.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct DuplicatesArgs {
    /// The repository's directory, in which `mattock features build` has made features
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,

    /// Pages are near-duplicates if their resemblance, from 0 to 1, is estimated so high; of pairs at 0.9 nearly all are looked at, and
    /// below 0.7 many are not
    #[arg(long, value_name = "X", default_value_t = 0.8, value_parser = parse_threshold)]
    pub(crate) threshold: f64,

    /// List the pages of all clusters, instead of one row for each cluster
    #[arg(long)]
    pub(crate) clusters: bool,

    /// List pairs of hosts that have the same pages at the same paths
    #[arg(long, conflicts_with = "clusters")]
    pub(crate) hosts: bool,

    /// Print one JSON object instead of rows: how many pages are copies
    #[arg(long, conflicts_with_all = ["clusters", "hosts", "format", "output"])]
    pub(crate) json: bool,

    /// Do not keep the clusters as the column `cluster` of queries
    #[arg(long)]
    pub(crate) no_keep: bool,

    /// Memory that may be used, like 2GiB: some 50 bytes for each page with text at least; with less it takes longer
    #[arg(long, value_name = "SIZE", env = "MATTOCK_GRAPH_MEMORY", value_parser = parse_size, default_value = "2GiB")]
    pub(crate) memory: u64,

    #[command(flatten)]
    pub(crate) rows: RowsArgs,

    /// Print no progress and no report, only the answer
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

fn parse_threshold(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(threshold) if threshold > 0.0 && threshold <= 1.0 => Ok(threshold),
        _ => Err("write a resemblance above 0 and up to 1, like 0.8".into()),
    }
}
