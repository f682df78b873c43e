//! Experiments and benchmarks.
//!
//! - [`demo`] is what `mattock demo` shows, [`mod@bench`] what `mattock bench` measures, [`ServedWorld`] what both crawl.
//! - [`trial`] is a crawl on virtual time with everything that can go wrong: `cargo xtask sim`.
//! - [`beast`] and [`star`] are experiments of the papers: `mattock lab`.
//!
//! Charts and pages are those of `mattock-plot`.

pub mod beast;
pub mod bench;
pub mod demo;
mod served;
pub mod star;
pub mod trial;

pub use served::ServedWorld;
