//! What can happen to the crate as a whole.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so by a panic")]

mod ask;
mod athena;
mod by_url;
mod common_crawl;
mod keep;
mod language;
mod memory;
mod outcomes;
mod same_rows;
mod samples;
mod sinks;
mod via;
mod world;
