//! Data on stdout.
//!
//! Not by `println!`, which panics when the reader of a pipe has had enough (`mattock … | head`): a closed pipe comes back
//! as an error like any other, and [`exit`](crate::exit) takes it for a good end.

use std::io::{self, Write};

use serde::Serialize;

/// Prints a text as it is, and at once: a reader may be waiting for it.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Prints one JSON object in one line.
pub(crate) fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    Ok(print(&format!("{}\n", serde_json::to_string(value)?))?)
}
