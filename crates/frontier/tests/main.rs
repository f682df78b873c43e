//! The frontier as a whole, on simulated files and time.
#![expect(clippy::unwrap_used, reason = "tests")]

mod brisk;
mod budgets;
mod life;
mod look;
mod polite;
mod robots;
mod stuck;
mod world;
