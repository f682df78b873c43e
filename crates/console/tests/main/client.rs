//! A client that says exactly what it is told to, and a console to say it to.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};

use mattock_console::{Access, Bind, Console, Desk};
use mattock_env::{Env, Files};

/// A directory that is empty at the start and gone at the end.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Scratch {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = Files::real().remove_dir_all(&path);
        Files::real().create_dir_all(&path).expect("the target directory can be written to");
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = Files::real().remove_dir_all(&self.0);
    }
}

/// A console of a directory without a crawl, on a port of the system's choice; without a token, for everybody.
pub(crate) fn console(directory: &Path, token: Option<&str>) -> (Console, SocketAddr) {
    let env = Env::real();
    let access = Access::asked(Some(token.unwrap_or("none")), &mut env.random.fork("token"));
    let bind = Bind::parse("127.0.0.1:0", access.expect("a good token")).expect("loopback may be bound");
    let console =
        Console::start(&env, Desk::stopped(&env, directory), Some(bind), None).expect("there is a free port");
    let address = console.address().expect("it has a port");
    (console, address)
}

#[expect(clippy::disallowed_methods, reason = "a client of a real server needs a real connection")]
pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    TcpStream::connect(address).expect("it listens")
}

/// A whole response.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (found, value) = line.split_once(": ")?;
            found.eq_ignore_ascii_case(name).then_some(value)
        })
    }

    pub(crate) fn error(&self) -> String {
        let value: serde_json::Value = serde_json::from_str(&self.body).expect("problems are JSON");
        assert!(value["detail"].as_str().is_some_and(|detail| !detail.is_empty()));
        value["error"].as_str().expect("they have names").to_owned()
    }
}

/// Sends a request, byte for byte, and reads the answer to the connection's end.
pub(crate) fn send(mut stream: impl Read + Write, request: &str) -> Response {
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("it answers");
    let text = String::from_utf8(bytes).expect("it answers in text");
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Response { status, head: head.to_owned(), body: body.to_owned() }
}

/// One request with these headers.
pub(crate) fn ask(address: SocketAddr, line: &str, headers: &[&str], body: &str) -> Response {
    let mut request = format!("{line} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
    if !headers.iter().any(|header| header.starts_with("Host:")) {
        request += &format!("Host: {address}\r\n");
    }
    for header in headers {
        request += &format!("{header}\r\n");
    }
    send(connect(address), &format!("{request}\r\n{body}"))
}
