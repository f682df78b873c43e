//! The index of a repository: one row for every instance that is stored, in Parquet files that DuckDB, Spark and pyarrow read as
//! they read Common Crawl's table, and CDXJ for replay tools.
//!
//! ```text
//! ledgers of a crawl ──┐                     ┌─► parts (Parquet, immutable, sorted by SURT key)
//! foreign WARC files ──┴─► pending, sorted ──┤
//!                                            └─► tail (in memory: committed, and not yet in a part)
//! DIR/index/INDEX     names the parts that count, and how far in each ledger they reach
//! ```
//!
//! The index is derived: the ledgers say what is committed, and [`update`] brings the parts up to them. So a query of a crawl
//! that runs sees what the last checkpoint holds, neither more nor less, and an index that is lost is made again.
//!
//! Invariants:
//! - A part that `INDEX` names is whole and never changes; a file that it does not name is nobody's.
//! - Every stored instance is in one part or in the tail, and in one only.
//! - Rows of a part are in the order of SURT key, URL, time.
//!
//! Costs: some 110 bytes of Parquet a row; some 200 bytes of memory for each row of the part that is being made ([`PART_ROWS`]).

mod asked;
mod cdxj;
mod contents;
mod error;
mod find;
mod host_parts;
mod import;
mod languages;
mod lost;
mod manifest;
mod outcomes;
mod part;
mod pending;
mod publish;
mod recover;
mod rekey;
mod rows;
mod schema;
mod shelf;
mod snapshot;
mod told;
mod verify;

pub use asked::Asked;
pub use cdxj::{CdxjPlace, cdxj_line};
pub use error::IndexError;
pub use find::{FoundInstance, find_imported};
pub use import::{Foreign, ImportOptions, Imported, Left, Untaken, import, import_lost};
pub use manifest::{Covered, Extent, Manifest, Part};
pub use outcomes::{Outcomes, outcomes_schema};
pub use part::{PartWriter, WrittenPart};
pub use pending::PART_ROWS;
pub use publish::{Published, Sending, Wanted, identify, publish};
pub use recover::{Recovered, recover};
pub use rekey::rekey;
pub use rows::{Instance, PLACES_MAX, Rows};
pub use schema::{COMMON_CRAWL_COLUMNS, schema};
pub use shelf::importing_since_ms;
pub use snapshot::{
    IndexOptions, LedgerSource, Snapshot, TAIL_ROWS, TAIL_ROWS_MAX, Updated, rebuild, update,
};
pub use verify::{IndexCheck, check_index};
