//! What the fetcher hands over for storage.

use std::net::IpAddr;

use mattock_env::UnixTime;

use crate::record::Truncated;

/// One exchange with a server: becomes a request, a response and, if there is any, a metadata record.
///
/// The body is what came over the wire *without its transfer coding* and *with its content coding*: chunks are
/// joined, gzip stays gzip. The response record is made consistent with that: see [`crate::http::stored_head`].
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    /// The URL that was asked for.
    pub url: &'a str,
    /// The server's address.
    pub ip: Option<IpAddr>,
    /// When the request was begun.
    pub date: UnixTime,
    /// The request as it was sent. Empty: no request record.
    pub request: &'a [u8],
    /// Status line and header lines of the response as they were received.
    pub response_head: &'a [u8],
    /// See above.
    pub body: &'a [u8],
    /// Why the body is not all there was.
    pub truncated: Option<Truncated>,
    /// How the connection was secured; `None` if it was not.
    pub security: Option<Security<'a>>,
    /// Facts for the metadata record: via, depth, outcome… Empty: no metadata record.
    pub metadata: &'a [(&'a str, String)],
}

/// What a request and its response say about the connection that carried them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Security<'a> {
    /// What was spoken: `http/1.1` or `h2`.
    pub protocol: &'a str,
    /// And over what: `tls/1.2` or `tls/1.3`.
    pub version: &'a str,
    /// The registered name of the cipher suite.
    pub cipher_suite: &'a str,
}
