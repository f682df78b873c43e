//! A stream that reads no more than it is allowed to.
//!
//! Below TLS a server can send much that never becomes a byte of a response: certificates, empty records, pings,
//! settings. Time limits alone would let it burn our CPU for as long as they last; an allowance of wire bytes ends
//! that early. Whoever reads the response refills it as real bytes arrive.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use mattock_env::Stream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Wire bytes that may still be read; clones are the same allowance.
#[derive(Clone, Debug)]
pub(crate) struct Allowance(Arc<AtomicU64>);

impl Allowance {
    pub(crate) fn new(bytes: u64) -> Allowance {
        Allowance(Arc::new(AtomicU64::new(bytes)))
    }

    pub(crate) fn set(&self, bytes: u64) {
        self.0.store(bytes, Ordering::Relaxed);
    }

    #[cfg(feature = "http2")]
    pub(crate) fn add(&self, bytes: u64) {
        self.set(self.0.load(Ordering::Relaxed).saturating_add(bytes));
    }

    /// Takes `bytes` off; false if there were fewer.
    fn spend(&self, bytes: u64) -> bool {
        let left = self.0.load(Ordering::Relaxed).checked_sub(bytes);
        self.set(left.unwrap_or(0));
        left.is_some()
    }
}

/// A stream with an allowance.
#[derive(Debug)]
pub(crate) struct Metered {
    stream: Stream,
    pub(crate) allowance: Allowance,
}

impl Metered {
    pub(crate) fn new(stream: Stream, allowance: Allowance) -> Metered {
        Metered { stream, allowance }
    }
}

impl AsyncRead for Metered {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let result = Pin::new(&mut self.stream).poll_read(cx, buf);
        let count = buf.filled().len() - before;
        if !self.allowance.spend(count as u64) {
            return Poll::Ready(Err(io::ErrorKind::FileTooLarge.into()));
        }
        result
    }
}

impl AsyncWrite for Metered {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
