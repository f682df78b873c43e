//! DRUM: a disk repository with update management, for sets and maps of 64-bit keys that are far larger than RAM.
mod batch;
pub mod bench;
mod buckets;
mod bytes;
mod cache;
mod checkpoint;
mod deliver;
mod disk;
mod drum;
mod elias_fano;
mod error;
mod generation;
mod log;
mod manifest;
mod merge;
mod plan;
mod run;
mod sort;
mod stats;
mod table;
mod uses;
mod value;
mod writer;

pub use batch::{Batch, Operation, Outcome};
pub use checkpoint::Checkpoint;
pub use drum::Drum;
pub use error::{DrumError, Result};
pub use plan::{Deliver, Options, Plan};
pub use stats::Stats;
pub use uses::{
    BacklinkCount, Backlinks, ContentSeen, DomainInDegree, FirstInstance, HostData, InDegree, RequestedUntil,
    RobotsCache, RobotsRequested, Sources, UrlSeen,
};
pub use value::Value;
