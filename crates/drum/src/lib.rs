//! DRUM: a disk repository with update management, for sets and maps of 64-bit keys that are far larger than RAM.
//!
//! A crawler asks "have I seen this URL?" a hundred times per page, and the set of URLs outgrows any memory. Answering one
//! by one costs a random read each. A [`Drum`] answers in batches instead, at the speed of sequential I/O: it takes tuples
//! (key, value, aux), and gives the answers back later, in order of arrival, each with its aux. IRLbot (Lee, Leonard, Wang,
//! Loguinov 2008, §4.3–4.5) introduced it; where we differ is said below.
//!
//! # Flow
//!
//! ```text
//!               hit: repeat, done
//!                    ▲
//! submit ──► front cache ──► open generation ──seal──► merge (background) ──► deliver, in order of arrival
//!            or table        log: aux, arrival order   bucket by bucket,       log read once, records
//!            (RAM)           buckets: key, value,      against the sorted      that the bitmap picks
//!                            operation, record number  runs of the store
//! ```
//!
//! 1. **Front**. Keys without values pass an exact cache of recently submitted keys (`cache`). A hit is a repeat, and is done
//!    with. As long as nothing had to leave the cache, a miss is *new*, and answered at once. Keys with values pass a table
//!    that holds all of them while they fit. So a small crawl is answered from RAM and makes no file.
//! 2. **Generation** (`generation`). What RAM cannot answer gets a record: its aux goes to the end of one log (`log`), and
//!    key, operation, value and the record's number to the bucket of the key's first bits (`buckets`). Both collect in
//!    blocks and are written when those are full, by a lane of their own (`writer`), past the page cache.
//! 3. **Merge** (`merge`). A generation that is full, or that somebody [flushes](Drum::flush), is sealed; submitting goes on
//!    in the next one at once. In the background, bucket by bucket, its records are sorted (`sort`) and compared with
//!    the bucket's slice of the store, which consists of a few immutable [Elias–Fano](https://doi.org/10.1145/321812.321820)
//!    compressed runs (`run`, `elias_fano`). Found or not sets a bit per record; updates go into a new run; now and
//!    then all runs become one.
//! 4. **Delivery** ([`Drum::deliver`]). The log is read once, front to back, and the records that the bits pick are handed out.
//!
//! A producer that outruns the merge is slowed in proportion, a few milliseconds per batch, and only stopped when a generation
//! is a quarter over its size: [`Stats::longest_pause_ns`] says how long at most.
//!
//! # Invariants
//!
//! - Results are those of applying the operations one by one in the order of submission; where batches, generations and
//!   merges begin and end cannot be seen in them.
//! - A batch is taken as a whole, or not at all and then with an error.
//! - Everything on disk is written once: logs and chunks grow at their ends, runs and tails appear complete. All of it has
//!   checksums that cover file, place and bytes; what fails them is an error that names the file, and is never served.
//! - [`Drum::checkpoint`] makes the state durable, and the manifest that names it appears in one atomic step. After a crash
//!   [`Drum::open`] gives exactly the state of the newest checkpoint: [`Drum::position`] operations, the results delivered
//!   up to then, not one more or less. A write that fails for want of space is kept and tried again; a *sync* that fails
//!   poisons the repository until it is opened again.
//! - Checkpoints from a pinned one on stay ([`Drum::keep_from`]): who makes one state of many repositories agrees on theirs later.
//! - Others may look at a checkpoint, and verify every byte of it, while its owner works on ([`View`]); they change nothing.
//! - Memory stays within what [`Options`] gives (and 1 bit per check of generations that are merged and wait to be delivered).
//!
//! # Costs
//!
//! Per check, with `p` the probability of a new key, `h` the part of the repeats that the cache catches, `f = p + (1−p)(1−h)`,
//! `b` bytes of aux, U keys in the store, `e(U) = (2 + log₂(2⁶⁴/U))/8` bytes per key and C checks per generation:
//!
//! ```text
//! bytes = 2·f·(b + 11) + e(U)·(U/C + 5p)        read and written; the paper's α is bytes/b, plus p for the next queue
//! ```
//!
//! One cache miss per check in RAM; about 100 ns of processor time per check that goes to disk, and 5 ns per key of the store
//! and merge. [`mod@bench`] measures all of it beside a set in RAM; `docs/drum.md` has the figures.
//!
//! # Where we differ from the paper
//!
//! - The paper puts every URL on disk; the front cache keeps most repeats away, which is why α can be below its
//!   "best possible" 2 + p + 2H/b. That bound holds without the cache.
//! - One log in order of arrival instead of a file of aux per bucket: one hot buffer, global order, and nothing to restore.
//! - A bucket is a chain of chunks instead of a preallocated region: a popular key cannot fill one early.
//! - 9 bytes per key record, not 12: the bucket knows the first byte, and record numbers are differences.
//! - Buckets merge one by one in the background against their own slice, while the next generation fills; the paper stops for it.
//! - The store is compressed, 4.9 bytes per key at 100 million, and a merge writes what is new, not everything.
//! - Generations, manifest, checksums: the paper says nothing on crashes.
//! - Generations are small while the store is, so that answers come early when a crawl begins.

mod background;
mod batch;
pub mod bench;
mod buckets;
mod cache;
mod checkpoint;
mod chunk;
mod deliver;
mod disk;
mod drum;
mod elias_fano;
mod error;
mod first;
mod generation;
mod joiner;
mod kept;
mod left;
mod log;
mod manifest;
mod merge;
mod open;
mod plan;
mod results;
mod run;
mod run_writer;
mod salvage;
mod sort;
mod stats;
mod table;
mod twins;
mod uses;
mod value;
mod verify;
mod view;
mod writer;

pub use mattock_codec::Problem;

pub use batch::{Batch, Operation, Outcome};
pub use checkpoint::Checkpoint;
pub use drum::Drum;
pub use error::{DrumError, Result};
pub use plan::{Deliver, Options, Plan};
pub use stats::Stats;
pub use twins::each_twin;
pub use uses::{
    BacklinkCount, Backlinks, ContentSeen, DomainInDegree, FirstInstance, HostData, InDegree, RequestedUntil,
    RobotsCache, RobotsRequested, Sources, UrlSeen,
};
pub use value::Value;
pub use view::{Undelivered, View, Waiting};
