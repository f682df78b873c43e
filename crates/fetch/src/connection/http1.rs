//! One exchange in HTTP/1.1. Request out, head in, body in; every wait has a limit and every buffer an end.

use std::future::poll_fn;
use std::io::ErrorKind;
use std::pin::Pin;
use std::task::Poll;

use mattock_env::Time;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, ReadBuf};

use super::{Response, Terms, Transport};
use crate::Failure;
use crate::exchange::Timings;
use crate::http::{Chunks, Framing, Head, Progress, Truncation, head_end, may_be_http};
use crate::spill::{HELD_BYTES_MAX, Spill, make_room};

/// Bytes that are asked for in one read.
const READ_BYTES: usize = 32 * 1024;
/// A body of known length gets its room at once, up to this: a length costs a server nothing to claim.
const RESERVE_BYTES_MAX: usize = 1024 * 1024;

pub(super) async fn is_stale(transport: &mut Transport) -> bool {
    poll_fn(|cx| {
        let mut byte = [0];
        let ready = Pin::new(&mut *transport).poll_read(cx, &mut ReadBuf::new(&mut byte)).is_ready();
        Poll::Ready(ready)
    })
    .await
}

pub(super) async fn exchange(
    transport: &mut Transport,
    request: &[u8],
    buffer: &mut Vec<u8>,
    spill: &mut Spill,
    terms: &Terms<'_>,
    timings: &mut Timings,
) -> Result<Response, Failure> {
    transport.allow(terms.limits);
    let head = ask(transport, request, buffer, terms, timings).await?;
    read_body(transport, head, buffer, spill, terms).await
}

/// Sends a request and reads the response's head; the beginning of the body may be in the buffer too.
pub(super) async fn ask(
    transport: &mut Transport,
    request: &[u8],
    buffer: &mut Vec<u8>,
    terms: &Terms<'_>,
    timings: &mut Timings,
) -> Result<Head, Failure> {
    let send = async {
        transport.write_all(request).await?;
        // A secured stream may hold the last record back; a bare one holds nothing.
        match transport {
            Transport::Plain(_) => Ok(()),
            Transport::Tls(stream) => stream.flush().await,
        }
    };
    match terms.within(terms.limits.first_byte, send).await {
        Ok(Ok(())) => {}
        Ok(Err(_)) => return Err(Failure::Disconnected),
        Err(_) => return Err(Failure::FirstByteTimeout),
    }
    read_head(transport, buffer, terms, timings).await
}

async fn read_head(
    transport: &mut Transport,
    buffer: &mut Vec<u8>,
    terms: &Terms<'_>,
    timings: &mut Timings,
) -> Result<Head, Failure> {
    let mut interims = 0;
    let mut searched = 0;
    loop {
        if !may_be_http(buffer) {
            return Err(Failure::Protocol);
        }
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
        let (wait, late) = match timings.first_byte {
            None => (terms.wait(terms.limits.first_byte), Failure::FirstByteTimeout),
            Some(first) => {
                let deadline = first + terms.limits.head;
                (terms.wait(Time::since(deadline, terms.clock.now())), Failure::HeadTimeout)
            }
        };
        buffer.reserve(READ_BYTES);
        match terms.clock.timeout(wait, transport.read_buf(buffer)).await {
            Ok(Ok(0) | Err(_)) => return Err(Failure::Disconnected),
            Ok(Ok(_)) => {}
            Err(_) => return Err(late),
        }
        timings.first_byte.get_or_insert_with(|| terms.clock.now());
    }
}

async fn read_body(
    transport: &mut Transport,
    head: Head,
    buffer: &mut Vec<u8>,
    spill: &mut Spill,
    terms: &Terms<'_>,
) -> Result<Response, Failure> {
    let framing = head.framing(buffer)?;
    let start = head.len;
    // One byte more than allowed must be seen before a body counts as cut.
    let longest = start.saturating_add(terms.body_bytes_max);
    let room_max = if terms.spills.is_some() { HELD_BYTES_MAX } else { RESERVE_BYTES_MAX };
    let chunks = Chunks::new(start);
    let mut body = Body { framing, start, longest, room_max, chunks, clean: head.keeps_alive(buffer) };
    let mut begun = None;
    let truncated = loop {
        match body.step(buffer) {
            Step::Done(truncated) => break truncated,
            Step::Read(room) => {
                if body.relieve(buffer, spill, terms) {
                    // Others have their turn: a quick server could keep us here for long.
                    tokio::task::yield_now().await;
                }
                make_room(buffer, room);
            }
        }
        let begun = *begun.get_or_insert_with(|| terms.clock.now());
        if terms.is_too_slow(begun, spill.len + buffer.len() - start) {
            break Some(Truncation::Time);
        }
        match terms.clock.timeout(terms.wait(terms.limits.idle), transport.read_buf(buffer)).await {
            Ok(Ok(0)) if framing == Framing::UntilClose => break None,
            // Many servers end a secured stream without saying so; only the body's framing could have told.
            Ok(Err(error)) if framing == Framing::UntilClose && error.kind() == ErrorKind::UnexpectedEof => {
                break None;
            }
            Ok(Ok(0) | Err(_)) => break Some(Truncation::Disconnect),
            Ok(Ok(_)) => {}
            Err(_) => break Some(Truncation::Time),
        }
    };
    if framing == Framing::Chunked {
        buffer.truncate(body.chunks.decoded);
    }
    buffer.truncate(body.longest);
    let reusable = body.clean && truncated.is_none() && framing != Framing::UntilClose;
    Ok(Response { head, truncated, reusable })
}

/// A body on its way in. Places are those in the buffer: what is spilled makes the rest of it shorter.
struct Body {
    /// Of what is not spilled.
    framing: Framing,
    start: usize,
    longest: usize,
    room_max: usize,
    chunks: Chunks,
    /// Whether the connection can be used again after it.
    clean: bool,
}

enum Step {
    /// Bytes are missing; make room for so many.
    Read(usize),
    Done(Option<Truncation>),
}

impl Body {
    /// Looks at what has come so far.
    fn step(&mut self, buffer: &mut Vec<u8>) -> Step {
        let mut end = buffer.len();
        let mut room = READ_BYTES;
        match self.framing {
            Framing::Empty => return self.ends_at(self.start, buffer),
            Framing::Length(length) => {
                let whole = self.start.saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
                if whole <= self.longest && buffer.len() >= whole {
                    return self.ends_at(whole, buffer);
                }
                room = whole.min(self.longest + 1).saturating_sub(end).clamp(1, self.room_max);
            }
            Framing::Chunked => {
                let progress = self.chunks.advance(buffer);
                end = self.chunks.decoded;
                match progress {
                    // What comes behind the limit does not matter, however much of it one read brought.
                    _ if end > self.longest => return Step::Done(Some(Truncation::Length)),
                    Progress::More => {}
                    Progress::Done { clean } => {
                        self.clean &= clean;
                        return Step::Done(None);
                    }
                    Progress::Broken => return Step::Done(Some(Truncation::Disconnect)),
                }
            }
            Framing::UntilClose => {}
        }
        match end > self.longest {
            true => Step::Done(Some(Truncation::Length)),
            false => Step::Read(room),
        }
    }

    /// Spills what there is if it is much; whether it did.
    fn relieve(&mut self, buffer: &mut Vec<u8>, spill: &mut Spill, terms: &Terms<'_>) -> bool {
        let end = if self.framing == Framing::Chunked { self.chunks.decoded } else { buffer.len() };
        if !spill.relieve(terms.spills, buffer, self.start..end) {
            return false;
        }
        let spilled = end - self.start;
        self.longest -= spilled;
        match &mut self.framing {
            Framing::Length(length) => *length -= spilled as u64,
            Framing::Chunked => self.chunks.spilled(spilled),
            Framing::Empty | Framing::UntilClose => {}
        }
        true
    }

    /// The body ends here; what is behind it was not asked for.
    fn ends_at(&mut self, end: usize, buffer: &mut Vec<u8>) -> Step {
        self.clean &= buffer.len() == end;
        buffer.truncate(end);
        Step::Done(None)
    }
}
