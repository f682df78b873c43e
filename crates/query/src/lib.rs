//! Asking a repository: two languages, one table.
//!
//! ```text
//!  Web-in-a-Box text ─► wib ─┐                  ┌─ metadata: the index, as Parquet
//!                            ├─► documents ─────┤
//!  SQL text ─► sql ──────────┘   (one plan)     └─ content: the archives, analyzers
//!                                    │
//!                                    └─► query: run into a sink, explain
//! ```
//!
//! A [`Session`] is opened on a snapshot of a repository. It makes a [`Query`] of a text, in the Web-in-a-Box language ([`wib`]) or in
//! SQL; both become plans of DataFusion on the table `documents`. Rows of that table are instances: one stored response of one URL at one
//! time. Its columns are those of the index, those that the history of a URL gives, those that others computed from all pages together, and
//! those that analyzers compute from the document when they are asked for, or that [`Session::materialize`] has kept.
//!
//! Invariants:
//! - A query that needs columns of the index only opens no archive, and a document outside of the sample is never read.
//! - No document and no analyzer makes a query fail: what cannot be had is null, and counted in the [`Report`].
//! - Memory is bounded by [`Options::memory_bytes`]: what is larger goes to disk.
//! - An answer that was stopped half-way is a whole file with fewer rows.

mod by_url;
mod cancel;
mod columns;
mod compact;
mod complaint;
mod content;
mod described;
mod distinct;
mod documents;
mod error;
mod explain;
mod functions;
mod given;
mod history;
mod insertion;
mod kept;
mod materialize;
mod metadata;
mod options;
mod outcomes;
mod pool;
mod query;
mod runs;
mod sampling;
mod sealed;
mod selection;
mod session;
pub mod sink;
mod source;
mod sql;
mod store;
mod sums;
mod via;
pub mod wib;

pub use cancel::Cancel;
pub use columns::is_taken;
pub use complaint::{Complaint, Span, nearest};
pub use content::tally::Failures;
pub use described::{Described, described};
pub use error::QueryError;
pub use explain::Explanation;
pub use given::GivenTable;
pub use kept::sound::{KeptCheck, check_kept};
pub use materialize::Materialized;
pub use options::{Language, Options};
pub use query::{Dates, Progress, Query, Report};
pub use sampling::is_sampled;
pub use sealed::{Summed, VALUES_VERSION, check_values, seal_end, seal_values};
pub use session::Session;
pub use source::{PartSums, Source};
