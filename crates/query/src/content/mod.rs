//! Columns that are computed from documents: the archive is read here and nowhere else.
//!
//! ```text
//! index rows ─► MeterExec ─► sort by archive and offset ─► ContentExec ─► rows with content
//! ```
//!
//! Rows come in the order in which their documents lie in the archives. `chunks` cuts them into stretches, which the partitions of
//! [`exec::ContentExec`] take in turn, whoever is free: each stretch is read from front to back by a `reader`, each document
//! is decoded once and shown to all analyzers that are asked for, and `computed` puts what they answer into columns. Columns that the
//! condition needs come first; for documents that do not fulfil it nothing else is computed.
//!
//! The payload of a revisit is read where the index has it: see `originals`.
//!
//! A document that cannot be read, and an analyzer that fails, give nulls and are counted in [`tally::Tally`].
//!
//! Memory: for each partition the documents of one stretch, at most a share of the session's budget, or one document if that
//! is larger.

mod build;
mod chunks;
pub(crate) mod computed;
pub(crate) mod exec;
pub(crate) mod meter;
pub(crate) mod originals;
mod reader;
pub(crate) mod tally;
pub(crate) mod work;
