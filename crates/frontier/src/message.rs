//! What the stages hand to each other.

use std::fmt;

use mattock_env::Time;
use mattock_fetch::FetchOutcome;
use mattock_weburl::WebUrl;

/// A URL that was discovered: a seed, a link on a page, or the target of a redirect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The canonical URL.
    pub url: WebUrl,
    /// Links from a seed to here; a redirect does not count as one.
    pub depth: u32,
}

/// A link that passed `seen`: to be fetched, unless robots.txt forbids it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The canonical URL.
    pub url: WebUrl,
    /// Links from a seed to here.
    pub depth: u32,
    /// Tries that failed before this one.
    pub attempt: u8,
    /// The place in the order of requests.
    pub number: u64,
}

/// What a visit is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A page that the crawl asked for.
    Page,
    /// The robots.txt of a host, which need not be the host that is visited: redirects lead elsewhere.
    Robots {
        /// The host whose rules these will be.
        host: Box<str>,
        /// Redirects followed so far.
        hops: u8,
    },
}

/// Permission to fetch one URL now. The host stays reserved until [`Finished`] comes back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visit {
    /// What to fetch.
    pub request: Request,
    /// What for.
    pub purpose: Purpose,
}

/// What came of a visit, as far as the frontier cares.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The visit, handed back.
    pub visit: Visit,
    /// How the fetch ended.
    pub outcome: FetchOutcome,
    /// When the last byte was in: the host's delay runs from here.
    pub at: Time,
    /// Seconds that the server asked us to stay away (`Retry-After`).
    pub retry_after_s: Option<u64>,
    /// What a robots.txt visit brought; `None` for pages.
    pub robots: Option<RobotsAnswer>,
}

/// What a robots.txt visit brought.
#[derive(Clone, Debug)]
pub struct RobotsAnswer {
    /// The body; rules if the status says so. `None` if it did not come whole or cannot be decoded: rules that are
    /// missing from it would look like permission.
    pub body: Option<Vec<u8>>,
    /// Where a redirect leads, if it leads anywhere.
    pub location: Option<WebUrl>,
}

/// Why a URL was not fetched although it was discovered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refusal {
    /// Outside the crawl's scope.
    Scope,
    /// More links away from a seed than the crawl goes.
    Depth,
    /// robots.txt forbids it.
    Robots,
    /// robots.txt could not be had, which forbids everything.
    RobotsUnreachable,
}

impl Refusal {
    /// The name that is stored, counted and shown.
    pub fn name(self) -> &'static str {
        match self {
            Refusal::Scope => "out-of-scope",
            Refusal::Depth => "too-deep",
            Refusal::Robots => "robots",
            Refusal::RobotsUnreachable => "robots-unreachable",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}
