//! What reading an archive costs, from front to back and by place:
//! `cargo run --release -p mattock-repository --example scan -- make SOURCE OUT PAGES` writes pages (the `.html` files under
//! SOURCE, over and over) into OUT/gzip, OUT/zstd and OUT/dictionary; `scan ARCHIVE [ROUNDS]` prints a line of JSON for each way to
//! read one of them: CPU seconds (the median of the rounds), records, payload bytes, bytes read.
//!
//! `bench/readers.py` prints the same for other readers.

use std::io;
use std::path::{Path, PathBuf};

use mattock_env::{Files, Random, UnixTime, thread_cpu_seconds};
use mattock_repository::http::BodyDecoder;
use mattock_repository::{
    Compression, Dictionary, Page, RecordFetcher, RecordType, RepositoryError, WarcReader, WarcWriter,
    WriterOptions,
};

type Way<'a> = &'a dyn Fn() -> Result<Counts, RepositoryError>;
type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

const PAGE_BYTES_MIN: usize = 8_000;
const PAGE_BYTES_MAX: usize = 60_000;
const BODY_BYTES_MAX: usize = 64 << 20;

/// What one reading gave.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct Counts {
    records: u64,
    payload_bytes: u64,
    /// So that no payload is left unread.
    sum: u64,
    bytes_read: u64,
}

impl Counts {
    fn add(&mut self, body: &[u8]) {
        self.records += 1;
        self.payload_bytes += body.len() as u64;
        self.sum += body.first().copied().map_or(0, u64::from) + body.last().copied().map_or(0, u64::from);
    }
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["make", source, out, pages] => make(Path::new(source), Path::new(out), pages.parse()?),
        ["scan", archive] => scan(Path::new(archive), 5),
        ["scan", archive, rounds] => scan(Path::new(archive), rounds.parse()?),
        _ => Err("scan make SOURCE OUT PAGES, or scan scan ARCHIVE [ROUNDS]".into()),
    }
}

fn make(source: &Path, out: &Path, count: usize) -> Outcome<()> {
    let files = Files::real();
    let mut bodies = Vec::new();
    collect(&files, source, &mut bodies)?;
    if bodies.is_empty() {
        return Err("no .html file of at least 8 kB there".into());
    }
    for (name, compression, dictionary) in [
        ("gzip", Compression::Gzip(1), Dictionary::None),
        ("zstd", Compression::Zstd(1), Dictionary::None),
        ("dictionary", Compression::Zstd(1), Dictionary::Trained),
    ] {
        let options =
            WriterOptions { compression, dictionary, file_bytes_max: 100 << 20, ..WriterOptions::default() };
        write(&files, &out.join(name), options, &bodies, count)?;
    }
    Ok(())
}

fn write(
    files: &Files,
    directory: &Path,
    options: WriterOptions,
    bodies: &[Vec<u8>],
    count: usize,
) -> Outcome<()> {
    let mut writer = WarcWriter::open(files, directory, options, Random::from_seed(1))?;
    for number in 0..count {
        let url = format!("https://www.example.org/path/{number}.html");
        let request = format!("GET /path/{number}.html HTTP/1.1\r\nHost: www.example.org\r\n\r\n");
        writer.write_page(&Page {
            url: &url,
            ip: Some([192, 0, 2, 1].into()),
            date: UnixTime::from_micros(1_767_355_200_000_000 + number as i64 * 1_234_567),
            request: request.as_bytes(),
            response_head:
                b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nServer: nginx\r\n\r\n",
            body: &bodies[number % bodies.len()],
            truncated: None,
            security: None,
            metadata: &[],
        })?;
    }
    Ok(writer.finish()?)
}

fn collect(files: &Files, directory: &Path, bodies: &mut Vec<Vec<u8>>) -> io::Result<()> {
    for entry in files.list(directory)? {
        let path = directory.join(&entry.name);
        if entry.is_dir {
            collect(files, &path, bodies)?;
        } else if entry.name.ends_with(".html") && entry.len >= PAGE_BYTES_MIN as u64 {
            let mut body = files.read(&path)?;
            body.truncate(PAGE_BYTES_MAX);
            bodies.push(body);
        }
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the figures are what this is for")]
fn scan(archive: &Path, rounds: usize) -> Outcome<()> {
    let files = Files::real();
    let paths: Vec<PathBuf> = files
        .list(archive)?
        .into_iter()
        .filter(|entry| entry.name.contains(".warc"))
        .map(|entry| archive.join(entry.name))
        .collect();
    let places = places(&files, &paths)?;
    let sample: Vec<_> = places.iter().step_by(100).cloned().collect();
    let ways: [(&str, Way<'_>); 3] = [
        ("front to back", &|| front_to_back(&files, &paths)),
        ("by place", &|| by_place(&files, &places)),
        ("1 % by place", &|| by_place(&files, &sample)),
    ];
    let mut seconds = vec![Vec::new(); ways.len()];
    let mut counts = [Counts::default(); 3];
    // The ways take turns, so that a busy machine is unfair to all of them alike.
    for _ in 0..rounds {
        for (index, (_, way)) in ways.iter().enumerate() {
            let begin = thread_cpu_seconds();
            counts[index] = way()?;
            seconds[index].push(thread_cpu_seconds() - begin);
        }
    }
    for (index, (name, _)) in ways.iter().enumerate() {
        seconds[index].sort_by(f64::total_cmp);
        let median = seconds[index][rounds / 2];
        let Counts { records, payload_bytes, bytes_read, .. } = counts[index];
        println!(
            "{{\"reader\":\"mattock {name}\",\"archive\":\"{}\",\"cpu_seconds\":{median:.4},\"records\":{records},\
             \"payload_bytes\":{payload_bytes},\"bytes_read\":{bytes_read},\"records_per_cpu_second\":{:.0}}}",
            archive.display(),
            records as f64 / median
        );
    }
    Ok(())
}

/// Where the responses are.
fn places(files: &Files, paths: &[PathBuf]) -> Result<Vec<(PathBuf, u64, u64)>, RepositoryError> {
    let mut places = Vec::new();
    for path in paths {
        let mut reader = WarcReader::open(files, path)?;
        while let Some(record) = reader.next_record()? {
            if record.kind() == Some(RecordType::Response) {
                places.push((path.clone(), record.offset, record.length.unwrap_or(0)));
            }
        }
    }
    Ok(places)
}

fn front_to_back(files: &Files, paths: &[PathBuf]) -> Result<Counts, RepositoryError> {
    let mut counts = Counts::default();
    let mut decoder = BodyDecoder::new(BODY_BYTES_MAX);
    for path in paths {
        let mut reader = WarcReader::open(files, path)?;
        while let Some(record) = reader.next_record()? {
            if record.kind() == Some(RecordType::Response)
                && let Some(response) = record.response()
            {
                counts.add(decoder.decode(&response).bytes);
            }
        }
        counts.bytes_read += reader.bytes_read();
    }
    Ok(counts)
}

fn by_place(files: &Files, places: &[(PathBuf, u64, u64)]) -> Result<Counts, RepositoryError> {
    let mut counts = Counts::default();
    let mut decoder = BodyDecoder::new(BODY_BYTES_MAX);
    let mut fetcher = RecordFetcher::new(files);
    for (path, offset, length) in places {
        let record = fetcher.fetch(path, *offset, *length)?;
        if let Some(response) = record.response() {
            counts.add(decoder.decode(&response).bytes);
        }
    }
    counts.bytes_read = fetcher.bytes_read();
    Ok(counts)
}
