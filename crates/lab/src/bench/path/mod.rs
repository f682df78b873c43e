//! What a page costs on its way from the socket to the archive, next to the least it could cost.
//!
//! *Ours* is what the crawler does with a page: fetch, extract, join the links with their base, fingerprint them, write
//! the exchange as WARC. The *floor* is a hand-written epoll client and the bare library calls for the same steps
//! (`floor`). Both run on one thread against the same server on another, in turns; CPU time of that thread counts, not
//! the clock on the wall.
//!
//! Over HTTPS a new connection means a full handshake: the server (`secure`) gives no tickets. What TLS adds to a page of ours
//! is compared with what rustls adds to the floor, which calls it with nothing in between; beside it stands what the handshake
//! costs in memory (`handshake`). The client does resume sessions where a server lets it; that is measured on a port that gives
//! tickets.

mod floor;
mod handshake;
mod ours;
mod report;
mod secure;

use std::io;
use std::time::Duration;

use mattock_env::Env;
use mattock_fetch::TlsOptions;

use super::median;
use super::pages::{Target, targets, world};
use crate::served::ServedWorld;
use Connecting::{KeepAlive, New};
use report::Pair;
pub use report::{Parts, PathReport, Tls};
use secure::Secured;

const ROUNDS: usize = 5;
/// Connections at once.
const CONNECTIONS: usize = 64;
/// Pages for each of which a round without handshakes has one more.
const HANDSHAKES_PER_PAGE: usize = 5;

/// Why nothing could be measured.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// The simulated Web could not be served.
    #[error(transparent)]
    Serve(#[from] mattock_simweb::ServeError),
    /// The floor's client failed.
    #[error("the floor's client failed: {0}")]
    Floor(io::Error),
    /// The pages could not be served over HTTPS.
    #[error("the pages cannot be served over HTTPS: {0}")]
    Secure(io::Error),
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

/// Measures; `pages` per round and kind, a fifth of them where each needs a handshake.
pub fn run(env: &Env, pages: usize) -> Result<PathReport, PathError> {
    let world = world();
    let targets = targets(&world);
    let served = ServedWorld::start(world)?;
    let secured = Secured::start(&targets).map_err(PathError::Secure)?;
    let root = &secured.certificates.root;
    let tls =
        Some(handshake::client_config(root).map_err(|error| PathError::Secure(io::Error::other(error)))?);
    let options = |port| {
        let mut options = served.client_options();
        options.connect_ports.push((443, port));
        options.tls = TlsOptions { enforce: true, extra_roots: vec![root.clone()] };
        options
    };
    let way = |connecting, secure| match secure {
        false => floor::Way { port: served.http_port(), connecting, tls: None },
        true => floor::Way { port: secured.full_port, connecting, tls: tls.clone() },
    };
    let kinds = [(KeepAlive, false), (New, false), (KeepAlive, true), (New, true)];
    let mut times: [(Vec<f64>, Vec<f64>); 4] = Default::default();
    let (mut alone, mut resuming, mut resumed_share) = (Vec::new(), Vec::new(), Vec::new());
    let handshakes = (pages / HANDSHAKES_PER_PAGE).max(CONNECTIONS);
    for _ in 0..ROUNDS {
        for ((connecting, secure), (floor, ours)) in kinds.into_iter().zip(&mut times) {
            let pages = if secure && connecting == New { handshakes } else { pages };
            floor.push(floor::measure(&way(connecting, secure), &targets, pages).map_err(PathError::Floor)?);
            let way = ours::Way { options: options(secured.full_port), connecting, secure };
            ours.push(ours::measure(env, &way, &targets, pages)?.0);
        }
        let host = &targets[0].host;
        alone.push(handshake::measure(&secured.certificates, host, handshakes).map_err(PathError::Floor)?);
        let way = ours::Way { options: options(secured.resuming_port), connecting: New, secure: true };
        let (time, share) = ours::measure(env, &way, &targets, handshakes)?;
        resuming.push(time);
        resumed_share.push(share);
    }
    let [http_keepalive, http_new, https_keepalive, https_new] =
        times.map(|(floor, ours)| Pair { ours: median(ours), floor: median(floor) });
    let tls = Tls {
        added_us: https_new.ours - http_new.ours,
        rustls_added_us: https_new.floor - http_new.floor,
        rustls_handshake_us: median(alone),
        https_resumed_us: median(resuming),
        resumed_share: median(resumed_share),
    };
    let parts = ours::parts(env, &targets)?;
    Ok(PathReport::new([http_keepalive, http_new, https_keepalive, https_new], tls, parts, pages))
}

/// CPU µs per page of the floor over HTTP with connections kept alive.
pub(super) fn floor_us_per_page(
    served: &ServedWorld,
    targets: &[Target],
    pages: usize,
) -> Result<f64, PathError> {
    let way = floor::Way { port: served.http_port(), connecting: KeepAlive, tls: None };
    floor::measure(&way, targets, pages).map_err(PathError::Floor)
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
