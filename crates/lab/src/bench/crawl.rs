//! What a whole crawl costs per page, next to the least that fetching, reading and storing a page could cost.
//!
//! The crawl is a real one: a simulated Web of 50,000 pages over sockets, from its seeds to its end, with everything that belongs
//! to it (seen, queues, robots.txt, redirects, errors, the archive), into a directory that is removed afterwards. Its cost is the
//! CPU time of the whole process, background threads included, less that of the thread that serves the Web, divided by
//! the pages that it brought (status 200; whatever else was asked for counts as their cost). The floor is that of
//! [`path`](super::path), with the same compressor, measured in the same run.

use std::fmt;
use std::path::Path;

use mattock_crawl::{Control, Crawl, CrawlError, RawConfig};
use mattock_env::Env;
use mattock_simweb::{Params, World};
use serde::Serialize;

use super::path::{PathError, floor_us_per_page};
use super::{median, pages};
use crate::served::ServedWorld;

/// How often the floor is measured, before and after the crawl.
const ROUNDS: usize = 3;
/// Pages per measurement of the floor.
const FLOOR_PAGES: usize = 3000;

/// Why nothing could be measured.
#[derive(Debug, thiserror::Error)]
pub enum CrawlBenchError {
    /// The floor could not be measured.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The simulated Web could not be served.
    #[error(transparent)]
    Serve(#[from] mattock_simweb::ServeError),
    /// The crawl failed.
    #[error(transparent)]
    Crawl(#[from] CrawlError),
}

/// What was measured.
#[derive(Clone, Debug, Serialize)]
pub struct CrawlReport {
    /// CPU per page over that of the floor.
    pub ratio_to_floor: f64,
    /// Pages per CPU second.
    pub pages_per_cpu_second: f64,
    /// Pages that were fetched, of those that a crawler may fetch.
    pub completeness: f64,
    /// Peak memory of the process, the server included.
    pub rss_mb: f64,
    /// CPU µs per page.
    pub cpu_us_per_page: f64,
    /// CPU µs per page of the floor.
    pub floor_us_per_page: f64,
    /// Pages fetched.
    pub pages: u64,
    /// Requests that brought something else, or nothing.
    pub other_requests: u64,
    /// Bytes received per page.
    pub bytes_per_page: f64,
    /// Seconds on the clock.
    pub seconds: f64,
}

impl fmt::Display for CrawlReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "pages                     {:>9}", self.pages)?;
        writeln!(out, "  of those there are      {:>9.4}", self.completeness)?;
        writeln!(out, "pages per CPU second      {:>9.0}", self.pages_per_cpu_second)?;
        writeln!(out, "CPU per page              {:>9.1} µs", self.cpu_us_per_page)?;
        writeln!(out, "  the floor               {:>9.1} µs", self.floor_us_per_page)?;
        writeln!(out, "  over the floor          {:>9.2} ×", self.ratio_to_floor)?;
        write!(out, "peak memory               {:>9.0} MB", self.rss_mb)
    }
}

/// The world of the other benchmarks without what would have to be waited for: hosts that are slow, that ask for a delay, or that
/// fail for a while. All else that goes wrong is in it.
fn world() -> World {
    let params = pages::world().params().clone();
    World::new(
        Params {
            reset_pages: 0.0,
            reset_hosts: 0.0,
            silent_hosts: 0.0,
            slow_hosts: 0.0,
            failing_names: 0.0,
            status_500: 0.0,
            status_503: 0.0,
            robots_delay: 0,
            robots_unavailable: 0,
            robots_refused: 0,
            ..params
        },
        1,
    )
}

/// Measures. `dir` is made for it, and removed afterwards.
pub fn run(env: &Env, dir: &Path) -> Result<CrawlReport, CrawlBenchError> {
    let world = world();
    let targets = pages::targets(&world);
    let truth = world.truth(1_000_000).expect("a world of 50,000 pages is within the limit");
    let seeds = world.seeds();
    let served = ServedWorld::start(world)?;
    let mut floor = Vec::new();
    for _ in 0..ROUNDS {
        floor.push(floor_us_per_page(&served, &targets, FLOOR_PAGES)?);
    }
    let config = format!(
        "[crawl]\nscope = \"any\"\npartitions = 1\nseeds = {seeds:?}\n[politeness]\ndelay = \"0s\"\n\
         [network]\ndns = [\"{}\"]\nconnect_port = [\"80={}\"]\nallow_address = [\"127.0.0.0/8\"]\n",
        served.dns(),
        served.http_port()
    );
    let raw = RawConfig::parse(&config, "the benchmark").map_err(CrawlError::from)?;
    let server_before = served.cpu_seconds();
    let outcome = Crawl::open(env, dir, raw)
        .and_then(|crawl| mattock_env::run(async move { crawl.run(Control::default()).await }));
    let server = served.cpu_seconds() - server_before;
    drop(env.files.remove_dir_all(dir));
    let summary = outcome?;
    for _ in 0..ROUNDS {
        floor.push(floor_us_per_page(&served, &targets, FLOOR_PAGES)?);
    }
    let cpu_seconds = (summary.cpu_seconds - server).max(1e-9);
    let (pages, floor) = (summary.pages.max(1) as f64, median(floor));
    let cpu_us_per_page = cpu_seconds * 1e6 / pages;
    let requests = summary.outcomes.values().sum::<u64>() + summary.robots_fetches;
    Ok(CrawlReport {
        ratio_to_floor: cpu_us_per_page / floor,
        pages_per_cpu_second: pages / cpu_seconds,
        completeness: summary.pages as f64 / truth.allowed.max(1) as f64,
        rss_mb: mattock_env::peak_resident_bytes().unwrap_or(0) as f64 / 1e6,
        cpu_us_per_page,
        floor_us_per_page: floor,
        pages: summary.pages,
        other_requests: requests.saturating_sub(summary.pages),
        bytes_per_page: summary.bytes as f64 / pages,
        seconds: summary.seconds,
    })
}
