//! A small archive in memory.

use std::path::{Path, PathBuf};

use mattock_env::{Files, OpenMode, Random, SimFiles, UnixTime};
use mattock_repository::{Compression, Page, RepositoryError, WarcReader, WarcWriter, WriterOptions};

pub(crate) fn files() -> Files {
    Files::simulated(SimFiles::new(Random::from_seed(1)))
}

pub(crate) fn directory() -> &'static Path {
    Path::new("/crawl/archive")
}

pub(crate) fn writer(files: &Files, options: WriterOptions) -> WarcWriter {
    WarcWriter::open(files, directory(), options, Random::from_seed(7)).unwrap()
}

pub(crate) fn options() -> WriterOptions {
    WriterOptions {
        prefix: "test".into(),
        warcinfo: vec![("software".into(), "mattock".into()), ("robots".into(), "obey".into())],
        ..WriterOptions::default()
    }
}

/// Either kind of file that is written.
pub(crate) const COMPRESSIONS: [Compression; 2] = [Compression::Gzip(1), Compression::Zstd(1)];

/// Noon of 2 January 2026, and `seconds`.
pub(crate) fn date(seconds: i64) -> UnixTime {
    UnixTime::from_micros((1_767_355_200 + seconds) * 1_000_000)
}

pub(crate) fn page<'a>(url: &'a str, body: &'a [u8], metadata: &'a [(&'a str, String)]) -> Page<'a> {
    Page {
        url,
        ip: Some("192.0.2.7".parse().unwrap()),
        date: date(0),
        request: b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n",
        response_head: b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n",
        body,
        truncated: None,
        security: None,
        metadata,
    }
}

/// The archive's files, in their order.
pub(crate) fn archive(files: &Files) -> Vec<PathBuf> {
    files.list(directory()).unwrap().into_iter().map(|entry| directory().join(entry.name)).collect()
}

/// A record that was read, with everything copied.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    pub(crate) offset: u64,
    pub(crate) length: Option<u64>,
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) block: Vec<u8>,
}

impl Found {
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// All records up to the end or the first error.
pub(crate) fn read(files: &Files, path: &Path) -> (Vec<Found>, Option<RepositoryError>) {
    let mut reader = WarcReader::open(files, path).unwrap();
    let mut records = Vec::new();
    loop {
        match reader.next_record() {
            Ok(Some(record)) => records.push(Found {
                offset: record.offset,
                length: record.length,
                fields: record
                    .fields
                    .iter()
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .collect(),
                block: record.block.to_vec(),
            }),
            Ok(None) => return (records, None),
            Err(error) => return (records, Some(error)),
        }
    }
}

pub(crate) fn put(files: &Files, path: &Path, bytes: &[u8]) {
    files.create_dir_all(path.parent().unwrap()).unwrap();
    let file = files.open(path, OpenMode::CreateOrTruncate).unwrap();
    file.write_all_at(bytes, 0).unwrap();
}

/// A small file of a few pages: its path and bytes.
pub(crate) fn small_archive(files: &Files, compression: Compression) -> (PathBuf, Vec<u8>) {
    let mut writer = writer(files, WriterOptions { compression, ..options() });
    let metadata = [("via", "http://example.org/".to_owned())];
    for (number, body) in ["one", "", "three three three three"].into_iter().enumerate() {
        let url = format!("http://example.org/{number}");
        writer.write_page(&page(&url, body.as_bytes(), &metadata[number % 2..])).unwrap();
    }
    writer.finish().unwrap();
    let path = archive(files).remove(0);
    let bytes = files.read(&path).unwrap();
    (path, bytes)
}

/// The same records without compression.
pub(crate) fn decompressed(files: &Files, path: &Path) -> Vec<u8> {
    let mut out = Vec::new();
    for record in read(files, path).0 {
        out.extend_from_slice(b"WARC/1.1\r\n");
        for (name, value) in &record.fields {
            out.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(&record.block);
        out.extend_from_slice(b"\r\n\r\n");
    }
    out
}
