//! `mattock lab star`: what a crawl spends on spam, with budgets by reputation and without (IRLbot, §5.2 and figure 6(b)).
//!
//! The simulated Web `spam` has a few honest sites among farms without end, in which every link leads to another host. [`run`] crawls
//! it from the same seeds with different budgets: the whole crawler, in virtual time, over a simulated network and disk, until it
//! has as many pages as a share of the honest ones. What it spent is counted on the server's side. The [`StarReport`] says
//! how much of that went to farms, as the crawl goes on and by how many domains link to a domain.
//!
//! The same options give the same report to the byte.

mod report;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mattock_crawl::{Control, Crawl, CrawlError, RawConfig, Summary};
use mattock_env::sim::Simulation;
use mattock_env::{Env, NetFaults};
use mattock_simweb::{
    AuditHeader, AuditLog, Params, Preset, ServeError, ServeOptions, TruthError, World, serve,
};
use mattock_weburl::WebUrl;
use serde::Serialize;

/// Budgets that are compared; the first is plain breadth-first.
pub const BUDGETS: [&str; 3] = ["unlimited", "equal", "broad"];
/// Points of a curve.
const COURSE_POINTS: usize = 200;
/// The largest honest part of a world.
const HONEST_URLS_MAX: usize = 20_000_000;

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum StarError {
    /// The honest part of the world could not be counted.
    #[error(transparent)]
    Truth(#[from] TruthError),
    /// The world could not be served.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// The crawl failed.
    #[error(transparent)]
    Crawl(#[from] CrawlError),
    /// The server's log could not be read.
    #[error("the log of the simulated server")]
    Log(#[source] std::io::Error),
}

/// The crawls to make.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StarCrawl {
    /// Honest domains; the preset has 40. Servers grow along, farms do not.
    pub domains: u64,
    /// Of the world.
    pub seed: u64,
    /// Pages to fetch, as a share of the honest ones.
    pub share: f64,
    /// Fetches at once.
    pub connections: usize,
    /// Seconds between two requests to a host.
    pub delay_s: f64,
    /// Milliseconds that a connection takes to make.
    pub round_trip_ms: u64,
}

impl Default for StarCrawl {
    /// The preset `spam` up to a tenth of its honest pages, with the delay of a broad crawl.
    fn default() -> StarCrawl {
        StarCrawl { domains: 40, seed: 1, share: 0.1, connections: 64, delay_s: 10.0, round_trip_ms: 100 }
    }
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StarReport {
    /// The crawls.
    pub crawl: StarCrawl,
    /// Pages on honest sites that may be fetched, traps without end left out.
    pub honest_pages: u64,
    /// Hosts that they are on.
    pub honest_hosts: u64,
    /// Domains of farms.
    pub farm_domains: u64,
    /// Where each crawl stopped.
    pub page_limit: u64,
    /// The crawls, in the order of [`BUDGETS`].
    pub budgets: Vec<Spent>,
}

/// What a crawl spent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spent {
    /// The budget's name.
    pub budget: String,
    /// All requests: pages, robots.txt, sitemaps, whatever the answer.
    pub requests: Count,
    /// Answers with status 200: pages, and a few sitemaps.
    pub pages: Count,
    /// Domains that a page came from.
    pub domains: Count,
    /// Seconds that the crawl took, by its own clock.
    pub seconds: f64,
    /// URLs that waited at its end.
    pub queued: u64,
    /// Share of requests that went to farms, after so many requests.
    pub course: Vec<(u64, f64)>,
    /// Domains by in-degree, as far as the crawl has seen.
    pub degrees: Vec<DegreeClass>,
}

/// How many, and how many of them on farms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// All.
    pub all: u64,
    /// On farms.
    pub farms: u64,
}

impl Count {
    fn add(&mut self, farm: bool) {
        self.all += 1;
        self.farms += u64::from(farm);
    }

    /// The farms' share.
    pub fn farm_share(self) -> f64 {
        self.farms as f64 / self.all.max(1) as f64
    }
}

/// Domains that about as many others link to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DegreeClass {
    /// The least in-degree; the most is just below twice as much.
    pub degree: u64,
    /// Domains.
    pub domains: Count,
    /// Pages fetched per domain.
    pub pages_per_domain: f64,
}

/// Makes the crawls. `begun` is told of each before it begins.
pub fn run(crawl: StarCrawl, mut begun: impl FnMut(&str)) -> Result<StarReport, StarError> {
    let preset = Params::preset(Preset::Spam);
    let servers = (u64::from(preset.servers) * crawl.domains / preset.domains).clamp(1, 4_000_000) as u32;
    let params = Params { domains: crawl.domains, servers, ..preset };
    let world = Arc::new(World::new(params, crawl.seed));
    let honest = world.honest(HONEST_URLS_MAX)?;
    let page_limit = ((honest.allowed as f64 * crawl.share) as u64).max(1);
    let mut budgets = Vec::new();
    for budget in BUDGETS {
        begun(budget);
        let faults = NetFaults { latency_ms: crawl.round_trip_ms..=crawl.round_trip_ms, ..NetFaults::NONE };
        let (summary, log) = Simulation::new(crawl.seed)
            .network(faults)
            .run(|env| crawled(env, Arc::clone(&world), crawl, budget, page_limit))?;
        budgets.push(spent(&world, budget, &summary, &log));
    }
    Ok(StarReport {
        crawl,
        honest_pages: honest.allowed,
        honest_hosts: honest.hosts,
        farm_domains: world.params().farms * world.params().farm_domains,
        page_limit,
        budgets,
    })
}

/// Crawls the world; what the crawler says, and the server's log.
async fn crawled(
    env: Env,
    world: Arc<World>,
    crawl: StarCrawl,
    budget: &str,
    page_limit: u64,
) -> Result<(Summary, String), StarError> {
    let log = Path::new("/audit");
    let header = AuditHeader { seed: world.seed(), delay_ms: None, params: world.params().clone() };
    let audit = AuditLog::create(&env, log, &header)?;
    let seeds = world.seeds();
    let server = serve(&env, world, ServeOptions::default(), Some(audit)).await?;
    let delay = Duration::from_secs_f64(crawl.delay_s.clamp(0.0, 1e6)).as_millis();
    let config = format!(
        "[crawl]\nseeds = {seeds:?}\nscope = 'any'\nbudget = '{budget}'\nmax_pages = {page_limit}\npartitions = 1\n\
         [politeness]\ndelay = '{delay}ms'\n[fetch]\nconnections = {}\n\
         [network]\ndns = ['{}']\nallow_address = ['127.0.0.0/8']\nconnect_port = ['80={}']\n",
        crawl.connections.max(1),
        server.dns_address(),
        server.http_port()
    );
    let raw = RawConfig::parse(&config, "the experiment").map_err(CrawlError::from)?;
    let summary = Crawl::open(&env, Path::new("/crawl"), raw)?.run(Control::default()).await?;
    server.stop().await?;
    let log = env.files.read(log).map_err(StarError::Log)?;
    Ok((summary, String::from_utf8_lossy(&log).into_owned()))
}

/// Counts what stands in the log.
fn spent(world: &World, budget: &str, summary: &Summary, log: &str) -> Spent {
    let (mut requests, mut pages) = (Count::default(), Count::default());
    let mut course = Vec::new();
    let mut graph = Graph::default();
    for line in log.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [_, _, host, path, status, _, _, kind] = columns[..] else { continue };
        let farm = world.is_farm(host);
        requests.add(farm);
        course.push((requests.all, requests.farm_share()));
        if status == "200" && kind == "page" {
            pages.add(farm);
            graph.add(world, &format!("http://{host}{path}"), farm);
        }
    }
    let step = course.len().div_ceil(COURSE_POINTS).max(1);
    let last = course.len().saturating_sub(1);
    let kept = course.into_iter().enumerate().filter(|(at, _)| at % step == 0 || *at == last);
    Spent {
        budget: budget.to_owned(),
        requests,
        pages,
        domains: graph.visited(),
        seconds: summary.seconds,
        queued: summary.urls_queued,
        course: kept.map(|(_, point)| point).collect(),
        degrees: graph.classes(),
    }
}

/// Domains, who links to them, and what was fetched of them.
#[derive(Default)]
struct Graph {
    domains: BTreeMap<String, Domain>,
}

#[derive(Default)]
struct Domain {
    farm: bool,
    pages: u64,
    sources: BTreeSet<String>,
}

impl Graph {
    /// A page came.
    fn add(&mut self, world: &World, url: &str, farm: bool) {
        let Ok(page) = WebUrl::parse(url) else { return };
        let domain = self.domains.entry(page.domain().to_owned()).or_default();
        domain.farm = farm;
        domain.pages += 1;
        for link in world.links(url, 0).iter().filter_map(|link| WebUrl::parse(link).ok()) {
            if link.domain() == page.domain() {
                continue;
            }
            let target = self.domains.entry(link.domain().to_owned()).or_default();
            target.farm = world.is_farm(link.as_str().split('/').nth(2).unwrap_or_default());
            target.sources.insert(page.domain().to_owned());
        }
    }

    fn visited(&self) -> Count {
        let mut count = Count::default();
        self.domains.values().filter(|domain| domain.pages > 0).for_each(|domain| count.add(domain.farm));
        count
    }

    /// Domains that somebody links to, by the binary digits of how many.
    fn classes(&self) -> Vec<DegreeClass> {
        let mut classes: BTreeMap<u32, (Count, u64)> = BTreeMap::new();
        for domain in self.domains.values() {
            if let Some(class) = domain.sources.len().checked_ilog2() {
                let (count, pages) = classes.entry(class).or_default();
                count.add(domain.farm);
                *pages += domain.pages;
            }
        }
        let class = |(class, (domains, pages)): (u32, (Count, u64))| DegreeClass {
            degree: 1 << class,
            domains,
            pages_per_domain: pages as f64 / domains.all as f64,
        };
        classes.into_iter().map(class).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(seed: u64) -> StarReport {
        run(StarCrawl { seed, ..StarCrawl::default() }, |_| ()).unwrap()
    }

    #[test]
    fn reputation_keeps_a_crawl_out_of_farms_where_breadth_first_drowns() {
        for seed in 1..=3 {
            let report = report(seed);
            let [plain, equal, broad] = &report.budgets[..] else { panic!("three budgets") };
            for spent in [plain, equal, broad] {
                let sitemaps = spent.pages.all - report.page_limit;
                assert!(sitemaps < 10, "as many pages as asked for: {:?}", spent.pages);
            }
            assert!(plain.requests.farm_share() > 0.5, "{seed}: {:?}", plain.requests);
            assert!(broad.requests.farm_share() < 0.05, "{seed}: {:?}", broad.requests);
            assert!(broad.pages.farm_share() < 0.05, "{seed}: {:?}", broad.pages);
            // Domains of farms all have a page or two: the same for each does not keep them out.
            assert!(equal.requests.farm_share() > 0.5, "{seed}: {:?}", equal.requests);
            // As in the figure: the more domains link to one, the more is fetched of it.
            let [first, .., last] = &broad.degrees[..] else { panic!("degrees differ") };
            assert!(first.pages_per_domain < 0.5 && last.pages_per_domain > 2.0, "{:?}", broad.degrees);
        }
    }

    #[test]
    fn the_same_again() {
        assert_eq!(report(4), report(4));
    }

    #[test]
    fn the_page_says_what_was_found() {
        let report = report(5);
        let page = report.markdown();
        assert!(page.contains("](star-share.svg)") && page.contains("](star-degree.svg)"));
        for budget in BUDGETS {
            assert!(page.contains(&format!("| {budget} |")), "{page}");
            assert!(report.share_chart().render().standalone().contains(budget));
            assert!(report.degree_chart().render().standalone().contains(budget));
        }
        assert!(report.to_string().contains("broad"));
    }
}
