//! Experiments and benchmarks, and what shows their results: charts and a page.
//!
//! - [`plot`] turns numbers into SVG charts, with nothing but `std`.
//! - [`report`] puts charts, tables and figures on one self-contained HTML page.
//! - [`mod@format`] writes numbers the way people read them; both of the above use it.
//!
//! - [`demo`] is what `mattock demo` shows, [`mod@bench`] what `mattock bench` measures, [`ServedWorld`] what both crawl.
//! - [`trial`] is a crawl on virtual time with everything that can go wrong: `cargo xtask sim`.
//! - [`beast`] and [`star`] are experiments of the papers: `mattock lab`.
//!
//! The first three are pure: values in, text out. The same values give the same bytes, and no value, however odd
//! (empty, not a number, huge, or a label that is itself markup), makes them panic or breaks the markup.

pub mod beast;
pub mod bench;
pub mod demo;
mod escape;
pub mod format;
#[cfg(test)]
mod markup;
pub mod plot;
pub mod report;
mod served;
pub mod star;
pub mod trial;

pub use served::ServedWorld;
