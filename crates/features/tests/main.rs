//! What can happen to feature databases.
#![expect(clippy::unwrap_used, reason = "tests")]

mod built;
mod content;
mod damaged;
mod interrupted;
mod real;
mod world;
