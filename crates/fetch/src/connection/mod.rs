//! One open connection to one host, and one exchange over it at a time.
//!
//! A connection has no state between exchanges: bytes that come after the end of a response are unasked for, and the
//! connection is dropped, whether they come at once ([`http1`] sees them) or later ([`Connection::is_stale`] does).

mod http1;
#[cfg(feature = "http2")]
mod http2;
mod transport;

use std::future::poll_fn;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use mattock_env::{Clock, Elapsed, Net, Stream, Time};

use crate::exchange::{Protocol, Timings};
use crate::http::{Head, Truncation};
use crate::spill::{Spill, Spills};
use crate::tls::{TlsInfo, Verdict};
use crate::{Failure, Limits};
pub(crate) use transport::Transport;

/// An open connection; the caller keeps it with the host it belongs to.
#[derive(Debug)]
pub struct Connection {
    wire: Wire,
    /// The address it is connected to; `None` behind a proxy.
    pub address: Option<IpAddr>,
    /// How it is secured.
    pub tls: Option<Arc<TlsInfo>>,
}

#[derive(Debug)]
enum Wire {
    Http1(Transport),
    #[cfg(feature = "http2")]
    Http2(Box<http2::Http2>),
}

/// A response as it lies in the buffer: head, then body, of which the beginning may be spilled.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) head: Head,
    pub(crate) truncated: Option<Truncation>,
    pub(crate) reusable: bool,
}

/// Limits and clock for one exchange.
pub(crate) struct Terms<'a> {
    pub(crate) clock: &'a Clock,
    pub(crate) limits: &'a Limits,
    /// Of this body; no more than the limits allow.
    pub(crate) body_bytes_max: usize,
    /// When everything must be over.
    pub(crate) deadline: Time,
    /// Where large bodies go; `None` if they stay in memory.
    pub(crate) spills: Option<&'a Spills>,
    /// What is sent instead of the request as it is recorded, if that lacks secrets.
    pub(crate) secret: Option<&'a [u8]>,
    /// Whether a certificate that is not valid ends the fetch, whatever holds otherwise.
    pub(crate) verified: bool,
}

impl Terms<'_> {
    /// `limit`, or what is left until the deadline if that is less.
    pub(crate) fn wait(&self, limit: Duration) -> Duration {
        limit.min(self.deadline.since(self.clock.now()))
    }

    /// Gives `work` at most `limit`, and no more than is left. What can be done at once costs no timer.
    pub(crate) async fn within<F: Future>(&self, limit: Duration, work: F) -> Result<F::Output, Elapsed> {
        let mut work = std::pin::pin!(work);
        let at_once = poll_fn(|cx| Poll::Ready(work.as_mut().poll(cx))).await;
        match at_once {
            Poll::Ready(output) => Ok(output),
            Poll::Pending => self.clock.timeout(self.wait(limit), work).await,
        }
    }

    /// Whether a body of which `bytes` came since `begun` has had its time: all of it, or more than such speed deserves.
    pub(crate) fn is_too_slow(&self, begun: Time, bytes: usize) -> bool {
        let now = self.clock.now();
        let taken = now.since(begun);
        now >= self.deadline
            || taken > self.limits.speed_grace
                && (bytes as f64) < self.limits.speed_min as f64 * taken.as_secs_f64()
    }
}

impl Connection {
    /// Opens a connection.
    pub(crate) async fn open(net: &Net, to: SocketAddr, terms: &Terms<'_>) -> Result<Stream, Failure> {
        match terms.clock.timeout(terms.wait(terms.limits.connect), net.connect(to)).await {
            Ok(Ok(stream)) => Ok(stream),
            Ok(Err(error)) if error.kind() == std::io::ErrorKind::ConnectionRefused => Err(Failure::Refused),
            Ok(Err(_)) => Err(Failure::Unreachable),
            Err(_) => Err(Failure::ConnectTimeout),
        }
    }

    /// A connection over a stream that was not secured.
    pub(crate) fn plain(stream: Stream, address: Option<IpAddr>) -> Connection {
        Connection { wire: Wire::Http1(Transport::Plain(stream)), address, tls: None }
    }

    /// A connection over a stream that was, in the tongue that was agreed on.
    pub(crate) async fn secured(
        transport: Transport,
        info: TlsInfo,
        address: Option<IpAddr>,
        terms: &Terms<'_>,
    ) -> Result<Connection, Failure> {
        let tls = Some(Arc::new(info));
        #[cfg(feature = "http2")]
        if transport.agreed_on(b"h2") {
            let http2 = http2::Http2::new(transport, terms).await?;
            return Ok(Connection { wire: Wire::Http2(Box::new(http2)), address, tls });
        }
        let _ = terms;
        Ok(Connection { wire: Wire::Http1(transport), address, tls })
    }

    /// Whether it is secured, and nobody knows who is at its other end.
    pub(crate) fn is_unverified(&self) -> bool {
        self.tls.as_ref().is_some_and(|info| info.verdict != Verdict::Verified)
    }

    /// In which tongue it is spoken over.
    pub fn protocol(&self) -> Protocol {
        match &self.wire {
            Wire::Http1(_) => Protocol::Http1,
            #[cfg(feature = "http2")]
            Wire::Http2(_) => Protocol::Http2,
        }
    }

    /// Whether the server closed it or sent something unasked for since the last exchange. Costs no system call
    /// unless something came.
    pub(crate) async fn is_stale(&mut self) -> bool {
        match &mut self.wire {
            Wire::Http1(transport) => http1::is_stale(transport).await,
            #[cfg(feature = "http2")]
            Wire::Http2(http2) => http2.is_stale().await,
        }
    }

    /// Sends a request and reads the response into `buffer`, which is emptied first, and `spill`. On failure the connection
    /// is of no further use; `buffer` then tells whether anything came.
    pub(crate) async fn exchange(
        &mut self,
        request: &[u8],
        buffer: &mut Vec<u8>,
        spill: &mut Spill,
        terms: &Terms<'_>,
        timings: &mut Timings,
    ) -> Result<Response, Failure> {
        buffer.clear();
        match &mut self.wire {
            Wire::Http1(transport) => {
                http1::exchange(transport, request, buffer, spill, terms, timings).await
            }
            #[cfg(feature = "http2")]
            Wire::Http2(http2) => Box::pin(http2.exchange(request, buffer, spill, terms, timings)).await,
        }
    }
}

/// Asks a proxy for a tunnel over `stream`.
pub(crate) async fn tunnel(stream: Stream, request: &[u8], terms: &Terms<'_>) -> Result<Stream, Failure> {
    let mut transport = Transport::Plain(stream);
    let mut buffer = Vec::new();
    let head = http1::ask(&mut transport, request, &mut buffer, terms, &mut Timings::default()).await;
    match (head, transport) {
        (Ok(head), Transport::Plain(stream)) if matches!(head.status, 200..300) => {
            // In TLS the client speaks first: whoever is at the other end already is no server of ours.
            if buffer.len() == head.len { Ok(stream) } else { Err(Failure::Tls) }
        }
        _ => Err(Failure::Proxy),
    }
}
