//! Where repository, feature databases and graphs meet: what is stored is read once, and studied from then on.
//!
//! ```text
//!  repository ─► gather ─► segments ─► features ─► graph ─► columns ─► query
//!  (index, archives)      one a part   (databases)          in_degree, pagerank, …
//!                                          └──────────────► report
//! ```
//!
//! The crates below know nothing of each other: `features` takes pages from anywhere, `graph` any graph, `query` any Parquet file of
//! values by URL. This one brings them together, for the commands that a researcher types.
//!
//! [`report`] is what a researcher writes about a data set, as a page.

mod build;
mod check;
mod columns;
mod error;
mod foreign;
mod gather;
pub mod report;

pub use build::{BuildFeatures, Built, Progress, build};
pub use check::{FeaturesCheck, check_features};
pub use columns::{Values, column_path, columns_directory, keep_column_of};
pub use error::{Result, StudyError};
pub use foreign::{Foreign, Reading, Texts, build_from, parts_of, uncompressed};
pub use gather::Gathering;

/// The directory of a repository that its features are in.
pub const FEATURES: &str = "features";
