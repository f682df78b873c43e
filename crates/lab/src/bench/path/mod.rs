//! What a page costs on its way from the socket to the archive, next to the least it could cost.
//!
//! *Ours* is what the crawler does with a page: fetch, extract, join the links with their base, fingerprint them, write
//! the exchange as WARC. The *floor* is a hand-written epoll client and the bare library calls for the same steps
//! (`floor`). Both run on one thread against the same server on another, in turns; CPU time of that thread counts, not
//! the clock on the wall.

mod floor;
mod ours;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mattock_env::Env;
use serde::Serialize;

use super::median;
use super::pages::{Target, targets, world};
use crate::served::ServedWorld;

const ROUNDS: usize = 5;
/// Connections at once.
const CONNECTIONS: usize = 64;

/// Why nothing could be measured.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// The simulated Web could not be served.
    #[error(transparent)]
    Serve(#[from] mattock_simweb::ServeError),
    /// The floor's client failed.
    #[error("the floor's client failed: {0}")]
    Floor(std::io::Error),
    /// Our client got something else than a page.
    #[error("a page could not be fetched: {0}")]
    Fetch(String),
    /// The archive could not be written.
    #[error(transparent)]
    Repository(#[from] mattock_repository::RepositoryError),
}

/// One connection per request, or kept alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Connecting {
    KeepAlive,
    New,
}

/// What was measured: CPU µs per page, medians of rounds taken in turns, and their ratios.
#[derive(Clone, Debug, Serialize)]
pub struct PathReport {
    /// Ours over the floor, connections kept alive.
    pub ratio_to_floor_http_keepalive: f64,
    /// Ours over the floor, a new connection for each page.
    pub ratio_to_floor_http_new: f64,
    /// CPU µs per page.
    pub http_keepalive_us: f64,
    /// CPU µs per page.
    pub floor_http_keepalive_us: f64,
    /// CPU µs per page.
    pub http_new_us: f64,
    /// CPU µs per page.
    pub floor_http_new_us: f64,
    /// The parts of ours with connections kept alive, CPU µs per page: what is done with a page once it is there.
    pub parts: Parts,
    /// Pages per round.
    pub pages: usize,
}

/// CPU µs per page of the single steps, measured over the same pages in memory.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Parts {
    /// Finding the links.
    pub extract_us: f64,
    /// Joining them with the base and fingerprinting them.
    pub links_us: f64,
    /// Digests, compression and writing.
    pub archive_us: f64,
}

impl fmt::Display for PathReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "CPU µs per page            ours    floor    ratio")?;
        let mut row = |name: &str, ours: f64, floor: f64, ratio: f64| {
            writeln!(out, "{name:<22} {ours:>8.1} {floor:>8.1} {ratio:>8.2}")
        };
        row(
            "HTTP, kept alive",
            self.http_keepalive_us,
            self.floor_http_keepalive_us,
            self.ratio_to_floor_http_keepalive,
        )?;
        row("HTTP, new connection", self.http_new_us, self.floor_http_new_us, self.ratio_to_floor_http_new)?;
        let Parts { extract_us, links_us, archive_us } = self.parts;
        write!(out, "of ours: extract {extract_us:.1}, links {links_us:.1}, archive {archive_us:.1}")
    }
}

/// Measures; `pages` per round and kind.
pub fn run(env: &Env, pages: usize) -> Result<PathReport, PathError> {
    let world = world();
    let targets = Arc::new(targets(&world));
    let served = ServedWorld::start(world)?;
    let mut times: [Vec<f64>; 4] = Default::default();
    for _ in 0..ROUNDS {
        for (at, connecting) in [(0, Connecting::KeepAlive), (2, Connecting::New)] {
            times[at].push(
                floor::measure(served.http_port(), &targets, pages, connecting).map_err(PathError::Floor)?,
            );
            times[at + 1].push(ours::measure(env, &served, &targets, pages, connecting)?);
        }
    }
    let [floor_kept, kept, floor_new, new] = times.map(median);
    Ok(PathReport {
        ratio_to_floor_http_keepalive: kept / floor_kept,
        ratio_to_floor_http_new: new / floor_new,
        http_keepalive_us: kept,
        floor_http_keepalive_us: floor_kept,
        http_new_us: new,
        floor_http_new_us: floor_new,
        parts: ours::parts(env, &targets)?,
        pages,
    })
}

/// The targets that each of the connections asks for: all of one host.
fn lanes(targets: &[Target]) -> Vec<Vec<Target>> {
    (0..CONNECTIONS)
        .map(|number| {
            let first = &targets[number * targets.len() / CONNECTIONS];
            targets.iter().filter(|target| target.host == first.host).cloned().collect()
        })
        .collect()
}

/// CPU µs that this thread spends per page of `work`.
fn cpu_us_per<T>(pages: usize, work: impl FnOnce() -> T) -> (f64, T) {
    let begun = mattock_env::thread_cpu_seconds();
    let result = work();
    let spent = mattock_env::thread_cpu_seconds() - begun;
    (spent * 1e6 / pages as f64, result)
}

/// How long a round may take at most before something is wrong.
const ROUND_MAX: Duration = Duration::from_secs(120);
