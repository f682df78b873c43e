//! Decides which URL is fetched next, and keeps every server's peace.
//!
//! A URL passes through stages, each of which owns its state and hands typed messages on (the life of a URL):
//!
//! ```text
//! Link ─► scope ─► seen ─► budget ─► robots ─► ready ─► workbench ─► Visit ─► (fetch)
//!           │ refused        │          │ ▲                 ▲            │
//!           ▼                ▼          ▼ │ robots.txt      └── Finished ┘
//!         counted by reason          Visit for robots.txt
//! ```
//!
//! - [`scope`] refuses what the crawl is not about; every refusal has a reason that is counted.
//! - [`seen`] lets each URL through once.
//! - [`budget`] decides whether a domain may have more now.
//! - [`robots_stage`] holds the URLs of a host until its robots.txt is known, then passes or refuses them.
//! - [`ready`] keeps them in request order until the workbench has room.
//! - [`workbench`] has the hosts with their next allowed times, and gives out visits: one at a time per host.
//!
//! [`Frontier`] only routes messages between them. It is synchronous and owns no clock: whoever drives it says what time
//! it is, so the same code runs in virtual time.
//!
//! This is the plain frontier: all of it lies in RAM, about 200 bytes per URL that waits and 16 per URL seen.

pub mod beast;
pub mod blocklist;
pub mod budget;
mod frontier;
mod message;
pub mod novelty;
mod politeness;
pub mod ready;
pub mod robots_stage;
pub mod scope;
pub mod seen;
mod snapshot;
pub mod star;
pub mod traps;
pub mod workbench;

pub use frontier::{Counts, Frontier, FrontierOptions, Next, Settled};
pub use message::{Finished, Link, Purpose, Refusal, Request, RobotsAnswer, Sitemaps, Target, Visit};
pub use politeness::Politeness;
pub use scope::{Scope, ScopeRule};
pub use snapshot::SnapshotError;
