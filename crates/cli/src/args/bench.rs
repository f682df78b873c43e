//! Arguments of `mattock bench`.

use std::path::PathBuf;

use clap::Subcommand;
use mattock_crawl::units::parse_size;
use mattock_drum::bench::StreamKind;

use super::parse_count;

/// Arguments of `mattock bench`.
#[derive(Debug, clap::Args)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    pub(crate) command: BenchCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// Checking keys against a set on disk, next to a set in RAM and other engines
    Drum(BenchDrumArgs),
    /// What checkpoints cost a crawl with millions of URLs waiting, and how soon it goes on after a crash
    Checkpoint(BenchCheckpointArgs),
    /// What a console that is watched costs a crawl
    Console(BenchConsoleArgs),
    /// What a whole crawl costs per page, next to the least that a page could cost
    Crawl(BenchCrawlArgs),
    /// Feature databases: their size, how fast they are built, and algorithms next to WebGraph's own
    Features(BenchFeaturesArgs),
    /// What a page costs from the socket to the archive, next to the least it could cost
    Path(BenchPathArgs),
    /// Asking a million stored pages, next to FastWARC and DuckDB; writing them, next to the bare compressor
    Query(BenchQueryArgs),
    /// How many pages a second one core of the simulated Web serves
    Simweb(BenchSimwebArgs),
}

#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct BenchDrumArgs {
    /// New keys, like 20000000 or 1e9; there are nine times as many checks
    #[arg(long, value_name = "N", default_value = "20000000", value_parser = parse_count)]
    pub(crate) keys: u64,

    /// Memory for the repository, like 256MB
    #[arg(long, value_name = "SIZE", default_value = "256MB", value_parser = parse_size)]
    pub(crate) memory: u64,

    /// Which keys repeat: flat (the hardest), simon or zipf
    #[arg(long, value_name = "NAME", default_value = "flat")]
    pub(crate) stream: StreamKind,

    /// Switch the cache of popular keys off
    #[arg(long)]
    pub(crate) no_cache: bool,

    /// Do not run the set in RAM
    #[arg(long)]
    pub(crate) no_ram_set: bool,

    /// Where the files go while it runs; needs room, and says how much if there is too little
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct BenchPathArgs {
    /// Pages per round
    #[arg(long, value_name = "N", default_value_t = 5000)]
    pub(crate) pages: usize,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct BenchQueryArgs {
    /// Instances that are stored, like 1000000 or 1e6
    #[arg(long, value_name = "N", default_value = "1000000", value_parser = parse_count)]
    pub(crate) instances: u64,

    /// Bytes of a page, about
    #[arg(long, value_name = "SIZE", default_value = "8KB", value_parser = parse_size)]
    pub(crate) page_bytes: u64,

    /// Memory for queries
    #[arg(long, value_name = "SIZE", default_value = "512MiB", value_parser = parse_size)]
    pub(crate) memory: u64,

    /// Where the files go while it runs
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,

    /// Where FastWARC and DuckDB are installed, and kept for the next time
    #[arg(long, value_name = "DIR", default_value = "target/mattock-bench-peers")]
    pub(crate) peers: PathBuf,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct BenchFeaturesArgs {
    /// Links of the graph that is built, like 50000000 or 2e8
    #[arg(long, value_name = "N", default_value = "200000000", value_parser = parse_count)]
    pub(crate) links: u64,

    /// Memory for building it
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = parse_size)]
    pub(crate) memory: u64,

    /// Where data sets are: cnr-2000 and hollins-webgraph
    #[arg(long, value_name = "DIR", env = "MATTOCK_DATA", default_value = "../shared/data")]
    pub(crate) data: PathBuf,

    /// Where the files go while it runs; needs room, and says how much if there is too little
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct BenchCrawlArgs {
    /// Where the crawl goes while it runs
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct BenchCheckpointArgs {
    /// URLs that are to wait, like 10000000 or 1e7
    #[arg(long, value_name = "N", default_value = "10000000", value_parser = parse_count)]
    pub(crate) urls: u64,

    /// How long each of the turns takes, with checkpoints and without
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub(crate) seconds: u64,

    /// Where the crawl goes while it runs
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct BenchConsoleArgs {
    /// How long each of the sixty slices takes, with a console and without
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) seconds: u64,

    /// Where the crawl goes while it runs
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct BenchSimwebArgs {
    /// How long each of the rounds takes
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) seconds: u64,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
