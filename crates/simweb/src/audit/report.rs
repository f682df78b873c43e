//! What the auditor found: for programs (serde) and for people (`Display`).

use std::collections::BTreeMap;
use std::fmt;
use std::net::Ipv4Addr;

use serde::Serialize;

/// A request that a finding is about.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AuditedRequest {
    /// When it came, in seconds since the log was made.
    pub time_s: f64,
    /// The address that it came to.
    pub server: Ipv4Addr,
    /// The host that it named.
    pub host: String,
    /// Path and query.
    pub path: String,
    /// How it was answered; 0 if not at all.
    pub status: u16,
}

/// Two successive requests to one host or one server.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gap {
    /// Time from the arrival of the one to the arrival of the other.
    pub gap_ms: f64,
    /// The one that came first.
    pub first: AuditedRequest,
    /// The one that came next.
    pub second: AuditedRequest,
}

/// A line that is not one of the log's format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MalformedLine {
    /// Counted from 1.
    pub line: u64,
    /// What is wrong with it.
    pub problem: &'static str,
}

/// The first few findings of each kind, in order of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Examples {
    /// Requests that came to a host sooner than the delay after the one before.
    pub delay: Vec<AuditedRequest>,
    /// Pages that came sooner than the crawl delay of the host's robots.txt allows.
    pub crawl_delay: Vec<AuditedRequest>,
    /// Pages that robots.txt forbids.
    pub robots: Vec<AuditedRequest>,
    /// The first page of a host whose robots.txt had not been asked for.
    pub before_robots: Vec<AuditedRequest>,
    /// The second fetch of a URL.
    pub fetched_twice: Vec<AuditedRequest>,
    /// Lines that cannot be read.
    pub malformed: Vec<MalformedLine>,
}

/// The auditor's findings.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AuditReport {
    /// All requests, also those for robots.txt and those that could not be understood.
    pub requests: u64,
    /// Those for robots.txt.
    pub robots_requests: u64,
    /// Distinct hosts asked.
    pub hosts: u64,
    /// Distinct server addresses asked.
    pub servers: u64,
    /// Bytes of all answers.
    pub bytes: u64,
    /// From the first request to the last.
    pub seconds: f64,
    /// The smallest time between the arrivals of two requests to one host, robots.txt included.
    pub min_gap_host_ms: Option<f64>,
    /// The same for one server address.
    pub min_gap_server_ms: Option<f64>,
    /// The same for one pay-level domain.
    pub min_gap_domain_ms: Option<f64>,
    /// The delay per host that was to be kept, if one was named.
    pub delay_ms: Option<f64>,
    /// Requests that came to a host sooner than that after the one before.
    pub delay_violations: u64,
    /// Requests for pages sooner after the one before than the host's robots.txt asks for.
    pub crawl_delay_violations: u64,
    /// Requests for pages that robots.txt forbids.
    pub robots_violations: u64,
    /// Hosts of which a page was asked for before robots.txt.
    pub before_robots: u64,
    /// URLs that were answered with 200 more than once (GET only, robots.txt not counted). Other statuses may be
    /// retried, and 304 means that nothing was fetched again.
    pub fetched_twice: u64,
    /// Lines that cannot be read; they count nowhere else.
    pub malformed_lines: u64,
    /// Whether the last line was cut off, as by a kill; it is left out.
    pub torn_tail: bool,
    /// Requests by status; 0 is a reset or a silence.
    pub statuses: BTreeMap<u16, u64>,
    /// The pair behind `min_gap_host_ms`.
    pub min_gap_host: Option<Gap>,
    /// The pair behind `min_gap_server_ms`.
    pub min_gap_server: Option<Gap>,
    /// The pair behind `min_gap_domain_ms`.
    pub min_gap_domain: Option<Gap>,
    /// The first few findings of each kind.
    pub examples: Examples,
}

impl AuditReport {
    /// Whether the crawler did nothing wrong, as far as a whole log shows.
    pub fn is_clean(&self) -> bool {
        let violations = [
            self.delay_violations,
            self.crawl_delay_violations,
            self.robots_violations,
            self.before_robots,
            self.fetched_twice,
            self.malformed_lines,
        ];
        violations.iter().all(|&count| count == 0)
    }
}

impl fmt::Display for AuditedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>12.3} s  {:<15} ", self.time_s, self.server.to_string())?;
        match self.status {
            0 => f.write_str("---")?,
            status => write!(f, "{status}")?,
        }
        write!(f, "  {}{}", self.host, self.path)
    }
}

impl fmt::Display for AuditReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} requests ({} for robots.txt) to {} hosts on {} servers in {:.1} s, {:.1} MB",
            self.requests,
            self.robots_requests,
            self.hosts,
            self.servers,
            self.seconds,
            self.bytes as f64 / 1e6
        )?;
        f.write_str("by status:")?;
        for (status, count) in &self.statuses {
            match status {
                0 => write!(f, "  none {count}")?,
                status => write!(f, "  {status} {count}")?,
            }
        }
        writeln!(f, "\n")?;
        write_gap(f, "smallest gap per host", &self.min_gap_host)?;
        write_gap(f, "smallest gap per server", &self.min_gap_server)?;
        write_gap(f, "smallest gap per domain", &self.min_gap_domain)?;
        if let Some(delay_ms) = self.delay_ms {
            let title = format!("sooner than {delay_ms} ms");
            write_findings(f, &title, self.delay_violations, &self.examples.delay)?;
        }
        let examples = &self.examples;
        write_findings(f, "sooner than Crawl-delay", self.crawl_delay_violations, &examples.crawl_delay)?;
        write_findings(f, "forbidden by robots.txt", self.robots_violations, &examples.robots)?;
        write_findings(f, "hosts before robots.txt", self.before_robots, &examples.before_robots)?;
        write_findings(f, "URLs fetched twice", self.fetched_twice, &examples.fetched_twice)?;
        if self.malformed_lines > 0 {
            writeln!(f, "{:<26}{}", "malformed lines", self.malformed_lines)?;
            for malformed in &examples.malformed {
                writeln!(f, "    line {}: {}", malformed.line, malformed.problem)?;
            }
        }
        if self.torn_tail {
            writeln!(f, "The last line was cut off and is left out: the server did not end by itself.")?;
        }
        Ok(())
    }
}

fn write_gap(f: &mut fmt::Formatter<'_>, title: &str, gap: &Option<Gap>) -> fmt::Result {
    match gap {
        None => writeln!(f, "{title:<26}none was asked twice"),
        Some(gap) => writeln!(f, "{title:<26}{:.3} ms\n  {}\n  {}", gap.gap_ms, gap.first, gap.second),
    }
}

fn write_findings(
    f: &mut fmt::Formatter<'_>,
    title: &str,
    count: u64,
    examples: &[AuditedRequest],
) -> fmt::Result {
    writeln!(f, "{title:<26}{count}")?;
    for example in examples {
        writeln!(f, "  {example}")?;
    }
    if count > examples.len() as u64 {
        writeln!(f, "  … and {} more", count - examples.len() as u64)?;
    }
    Ok(())
}
