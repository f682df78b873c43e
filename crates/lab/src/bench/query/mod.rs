//! Asking a repository of a million instances: the content of all of them next to FastWARC's reading loop, their metadata next to
//! DuckDB, a sample next to all; and what writing them costs next to the bare compressor.
//!
//! The instances are pages of the simulated Web at several times, written through the repository's own writer (`store`), once
//! as gzip and a part of them as Zstandard. What writing costs is measured on pages of two sizes, with all records that a crawl writes. The peers run in a Python process of their own (`peers`), in turns with ours, on the
//! same files. CPU seconds count, and for the wall both cores.

mod peers;
mod report;
mod store;

use std::path::Path;
use std::sync::Arc;

use mattock_analyze::{AnalyzeError, Analyzer, Document, Kind, Value};
use mattock_env::{Env, cpu_seconds};
use mattock_index::{IndexOptions, LedgerSource, Snapshot};
use mattock_query::sink::MemorySink;
use mattock_query::{Cancel, Language, Options, PartSums, Report, Session, Source};
use mattock_repository::Compression;

use super::median;
use peers::Peers;
pub use report::{Metadata, QueryBenchReport, Scan, Writing};
use store::{Filling, Stored};

const ROUNDS: usize = 3;
const THREADS: usize = 2;
/// Turns of questions that the index answers.
const METADATA_ROUNDS: usize = 9;
/// One in so many instances is stored as Zstandard too.
const ZSTD_SHARE: u64 = 4;
const SEED: u64 = 174;
/// Bytes of the pages that are written to see what that costs: the Web's size, and small ones.
const WRITTEN_BYTES: [usize; 2] = [30_000, 8_000];

/// Questions of the kinds that users of Common Crawl's index ask.
const METADATA: [&str; 6] = [
    "select url_host_tld, count(*) as n from documents group by url_host_tld order by n desc limit 20",
    "select content_mime_type, fetch_status, count(*) as n from documents group by content_mime_type, fetch_status",
    "select url_host_registered_domain, count(*) as n, count(distinct url) as urls from documents group by url_host_registered_domain order by n desc limit 10",
    "select length(url_host_name) as l, count(*) as n from documents group by l order by l",
    "select count(*) as n, sum(warc_record_length) as bytes from documents where fetch_time < TIMESTAMP '2026-01-03 00:00:00+00'",
    "select url, fetch_time, warc_filename, warc_record_offset from documents where url_surtkey >= 'com,b' and url_surtkey < 'com,c' and fetch_status = 200 limit 1000",
];

/// Why nothing could be measured.
#[derive(Debug, thiserror::Error)]
pub enum QueryBenchError {
    /// A file.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The archive could not be written.
    #[error(transparent)]
    Repository(#[from] mattock_repository::RepositoryError),
    /// The index could not be made.
    #[error(transparent)]
    Index(#[from] mattock_index::IndexError),
    /// A query failed.
    #[error(transparent)]
    Query(#[from] mattock_query::QueryError),
    /// A peer could not be run.
    #[error("{0}")]
    Peer(String),
}

/// What is measured with.
#[derive(Clone, Copy, Debug)]
pub struct QueryBenchOptions {
    /// Stored instances.
    pub instances: u64,
    /// Bytes of a page, about.
    pub page_bytes: usize,
    /// Memory for queries.
    pub memory_bytes: usize,
}

/// The least that can be done with a document.
struct BodyBytes;

impl Analyzer for BodyBytes {
    fn name(&self) -> &str {
        "body_bytes"
    }

    fn version(&self) -> String {
        "1".to_owned()
    }

    fn kind(&self) -> Kind {
        Kind::Integer
    }

    fn analyze(&self, document: &Document<'_>) -> Result<Value, AnalyzeError> {
        Ok(Value::Integer(document.body.len() as i64))
    }
}

/// What a query took.
struct Took {
    cpu_s: f64,
    wall_s: f64,
    report: Report,
}

/// Measures in `dir`, which is removed afterwards; `python` keeps the peers for the next time.
pub fn run(
    env: &Env,
    dir: &Path,
    python: &Path,
    options: &QueryBenchOptions,
    mut talk: impl FnMut(&str),
) -> Result<QueryBenchReport, QueryBenchError> {
    let result = measure(env, dir, python, options, &mut talk);
    let _ = env.files.remove_dir_all(dir);
    result
}

fn measure(
    env: &Env,
    dir: &Path,
    python: &Path,
    options: &QueryBenchOptions,
    talk: &mut impl FnMut(&str),
) -> Result<QueryBenchReport, QueryBenchError> {
    let peers = Peers::prepare(env, python)?;
    talk(&format!("storing {} instances", options.instances));
    let (gzip, zstd) = (dir.join("gzip"), dir.join("zstd"));
    let filling = |instances, compression| Filling {
        instances,
        page_bytes: options.page_bytes,
        compression,
        as_crawled: false,
    };
    let stored = store::fill(env, &gzip, filling(options.instances, Compression::default()))?;
    let stored_zstd = store::fill(env, &zstd, filling(options.instances / ZSTD_SHARE, Compression::Zstd(1)))?;
    talk("writing pages as crawls do");
    let write =
        |page_bytes, compression| store::measure_writing(env, &dir.join("writing"), page_bytes, compression);
    let [large, small] = WRITTEN_BYTES;
    let crawled = write(large, Compression::default())?;
    let crawled_zstd = write(large, Compression::Zstd(1))?;
    let crawled_small = write(small, Compression::default())?;
    let crawled_small_zstd = write(small, Compression::Zstd(1))?;
    let session = open(env, &gzip, &stored, options)?;
    let session_zstd = open(env, &zstd, &stored_zstd, options)?;
    let all = "select sum(body_bytes) as bytes, count(*) as n from documents";
    let one_percent = format!("{all} where sampled(0.01, {SEED})");
    let (mut ours, mut theirs, mut ours_zstd, mut theirs_zstd, mut samples) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        talk(&format!("round {round} of {ROUNDS}: full scans and a sample"));
        theirs.push(peers.fastwarc(&stored.files)?);
        ours.push(asked(env, &session, all)?);
        ours_zstd.push(asked(env, &session_zstd, all)?);
        theirs_zstd.extend(peers.fastwarc(&stored_zstd.files).ok());
        samples.push(asked(env, &session, &one_percent)?);
    }
    talk("metadata");
    let metadata = metadata(env, &session, &peers, &gzip.join("index/*.parquet"))?;
    Ok(QueryBenchReport::new(
        options,
        Scan::new(options.instances, &ours, &theirs),
        Scan::new(options.instances / ZSTD_SHARE, &ours_zstd, &theirs_zstd),
        (&samples, &ours),
        metadata,
        [&crawled, &crawled_zstd, &crawled_small, &crawled_small_zstd, &stored, &stored_zstd],
    ))
}

/// Questions that the index answers, to DuckDB and to us by turns.
fn metadata(
    env: &Env,
    session: &Session,
    peers: &Peers,
    parts: &Path,
) -> Result<Vec<Metadata>, QueryBenchError> {
    let mut ours = METADATA.map(|_| (0, Vec::new()));
    let mut theirs = METADATA.map(|_| (0, Vec::new()));
    for _ in 0..METADATA_ROUNDS {
        let answers = peers.duckdb(parts, THREADS, &METADATA)?;
        for ((rows, times), (found, seconds)) in theirs.iter_mut().zip(answers) {
            *rows = found;
            times.push(seconds);
        }
        for (query, (rows, times)) in METADATA.iter().zip(&mut ours) {
            // The first one reads what the others find in memory, there as here.
            *rows = asked(env, session, query)?.report.rows;
            let taken: Result<Vec<f64>, QueryBenchError> =
                (0..5).map(|_| asked(env, session, query).map(|took| took.wall_s)).collect();
            times.push(median(taken?));
        }
    }
    let compared = METADATA.iter().zip(ours.into_iter().zip(theirs));
    let compared = compared.map(|(query, ((found, ours), (rows, theirs)))| Metadata {
        query: (*query).to_owned(),
        rows: found,
        same_rows: found == rows,
        our_seconds: median(ours),
        their_seconds: median(theirs),
    });
    Ok(compared.collect())
}

fn open(
    env: &Env,
    dir: &Path,
    stored: &Stored,
    options: &QueryBenchOptions,
) -> Result<Session, QueryBenchError> {
    let snapshot = Snapshot::open(
        &env.files,
        dir,
        &[LedgerSource { name: "0".to_owned(), path: stored.ledger.clone(), bytes: stored.ledger_bytes }],
        &IndexOptions { crawl: "bench".to_owned(), archive: "warc".to_owned() },
    )?;
    let (parts, tail) = (snapshot.parts().to_vec(), snapshot.tail().to_vec());
    let mut source = Source::new(dir, mattock_index::schema(), parts, tail);
    source.sums = PartSums::of(&snapshot);
    let mut asking = Options::new(env.random.fork("query"));
    asking.memory_bytes = options.memory_bytes;
    asking.threads = THREADS;
    asking.analyzers.push(Arc::new(BodyBytes));
    Ok(Session::with_source(&env.files, source, asking)?)
}

/// Runs a query; its answer is small.
fn asked(env: &Env, session: &Session, query: &str) -> Result<Took, QueryBenchError> {
    let (cpu, wall) = (cpu_seconds().unwrap_or_default(), env.clock.now());
    let mut sink = MemorySink::default();
    let report = session.plan(query, Language::Sql)?.run(&mut sink, &mut |_| {}, &Cancel::new())?;
    let wall_s = env.clock.now().since(wall).as_secs_f64();
    Ok(Took { cpu_s: cpu_seconds().unwrap_or_default() - cpu, wall_s, report })
}
