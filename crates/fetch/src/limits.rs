//! What a server may cost us. Every field is one limit; the defaults are those of a broad crawl.

use std::time::Duration;

/// Limits on one fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time to open a connection.
    pub connect: Duration,
    /// Time from the end of the request to the first byte of the response.
    pub first_byte: Duration,
    /// Time from the first byte of the response to the end of its head.
    pub head: Duration,
    /// Longest silence in the middle of a body.
    pub idle: Duration,
    /// Time for everything, DNS included. The body is cut there and marked.
    pub total: Duration,
    /// Bytes of the response's head.
    pub head_bytes_max: usize,
    /// Bytes of the body; the rest is cut off and marked.
    pub body_bytes_max: usize,
    /// Interim (1xx) responses before the real one.
    pub interim_max: u32,
}

/// Header fields of a response; more is a protocol error.
pub const HEADER_FIELDS_MAX: usize = 512;

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(20),
            head: Duration::from_secs(30),
            idle: Duration::from_secs(20),
            total: Duration::from_secs(120),
            head_bytes_max: 256 * 1024,
            body_bytes_max: 10 * 1024 * 1024,
            interim_max: 8,
        }
    }
}
