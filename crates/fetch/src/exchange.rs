//! One request and what came of it.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use mattock_env::{Time, UnixTime};
use mattock_weburl::WebUrl;

use crate::decode::{Decoded, decode};
use crate::http::{Head, Truncation};
use crate::limits::DecodeLimits;
use crate::redirect::Redirect;
use crate::request::Validators;
use crate::spill::Spill;
use crate::tls::TlsInfo;
use crate::{FetchOutcome, redirect};

/// Longer waits than this are not believed: the server will be asked again after it.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(24 * 3600);
/// Longer validators are not worth sending back.
const VALIDATOR_BYTES_MAX: usize = 1024;

/// In which tongue the server was spoken to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.0 or HTTP/1.1.
    #[default]
    Http1,
    /// HTTP/2. The heads of request and response are stored in the form of HTTP/1.1, as archives do.
    Http2,
}

/// When the steps of a fetch ended; a step that was not needed has no time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// The address was known.
    pub resolved: Option<Time>,
    /// The connection was open (through the proxy too, if there is one).
    pub connected: Option<Time>,
    /// The TLS handshake was done.
    pub secured: Option<Time>,
    /// The first bytes of the response were in.
    pub first_byte: Option<Time>,
}

/// One request and what came of it.
#[derive(Debug)]
pub struct Exchange {
    /// How it ended.
    pub outcome: FetchOutcome,
    /// Whom we talked to; `None` if it did not come to a connection, or if a proxy made it.
    pub address: Option<IpAddr>,
    /// The request's head as sent, but for the values of secret fields, which are [left out](mattock_secret::LEFT_OUT).
    pub request: Vec<u8>,
    /// Why the body is not whole.
    pub truncated: Option<Truncation>,
    /// When the request was begun, for gaps.
    pub begun: Time,
    /// When the request was begun, for the record.
    pub begun_unix: UnixTime,
    /// When the last byte was in.
    pub finished: Time,
    /// When the steps in between ended.
    pub timings: Timings,
    /// Whether the connection was one that an earlier fetch had left open.
    pub reused: bool,
    /// In which tongue.
    pub protocol: Protocol,
    /// How the connection was secured; `None` if it was not.
    pub tls: Option<Arc<TlsInfo>>,
    pub(crate) head: Option<Head>,
    /// Head and body, but for what is spilled of the body.
    pub(crate) bytes: Vec<u8>,
    pub(crate) spill: Spill,
}

impl Exchange {
    /// Brings the body back into memory if it waits [elsewhere](crate::ClientOptions::spill). Before that it cannot be looked at.
    pub fn restore(&mut self) -> std::io::Result<()> {
        let head = self.head.as_ref().map_or(0, |head| head.len);
        self.spill.restore(&mut self.bytes, head)
    }

    /// The response's head as received.
    pub fn head_bytes(&self) -> &[u8] {
        self.head.as_ref().map_or(&[], |head| &self.bytes[..head.len])
    }

    /// The response's body as received, chunking undone, content coding not.
    pub fn body(&self) -> &[u8] {
        debug_assert_eq!(self.spill.len, 0, "a body that was spilled is restored before it is looked at");
        self.head.as_ref().map_or(&[], |head| &self.bytes[head.len..])
    }

    /// The response's body with its content coding undone, within limits. Costs nothing if there is none.
    pub fn decoded(&self, limits: &DecodeLimits) -> Decoded<'_> {
        decode(self.fields("content-encoding"), self.body(), self.truncated.is_some(), limits)
    }

    /// The first value of a response field.
    pub fn field<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        self.head.as_ref().and_then(|head| head.value(&self.bytes, name))
    }

    /// All values of a response field, in order.
    pub fn fields<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.head.iter().flat_map(move |head| head.values(&self.bytes, name))
    }

    /// All response fields in order: name and value.
    pub fn all_fields(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.head.iter().flat_map(|head| head.fields(&self.bytes))
    }

    /// Where the response sends us, if it is a redirect. `url` is the one that was fetched.
    pub fn redirect(&self, url: &WebUrl) -> Option<Redirect> {
        redirect::of(url, self.outcome.status()?, self.fields("location"))
    }

    /// What a later request for the same URL can be made conditional by. Dates that are none, and such from before the
    /// Web or after this fetch, are left out.
    pub fn validators(&self) -> Validators {
        let text = |name: &'static str| {
            self.field(name).filter(|value| {
                value.len() <= VALIDATOR_BYTES_MAX && value.bytes().all(|byte| (b' '..0x7f).contains(&byte))
            })
        };
        let etag = text("etag").filter(|etag| etag.trim_start_matches("W/").starts_with('"'));
        let plausible = |date: &&str| {
            http_date(date).is_some_and(|seconds| (1..=self.begun_unix.as_seconds()).contains(&seconds))
        };
        let last_modified = text("last-modified").filter(plausible);
        Validators { etag: etag.map(str::to_owned), last_modified: last_modified.map(str::to_owned) }
    }

    /// How long the server wants to be left alone (`Retry-After`, seconds or a date), a day at most. A date is one of the server's clock, so
    /// the time until then is counted from what that says (`Date`), if it does: ours may have been set.
    pub fn retry_after(&self) -> Option<Duration> {
        let value = self.field("retry-after")?.trim();
        let wait = match value.bytes().all(|byte| byte.is_ascii_digit()) && !value.is_empty() {
            // More digits than fit are a long time too.
            true => Duration::from_secs(value.parse().unwrap_or(u64::MAX)),
            false => {
                let now = self.field("date").and_then(http_date);
                let seconds = http_date(value)? - now.unwrap_or(self.begun_unix.as_seconds());
                Duration::from_secs(u64::try_from(seconds).unwrap_or(0))
            }
        };
        Some(wait.min(RETRY_AFTER_MAX))
    }

    /// Bytes received, chunking undone.
    pub fn bytes_received(&self) -> u64 {
        (self.bytes.len() + self.spill.len) as u64
    }
}

/// Seconds since 1970 of a date as HTTP writes it; obsolete forms are not read.
fn http_date(text: &str) -> Option<i64> {
    let parser = jiff::fmt::rfc2822::DateTimeParser::new();
    parser.parse_timestamp(text.trim()).ok().map(jiff::Timestamp::as_second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::head_end;

    fn answered(fields: &str) -> Exchange {
        let bytes = format!("HTTP/1.1 200 OK\r\n{fields}\r\n").into_bytes();
        let head = Head::parse(&bytes, head_end(&bytes, 0).unwrap()).unwrap();
        Exchange {
            outcome: FetchOutcome::Answered(200),
            address: None,
            request: Vec::new(),
            truncated: None,
            begun: Time::ZERO,
            begun_unix: UnixTime::from_micros(1_181_347_200_000_000),
            finished: Time::ZERO,
            timings: Timings::default(),
            reused: false,
            protocol: Protocol::Http1,
            tls: None,
            head: Some(head),
            bytes,
            spill: Spill::default(),
        }
    }

    #[test]
    fn waits_are_clamped_p17() {
        let wait = |value: &str| answered(&format!("Retry-After: {value}\r\n")).retry_after();
        assert_eq!(wait("120"), Some(Duration::from_secs(120)));
        assert_eq!(wait("1000000000000"), Some(RETRY_AFTER_MAX));
        assert_eq!(wait("99999999999999999999999"), Some(RETRY_AFTER_MAX));
        assert_eq!(wait("-1"), None);
        assert_eq!(wait("soon"), None);
        assert_eq!(wait("Sat, 09 Jun 2007 00:01:00 GMT"), Some(Duration::from_secs(60)));
        assert_eq!(wait("Fri, 08 Jun 2007 00:01:00 GMT"), Some(Duration::ZERO));
        assert_eq!(wait("Tue, 09 Jun 2099 00:01:00 GMT"), Some(RETRY_AFTER_MAX));
        // Whoever's clock is wrong.
        let wait = wait("Sat, 09 Jun 2007 09:01:00 GMT\r\nDate: Sat, 09 Jun 2007 09:00:00 GMT");
        assert_eq!(wait, Some(Duration::from_secs(60)));
    }

    #[test]
    fn implausible_validators_are_not_sent_back_p15() {
        let modified =
            |value: &str| answered(&format!("Last-Modified: {value}\r\n")).validators().last_modified;
        let good = "Fri, 08 Jun 2007 00:01:00 GMT";
        assert_eq!(modified(good).as_deref(), Some(good));
        for bad in ["Wed, 31 Dec 1969 23:59:59 GMT", "Thu, 01 Jan 2099 00:00:00 GMT", "yesterday", "0", ""] {
            assert_eq!(modified(bad), None, "{bad}");
        }
        let etag = |value: &str| answered(&format!("ETag: {value}\r\n")).validators().etag;
        assert_eq!(etag("W/\"a\"").as_deref(), Some("W/\"a\""));
        assert_eq!(etag("naked"), None);
        assert_eq!(etag(&format!("\"{}\"", "a".repeat(2000))), None);
    }
}
