//! What the crate owes to others: the Web's own test suites, and laws over texts that nobody would write.

mod archive_keys;
mod conformance;
mod exceptions;
mod idna;
mod laws;
mod public_suffixes;
mod web_platform;
