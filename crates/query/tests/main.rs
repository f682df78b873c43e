//! What can happen to the crate as a whole.

mod ask;
mod keep;
mod language;
mod same_rows;
mod sinks;
mod world;
