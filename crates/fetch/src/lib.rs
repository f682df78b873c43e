//! Brings one URL in: DNS, connection, HTTP/1.1, limits, address guard.
//!
//! The crawl's fetch stage calls [`Client::fetch`] with a URL that the frontier has released, and gets an
//! [`Exchange`]: what was asked, what came back, from where and when, and a [`FetchOutcome`]. The Web's failures are
//! data and never an `Err`: one table ([`outcome`]) says what follows from each.
//!
//! ```text
//! url ─► resolver (cache, DNS) ─► guard (may we connect there?) ─► connection ─► request ─► head ─► body ─► Exchange
//!                                                                      ▲                                     │
//!                                                                      └──── kept alive by the caller ◄──────┘
//! ```
//!
//! Invariants: every wait has a limit; no buffer grows past its [`Limits`]; the address that was vetted is the one that
//! is connected to; redirects are reported, never followed.

pub mod guard;
mod http;
pub mod limits;
pub mod outcome;
mod resolver;

mod client;
mod connection;

pub use client::{Client, ClientOptions, Exchange, Identity};
pub use connection::Connection;
pub use guard::{AddressGuard, Cidr};
pub use http::{Head, Truncation};
pub use limits::Limits;
pub use outcome::{Consequence, Failure, FetchOutcome};
pub use resolver::{NameServers, Resolver};
