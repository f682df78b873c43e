//! The URL database: canonical URL ↔ dense id, ids in the order of the URLs' [keys](crate::key).
//!
//! Filled by a build, which hands in every key once and in order ([`UrlWriter`]); read by everybody who has an id and wants a
//! URL, or the other way round ([`Urls`]).
//!
//! ```text
//! file  = "MTKURLS1", blocks, index, footer
//! block = up to 64 keys, compressed as one: shared lengths, lengths of the rests, rests
//! index = for each block: bytes, bytes uncompressed, checksum, separator from the keys before it
//! footer = offset of the index, number of URLs, checksum of the index, "MTKURLS1"
//! ```
//!
//! A separator is the shortest text that is greater than every key of the blocks before it and not greater than the first of its own.
//! Only the index is in memory, about one byte a URL; blocks are read when asked for, and the one that was read last is kept.
//!
//! Costs, on the 6,012 URLs of a university's site (68 bytes each): 17.0 bytes a URL are left by sharing beginnings alone, which is
//! what rear-coded lists do, 9.5 by compressing blocks of 64 too, index and checksums counted. A URL is found in 6 to 7 µs, either way.

mod reader;
mod writer;

pub use reader::{UrlIter, Urls};
pub(crate) use writer::UrlWriter;

const MAGIC: [u8; 8] = *b"MTKURLS1";
const BLOCK_URLS: u64 = 64;
const FOOTER_BYTES: u64 = 28;
