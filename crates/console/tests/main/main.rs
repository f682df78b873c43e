//! A console as clients see it: over its port and its socket.

mod client;
mod crowded;
mod guarded;
mod imported;
mod socket;
mod stream;
