//! The HTTP client of all stores: whom it asks, and how much it takes.
//!
//! ```text
//! store ─► service: may this be asked? ─► reqwest ─► is it what was asked for? ─► limits: no more than that ─► store
//!             │ guard                        │ redirects within the server only
//!             └──────► names ◄───────────────┘ each name's addresses are found once
//! ```
//!
//! Whoever publishes a repository decides what its server answers, and what its rows name. None of that may lead elsewhere:
//!
//! - **One server.** A client asks one origin (scheme, name, port). A redirect within it is followed, one that leads out of it is an error.
//! - **Named servers.** Whatever the user has named may be asked, wherever its name leads, and so may the endpoints that the environment names.
//!   Any other server is asked only if its addresses are public ([`AddressGuard`](mattock_guard::AddressGuard)); behind a proxy, which finds
//!   them itself, only if its name is no local one.
//! - **One meaning.** A name keeps the addresses that were found first ([`names`]), so that the server which was named, or judged, is the one
//!   that is asked until this process ends.
//! - **Bounds.** No answer is longer than the range that was asked for, and without a range no longer than [`limits`] says.
//!
//! `object_store` repeats requests that fail on the way, as ever. What is refused here is not repeated.

mod connector;
mod limits;
mod names;
mod options;
mod refused;
mod service;
#[cfg(all(test, feature = "http"))]
mod tests;

pub(crate) use connector::{Asking, Connector, Shared};
pub(crate) use limits::together;
pub(crate) use names::Names;
pub(crate) use refused::{failed_on_the_way, refused};
