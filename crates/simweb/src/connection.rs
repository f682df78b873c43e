//! One connection: requests in, answers out, in order, until one side has had enough.
//!
//! The acceptor fills it with a stream, the peer with bytes; the answers come from [`Web::answer`]. All connections
//! run on one thread and share one [`Service`]: the web, the clock, the audit log, and a few pairs of buffers for answers
//! that pass from one connection to the next. So a connection that waits for its next request holds only its
//! input buffer (1 KiB as a rule), and a request on the steady path allocates nothing.
//!
//! Invariants: a request is written to the audit log in the same step in which it is read, hence in order of time;
//! an answer leaves in one write, if the socket takes it.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use mattock_env::{Clock, Stream, Time};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_rustls::server::TlsStream;

use crate::audit::{AuditLog, Entry};
use crate::http::{self, DATE_BYTES, Method, Parsed, RequestHead, ResponseHead};
use crate::script::{End, Script};
use crate::secure::Replayed;
use crate::web::Web;
use crate::world::{Answer, Behaviour, EPOCH_UNIX_S, Request};

/// A connection without a request, or a peer that takes no bytes of an answer, is given up after this time.
pub(crate) const IDLE: Duration = Duration::from_secs(60);
/// How long a refused peer may go on sending before the connection is cut; a cut with bytes unread would be a reset,
/// which can overtake the refusal.
const LINGER: Duration = Duration::from_secs(1);
const INPUT_BYTES: usize = 1024;
/// The first byte of a TLS handshake, and of no HTTP request.
const TLS_HANDSHAKE: u8 = 0x16;
/// Pairs of buffers that are kept; more are made when more answers are under way, and dropped after.
const BUFFERS_MAX: usize = 64;
/// A buffer that grew beyond this is not kept.
const BUFFER_BYTES_MAX: usize = 1 << 20;

/// How far the time of the world is from the clock's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorldTime {
    pub(crate) start: Time,
    pub(crate) scale: f64,
}

impl WorldTime {
    fn seconds(&self, now: Time) -> u64 {
        (now.since(self.start).as_nanos() as f64 * self.scale / 1e9) as u64
    }
}

/// What all connections share.
pub(crate) struct Service<W> {
    pub(crate) web: Arc<W>,
    pub(crate) clock: Clock,
    pub(crate) time: WorldTime,
    pub(crate) audit: Option<AuditLog>,
    pub(crate) requests: Rc<Cell<u64>>,
    pub(crate) bytes: Rc<Cell<u64>>,
    buffers: RefCell<Vec<Buffers>>,
    date: RefCell<Date>,
}

#[derive(Default)]
struct Buffers {
    head: Vec<u8>,
    body: Vec<u8>,
}

/// The `Date` line's text, made anew when the second changes.
struct Date {
    unix_s: u64,
    text: [u8; DATE_BYTES],
}

impl Date {
    fn at(&mut self, unix_s: u64) -> &[u8; DATE_BYTES] {
        if self.unix_s != unix_s {
            let mut text = Vec::with_capacity(DATE_BYTES);
            http::push_date(&mut text, unix_s);
            self.text.copy_from_slice(&text);
            self.unix_s = unix_s;
        }
        &self.text
    }
}

/// What remains to be done once an answer lies in the buffers.
struct Outcome {
    delay_ms: u32,
    behaviour: Behaviour,
    with_body: bool,
    keep_alive: bool,
}

impl<W: Web> Service<W> {
    pub(crate) fn new(web: Arc<W>, clock: Clock, time: WorldTime, audit: Option<AuditLog>) -> Service<W> {
        let date = RefCell::new(Date { unix_s: u64::MAX, text: [b' '; DATE_BYTES] });
        Service {
            web,
            clock,
            time,
            audit,
            requests: Rc::default(),
            bytes: Rc::default(),
            buffers: RefCell::default(),
            date,
        }
    }

    fn take_buffers(&self) -> Buffers {
        self.buffers.borrow_mut().pop().unwrap_or_default()
    }

    fn give_back(&self, mut buffers: Buffers) {
        let mut kept = self.buffers.borrow_mut();
        if kept.len() < BUFFERS_MAX && buffers.body.capacity() <= BUFFER_BYTES_MAX {
            buffers.head.clear();
            buffers.body.clear();
            kept.push(buffers);
        }
    }

    /// Answers one request into `buffers` and writes it down in the log.
    fn respond(&self, head: &RequestHead<'_>, host: &KnownHost, now: Time, buffers: &mut Buffers) -> Outcome {
        let time_s = self.time.seconds(now);
        let answer = if host.is_here {
            let request = Request {
                host: &host.name,
                path_and_query: head.target,
                user_agent: head.user_agent,
                if_none_match: head.if_none_match,
                if_modified_since_s: head
                    .if_modified_since_s
                    .and_then(|since_s| since_s.checked_sub(EPOCH_UNIX_S)),
            };
            self.web.answer(&request, time_s, &mut buffers.body)
        } else {
            plain(421, &mut buffers.body)
        };
        let responds = answer.behaviour == Behaviour::Respond;
        let with_body = head.method == Method::Get && answer.status != 304;
        if responds {
            self.write_head(&answer, time_s, head.keep_alive, head.old, buffers);
        }
        let bytes = match (responds, with_body) {
            (false, _) => 0,
            (true, false) => buffers.head.len(),
            (true, true) => buffers.head.len() + buffers.body.len(),
        };
        self.record(&Entry {
            time: now,
            server: host.server,
            host: &host.name,
            path: head.target,
            status: match answer.behaviour {
                Behaviour::Respond | Behaviour::Script(_) => answer.status,
                Behaviour::Reset | Behaviour::Silent => 0,
            },
            bytes: bytes as u64,
            is_head: head.method == Method::Head,
        });
        Outcome {
            delay_ms: answer.delay_ms,
            behaviour: answer.behaviour,
            with_body,
            keep_alive: head.keep_alive,
        }
    }

    /// Answers what is no request that could be served.
    fn refuse(&self, status: u16, server: Ipv4Addr, now: Time, buffers: &mut Buffers) {
        let answer = plain(status, &mut buffers.body);
        self.write_head(&answer, self.time.seconds(now), false, false, buffers);
        let bytes = (buffers.head.len() + buffers.body.len()) as u64;
        self.record(&Entry { time: now, server, host: "-", path: "-", status, bytes, is_head: false });
    }

    fn write_head(&self, answer: &Answer, time_s: u64, keep_alive: bool, old: bool, buffers: &mut Buffers) {
        let mut date = self.date.borrow_mut();
        let head = ResponseHead {
            status: answer.status,
            date: date.at(EPOCH_UNIX_S + time_s),
            content_type: answer.content_type,
            content_length: buffers.body.len(),
            location: answer.location.as_deref(),
            retry_after_s: answer.retry_after_s,
            etag: answer.etag.map(|tag| tag.0),
            last_modified_s: answer.last_modified_s.map(|since_s| EPOCH_UNIX_S + since_s),
            keep_alive,
            old,
        };
        buffers.head.clear();
        head.write(&mut buffers.head);
    }

    fn record(&self, entry: &Entry<'_>) {
        self.requests.set(self.requests.get() + 1);
        self.bytes.set(self.bytes.get() + entry.bytes);
        if let Some(audit) = &self.audit {
            audit.record(entry);
        }
    }
}

/// An answer of the server itself.
fn plain(status: u16, body: &mut Vec<u8>) -> Answer {
    body.clear();
    body.extend_from_slice(http::reason(status).as_bytes());
    body.push(b'\n');
    Answer::new(status, "text/plain")
}

/// The host that the connection's last request named, so that the next one for it need not be resolved.
struct KnownHost {
    server: Ipv4Addr,
    /// As the `Host` line had it.
    written: String,
    /// Lower case, without port.
    name: String,
    /// Whether that host lives on the address that the peer connected to.
    is_here: bool,
}

impl KnownHost {
    fn update(&mut self, written: &str, web: &impl Web) {
        if self.written == written {
            return;
        }
        self.written.clear();
        self.written.push_str(written);
        self.name.clear();
        self.name.push_str(http::without_port(written));
        self.name.make_ascii_lowercase();
        self.is_here = web.lives_at(&self.name, self.server);
    }
}

/// What requests come over.
trait Wire: AsyncRead + AsyncWrite + Unpin {
    /// Ends it without a word, where that is possible.
    fn reset(self);
}

impl Wire for Stream {
    fn reset(self) {
        Stream::reset(self);
    }
}

impl Wire for TlsStream<Replayed> {
    fn reset(self) {}
}

/// A connection that began with a TLS handshake instead of a request.
struct Greeted<S> {
    stream: S,
    /// What was read of it.
    greeting: Vec<u8>,
    /// What it would be told in plain HTTP.
    status: u16,
}

/// Serves one connection to its end.
pub(crate) async fn run<W: Web>(service: Rc<Service<W>>, stream: Stream, local: IpAddr) {
    let IpAddr::V4(server) = local else { return };
    let Some(Greeted { mut stream, greeting, status }) = converse(&service, stream, server).await else {
        return;
    };
    if let Some(script) = service.web.handshake(server) {
        perform(&service.clock, stream, &script).await;
    } else if let Some(security) = service.web.security(server) {
        if let Some(stream) = security.accept(&service.clock, stream, greeting).await {
            // Whoever greets inside is not answered.
            converse(&service, stream, server).await;
        }
    } else {
        refuse(&service, &mut stream, status, server).await;
    }
}

/// Tells a peer that it is not understood, and closes.
async fn refuse<W: Web>(service: &Service<W>, stream: &mut impl Wire, status: u16, server: Ipv4Addr) {
    let mut buffers = service.take_buffers();
    service.refuse(status, server, service.clock.now(), &mut buffers);
    let written = write(&service.clock, stream, &buffers.head, &buffers.body).await;
    service.give_back(buffers);
    if written.is_ok() {
        close(&service.clock, stream).await;
    }
}

/// Answers requests until the connection ends or turns out to begin with a handshake.
async fn converse<W: Web, S: Wire>(
    service: &Service<W>,
    mut stream: S,
    server: Ipv4Addr,
) -> Option<Greeted<S>> {
    let mut host = KnownHost { server, written: String::new(), name: String::new(), is_here: false };
    let mut input = Vec::with_capacity(INPUT_BYTES);
    let mut start = 0;
    let mut active = service.clock.now();
    // One timer for the connection's life: it is looked at again when it fires, not moved with every request.
    let mut idle = pin!(service.clock.sleep(IDLE));
    loop {
        match http::parse(&input[start..]) {
            Parsed::Partial => {
                input.drain(..start);
                start = 0;
                let read = loop {
                    tokio::select! {
                        biased;
                        read = stream.read_buf(&mut input) => break read,
                        () = &mut idle => {
                            if service.clock.now().since(active) >= IDLE {
                                return None;
                            }
                            idle.set(service.clock.sleep((active + IDLE).since(service.clock.now())));
                        }
                    }
                };
                if !matches!(read, Ok(count) if count > 0) {
                    return None;
                }
            }
            Parsed::Request(head) => {
                active = service.clock.now();
                host.update(head.host, &*service.web);
                let mut buffers = service.take_buffers();
                let outcome = service.respond(&head, &host, active, &mut buffers);
                start += head.len;
                if outcome.delay_ms > 0 {
                    service.clock.sleep(Duration::from_millis(u64::from(outcome.delay_ms))).await;
                }
                match outcome.behaviour {
                    Behaviour::Respond => {}
                    Behaviour::Reset => {
                        stream.reset();
                        return None;
                    }
                    Behaviour::Silent => {
                        service.give_back(buffers);
                        drain(&mut stream).await;
                        return None;
                    }
                    Behaviour::Script(script) => {
                        service.give_back(buffers);
                        stream = perform(&service.clock, stream, &script).await?;
                        active = service.clock.now();
                        continue;
                    }
                }
                let body = if outcome.with_body { &buffers.body[..] } else { &[] };
                let written = write(&service.clock, &mut stream, &buffers.head, body).await;
                service.give_back(buffers);
                if written.is_err() {
                    return None;
                }
                if !outcome.keep_alive {
                    close(&service.clock, &mut stream).await;
                    return None;
                }
            }
            Parsed::Refused(status) => {
                if input.get(start) == Some(&TLS_HANDSHAKE) {
                    return Some(Greeted { stream, greeting: input.split_off(start), status });
                }
                refuse(service, &mut stream, status, server).await;
                return None;
            }
        }
    }
}

/// Performs a script to its end; returns the connection if it can go on.
async fn perform<S: Wire>(clock: &Clock, mut stream: S, script: &Script) -> Option<S> {
    // A peer that left has not waited for the end.
    script.perform(clock, &mut stream).await.ok()?;
    match script.end {
        End::Keep => return Some(stream),
        End::Close => close(clock, &mut stream).await,
        End::Reset => stream.reset(),
        End::Hang => drain(&mut stream).await,
    }
    None
}

/// Writes head and body, with one call where the socket has room for both.
async fn write(clock: &Clock, stream: &mut impl Wire, head: &[u8], body: &[u8]) -> io::Result<()> {
    let total = head.len() + body.len();
    let mut done = 0;
    while done < total {
        let parts = [&head[done.min(head.len())..], &body[done.saturating_sub(head.len())..]];
        let parts = parts.map(io::IoSlice::new);
        let written = poll_fn(|cx| Pin::new(&mut *stream).poll_write_vectored(cx, &parts));
        let count = clock.timeout(IDLE, written).await.map_err(|_| io::ErrorKind::TimedOut)??;
        if count == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        done += count;
    }
    // What is encrypted may still lie in a buffer.
    stream.flush().await
}

/// Ends the connection such that the peer gets to read the last answer.
async fn close(clock: &Clock, stream: &mut impl Wire) {
    if stream.shutdown().await.is_ok() {
        // Whether the peer left or the time was up makes no difference.
        let _ = clock.timeout(LINGER, drain(stream)).await;
    }
}

/// Reads until the peer leaves.
async fn drain(stream: &mut impl Wire) {
    let mut scrap = [0; 256];
    while matches!(stream.read(&mut scrap).await, Ok(count) if count > 0) {}
}
