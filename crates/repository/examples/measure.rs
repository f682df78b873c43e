//! What storing a page costs with gzip and with Zstandard, against the bare calls of the compressors on the same bytes:
//! `cargo run --release -p mattock-repository --example measure [DIRECTORY [BYTES]]`.
//!
//! The pages are the files `source.html` under the directory, cut at so many bytes if a number is given; or made up.
//! Figures are CPU time of the fastest round. "The same records" are what `write_page` makes of the pages, heads and requests
//! included, so that what is left between the two is digests, copies and the file.

use std::hint::black_box;
use std::io;
use std::path::{Path, PathBuf};

use libdeflater::{CompressionLvl, Compressor};
use mattock_env::{Files, Random, UnixTime, thread_cpu_seconds};
use mattock_repository::{Compression, Digest, Page, RepositoryError, WarcReader, WarcWriter, WriterOptions};
use zstd::zstd_safe::CParameter;

const PAGES: usize = 64;
const PAGE_BYTES: usize = 20_000;
const ROUNDS: usize = 20;
const GZIP_LEVELS: [i32; 2] = [1, 6];
/// Those below 1 are not offered: they are faster, and pack much worse.
const ZSTD_LEVELS: [i32; 8] = [-3, -2, -1, 1, 2, 3, 6, 9];
const STORED: [Compression; 4] =
    [Compression::Gzip(1), Compression::Zstd(1), Compression::Zstd(2), Compression::Zstd(3)];

/// One variant: its name, its fastest round, and how much came out.
struct Row {
    name: String,
    seconds: f64,
    bytes: usize,
}

#[derive(Default)]
struct Table(Vec<Row>);

impl Table {
    /// Runs a variant once and keeps its time if it is the best so far.
    fn run<E>(&mut self, name: String, work: impl FnOnce() -> Result<usize, E>) -> Result<(), E> {
        let begin = thread_cpu_seconds();
        let bytes = work()?;
        let seconds = thread_cpu_seconds() - begin;
        match self.0.iter_mut().find(|row| row.name == name) {
            Some(row) => row.seconds = row.seconds.min(seconds),
            None => self.0.push(Row { name, seconds, bytes }),
        }
        Ok(())
    }

    #[expect(clippy::print_stdout, reason = "the figures are what this is for")]
    fn print(&self, title: &str, pages: &[Vec<u8>]) {
        let plain: usize = pages.iter().map(Vec::len).sum();
        println!("{title:24} us/page   MB/CPU s   ratio");
        for Row { name, seconds, bytes } in &self.0 {
            let micros = seconds * 1e6 / pages.len() as f64;
            let speed = plain as f64 / 1e6 / seconds;
            println!("  {name:22} {micros:7.1} {speed:10.0} {:7.2}", plain as f64 / *bytes as f64);
        }
    }
}

#[expect(clippy::print_stdout, reason = "the figures are what this is for")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files = Files::real();
    let mut arguments = std::env::args().skip(1);
    let mut pages = Vec::new();
    match arguments.next() {
        Some(directory) => {
            collect(&files, Path::new(&directory), &mut pages)?;
            if let Some(bytes) = arguments.next() {
                let bytes = bytes.parse()?;
                pages.iter_mut().for_each(|page| page.truncate(bytes));
            }
        }
        None => pages.extend((0..PAGES as u64).map(body)),
    }
    let total: usize = pages.iter().map(Vec::len).sum();
    println!("{} pages, {total} bytes, fastest of {ROUNDS} rounds", pages.len());

    let directory =
        std::env::temp_dir().join(format!("mattock-measure-{:016x}", Random::from_entropy().next_u64()));
    let (mut bare, mut stored, mut reading) = (Table::default(), Table::default(), Table::default());
    let mut same = Table::default();
    let options = WriterOptions { prefix: "same".into(), ..WriterOptions::default() };
    let path = write(&files, &directory, options, &pages, &mut Table::default())?;
    let records = records(&files, &path)?;
    files.remove_dir_all(&directory)?;
    // The variants take turns, so that a busy machine is unfair to all of them alike.
    for round in 0..ROUNDS {
        measure_bare(&pages, &GZIP_LEVELS, &ZSTD_LEVELS, &mut bare)?;
        measure_bare(&records, &[1], &[1], &mut same)?;
        for compression in STORED {
            let name = format!("{compression:?}");
            let prefix = format!("r{round}");
            let options = WriterOptions { prefix, compression, ..WriterOptions::default() };
            let path = write(&files, &directory, options, &pages, &mut stored)?;
            reading.run(name, || read(&files, &path))?;
            files.remove_dir_all(&directory)?;
        }
    }
    bare.print("compressor alone", &pages);
    same.print("the same records", &pages);
    stored.print("write_page", &pages);
    reading.print("reading back", &pages);
    Ok(())
}

/// The records of a gzip file as they are before they are compressed.
fn records(files: &Files, path: &Path) -> Result<Vec<Vec<u8>>, Box<dyn std::error::Error>> {
    let bytes = files.read(path)?;
    let mut reader = WarcReader::open(files, path)?;
    let mut decompressor = libdeflater::Decompressor::new();
    let mut records = Vec::new();
    while let Some(record) = reader.next_record()? {
        let length = record.length.ok_or("a member for each record")?;
        let member = &bytes[record.offset as usize..(record.offset + length) as usize];
        let size = member.last_chunk().map_or(0, |size| u32::from_le_bytes(*size));
        let mut plain = vec![0; size as usize];
        decompressor.gzip_decompress(member, &mut plain)?;
        records.push(plain);
    }
    Ok(records)
}

fn measure_bare(
    pages: &[Vec<u8>],
    gzip_levels: &[i32],
    zstd_levels: &[i32],
    table: &mut Table,
) -> Result<(), Box<dyn std::error::Error>> {
    let longest = pages.iter().map(Vec::len).max().unwrap_or_default();
    let mut out = vec![0; zstd::compress_bound(longest).max(longest * 2 + 1000)];
    for &level in gzip_levels {
        let mut compressor = Compressor::new(CompressionLvl::new(level).map_err(|_| "no such level")?);
        table.run(format!("gzip {level}"), || {
            pages.iter().map(|page| compressor.gzip_compress(page, &mut out)).sum::<Result<usize, _>>()
        })?;
    }
    for &level in zstd_levels {
        let mut compressor = zstd::bulk::Compressor::new(level)?;
        compressor.set_parameter(CParameter::ChecksumFlag(true))?;
        // Its tables are made by the first call.
        compressor.compress_to_buffer(b"", &mut out[..])?;
        table.run(format!("zstd {level}"), || {
            pages
                .iter()
                .map(|page| compressor.compress_to_buffer(page, &mut out[..]))
                .sum::<io::Result<usize>>()
        })?;
    }
    table.run("SHA-1".into(), || {
        for page in pages {
            black_box(Digest::of(&[page]));
        }
        Ok(20 * pages.len())
    })
}

/// Writes all pages and says into which file.
fn write(
    files: &Files,
    directory: &Path,
    options: WriterOptions,
    pages: &[Vec<u8>],
    table: &mut Table,
) -> Result<PathBuf, Box<dyn std::error::Error>> {
    let name = format!("{:?}", options.compression);
    let mut writer = WarcWriter::open(files, directory, options, Random::from_seed(1))?;
    let page = |body| Page {
        url: "https://www.example.org/path/to/some/page.html",
        ip: Some([192, 0, 2, 1].into()),
        date: UnixTime::from_micros(1_767_355_200_000_000),
        request: b"GET /path/to/some/page.html HTTP/1.1\r\nHost: www.example.org\r\nUser-Agent: mattock\r\n\
                   Accept-Encoding: gzip\r\n\r\n",
        response_head: b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nServer: nginx\r\n\r\n",
        body,
        truncated: None,
        security: None,
        metadata: &[],
    };
    let place = writer.write_page(&page(b"the first page opens the file"))?.place;
    table.run(name, || -> Result<usize, RepositoryError> {
        let mut bytes = 0;
        for body in pages {
            bytes += writer.write_page(&page(body))?.place.length as usize;
        }
        writer.flush()?;
        Ok(bytes)
    })?;
    Ok(directory.join(&*place.file))
}

fn read(files: &Files, path: &Path) -> Result<usize, RepositoryError> {
    let mut reader = WarcReader::open(files, path)?;
    let mut bytes = 0;
    while let Some(record) = reader.next_record()? {
        bytes += record.block.len();
    }
    Ok(bytes)
}

fn collect(files: &Files, directory: &Path, pages: &mut Vec<Vec<u8>>) -> io::Result<()> {
    for entry in files.list(directory)? {
        let path = directory.join(&entry.name);
        if entry.is_dir {
            collect(files, &path, pages)?;
        } else if entry.name == "source.html" {
            pages.push(files.read(&path)?);
        }
    }
    Ok(())
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
