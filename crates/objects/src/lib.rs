//! Object storage as files of `env`: S3 and what speaks like it, Google Cloud Storage, Azure, HTTP. Directories of this machine that are named
//! by `file:` URLs are `env`'s own; their requests are counted here.
//!
//! ```text
//! Files ─► Objects ─► address: which store, which key ─► stores: one client for each bucket ─► engine: one thread ─► network
//! ```
//!
//! [`Objects`] is the [`Remote`](mattock_env::Remote) that `Files` are given; commands that ask a repository do so, and a crawl never does: it
//! writes to a local directory, in the form that a crash can be reasoned about, and is published from there.
//!
//! Invariants:
//! - An object is put whole or not at all.
//! - Callers block, and may do so inside any runtime: everything that waits does so on a thread of its own.
//! - Nothing is asked of the network before somebody uses a URL.
//!
//! Costs: a request for each call, more for large objects (8 MiB each); lengths are asked for once. [`Objects::counts`] has the sums.
//! Requests that fail on the way are repeated, for a minute at most.

mod address;
mod counts;
mod engine;
mod error;
mod named;
#[cfg(feature = "network")]
mod network;
mod objects;
mod put;
mod stores;

pub use address::check_url;
pub use counts::Counts;
pub use error::ObjectsError;
pub use objects::Objects;
