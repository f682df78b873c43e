//! The running system: a crawl directory, its configuration, and the partition that carries a crawl out.
//!
//! ```text
//!            ┌──────────────────────── partition (one thread) ───────────────────────┐
//!  seeds ──► │ frontier ──► fetch (a task per visit) ──► settle ──► archive (WARC)     │
//!            │    ▲                                        │                           │
//!            │    └── rules ◄── links ◄── page, sitemap ◄───┘                           │
//!            └──────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! [`Crawl::open`] makes or reopens a directory, [`Crawl::run`] crawls until there is nothing left, a limit is
//! reached or [`Control::stop`] is called. Every now and then, and at the end, it makes a checkpoint: the next run goes
//! on from the last one, however this one ended. The same code runs on real sockets and on virtual time: everything comes from
//! the [`Env`](mattock_env::Env) it is given.
//!
//! What a crash loses: pages since the last checkpoint, which are fetched again.

mod archive;
mod blocking;
pub mod check;
mod checkpoint;
pub mod config;
mod connections;
mod control;
mod crawl;
mod directory;
mod dispatch;
mod error;
mod exchange;
mod member;
mod page;
mod partition;
mod progress;
mod reach;
mod repartition;
mod returns;
mod rules;
mod saved;
mod saving;
mod sealed;
mod settle;
mod sitemap;
mod stalls;
mod status;
pub mod steer;
mod storage;
mod summary;
mod task;
pub mod units;
mod watched;
mod why;

pub use config::{Config, ConfigError, RawConfig};
pub use control::Control;
pub use crawl::Crawl;
pub use error::{CheckpointProblem, CrawlError};
pub use exchange::owner as partition_of;
pub use progress::{Progress, Reading, Waiting};
pub use reach::GrantedAnalyzers;
pub use rules::{LinkRules, SitemapRules};
pub use saved::{PartitionCounts, SavedCrawl, SavedLedger, SavedTotals};
pub use stalls::{Limit, Stalls, stalls};
pub use status::Status;
pub use summary::{End, Summary};
pub use why::{Answer, Instance, Known, RobotsVerdict, Why, why};
