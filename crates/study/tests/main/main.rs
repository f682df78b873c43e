//! What can happen to the crate as a whole.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so by a panic")]

mod columns;
mod damaged;
mod foreign;
mod incremental;
mod interrupted;
mod report;
mod shelf;
mod truth;
