//! A Web server of this machine that answers as a test says.

use std::io::{BufRead as _, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The first line of a request, and its range.
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) range: Option<String>,
}

/// It listens until the process ends; each connection has one request.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    asked: Arc<AtomicUsize>,
}

impl Server {
    pub(super) fn start(answer: impl Fn(&Request, &mut TcpStream) + Send + Sync + 'static) -> Server {
        Server::at("127.0.0.1:0", answer)
    }

    #[expect(clippy::disallowed_methods, reason = "the client under test speaks to real sockets")]
    pub(super) fn at(
        address: &str,
        answer: impl Fn(&Request, &mut TcpStream) + Send + Sync + 'static,
    ) -> Server {
        let listener = TcpListener::bind(address).unwrap();
        let (address, asked) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
        let (answer, counted) = (Arc::new(answer), asked.clone());
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                counted.fetch_add(1, Ordering::SeqCst);
                let answer = answer.clone();
                std::thread::spawn(move || {
                    if let Some(request) = read(&stream) {
                        answer(&request, &mut stream);
                    }
                });
            }
        });
        Server { address, asked }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    /// How many connections were made.
    pub(super) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next()?.ok()?;
    let mut words = first.split(' ');
    let mut request = Request { method: words.next()?.into(), path: words.next()?.into(), range: None };
    for line in lines.map_while(Result::ok).take_while(|line| !line.is_empty()) {
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("range")
        {
            request.range = Some(value.trim().to_owned());
        }
    }
    Some(request)
}

/// Sends a head; the client may have had enough.
pub(super) fn head(stream: &mut TcpStream, status: &str, fields: &str) -> bool {
    stream.write_all(format!("HTTP/1.1 {status}\r\nConnection: close\r\n{fields}\r\n").as_bytes()).is_ok()
}

/// Sends an answer with a body.
pub(super) fn send(request: &Request, stream: &mut TcpStream, status: &str, fields: &str, body: &[u8]) {
    let fields = format!("Content-Length: {}\r\n{fields}", body.len());
    if head(stream, status, &fields) && request.method != "HEAD" {
        let _ = stream.write_all(body);
    }
}

/// Serves this content as a server should that knows ranges and lists nothing.
pub(super) fn serve(request: &Request, stream: &mut TcpStream, content: &[u8]) {
    let range = request.range.as_deref().and_then(|range| {
        let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
        Some((first.parse::<usize>().ok()?, last.parse::<usize>().ok()?))
    });
    match (request.method.as_str(), range) {
        ("HEAD", _) => send(request, stream, "200 OK", "", content),
        ("GET", Some((first, last))) => {
            let field = format!("Content-Range: bytes {first}-{last}/{}\r\n", content.len());
            send(request, stream, "206 Partial Content", &field, &content[first..=last]);
        }
        _ => send(request, stream, "405 Method Not Allowed", "", b"\xffno"),
    }
}

/// Sends bytes until the client has had enough; how many that were.
pub(super) fn flood(stream: &mut TcpStream, piece: &[u8]) -> usize {
    let mut sent = 0;
    while stream.write_all(piece).is_ok() {
        sent += piece.len();
    }
    sent
}
