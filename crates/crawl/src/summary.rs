//! What a crawl has come to.

use std::collections::BTreeMap;

use mattock_fetch::FetchOutcome;
use mattock_weburl::WebUrl;
use serde::{Deserialize, Serialize};

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// Nothing is left to fetch.
    Complete,
    /// The page limit is reached.
    MaxPages,
    /// It was asked to stop.
    Stopped,
}

/// Domains whose pages are counted one by one, in each partition: counts must not outgrow the memory.
const DOMAINS_MAX: usize = 1 << 16;

/// Counts over all runs of a crawl; saved with its state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Totals {
    pub(crate) pages: u64,
    pub(crate) bytes: u64,
    pub(crate) errors: u64,
    /// Requests that came back, whatever for and whatever they brought.
    pub(crate) requests: u64,
    pub(crate) robots_fetches: u64,
    pub(crate) copies: u64,
    pub(crate) near_copies: u64,
    pub(crate) links_exchanged: u64,
    pub(crate) outcomes: BTreeMap<String, u64>,
    pub(crate) refused: BTreeMap<String, u64>,
    pub(crate) sitemaps: BTreeMap<String, u64>,
    /// Pages of domains beyond the first so many.
    pub(crate) pages_of_other_domains: u64,
    /// Pages by pay-level domain.
    pub(crate) domains: BTreeMap<String, u64>,
}

impl Totals {
    /// All that was counted.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u64> {
        let &Totals {
            pages,
            bytes,
            errors,
            requests,
            robots_fetches,
            copies,
            near_copies,
            links_exchanged,
            ..
        } = self;
        let alone = [pages, bytes, errors, requests, robots_fetches, copies, near_copies, links_exchanged];
        let named = [&self.outcomes, &self.refused, &self.sitemaps, &self.domains];
        let named = named.into_iter().flat_map(|counts| counts.values().copied());
        alone.into_iter().chain([self.pages_of_other_domains]).chain(named)
    }

    /// Adds what another partition has counted.
    pub(crate) fn add(&mut self, other: Totals) {
        self.pages += other.pages;
        self.bytes += other.bytes;
        self.errors += other.errors;
        self.requests += other.requests;
        self.robots_fetches += other.robots_fetches;
        self.copies += other.copies;
        self.near_copies += other.near_copies;
        self.links_exchanged += other.links_exchanged;
        self.pages_of_other_domains += other.pages_of_other_domains;
        let maps = [
            (&mut self.outcomes, other.outcomes),
            (&mut self.refused, other.refused),
            (&mut self.sitemaps, other.sitemaps),
            (&mut self.domains, other.domains),
        ];
        for (ours, theirs) in maps {
            for (name, count) in theirs {
                *ours.entry(name).or_default() += count;
            }
        }
    }

    /// Counts a page visit that is the last word on its URL.
    pub(crate) fn count(&mut self, outcome: FetchOutcome, url: &WebUrl) {
        match outcome.status() {
            Some(200) => {
                self.pages += 1;
                self.count_domain(url.domain(), 1);
            }
            Some(0..400) => {}
            _ => self.errors += 1,
        }
        *self.outcomes.entry(outcome.to_string()).or_default() += 1;
    }

    /// Counts pages of a domain.
    pub(crate) fn count_domain(&mut self, domain: &str, pages: u64) {
        let known = self.domains.len();
        match self.domains.get_mut(domain) {
            Some(counted) => *counted += pages,
            None if known < DOMAINS_MAX => {
                self.domains.insert(domain.to_owned(), pages);
            }
            None => self.pages_of_other_domains += pages,
        }
    }

    pub(crate) fn count_sitemap(&mut self, name: &str) {
        *self.sitemaps.entry(name.to_owned()).or_default() += 1;
    }
}

/// The result of a run: what `--json` prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Why the run ended.
    pub end: End,
    /// Partitions that the crawl has.
    pub partitions: u64,
    /// Pages (status 200) fetched in all runs.
    pub pages: u64,
    /// Pages whose bytes the crawl had already.
    pub copies: u64,
    /// Other pages that were nearly like one of the last of their domain.
    pub near_copies: u64,
    /// Different URLs seen in scope, in all runs.
    pub urls_seen: u64,
    /// URLs that still wait.
    pub urls_queued: u64,
    /// Links that went from one partition to another, in all runs.
    pub links_exchanged: u64,
    /// Bytes received, in all runs.
    pub bytes: u64,
    /// Seconds that this run took.
    pub seconds: f64,
    /// CPU seconds of the process in this run.
    pub cpu_seconds: f64,
    /// The longest that a partition stood still for a checkpoint of this run.
    pub checkpoint_pause_ms: f64,
    /// Domains that pages were fetched from; each partition counts up to 65,536.
    pub domains: u64,
    /// What became of the URLs that were fetched: statuses and failures with their counts.
    pub outcomes: BTreeMap<String, u64>,
    /// Why URLs were not fetched: reasons with their counts.
    pub refused: BTreeMap<String, u64>,
    /// robots.txt files asked for.
    pub robots_fetches: u64,
    /// What became of the sitemaps that were asked for: what they turned out to be, or else statuses and failures.
    pub sitemaps: BTreeMap<String, u64>,
    /// The domains with their pages, largest first.
    #[serde(skip)]
    pub domain_pages: Vec<(String, u64)>,
}
