//! What writing a 20-KB page costs, against the bare call of the compressor on the same bytes:
//! `cargo run --release -p mattock-repository --example measure`.

use std::path::Path;

use libdeflater::{CompressionLvl, Compressor};
use mattock_env::{Clock, Files, Random, UnixTime};
use mattock_repository::{Digest, Page, RepositoryError, WarcReader, WarcWriter, WriterOptions};

const PAGES: usize = 64;
const PAGE_BYTES: usize = 20_000;
const ROUNDS: usize = 80;

#[expect(clippy::print_stdout, reason = "the figures are what this is for")]
fn main() -> Result<(), RepositoryError> {
    let bodies: Vec<Vec<u8>> = (0..PAGES as u64).map(body).collect();
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nServer: nginx\r\nContent-Length: 20000\r\n\r\n";
    let directory =
        std::env::temp_dir().join(format!("mattock-measure-{:016x}", Random::from_entropy().next_u64()));
    let files = Files::real();
    let clock = Clock::real();

    let mut compressor = Compressor::new(CompressionLvl::new(1).expect("a valid level"));
    let mut out = vec![0; compressor.gzip_compress_bound(PAGE_BYTES)];
    let mut compressed = 0;
    let (mut digest, mut small, mut bare, mut full, mut lean, mut reading) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    // The variants take turns, so that a busy machine is unfair to all of them alike.
    for round in 0..ROUNDS {
        let begin = clock.now();
        compressed = 0;
        for body in &bodies {
            compressed += compressor.gzip_compress(body, &mut out).expect("the bound was allocated");
        }
        bare.push(clock.now().since(begin));
        let begin = clock.now();
        for body in &bodies {
            std::hint::black_box(Digest::of(&[body]));
        }
        digest.push(clock.now().since(begin));
        let begin = clock.now();
        for body in &bodies {
            std::hint::black_box(
                compressor.gzip_compress(&body[..500], &mut out).expect("the bound was allocated"),
            );
        }
        small.push(clock.now().since(begin));
        for (block_digests, times) in [(true, &mut full), (false, &mut lean)] {
            let prefix = format!("r{round}{block_digests}");
            let options = WriterOptions { prefix: prefix.clone(), block_digests, ..WriterOptions::default() };
            let mut writer = WarcWriter::open(&files, &directory, options, Random::from_seed(1))?;
            let page = |body| {
                Page {
                url: "https://www.example.org/path/to/some/page.html",
                ip: Some([192, 0, 2, 1].into()),
                date: UnixTime::from_micros(1_767_355_200_000_000),
                request: b"GET /path/to/some/page.html HTTP/1.1\r\nHost: www.example.org\r\nUser-Agent: mattock\r\nAccept-Encoding: gzip\r\n\r\n",
                response_head: head,
                body,
                truncated: None,
                security: None,
                metadata: &[],
            }
            };
            writer.write_page(&page(&bodies[0]))?;
            let begin = clock.now();
            for body in &bodies {
                writer.write_page(&page(body))?;
            }
            writer.flush()?;
            times.push(clock.now().since(begin));
            if block_digests {
                reading.push(read(&files, &clock, &directory, &prefix)?);
            }
        }
    }
    let micros = |times: &[std::time::Duration]| {
        let fastest = times.iter().min().copied().unwrap_or_default();
        fastest.as_secs_f64() * 1e6 / PAGES as f64
    };
    let (bare, full, lean) = (micros(&bare), micros(&full), micros(&lean));
    println!(
        "{PAGES} pages of {PAGE_BYTES} bytes, compressed {:.2} times, fastest of {ROUNDS} rounds",
        (PAGES * PAGE_BYTES) as f64 / compressed as f64
    );
    println!("libdeflate alone     {bare:6.1} us/page");
    println!("  of 500 bytes       {:6.1} us", micros(&small));
    println!("SHA-1 of a page      {:6.1} us", micros(&digest));
    println!("write_page           {full:6.1} us/page, ratio {:.2}", full / bare);
    println!("  no block digests   {lean:6.1} us/page, ratio {:.2}", lean / bare);
    println!("reading back         {:6.1} us/page", micros(&reading));
    files.remove_dir_all(&directory).map_err(|source| RepositoryError::Io {
        action: "remove",
        path: directory.clone(),
        offset: 0,
        source,
    })
}

fn read(
    files: &Files,
    clock: &Clock,
    directory: &Path,
    prefix: &str,
) -> Result<std::time::Duration, RepositoryError> {
    let name = format!("{prefix}-20260102120000-00000.warc.gz");
    let mut reader = WarcReader::open(files, &directory.join(name))?;
    let begin = clock.now();
    let mut bytes = 0;
    while let Some(record) = reader.next_record()? {
        bytes += record.block.len();
    }
    assert!(bytes > PAGES * PAGE_BYTES);
    Ok(clock.now().since(begin))
}

/// A page that compresses about as well as real ones do.
fn body(seed: u64) -> Vec<u8> {
    let mut random = Random::from_seed(seed);
    let mut body = b"<!DOCTYPE html><html><head><title>A page</title></head><body>".to_vec();
    while body.len() < PAGE_BYTES {
        // Few words often, many words seldom.
        let word = (random.unit().powi(3) * 3000.0) as u64;
        let mut letters = Random::from_seed(word).fork("word");
        let len = 2 + letters.below(8);
        if random.chance(0.06) {
            body.extend_from_slice(b"<a class=\"link\" href=\"/articles/");
            body.extend_from_slice(random.below(1_000_000).to_string().as_bytes());
            body.extend_from_slice(b".html\">");
        }
        for _ in 0..len {
            body.push(b"etaoinshrdlucmfwypvbgkjqxz"[(letters.unit().powi(2) * 26.0) as usize]);
        }
        body.push(b' ');
        if random.chance(0.04) {
            body.extend_from_slice(b"</p>\n<p class=\"text\">");
        }
    }
    body.truncate(PAGE_BYTES);
    body
}
