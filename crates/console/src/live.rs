//! What the pages watch: a reading a second, the last ten minutes of them, and a stream of updates.
//!
//! One task reads the crawl's gauges once a second, whoever looks; an update is put into words only while somebody reads the stream,
//! and once for all of them. A reader that is slow misses updates and gets the newest.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::BodyExt;
use hyper::body::Frame;
use mattock_env::Env;
use serde::Serialize;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use crate::answer::{Body, Problem, secure};
use crate::desk::Desk;

const EVERY: Duration = Duration::from_secs(1);
/// Readings that are kept: ten minutes.
const KEPT: usize = 600;
/// Streams at once.
const STREAMS_MAX: u64 = 16;

/// Rates over one second, and what waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Sample {
    pub(crate) unix: f64,
    pub(crate) pages_per_s: f64,
    pub(crate) bytes_per_s: f64,
    pub(crate) errors_per_s: f64,
    pub(crate) queued: u64,
    pub(crate) in_flight: u64,
}

/// The readings of the last minutes.
#[derive(Debug, Default)]
struct History {
    samples: VecDeque<Sample>,
}

/// The task and what it fills.
pub(crate) struct Live {
    history: Arc<Mutex<History>>,
    updates: watch::Receiver<Bytes>,
    readers: Arc<AtomicU64>,
    task: JoinHandle<()>,
}

impl Drop for Live {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Live {
    /// Begins to read. Must be called inside [`mattock_env::run`].
    pub(crate) fn begin(env: &Env, desk: Arc<Desk>) -> Live {
        let history = Arc::new(Mutex::new(History::default()));
        let (sender, updates) = watch::channel(Bytes::new());
        let readers = Arc::new(AtomicU64::new(0));
        let task = read(env.clone(), desk, history.clone(), readers.clone(), sender);
        Live { history, updates, readers, task: tokio::task::spawn_local(task) }
    }

    /// The readings of the last ten minutes, the oldest first.
    pub(crate) fn history(&self) -> serde_json::Value {
        let history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        serde_json::json!({ "every_s": EVERY.as_secs(), "samples": history.samples })
    }

    /// A stream of server-sent events, one a second.
    pub(crate) fn stream(&self) -> Result<Response<Body>, Problem> {
        if self.readers.fetch_add(1, Ordering::Relaxed) >= STREAMS_MAX {
            self.readers.fetch_sub(1, Ordering::Relaxed);
            let detail = "too many streams are open; close one";
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "busy", detail));
        }
        let reader = Reader(self.readers.clone());
        let mut updates = self.updates.clone();
        let (sender, receiver) = mpsc::channel(1);
        tokio::task::spawn_local(async move {
            let _reader = reader;
            if sender.send(Bytes::from_static(b"retry: 2000\n\n")).await.is_err() {
                return;
            }
            loop {
                tokio::select! {
                    // The reader has gone.
                    () = sender.closed() => return,
                    changed = updates.changed() => if changed.is_err() { return },
                }
                let update = updates.borrow_and_update().clone();
                if !update.is_empty() && sender.send(update).await.is_err() {
                    return;
                }
            }
        });
        let mut response = Response::new(Updates(receiver).boxed_unsync());
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        secure(&mut response, false);
        Ok(response)
    }
}

/// One who reads a stream.
struct Reader(Arc<AtomicU64>);

impl Drop for Reader {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The body of a stream.
struct Updates(mpsc::Receiver<Bytes>);

impl hyper::body::Body for Updates {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|update| update.map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// Reads for ever.
async fn read(
    env: Env,
    desk: Arc<Desk>,
    history: Arc<Mutex<History>>,
    readers: Arc<AtomicU64>,
    updates: watch::Sender<Bytes>,
) {
    let mut before = desk.reading();
    let mut before_at = env.clock.now();
    let mut next = before_at;
    loop {
        next = (next + EVERY).max(env.clock.now());
        env.clock.sleep_until(next).await;
        let (reading, now) = (desk.reading(), env.clock.now());
        let seconds = now.since(before_at).as_secs_f64().max(0.001);
        let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
        let sample = Sample {
            unix: env.clock.unix().as_micros() as f64 / 1e6,
            pages_per_s: rate(reading.pages, before.pages),
            bytes_per_s: rate(reading.bytes, before.bytes),
            errors_per_s: rate(reading.errors, before.errors),
            queued: reading.queued,
            in_flight: reading.in_flight,
        };
        (before, before_at) = (reading, now);
        {
            let mut history = history.lock().unwrap_or_else(PoisonError::into_inner);
            if history.samples.len() == KEPT {
                history.samples.pop_front();
            }
            history.samples.push_back(sample);
        }
        if readers.load(Ordering::Relaxed) > 0 {
            let update = serde_json::json!({ "sample": sample, "snapshot": desk.snapshot() });
            updates.send_replace(Bytes::from(format!("event: update\ndata: {update}\n\n")));
        }
    }
}
