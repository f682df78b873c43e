//! The link database: who links to whom, in WebGraph's BV format, so that WebGraph's own tools open the very files.
//!
//! Filled by a build with pairs of ids in order ([`LinkWriter`]), once for outlinks and once, turned round, for inlinks; read by
//! everybody who walks the graph ([`Links`]). Three files each: `NAME.graph`, the lists; `NAME.offsets`, how many bits each of them has;
//! `NAME.properties`, nodes, links and codes. The codes are those that both WebGraphs take if nothing is said: window 7, at
//! most 3 references in a chain, intervals from 4 on, γ for degrees, blocks and intervals, ζ₃ for residuals.
//!
//! ```text
//! a list = degree, how far back the list lies that is copied from, which parts are copied, intervals, gaps of the rest
//! ```
//!
//! Invariants: a list is sorted and has every target once. Files are checked as a whole when opened, because the code
//! itself has no redundancy: what is wrong in it would be read as other links.
//!
//! Costs: opening reads all into memory, 3 to 4 bits a link and about 2 bytes a URL for the places of lists (an
//! Elias–Fano list); a random list takes 30 ns a link, a scan 8. [`Links::write_elias_fano`] makes the `.ef` file that
//! WebGraph's Rust tools want beside the three; the Java tools do without.

mod reader;
mod writer;

pub use reader::{Links, Scan, Successors};
pub(crate) use writer::{LinkFiles, LinkWriter};
