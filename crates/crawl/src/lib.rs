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
//! reached or [`Control::stop`] is called; then it closes its files and saves the frontier, so that the next run
//! goes on from there. The same code runs on real sockets and on virtual time: everything comes from the
//! [`Env`](mattock_env::Env) it is given.
//!
//! What a crash loses in this version: the frontier of the current run (it is saved at the end), and the archive's
//! unsynced tail.

mod archive;
mod blocking;
pub mod config;
mod connections;
mod control;
mod crawl;
mod directory;
mod error;
mod exchange;
mod member;
mod page;
mod partition;
mod progress;
mod returns;
mod rules;
mod settle;
mod sitemap;
mod summary;
mod task;
pub mod units;

pub use config::{Config, ConfigError, RawConfig};
pub use control::Control;
pub use crawl::Crawl;
pub use error::CrawlError;
pub use progress::Progress;
pub use rules::{LinkRules, SitemapRules};
pub use summary::{End, Summary};
