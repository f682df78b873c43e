//! The hosts that are being crawled now, as each partition sees its own.
//!
//! Asked for by an operator; the question goes to every partition with the links that others send it, and is answered between
//! two visits. So nobody holds a lock, and an answer costs one look at every host on the bench.

use std::cmp::Ordering;

use mattock_env::Time;
use mattock_frontier::Frontier;
use serde::{Deserialize, Serialize};

/// At most so many rows are handed out.
const LIMIT_MAX: usize = 10_000;

/// By what hosts are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostSort {
    /// URLs that wait, most first.
    #[default]
    Queued,
    /// When it may be visited next, soonest first.
    NextVisit,
    /// Failures in a row, most first.
    Failures,
    /// Pages of its domain, most first.
    Pages,
    /// The budget of its domain, largest first.
    Budget,
    /// By name.
    Name,
}

/// Which hosts are wanted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HostQuery {
    /// Only hosts whose name has this in it.
    pub search: String,
    /// By what they are sorted.
    pub sort: HostSort,
    /// At most so many.
    pub limit: usize,
}

impl Default for HostQuery {
    fn default() -> HostQuery {
        HostQuery { search: String::new(), sort: HostSort::default(), limit: 100 }
    }
}

/// What is known of a host that is being crawled.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HostRow {
    /// Scheme, name and port.
    pub host: String,
    /// Its domain.
    pub domain: String,
    /// The partition that it belongs to.
    pub partition: usize,
    /// What it does: `ready`, `waiting`, `busy`, `idle` or `parked`.
    pub state: &'static str,
    /// URLs that wait in memory.
    pub queued: u64,
    /// URLs that wait on disk behind those.
    pub on_disk: u64,
    /// Seconds until it may be visited; 0 if it may be now.
    pub next_visit_s: f64,
    /// Failures in a row.
    pub failures: u64,
    /// Pages of its domain so far; `None` if there are too many domains to count them one by one.
    pub domain_pages: Option<u64>,
    /// The budget of its domain; 0 if there are no budgets.
    pub budget: u32,
    /// Its server, if it is known.
    pub address: Option<String>,
    /// Its robots.txt: `known`, `unknown`, `checking` or `asked`.
    pub robots: &'static str,
    /// The Crawl-delay that it asks for: seconds.
    pub crawl_delay_s: Option<f64>,
    /// Whether its last pages came well and soon.
    pub brisk: bool,
}

impl HostQuery {
    fn limit(&self) -> usize {
        self.limit.min(LIMIT_MAX)
    }

    fn order(&self, a: &HostRow, b: &HostRow) -> Ordering {
        let by = match self.sort {
            HostSort::Queued => (b.queued + b.on_disk).cmp(&(a.queued + a.on_disk)),
            HostSort::NextVisit => a.next_visit_s.total_cmp(&b.next_visit_s),
            HostSort::Failures => b.failures.cmp(&a.failures),
            HostSort::Pages => b.domain_pages.cmp(&a.domain_pages),
            HostSort::Budget => b.budget.cmp(&a.budget),
            HostSort::Name => Ordering::Equal,
        };
        by.then_with(|| a.host.cmp(&b.host))
    }

    /// Puts the answers of all partitions together.
    pub(crate) fn merge(&self, mut rows: Vec<HostRow>) -> Vec<HostRow> {
        rows.sort_by(|a, b| self.order(a, b));
        rows.truncate(self.limit());
        rows
    }

    /// The answer of one partition.
    pub(crate) fn answer(
        &self,
        frontier: &Frontier,
        partition: usize,
        now: Time,
        pages: impl Fn(&str) -> Option<u64>,
    ) -> Vec<HostRow> {
        let search = self.search.to_ascii_lowercase();
        let mut rows = Vec::new();
        frontier.hosts(now, |view| {
            if !search.is_empty() && !view.name.contains(&search) {
                return;
            }
            let url = mattock_weburl::WebUrl::parse(view.name).ok();
            let domain = url.as_ref().map_or("", |url| url.domain()).to_owned();
            rows.push(HostRow {
                host: view.name.to_owned(),
                partition,
                state: view.state,
                queued: view.queued as u64,
                on_disk: view.on_disk,
                next_visit_s: view.next_visit.as_secs_f64(),
                failures: u64::from(view.strikes),
                domain_pages: pages(&domain),
                domain,
                budget: view.budget,
                address: view.address.map(|address| address.to_string()),
                robots: view.robots,
                crawl_delay_s: view.crawl_delay.map(|delay| delay.as_secs_f64()),
                brisk: view.brisk,
            });
            // Nobody sees more than so many in the end.
            if rows.len() >= 4 * self.limit().max(64) {
                rows = self.merge(std::mem::take(&mut rows));
            }
        });
        self.merge(rows)
    }
}
