//! The least that a page could cost: epoll, httparse, and one library call per step.
//!
//! No runtime, no limits, no timeouts, no digests, no file: a client that nobody could use, but nobody could beat by
//! much either.
#![expect(clippy::disallowed_methods, reason = "the floor is what is below `env`")]

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;

use libdeflater::{CompressionLvl, Compressor};
use rustix::event::epoll;
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use super::{Connecting, Target, cpu_us_per, lanes};

struct Lane {
    stream: TcpStream,
    pages: Vec<(Target, Url)>,
    next: usize,
    buffer: Vec<u8>,
    filled: usize,
    total: Option<usize>,
    head: usize,
}

/// CPU µs per page.
pub(super) fn measure(
    port: u16,
    targets: &[Target],
    pages: usize,
    connecting: Connecting,
) -> io::Result<f64> {
    let lanes = lanes(targets);
    let (time, result) = cpu_us_per(pages, || run(port, lanes, pages, connecting));
    result.map(|()| time)
}

fn connect(target: &Target, port: u16) -> io::Result<TcpStream> {
    let stream = TcpStream::connect((target.address, port))?;
    stream.set_nodelay(true)?;
    stream.set_nonblocking(true)?;
    Ok(stream)
}

fn run(port: u16, lanes: Vec<Vec<Target>>, pages: usize, connecting: Connecting) -> io::Result<()> {
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let mut steps = Steps::new();
    let mut begun = 0;
    let mut done = 0;
    let mut open = Vec::new();
    for (number, targets) in lanes.into_iter().enumerate() {
        let stream = connect(&targets[0], port)?;
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
        let mut lane = Lane { stream, pages, next: 0, buffer, filled: 0, total: None, head: 0 };
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
            if connecting == Connecting::New {
                epoll::delete(&poll, lane.stream.as_fd())?;
                lane.stream = connect(&lane.pages[lane.next].0, port)?;
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
        self.stream.write_all(request.as_bytes())
    }

    /// Reads what is there; whether the response is whole.
    fn read(&mut self) -> io::Result<bool> {
        match self.stream.read(&mut self.buffer[self.filled..]) {
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
