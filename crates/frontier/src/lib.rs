//! Decides which URL is fetched next, and keeps every server's peace.
//!
//! A URL passes through stages, each of which owns its state and hands records on (the life of a URL):
//!
//! ```text
//! Link ─► admission ─► seen ─► budget ─► ready ─► bench ─► Visit ─► (fetch)
//!             │        DRUM    STAR:     disk    │  ▲ ▲                │
//!          refused             DRUM      bands   ▼  │ └── Finished ────┤
//!                              BEAST:        overflow │                ▼
//!                              disk            disk   └─ robots     content: DRUM
//! ```
//!
//! - `admission` asks of every link: does the [`scope`] want it, does the [`blocklist`] allow it, is it a way into a
//!   [trap](traps), and does the [`Application`] ask for it? Every refusal has a reason that is counted.
//! - `seen` lets each URL through once ([`mattock_drum::UrlSeen`]): from RAM while the crawl is small, in batches from disk
//!   when it is not.
//! - `budget` gives each domain its due by how many others link to it ([`star`]), and keeps the rest for later ([`beast`]); with
//!   unlimited budgets there is no such stage.
//! - `bands` keeps them on disk in order of request, by priority, until the bench has room.
//! - `bench` has the hosts that are being crawled in RAM, each with a few URLs, its rules, its address and its next allowed time;
//!   `overflow` is what its hosts have on disk behind it.
//! - `rules` remembers robots.txt on disk ([`mattock_drum::RobotsCache`]).
//! - `content` knows which hosts and domains still have [news](novelty): the others get smaller budgets and longer delays.
//! - [`gates`] hold the delays of servers and domains.
//!
//! [`Frontier`] routes between them. It is synchronous: whoever drives it says what time it is, so the same code runs in virtual
//! time. Nothing in RAM grows with the crawl: [`FrontierOptions::memory_bytes`] is cut up between the stages when it is opened.
//!
//! Robots rules are judged when a visit is about to begin and not before the URL waits, as the URL may wait for days. A host is
//! asked for its robots.txt when it comes onto the bench and the cache does not know it; its URLs wait there and behind it.

mod accounts;
mod admission;
mod application;
mod asks;
mod bands;
pub mod beast;
mod bench;
pub mod blocklist;
mod budget;
mod content;
mod doubts;
mod error;
mod finish;
mod flow;
mod frontier;
pub mod gates;
mod host;
mod hurry;
mod live;
pub mod look;
mod message;
pub mod novelty;
mod options;
mod overflow;
mod politeness;
mod record;
mod rules;
mod save;
pub mod scope;
mod servers;
pub mod split;
pub mod star;
mod state;
pub mod traps;
mod trials;
mod twins;
mod verify;

pub use accounts::Accounts;
pub use application::{Application, BreadthFirst, ShortPathsFirst};
pub use bands::{BAND_LAST, BANDS};
pub use content::{ContentCounts, PageContent, Sketch};
pub use error::{FrontierError, StateProblem};
pub use frontier::{Counts, Frontier, HostToResolve, Next, Settled};
pub use live::{HostView, Stages};
pub use message::{Finished, Link, Purpose, Refusal, Request, RobotsAnswer, Sitemaps, Target, Visit};
pub use options::FrontierOptions;
pub use politeness::{BUDGET_DEFAULT, Politeness};
pub use scope::{Scope, ScopeRule};
pub use servers::{Guarded, Locked, Servers};
pub use star::BudgetPolicy;
pub use verify::Verified;
