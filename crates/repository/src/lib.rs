//! The repository: what was fetched, as WARC files that every archive tool reads.
//!
//! The crawl hands a [`Page`] to the [`WarcWriter`], which appends its records and says where they are; queries and
//! exports come back with that place to the [`WarcReader`]; [`repair_tail`] is for files that a crash may have
//! torn (the crawl does not call it yet: it begins a new file at every start and never appends to an old one). [`record`] is the format's words, [`http`] the rules by which a response becomes a record.
//!
//! A place is a promise only once [`WarcWriter::sync`] has returned: before that the bytes may be in memory.

mod appender;
mod compression;
mod error;
mod fields;
mod gzip;
pub mod http;
mod input;
mod page;
mod reader;
pub mod record;
mod repair;
mod writer;
mod zstandard;

pub use compression::Compression;
pub use error::{Damage, RepositoryError};
pub use fields::Fields;
pub use page::{Page, Security};
pub use reader::{StoredRecord, WarcReader};
pub use record::{DatePrecision, Digest, Record, RecordId, RecordType, Truncated};
pub use repair::{RepairReport, repair_tail};
pub use writer::{Place, WarcWriter, WriterOptions, Written};
