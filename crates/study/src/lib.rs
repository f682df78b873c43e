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
