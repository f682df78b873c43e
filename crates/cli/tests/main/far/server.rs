//! A Web server that serves the files of a directory, and no more: ranges, but no lists.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use mattock_env::Files;

/// It listens until the process ends; each connection has one request.
pub(super) struct FileServer {
    pub(super) url: String,
    /// The first line of each request.
    asked: Arc<Mutex<Vec<String>>>,
}

impl FileServer {
    /// Serves the files below a directory.
    pub(super) fn start(directory: PathBuf) -> FileServer {
        FileServer::redirecting(directory, "", "")
    }

    /// Serves them, but sends whoever asks for a path below `from` on to `to`.
    #[expect(clippy::disallowed_methods, reason = "a real client needs a real socket")]
    pub(super) fn redirecting(directory: PathBuf, from: &'static str, to: &str) -> FileServer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let (asked, to) = (Arc::new(Mutex::new(Vec::new())), to.to_owned());
        let noted = asked.clone();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let Some((line, range)) = read(&stream) else { continue };
                noted.lock().expect("nobody has panicked").push(line.clone());
                let mut words = line.split(' ');
                let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
                let bytes = match !from.is_empty() && path.starts_with(from) {
                    true => answer("302 Found", &format!("Location: {to}{path}\r\n"), b""),
                    false => answered(&directory.join(path.trim_start_matches('/')), path, method, range),
                };
                // The client may have had enough.
                let _ = stream.write_all(&bytes);
            }
        });
        FileServer { url, asked }
    }

    /// The first line of each request so far.
    pub(super) fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("nobody has panicked").clone()
    }
}

/// The first line of a request, and first and last byte of its range.
fn read(stream: &TcpStream) -> Option<(String, Option<(usize, usize)>)> {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok).take_while(|line| !line.is_empty());
    let first = lines.next()?;
    let range = lines.find_map(|line| {
        let line = line.to_ascii_lowercase();
        let (first, last) = line.strip_prefix("range: bytes=")?.split_once('-')?;
        Some((first.parse().ok()?, last.parse().ok()?))
    });
    Some((first, range))
}

fn answered(file: &Path, path: &str, method: &str, range: Option<(usize, usize)>) -> Vec<u8> {
    let files = Files::real();
    match (files.entry(file), method, range) {
        (_, "PROPFIND", _) => answer("405 Not Allowed", "", b"<html>"),
        (Ok(Some(entry)), _, _) if entry.is_dir && path.ends_with('/') => answer("403 Forbidden", "", b""),
        (Ok(Some(entry)), _, _) if entry.is_dir => {
            answer("301 Moved", &format!("Location: {path}/\r\n"), b"")
        }
        (Ok(Some(_)), "HEAD", _) => {
            let mut head = answer("200 OK", "", &files.read(file).expect("it is there"));
            let end = head.windows(4).position(|four| four == b"\r\n\r\n").expect("a head ends");
            head.truncate(end + 4);
            head
        }
        (Ok(Some(_)), "GET", Some((first, last))) => {
            let bytes = files.read(file).expect("it is there");
            let field = format!("Content-Range: bytes {first}-{last}/{}\r\n", bytes.len());
            answer("206 Partial Content", &field, &bytes[first..=last])
        }
        _ => answer("404 Not Found", "", b""),
    }
}

fn answer(status: &str, fields: &str, body: &[u8]) -> Vec<u8> {
    let head =
        format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n{fields}\r\n", body.len());
    [head.as_bytes(), body].concat()
}
