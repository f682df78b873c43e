//! TLS and what is spoken over it. What needs no keys is done here byte by byte.

use super::reply::{html, raw, repeat, send};
use super::{Hostility, ordinary};
use crate::Security;
use crate::script::{ENDLESS, End, Script};
use crate::secure::Certificate;

pub(super) const TABLE: [Hostility; 4] = [
    Hostility::new(
        "T20",
        "floods of frames",
        "agrees on HTTP/2 and then sends continuations of a head, resets, or empty frames without end (by copy)",
        "closed soon; memory stays flat",
        &["https://{host}/"],
        ordinary,
    )
    .with_security(|copy, name| Security::new(name, Certificate::Sound, Some(flood(copy)))),
    Hostility::new(
        "T21",
        "bad certificates",
        "its certificate has expired, is self-signed, or is for another name (by copy)",
        "the policy decides; what was found is recorded",
        &["https://{host}/secured"],
        |ask| if ask.path == "/secured" { html("secured") } else { None },
    )
    .with_security(|copy, name| {
        let certificate = match copy % 3 {
            0 => Certificate::Expired,
            1 => Certificate::SelfSigned,
            _ => Certificate::WrongName,
        };
        Security::new(name, certificate, None)
    }),
    Hostility::new(
        "T22",
        "stalled handshake, giant chain",
        "never answers a handshake (even copies), or answers with certificates that have no end (odd copies)",
        "given up within 10 s and 64 KiB",
        &["https://{host}/"],
        ordinary,
    )
    .with_handshake(|copy| match copy % 2 {
        0 => Script { steps: Vec::new(), end: End::Hang },
        _ => giant_chain(),
    }),
    Hostility::new(
        "T23",
        "TLS on 80, plain on 443",
        "answers a plain request with a TLS alert, and a handshake with plain HTTP",
        "error, and no loop between the two",
        &["/tls", "https://{host}/plain"],
        |ask| match ask.path {
            // A fatal alert: protocol version.
            "/tls" => raw(&b"\x15\x03\x01\x00\x02\x02\x46"[..], End::Close),
            _ => None,
        },
    ),
];

/// A frame of HTTP/2 on stream 1, or on the connection itself.
fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = payload.len() as u16;
    let [high, low] = length.to_be_bytes();
    let mut frame = vec![0, high, low, kind, flags, 0, 0, 0, stream];
    frame.extend_from_slice(payload);
    frame
}

/// Settings, and then the same frame again and again. The request that is answered is the first: stream 1.
fn flood(copy: u32) -> Script {
    // In HPACK, 0x88 is ":status: 200".
    const OK: &[u8] = &[0x88];
    let settings = frame(4, 0, 0, &[]);
    let (first, again) = match copy % 3 {
        0 => (frame(1, 0, 1, OK), frame(9, 0, 1, &b"\x00\x01a\x01b".repeat(20))),
        1 => (Vec::new(), frame(3, 0, 1, &[0, 0, 0, 8])),
        _ => (frame(1, 4, 1, OK), frame(0, 0, 1, &[])),
    };
    Script { steps: vec![send(settings), send(first), repeat(again, ENDLESS)], end: End::Hang }
}

/// A TLS 1.2 ServerHello, and then a Certificate message of 16 MiB that goes on in ever more records.
fn giant_chain() -> Script {
    let mut hello = vec![0x16, 3, 3, 0, 42, 2, 0, 0, 38, 3, 3];
    hello.extend_from_slice(&[7; 32]);
    // No session, ECDHE-RSA with AES-128-GCM, no compression.
    hello.extend_from_slice(&[0, 0xc0, 0x2f, 0]);
    let begin = [0x16, 3, 3, 0, 7, 11, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfc];
    let mut record = vec![0x16, 3, 3, 0x10, 0];
    record.extend_from_slice(&[0; 0x1000]);
    Script { steps: vec![send(hello), send(begin.to_vec()), repeat(record, ENDLESS)], end: End::Hang }
}
