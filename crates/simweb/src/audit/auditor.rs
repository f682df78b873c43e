//! Reading a log and judging what it tells.
//!
//! One pass over the lines. Memory grows with the hosts and servers asked (some tens of bytes each), not with the
//! requests: of a pair of requests only the places in the file are kept. To find URLs fetched twice takes 64-bit
//! hashes of those that were answered; of a log too long for that, further passes look at one slice of the hashes
//! each ([`AuditOptions::urls_max`]). Among a billion URLs the chance that one is accused wrongly is 3 %.

use std::collections::HashMap;
use std::io;
use std::net::Ipv4Addr;
use std::path::Path;

use mattock_env::{File, Files, OpenMode};
use mattock_weburl::{Fingerprint, WebUrl};

use super::fetched::Fetched;
use super::line::Line;
use super::lines::Lines;
use super::report::{AuditReport, AuditedRequest, Gap, MalformedLine};
use super::{AuditHeader, MAGIC};
use crate::World;
use crate::web::Web;

pub(super) const EXAMPLES_MAX: usize = 10;
/// A line is hardly ever shorter; tells how many there can be at most.
const LINE_BYTES_MIN: u64 = 60;
const PAIR_BYTES: usize = 4096;

/// How to judge.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditOptions {
    /// The delay between two requests to one host that should have been kept; if not given, that of the log's first
    /// line.
    pub delay_ms: Option<f64>,
    /// How many URLs' hashes are held at a time (about 20 bytes each).
    pub urls_max: u64,
}

impl Default for AuditOptions {
    /// The log's own delay; 16 million URLs at a time.
    fn default() -> AuditOptions {
        AuditOptions { delay_ms: None, urls_max: 1 << 24 }
    }
}

/// Why a log cannot be judged at all.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The file cannot be read.
    #[error("cannot read the audit log {path}: {source}")]
    Read {
        /// The log's file.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// It is some other file.
    #[error("{path} is not an audit log: its first line should start with `{}`", MAGIC.trim_end())]
    NotALog {
        /// The file.
        path: String,
    },
    /// The first line does not describe a world.
    #[error("the first line of the audit log {path} cannot be understood: {problem}")]
    Header {
        /// The log's file.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
}

/// Judges the log at `path` by the world that its first line describes.
pub fn audit(files: &Files, path: &Path, options: &AuditOptions) -> Result<AuditReport, AuditError> {
    let name = || path.display().to_string();
    let read_error = |source| AuditError::Read { path: name(), source };
    let file = files.open(path, OpenMode::Read).map_err(read_error)?;
    let mut lines = Lines::new(&file);
    let first = lines.next().map_err(read_error)?;
    let json = first
        .and_then(|line| line.bytes.strip_prefix(MAGIC.as_bytes()))
        .ok_or_else(|| AuditError::NotALog { path: name() })?;
    let header: AuditHeader = serde_json::from_slice(json)
        .map_err(|error| AuditError::Header { path: name(), problem: error.to_string() })?;
    let delay_ms = options.delay_ms.or(header.delay_ms.map(|delay_ms| delay_ms as f64));
    let world = World::new(header.params, header.seed);
    judge(&file, &world, delay_ms, options.urls_max).map_err(read_error)
}

/// Judges a log by any web.
fn judge(file: &File, web: &impl Web, delay_ms: Option<f64>, urls_max: u64) -> io::Result<AuditReport> {
    let passes = (file.len()? / LINE_BYTES_MIN).div_ceil(urls_max.max(1)).max(1);
    let mut auditor = Auditor::new(web, delay_ms);
    let mut fetched = Fetched::new(0, passes);
    let torn_tail = each_request(file, |line| match line {
        Ok((line, offset)) => {
            auditor.request(&line, offset);
            fetched.request(&line);
        }
        Err(malformed) => auditor.malformed(malformed),
    })?;
    let mut report = auditor.finish(file)?;
    report.torn_tail = torn_tail;
    fetched.finish(&mut report);
    for pass in 1..passes {
        let mut fetched = Fetched::new(pass, passes);
        each_request(file, |line| {
            if let Ok((line, _)) = line {
                fetched.request(&line);
            }
        })?;
        fetched.finish(&mut report);
    }
    Ok(report)
}

/// Shows every line that should be a request, with its place in the file; returns whether the last one is torn.
fn each_request(
    file: &File,
    mut show: impl FnMut(Result<(Line<'_>, u64), MalformedLine>),
) -> io::Result<bool> {
    let mut last_ns = 0;
    let mut lines = Lines::new(file);
    while let Some(raw) = lines.next()? {
        if raw.bytes.starts_with(b"#") {
            continue;
        }
        if !raw.whole {
            return Ok(true);
        }
        let line = Line::parse(raw.bytes).and_then(|line| {
            if line.nanos < last_ns {
                return Err("the time is before that of the line before");
            }
            last_ns = line.nanos;
            Ok((line, raw.offset))
        });
        show(line.map_err(|problem| MalformedLine { line: raw.number, problem }));
    }
    Ok(false)
}

/// The last request to a host or a server.
#[derive(Clone, Copy)]
struct Last {
    nanos: u64,
    offset: u64,
}

/// The closest pair of requests so far.
#[derive(Clone, Copy)]
struct Closest {
    gap_ns: u64,
    offsets: [u64; 2],
}

struct HostState {
    domain: u64,
    last: Last,
    robots_asked: bool,
    accused: bool,
    crawl_delay_ns: u64,
}

struct Auditor<'a, W> {
    web: &'a W,
    delay_ns: u64,
    hosts: HashMap<Box<str>, HostState>,
    servers: HashMap<Ipv4Addr, Last>,
    domains: HashMap<u64, Last>,
    closest_host: Option<Closest>,
    closest_server: Option<Closest>,
    closest_domain: Option<Closest>,
    first_ns: Option<u64>,
    last_ns: u64,
    report: AuditReport,
}

impl<'a, W: Web> Auditor<'a, W> {
    fn new(web: &'a W, delay_ms: Option<f64>) -> Auditor<'a, W> {
        Auditor {
            web,
            delay_ns: delay_ms.map_or(0, |delay_ms| (delay_ms * 1e6) as u64),
            hosts: HashMap::new(),
            servers: HashMap::new(),
            domains: HashMap::new(),
            closest_host: None,
            closest_server: None,
            closest_domain: None,
            first_ns: None,
            last_ns: 0,
            report: AuditReport { delay_ms, ..AuditReport::default() },
        }
    }

    fn malformed(&mut self, malformed: MalformedLine) {
        self.report.malformed_lines += 1;
        push_example(&mut self.report.examples.malformed, || malformed);
    }

    fn request(&mut self, line: &Line<'_>, offset: u64) {
        self.first_ns.get_or_insert(line.nanos);
        self.last_ns = line.nanos;
        self.report.requests += 1;
        self.report.robots_requests += u64::from(line.is_robots);
        self.report.bytes += line.bytes;
        *self.report.statuses.entry(line.status).or_default() += 1;
        let last = Last { nanos: line.nanos, offset };
        if let Some(before) = self.servers.insert(line.server, last) {
            keep_closest(&mut self.closest_server, before, last);
        }
        if line.has_host() {
            self.host_request(line, last);
        }
    }

    fn host_request(&mut self, line: &Line<'_>, last: Last) {
        let report = &mut self.report;
        let before = match self.hosts.get_mut(line.host) {
            Some(state) => Some(std::mem::replace(&mut state.last, last)),
            None => {
                let crawl_delay_ns = self.web.crawl_delay_ms(line.host).unwrap_or(0) * 1_000_000;
                let domain = domain_of(line.host);
                let state = HostState { domain, last, robots_asked: false, accused: false, crawl_delay_ns };
                self.hosts.insert(line.host.into(), state);
                None
            }
        };
        let state = self.hosts.get_mut(line.host).expect("it was there or was just put there");
        if let Some(before) = self.domains.insert(state.domain, last) {
            keep_closest(&mut self.closest_domain, before, last);
        }
        if let Some(before) = before {
            keep_closest(&mut self.closest_host, before, last);
            let gap_ns = last.nanos - before.nanos;
            if gap_ns < self.delay_ns {
                report.delay_violations += 1;
                push_example(&mut report.examples.delay, || audited(line));
            }
            // Before robots.txt has come nobody can know what delay it asks for.
            if !line.is_robots && gap_ns < state.crawl_delay_ns {
                report.crawl_delay_violations += 1;
                push_example(&mut report.examples.crawl_delay, || audited(line));
            }
        }
        if line.is_robots {
            state.robots_asked = true;
            return;
        }
        if !state.robots_asked && !state.accused {
            state.accused = true;
            report.before_robots += 1;
            push_example(&mut report.examples.before_robots, || audited(line));
        }
        if self.web.forbidden(line.host, line.path) {
            report.robots_violations += 1;
            push_example(&mut report.examples.robots, || audited(line));
        }
    }

    fn finish(self, file: &File) -> io::Result<AuditReport> {
        let mut report = self.report;
        report.hosts = self.hosts.len() as u64;
        report.servers = self.servers.len() as u64;
        report.seconds = (self.last_ns - self.first_ns.unwrap_or(self.last_ns)) as f64 / 1e9;
        report.min_gap_host = self.closest_host.map(|closest| read_gap(file, closest)).transpose()?;
        report.min_gap_server = self.closest_server.map(|closest| read_gap(file, closest)).transpose()?;
        report.min_gap_domain = self.closest_domain.map(|closest| read_gap(file, closest)).transpose()?;
        report.min_gap_domain_ms = report.min_gap_domain.as_ref().map(|gap| gap.gap_ms);
        report.min_gap_host_ms = report.min_gap_host.as_ref().map(|gap| gap.gap_ms);
        report.min_gap_server_ms = report.min_gap_server.as_ref().map(|gap| gap.gap_ms);
        Ok(report)
    }
}

/// The pay-level domain of a host; what is no name of one is a domain of its own.
fn domain_of(host: &str) -> u64 {
    match WebUrl::parse(&format!("http://{host}/")) {
        Ok(url) => url.domain_fingerprint().0,
        Err(_) => Fingerprint::of(host).0,
    }
}

fn keep_closest(closest: &mut Option<Closest>, before: Last, last: Last) {
    let gap_ns = last.nanos - before.nanos;
    if closest.is_none_or(|closest| gap_ns < closest.gap_ns) {
        *closest = Some(Closest { gap_ns, offsets: [before.offset, last.offset] });
    }
}

pub(super) fn push_example<T>(examples: &mut Vec<T>, example: impl FnOnce() -> T) {
    if examples.len() < EXAMPLES_MAX {
        examples.push(example());
    }
}

pub(super) fn audited(line: &Line<'_>) -> AuditedRequest {
    AuditedRequest {
        time_s: line.nanos as f64 / 1e9,
        server: line.server,
        host: line.host.to_owned(),
        path: line.path.to_owned(),
        status: line.status,
    }
}

/// Reads the two lines of a pair again.
fn read_gap(file: &File, closest: Closest) -> io::Result<Gap> {
    let read = |offset| {
        let mut lines = Lines::at(file, offset, PAIR_BYTES);
        let line = lines.next()?.ok_or(io::ErrorKind::UnexpectedEof)?;
        Line::parse(line.bytes).map(|line| audited(&line)).map_err(io::Error::other)
    };
    let [first, second] = closest.offsets;
    Ok(Gap { gap_ms: closest.gap_ns as f64 / 1e6, first: read(first)?, second: read(second)? })
}

#[cfg(test)]
mod tests;
