//! What a console costs the crawl that it shows: one that is watched, with an update a second, next to one that is not.
//!
//! The same crawl goes on again and again, by turns with a console and a reader of its stream, and without. Its speed is that at which the
//! server is asked; the CPU time is that of the whole process per request. Who comes first changes with every round.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use mattock_crawl::{Control, Crawl, CrawlError, RawConfig};
use mattock_env::Env;
use mattock_simweb::{Params, Preset, World};
use serde::Serialize;

use super::median;
use crate::served::ServedWorld;

/// Turns with and without.
const ROUNDS: usize = 5;
/// What is left out at the beginning of a turn.
const WARM_UP: Duration = Duration::from_secs(2);

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
    /// Speed with a console over that without.
    pub ratio_to_none: f64,
    /// CPU per request with a console over that without, the server's included.
    pub cpu_ratio_to_none: f64,
    /// The ratios of the rounds, sorted: how much they differ.
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
        writeln!(out, "speed over that without     {:>11.3}", self.ratio_to_none)?;
        writeln!(out, "CPU over that without       {:>11.3}", self.cpu_ratio_to_none)?;
        writeln!(out, "requests a second           {:>11.0}", self.requests_per_second)?;
        writeln!(out, "updates a second            {:>11.2}", self.updates_per_second)?;
        write!(out, "bytes of updates a second   {:>11.0}", self.update_bytes_per_second)
    }
}

/// A console that is being watched, as the caller makes it.
pub trait Watched {
    /// Updates that came so far, and their bytes.
    fn updates(&self) -> (u64, u64);
}

/// Measures with turns of this length. `watch` opens a console for a crawl and reads its stream until that is dropped. `dir` is made for
/// it, and removed afterwards.
pub fn run<W: Watched>(
    env: &Env,
    dir: &Path,
    turn: Duration,
    watch: impl Fn(&Path, &Control) -> W,
) -> Result<ConsoleReport, ConsoleBenchError> {
    let world = World::new(Params::preset(Preset::Huge), 1);
    let seeds = world.seeds();
    let served = ServedWorld::start(world)?;
    let config = format!(
        "[crawl]\nscope = 'any'\nseeds = {seeds:?}\n[politeness]\ndelay = '0s'\nserver_delay = '0s'\n\
         [network]\ndns = ['{}']\nconnect_port = ['80={}']\nallow_address = ['127.0.0.0/8']\n",
        served.dns(),
        served.http_port()
    );
    let bench = Bench { env, dir, config, turn, watch };
    let report = bench.measure();
    drop(env.files.remove_dir_all(dir));
    report
}

struct Bench<'a, F> {
    env: &'a Env,
    dir: &'a Path,
    config: String,
    turn: Duration,
    watch: F,
}

/// What a turn has come to.
struct Turn {
    requests_per_second: f64,
    cpu_per_request: f64,
    updates: (f64, f64),
}

impl<W: Watched, F: Fn(&Path, &Control) -> W> Bench<'_, F> {
    fn measure(&self) -> Result<ConsoleReport, ConsoleBenchError> {
        // The first run has everything to find out.
        self.turn(false)?;
        let (mut ratios, mut cpu) = (Vec::new(), Vec::new());
        let (mut speeds, mut updates, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            let (with, without) = if round % 2 == 0 {
                (self.turn(true)?, self.turn(false)?)
            } else {
                let without = self.turn(false)?;
                (self.turn(true)?, without)
            };
            ratios.push(with.requests_per_second / without.requests_per_second.max(1e-9));
            cpu.push(with.cpu_per_request / without.cpu_per_request.max(1e-12));
            speeds.push(with.requests_per_second);
            updates.push(with.updates.0);
            bytes.push(with.updates.1);
        }
        ratios.sort_by(f64::total_cmp);
        Ok(ConsoleReport {
            ratio_to_none: median(ratios.clone()),
            cpu_ratio_to_none: median(cpu),
            ratios,
            requests_per_second: median(speeds),
            updates_per_second: median(updates),
            update_bytes_per_second: median(bytes),
        })
    }

    fn turn(&self, watched: bool) -> Result<Turn, CrawlError> {
        let raw = RawConfig::parse(&self.config, "the benchmark")?;
        let crawl = Crawl::open(self.env, self.dir, raw)?;
        let (control, progress, clock) = (Control::default(), crawl.progress(), self.env.clock.clone());
        let watcher = watched.then(|| (self.watch)(self.dir, &control));
        let stop = control.clone();
        let turn = self.turn;
        let (summary, turn) = mattock_env::run(async {
            let measure = async {
                clock.sleep(WARM_UP).await;
                let updates = || watcher.as_ref().map(Watched::updates).unwrap_or_default();
                let cpu = || mattock_env::cpu_seconds().unwrap_or_default();
                let (begun, first, cpu_first, updates_first) =
                    (clock.now(), progress.read().requests, cpu(), updates());
                clock.sleep(turn).await;
                let seconds = clock.now().since(begun).as_secs_f64().max(1e-9);
                let requests = progress.read().requests.saturating_sub(first) as f64;
                let (cpu, updates) = (cpu() - cpu_first, updates());
                stop.stop();
                let rate = |now: u64, before: u64| (now - before) as f64 / seconds;
                Turn {
                    requests_per_second: requests / seconds,
                    cpu_per_request: cpu / requests.max(1.0),
                    updates: (rate(updates.0, updates_first.0), rate(updates.1, updates_first.1)),
                }
            };
            tokio::join!(crawl.run(control.clone()), measure)
        });
        summary?;
        Ok(turn)
    }
}
