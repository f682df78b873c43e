//! Algorithms on graphs, against naive ones and against what others found.
#![expect(clippy::unwrap_used, reason = "tests")]

mod copies;
mod duplicates;
mod naive;
mod peers;
mod random;
mod real;
mod simulated;
