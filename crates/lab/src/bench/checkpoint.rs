//! What checkpoints cost a crawl that has millions of URLs waiting, and how soon it goes on after a crash.
//!
//! A crawl over sockets of a Web that is nothing but links is stopped when enough URLs wait. Then copies of it go on for equally many
//! pages, by turns with checkpoints as they are by default and with none: what a turn meets on its way, merges of seconds among it, is
//! the same for all. Its speed is that at which the server is asked; what it takes to open the crawl, and its last checkpoint, are left
//! out. Before that it is opened a few times, and the time is taken from opening the directory to the first request that the server sees. The longest
//! pause is that of the partition that stood still longest, waiting for the others included.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mattock_crawl::{Control, Crawl, CrawlError, RawConfig, Summary};
use mattock_env::{Env, Files, OpenMode, Time};
use serde::Serialize;

use super::median;
use super::thicket::{SEED, Thicket};
use crate::served::ServedWorld;

/// Turns with and without.
const ROUNDS: usize = 4;
/// What is left out at the beginning of a turn.
const WARM_UP: Duration = Duration::from_secs(2);
/// Bytes that are copied at once.
const COPY_BYTES: usize = 4 << 20;
const LOOK: Duration = Duration::from_millis(5);

/// Why nothing could be measured.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointBenchError {
    /// The Web could not be served.
    #[error(transparent)]
    Serve(#[from] mattock_simweb::ServeError),
    /// The crawl failed.
    #[error(transparent)]
    Crawl(#[from] CrawlError),
}

/// What was measured.
#[derive(Clone, Debug, Serialize)]
pub struct CheckpointReport {
    /// URLs that waited at least.
    pub urls_queued: u64,
    /// URLs that waited in the end.
    pub urls_queued_last: u64,
    /// Partitions of the crawl.
    pub partitions: u64,
    /// Speed with checkpoints over that without: the median of all rounds.
    pub ratio_to_none: f64,
    /// The same of each round.
    pub ratios_to_none: Vec<f64>,
    /// Pages of a turn.
    pub pages_per_turn: u64,
    /// CPU per page with checkpoints over that without, the server's included.
    pub cpu_ratio_to_none: f64,
    /// The longest that a partition stood still.
    pub longest_pause_ms: f64,
    /// From opening the directory to the first request: the slowest.
    pub restart_seconds: f64,
    /// Pages a second with checkpoints.
    pub pages_per_second: f64,
    /// Peak memory of the process, the server included.
    pub rss_mb: f64,
}

impl fmt::Display for CheckpointReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "URLs that wait              {:>11}", self.urls_queued)?;
        writeln!(out, "in the end                  {:>11}", self.urls_queued_last)?;
        writeln!(out, "speed over that without     {:>11.3}", self.ratio_to_none)?;
        let rounds: Vec<String> = self.ratios_to_none.iter().map(|ratio| format!("{ratio:.3}")).collect();
        writeln!(out, "  {} pages a turn: {}", self.pages_per_turn, rounds.join(", "))?;
        writeln!(out, "CPU over that without       {:>11.3}", self.cpu_ratio_to_none)?;
        writeln!(out, "longest pause               {:>11.1} ms", self.longest_pause_ms)?;
        writeln!(out, "restart to first request    {:>11.2} s", self.restart_seconds)?;
        writeln!(out, "pages a second              {:>11.0}", self.pages_per_second)?;
        write!(out, "peak memory                 {:>11.0} MB", self.rss_mb)
    }
}

/// Measures with so many URLs waiting and turns of this length. `dir` is made for it, and removed afterwards.
pub fn run(
    env: &Env,
    dir: &Path,
    urls: u64,
    turn: Duration,
) -> Result<CheckpointReport, CheckpointBenchError> {
    let asked = Arc::new(AtomicU64::new(0));
    let served = ServedWorld::start(Thicket::new(urls.saturating_mul(4), asked.clone()))?;
    let bench = Bench {
        env,
        dir,
        asked,
        config: format!(
            "[crawl]\nscope = 'any'\nseeds = ['{SEED}']\n[politeness]\ndelay = '0s'\nserver_delay = '0s'\n\
             [network]\ndns = ['{}']\nconnect_port = ['80={}']\nallow_address = ['127.0.0.0/8']\n",
            served.dns(),
            served.http_port()
        ),
    };
    let report = bench.measure(urls, turn);
    drop(env.files.remove_dir_all(dir));
    report
}

struct Bench<'a> {
    env: &'a Env,
    dir: &'a Path,
    asked: Arc<AtomicU64>,
    config: String,
}

/// What a turn has come to.
struct Turn {
    summary: Summary,
    /// Until the first request.
    restart: Duration,
    pages_per_second: f64,
    cpu_per_page: f64,
}

/// When a turn is over.
#[derive(Clone, Copy)]
enum Until {
    /// With the first request.
    Asked,
    Queued(u64),
    Passed(Duration),
    /// After so many requests.
    Pages(u64),
}

impl Bench<'_> {
    fn measure(&self, urls: u64, turn: Duration) -> Result<CheckpointReport, CheckpointBenchError> {
        self.turn(self.dir, "", Until::Queued(urls))?;
        let mut restart = Duration::ZERO;
        for _ in 0..ROUNDS {
            restart = restart.max(self.turn(self.dir, "", Until::Asked)?.restart);
        }
        let none = "[checkpoint]\nevery = '1000h'\npages = 1000000000000\n";
        let first = self.turn_of_copy(none, Until::Passed(turn))?;
        let pages = ((first.pages_per_second * turn.as_secs_f64()) as u64).max(1);
        let (mut ratios, mut speeds, mut cpu) = (Vec::new(), Vec::new(), Vec::new());
        let mut pause = 0.0f64;
        let mut last = None;
        for round in 0..ROUNDS {
            let with = || self.turn_of_copy("[checkpoint]\n", Until::Pages(pages));
            let without = || self.turn_of_copy(none, Until::Pages(pages));
            let (with, without) = if round % 2 == 0 {
                (with()?, without()?)
            } else {
                let without = without()?;
                (with()?, without)
            };
            ratios.push(with.pages_per_second / without.pages_per_second);
            speeds.push(with.pages_per_second);
            cpu.push(with.cpu_per_page / without.cpu_per_page);
            pause = pause.max(with.summary.checkpoint_pause_ms);
            last = Some(with.summary);
        }
        let last = last.expect("there are rounds");
        Ok(CheckpointReport {
            urls_queued: urls,
            urls_queued_last: last.urls_queued,
            partitions: last.partitions,
            ratio_to_none: median(ratios.clone()),
            ratios_to_none: ratios,
            pages_per_turn: pages,
            cpu_ratio_to_none: median(cpu),
            longest_pause_ms: pause,
            restart_seconds: restart.as_secs_f64(),
            pages_per_second: median(speeds),
            rss_mb: mattock_env::peak_resident_bytes().unwrap_or(0) as f64 / 1e6,
        })
    }

    /// A turn that leaves the crawl as it is.
    fn turn_of_copy(&self, change: &str, until: Until) -> Result<Turn, CrawlError> {
        let copy = self.dir.with_extension("turn");
        let files = &self.env.files;
        drop(files.remove_dir_all(&copy));
        let copied = copy_tree(files, self.dir, &copy).and_then(|()| files.sync_dir(&copy));
        let turn = copied
            .map_err(|source| CrawlError::Io { action: "copy", path: copy.clone(), source })
            .and_then(|()| self.turn(&copy, change, until));
        drop(files.remove_dir_all(&copy));
        turn
    }

    fn turn(&self, dir: &Path, change: &str, until: Until) -> Result<Turn, CrawlError> {
        let raw = RawConfig::parse(&format!("{}{change}", self.config), "the benchmark")?;
        let clock = self.env.clock.clone();
        let (opened, before) = (clock.now(), self.asked.load(Ordering::Relaxed));
        let crawl = Crawl::open(self.env, dir, raw)?;
        let (control, progress, asked) = (Control::default(), crawl.progress(), self.asked.clone());
        let stop = control.clone();
        let (summary, (restart, speed, cpu_per_page)) = mattock_env::run(async move {
            let watch = tokio::task::spawn_local(async move {
                while asked.load(Ordering::Relaxed) == before {
                    clock.sleep(LOOK).await;
                }
                let restart = clock.now().since(opened);
                if !matches!(until, Until::Asked) {
                    clock.sleep(WARM_UP).await;
                }
                let (begun, first) = (clock.now(), asked.load(Ordering::Relaxed));
                let cpu = mattock_env::cpu_seconds().unwrap_or_default();
                let over = |now: Time| match until {
                    Until::Asked => true,
                    Until::Queued(urls) => progress.read().queued >= urls,
                    Until::Passed(time) => now.since(begun) >= time,
                    Until::Pages(pages) => asked.load(Ordering::Relaxed) - first >= pages,
                };
                while !over(clock.now()) {
                    clock.sleep(LOOK).await;
                }
                let pages = asked.load(Ordering::Relaxed) - first;
                let cpu = mattock_env::cpu_seconds().unwrap_or_default() - cpu;
                let pages = pages as f64;
                stop.stop();
                (restart, pages / clock.now().since(begun).as_secs_f64().max(1e-9), cpu / pages.max(1.0))
            });
            let summary = crawl.run(control).await;
            (summary, watch.await.expect("it does not panic"))
        });
        Ok(Turn { summary: summary?, restart, pages_per_second: speed, cpu_per_page })
    }
}

/// Copies what is in a directory; the archive, to which nothing is added, by name only.
fn copy_tree(files: &Files, from: &Path, to: &Path) -> io::Result<()> {
    files.create_dir_all(to)?;
    for entry in files.list(from)? {
        let (source, target) = (from.join(&entry.name), to.join(&entry.name));
        if entry.is_dir {
            copy_tree(files, &source, &target)?;
        } else if entry.name.contains(".warc") {
            files.hard_link(&source, &target)?;
        } else {
            let (source, target) =
                (files.open(&source, OpenMode::Read)?, files.open(&target, OpenMode::CreateOrTruncate)?);
            let mut bytes = vec![0; COPY_BYTES.min(entry.len as usize)];
            let mut at = 0;
            while at < entry.len {
                let count = bytes.len().min((entry.len - at) as usize);
                source.read_exact_at(&mut bytes[..count], at)?;
                target.write_all_at(&bytes[..count], at)?;
                at += count as u64;
            }
            target.sync()?;
        }
    }
    Ok(())
}
