//! The repository: what was fetched, as WARC files that every archive tool reads.
//!
//! The crawl hands a [`Page`] to the [`WarcWriter`], which appends its records and says where they are; queries and
//! exports come back with that place to the [`RecordFetcher`], or read whole files with the [`WarcReader`]. What became of every URL is in the [`Ledger`]. A checkpoint of the crawl names
//! the length of each file ([`WarcWriter::mark`], [`Ledger::mark`]), and after a crash [`cut_back`] takes the archive back to it;
//! [`repair_tail`] is for files that nobody has such lengths of. [`record`] is the format's words, [`http`] the rules by which a
//! response becomes a record.
//!
//! A place is a promise only once [`WarcWriter::sync`] has returned, or the [`Unsynced`] of its mark is synced: before that the
//! bytes may be in memory.

mod appender;
mod bounded;
mod compression;
mod cut_back;
mod date;
mod dictionary;
mod directory;
mod error;
mod fetcher;
mod fields;
mod gzip;
pub mod http;
mod inflate;
mod input;
mod ledger;
mod page;
mod payloads;
mod piecewise;
mod reader;
pub mod record;
mod repair;
mod small;
mod unsynced;
mod writer;
mod zstandard;

pub use compression::Compression;
pub use cut_back::{CutBack, cut_back};
pub use dictionary::{Dictionary, train_dictionary};
pub use error::{Damage, RepositoryError};
pub use fetcher::RecordFetcher;
pub use fields::Fields;
pub use ledger::{Details, LEDGER_VERSION, Ledger, LedgerReader, Row};
pub use page::{Page, Security};
pub use reader::{StoredRecord, WarcReader};
pub use record::{DatePrecision, Digest, Record, RecordId, RecordType, Truncated};
pub use repair::{RepairReport, repair_tail};
pub use unsynced::Unsynced;
pub use writer::{Place, WarcWriter, WriterOptions, Written};
