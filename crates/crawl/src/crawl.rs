//! A crawl from opening its directory to saving its state.

use std::path::Path;
use std::sync::Arc;

use mattock_env::{Env, File};
use mattock_frontier::blocklist::Blocklist;
use mattock_frontier::{Frontier, FrontierOptions, Servers};

use crate::blocking::BlocklistFile;
use crate::config::RawCrawl;
use crate::directory::Directory;
use crate::exchange::Hub;
use crate::member::{Common, frontier_dir};
use crate::summary::Totals;
use crate::{Config, Control, CrawlError, End, Progress, RawConfig, Summary};

const FRONTIER: &str = "frontier";
const TOTALS: &str = "totals.json";

/// As many as there are cores, if each has enough memory.
fn partitions_for(env: &Env, asked: &RawConfig) -> Option<usize> {
    let memory_bytes = asked.check().ok()?.memory_bytes;
    Some(env.cores().min((memory_bytes / FrontierOptions::MEMORY_BYTES_MIN) as usize).max(1))
}

/// A crawl that is ready to run.
pub struct Crawl {
    env: Env,
    directory: Directory,
    config: Config,
    totals: Totals,
    resumed: bool,
    /// Whether there was an earlier run, however it ended.
    restarted: bool,
    progress: Arc<Progress>,
    /// Other processes are kept out until it is dropped.
    _lock: File,
}

impl Crawl {
    /// Makes a new crawl in `root`, or takes up the one that is there. What `asked` leaves open comes from the earlier
    /// run; seeds are added to those that the crawl has.
    pub fn open(env: &Env, root: &Path, asked: RawConfig) -> Result<Crawl, CrawlError> {
        let (directory, saved) = Directory::open(&env.files, root)?;
        let restarted = saved.is_some();
        let mut merged = match saved {
            Some(saved) => {
                let partitions = saved.crawl.partitions.unwrap_or(1);
                if asked.crawl.partitions.is_some_and(|asked| asked != partitions) {
                    return Err(CrawlError::Partitions { partitions });
                }
                let mut seeds = saved.crawl.seeds.clone().unwrap_or_default();
                let more = asked.crawl.seeds.clone().unwrap_or_default();
                seeds.extend(more.into_iter().filter(|seed| !seeds.contains(seed)).collect::<Vec<_>>());
                let mut merged = asked.or(saved);
                merged.crawl.seeds = Some(seeds);
                merged
            }
            None => RawConfig {
                crawl: RawCrawl {
                    partitions: asked.crawl.partitions.or_else(|| partitions_for(env, &asked)),
                    ..asked.crawl
                },
                ..asked
            },
        };
        let config = merged.check()?;
        if config.seeds.is_empty() {
            return Err(CrawlError::NoSeed);
        }
        if let Some(path) = &config.links.blocklist {
            BlocklistFile::open(&env.files, path, &Blocklist::default())?;
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
        let resumed = Frontier::is_saved(env, &frontier_dir(&directory.state().join(FRONTIER), 0))?;
        let progress = Arc::new(Progress::new(config.partitions));
        Ok(Crawl { env: env.clone(), directory, config, totals, resumed, restarted, progress, _lock: lock })
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

    /// Crawls. Must be called inside [`mattock_env::run`] or a simulation: fetches are local tasks. With more than one partition
    /// each has a thread of its own; in a simulation they share the one that there is.
    pub async fn run(self, control: Control) -> Result<Summary, CrawlError> {
        let Crawl { env, directory, config, mut totals, progress, restarted, _lock, .. } = self;
        let begun = env.clock.now();
        let cpu_begun = mattock_env::cpu_seconds().unwrap_or_default();
        let blocklist = Blocklist::default();
        let watch = match &config.links.blocklist {
            Some(path) => {
                let file = BlocklistFile::open(&env.files, path, &blocklist)?;
                Some(tokio::task::spawn_local(file.watch(env.clock.clone())))
            }
            None => None,
        };
        let politeness = &config.politeness;
        let mut servers = Servers::new(politeness.server_delay);
        if config.partitions > 1 {
            servers = servers.with_hosts(politeness.delay);
        }
        if restarted {
            servers.hold_all(begun + politeness.server_delay);
        }
        let common = Common {
            env: env.clone(),
            config: config.clone(),
            frontiers: directory.state().join(FRONTIER),
            warc: directory.warc(),
            servers: Arc::new(servers),
            restarted,
            blocklist,
            control,
            progress: progress.clone(),
        };
        let (hub, inboxes) = Hub::new(config.partitions, config.max_pages, totals.pages);
        drop(hub);
        let mut running = Vec::new();
        for (index, inbox) in inboxes.into_iter().enumerate() {
            // What was counted before goes on being counted by the first.
            let before = if index == 0 { std::mem::take(&mut totals) } else { Totals::default() };
            let member = common.clone();
            running.push(if config.partitions == 1 || env.is_simulated() {
                tokio::task::spawn_local(member.run(inbox, before))
            } else {
                let name = format!("partition-{index}");
                tokio::task::spawn_local(mattock_env::run_apart(name, move || member.run(inbox, before)))
            });
        }
        let mut outcomes = Vec::new();
        for task in running {
            outcomes.push(task.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic())));
        }
        if let Some(watch) = watch {
            watch.abort();
        }
        let (mut end, mut urls_seen, mut urls_queued) = (End::Complete, 0, 0);
        // Why a partition failed says more than that the others had to stop.
        outcomes.sort_by_key(|outcome| matches!(outcome, Err(CrawlError::OtherPartition)));
        for outcome in outcomes {
            let outcome = outcome?;
            end = outcome.end;
            urls_seen += outcome.counts.seen;
            urls_queued += outcome.counts.queued;
            totals.add(outcome.totals);
        }
        let bytes = serde_json::to_vec_pretty(&totals).expect("counts by name always have a JSON form");
        directory.write_state(TOTALS, &bytes)?;

        let mut domain_pages: Vec<(String, u64)> = totals.domains.into_iter().collect();
        domain_pages.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        Ok(Summary {
            end,
            partitions: config.partitions as u64,
            pages: totals.pages,
            copies: totals.copies,
            near_copies: totals.near_copies,
            urls_seen,
            urls_queued,
            links_exchanged: totals.links_exchanged,
            bytes: totals.bytes,
            seconds: env.clock.now().since(begun).as_secs_f64(),
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
