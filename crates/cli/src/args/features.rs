//! Arguments of `mattock features`.

use std::path::PathBuf;

use clap::ValueEnum;
use mattock_crawl::units::parse_size;

use crate::places::place;

/// Arguments of `mattock features`.
#[derive(Debug, clap::Args)]
pub(crate) struct FeaturesArgs {
    #[command(subcommand)]
    pub(crate) what: FeaturesWhat,
}

/// What is done about features.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum FeaturesWhat {
    /// Build the feature databases of a repository, or of links that others have gathered
    ///
    /// They are in DIR/features: URLs, hosts, links in both directions, terms and sketches. What was read of documents is kept there too,
    /// so that the next build reads only what is new. Stopped or killed at any point, the databases of before stay in use, and
    /// the same command goes on.
    Build(BuildArgs),
    /// Say what is in the feature databases, and how much room they take
    Info(InfoArgs),
}

/// Arguments of `mattock features build`.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct BuildArgs {
    /// The crawl's directory, or that of a repository; or the URL where it was published, like s3://bucket/prefix; with --from any directory
    #[arg(value_name = "DIR", value_parser = place())]
    pub(crate) dir: PathBuf,

    /// Build into this directory instead, for a repository that is at a URL or must not be written to
    #[arg(long, value_name = "DIR")]
    pub(crate) into: Option<PathBuf>,

    /// Memory that may be used, like 512MiB; what does not fit goes to disk
    #[arg(long, value_name = "SIZE", env = "MATTOCK_FEATURES_MEMORY", value_parser = parse_size, default_value = "1GiB")]
    pub(crate) memory: u64,

    /// Threads that read documents; as many as there are cores if not given, and at least 8 that wait for a URL
    #[arg(long, value_name = "N", env = "MATTOCK_THREADS")]
    pub(crate) threads: Option<usize>,

    /// Read only documents that are new since the last build. This is what is done if nothing is said
    #[arg(long, conflicts_with = "rebuild")]
    pub(crate) incremental: bool,

    /// Read all documents again
    #[arg(long)]
    pub(crate) rebuild: bool,

    /// Build from these files instead: plain, gzip or Zstandard, by path or URL; `-` is stdin
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "list", value_parser = place())]
    pub(crate) from: Vec<PathBuf>,

    /// What is in them
    #[arg(long, value_enum, requires = "from", conflicts_with_all = ["incremental", "rebuild", "into"])]
    pub(crate) list: Option<ListFormat>,

    /// The names that belong to the numbers, for `cc`
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "list", value_parser = place())]
    pub(crate) vertices: Vec<PathBuf>,

    /// Print the result as one JSON object on stdout
    #[arg(long)]
    pub(crate) json: bool,

    /// Show no progress and no result
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// What is in files of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// A line for each link: two URLs with a tab between them
    Urls,
    /// A line for each link: two numbers from 0 on
    Ids,
    /// The number of nodes, then a line for each node with the numbers it links to: WebGraph's ASCII graphs
    Adjacency,
    /// The edges of Common Crawl's host or domain graph, with its --vertices
    Cc,
    /// WAT files: what Common Crawl has extracted from pages, links among it
    Wat,
}

/// Arguments of `mattock features info`.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct InfoArgs {
    /// The directory whose features are meant
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
