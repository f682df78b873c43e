//! What the stages hand to each other.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use mattock_env::Time;
use mattock_fetch::FetchOutcome;
use mattock_weburl::{Fingerprint, WebUrl};

use crate::PageContent;

/// A URL that was discovered: a seed, a link on a page, or the target of a redirect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The canonical URL.
    pub url: WebUrl,
    /// Links from a seed to here; a redirect does not count as one.
    pub depth: u32,
    /// Redirects that led here, one after the other.
    pub redirects: u8,
    /// What is to be found there.
    pub target: Target,
    /// The URL that it was found on, be it a page, a sitemap, a robots.txt or a redirect: its fingerprint, since a text would cost the
    /// queues more than the link itself. `None` for seeds.
    pub via: Option<Fingerprint>,
}

impl Link {
    /// A link to a page, found nowhere.
    pub fn page(url: WebUrl, depth: u32) -> Link {
        Link { url, depth, redirects: 0, target: Target::Page, via: None }
    }
}

/// What a link leads to, hence what is made of the answer. It travels with the URL and changes nothing about how
/// politely that is fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// A page, as far as anybody knows.
    #[default]
    Page,
    /// A sitemap.
    Sitemap {
        /// Indexes that led to it, one after the other.
        level: u8,
        /// How many more sitemaps may be asked for because of it.
        allowance: u16,
    },
}

/// A link that passed `seen`: to be fetched, unless robots.txt forbids it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The canonical URL.
    pub url: WebUrl,
    /// Links from a seed to here.
    pub depth: u32,
    /// Redirects that led here.
    pub redirects: u8,
    /// What is to be found there.
    pub target: Target,
    /// The fingerprint of the URL that the link was found on first, if that is known.
    pub via: Option<Fingerprint>,
    /// The priority band that it was requested in; 0 is the most urgent.
    pub band: u8,
    /// Tries that failed before this one.
    pub attempt: u8,
    /// The budget of its domain when it was admitted; 0 if there are none.
    pub budget: u32,
    /// The place in the order of requests.
    pub number: u64,
}

/// What a visit is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A page, or a sitemap, that the crawl asked for.
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
    /// The server that is reserved for it, and the only one it may be made to; `None` where servers are not looked at.
    pub server: Option<IpAddr>,
}

impl Visit {
    /// Whether it is for a page: neither a robots.txt nor a sitemap.
    pub fn is_page(&self) -> bool {
        self.purpose == Purpose::Page && self.request.target == Target::Page
    }
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
    /// How long the server took.
    pub took: Duration,
    /// Seconds that the server asked us to stay away (`Retry-After`).
    pub retry_after_s: Option<u64>,
    /// What a robots.txt visit brought; `None` for pages.
    pub robots: Option<RobotsAnswer>,
    /// What a page turned out to be; `None` if there was none.
    pub content: Option<PageContent>,
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

/// What a robots.txt names as sitemaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sitemaps {
    /// The host that it holds for.
    pub host: Box<str>,
    /// The least depth of the requests that it was read for.
    pub depth: u32,
    /// In the file's order, unresolved and unchecked.
    pub urls: Vec<String>,
}

/// Why a URL was not fetched although it was discovered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refusal {
    /// Outside the crawl's scope.
    Scope,
    /// More links away from a seed than the crawl goes.
    Depth,
    /// Under a SURT prefix that the crawl leaves out.
    DeniedPrefix,
    /// Matches an expression that the crawl leaves out.
    DeniedPattern,
    /// Of a content type that the crawl does not keep.
    ContentType,
    /// On a host that the blocklist names.
    BlockedHost,
    /// On a host of a domain that the blocklist names.
    BlockedDomain,
    /// On a server whose address the blocklist names.
    BlockedAddress,
    /// Matches a URL pattern of the blocklist.
    BlockedUrl,
    /// Longer than URLs of pages are.
    UrlTooLong,
    /// Its path has more segments than paths of pages have.
    PathTooDeep,
    /// Its path says the same again and again.
    PathRepeats,
    /// Its query has more parameters than queries of pages have.
    TooManyParameters,
    /// One of too many combinations of parameters on one path.
    QueryExplosion,
    /// What the crawl is for does not ask for it.
    NotRequested,
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
            Refusal::DeniedPrefix => "denied-prefix",
            Refusal::DeniedPattern => "denied-pattern",
            Refusal::ContentType => "content-type",
            Refusal::BlockedHost => "blocked-host",
            Refusal::BlockedDomain => "blocked-domain",
            Refusal::BlockedAddress => "blocked-address",
            Refusal::BlockedUrl => "blocked-url",
            Refusal::UrlTooLong => "url-too-long",
            Refusal::PathTooDeep => "path-too-deep",
            Refusal::PathRepeats => "path-repeats",
            Refusal::TooManyParameters => "too-many-parameters",
            Refusal::QueryExplosion => "query-explosion",
            Refusal::NotRequested => "not-requested",
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
