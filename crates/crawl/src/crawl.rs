//! A crawl from opening its directory to saving its state.

use std::path::Path;
use std::sync::Arc;

use mattock_env::{Env, File};
use mattock_frontier::{Frontier, FrontierOptions, Scope, Servers};
use mattock_repository::WarcWriter;

use crate::directory::Directory;
use crate::partition::Partition;
use crate::summary::Totals;
use crate::{Config, Control, CrawlError, LinkRules, Progress, RawConfig, Summary};

const FRONTIER: &str = "frontier";
const TOTALS: &str = "totals.json";

/// A crawl that is ready to run.
pub struct Crawl {
    env: Env,
    directory: Directory,
    config: Config,
    totals: Totals,
    resumed: bool,
    progress: Arc<Progress>,
    /// Other processes are kept out until it is dropped.
    _lock: File,
}

impl Crawl {
    /// Makes a new crawl in `root`, or takes up the one that is there. What `asked` leaves open comes from the earlier
    /// run; seeds are added to those that the crawl has.
    pub fn open(env: &Env, root: &Path, asked: RawConfig) -> Result<Crawl, CrawlError> {
        let (directory, saved) = Directory::open(&env.files, root)?;
        let mut merged = match saved {
            Some(saved) => {
                let mut seeds = saved.crawl.seeds.clone().unwrap_or_default();
                let more = asked.crawl.seeds.clone().unwrap_or_default();
                seeds.extend(more.into_iter().filter(|seed| !seeds.contains(seed)).collect::<Vec<_>>());
                let mut merged = asked.or(saved);
                merged.crawl.seeds = Some(seeds);
                merged
            }
            None => asked,
        };
        let config = merged.check()?;
        if config.seeds.is_empty() {
            return Err(CrawlError::NoSeed);
        }
        // Nothing was written so far: a slip must not leave a half-made directory behind.
        directory.create()?;
        let lock = directory.lock()?;
        merged.crawl.seeds = Some(config.seeds.iter().map(|seed| seed.as_str().to_owned()).collect());
        directory.write_config(&merged)?;
        let totals = match directory.read_state(TOTALS)? {
            Some(bytes) => serde_json::from_slice(&bytes).map_err(|error| CrawlError::Totals {
                path: directory.state().join(TOTALS),
                message: error.to_string(),
            })?,
            None => Totals::default(),
        };
        let resumed = Frontier::is_saved(env, &directory.state().join(FRONTIER))?;
        Ok(Crawl {
            env: env.clone(),
            directory,
            config,
            totals,
            resumed,
            progress: Arc::default(),
            _lock: lock,
        })
    }

    /// Whether the crawl was begun in an earlier run.
    pub fn is_resumed(&self) -> bool {
        self.resumed
    }

    /// The configuration in force.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Where the crawl is.
    pub fn root(&self) -> &Path {
        self.directory.root()
    }

    /// Live numbers, for displays.
    pub fn progress(&self) -> Arc<Progress> {
        self.progress.clone()
    }

    /// Crawls. Must be called inside [`mattock_env::run`] or a simulation: fetches are local tasks.
    pub async fn run(self, control: Control) -> Result<Summary, CrawlError> {
        let begun = self.env.clock.now();
        let cpu_begun = mattock_env::cpu_seconds().unwrap_or_default();
        let politeness = self.config.politeness.clone();
        let servers = Arc::new(Servers::new(politeness.server_delay));
        let mut frontier = Frontier::open(
            &self.env,
            &self.directory.state().join(FRONTIER),
            FrontierOptions {
                scope: Scope::new(self.config.scope, self.config.max_depth),
                resolve: !politeness.server_delay.is_zero(),
                politeness,
                product_token: self.config.product.clone(),
                budget: self.config.budget.clone(),
                memory_bytes: self.config.memory_bytes,
            },
            servers,
        )?;
        for seed in &self.config.seeds {
            frontier.include(seed);
        }
        for seed in &self.config.seeds {
            frontier.seed(seed.clone())?;
        }
        let archive = WarcWriter::open(
            &self.env.files,
            &self.directory.warc(),
            self.config.writer_options(),
            self.env.random.fork("warc"),
        )?;
        let rules = LinkRules { redirects_max: self.config.redirects_max, ..LinkRules::default() };
        let mut partition = Partition {
            env: self.env.clone(),
            config: self.config,
            frontier,
            archive,
            rules,
            totals: self.totals,
            control,
            progress: self.progress,
        };
        let end = partition.run().await;
        // The archive is closed whatever happened; after a failure the saved state stays that of the last clean stop.
        let archived = partition.archive.finish();
        let Partition { mut frontier, mut totals, .. } = partition;
        let end = end?;
        archived?;
        let counts = frontier.counts();
        for (refusal, count) in &counts.refused {
            *totals.refused.entry(refusal.to_string()).or_default() += count;
        }
        frontier.save(self.env.clock.now())?;
        let bytes = serde_json::to_vec_pretty(&totals).expect("counts by name always have a JSON form");
        self.directory.write_state(TOTALS, &bytes)?;

        let mut domain_pages: Vec<(String, u64)> = totals.domains.into_iter().collect();
        domain_pages.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        Ok(Summary {
            end,
            pages: totals.pages,
            urls_seen: counts.seen,
            urls_queued: counts.queued,
            bytes: totals.bytes,
            seconds: self.env.clock.now().since(begun).as_secs_f64(),
            cpu_seconds: mattock_env::cpu_seconds().unwrap_or_default() - cpu_begun,
            domains: domain_pages.len() as u64,
            outcomes: totals.outcomes,
            refused: totals.refused,
            robots_fetches: totals.robots_fetches,
            sitemaps: totals.sitemaps,
            domain_pages,
        })
    }
}
