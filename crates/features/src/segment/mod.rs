//! Segments: what was gathered of pages, sorted, so that a build need not read them again.
//!
//! Filled by whoever reads a repository, an instance at a time and in any order ([`SegmentSorter`]); emptied into a
//! [`Builder`](crate::Builder) by [`Segments`], which merges any number of them and gives the newest instance of each URL. A segment has
//! the newest instance of each URL that went into it, in the order of the URLs' keys (`key.rs`). It is never changed.
//!
//! ```text
//! file     = "MTKSEGM1", recipe, blocks, footer
//! recipe   = length u32, checksum u32 of (offset, bytes), bytes: how it was gathered, as a text
//! block    = length u32, length uncompressed u32, checksum u32 of (offset, both lengths, bytes), zstd of instances
//! instance = key (shared length, rest), time, body
//! body     = state, links, terms with counts, numbers of the sketch; each list with its length before it
//! footer   = number of instances u64, documents that could not be read u64, checksum u32 of both, "MTKSEGM1"
//! ```
//!
//! Invariants: a file has its name only when it is whole and on the disk; of two instances of one time the one with the greater body counts, so
//! that it does not matter how instances are spread over segments.
//!
//! Costs: 10 to 30 bytes a link as zstd leaves them. A segment that is being read has one block and one decoder in memory, about half a
//! MiB; more than fit into the memory are first merged into larger ones. An instance of any size is kept whole.

mod merge;
mod reader;
mod record;
mod sorter;
mod writer;

pub use merge::Segments;
pub use reader::{Summary, read_summary};
pub use record::{Instance, State};
pub use sorter::SegmentSorter;

const MAGIC: [u8; 8] = *b"MTKSEGM1";

/// A block is ended when it has so many bytes.
const BLOCK_BYTES: usize = 128 << 10;
/// Before a block: its length, its length uncompressed, its checksum.
const BLOCK_HEAD_BYTES: u64 = 12;
const FOOTER_BYTES: u64 = 28;
