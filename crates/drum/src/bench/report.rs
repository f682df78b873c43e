//! What the benchmark is asked, and what it says.

use std::path::PathBuf;

use super::stream::StreamKind;
use crate::plan::Plan;

/// What to measure.
#[derive(Clone, Debug)]
pub struct BenchOptions {
    /// New keys; there are nine times as many checks.
    pub keys: u64,
    /// Memory for the repository.
    pub memory_bytes: u64,
    /// Which stream.
    pub stream: StreamKind,
    /// Whether the front cache is on.
    pub cache: bool,
    /// Whether the in-RAM set runs too (it is left out by itself where it does not fit).
    pub ram_set: bool,
    /// How long each off-the-shelf engine may take, in seconds; 0 leaves them out.
    pub engine_seconds: f64,
    /// Where in the stream they begin: they get all keys before that in one sorted load that does not count, so
    /// that they are measured at a size that no longer fits into their memory.
    pub engine_from: f64,
    /// How often a checkpoint is made on the way.
    pub checkpoints: u64,
    /// Where the files go; the directory is removed afterwards.
    pub dir: PathBuf,
    /// Seed of the stream.
    pub seed: u64,
}

impl BenchOptions {
    /// The standard stream, with everything that can be compared.
    pub fn new(keys: u64, memory_bytes: u64, dir: PathBuf) -> BenchOptions {
        BenchOptions {
            keys,
            memory_bytes,
            stream: StreamKind::Flat,
            cache: true,
            ram_set: true,
            engine_seconds: 60.0,
            engine_from: 0.9,
            checkpoints: 10,
            dir,
            seed: 0x6d61_7474_6f63_6b21,
        }
    }
}

/// How far it is.
#[derive(Clone, Copy, Debug)]
pub struct BenchProgress {
    /// `drum`, `ram set`, or an engine.
    pub contender: &'static str,
    /// Checks so far.
    pub checks: u64,
    /// Of how many.
    pub total: u64,
    /// Speed so far.
    pub checks_per_second: f64,
}

/// One contender's run.
#[derive(Clone, Debug, serde::Serialize)]
pub struct ContenderReport {
    /// Who.
    pub name: &'static str,
    /// Keys that it had to begin with.
    pub keys_before: u64,
    /// Checks that were made.
    pub checks: u64,
    /// New keys that were found.
    pub unique: u64,
    /// Seconds for all of it.
    pub seconds: f64,
    /// Processor seconds, of all threads.
    pub cpu_seconds: f64,
    /// Mean speed.
    pub checks_per_second: f64,
    /// Speed in each twentieth of the run.
    pub checks_per_second_over_time: Vec<f64>,
}

/// All figures.
#[derive(Clone, Debug, serde::Serialize)]
pub struct BenchReport {
    /// New keys asked for.
    pub keys: u64,
    /// Checks made.
    pub checks: u64,
    /// New keys found: must be `keys`.
    pub unique: u64,
    /// Memory given.
    pub memory_bytes: u64,
    /// The stream.
    pub stream: StreamKind,
    /// Whether there was a cache.
    pub cache: bool,
    /// Bytes of a URL, on average.
    pub url_bytes: f64,
    /// Speed as a part of the in-RAM set's, generator and queue included on both sides.
    pub ratio_to_ram_set: Option<f64>,
    /// The same with the time of making the stream taken off on both sides.
    pub ratio_to_ram_set_net: Option<f64>,
    /// Speed as a multiple of RocksDB's on the same part of the stream.
    pub ratio_to_rocksdb: Option<f64>,
    /// The same for redb.
    pub ratio_to_redb: Option<f64>,
    /// The same for fjall.
    pub ratio_to_fjall: Option<f64>,
    /// Bytes read and written per byte of URL text, the queue of new URLs included.
    pub alpha: f64,
    /// What Theorem 2 says for DRUM as published, with the same memory and disk.
    pub alpha_model: f64,
    /// The least for methods that put every URL on disk.
    pub alpha_min: f64,
    /// What our own formula says for the hit rate that was measured.
    pub alpha_predicted: f64,
    /// Speed in the last tenth as a part of that between 10 and 20 % (from 500 million keys on: between 30 and 40 %).
    pub decay: f64,
    /// The same, divided by the decay of the in-RAM set over the same turns: what is left when the load of the machine and
    /// the processor's caches are taken out.
    pub decay_to_ram_set: Option<f64>,
    /// Peak memory of the process less the in-RAM set's table, as a part of what the repository was given.
    pub rss_over_memory: Option<f64>,
    /// Peak memory in bytes.
    pub rss_bytes: Option<u64>,
    /// The longest that one batch of 4096 checks took, its delivery included.
    pub longest_pause_ms: f64,
    /// The longest that one call waited for a merge.
    pub longest_wait_ms: f64,
    /// Checkpoints that were made during the run.
    pub checkpoints: u64,
    /// The longest that one of them stopped the producer; the rest is done in the background.
    pub checkpoint_ms: f64,
    /// How long the last took until it was durable.
    pub checkpoint_durable_ms: f64,
    /// How many files it names.
    pub checkpoint_files: usize,
    /// Mean speed.
    pub checks_per_second: f64,
    /// Speed in each twentieth of the run.
    pub checks_per_second_over_time: Vec<f64>,
    /// Bytes read and written per check, the queue of new URLs included.
    pub disk_bytes_per_check: f64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Checks that the cache answered, as a part of all.
    pub cache_hit_rate: f64,
    /// The same as a part of the repeats.
    pub cache_hit_rate_of_repeats: f64,
    /// Merges.
    pub merges: u64,
    /// Bytes of the sorted store per key.
    pub store_bytes_per_key: f64,
    /// Nanoseconds that making one check of the stream takes; 0 if it was not compared.
    pub generator_ns: f64,
    /// The sizes that were chosen.
    pub plan: Plan,
    /// Everybody who ran.
    pub contenders: Vec<ContenderReport>,
}

/// Why there are no figures.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// It would not fit.
    #[error(
        "this needs about {} GB of disk in {} and there are {} GB: take fewer keys, or another directory",
        needed_bytes.div_ceil(1_000_000_000), dir.display(), free_bytes / 1_000_000_000
    )]
    DiskTooSmall {
        /// The directory.
        dir: PathBuf,
        /// The estimate.
        needed_bytes: u64,
        /// What is free.
        free_bytes: u64,
    },
    /// The repository failed.
    #[error(transparent)]
    Drum(#[from] crate::DrumError),
    /// Something else on disk failed.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was said.
        source: std::io::Error,
    },
    /// The repository gave a wrong answer.
    #[error("{contender} found {found} new keys where there are {expected}: this must not happen")]
    Wrong {
        /// Who.
        contender: &'static str,
        /// How many it found.
        found: u64,
        /// How many there are.
        expected: u64,
    },
    /// An off-the-shelf engine failed.
    #[error("{engine}: {message}")]
    Engine {
        /// Which.
        engine: &'static str,
        /// What it said.
        message: String,
    },
}
