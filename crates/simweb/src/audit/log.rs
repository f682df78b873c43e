//! Writing the log: lines gather in a buffer and go to the file in blocks.
//!
//! A line costs a few hundred nanoseconds and no allocation. A write that fails ends the log, not the serving: the
//! first error is kept for [`AuditLog::finish`].

use std::cell::RefCell;
use std::io;
use std::net::Ipv4Addr;
use std::path::Path;
use std::rc::Rc;

use mattock_env::{Env, File, OpenMode, Time};
use tokio::sync::Notify;

use super::{AuditHeader, COLUMNS, Entry, MAGIC, is_robots};
use crate::ServeError;
use crate::http::push_number;

/// A buffer of this size is written without waiting for the timer.
const BLOCK_BYTES: usize = 256 * 1024;

/// The log under way. Clones are the same log; it belongs to one thread.
#[derive(Clone, Debug)]
pub struct AuditLog {
    shared: Rc<Shared>,
}

#[derive(Debug)]
struct Shared {
    path: String,
    start: Time,
    state: RefCell<State>,
    filled: Notify,
}

#[derive(Debug)]
struct State {
    file: File,
    offset: u64,
    buffer: Vec<u8>,
    /// The first failure; nothing is written after it, since the lines would be out of place.
    error: Option<io::Error>,
    failed: bool,
}

impl AuditLog {
    /// Makes the file (or empties it) and writes its first lines. Times in it count from now.
    pub fn create(env: &Env, path: &Path, header: &AuditHeader) -> Result<AuditLog, ServeError> {
        let name = path.display().to_string();
        let failed = |source| ServeError::Audit { path: name.clone(), source };
        let file = env.files.open(path, OpenMode::CreateOrTruncate).map_err(failed)?;
        let mut buffer = Vec::with_capacity(BLOCK_BYTES + 4096);
        buffer.extend_from_slice(MAGIC.as_bytes());
        serde_json::to_writer(&mut buffer, header).map_err(|error| failed(error.into()))?;
        buffer.push(b'\n');
        buffer.extend_from_slice(COLUMNS.as_bytes());
        let state = RefCell::new(State { file, offset: 0, buffer, error: None, failed: false });
        let shared = Shared { path: name, start: env.clock.now(), state, filled: Notify::new() };
        let log = AuditLog { shared: Rc::new(shared) };
        log.finish()?;
        Ok(log)
    }

    /// Adds one request.
    pub(crate) fn record(&self, entry: &Entry<'_>) {
        let mut state = self.shared.state.borrow_mut();
        if state.failed {
            return;
        }
        let out = &mut state.buffer;
        if out.is_empty() {
            self.shared.filled.notify_one();
        }
        let since_start = entry.time.as_nanos().saturating_sub(self.shared.start.as_nanos());
        push_number(out, since_start);
        out.push(b'\t');
        push_address(out, entry.server);
        out.push(b'\t');
        out.extend_from_slice(entry.host.as_bytes());
        out.push(b'\t');
        out.extend_from_slice(entry.path.as_bytes());
        out.push(b'\t');
        push_number(out, u64::from(entry.status));
        out.push(b'\t');
        push_number(out, entry.bytes);
        out.extend_from_slice(if entry.is_head { b"\tHEAD" } else { b"\tGET" });
        out.extend_from_slice(if is_robots(entry.path) { b"\trobots\n" } else { b"\tpage\n" });
        if out.len() >= BLOCK_BYTES {
            state.flush();
        }
    }

    /// Waits until a line has come since the buffer was last written out.
    pub(crate) async fn filled(&self) {
        self.shared.filled.notified().await;
    }

    /// Hands what is in the buffer to the file system.
    pub(crate) fn flush(&self) {
        self.shared.state.borrow_mut().flush();
    }

    /// Hands over what is left; an error if this or anything before it failed.
    pub(crate) fn finish(&self) -> Result<(), ServeError> {
        let mut state = self.shared.state.borrow_mut();
        state.flush();
        match state.error.take() {
            Some(source) => Err(ServeError::Audit { path: self.shared.path.clone(), source }),
            None => Ok(()),
        }
    }
}

impl State {
    fn flush(&mut self) {
        if !self.failed && !self.buffer.is_empty() {
            match self.file.write_all_at(&self.buffer, self.offset) {
                Ok(()) => self.offset += self.buffer.len() as u64,
                Err(error) => {
                    tracing::error!(%error, "the audit log cannot be written and ends here");
                    self.error = Some(error);
                    self.failed = true;
                }
            }
        }
        self.buffer.clear();
    }
}

impl Drop for State {
    fn drop(&mut self) {
        // For a server that was dropped without being stopped; whoever wants to know of errors stops it.
        self.flush();
    }
}

fn push_address(out: &mut Vec<u8>, address: Ipv4Addr) {
    let [a, b, c, d] = address.octets();
    push_number(out, u64::from(a));
    for octet in [b, c, d] {
        out.push(b'.');
        push_number(out, u64::from(octet));
    }
}
