//! Applications on the feature databases: what the shape of a Web tells, and what its pages have in common.
//!
//! Graphs come as [`Adjacency`]: the link database itself, or a [`Csr`] in memory that is filled from it and several times as fast;
//! [`Held`] is whichever memory allows.
//! Everything here is handed the graph, sometimes with the same links turned round, and gives back plain vectors by node;
//! names and files are the caller's.
//!
//! - [`stats()`]: degrees, their power law, reciprocity; [`strong_components`], [`weak_components`]; [`bowtie()`] and its
//!   picture, [`bowtie_chart`] and [`bowtie_svg`];
//! - [`pagerank()`] and [`top`]; [`hits`], [`companions`] and [`cocitation`]: related pages; [`kendall_tau`]: two rankings compared;
//! - [`distances()`]: how far pages are apart, estimated for all; [`path`] and [`distances_from`]: exactly, from one;
//!   [`sample`]: pages nearly alike by a random walk;
//! - [`label_order`]: numbers for nodes with which links take fewer bits;
//! - [`duplicates()`]: clusters of pages that say nearly the same, and [`mirrors`], hosts that have the same pages;
//! - [`TermSum`]: the most telling terms of a set of pages, and [`similar`], pages about the same.
//!
//! Invariants: the same graph and options give the same bits, for any number of threads.

mod adjacency;
mod bowtie;
mod components;
mod distances;
mod duplicates;
mod held;
mod kendall;
mod order;
mod pagerank;
mod parallel;
mod picture;
mod related;
mod stats;
mod terms;
mod walk;

pub use adjacency::{Adjacency, Csr};
pub use bowtie::{BOWTIE_BYTES, Bowtie, PARTS, Part, bowtie};
pub use components::{COMPONENT_BYTES, Components, SizeCount, strong_components, weak_components};
pub use distances::{DistanceOptions, Distances, distances, distances_watched};
pub use duplicates::{
    Cluster, DuplicateCounts, DuplicateOptions, Duplicates, Inlinks, Mirror, MirrorOptions, Preference,
    beside_clusters, duplicates, duplicates_within, mirrors,
};
pub use held::{Form, GraphError, Held, HeldSuccessors, NodeBytes, coded_within, form_within};
pub use kendall::kendall_tau;
pub use order::{OrderOptions, label_order};
pub use pagerank::{PageRank, PageRankOptions, RANK_BYTES, degrees, pagerank, pagerank_watched, top};
pub use parallel::{Watch, threads};
pub use picture::{bowtie_chart, bowtie_svg};
pub use related::{Hits, Related, Vicinity, around, cocitation, companions, hits};
pub use stats::{Degrees, PowerLaw, Stats, degree_counts, fit, stats};
pub use terms::{Similar, Telling, TermSum, similar, sums_within};
pub use walk::{SampleOptions, distances_from, path, sample};
