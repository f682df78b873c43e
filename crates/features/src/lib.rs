//! Feature databases of a crawl: URLs, hosts and links of everything that was seen, by dense ids, small enough for one machine.
//!
//! After the feature databases of *Web Archaeology* (SRC 174): a study that needs only links, or only URLs, should not have to read
//! pages again. Pages with their links go in, in any order and more than fit into memory ([`Builder`]); a generation of databases comes
//! out, and is opened by [`Features`]:
//!
//! - [`Urls`]: canonical URL ↔ id, both ways; also URLs that are only linked to. Ids are in the order of hosts, so that
//!   a host is a range of ids, and pages with like links stand side by side;
//! - [`Hosts`]: the range of each host, and the domain that it belongs to;
//! - [`Links`]: outlinks and inlinks in WebGraph's format, of pages, hosts and domains;
//! - [`Terms`] and [`Shingles`], if pages came with [`Content`]: what a page is about, and which pages say nearly the same.
//!
//! ```text
//! pages ─► fingerprints ─► sorted texts ─► ids ─► urls, hosts
//!                │                          │
//!                ├─► contents ─────────────►┼─► terms and prints by id
//!                └─► links by fingerprint ─►┴─► links by id ─► out ─► in ─► host and domain graphs
//! ```
//!
//! Invariants: ids are dense, from 0; a generation is complete or not in use; every file is checked before it is believed.
//! Lists of others, of URLs or of numbers, are built by [`build_from_list`]; a graph of numbers has no URLs. What was gathered of pages
//! can be kept beside the generations, in [`segment`]s, so that the next build need not read the pages again.

mod build;
mod error;
mod features;
mod generation;
mod hosts;
mod key;
mod links;
mod output;
mod records;
mod reorder;
pub mod segment;
mod shingles;
mod sort;
mod terms;
mod urls;

pub use build::{
    BuildOptions, Builder, Content, Input, Inputs, ListKind, Progress, Report, Stage, build_from_graph,
    build_from_ids, build_from_list, build_from_lists,
};
pub use error::{FeaturesError, Result};
pub use features::{Crawled, Degrees, Direction, Features, Grain, LinkSize};
pub use generation::{Counts, Origin, OriginPart};
pub use hosts::Hosts;
pub use links::{Links, Scan, Successors};
pub use reorder::reorder;
pub use shingles::{
    DESIGN_ESTIMATE, DESIGN_RESEMBLANCE, SKETCH_LENGTH, SUPER_SHINGLES, ShingleScan, Shingleprint, Shingles,
    candidate_probability,
};
pub use sort::Scratch;
pub use sort::pairs::{Pair, PairSorter, PairStream, SortedPairs};
pub use terms::{TermScan, TermVector, Terms, VECTOR_TERMS, Vocabulary};
pub use urls::{UrlIter, Urls};
