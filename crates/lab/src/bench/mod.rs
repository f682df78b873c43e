//! What `mattock bench` measures: always ratios of things measured in one run, in turns, medians of several rounds.

pub mod checkpoint;
pub mod console;
pub mod crawl;
#[cfg(feature = "features")]
pub mod features;
mod pages;
pub mod path;
#[cfg(feature = "query")]
pub mod query;
pub mod simweb;
mod thicket;
mod wrk;

/// The middle one of some measurements; of an even number the upper of the two. 0 if there are none.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
