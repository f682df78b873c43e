//! Arguments of `mattock graph`.

use std::path::{Path, PathBuf};

use clap::{Subcommand, ValueEnum};
use mattock_crawl::units::parse_size;

use super::parse_count;
use super::rows::RowsArgs;

/// Arguments of `mattock graph`.
#[derive(Debug, clap::Args)]
pub(crate) struct GraphArgs {
    #[command(subcommand)]
    pub(crate) command: GraphCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GraphCommand {
    /// Count: nodes, links, degrees with their power law, reciprocity, components
    Stats(StatsArgs),
    /// Strongly connected components: within one, every page can be reached from every other
    ///
    /// The largest is number 0. Of pages, the numbers are kept as the column `component` of queries.
    Scc(SccArgs),
    /// The bow-tie: how much is core, leads to it, is reached from it, or lies beside it
    Bowtie(BowtieArgs),
    /// PageRank of pages, hosts or domains
    ///
    /// Pages without links are taken to link to all alike. Of pages, the ranks are kept as the column `pagerank` of queries. Ctrl-C ends
    /// it after the round that is under way, with the ranks so far. They are not kept then, nor if --iterations ends it.
    #[command(name = "pagerank")]
    PageRank(PageRankArgs),
    /// Hubs and authorities around a page (Kleinberg)
    Hits(AroundArgs),
    /// Pages like a page, by links alone (Dean and Henzinger)
    Related(RelatedArgs),
    /// How far pages are apart: all distances, estimated (HyperBall)
    Distances(DistancesArgs),
    /// The links of a page, or those to it
    Links(LinksArgs),
    /// The nodes that have the most links, the greatest rank, or the shortest ways to them
    Top(TopArgs),
    /// The shortest way from one page to another
    Path(PathArgs),
    /// Pages drawn nearly alike, by a random walk over links in either direction
    Sample(SampleArgs),
    /// Compare two rankings of URLs by Kendall's τ
    Kendall(KendallArgs),
}

impl GraphCommand {
    /// The directory whose features are asked.
    pub(crate) fn dir(&self) -> &Path {
        match self {
            GraphCommand::Stats(args) => &args.place.dir,
            GraphCommand::Scc(args) => &args.place.dir,
            GraphCommand::Bowtie(args) => &args.place.dir,
            GraphCommand::PageRank(args) => &args.place.dir,
            GraphCommand::Hits(args) => &args.node.place.dir,
            GraphCommand::Related(args) => &args.around.node.place.dir,
            GraphCommand::Distances(args) => &args.place.dir,
            GraphCommand::Links(args) => &args.node.place.dir,
            GraphCommand::Top(args) => &args.place.dir,
            GraphCommand::Path(args) => &args.place.dir,
            GraphCommand::Sample(args) => &args.place.dir,
            GraphCommand::Kendall(args) => &args.dir,
        }
    }
}

/// A graph, what may be used for it, and where rows go.
#[derive(Debug, clap::Args)]
pub(crate) struct GraphPlace {
    /// The repository's directory, in which `mattock features build` has made features
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,

    /// What the nodes are
    #[arg(long, value_enum, default_value_t = GrainArg::Pages)]
    pub(crate) grain: GrainArg,

    /// Memory that may be used, like 2GiB; links stay compressed, and are slower, if their lists do not fit
    #[arg(long, value_name = "SIZE", env = "MATTOCK_GRAPH_MEMORY", value_parser = parse_size, default_value = "2GiB")]
    pub(crate) memory: u64,

    /// Print no progress and no report, only the answer
    #[arg(long, short)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) rows: RowsArgs,
}

/// One node of a graph.
#[derive(Debug, clap::Args)]
pub(crate) struct NodePlace {
    #[command(flatten)]
    pub(crate) place: GraphPlace,

    /// The page's URL; with --grain the name of a host or domain
    #[arg(value_name = "URL")]
    pub(crate) url: String,
}

/// How many compute.
#[derive(Debug, clap::Args)]
pub(crate) struct ThreadsArgs {
    /// Threads that compute; as many as there are cores if not given
    #[arg(long, value_name = "N", env = "MATTOCK_THREADS")]
    threads: Option<usize>,
}

impl ThreadsArgs {
    pub(crate) fn count(&self) -> usize {
        self.threads.unwrap_or_else(mattock_graph::threads).max(1)
    }
}

/// What the nodes of a graph are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GrainArg {
    /// Each URL: crawled, or only linked to
    Pages,
    /// Each host: scheme, name and port. Two are linked if any of their pages are
    Hosts,
    /// Each domain, likewise
    Domains,
}

#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    pub(crate) place: GraphPlace,

    /// Print how many nodes there are of each degree, as rows: by the links to them, or by their own
    #[arg(long, value_enum, value_name = "DIRECTION")]
    pub(crate) degrees: Option<DegreesArg>,

    /// Print one JSON object
    #[arg(long, conflicts_with_all = ["degrees", "format", "output"])]
    pub(crate) json: bool,
}

/// Which links are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DegreesArg {
    /// Links to a node
    In,
    /// Its links
    Out,
}

#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct SccArgs {
    #[command(flatten)]
    pub(crate) place: GraphPlace,

    /// Print how many components there are of each size, instead of the component of each node
    #[arg(long)]
    pub(crate) sizes: bool,

    /// Do not keep the components as a column of queries
    #[arg(long)]
    pub(crate) no_keep: bool,
}

#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct BowtieArgs {
    #[command(flatten)]
    pub(crate) place: GraphPlace,

    /// Draw it into this file
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}

/// How ranks are computed.
#[derive(Debug, clap::Args)]
pub(crate) struct RankArgs {
    /// The probability to follow a link, instead of going anywhere
    #[arg(long, value_name = "P", default_value_t = 0.85, value_parser = parse_damping)]
    pub(crate) damping: f64,

    /// Rounds at most
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) iterations: usize,

    /// How far the sum of all differences to the true ranks may be at the end
    #[arg(long, value_name = "X", default_value_t = 1e-6, value_parser = parse_tolerance)]
    pub(crate) tolerance: f64,

    #[command(flatten)]
    pub(crate) threads: ThreadsArgs,
}

#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct PageRankArgs {
    #[command(flatten)]
    pub(crate) place: GraphPlace,

    #[command(flatten)]
    pub(crate) rank: RankArgs,

    /// Print only the best, the greatest first, instead of all in the order of names
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub(crate) top: Option<u64>,

    /// Do not keep the ranks as a column of queries
    #[arg(long)]
    pub(crate) no_keep: bool,
}

#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct AroundArgs {
    #[command(flatten)]
    pub(crate) node: NodePlace,

    /// So many of each kind
    #[arg(long, short = 'n', value_name = "N", default_value_t = 10)]
    pub(crate) count: usize,
}

#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct RelatedArgs {
    #[command(flatten)]
    pub(crate) around: AroundArgs,

    /// What makes pages alike
    #[arg(long, value_enum, default_value_t = By::Companion)]
    pub(crate) by: By,
}

/// What makes pages alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    /// Good authorities of the page's vicinity, links within a host left out
    Companion,
    /// Pages that link to both
    Cocitation,
}

#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct DistancesArgs {
    #[command(flatten)]
    pub(crate) place: GraphPlace,

    /// The binary logarithm of the registers of a counter: one more takes twice the memory, and errors are 0.7 times as large
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(4..=16))]
    pub(crate) log2_registers: u32,

    /// Decides what is counted together
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) threads: ThreadsArgs,

    /// Print one JSON object instead of rows
    #[arg(long, conflicts_with_all = ["format", "output"])]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct LinksArgs {
    #[command(flatten)]
    pub(crate) node: NodePlace,

    /// Who links to it
    #[arg(long = "in", conflicts_with = "outward")]
    pub(crate) inward: bool,

    /// What it links to; so it is if nothing is said
    #[arg(long = "out")]
    pub(crate) outward: bool,
}

#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct TopArgs {
    #[command(flatten)]
    pub(crate) place: GraphPlace,

    /// What counts
    #[arg(long, value_enum, default_value_t = Measure::InDegree)]
    pub(crate) by: Measure,

    /// So many
    #[arg(long, short = 'n', value_name = "N", default_value_t = 10)]
    pub(crate) count: usize,

    #[command(flatten)]
    pub(crate) threads: ThreadsArgs,
}

/// What nodes are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Measure {
    /// Links to it
    InDegree,
    /// Its links
    OutDegree,
    /// Its rank, computed anew as `mattock graph pagerank` does if nothing is said
    #[value(name = "pagerank")]
    PageRank,
    /// How near it is to those from which a way leads to it: the sum of 1/distance over them, estimated as `mattock graph distances` does
    Harmonic,
}

#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct PathArgs {
    #[command(flatten)]
    pub(crate) place: GraphPlace,

    /// Where it begins; with --grain the name of a host or domain
    #[arg(value_name = "FROM")]
    pub(crate) from: String,

    /// Where it ends
    #[arg(value_name = "TO")]
    pub(crate) to: String,
}

#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct SampleArgs {
    #[command(flatten)]
    pub(crate) place: GraphPlace,

    /// So many; one may come several times
    #[arg(long, short = 'n', value_name = "N", default_value = "1000", value_parser = parse_count)]
    pub(crate) count: u64,

    /// Decides the walk: the same seed and features give the same sample; drawn and told if not given
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// Steps before the first
    #[arg(long, value_name = "N", default_value = "10000", value_parser = parse_count)]
    pub(crate) burn_in: u64,

    /// Steps from one to the next
    #[arg(long, value_name = "N", default_value = "100", value_parser = parse_count)]
    pub(crate) thinning: u64,

    /// Where the walk begins: only what is joined to it is seen; somewhere in the largest part if not given
    #[arg(long, value_name = "URL")]
    pub(crate) from: Option<String>,
}

#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct KendallArgs {
    /// The repository's directory, in which `mattock features build` has made features
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,

    /// A ranking: a column that was kept, like `pagerank` or `in_degree`, or a file of lines `URL<TAB>value`
    #[arg(value_name = "A")]
    pub(crate) one: String,

    /// The other
    #[arg(value_name = "B")]
    pub(crate) other: String,

    #[command(flatten)]
    pub(crate) rows: RowsArgs,
}

fn parse_damping(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (0.0..1.0).contains(&number) => Ok(number),
        _ => Err("it must be from 0 to less than 1".into()),
    }
}

fn parse_tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok(number),
        _ => Err("it must be a number above 0, like 1e-6".into()),
    }
}
