//! HTTP/1.1 responses: head, framing, chunked bodies. Pure functions over bytes; the sockets are in
//! [`connection`](crate::connection).

mod chunks;
mod head;

use std::fmt;

pub(crate) use chunks::{Chunks, Progress};
pub use head::Head;
pub(crate) use head::{Framing, head_end, may_be_http};

/// Why a body is not whole, in the words of the WARC standard's `WARC-Truncated`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truncation {
    /// It is longer than the limit.
    Length,
    /// It took longer than the limit.
    Time,
    /// The connection ended or the framing was broken before the body's end.
    Disconnect,
}

impl fmt::Display for Truncation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Truncation::Length => "length",
            Truncation::Time => "time",
            Truncation::Disconnect => "disconnect",
        })
    }
}
