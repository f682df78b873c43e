//! How rows are written: what commands have in common that answer in rows.

use std::path::PathBuf;

use clap::ValueEnum;

/// Where rows go.
#[derive(Debug, clap::Args)]
pub(crate) struct RowsArgs {
    /// How rows are written; a table on a terminal and JSON lines elsewhere if not given
    #[arg(long, value_enum)]
    pub(crate) format: Option<RowFormat>,

    /// Write no control characters into JSON lines and CSV, and no formulas into CSV, as docs/query.md says
    #[arg(long)]
    pub(crate) safe: bool,

    /// Write to this file instead of stdout
    #[arg(long, short, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
}

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RowFormat {
    /// For people
    Table,
    /// One JSON object in a line for each row
    Jsonl,
    /// With a line of names
    Csv,
    /// For other engines
    Parquet,
}
