//! What a server may cost us. Every field is one limit; the defaults are those of a broad crawl.

use std::time::Duration;

/// Limits on one fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time to find the address of a name.
    pub resolve: Duration,
    /// Time to open a connection.
    pub connect: Duration,
    /// Time for the TLS handshake.
    pub handshake: Duration,
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
    /// Bytes that a server may send in a TLS handshake; its certificates are nearly all of them.
    pub handshake_bytes_max: usize,
    /// Bytes per second that a body must bring on average, once [`speed_grace`](Limits::speed_grace) is over; what is
    /// slower is cut and marked. 0: any speed will do.
    pub speed_min: u64,
    /// How long a body may be slower than [`speed_min`](Limits::speed_min).
    pub speed_grace: Duration,
    /// What decoding a body may cost.
    pub decode: DecodeLimits,
}

/// Limits on content decoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeLimits {
    /// Bytes that may come out, at every stage.
    pub bytes_max: usize,
    /// How many bytes may come out for each that went in, once [`RATIO_FREE_BYTES`] are out.
    pub ratio_max: usize,
    /// Codings on top of each other.
    pub codings_max: usize,
}

/// Bytes that may come out of a decoder whatever the ratio: a page of blanks is no bomb.
pub const RATIO_FREE_BYTES: usize = 1024 * 1024;

/// Header fields of a response; more is a protocol error.
pub const HEADER_FIELDS_MAX: usize = 512;

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            resolve: Duration::from_secs(30),
            connect: Duration::from_secs(10),
            handshake: Duration::from_secs(10),
            first_byte: Duration::from_secs(20),
            head: Duration::from_secs(30),
            idle: Duration::from_secs(20),
            total: Duration::from_secs(120),
            head_bytes_max: 256 * 1024,
            body_bytes_max: 10 * 1024 * 1024,
            interim_max: 8,
            handshake_bytes_max: 64 * 1024,
            speed_min: 64,
            speed_grace: Duration::from_secs(30),
            decode: DecodeLimits::default(),
        }
    }
}

impl Default for DecodeLimits {
    fn default() -> DecodeLimits {
        DecodeLimits { bytes_max: 5 * 1024 * 1024, ratio_max: 1000, codings_max: 2 }
    }
}
