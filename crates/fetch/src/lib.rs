//! Brings one URL in: DNS, connection, TLS, HTTP, limits, address guard.
//!
//! The crawl's fetch stage calls [`Client::fetch`] with a URL that the frontier has released, and gets an
//! [`Exchange`]: what was asked, what came back, from where and when, and a [`FetchOutcome`]. The Web's failures are
//! data and never an `Err`: one table ([`outcome`]) says what follows from each.
//!
//! ```text
//! url ─► ports ─► resolver ─► guard ─► connection ─► TLS ─► request ─► head ─► body ─► Exchange ─► decoded on demand
//!                 (cache,     (may we      ▲       (HTTP/2                               │
//!                  DNS)      go there?)    │       if agreed)                            │
//!                                          └────────── kept alive by the caller ◄────────┘
//! ```
//!
//! Invariants: every wait has a limit; no buffer grows past its [`Limits`], and large bodies need not wait in memory (`spill`); the address that was vetted is the one that
//! is connected to; redirects are reported, never followed; no cookie is ever kept.

pub mod decode;
mod http;
pub mod limits;
pub mod outcome;
mod ports;
mod redirect;
mod resolver;
pub mod tls;

mod client;
mod connection;
mod credentials;
mod exchange;
mod options;
mod request;
mod spill;

pub use client::Client;
pub use connection::Connection;
pub use credentials::{Credential, Site, is_credential_name};
pub use decode::{DecodeEnd, Decoded};
pub use exchange::{Exchange, Protocol, Timings};
pub use http::{Head, Truncation};
pub use limits::{DecodeLimits, Limits};
pub use mattock_guard::{AddressGuard, Cidr, NamePattern, NamePatternError};
pub use options::{ClientOptions, Field, FieldError, FieldValue, Identity, Proxy};
pub use outcome::{Consequence, Failure, FetchOutcome};
pub use ports::Ports;
pub use redirect::{Redirect, RedirectRefusal};
pub use request::Validators;
pub use resolver::{Families, Hosts, HostsError, NameServers, Resolver};
pub use tls::{TlsInfo, TlsOptions};
