//! Applications on the link database: what the shape of a Web tells.
//!
//! Graphs come as [`Adjacency`]: the link database itself, or a [`Csr`] in memory that is filled from it and several times as fast.
//! Everything here is handed the graph, sometimes with the same links turned round, and gives back plain vectors by node;
//! names and files are the caller's.
//!
//! - [`stats()`]: degrees, their power law, reciprocity; [`strong_components`], [`weak_components`]; [`bowtie()`] and its
//!   picture, [`bowtie_svg`];
//! - [`pagerank()`] and [`top`]; [`hits`], [`companions`] and [`cocitation`]: related pages; [`kendall_tau`]: two rankings compared;
//! - [`distances()`]: how far pages are apart, estimated for all; [`path`] and [`distances_from`]: exactly, from one;
//!   [`sample`]: pages nearly alike by a random walk;
//! - [`label_order`]: numbers for nodes with which links take fewer bits.
//!
//! Invariants: the same graph and options give the same bits, for any number of threads.

mod adjacency;
mod bowtie;
mod components;
mod distances;
mod kendall;
mod order;
mod pagerank;
mod parallel;
mod picture;
mod related;
mod stats;
mod walk;

pub use adjacency::{Adjacency, Csr};
pub use bowtie::{Bowtie, PARTS, Part, bowtie};
pub use components::{Components, SizeCount, strong_components, weak_components};
pub use distances::{DistanceOptions, Distances, distances};
pub use kendall::kendall_tau;
pub use order::{OrderOptions, label_order};
pub use pagerank::{PageRank, PageRankOptions, degrees, pagerank, top};
pub use parallel::threads;
pub use picture::bowtie_svg;
pub use related::{Hits, Related, Vicinity, cocitation, companions, hits};
pub use stats::{Degrees, PowerLaw, Stats, fit, stats};
pub use walk::{SampleOptions, distances_from, path, sample};
