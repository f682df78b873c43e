//! One open connection to one host, and one exchange over it.
//!
//! A connection has no state between exchanges: bytes that come after the end of a response are unasked for, and the
//! connection is dropped.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use mattock_env::{Clock, Net, Stream, Time};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::http::{Chunks, Framing, Head, Progress, Truncation, head_end};
use crate::{Failure, Limits};

/// Bytes that are asked for in one read.
const READ_BYTES: usize = 32 * 1024;

/// An open connection; the caller keeps it with the host it belongs to.
#[derive(Debug)]
pub struct Connection {
    stream: Stream,
    /// The address it is connected to.
    pub address: IpAddr,
}

/// A response as it lies in the buffer: head, then body.
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
    /// When everything must be over.
    pub(crate) deadline: Time,
}

impl Terms<'_> {
    /// `limit`, or what is left until the deadline if that is less.
    fn wait(&self, limit: Duration) -> Duration {
        limit.min(self.deadline.since(self.clock.now()))
    }
}

impl Connection {
    pub(crate) async fn open(net: &Net, to: SocketAddr, terms: &Terms<'_>) -> Result<Connection, Failure> {
        match terms.clock.timeout(terms.wait(terms.limits.connect), net.connect(to)).await {
            Ok(Ok(stream)) => Ok(Connection { stream, address: to.ip() }),
            Ok(Err(error)) if error.kind() == std::io::ErrorKind::ConnectionRefused => Err(Failure::Refused),
            Ok(Err(_)) => Err(Failure::Unreachable),
            Err(_) => Err(Failure::ConnectTimeout),
        }
    }

    /// Sends a request and reads the response into `buffer`, which is emptied first. On failure the connection is of
    /// no further use; `buffer` then tells whether anything came.
    pub(crate) async fn exchange(
        &mut self,
        request: &[u8],
        buffer: &mut Vec<u8>,
        terms: &Terms<'_>,
    ) -> Result<Response, Failure> {
        buffer.clear();
        let sent =
            terms.clock.timeout(terms.wait(terms.limits.first_byte), self.stream.write_all(request)).await;
        match sent {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return Err(Failure::Disconnected),
            Err(_) => return Err(Failure::FirstByteTimeout),
        }
        let head = self.read_head(buffer, terms).await?;
        self.read_body(head, buffer, terms).await
    }

    async fn read_head(&mut self, buffer: &mut Vec<u8>, terms: &Terms<'_>) -> Result<Head, Failure> {
        let mut interims = 0;
        let mut head_deadline = None;
        let mut searched = 0;
        loop {
            if let Some(end) = head_end(buffer, searched) {
                if end > terms.limits.head_bytes_max {
                    return Err(Failure::HeadTooLarge);
                }
                let head = Head::parse(buffer, end)?;
                if !matches!(head.status, 100..200) {
                    return Ok(head);
                }
                interims += 1;
                if head.status == 101 || interims > terms.limits.interim_max {
                    return Err(Failure::Protocol);
                }
                buffer.drain(..head.len);
                searched = 0;
                continue;
            }
            if buffer.len() > terms.limits.head_bytes_max {
                return Err(Failure::HeadTooLarge);
            }
            searched = buffer.len();
            let (wait, late) = match head_deadline {
                None => (terms.wait(terms.limits.first_byte), Failure::FirstByteTimeout),
                Some(deadline) => {
                    (terms.wait(Time::since(deadline, terms.clock.now())), Failure::HeadTimeout)
                }
            };
            buffer.reserve(READ_BYTES);
            match terms.clock.timeout(wait, self.stream.read_buf(buffer)).await {
                Ok(Ok(0) | Err(_)) => return Err(Failure::Disconnected),
                Ok(Ok(_)) => {}
                Err(_) => return Err(late),
            }
            head_deadline.get_or_insert_with(|| terms.clock.now() + terms.limits.head);
        }
    }

    async fn read_body(
        &mut self,
        head: Head,
        buffer: &mut Vec<u8>,
        terms: &Terms<'_>,
    ) -> Result<Response, Failure> {
        let framing = head.framing(buffer)?;
        let start = head.len;
        // One byte more than allowed must be seen before a body counts as cut.
        let longest = start.saturating_add(terms.limits.body_bytes_max);
        let mut keeps_alive = head.keeps_alive(buffer);
        let mut chunks = Chunks::new(start);
        let mut truncated = None;
        loop {
            match framing {
                Framing::Empty => {
                    keeps_alive &= buffer.len() == start;
                    buffer.truncate(start);
                    break;
                }
                Framing::Length(length) => {
                    let end = start.saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
                    if end <= longest && buffer.len() >= end {
                        keeps_alive &= buffer.len() == end;
                        buffer.truncate(end);
                        break;
                    }
                }
                Framing::Chunked => match chunks.advance(buffer) {
                    Progress::More => {}
                    Progress::Done { clean } => {
                        keeps_alive &= clean;
                        break;
                    }
                    Progress::Broken => {
                        truncated = Some(Truncation::Disconnect);
                        break;
                    }
                },
                Framing::UntilClose => {}
            }
            let body_end = if framing == Framing::Chunked { chunks.decoded } else { buffer.len() };
            if body_end > longest {
                truncated = Some(Truncation::Length);
                break;
            }
            let expected = match framing {
                Framing::Length(length) => (length as usize).min(longest - start + 1) + start - buffer.len(),
                _ => READ_BYTES,
            };
            buffer.reserve(expected.clamp(1, 1 << 20));
            match terms.clock.timeout(terms.wait(terms.limits.idle), self.stream.read_buf(buffer)).await {
                Ok(Ok(0)) if framing == Framing::UntilClose => {
                    keeps_alive = false;
                    break;
                }
                Ok(Ok(0) | Err(_)) => {
                    truncated = Some(Truncation::Disconnect);
                    break;
                }
                Ok(Ok(_)) => {}
                Err(_) => {
                    truncated = Some(Truncation::Time);
                    break;
                }
            }
        }
        if framing == Framing::Chunked {
            buffer.truncate(chunks.decoded);
        }
        buffer.truncate(longest);
        let reusable = keeps_alive && truncated.is_none() && framing != Framing::UntilClose;
        Ok(Response { head, truncated, reusable })
    }
}
