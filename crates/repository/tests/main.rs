//! What can happen to an archive.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so by a panic")]

mod common;
mod corpus;
mod cut;
mod damage;
mod dictionary;
mod disk_full;
mod fetch;
mod foreign;
mod revisit;
mod rolling;
mod round_trip;
mod samples;
mod zstandard;
