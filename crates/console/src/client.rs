//! Asks a running crawl through its socket: the other side of `mattock ctl`.
//!
//! One request per connection, in plain blocking calls: a command asks once and ends. Whoever listens in a directory that somebody else has made
//! need not be a crawl, so that an answer has a largest length and a longest time.

use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mattock_env::{Clock, Env};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::{ConsoleError, socket};

/// Where a crawl listens, in its directory.
pub const SOCKET: &str = "control.sock";
/// Where the token that was made for a running crawl's console is, in its directory.
pub const TOKEN_FILE: &str = "state/console-token";

/// Longer than anything that is asked takes.
const PATIENCE: Duration = Duration::from_secs(120);
/// More than anything that is answered has.
const ANSWER_BYTES_MAX: u64 = 16 << 20;

/// A running crawl.
#[derive(Clone, Debug)]
pub struct Client {
    directory: PathBuf,
    clock: Clock,
    patience: Duration,
}

impl Client {
    /// Where the crawl is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The crawl in this directory.
    pub fn new(directory: &Path, clock: &Clock) -> Client {
        Client { directory: directory.to_path_buf(), clock: clock.clone(), patience: PATIENCE }
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
        let response = self.answer(stream).map_err(talk)?;
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
        let stream = socket::connect(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused | io::ErrorKind::NotADirectory => {
                ConsoleError::NotRunning { path: self.directory.clone() }
            }
            _ => ConsoleError::Socket { path: path.clone(), source: error },
        })?;
        stream
            .set_write_timeout(Some(self.patience))
            .map_err(|error| ConsoleError::Talk(error.to_string()))?;
        Ok(stream)
    }

    /// Reads an answer to its end, for so long and so far at most.
    fn answer(&self, stream: UnixStream) -> io::Result<Vec<u8>> {
        let deadline = self.clock.now() + self.patience;
        let (mut answer, mut room) = (Vec::new(), [0; 16 << 10]);
        let mut limited = stream.take(ANSWER_BYTES_MAX);
        loop {
            let left = deadline.since(self.clock.now());
            if left.is_zero() {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "it does not come to an end"));
            }
            limited.get_ref().set_read_timeout(Some(left))?;
            match limited.read(&mut room)? {
                0 if limited.limit() == 0 => {
                    return Err(io::Error::other("it is larger than anything that a crawl answers"));
                }
                0 => return Ok(answer),
                count => answer.extend_from_slice(&room[..count]),
            }
        }
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

    /// Asks somebody who listens in a crawl's place, and takes their side.
    #[expect(clippy::disallowed_methods, reason = "they are at a real socket")]
    fn ask_impostor(
        name: &str,
        patience: Duration,
        answer: impl FnOnce(UnixStream) + Send + 'static,
    ) -> String {
        let env = Env::real();
        let directory = std::env::temp_dir().join(format!("mattock-{name}-{}", std::process::id()));
        env.files.create_dir_all(&directory).unwrap();
        let listener = std::os::unix::net::UnixListener::bind(directory.join(SOCKET)).unwrap();
        let impostor = std::thread::spawn(move || answer(listener.accept().unwrap().0));
        let client = Client { patience, ..Client::new(&directory, &env.clock) };
        let error = client.get("/api/v1/snapshot").unwrap_err().to_string();
        impostor.join().unwrap();
        env.files.remove_dir_all(&directory).unwrap();
        error
    }

    #[test]
    fn an_answer_without_end_is_not_waited_for() {
        let endless = |mut stream: UnixStream| while stream.write_all(&[b'x'; 1 << 16]).is_ok() {};
        let error = ask_impostor("endless", PATIENCE, endless);
        assert!(error.contains("larger than anything"), "{error}");
        let silent = |mut stream: UnixStream| drop(stream.read_to_end(&mut Vec::new()));
        let error = ask_impostor("silent", Duration::from_millis(20), silent);
        assert!(!error.is_empty());
    }

    #[test]
    fn a_directory_without_a_crawl_is_told() {
        let error =
            Client::new(Path::new("nowhere"), &Env::real().clock).get("/api/v1/snapshot").unwrap_err();
        assert!(matches!(error, ConsoleError::NotRunning { .. }), "{error}");
    }
}
