//! One exchange at a time in HTTP/2.
//!
//! The connection's own work (settings, pings, windows) is done by whoever waits for a response: no task runs beside
//! the fetch, and an idle connection costs nothing. Floods end in three ways: the library closes connections that reset
//! streams or continue heads without end, time limits run on the response and not on frames, and the wire allowance
//! ([`Metered`](crate::tls::Metered)) is refilled only by bytes of the body.
//!
//! A response's head is stored in the form of HTTP/1.1, so that everything behind the fetch reads one format.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use h2::client::{Builder, SendRequest};

use super::transport::OVERHEAD_BYTES;
use super::{Response, Terms, Transport};
use crate::Failure;
use crate::exchange::Timings;
use crate::http::{Head, Truncation, head_end};
use crate::spill::{Spill, make_room};
use crate::tls::Allowance;

/// What a server may send before we have read it.
const WINDOW_BYTES: u32 = 256 * 1024;
/// Frames without bytes in a body before it counts as broken.
const EMPTY_FRAMES_MAX: u32 = 64;
/// Wire bytes that one frame of the body may cost besides its bytes.
const FRAME_BYTES: u64 = 64;

/// A connection in HTTP/2.
pub(super) struct Http2 {
    sender: SendRequest<Bytes>,
    driver: h2::client::Connection<Transport, Bytes>,
    allowance: Option<Allowance>,
}

impl std::fmt::Debug for Http2 {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Http2").finish_non_exhaustive()
    }
}

impl Http2 {
    pub(super) async fn new(transport: Transport, terms: &Terms<'_>) -> Result<Http2, Failure> {
        let allowance = match &transport {
            Transport::Tls(stream) => Some(stream.get_ref().0.allowance.clone()),
            Transport::Plain(_) => None,
        };
        transport.allow(terms.limits);
        let shaking = Builder::new()
            .enable_push(false)
            .initial_window_size(WINDOW_BYTES)
            .initial_connection_window_size(WINDOW_BYTES)
            .max_header_list_size(u32::try_from(terms.limits.head_bytes_max).unwrap_or(u32::MAX))
            .handshake(transport);
        match terms.clock.timeout(terms.wait(terms.limits.handshake), shaking).await {
            Ok(Ok((sender, driver))) => Ok(Http2 { sender, driver, allowance }),
            Ok(Err(error)) => Err(failure(&error)),
            Err(_) => Err(Failure::TlsTimeout),
        }
    }

    /// Lets the connection do what it has to; true if it is over.
    pub(super) async fn is_stale(&mut self) -> bool {
        poll_fn(|cx| {
            let over = Pin::new(&mut self.driver).poll(cx).is_ready();
            Poll::Ready(over || matches!(self.sender.poll_ready(cx), Poll::Ready(Err(_))))
        })
        .await
    }

    pub(super) async fn exchange(
        &mut self,
        request: &[u8],
        buffer: &mut Vec<u8>,
        spill: &mut Spill,
        terms: &Terms<'_>,
        timings: &mut Timings,
    ) -> Result<Response, Failure> {
        let Http2 { sender, driver, allowance } = self;
        let allow = |bytes: u64| allowance.iter().for_each(|allowance| allowance.add(bytes));
        allowance.iter().for_each(|allowance| allowance.set(OVERHEAD_BYTES));
        let request = translate(request, terms.secret.is_some()).ok_or(Failure::Protocol)?;
        let asked = drive(driver, async {
            let mut ready = sender.clone().ready().await?;
            let (response, _) = ready.send_request(request, true)?;
            response.await
        });
        let response = match terms.clock.timeout(terms.wait(terms.limits.first_byte), asked).await {
            Ok(Some(Ok(response))) => response,
            Ok(Some(Err(error))) => return Err(failure(&error)),
            Ok(None) => return Err(Failure::Disconnected),
            Err(_) => return Err(Failure::FirstByteTimeout),
        };
        let begun = terms.clock.now();
        timings.first_byte = Some(begun);
        let (parts, mut body) = response.into_parts();
        write_head(&parts, buffer);
        if buffer.len() > terms.limits.head_bytes_max {
            return Err(Failure::HeadTooLarge);
        }
        let head = Head::parse(buffer, head_end(buffer, 0).ok_or(Failure::Protocol)?)?;
        let longest = |spill: &Spill| head.len.saturating_add(terms.body_bytes_max) - spill.len;
        let mut empty_frames = 0;
        let truncated = loop {
            if terms.is_too_slow(begun, spill.len + buffer.len() - head.len) {
                break Some(Truncation::Time);
            }
            let data = drive(driver, poll_fn(|cx| body.poll_data(cx)));
            match terms.clock.timeout(terms.wait(terms.limits.idle), data).await {
                Ok(Some(Some(Ok(data)))) => {
                    empty_frames += u32::from(data.is_empty());
                    if empty_frames > EMPTY_FRAMES_MAX {
                        break Some(Truncation::Disconnect);
                    }
                    allow(data.len() as u64 + FRAME_BYTES);
                    make_room(buffer, data.len());
                    buffer.extend_from_slice(&data);
                    // The window is ours to give; an error means that the stream is over, which the next read tells.
                    let _ = body.flow_control().release_capacity(data.len());
                }
                Ok(Some(None)) => break None,
                Ok(Some(Some(Err(_))) | None) => break Some(Truncation::Disconnect),
                Err(_) => break Some(Truncation::Time),
            }
            let end = buffer.len();
            if end > longest(spill) {
                break Some(Truncation::Length);
            }
            if spill.relieve(terms.spills, buffer, head.len..end) {
                tokio::task::yield_now().await;
            }
        };
        buffer.truncate(longest(spill));
        // A body that was cut leaves a stream that is still sending; the connection is dropped, undrained.
        Ok(Response { head, truncated, reusable: truncated.is_none() })
    }
}

/// Waits for `work` while the connection is kept going; `None` if the connection ended without it.
async fn drive<T>(
    driver: &mut h2::client::Connection<Transport, Bytes>,
    work: impl Future<Output = T>,
) -> Option<T> {
    let mut work = std::pin::pin!(work);
    poll_fn(|cx: &mut Context<'_>| {
        if let Poll::Ready(done) = work.as_mut().poll(cx) {
            return Poll::Ready(Some(done));
        }
        let over = Pin::new(&mut *driver).poll(cx).is_ready();
        // What the connection has just read may be what is waited for.
        match work.as_mut().poll(cx) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending if over => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

/// The request in the library's form. The scheme is always `https`: HTTP/2 is only agreed on there. Values that are `secret` are kept out of the
/// tables of its compression, and of what it logs.
fn translate(request: &[u8], secret: bool) -> Option<http::Request<()>> {
    let mut fields = [httparse::EMPTY_HEADER; 64];
    let mut parsed = httparse::Request::new(&mut fields);
    parsed.parse(request).ok()?;
    let host = parsed.headers.iter().find(|field| field.name == "Host")?;
    let uri = http::Uri::builder()
        .scheme("https")
        .authority(host.value)
        .path_and_query(parsed.path?)
        .build()
        .ok()?;
    let mut builder = http::Request::builder().method("GET").uri(uri).version(http::Version::HTTP_2);
    for field in parsed.headers.iter().filter(|field| field.name != "Host") {
        let mut value = http::HeaderValue::from_bytes(field.value).ok()?;
        value.set_sensitive(secret);
        builder = builder.header(field.name, value);
    }
    builder.body(()).ok()
}

fn write_head(parts: &http::response::Parts, buffer: &mut Vec<u8>) {
    let reason = parts.status.canonical_reason().unwrap_or_default();
    buffer.extend_from_slice(format!("HTTP/1.1 {} {reason}\r\n", parts.status.as_str()).as_bytes());
    for (name, value) in &parts.headers {
        buffer.extend_from_slice(name.as_str().as_bytes());
        buffer.extend_from_slice(b": ");
        buffer.extend_from_slice(value.as_bytes());
        buffer.extend_from_slice(b"\r\n");
    }
    buffer.extend_from_slice(b"\r\n");
}

fn failure(error: &h2::Error) -> Failure {
    let polite = matches!(error.reason(), Some(h2::Reason::NO_ERROR | h2::Reason::REFUSED_STREAM));
    match error.is_io() || polite {
        true => Failure::Disconnected,
        false => Failure::Protocol,
    }
}
