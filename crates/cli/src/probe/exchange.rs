//! The request for the page and what came back: connection, times, heads, body, outcome.

use std::net::SocketAddr;

use mattock_crawl::Config;
use mattock_env::{Env, Time};
use mattock_fetch::{Exchange, Protocol, Redirect};
use mattock_weburl::{Scheme, WebUrl};
use serde::Serialize;

use super::handshake::{self, Handshake};
use super::text::{ms, printable};

/// One exchange as it is shown.
#[derive(Debug, Serialize)]
pub(crate) struct Fetched {
    pub(crate) outcome: Outcome,
    /// Whom was connected to; nobody if it did not come to that, or a proxy did it.
    pub(crate) address: Option<String>,
    pub(crate) protocol: &'static str,
    pub(crate) tls: Option<Tls>,
    pub(crate) timings_ms: Timings,
    /// The request's head, a line each, without the values of secret fields; nothing if it was not sent.
    pub(crate) request: Vec<String>,
    /// The response's status line, and its fields.
    pub(crate) status_line: Option<String>,
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) body: Option<Body>,
    pub(crate) redirect: Option<Leads>,
}

/// How it ended and what follows from that in a crawl.
#[derive(Debug, Serialize)]
pub(crate) struct Outcome {
    /// The status, or the name of a failure.
    pub(crate) name: String,
    /// How often a crawl would ask again.
    pub(crate) retries: u8,
    /// The wait before the first new try; it doubles with each.
    pub(crate) wait_s: f64,
    /// Whether the whole host is left alone for that time.
    pub(crate) host_waits: bool,
    /// How long the server asks to be left alone.
    pub(crate) retry_after_s: Option<u64>,
}

/// How the connection was secured.
#[derive(Debug, Serialize)]
pub(crate) struct Tls {
    /// Of the fetch's own connection; nothing if it did not come about.
    pub(crate) version: Option<&'static str>,
    pub(crate) cipher_suite: Option<String>,
    /// What the fetch found about the certificate: `verified`, or the name of a flaw.
    pub(crate) verdict: Option<String>,
    /// SHA-256 of the certificate.
    pub(crate) fingerprint: Option<String>,
    /// The certificate, as another connection showed it; nothing behind a proxy.
    pub(crate) handshake: Option<Handshake>,
}

/// How long the steps took, each from the end of the one before; nothing for steps that were not taken.
#[derive(Debug, Serialize)]
pub(crate) struct Timings {
    pub(crate) dns: Option<f64>,
    pub(crate) connect: Option<f64>,
    pub(crate) tls: Option<f64>,
    pub(crate) first_byte: Option<f64>,
    pub(crate) rest: Option<f64>,
    pub(crate) total: f64,
}

/// A response's body.
#[derive(Debug, Serialize)]
pub(crate) struct Body {
    /// Bytes as received.
    pub(crate) bytes: usize,
    /// Why it is not whole: `length`, `time` or `disconnect`.
    pub(crate) truncated: Option<String>,
    /// The codings that it came in.
    pub(crate) codings: Vec<String>,
    pub(crate) decoded_bytes: usize,
    /// How decoding ended: `whole`, or what was wrong.
    pub(crate) decoding: &'static str,
}

/// Where a redirect leads.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Leads {
    /// There.
    To(String),
    /// Nowhere that a crawl goes, and why.
    Refused(String),
}

/// Describes an exchange.
pub(crate) async fn describe(env: &Env, config: &Config, url: &WebUrl, exchange: &Exchange) -> Fetched {
    let decoded = exchange.decoded(&config.limits.decode);
    let answered = exchange.outcome.status().is_some();
    Fetched {
        outcome: outcome(config, exchange),
        address: exchange.address.map(|address| SocketAddr::new(address, port(config, url)).to_string()),
        protocol: match exchange.protocol {
            Protocol::Http1 => "http/1.1",
            Protocol::Http2 => "http/2",
        },
        tls: tls(env, config, url, exchange).await,
        timings_ms: timings(exchange),
        request: if was_sent(url, exchange) { lines(&exchange.request).collect() } else { Vec::new() },
        status_line: lines(exchange.head_bytes()).next(),
        fields: exchange.all_fields().map(|(name, value)| (printable(name), printable(value))).collect(),
        body: answered.then(|| Body {
            bytes: exchange.body().len(),
            truncated: exchange.truncated.map(|cut| cut.to_string()),
            codings: exchange.fields("content-encoding").map(printable).collect(),
            decoded_bytes: decoded.bytes.len(),
            decoding: decoded.end.name(),
        }),
        redirect: exchange.redirect(url).map(|redirect| match redirect {
            Redirect::To(target) => Leads::To(target.as_str().to_owned()),
            Redirect::Refused(reason) => Leads::Refused(reason.to_string()),
        }),
    }
}

/// Whether it came to the request.
fn was_sent(url: &WebUrl, exchange: &Exchange) -> bool {
    match url.scheme() {
        Scheme::Http => exchange.timings.connected.is_some(),
        Scheme::Https => exchange.tls.is_some(),
    }
}

/// The port that is connected to.
fn port(config: &Config, url: &WebUrl) -> u16 {
    let mapped = config.connect_ports.iter().find(|(from, _)| *from == url.port());
    mapped.map_or(url.port(), |(_, to)| *to)
}

fn outcome(config: &Config, exchange: &Exchange) -> Outcome {
    let follows = exchange.outcome.consequence();
    Outcome {
        name: exchange.outcome.to_string(),
        retries: follows.retries.min(config.politeness.retries_max),
        wait_s: follows.wait.as_secs_f64(),
        host_waits: follows.host,
        retry_after_s: exchange.retry_after().map(|wait| wait.as_secs()),
    }
}

async fn tls(env: &Env, config: &Config, url: &WebUrl, exchange: &Exchange) -> Option<Tls> {
    // Without an address it did not come to a connection, or a proxy made it.
    let reached = exchange.timings.connected.is_some();
    if url.scheme() != Scheme::Https || !reached {
        return None;
    }
    let handshake = match exchange.address {
        Some(address) => {
            let server = SocketAddr::new(address, port(config, url));
            Some(handshake::look(env, config, url, server).await)
        }
        None => None,
    };
    let info = exchange.tls.as_deref();
    Some(Tls {
        version: info.map(|info| info.version),
        cipher_suite: info.map(|info| info.cipher_suite.clone()),
        verdict: info.map(|info| info.verdict.to_string()),
        fingerprint: info
            .map(|info| info.fingerprint.iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))),
        handshake,
    })
}

fn timings(exchange: &Exchange) -> Timings {
    let mut last = exchange.begun;
    let mut step = |end: Option<Time>| {
        let end = end?;
        let took = ms(end.since(last));
        last = end;
        Some(took)
    };
    let times = exchange.timings;
    Timings {
        dns: step(times.resolved),
        connect: step(times.connected),
        tls: step(times.secured),
        first_byte: step(times.first_byte),
        rest: step(times.first_byte.map(|_| exchange.finished)),
        total: ms(exchange.finished.since(exchange.begun)),
    }
}

fn lines(head: &[u8]) -> impl Iterator<Item = String> {
    head.split(|byte| *byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .take_while(|line| !line.is_empty())
        .map(printable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_shown_line_by_line() {
        let head = b"GET / HTTP/1.1\r\nHost: a\r\n\r\nbody";
        assert_eq!(lines(head).collect::<Vec<_>>(), ["GET / HTTP/1.1", "Host: a"]);
    }
}
