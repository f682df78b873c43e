//! What a console costs the crawl that it shows: one that is watched, with an update a second, next to one that is not.
//!
//! One crawl without delays of pages that are all alike runs all the while, and a console with a reader of its stream is there for a slice of time, and gone for the
//! next: with, without, without, with, and so on, so that a crawl that becomes slower or faster favours neither. Speed is
//! that at which requests come back; CPU time is that of the whole process per request. What the console's own thread has used is
//! counted besides: it does not depend on what else the machine does.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use mattock_crawl::{Control, Crawl, CrawlError, RawConfig};
use mattock_env::Env;
use serde::Serialize;

use super::median;
use super::thicket::{SEED, Thicket};
use crate::served::ServedWorld;

/// Slices with and without.
const ROUNDS: usize = 30;
/// Pages of the Web: more than are fetched.
const PAGES: u64 = 40_000_000;
/// Links of a page: new URLs come not much faster than pages are fetched, so that no slice has a merge in it that another has not.
const LINKS: u64 = 6;
/// What is left out at the beginning.
const WARM_UP: Duration = Duration::from_secs(5);

/// Why nothing could be measured.
#[derive(Debug, thiserror::Error)]
pub enum ConsoleBenchError {
    /// The simulated Web could not be served.
    #[error(transparent)]
    Serve(#[from] mattock_simweb::ServeError),
    /// The crawl failed.
    #[error(transparent)]
    Crawl(#[from] CrawlError),
}

/// What was measured.
#[derive(Clone, Debug, Serialize)]
pub struct ConsoleReport {
    /// Speed with a console over that without: of all slices together.
    pub ratio_to_none: f64,
    /// How far that may be off: its standard error.
    pub ratio_error: f64,
    /// CPU per request with a console over that without, the server's included.
    pub cpu_ratio_to_none: f64,
    /// The CPU time of the console's thread, as a share of that of the process.
    pub console_cpu_share: f64,
    /// The ratios of speed in each round, sorted: how much they differ.
    pub ratios: Vec<f64>,
    /// Requests a second with a console.
    pub requests_per_second: f64,
    /// Updates that the reader got a second.
    pub updates_per_second: f64,
    /// Bytes that it got a second.
    pub update_bytes_per_second: f64,
}

impl fmt::Display for ConsoleReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "speed over that without     {:>11.3} (standard error {:.3})",
            self.ratio_to_none, self.ratio_error
        )?;
        writeln!(out, "CPU over that without       {:>11.3}", self.cpu_ratio_to_none)?;
        writeln!(out, "CPU of the console's thread {:>11.3} %", self.console_cpu_share * 100.0)?;
        writeln!(out, "requests a second           {:>11.0}", self.requests_per_second)?;
        writeln!(out, "updates a second            {:>11.2}", self.updates_per_second)?;
        write!(out, "bytes of updates a second   {:>11.0}", self.update_bytes_per_second)
    }
}

/// What a console that is watched has come to so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counted {
    /// Updates that its reader got.
    pub updates: u64,
    /// Their bytes.
    pub bytes: u64,
    /// CPU seconds of its thread.
    pub cpu_seconds: f64,
}

/// A console that is being watched, as the caller makes it; gone when it is dropped.
pub trait Watched {
    /// What it has come to so far.
    fn counted(&self) -> Counted;
}

/// Measures with slices of this length. `watch` opens a console for a crawl and reads its stream. `dir` is made for it, and removed
/// afterwards.
pub fn run<W: Watched>(
    env: &Env,
    dir: &Path,
    slice: Duration,
    watch: impl Fn(&Path, &Control) -> W,
) -> Result<ConsoleReport, ConsoleBenchError> {
    let served = ServedWorld::start(Thicket::sparse(PAGES, LINKS))?;
    let config = format!(
        "[crawl]\nscope = 'any'\nseeds = ['{SEED}']\n[politeness]\ndelay = '0s'\nserver_delay = '0s'\n\
         [checkpoint]\nevery = '1000h'\npages = 1000000000000\n\
         [network]\ndns = ['{}']\nconnect_port = ['80={}']\nallow_address = ['127.0.0.0/8']\n",
        served.dns(),
        served.http_port()
    );
    let report = measure(env, dir, &config, slice, watch);
    drop(env.files.remove_dir_all(dir));
    report
}

/// A slice of time.
#[derive(Clone, Copy, Default)]
struct Slice {
    seconds: f64,
    requests: f64,
    cpu: f64,
    counted: Counted,
}

fn measure<W: Watched>(
    env: &Env,
    dir: &Path,
    config: &str,
    slice: Duration,
    watch: impl Fn(&Path, &Control) -> W,
) -> Result<ConsoleReport, ConsoleBenchError> {
    let raw = RawConfig::parse(config, "the benchmark").map_err(CrawlError::from)?;
    let crawl = Crawl::open(env, dir, raw)?;
    let (control, progress, clock) = (crawl.control(), crawl.progress(), env.clock.clone());
    let (steer, mut rounds) = (control.clone(), Vec::new());
    let cut = async |watched: bool| {
        let watcher = watched.then(|| watch(dir, &steer));
        let cpu = || mattock_env::cpu_seconds().unwrap_or_default();
        let (begun, first, cpu_first) = (clock.now(), progress.read().requests, cpu());
        clock.sleep(slice).await;
        Slice {
            seconds: clock.now().since(begun).as_secs_f64().max(1e-9),
            requests: progress.read().requests.saturating_sub(first) as f64,
            cpu: cpu() - cpu_first,
            counted: watcher.as_ref().map(Watched::counted).unwrap_or_default(),
        }
    };
    let slices = async {
        clock.sleep(WARM_UP).await;
        for round in 0..ROUNDS {
            rounds.push(if round % 2 == 0 {
                (cut(true).await, cut(false).await)
            } else {
                let without = cut(false).await;
                (cut(true).await, without)
            });
        }
        steer.stop();
    };
    let (summary, ()) = mattock_env::run(async { tokio::join!(crawl.run(control), slices) });
    summary?;
    Ok(report(&rounds))
}

fn report(rounds: &[(Slice, Slice)]) -> ConsoleReport {
    let speed = |slice: &Slice| slice.requests / slice.seconds;
    let cost = |slice: &Slice| slice.cpu / slice.requests.max(1.0);
    let mut ratios: Vec<f64> =
        rounds.iter().map(|(with, without)| speed(with) / speed(without).max(1e-9)).collect();
    ratios.sort_by(f64::total_cmp);
    let total = |of: fn(&(Slice, Slice)) -> &Slice| {
        let (requests, seconds) = rounds
            .iter()
            .map(of)
            .fold((0.0, 0.0), |sum, slice| (sum.0 + slice.requests, sum.1 + slice.seconds));
        requests / f64::max(seconds, 1e-9)
    };
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    let variance = ratios.iter().map(|ratio| (ratio - mean).powi(2)).sum::<f64>() / (ratios.len() - 1) as f64;
    let of = |value: &dyn Fn(&Slice) -> f64| rounds.iter().map(|(with, _)| value(with)).sum::<f64>();
    let seconds = of(&|slice| slice.seconds).max(1e-9);
    ConsoleReport {
        ratio_to_none: total(|(with, _)| with) / total(|(_, without)| without).max(1e-9),
        ratio_error: (variance / ratios.len() as f64).sqrt(),
        cpu_ratio_to_none: median(
            rounds.iter().map(|(with, without)| cost(with) / cost(without).max(1e-12)).collect(),
        ),
        console_cpu_share: of(&|slice| slice.counted.cpu_seconds) / of(&|slice| slice.cpu).max(1e-9),
        ratios,
        requests_per_second: of(&|slice| slice.requests) / seconds,
        updates_per_second: of(&|slice| slice.counted.updates as f64) / seconds,
        update_bytes_per_second: of(&|slice| slice.counted.bytes as f64) / seconds,
    }
}
