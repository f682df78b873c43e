//! A TCP-like connection in memory: two byte queues, each bounded, with orderly end and reset.
//!
//! Bytes arrive as soon as they are written; latency is spent where the connection is made (see
//! [`SimNet`](super::SimNet)) and by servers that wait before they answer. A pipe may be given a number of bytes
//! after which it breaks, to simulate a connection that dies half-way.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

#[derive(Debug, Default)]
struct Lane {
    bytes: VecDeque<u8>,
    /// The writer will write no more.
    ended: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

impl Lane {
    fn wake(&mut self) {
        for waker in [self.reader.take(), self.writer.take()].into_iter().flatten() {
            waker.wake();
        }
    }
}

#[derive(Debug)]
struct Shared {
    lanes: [Lane; 2],
    capacity: usize,
    broken: bool,
    /// How many more bytes may pass, both ways together, before the connection breaks.
    bytes_left: u64,
}

impl Shared {
    fn break_off(&mut self) {
        self.broken = true;
        for lane in &mut self.lanes {
            lane.bytes.clear();
            lane.wake();
        }
    }
}

/// One end of a connection in memory.
#[derive(Debug)]
pub struct PipeEnd {
    shared: Arc<Mutex<Shared>>,
    /// The lane this end writes to; it reads from the other.
    side: usize,
}

pub(super) fn pair(capacity: usize) -> (PipeEnd, PipeEnd) {
    breaking_pair(capacity, u64::MAX)
}

pub(super) fn breaking_pair(capacity: usize, bytes_left: u64) -> (PipeEnd, PipeEnd) {
    let shared = Shared { lanes: [Lane::default(), Lane::default()], capacity, broken: false, bytes_left };
    let shared = Arc::new(Mutex::new(shared));
    (PipeEnd { shared: shared.clone(), side: 0 }, PipeEnd { shared, side: 1 })
}

impl PipeEnd {
    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().expect("no code panics while it holds a pipe's lock")
    }

    pub(super) fn reset(self) {
        self.lock().break_off();
    }
}

fn reset_error() -> io::Error {
    io::Error::from(io::ErrorKind::ConnectionReset)
}

impl AsyncRead for PipeEnd {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut shared = self.lock();
        if shared.broken {
            return Poll::Ready(Err(reset_error()));
        }
        let lane = &mut shared.lanes[1 - self.side];
        if lane.bytes.is_empty() {
            if lane.ended {
                return Poll::Ready(Ok(()));
            }
            lane.reader = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let (front, back) = lane.bytes.as_slices();
        let from_front = front.len().min(buf.remaining());
        buf.put_slice(&front[..from_front]);
        let from_back = back.len().min(buf.remaining());
        buf.put_slice(&back[..from_back]);
        lane.bytes.drain(..from_front + from_back);
        if let Some(writer) = lane.writer.take() {
            writer.wake();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for PipeEnd {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let mut shared = self.lock();
        if shared.broken {
            return Poll::Ready(Err(reset_error()));
        }
        let capacity = shared.capacity;
        let lane = &mut shared.lanes[self.side];
        if lane.ended {
            return Poll::Ready(Err(io::Error::from(io::ErrorKind::BrokenPipe)));
        }
        let room = capacity - lane.bytes.len().min(capacity);
        if room == 0 && !buf.is_empty() {
            lane.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let count = room.min(buf.len());
        lane.bytes.extend(&buf[..count]);
        if let Some(reader) = lane.reader.take() {
            reader.wake();
        }
        shared.bytes_left = shared.bytes_left.saturating_sub(count as u64);
        if shared.bytes_left == 0 {
            shared.break_off();
        }
        Poll::Ready(Ok(count))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let lane = &mut self.lock().lanes[self.side];
        lane.ended = true;
        lane.wake();
        Poll::Ready(Ok(()))
    }
}

impl Drop for PipeEnd {
    fn drop(&mut self) {
        let side = self.side;
        let mut shared = self.lock();
        // What this end wrote can still be read; what it did not read is gone, and the peer may write no more.
        shared.lanes[side].ended = true;
        shared.lanes[1 - side].ended = true;
        shared.lanes[1 - side].bytes.clear();
        shared.lanes.iter_mut().for_each(Lane::wake);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[test]
    fn bytes_cross_in_order_through_a_small_buffer() {
        crate::run(async {
            let (mut a, mut b) = pair(3);
            let text = b"a longer text than the buffer holds";
            let writer = tokio::task::spawn_local(async move {
                a.write_all(text).await.unwrap();
            });
            let mut read = Vec::new();
            b.read_to_end(&mut read).await.unwrap();
            writer.await.unwrap();
            assert_eq!(read, text);
        });
    }

    #[test]
    fn a_reset_is_an_error_and_not_an_end() {
        crate::run(async {
            let (mut a, b) = pair(64);
            a.write_all(b"lost").await.unwrap();
            b.reset();
            assert_eq!(a.read(&mut [0; 4]).await.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
        });
    }

    #[test]
    fn a_pipe_breaks_after_its_bytes() {
        crate::run(async {
            let (mut a, mut b) = breaking_pair(64, 10);
            a.write_all(&[0; 9]).await.unwrap();
            assert_eq!(b.read(&mut [0; 64]).await.unwrap(), 9);
            a.write_all(&[0; 1]).await.unwrap();
            assert!(b.read(&mut [0; 64]).await.is_err());
        });
    }

    #[test]
    fn writing_to_a_dropped_reader_fails() {
        crate::run(async {
            let (mut a, b) = pair(4);
            drop(b);
            assert_eq!(a.write(b"x").await.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
            assert_eq!(a.read(&mut [0; 4]).await.unwrap(), 0);
        });
    }
}
