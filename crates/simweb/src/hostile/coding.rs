//! Content codings: bombs, stacks, and labels that lie.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use flate2::{Crc, FlushCompress};

use super::Hostility;
use super::reply::{head, page, repeat, response, send};
use crate::script::{End, Script, Step};

/// Mebibytes that a gzip or zstd bomb comes to.
const BOMB_MIB: u64 = 1024;
const MIB: usize = 1 << 20;

/// 64 MiB of zeros in 54 bytes of Brotli (quality 11, window 2^24).
const BROTLI_BOMB: [u8; 54] = [
    0xcf, 0xff, 0xff, 0x7f, 0xf8, 0x27, 0x00, 0xe2, 0xb1, 0x40, 0x20, 0xf7, 0xfe, 0x9f, 0xff, 0xff, 0xff,
    0xf0, 0x4f, 0x00, 0xc4, 0x61, 0x01, 0x80, 0xee, 0xfd, 0x3f, 0xff, 0xff, 0xff, 0xe1, 0x9f, 0x00, 0x88,
    0xc3, 0x22, 0x00, 0xdd, 0xfb, 0x7f, 0xfe, 0xff, 0xff, 0xc3, 0x3f, 0x01, 0x10, 0x87, 0x05, 0x00, 0xba,
    0xf7, 0xff, 0x03,
];

pub(super) const TABLE: [Hostility; 8] = [
    Hostility::new(
        "C01",
        "gzip bomb",
        "sends a gigabyte of zeros as a megabyte of gzip",
        "decoding stops at 5 MiB, marked `length`",
        &["/bomb"],
        |ask| {
            (ask.path == "/bomb").then(|| {
                let mut steps = vec![send(coded("gzip"))];
                steps.extend(gzip_bomb(b""));
                Script { steps, end: End::Close }
            })
        },
    ),
    Hostility::new(
        "C02",
        "brotli bomb",
        "sends 64 MiB of zeros as 54 bytes of Brotli",
        "decoding stops at 5 MiB, marked `length`",
        &["/bomb"],
        |ask| (ask.path == "/bomb").then(|| whole("br", &BROTLI_BOMB)),
    ),
    Hostility::new(
        "C03",
        "zstd bomb, giant window",
        "sends a gigabyte of zeros as 32 KB of zstd, and a frame that asks for a window of 3 GB",
        "window at most 8 MB, decoding stops at 5 MiB",
        &["/bomb", "/window"],
        |ask| match ask.path {
            // A window of 8 MB, and of 3 GB.
            "/bomb" => Some(whole("zstd", &zstd_zeros(13 << 3, BOMB_MIB * 8))),
            "/window" => Some(whole("zstd", &zstd_zeros(21 << 3 | 4, 1))),
            _ => None,
        },
    ),
    Hostility::new(
        "C04",
        "stacked codings",
        "sends a page that was compressed twenty times",
        "stored as it came: at most 2 codings are undone",
        &["/stack"],
        |ask| {
            (ask.path == "/stack").then(|| {
                let once = page("a page", &["/never-followed"]).into_bytes();
                whole(&["gzip"; 20].join(", "), &(0..20).fold(once, |body, _| gzip(&body)))
            })
        },
    ),
    Hostility::new(
        "C05",
        "compressed file",
        "sends a .gz file that is a bomb, without saying so in the head",
        "stored as it came, or decoded within the same limits",
        &["/file.gz"],
        |ask| {
            (ask.path == "/file.gz").then(|| {
                let head = head("200 OK", &["Content-Type: application/gzip", "Connection: close"]);
                let mut steps = vec![send(head)];
                steps.extend(gzip_bomb(b""));
                Script { steps, end: End::Close }
            })
        },
    ),
    Hostility::new(
        "C06",
        "false or cut gzip",
        "labels plain text as gzip, and cuts real gzip short",
        "stored as it came; nothing is read from what is not gzip",
        &["/false", "/cut"],
        |ask| match ask.path {
            "/false" => Some(whole("gzip", page("not gzip", &["/never-followed"]).as_bytes())),
            "/cut" => {
                let body = gzip(page("cut", &vec!["/x"; 2_000]).as_bytes());
                Some(whole("gzip", &body[..body.len() / 2]))
            }
            _ => None,
        },
    ),
    Hostility::new(
        "C07",
        "several members and garbage",
        "sends two gzip members and garbage after them",
        "the first error ends it; what came before it counts",
        &["/members"],
        |ask| {
            (ask.path == "/members").then(|| {
                let mut body = gzip(page("one", &["/one"]).as_bytes());
                body.extend(gzip(page("two", &["/two"]).as_bytes()));
                body.extend_from_slice(b"<a href='/never-followed'>garbage</a>");
                whole("gzip", &body)
            })
        },
    ),
    Hostility::new(
        "C08",
        "unknown coding",
        "labels a page with a coding that does not exist",
        "stored as it came",
        &["/unknown"],
        |ask| (ask.path == "/unknown").then(|| whole("rot13", b"<n uers='/arire-sbyybjrq'>yvax</n>")),
    ),
];

fn coded(coding: &str) -> Vec<u8> {
    let coding = format!("Content-Encoding: {coding}");
    head("200 OK", &["Content-Type: text/html", &coding, "Connection: close"])
}

fn whole(coding: &str, body: &[u8]) -> Script {
    response("200 OK", &["Content-Type: text/html", &format!("Content-Encoding: {coding}")], body)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("a Vec takes everything")
}

/// A gzip file of `prefix` and a gigabyte of zeros. A full flush makes every mebibyte the same block, so one is made
/// and sent again and again.
pub(super) fn gzip_bomb(prefix: &[u8]) -> [Step; 3] {
    let mut first = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff".to_vec();
    first.extend(deflate_block(prefix));
    let zeros = vec![0; MIB];
    let (mut crc, mut block_crc) = (Crc::new(), Crc::new());
    crc.update(prefix);
    block_crc.update(&zeros);
    for _ in 0..BOMB_MIB {
        crc.combine(&block_crc);
    }
    // An empty last block, and the trailer.
    let mut last = vec![3, 0];
    last.extend_from_slice(&crc.sum().to_le_bytes());
    last.extend_from_slice(&crc.amount().to_le_bytes());
    [send(first), repeat(deflate_block(&zeros), BOMB_MIB), send(last)]
}

/// Deflate data that ends on a byte and refers to nothing before it.
fn deflate_block(bytes: &[u8]) -> Vec<u8> {
    let mut compress = flate2::Compress::new(Compression::best(), false);
    let mut out = Vec::with_capacity(bytes.len() / 100 + 1024);
    compress.compress_vec(bytes, &mut out, FlushCompress::Full).expect("deflate takes any bytes");
    out
}

/// A zstd frame with this window descriptor and so many blocks of 128 KiB of zeros, four bytes each.
fn zstd_zeros(window: u8, blocks: u64) -> Vec<u8> {
    const BLOCK_BYTES: u32 = 128 * 1024;
    const RUN: u32 = 1 << 1;
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, window];
    for number in 1..=blocks {
        let header = BLOCK_BYTES << 3 | RUN | u32::from(number == blocks);
        frame.extend_from_slice(&header.to_le_bytes()[..3]);
        frame.push(0);
    }
    frame
}
