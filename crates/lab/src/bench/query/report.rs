//! What came of it.

use std::fmt;

use serde::Serialize;

use super::peers::Read;
use super::store::Stored;
use super::{QueryBenchOptions, Took, median};

/// A scan of everything, ours and FastWARC's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scan {
    /// Documents.
    pub documents: u64,
    /// A CPU second of ours.
    pub documents_per_cpu_s: f64,
    /// And of FastWARC; `None` if it cannot read the files.
    pub fastwarc_per_cpu_s: Option<f64>,
    /// Ours over FastWARC's for the CPU, the median of the rounds.
    pub ratio_cpu: Option<f64>,
    /// And for the clock on the wall.
    pub ratio_wall: Option<f64>,
}

impl Scan {
    pub(super) fn new(documents: u64, ours: &[Took], theirs: &[Read]) -> Scan {
        let count = documents as f64;
        let ratio = |of: fn(&Took, &Read) -> f64| {
            let all: Vec<f64> = ours.iter().zip(theirs).map(|(ours, theirs)| of(ours, theirs)).collect();
            (!all.is_empty()).then(|| median(all))
        };
        let their_speed: Vec<f64> = theirs.iter().map(|read| read.records as f64 / read.cpu_s).collect();
        Scan {
            documents,
            documents_per_cpu_s: median(ours.iter().map(|took| count / took.cpu_s).collect()),
            fastwarc_per_cpu_s: (!theirs.is_empty()).then(|| median(their_speed)),
            ratio_cpu: ratio(|ours, theirs| theirs.cpu_s / ours.cpu_s),
            ratio_wall: ratio(|ours, theirs| theirs.wall_s / ours.wall_s),
        }
    }
}

/// A question about columns only.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Metadata {
    /// In SQL.
    pub query: String,
    /// Rows of the answer.
    pub rows: u64,
    /// Whether DuckDB has as many.
    pub same_rows: bool,
    /// The median of our times.
    pub our_seconds: f64,
    /// And of DuckDB's.
    pub their_seconds: f64,
}

/// What storing a page takes, in µs of CPU time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Writing {
    /// Bytes of a page, about.
    pub page_bytes: usize,
    /// Whether requests and metadata are stored, too.
    pub as_crawled: bool,
    /// The bare compressor, on the page.
    pub compressor_us: f64,
    /// Archive and ledger: compressor, digests, heads, files.
    pub archive_us: f64,
    /// Its row in the index.
    pub index_us: f64,
    /// Archive, ledger and index over the compressor.
    pub ratio: f64,
}

impl Writing {
    fn new(stored: &Stored) -> Writing {
        Writing {
            page_bytes: stored.filling.page_bytes,
            as_crawled: stored.filling.as_crawled,
            compressor_us: stored.compress_s * 1e6,
            archive_us: (stored.write_s - stored.index_s) * 1e6,
            index_us: stored.index_s * 1e6,
            ratio: stored.write_ratio(),
        }
    }
}

impl fmt::Display for Writing {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Writing { compressor_us, archive_us, index_us, ratio, .. } = self;
        write!(out, "({archive_us:.1} + {index_us:.1}) / {compressor_us:.1} = {ratio:.2}")
    }
}

/// What `mattock bench query` has to say.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QueryBenchReport {
    /// Stored instances.
    pub instances: u64,
    /// Bytes of a page, about.
    pub page_bytes: usize,
    /// Documents a CPU second, ours over FastWARC's, gzip.
    pub ratio_to_fastwarc_gzip: f64,
    /// The same for the clock on the wall, with both cores.
    pub ratio_to_fastwarc_gzip_wall: f64,
    /// Our Zstandard over FastWARC's gzip, or over its Zstandard if it reads that.
    pub ratio_to_fastwarc_zstd: f64,
    /// Our Zstandard over our gzip, documents a CPU second.
    pub ratio_zstd_to_gzip: f64,
    /// DuckDB's time over ours, the geometric mean of the questions.
    pub ratio_to_duckdb_metadata: f64,
    /// The worst of them.
    pub ratio_to_duckdb_metadata_worst: f64,
    /// Bytes of the archive that a sample of 1 % reads, of all.
    pub sample_bytes_share: f64,
    /// And its time.
    pub sample_time_share: f64,
    /// CPU time of a page in archive, ledger and index over that of the bare compressor on the page, with request and metadata
    /// records as crawls write them: gzip, pages of 30 kB.
    pub write_ratio_to_compressor: f64,
    /// The same with Zstandard.
    pub write_ratio_to_compressor_zstd: f64,
    /// What these are made of, gzip and Zstandard; the same for small pages; and for the instances that are asked: responses alone.
    pub writing: [Writing; 6],
    /// Bytes of an instance in the archive, gzip and Zstandard.
    pub stored_bytes: (f64, f64),
    /// The most memory that the process had.
    pub peak_resident_bytes: u64,
    /// In full.
    pub gzip: Scan,
    /// In full.
    pub zstd: Scan,
    /// In full.
    pub metadata: Vec<Metadata>,
}

impl QueryBenchReport {
    pub(super) fn new(
        options: &QueryBenchOptions,
        gzip: Scan,
        zstd: Scan,
        (samples, all): (&[Took], &[Took]),
        metadata: Vec<Metadata>,
        written: [&Stored; 6],
    ) -> QueryBenchReport {
        let over = |took: &[Took], of: &dyn Fn(&Took) -> f64| median(took.iter().map(of).collect());
        let bytes = |took: &Took| took.report.archive_bytes_read as f64;
        let time = |took: &Took| took.wall_s;
        let ratios: Vec<f64> = metadata.iter().map(|one| one.their_seconds / one.our_seconds).collect();
        let mean = ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len().max(1) as f64;
        let ratio_zstd_to_gzip = zstd.documents_per_cpu_s / gzip.documents_per_cpu_s;
        let writing = written.map(Writing::new);
        let [.., stored, stored_zstd] = written;
        let each = |stored: &Stored, count: u64| stored.archive_bytes as f64 / count.max(1) as f64;
        QueryBenchReport {
            instances: options.instances,
            page_bytes: options.page_bytes,
            ratio_to_fastwarc_gzip: gzip.ratio_cpu.unwrap_or_default(),
            ratio_to_fastwarc_gzip_wall: gzip.ratio_wall.unwrap_or_default(),
            ratio_to_fastwarc_zstd: zstd.ratio_cpu.unwrap_or_else(|| {
                zstd.documents_per_cpu_s / gzip.fastwarc_per_cpu_s.unwrap_or(f64::INFINITY)
            }),
            ratio_zstd_to_gzip,
            ratio_to_duckdb_metadata: mean.exp(),
            ratio_to_duckdb_metadata_worst: ratios.iter().copied().fold(f64::INFINITY, f64::min),
            sample_bytes_share: over(samples, &bytes) / over(all, &bytes),
            sample_time_share: over(samples, &time) / over(all, &time),
            write_ratio_to_compressor: writing[0].ratio,
            write_ratio_to_compressor_zstd: writing[1].ratio,
            writing,
            stored_bytes: (each(stored, options.instances), each(stored_zstd, zstd.documents)),
            peak_resident_bytes: mattock_env::peak_resident_bytes().unwrap_or_default(),
            gzip,
            zstd,
            metadata,
        }
    }
}

impl fmt::Display for QueryBenchReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = |name: &str, value: String| writeln!(out, "{name:<56} {value:>28}");
        line("instances", self.instances.to_string())?;
        line("full scan: documents a CPU second, gzip", format!("{:.0}", self.gzip.documents_per_cpu_s))?;
        line("  over FastWARC, per CPU second", format!("{:.2}", self.ratio_to_fastwarc_gzip))?;
        line("  over FastWARC, on the wall", format!("{:.2}", self.ratio_to_fastwarc_gzip_wall))?;
        line("Zstandard over gzip, per CPU second", format!("{:.2}", self.ratio_zstd_to_gzip))?;
        line("metadata: DuckDB's time over ours, mean", format!("{:.2}", self.ratio_to_duckdb_metadata))?;
        line("  worst", format!("{:.2}", self.ratio_to_duckdb_metadata_worst))?;
        line("1 % sample: share of the bytes", format!("{:.2} %", self.sample_bytes_share * 100.0))?;
        line("  share of the time", format!("{:.2} %", self.sample_time_share * 100.0))?;
        for (writing, name) in self.writing.iter().zip(["gzip", "Zstandard"].into_iter().cycle()) {
            let records = if writing.as_crawled { "as crawled" } else { "responses" };
            let what = format!("(archive + index) / {name}, µs, {} kB, {records}", writing.page_bytes / 1000);
            line(&what, writing.to_string())?;
        }
        line("peak memory", format!("{} MiB", self.peak_resident_bytes >> 20))?;
        for one in &self.metadata {
            let (ours, theirs) = (one.our_seconds * 1e3, one.their_seconds * 1e3);
            let rows = if one.same_rows { "" } else { ", OTHER ROWS" };
            writeln!(
                out,
                "  {ours:>7.1} ms (DuckDB {theirs:.1} ms, {} rows{rows}): {}",
                one.rows, one.query
            )?;
        }
        Ok(())
    }
}
