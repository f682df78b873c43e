//! Arguments of `mattock terms`.

use std::path::PathBuf;

use super::parse_url;
use super::repository::{AskArgs, FeaturesPlace};
use super::rows::RowsArgs;
use crate::places::place;

/// Arguments of `mattock terms`.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
#[command(
    override_usage = "mattock terms [OPTIONS] <DIR> <URL|HOST>\n       mattock terms [OPTIONS] <DIR> --query <QUERY>\n       mattock terms [OPTIONS] <DIR> --similar <URL>"
)]
#[command(group(clap::ArgGroup::new("what").required(true).args(["place", "query", "similar"])))]
pub(crate) struct TermsArgs {
    /// The repository's directory, in which `mattock features build` has made features; or its URL, with --features
    #[arg(value_name = "DIR", value_parser = place())]
    pub(crate) dir: PathBuf,

    /// Whose terms: a page by its URL, like http://example.com/, or a host, like example.com or https://example.com
    #[allow(rustdoc::bare_urls, reason = "people read it, too")]
    #[arg(value_name = "URL|HOST")]
    pub(crate) place: Option<String>,

    /// The terms of the pages that a query finds, weighed against those of all pages; it must select `name`
    #[arg(long, value_name = "QUERY")]
    pub(crate) query: Option<String>,

    /// The query is SQL; it must select `url`
    #[arg(long, requires = "query")]
    pub(crate) sql: bool,

    /// The pages that are most like this one, by their terms
    #[arg(long, value_name = "URL", value_parser = parse_url)]
    pub(crate) similar: Option<String>,

    /// So many rows
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    pub(crate) count: usize,

    #[command(flatten)]
    pub(crate) rows: RowsArgs,

    /// Print no report, only rows
    #[arg(long, short)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) features: FeaturesPlace,

    #[command(flatten)]
    pub(crate) ask: AskArgs,
}
