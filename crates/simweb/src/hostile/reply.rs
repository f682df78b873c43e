//! The parts that hostile answers are made of.

use std::borrow::Cow;
use std::time::Duration;

use crate::script::{ENDLESS, End, Script, Step};

pub(super) const NO_PAUSE: Duration = Duration::ZERO;

/// A response head with its empty line. `fields` are whole lines without their ends.
pub(super) fn head(status: &str, fields: &[&str]) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status}\r\n").into_bytes();
    for field in fields {
        head.extend_from_slice(field.as_bytes());
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"\r\n");
    head
}

/// A well-framed response, after which the connection goes on.
pub(super) fn response(status: &str, fields: &[&str], body: &[u8]) -> Script {
    let length = format!("Content-Length: {}", body.len());
    let mut fields = fields.to_vec();
    fields.push(&length);
    let mut bytes = head(status, &fields);
    bytes.extend_from_slice(body);
    Script::send(bytes, End::Keep)
}

/// A page of HTML.
pub(super) fn html(body: impl AsRef<[u8]>) -> Option<Script> {
    Some(response("200 OK", &["Content-Type: text/html"], body.as_ref()))
}

/// A text, as robots.txt is.
pub(super) fn text(body: impl AsRef<[u8]>) -> Option<Script> {
    Some(response("200 OK", &["Content-Type: text/plain"], body.as_ref()))
}

/// A status and nothing else.
pub(super) fn status(status: &str) -> Option<Script> {
    Some(response(status, &["Content-Type: text/plain"], b"so it is\n"))
}

/// A redirect.
pub(super) fn redirect(to: &str) -> Option<Script> {
    Some(response("302 Found", &[&format!("Location: {to}")], b""))
}

/// HTML whose end is the end of the connection, made of these steps.
pub(super) fn stream(mut steps: Vec<Step>, end: End) -> Option<Script> {
    steps.insert(0, send(head("200 OK", &["Content-Type: text/html", "Connection: close"])));
    Some(Script { steps, end })
}

/// Raw bytes.
pub(super) fn raw(bytes: impl Into<Cow<'static, [u8]>>, end: End) -> Option<Script> {
    Some(Script::send(bytes, end))
}

pub(super) fn send(bytes: impl Into<Cow<'static, [u8]>>) -> Step {
    Step::Send(bytes.into())
}

pub(super) fn repeat(bytes: impl Into<Cow<'static, [u8]>>, times: u64) -> Step {
    Step::Repeat { bytes: bytes.into(), times, pause: NO_PAUSE }
}

pub(super) fn drip(bytes: &'static [u8], pause: Duration) -> Step {
    Step::Repeat { bytes: bytes.into(), times: ENDLESS, pause }
}

/// A few words that belong to this text: pages that say them are not the same.
pub(super) fn spelled(text: &str) -> String {
    let hash = xxhash_rust::xxh3::xxh3_64(text.as_bytes());
    let words: Vec<&str> = (0..12).map(|word| WORDS[(hash >> (4 * word)) as usize % WORDS.len()]).collect();
    words.join(" ")
}

pub(super) const WORDS: [&str; 16] = [
    "amber", "brook", "cedar", "delta", "ember", "field", "grove", "heath", "islet", "jetty", "knoll",
    "larch", "moor", "north", "orchard", "pond",
];

/// An HTML page with a title and links.
pub(super) fn page(title: &str, links: &[impl AsRef<str>]) -> String {
    let mut page = format!("<!DOCTYPE html>\n<title>{title}</title>\n<h1>{title}</h1>\n<ul>\n");
    for link in links {
        page.push_str("<li><a href=\"");
        page.push_str(link.as_ref());
        page.push_str("\">link</a>\n");
    }
    page.push_str("</ul>\n");
    page
}
