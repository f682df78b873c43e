//! What can happen to a crawl, on the simulated Web.
#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

mod check;
mod clock;
mod corpus;
mod determinism;
mod foretold;
mod hostile;
mod inserted;
mod large;
mod limits;
mod mistakes;
mod partitions;
mod repartition;
mod resume;
mod sitemaps;
mod speed;
mod stalls;
mod steering;
mod truth;
mod via;
mod why;
mod world;
