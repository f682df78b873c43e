//! Arguments about analyzers: which are loaded, and `analyzer`.

use std::path::PathBuf;

use clap::ValueEnum;
use mattock_crawl::units::parse_size;

/// Analyzers that are not built in.
#[derive(Debug, clap::Args)]
pub(crate) struct LoadedArgs {
    /// Load a column of your own: a WebAssembly module, whose file has the column's name. May be given several times. Those in
    /// `DIR/analyzers`, and those that the crawl's configuration names, are found by name
    #[arg(long = "analyzer", value_name = "FILE")]
    pub(crate) analyzers: Vec<PathBuf>,

    /// Take the section `[analyzers]` of this configuration instead of that of the crawl
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) config: Option<PathBuf>,

    /// Steps that a loaded analyzer may take for one document, ten billion at most; a hundred million if nothing is said
    #[arg(long, value_name = "N", env = "MATTOCK_ANALYZER_FUEL", hide_short_help = true)]
    pub(crate) analyzer_fuel: Option<u64>,

    /// Memory that a loaded analyzer may have, 1GiB at most; 64MiB if nothing is said
    #[arg(long, value_name = "SIZE", env = "MATTOCK_ANALYZER_MEMORY", value_parser = parse_size, hide_short_help = true)]
    pub(crate) analyzer_memory: Option<u64>,
}

/// Arguments of `mattock analyzer`.
#[derive(Debug, clap::Args)]
pub(crate) struct AnalyzerArgs {
    #[command(subcommand)]
    pub(crate) what: AnalyzerWhat,
}

/// What is done about analyzers.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum AnalyzerWhat {
    /// List the columns that are built in, and those that would be loaded
    List(ListArgs),
    /// Begin an analyzer of your own: a project that becomes a WebAssembly module
    New(NewArgs),
}

/// Arguments of `mattock analyzer list`.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct ListArgs {
    /// The crawl's directory, or that of a repository, whose own analyzers are listed as well
    #[arg(value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) loaded: LoadedArgs,
}

/// Arguments of `mattock analyzer new`.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct NewArgs {
    /// The column's name: small letters, digits and underscores
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// Where; a directory of that name if not given
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,

    /// The language that it is written in
    #[arg(long, value_enum, default_value_t = AnalyzerLanguage::Rust)]
    pub(crate) language: AnalyzerLanguage,
}

/// The languages that there are templates in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnalyzerLanguage {
    /// A crate without dependencies
    Rust,
    /// One file
    C,
}
