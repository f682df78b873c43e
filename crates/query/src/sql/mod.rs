//! SQL: DataFusion's parser, with a few words of our own, and errors in the form that the other language has.
//!
//! What Athena and Presto write otherwise becomes what it means first (`athena`, `order`), and so do lists in `from` (`unnest`). Before the text becomes a plan, `rewrite` looks through it: which computed columns it names, that `*` means the columns of the
//! index, that `sampled(p, seed)` reads the instance key, and that `tablesample` is a sample of ours. Only queries are answered; nothing can be changed or written by SQL.

pub(crate) mod athena;
pub(crate) mod complain;
mod dialect;
mod order;
pub(crate) mod parse;
mod plan;
pub(crate) mod rewrite;
mod sample;
mod unnest;
pub(crate) mod views;
