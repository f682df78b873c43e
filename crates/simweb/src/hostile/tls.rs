//! TLS and what is spoken over it. What needs no keys is done here byte by byte.

use super::reply::{raw, repeat, send};
use super::{Hostility, ordinary};
use crate::script::{ENDLESS, End, Script};

pub(super) const TABLE: [Hostility; 2] = [
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
