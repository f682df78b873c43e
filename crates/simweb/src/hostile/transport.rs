//! Connections and HTTP/1.1: silence, slowness, endlessness, and framing that does not add up.

use std::time::Duration;

use super::reply::{drip, head, html, raw, repeat, send, stream};
use super::{Ask, Hostility, ordinary};
use crate::script::{ENDLESS, End, Script, Step};

pub(super) const TABLE: [Hostility; 19] = [
    Hostility::new(
        "T01",
        "silence",
        "accepts and never answers",
        "first-byte timeout",
        &["/silent"],
        |ask| (ask.path == "/silent").then(|| Script { steps: Vec::new(), end: End::Hang }),
    ),
    Hostility::new(
        "T02",
        "refusal",
        "refuses connections",
        "back-off, then given up",
        &["http://{host}:81/"],
        ordinary,
    ),
    Hostility::new(
        "T03",
        "reset before the head",
        "resets the connection instead of answering",
        "at most 2 delayed retries",
        &["/reset"],
        |ask| (ask.path == "/reset").then(|| Script { steps: Vec::new(), end: End::Reset }),
    ),
    Hostility::new(
        "T04",
        "reset in the body",
        "resets the connection in the middle of a body",
        "what came is kept, marked `disconnect`",
        &["/reset"],
        |ask| {
            let steps = || {
                // What is still under way when a reset comes is lost, so let it arrive.
                vec![send(sized(100_000)), send(vec![b'x'; 5_000]), Step::Wait(Duration::from_secs(1))]
            };
            (ask.path == "/reset").then(|| Script { steps: steps(), end: End::Reset })
        },
    ),
    Hostility::new(
        "T05",
        "a byte every ten seconds",
        "sends the body a byte at a time, for ever",
        "cut at the time limit, marked `time`",
        &["/slow"],
        |ask| {
            if ask.path == "/slow" {
                stream(vec![drip(b"x", Duration::from_secs(10))], End::Close)
            } else {
                None
            }
        },
    ),
    Hostility::new(
        "T06",
        "a byte of head every five seconds",
        "sends the head a byte at a time, for ever",
        "given up at the head's time limit",
        &["/slow"],
        |ask| {
            let steps =
                || vec![send(&b"HTTP/1.1 200 OK\r\nX-Slow: "[..]), drip(b"a", Duration::from_secs(5))];
            (ask.path == "/slow").then(|| Script { steps: steps(), end: End::Close })
        },
    ),
    Hostility::new(
        "T07",
        "endless body",
        "sends a body without end: until close, under an absurd length, and in chunks",
        "cut at the size limit, marked `length`, connection dropped undrained",
        &["/close", "/length", "/chunked"],
        endless_body,
    ),
    Hostility::new(
        "T08",
        "endless head",
        "sends header lines for ever",
        "refused at 256 KiB or 512 fields",
        &["/head"],
        |ask| {
            let line = Step::Numbered { before: "X-".into(), after: ": y\r\n".into(), times: ENDLESS };
            let steps = vec![send(&b"HTTP/1.1 200 OK\r\n"[..]), line];
            (ask.path == "/head").then_some(Script { steps, end: End::Close })
        },
    ),
    Hostility::new(
        "T09",
        "one giant header",
        "sends a header line of 300 KiB",
        "refused",
        &["/head"],
        |ask| (ask.path == "/head").then(|| giant_head(300, Duration::ZERO)),
    ),
    Hostility::new(
        "T10",
        "giant head in pieces",
        "sends a head of 300 KiB in pieces of 1 KiB",
        "refused all the same",
        &["/head"],
        |ask| (ask.path == "/head").then(|| giant_head(300, Duration::from_millis(10))),
    ),
    Hostility::new(
        "T11",
        "endless interim responses",
        "sends `100 Continue` for ever",
        "at most 8, then a protocol error",
        &["/interim"],
        |ask| {
            let steps = || vec![repeat(&b"HTTP/1.1 100 Continue\r\n\r\n"[..], ENDLESS)];
            (ask.path == "/interim").then(|| Script { steps: steps(), end: End::Close })
        },
    ),
    Hostility::new(
        "T12",
        "not HTTP",
        "answers in HTTP/0.9, with a status that is no number, or in another protocol",
        "protocol error",
        &["/old", "/status", "/ssh"],
        |ask| match ask.path {
            "/old" => raw(&b"<html><title>Hello from 1991</title>\n"[..], End::Close),
            "/status" => raw(&b"HTTP/1.1 abc OK\r\nContent-Length: 0\r\n\r\n"[..], End::Close),
            "/ssh" => raw(&b"SSH-2.0-OpenSSH_9.9\r\n"[..], End::Hang),
            _ => None,
        },
    ),
    Hostility::new(
        "T13",
        "length too large",
        "announces more bytes than it sends",
        "what came is kept, marked `disconnect`",
        &["/short"],
        |ask| {
            let steps = || vec![send(sized(100_000)), send(vec![b'x'; 1_000])];
            (ask.path == "/short").then(|| Script { steps: steps(), end: End::Close })
        },
    ),
    Hostility::new(
        "T14",
        "length too small",
        "sends more bytes than it announces",
        "stops at the length and drops the connection",
        &["/long", "/next"],
        |ask| match ask.path {
            "/long" => {
                let steps = vec![send(sized(10)), send(&b"0123456789HTTP/1.1 200 OK\r\n\r\nsmuggled"[..])];
                Some(Script { steps, end: End::Keep })
            }
            "/next" => html("the true next page"),
            _ => None,
        },
    ),
    Hostility::new(
        "T15",
        "contradictory lengths",
        "announces two lengths, or a length and chunks",
        "rejected, connection not used again",
        &["/two", "/both"],
        |ask| {
            match ask.path {
            "/two" => raw(
                &b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n123456"[..],
                End::Keep,
            ),
            "/both" => raw(
                &b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"[..],
                End::Keep,
            ),
            _ => None,
        }
        },
    ),
    Hostility::new(
        "T16",
        "bad chunk size",
        "sends a chunk whose size is no number, negative, or 2^64",
        "the prefix is kept, marked `disconnect`",
        &["/word", "/negative", "/huge"],
        |ask| match ask.path {
            "/word" => chunks(b"zebra\r\nhello\r\n"),
            "/negative" => chunks(b"-5\r\nhello\r\n"),
            "/huge" => chunks(b"10000000000000000\r\nhello\r\n"),
            _ => None,
        },
    ),
    Hostility::new(
        "T17",
        "no final chunk, endless trailers",
        "closes before the final chunk, or sends trailer lines for ever",
        "kept, marked `disconnect`; trailers at most 16 KiB",
        &["/cut", "/trailers"],
        |ask| match ask.path {
            "/cut" => chunks(b""),
            "/trailers" => {
                let line = Step::Numbered { before: "X-".into(), after: ": y\r\n".into(), times: ENDLESS };
                let mut script = chunks(b"0\r\n")?;
                script.steps.push(line);
                Some(script)
            }
            _ => None,
        },
    ),
    Hostility::new(
        "T18",
        "second response",
        "sends a second response that nobody asked for",
        "connection dropped; the next page is the true one",
        &["/first", "/next"],
        |ask| match ask.path {
            "/first" => {
                let mut script = html("the first page")?;
                script.steps.extend(html("smuggled")?.steps);
                Some(script)
            }
            "/next" => html("the true next page"),
            _ => None,
        },
    ),
    Hostility::new(
        "T19",
        "body where none may be",
        "sends a body with 204",
        "ignored, connection dropped; the next page is the true one",
        &["/204", "/next"],
        |ask| match ask.path {
            "/204" => raw(
                &b"HTTP/1.1 204 No Content\r\nContent-Length: 27\r\n\r\nHTTP/1.1 200 OK\r\n\r\nsmuggled"[..],
                End::Keep,
            ),
            "/next" => html("the true next page"),
            _ => None,
        },
    ),
];

fn sized(length: u64) -> Vec<u8> {
    head("200 OK", &["Content-Type: text/html", &format!("Content-Length: {length}")])
}

fn endless_body(ask: &Ask<'_>) -> Option<Script> {
    let line = || repeat(&b"<p>and so on and so on\n"[..], ENDLESS);
    match ask.path {
        "/close" => stream(vec![line()], End::Close),
        "/length" => Some(Script { steps: vec![send(sized(u64::MAX / 4)), line()], end: End::Close }),
        "/chunked" => {
            let head = head("200 OK", &["Content-Type: text/html", "Transfer-Encoding: chunked"]);
            let chunk = repeat(&b"10\r\n<p>and so on and\r\n"[..], ENDLESS);
            Some(Script { steps: vec![send(head), chunk], end: End::Close })
        }
        _ => None,
    }
}

fn giant_head(pieces: u64, pause: Duration) -> Script {
    let piece = Step::Repeat { bytes: vec![b'a'; 1024].into(), times: pieces, pause };
    let end = send(&b"\r\nContent-Length: 2\r\n\r\nok"[..]);
    Script { steps: vec![send(&b"HTTP/1.1 200 OK\r\nX-Giant: "[..]), piece, end], end: End::Keep }
}

/// One good chunk, and then this.
fn chunks(rest: &'static [u8]) -> Option<Script> {
    let head = head("200 OK", &["Content-Type: text/html", "Transfer-Encoding: chunked"]);
    Some(Script { steps: vec![send(head), send(&b"6\r\nprefix\r\n"[..]), send(rest)], end: End::Close })
}
