//! The client against servers that follow a script, on virtual time. Cases that a catalogue of hostile behaviour names are
//! called by their ids (T01, C03…) there and here.

#![expect(clippy::unwrap_used, reason = "the helpers of tests fail by panicking, as tests do")]

mod content;
mod corpus;
mod names;
mod requests;
mod secure;
mod server;
mod spill;
mod transport;
#[cfg(feature = "http2")]
mod two;
