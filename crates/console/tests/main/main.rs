//! A console as clients see it: over its port and its socket.

mod client;
mod guarded;
mod imported;
mod socket;
mod stream;
