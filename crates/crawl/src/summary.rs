//! What a crawl has come to.

use std::collections::BTreeMap;

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

/// Counts over all runs of a crawl; saved with its state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Totals {
    pub(crate) pages: u64,
    pub(crate) bytes: u64,
    pub(crate) errors: u64,
    pub(crate) robots_fetches: u64,
    pub(crate) outcomes: BTreeMap<String, u64>,
    pub(crate) refused: BTreeMap<String, u64>,
    pub(crate) sitemaps: BTreeMap<String, u64>,
    /// Pages by pay-level domain.
    pub(crate) domains: BTreeMap<String, u64>,
}

/// The result of a run: what `--json` prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Why the run ended.
    pub end: End,
    /// Pages (status 200) fetched in all runs.
    pub pages: u64,
    /// Different URLs seen in scope, in all runs.
    pub urls_seen: u64,
    /// URLs that still wait.
    pub urls_queued: u64,
    /// Bytes received, in all runs.
    pub bytes: u64,
    /// Seconds that this run took.
    pub seconds: f64,
    /// CPU seconds of the process in this run.
    pub cpu_seconds: f64,
    /// Domains that pages were fetched from.
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
