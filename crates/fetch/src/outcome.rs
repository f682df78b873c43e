//! What can come of a fetch, and what follows from it: one enum, one table.
//!
//! An outcome is stored with the instance and counted; nothing else in the crawler decides what a failure means.
//! Content that cannot be decoded is no failure of the fetch: the bytes arrived and are stored.

use std::fmt;
use std::time::Duration;

/// How a fetch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FetchOutcome {
    /// The server answered with this status; the body may still be truncated.
    Answered(u16),
    /// No whole response head arrived.
    Failed(Failure),
}

/// Why no response arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Failure {
    /// The name does not exist.
    NoSuchName,
    /// The name servers failed or said nonsense.
    NameServer,
    /// The name servers did not answer in time.
    NameTimeout,
    /// The name leads to an address that we do not connect to or, where a proxy finds addresses, is one of a local network.
    ForbiddenAddress,
    /// The URL's port belongs to a service that is not the Web's.
    ForbiddenPort,
    /// Nothing listens there.
    Refused,
    /// No connection in time.
    ConnectTimeout,
    /// The connection could not be made for another reason.
    Unreachable,
    /// The proxy did not let us through.
    Proxy,
    /// Connected, but the TLS handshake failed.
    Tls,
    /// Connected, but the TLS handshake did not end in time.
    TlsTimeout,
    /// The certificate is not valid, and valid ones were demanded: by the operator, or by a request with credentials.
    Certificate,
    /// The connection was reset or closed before a response head.
    Disconnected,
    /// Connected, but no byte of a response in time.
    FirstByteTimeout,
    /// The head began but did not end in time.
    HeadTimeout,
    /// The head is larger than we accept.
    HeadTooLarge,
    /// What came is not HTTP.
    Protocol,
    /// "Not modified" came although the request named nothing that could be.
    UnaskedNotModified,
    /// We failed, not the server: the task that fetched it broke down.
    Internal,
}

/// What follows from an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Consequence {
    /// How often the URL is tried again.
    pub retries: u8,
    /// The wait before the first new try; it doubles with each.
    pub wait: Duration,
    /// Whether the host as a whole is in trouble: the wait holds for all its URLs.
    pub host: bool,
}

impl Consequence {
    const FINAL: Consequence = Consequence { retries: 0, wait: Duration::ZERO, host: false };

    const fn retry(retries: u8, wait_s: u64, host: bool) -> Consequence {
        Consequence { retries, wait: Duration::from_secs(wait_s), host }
    }
}

impl FetchOutcome {
    /// The table.
    pub fn consequence(self) -> Consequence {
        use Failure as F;
        use FetchOutcome::{Answered, Failed};
        match self {
            // An overloaded server is left alone for longer; a broken one is asked once more.
            Answered(429 | 503) => Consequence::retry(2, 4, true),
            Answered(500 | 502 | 504) => Consequence::retry(1, 2, false),
            Answered(_) => Consequence::FINAL,
            Failed(F::NoSuchName | F::ForbiddenAddress | F::ForbiddenPort) => Consequence::FINAL,
            Failed(F::NameServer | F::NameTimeout) => Consequence::retry(2, 2, true),
            Failed(F::Refused | F::ConnectTimeout | F::Unreachable) => Consequence::retry(2, 1, true),
            Failed(F::Disconnected | F::FirstByteTimeout | F::HeadTimeout) => Consequence::retry(2, 1, true),
            // The proxy is ours: its trouble is not the URL's, and it may pass.
            Failed(F::Proxy) => Consequence::retry(2, 4, true),
            // A stalled handshake may be load; a failed one fails again in the same way.
            Failed(F::TlsTimeout) => Consequence::retry(2, 1, true),
            Failed(F::Tls | F::Certificate) => Consequence::FINAL,
            Failed(F::HeadTooLarge | F::Protocol | F::UnaskedNotModified) => Consequence::FINAL,
            // What broke once breaks again.
            Failed(F::Internal) => Consequence::FINAL,
        }
    }

    /// The status, if there was a response.
    pub fn status(self) -> Option<u16> {
        match self {
            FetchOutcome::Answered(status) => Some(status),
            FetchOutcome::Failed(_) => None,
        }
    }
}

impl Failure {
    /// The name that is stored, counted and shown.
    pub fn name(self) -> &'static str {
        match self {
            Failure::NoSuchName => "no-such-name",
            Failure::NameServer => "name-server",
            Failure::NameTimeout => "name-timeout",
            Failure::ForbiddenAddress => "forbidden-address",
            Failure::ForbiddenPort => "forbidden-port",
            Failure::Refused => "refused",
            Failure::ConnectTimeout => "connect-timeout",
            Failure::Unreachable => "unreachable",
            Failure::Proxy => "proxy",
            Failure::Tls => "tls",
            Failure::TlsTimeout => "tls-timeout",
            Failure::Certificate => "certificate",
            Failure::Disconnected => "disconnected",
            Failure::FirstByteTimeout => "first-byte-timeout",
            Failure::HeadTimeout => "head-timeout",
            Failure::HeadTooLarge => "head-too-large",
            Failure::Protocol => "protocol",
            Failure::UnaskedNotModified => "unasked-not-modified",
            Failure::Internal => "internal",
        }
    }
}

impl fmt::Display for FetchOutcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FetchOutcome::Answered(status) => write!(out, "{status}"),
            FetchOutcome::Failed(failure) => out.write_str(failure.name()),
        }
    }
}
