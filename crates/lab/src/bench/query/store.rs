//! Stores pages of the simulated Web, and measures what that costs next to the bare compressor.

use std::path::{Path, PathBuf};

use mattock_env::{Env, UnixTime, thread_cpu_seconds};
use mattock_index::{IndexOptions, LedgerSource};
use mattock_repository::{Compression, Details, Ledger, Page, Row, Unsynced, WarcWriter, WriterOptions};
use mattock_simweb::{Params, Preset, Request, World};

use super::QueryBenchError;

/// The first instance is of this time, the others follow second by second.
const BEGIN_S: i64 = 1_767_225_600;

/// Every so many pages the bare compressor has them too.
const COMPARED: u64 = 4;

/// So often pages are written to see what it costs.
const WRITING_ROUNDS: usize = 3;

/// What was stored.
pub(super) struct Stored {
    pub(super) filling: Filling,
    pub(super) files: Vec<PathBuf>,
    pub(super) ledger: PathBuf,
    pub(super) ledger_bytes: u64,
    /// CPU seconds for a page: archive, ledger and index.
    pub(super) write_s: f64,
    /// Of which the index.
    pub(super) index_s: f64,
    /// And of the bare compressor.
    pub(super) compress_s: f64,
    pub(super) archive_bytes: u64,
}

/// What is stored.
#[derive(Clone, Copy)]
pub(super) struct Filling {
    pub(super) instances: u64,
    /// Bytes of a page, about.
    pub(super) page_bytes: usize,
    pub(super) compression: Compression,
    /// With a request and a metadata record for each page, as crawls write them; else responses alone.
    pub(super) as_crawled: bool,
}

impl Stored {
    /// CPU time of a page in archive, ledger and index over that of the bare compressor.
    pub(super) fn write_ratio(&self) -> f64 {
        self.write_s / self.compress_s
    }
}

/// What writing pages of this size costs, as crawls store them: the median of some rounds.
pub(super) fn measure_writing(
    env: &Env,
    dir: &Path,
    page_bytes: usize,
    compression: Compression,
) -> Result<Stored, QueryBenchError> {
    let filling = Filling { instances: 60_000, page_bytes, compression, as_crawled: true };
    let mut rounds = Vec::new();
    for _ in 0..WRITING_ROUNDS {
        rounds.push(fill(env, dir, filling)?);
        env.files.remove_dir_all(dir)?;
    }
    rounds.sort_by(|one, other| one.write_ratio().total_cmp(&other.write_ratio()));
    Ok(rounds.swap_remove(WRITING_ROUNDS / 2))
}

pub(super) fn fill(env: &Env, dir: &Path, filling: Filling) -> Result<Stored, QueryBenchError> {
    let Filling { instances, page_bytes, compression, as_crawled } = filling;
    let archive = dir.join("warc");
    env.files.create_dir_all(&archive)?;
    let params = Params { page_bytes: page_bytes as u64, ..Params::preset(Preset::Small) };
    let world = World::new(params, 1);
    let truth = world.truth(1_000_000).map_err(|error| QueryBenchError::Peer(error.to_string()))?;
    let urls: Vec<String> = truth.pages.into_iter().collect();
    let writing = WriterOptions { compression, ..WriterOptions::default() };
    let mut writer = WarcWriter::open(&env.files, &archive, writing, env.random.fork("warc"))?;
    let ledger_path = dir.join("ledger");
    let mut ledger = Ledger::open(&env.files, &ledger_path, 0)?;
    let (mut body, mut head, mut sent) = (Vec::new(), Vec::new(), Vec::new());
    let (mut write_s, mut compress_s, mut compared) = (0.0, 0.0, 0u64);
    let mut bare = Bare::new(compression);
    for number in 0..instances {
        let url = &urls[(number % urls.len() as u64) as usize];
        let rest = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let second = number / urls.len() as u64 * 86_400;
        let request = Request { host, path_and_query: path, ..Request::default() };
        let answer = world.answer(&request, second, &mut body);
        head.clear();
        let (status, kind, length) = (answer.status, &answer.content_type, body.len());
        head.extend_from_slice(
            format!("HTTP/1.1 {status} OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nServer: sim\r\n\r\n").as_bytes(),
        );
        let time = UnixTime::from_micros((BEGIN_S + number as i64) * 1_000_000);
        if number % COMPARED == 0 {
            let begun = thread_cpu_seconds();
            bare.compress(&body);
            compress_s += thread_cpu_seconds() - begun;
            compared += 1;
        }
        sent.clear();
        let metadata = [("depth", "1".to_owned()), ("fetchTimeMs", "20".to_owned())];
        if as_crawled {
            let fields = "User-Agent: mattock\r\nAccept: text/html,*/*;q=0.5\r\nAccept-Encoding: gzip, deflate, br, zstd";
            sent.extend_from_slice(
                format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{fields}\r\n\r\n").as_bytes(),
            );
        }
        let begun = thread_cpu_seconds();
        let written = writer.write_page(&Page {
            url,
            ip: None,
            date: time,
            request: &sent,
            response_head: &head,
            body: &body,
            truncated: None,
            security: None,
            metadata: if as_crawled { &metadata } else { &[] },
        })?;
        ledger.append(&Row {
            url,
            time,
            outcome: &status.to_string(),
            depth: 1,
            took_ms: 20,
            digest: Some(written.payload_digest),
            place: Some(written.place),
            truncated: false,
            details: Some(Details {
                mime: kind.split(';').next().unwrap_or_default(),
                detected: "text/html",
                charset: "UTF-8",
                ..Details::default()
            }),
        })?;
        write_s += thread_cpu_seconds() - begun;
    }
    let begun = thread_cpu_seconds();
    let mut unsynced = Unsynced::new(&env.files);
    let ledger_bytes = ledger.mark(&mut unsynced, env.clock.unix())?;
    writer.sync()?;
    unsynced.sync()?;
    write_s += thread_cpu_seconds() - begun;
    let sources = [LedgerSource { name: "0".to_owned(), path: ledger_path.clone(), bytes: ledger_bytes }];
    let naming = IndexOptions { crawl: "bench".to_owned(), archive: "warc".to_owned() };
    let begun = thread_cpu_seconds();
    mattock_index::update(&env.files, dir, &sources, &naming, 1, |_| {})?;
    let index_s = thread_cpu_seconds() - begun;
    let found = env.files.list(&archive)?;
    let archive_bytes = found.iter().map(|file| file.len).sum();
    let mut files: Vec<PathBuf> = found.into_iter().map(|file| archive.join(file.name)).collect();
    files.sort();
    let each = |seconds: f64, count: u64| seconds / count.max(1) as f64;
    Ok(Stored {
        filling,
        files,
        ledger: ledger_path,
        ledger_bytes,
        write_s: each(write_s + index_s, instances),
        index_s: each(index_s, instances),
        compress_s: each(compress_s, compared),
        archive_bytes,
    })
}

/// The compressor of the archive without anything around it.
enum Bare {
    Gzip(libdeflater::Compressor, Vec<u8>),
    Zstd(Box<zstd::bulk::Compressor<'static>>, Vec<u8>),
}

impl Bare {
    fn new(compression: Compression) -> Bare {
        match compression {
            Compression::Gzip(level) => {
                let level = libdeflater::CompressionLvl::new(level).unwrap_or_default();
                Bare::Gzip(libdeflater::Compressor::new(level), Vec::new())
            }
            Compression::Zstd(level) => Bare::Zstd(
                Box::new(zstd::bulk::Compressor::new(level).expect("it has this level")),
                Vec::new(),
            ),
        }
    }

    fn compress(&mut self, bytes: &[u8]) {
        match self {
            Bare::Gzip(compressor, out) => {
                out.resize(compressor.gzip_compress_bound(bytes.len()), 0);
                let _ = compressor.gzip_compress(bytes, out);
            }
            Bare::Zstd(compressor, out) => {
                out.clear();
                out.reserve(zstd::zstd_safe::compress_bound(bytes.len()));
                let _ = compressor.compress_to_buffer(bytes, out);
            }
        }
    }
}
