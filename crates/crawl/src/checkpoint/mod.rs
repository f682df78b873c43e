//! Checkpoints: one moment of the whole crawl, on disk, that a restart continues from.
//!
//! ```text
//!  coordinator: "number 7 is wanted" ─► every partition: sends its links, arrives, waits for the others,
//!                                       takes in what was sent to it, and begins to save, in the background:
//!                                         frontier (STATE-7 and checkpoints of its parts), archive, ledger
//!               all of them are durable ◄─ reports
//!               writes state/CHECKPOINT: number 7 counts, number 6 need not be kept
//! ```
//!
//! The one file `state/CHECKPOINT` is the atomic step: it names the states of all partitions and the length of every archive
//! and ledger file. Whatever is younger than it was never acknowledged; [`Crawl::open`](crate::Crawl::open) takes the archive back
//! to it, and the frontiers open the states that it names. So a page is done if the checkpoint says so, and then its bytes are
//! durable, its row is in the ledger, and its links are with the partitions that they belong to.
//!
//! It is kept twice, as `CHECKPOINT` and `CHECKPOINT.copy`, and so is every small file that it depends on: a damaged one costs nothing. A
//! crash may leave the two of different checkpoints, which both are whole then; opening takes the first and makes them the same.
//!
//! It is of one moment, which is taken when all have arrived and which every ledger is marked with: that is when its rows were inserted
//! into the repository. Each is later than the one before, also when the clock goes back.
//!
//! Invariants: one checkpoint at a time; a partition takes part in every number, in order; nothing of checkpoint N is removed
//! before N + 1 is written. The last checkpoint of a run is made when every partition has nothing under way.
//!
//! Whatever fails in it ends the run, which goes back to the checkpoint before: a sync that failed is not asked again.
//!
//! Costs: a partition stops for as long as it takes to encode what it has in RAM and for the slowest to arrive; its fetches go
//! on meanwhile. All writing is in the background.

mod coordinator;
mod part;
mod record;

pub(crate) use coordinator::{Call, Coordinator, Passed, Seat, moment};
pub(crate) use part::Part;
pub(crate) use record::{Checkpoint, Era, PartitionRecord, VERSION};
