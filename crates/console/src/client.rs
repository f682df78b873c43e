//! Asks a running crawl through its socket: the other side of `mattock ctl`.
//!
//! One request per connection, in plain blocking calls: a command asks once and ends.

use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mattock_env::Env;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::ConsoleError;

/// Where a crawl listens, in its directory.
pub const SOCKET: &str = "control.sock";

/// Longer than anything that is asked takes.
const PATIENCE: Duration = Duration::from_secs(120);
/// The longest path that a socket can have everywhere, with its end.
const PATH_BYTES_MAX: usize = 100;

/// A running crawl.
#[derive(Clone, Debug)]
pub struct Client {
    directory: PathBuf,
}

impl Client {
    /// Where the crawl is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The crawl in this directory.
    pub fn new(directory: &Path) -> Client {
        Client { directory: directory.to_path_buf() }
    }

    /// Asks for something.
    pub fn get(&self, path: &str) -> Result<Value, ConsoleError> {
        self.ask("GET", path, "")
    }

    /// Asks for a change.
    pub fn post(&self, path: &str, body: &Value) -> Result<Value, ConsoleError> {
        self.ask("POST", path, &body.to_string())
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> Result<Value, ConsoleError> {
        let mut stream = self.connect()?;
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Mattock: 1\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let talk = |error: io::Error| ConsoleError::Talk(error.to_string());
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).map_err(talk)?;
        let mut response = Vec::new();
        stream.read_to_end(&mut response).map_err(talk)?;
        let (status, body) =
            parse(&response).ok_or_else(|| ConsoleError::Talk("its answer is no HTTP".into()))?;
        let value: Value =
            serde_json::from_slice(&body).map_err(|error| ConsoleError::Talk(error.to_string()))?;
        if (200..300).contains(&status) {
            return Ok(value);
        }
        let word = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or("unknown").to_owned();
        Err(ConsoleError::Refused { error: word("error"), detail: word("detail") })
    }

    fn connect(&self) -> Result<UnixStream, ConsoleError> {
        let path = self.directory.join(SOCKET);
        let nobody = || ConsoleError::NotRunning { path: self.directory.clone() };
        let stream = ShortPath::of(&path).and_then(|short| UnixStream::connect(short.as_path()));
        let stream = stream.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused | io::ErrorKind::NotADirectory => {
                nobody()
            }
            _ => ConsoleError::Socket { path: path.clone(), source: error },
        })?;
        let timeouts =
            stream.set_read_timeout(Some(PATIENCE)).and_then(|()| stream.set_write_timeout(Some(PATIENCE)));
        timeouts.map_err(|error| ConsoleError::Talk(error.to_string()))?;
        Ok(stream)
    }
}

/// Reads the stream of a console at a port, and counts: for whoever measures what that costs.
#[derive(Debug)]
pub struct Updates {
    counts: Arc<(AtomicU64, AtomicU64)>,
}

impl Updates {
    /// Begins to read, on a thread that ends with the console.
    pub fn follow(env: &Env, address: SocketAddr) -> Updates {
        let counts: Arc<(AtomicU64, AtomicU64)> = Arc::default();
        let (net, kept) = (env.net.clone(), counts.clone());
        std::thread::spawn(move || {
            mattock_env::run(async move {
                let Ok(mut stream) = net.connect(address).await else { return };
                let request = format!("GET /api/v1/live HTTP/1.1\r\nHost: {address}\r\n\r\n");
                if stream.write_all(request.as_bytes()).await.is_err() {
                    return;
                }
                let mut buffer = [0; 16 << 10];
                while let Ok(count @ 1..) = stream.read(&mut buffer).await {
                    // One is cut in two now and then, and counted once all the same.
                    let begun = buffer[..count].windows(7).filter(|window| window == b"\ndata: ").count();
                    kept.0.fetch_add(begun as u64, Ordering::Relaxed);
                    kept.1.fetch_add(count as u64, Ordering::Relaxed);
                }
            });
        });
        Updates { counts }
    }

    /// Updates so far, and bytes.
    pub fn counted(&self) -> (u64, u64) {
        (self.counts.0.load(Ordering::Relaxed), self.counts.1.load(Ordering::Relaxed))
    }
}

/// Status and body of a whole response.
fn parse(response: &[u8]) -> Option<(u16, Vec<u8>)> {
    let end = response.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&response[..end]).ok()?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let chunked = head.lines().any(|line| line.eq_ignore_ascii_case("transfer-encoding: chunked"));
    let body = &response[end + 4..];
    Some((status, if chunked { unchunked(body)? } else { body.to_vec() }))
}

fn unchunked(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = rest.windows(2).position(|window| window == b"\r\n")?;
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..line]).ok()?.trim(), 16).ok()?;
        if size == 0 {
            return Some(body);
        }
        let start = line + 2;
        body.extend_from_slice(rest.get(start..start.checked_add(size)?)?);
        rest = rest.get(start + size + 2..)?;
    }
}

/// A path that fits into the address of a socket: that of a deep directory goes through a handle of it.
pub(crate) struct ShortPath {
    path: PathBuf,
    _directory: Option<std::fs::File>,
}

impl ShortPath {
    pub(crate) fn of(path: &Path) -> io::Result<ShortPath> {
        let fits = path.as_os_str().len() <= PATH_BYTES_MAX;
        let (Some(parent), Some(name), false) = (path.parent(), path.file_name(), fits) else {
            return Ok(ShortPath { path: path.to_path_buf(), _directory: None });
        };
        #[expect(clippy::disallowed_methods, reason = "sockets are no files of the simulated disk")]
        let directory = std::fs::File::open(parent)?;
        let handle = format!("/proc/self/fd/{}", directory.as_raw_fd());
        Ok(ShortPath { path: Path::new(&handle).join(name), _directory: Some(directory) })
    }

    pub(crate) fn as_path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_are_read_with_and_without_chunks() {
        let plain = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
        assert_eq!(parse(plain), Some((200, b"{}".to_vec())));
        let chunked =
            b"HTTP/1.1 409 Conflict\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
        assert_eq!(parse(chunked), Some((409, b"abcde".to_vec())));
        assert_eq!(parse(b"HTTP/1.1 200 OK\r\n"), None);
        assert_eq!(
            parse(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff\r\nabc"),
            None
        );
    }

    #[test]
    fn a_directory_without_a_crawl_is_told() {
        let error = Client::new(Path::new("nowhere")).get("/api/v1/snapshot").unwrap_err();
        assert!(matches!(error, ConsoleError::NotRunning { .. }), "{error}");
    }
}
