//! What HTTP is spoken over: a bare stream or a secured one.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use mattock_env::Stream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::client::TlsStream;

use crate::Limits;
use crate::tls::Metered;

/// Wire bytes of an exchange that need not become bytes of a response: records' frames, tickets, chunk sizes.
pub(crate) const OVERHEAD_BYTES: u64 = 1024 * 1024;

/// A byte stream, secured or not.
#[derive(Debug)]
pub(crate) enum Transport {
    Plain(Stream),
    Tls(Box<TlsStream<Metered>>),
}

impl Transport {
    /// Allows what one exchange may cost on the wire.
    pub(crate) fn allow(&self, limits: &Limits) {
        if let Transport::Tls(stream) = self {
            let response = limits.head_bytes_max.saturating_add(limits.body_bytes_max) as u64;
            stream.get_ref().0.allowance.set(response.saturating_mul(2).saturating_add(OVERHEAD_BYTES));
        }
    }

    /// Whether this protocol was agreed on in the handshake.
    #[cfg(feature = "http2")]
    pub(crate) fn agreed_on(&self, protocol: &[u8]) -> bool {
        match self {
            Transport::Plain(_) => false,
            Transport::Tls(stream) => stream.get_ref().1.alpn_protocol() == Some(protocol),
        }
    }
}

impl AsyncRead for Transport {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Transport::Plain(stream) => Pin::new(stream).poll_read(cx, buf),
            Transport::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Transport {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Transport::Plain(stream) => Pin::new(stream).poll_write(cx, buf),
            Transport::Tls(stream) => Pin::new(stream).poll_write(cx, buf),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Transport::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Transport::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Transport::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Transport::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
