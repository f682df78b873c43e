//! Records of one width, by id: what a database has of some pages and not of others.
//!
//! Filled by a build in the order of ids ([`RecordWriter`]); read one by one, or all in order ([`Records`]). Both
//! content databases are made of these, [term vectors](crate::terms) and [shingleprints](crate::shingles).
//!
//! ```text
//! file   = magic, blocks, checksum of each block, bits, footer
//! block  = up to 32 records, one after the other
//! bits   = one for each id: whether it has a record
//! footer = width, number of records, number of ids, checksum of all behind the blocks, magic
//! ```
//!
//! A record's place is the number of ids before its own that have one. That is counted at once: how many bits are set before each stretch of 512
//! is known in memory, and so are the bits themselves, 9 bits for 8 ids in all. Records stay on disk; every block is checked when it is read.

mod reader;
mod writer;

pub(crate) use reader::{RecordScan, Records};
pub(crate) use writer::RecordWriter;

/// Records in a block.
const BLOCK_RECORDS: u64 = 32;
/// Width, records, ids, checksum, magic.
const FOOTER_BYTES: u64 = 4 + 8 + 8 + 4 + 8;

/// What tells a database from others, and its version: seven letters and a digit.
pub(crate) type Magic = [u8; 8];
