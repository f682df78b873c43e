//! Content coding: C01–C08.

use std::io::{Read, Write};

use flate2::Compression;
use mattock_fetch::decode::{Coding, decode_file};
use mattock_fetch::{DecodeEnd, DecodeLimits, Exchange};
use proptest::prelude::*;

use crate::server::{Act, fetch};

const MIB: usize = 1024 * 1024;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::new();
    flate2::read::ZlibEncoder::new(bytes, Compression::fast()).read_to_end(&mut encoded).unwrap();
    encoded
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::new();
    flate2::read::DeflateEncoder::new(bytes, Compression::fast()).read_to_end(&mut encoded).unwrap();
    encoded
}

fn zstandard(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

/// 64 MiB of zeros in Brotli: 106 bytes.
const BROTLI_BOMB: &str = "cbffff3ff82700e2b14020f7fe8fffff7ff04f00c4611180eefd1fffffffe09f0088c30200ddfb3ffeffffc13f\
    0110870500baf77ffcffff837f02200e0b0074effff8ffff07ff04401c1600e8defff1ffff0ffe0980382c00d0bdffe3ffff1ffc1300715800\
    a07bff37";
/// [`text`] in Brotli.
const BROTLI_TEXT: &str = "1b8b05002c0eec981ab0c0a0fad66b35cf1b1c9d22334b1096b93ac32b1f34c73860ff1a745f775cc0f7183b132999\
    52f2d12156639a154f489f5527140042fa7fa800";

fn from_hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

fn text() -> Vec<u8> {
    b"<p>the quick brown fox jumps over the lazy dog, the quick brown fox</p>".repeat(20)
}

fn received(coding: &str, body: &[u8]) -> Exchange {
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nContent-Length: {}\r\n\r\n", body.len());
    let seen = fetch(&[Act::Request, Act::Send(head.into_bytes()), Act::Send(body.to_vec()), Act::Hang]);
    assert_eq!(seen.exchange.body(), body, "the archive gets what came");
    seen.exchange
}

fn decoded(coding: &str, body: &[u8]) -> (Vec<u8>, DecodeEnd) {
    let exchange = received(coding, body);
    let decoded = exchange.decoded(&DecodeLimits::default());
    (decoded.bytes.into_owned(), decoded.end)
}

#[test]
fn every_coding_is_undone() {
    let text = text();
    for (coding, body) in [
        ("gzip", gzip(&text)),
        ("X-GZip", gzip(&text)),
        ("deflate", zlib(&text)),
        ("deflate", deflate(&text)),
        ("br", from_hex(BROTLI_TEXT)),
        ("zstd", zstandard(&text)),
        ("identity", text.clone()),
        ("", text.clone()),
        ("gzip, br", Vec::new()),
        ("deflate, gzip", gzip(&zlib(&text))),
        ("identity, zstd, identity, gzip", gzip(&zstandard(&text))),
    ] {
        let expected = if body.is_empty() { Vec::new() } else { text.clone() };
        assert_eq!(decoded(coding, &body), (expected, DecodeEnd::Whole), "{coding}");
    }
}

#[test]
fn no_coding_costs_no_copy() {
    let exchange = received("identity", b"plain");
    let decoded = exchange.decoded(&DecodeLimits::default());
    assert!(matches!(decoded.bytes, std::borrow::Cow::Borrowed(b"plain")));
}

#[test]
fn c01_c02_c03_bombs_are_cut() {
    let zeros = vec![0; 64 * MIB];
    for (coding, body) in [
        ("gzip", gzip(&zeros)),
        ("deflate", zlib(&zeros)),
        ("zstd", zstandard(&zeros)),
        ("br", from_hex(BROTLI_BOMB)),
        ("gzip, gzip", gzip(&gzip(&zeros))),
    ] {
        let (bytes, end) = decoded(coding, &body);
        assert_eq!(end, DecodeEnd::Length, "{coding}");
        assert!((MIB..=5 * MIB).contains(&bytes.len()), "{coding}: {}", bytes.len());
    }
    // By ratio: 106 bytes may not become five million, though they may become one.
    assert_eq!(decoded("br", &from_hex(BROTLI_BOMB)).0.len(), MIB);
}

#[test]
fn c03_a_giant_window_is_refused() {
    // A frame header that asks for a window of 2^31 bytes, then one raw block of one byte.
    let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3, 0x09, 0x00, 0x00, b'x'];
    assert_eq!(decoded("zstd", &frame), (Vec::new(), DecodeEnd::Broken));
    // The same with 2^23, which is allowed.
    let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 13 << 3, 0x09, 0x00, 0x00, b'x'];
    assert_eq!(decoded("zstd", &frame), (b"x".to_vec(), DecodeEnd::Whole));
}

#[test]
fn c04_more_than_two_codings_are_refused() {
    let mut body = text();
    for _ in 0..20 {
        body = gzip(&body);
    }
    assert_eq!(decoded(&vec!["gzip"; 20].join(", "), &body), (Vec::new(), DecodeEnd::TooMany));
}

#[test]
fn a_long_coding_of_nothing_is_cut_in_between() {
    // Two million empty members inside one: nothing comes out, but much work goes in.
    let nothing = gzip(b"").repeat(1_000_000);
    let (bytes, end) = decoded("gzip, gzip", &gzip(&nothing));
    assert_eq!((bytes.len(), end), (0, DecodeEnd::Length));
}

#[test]
fn c05_a_compressed_file_has_the_same_budget() {
    let limits = DecodeLimits::default();
    let file = gzip(&text());
    assert_eq!(decode_file(Coding::Gzip, &file, false, &limits).bytes, text());
    let bomb = gzip(&vec![0; 64 * MIB]);
    let cut = decode_file(Coding::Gzip, &bomb, false, &limits);
    assert_eq!((cut.bytes.len(), cut.end), (5 * MIB, DecodeEnd::Length));
}

#[test]
fn c06_what_is_not_what_it_says_is_not_parsed() {
    let text = text();
    for coding in ["gzip", "deflate", "br", "zstd"] {
        assert_eq!(decoded(coding, &text), (Vec::new(), DecodeEnd::Broken), "{coding}");
    }
    for (coding, body) in [
        ("gzip", gzip(&text)),
        ("deflate", zlib(&text)),
        ("deflate", deflate(&text)),
        ("zstd", zstandard(&text)),
        ("br", from_hex(BROTLI_TEXT)),
    ] {
        let half = &body[..body.len() / 2];
        assert_eq!(decoded(coding, half), (Vec::new(), DecodeEnd::Broken), "{coding}");
    }
}

#[test]
fn what_was_cut_on_the_way_is_decoded_as_far_as_it_goes() {
    let body = gzip(&text());
    let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", body.len());
    let half = body[..body.len() - 9].to_vec();
    let seen = fetch(&[Act::Request, Act::Send(head.into_bytes()), Act::Send(half), Act::Close]);
    assert_eq!(seen.truncated().as_deref(), Some("disconnect"));
    let decoded = seen.exchange.decoded(&DecodeLimits::default());
    assert_eq!(decoded.end, DecodeEnd::Cut);
    assert!(!decoded.bytes.is_empty() && text().starts_with(&decoded.bytes));
}

#[test]
fn c07_members_follow_each_other_and_garbage_ends_them() {
    let two = [gzip(b"one "), gzip(b"two")].concat();
    assert_eq!(decoded("gzip", &two), (b"one two".to_vec(), DecodeEnd::Whole));
    // Members of one size must not be taken for a single one.
    let alike = [gzip(b"one "), gzip(b"two ")].concat();
    assert_eq!(decoded("gzip", &alike), (b"one two ".to_vec(), DecodeEnd::Whole));
    // Garbage that looks like the size of what came before it.
    let sized = [&gzip(b"one ")[..], b"xxxx\x04\0\0\0"].concat();
    assert_eq!(decoded("gzip", &sized).0, b"one ");
    let garbage = [&two[..], b"garbage behind it"].concat();
    assert_eq!(decoded("gzip", &garbage), (b"one two".to_vec(), DecodeEnd::Garbage));
}

#[test]
fn c08_unknown_codings_are_stored_and_not_parsed() {
    assert_eq!(decoded("compress", b"\x1f\x9d"), (Vec::new(), DecodeEnd::Unknown));
    assert_eq!(decoded("gzip, aes128gcm", &gzip(b"x")), (Vec::new(), DecodeEnd::Unknown));
}

proptest! {
    #[test]
    fn no_bytes_make_a_decoder_panic_or_overrun(
        bytes in proptest::collection::vec(any::<u8>(), 0..500),
        flips in proptest::collection::vec((0usize..2000, any::<u8>()), 0..4),
    ) {
        let limits = DecodeLimits { bytes_max: 10_000, ..DecodeLimits::default() };
        let text = text();
        let bodies = [
            (Coding::Gzip, gzip(&text)), (Coding::Deflate, zlib(&text)), (Coding::Deflate, deflate(&text)),
            (Coding::Zstd, zstandard(&text)), (Coding::Brotli, from_hex(BROTLI_TEXT)),
        ];
        for (coding, mut body) in bodies {
            for (at, byte) in &flips {
                let length = body.len();
                body[at % length] ^= byte;
            }
            for input in [&body, &bytes] {
                prop_assert!(decode_file(coding, input, true, &limits).bytes.len() <= 10_000);
            }
        }
    }

    #[test]
    fn what_was_encoded_comes_back(text in proptest::collection::vec(any::<u8>(), 1..3000)) {
        let limits = DecodeLimits::default();
        for (coding, body) in [
            (Coding::Gzip, gzip(&text)), (Coding::Deflate, zlib(&text)), (Coding::Zstd, zstandard(&text)),
        ] {
            let decoded = decode_file(coding, &body, false, &limits);
            prop_assert_eq!((&decoded.bytes[..], decoded.end), (&text[..], DecodeEnd::Whole));
        }
    }
}
