//! The least that a page could cost: epoll, httparse, rustls where it is secured, and one library call per step.
//!
//! No runtime, no limits, no timeouts, no digests, no file: a client that nobody could use, but nobody could beat by
//! much either.
#![expect(clippy::disallowed_methods, reason = "the floor is what is below `env`")]

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::sync::Arc;

use libdeflater::{CompressionLvl, Compressor};
use rustix::event::epoll;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection};
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use super::{Connecting, Target, cpu_us_per, lanes};

/// Where pages are asked for, and how.
#[derive(Clone)]
pub(super) struct Way {
    pub(super) port: u16,
    pub(super) connecting: Connecting,
    /// Over TLS with this.
    pub(super) tls: Option<Arc<ClientConfig>>,
}

struct Lane {
    stream: TcpStream,
    tls: Option<Box<ClientConnection>>,
    pages: Vec<(Target, Url)>,
    next: usize,
    buffer: Vec<u8>,
    filled: usize,
    total: Option<usize>,
    head: usize,
}

/// CPU µs per page.
pub(super) fn measure(way: &Way, targets: &[Target], pages: usize) -> io::Result<f64> {
    let lanes = lanes(targets);
    let (time, result) = cpu_us_per(pages, || run(way, lanes, pages));
    result.map(|()| time)
}

impl Way {
    fn connect(&self, target: &Target) -> io::Result<(TcpStream, Option<Box<ClientConnection>>)> {
        let stream = TcpStream::connect((target.address, self.port))?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let tls = match &self.tls {
            None => None,
            Some(config) => {
                let name = ServerName::try_from(target.host.clone()).map_err(io::Error::other)?;
                let tls = ClientConnection::new(config.clone(), name).map_err(io::Error::other)?;
                Some(Box::new(tls))
            }
        };
        Ok((stream, tls))
    }
}

fn run(way: &Way, lanes: Vec<Vec<Target>>, pages: usize) -> io::Result<()> {
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let mut steps = Steps::new();
    let mut begun = 0;
    let mut done = 0;
    let mut open = Vec::new();
    for (number, targets) in lanes.into_iter().enumerate() {
        let (stream, tls) = way.connect(&targets[0])?;
        let data = epoll::EventData::new_u64(number as u64);
        epoll::add(&poll, stream.as_fd(), data, epoll::EventFlags::IN)?;
        let pages = targets
            .into_iter()
            .map(|target| {
                let url = Url::parse(&target.url()).expect("the simulated Web has good URLs");
                (target, url)
            })
            .collect();
        let buffer = vec![0; 64 * 1024];
        let mut lane = Lane { stream, tls, pages, next: 0, buffer, filled: 0, total: None, head: 0 };
        lane.ask()?;
        begun += 1;
        open.push(lane);
    }
    let mut events = Vec::with_capacity(256);
    while done < pages {
        events.clear();
        epoll::wait(&poll, rustix::buffer::spare_capacity(&mut events), None)?;
        for event in &events {
            let number = event.data.u64() as usize;
            let lane = &mut open[number];
            if !lane.read()? {
                continue;
            }
            let total = lane.total.take().unwrap_or_default();
            steps.run(&lane.pages[lane.next].1, &lane.buffer[..total], lane.head);
            done += 1;
            if begun >= pages {
                continue;
            }
            begun += 1;
            lane.filled = 0;
            lane.next = (lane.next + 1) % lane.pages.len();
            if way.connecting == Connecting::New {
                epoll::delete(&poll, lane.stream.as_fd())?;
                (lane.stream, lane.tls) = way.connect(&lane.pages[lane.next].0)?;
                let data = epoll::EventData::new_u64(number as u64);
                epoll::add(&poll, lane.stream.as_fd(), data, epoll::EventFlags::IN)?;
            }
            lane.ask()?;
        }
    }
    Ok(())
}

impl Lane {
    fn ask(&mut self) -> io::Result<()> {
        let target = &self.pages[self.next].0;
        let request = format!("GET {} HTTP/1.1\r\nHost: {}\r\n\r\n", target.path, target.host);
        match &mut self.tls {
            None => self.stream.write_all(request.as_bytes()),
            Some(tls) => {
                // Held back until the handshake is done.
                tls.writer().write_all(request.as_bytes())?;
                write_tls(tls, &mut self.stream)
            }
        }
    }

    /// Reads what is there; whether the response is whole.
    fn read(&mut self) -> io::Result<bool> {
        let rest = &mut self.buffer[self.filled..];
        let count = match &mut self.tls {
            None => self.stream.read(rest),
            Some(tls) => read_tls(tls, &mut self.stream, rest),
        };
        match count {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => self.filled += count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error),
        }
        if self.total.is_none() {
            let mut fields = [httparse::EMPTY_HEADER; 32];
            let mut response = httparse::Response::new(&mut fields);
            if let Ok(httparse::Status::Complete(head)) = response.parse(&self.buffer[..self.filled]) {
                let length =
                    response.headers.iter().find(|field| field.name.eq_ignore_ascii_case("content-length"));
                let length =
                    length.and_then(|field| std::str::from_utf8(field.value).ok()?.parse::<usize>().ok());
                self.head = head;
                self.total = Some(head + length.ok_or(io::ErrorKind::InvalidData)?);
            }
        }
        Ok(self.total.is_some_and(|total| self.filled >= total))
    }
}

fn write_tls(tls: &mut ClientConnection, stream: &mut TcpStream) -> io::Result<()> {
    while tls.wants_write() {
        tls.write_tls(stream)?;
    }
    Ok(())
}

/// Reads all records that are there, and what they bring of the response.
fn read_tls(tls: &mut ClientConnection, stream: &mut TcpStream, rest: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    loop {
        match tls.read_tls(stream) {
            Ok(0) => return Ok(filled),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && filled > 0 => return Ok(filled),
            Err(error) => return Err(error),
        }
        let state = tls.process_new_packets().map_err(io::Error::other)?;
        if state.plaintext_bytes_to_read() > 0 {
            filled += tls.reader().read(&mut rest[filled..])?;
        }
        write_tls(tls, stream)?;
    }
}

/// One library call per step.
struct Steps {
    compressor: Compressor,
    compressed: Vec<u8>,
    fingerprints: u64,
}

impl Steps {
    fn new() -> Steps {
        let level = CompressionLvl::new(1).expect("level 1 exists");
        Steps { compressor: Compressor::new(level), compressed: Vec::new(), fingerprints: 0 }
    }

    fn run(&mut self, url: &Url, response: &[u8], head: usize) {
        let (text, _, _) = encoding_rs::UTF_8.decode(&response[head..]);
        let bytes = text.as_bytes();
        for at in memchr::memmem::find_iter(bytes, b"href=") {
            let value = &bytes[at + 5..];
            let (value, end) = match value.first() {
                Some(&quote @ (b'"' | b'\'')) => (&value[1..], memchr::memchr(quote, &value[1..])),
                _ => (value, memchr::memchr2(b' ', b'>', value)),
            };
            let reference = end.and_then(|end| std::str::from_utf8(&value[..end]).ok()).unwrap_or_default();
            if let Ok(target) = url.join(reference) {
                self.fingerprints ^= xxh3_64(target.as_str().as_bytes());
            }
        }
        let bound = self.compressor.gzip_compress_bound(response.len());
        self.compressed.resize(bound, 0);
        let count = self.compressor.gzip_compress(response, &mut self.compressed);
        std::hint::black_box((count.is_ok(), self.fingerprints));
    }
}
