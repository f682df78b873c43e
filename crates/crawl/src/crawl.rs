//! A crawl from opening its directory to its last checkpoint.
//!
//! A run that fails because the disk is full or broken is not the end: the crawl waits until that is over, goes back to its last
//! checkpoint, and runs again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mattock_env::{Env, File};
use mattock_frontier::blocklist::Blocklist;
use mattock_frontier::{Frontier, FrontierOptions, Servers};
use mattock_repository::{CutBack, WriterOptions, cut_back};

use crate::blocking::BlocklistFile;
use crate::check::has_lost_checkpoint;
use crate::checkpoint::{Checkpoint, Coordinator};
use crate::config::RawCrawl;
use crate::directory::Directory;
use crate::exchange::Hub;
use crate::member::{Common, Outcome};
use crate::reach::Standing;
use crate::repartition::{self, Division};
use crate::status::Reporter;
use crate::steer::blocks::OperatorBlocks;
use crate::steer::desk::{Desk, Live};
use crate::steer::{Level, helm};
use crate::storage;
use crate::summary::Totals;
use crate::{CheckpointProblem, Config, Control, CrawlError, End, Progress, RawConfig, Reading, Summary};

/// As many as there are cores, if each has enough memory.
fn partitions_for(env: &Env, asked: &RawConfig) -> Option<usize> {
    let memory_bytes = asked.check().ok()?.memory_bytes;
    Some(env.cores().min((memory_bytes / FrontierOptions::MEMORY_BYTES_MIN) as usize).max(1))
}

/// How the names of all archive files begin, if those of one partition begin so.
pub(crate) fn with_partitions(prefixes: &[String], partitions: usize) -> Vec<String> {
    let of_partitions =
        prefixes.iter().flat_map(|prefix| (0..partitions).map(move |index| format!("{prefix}-p{index}")));
    prefixes.iter().cloned().chain(of_partitions).collect()
}

/// A crawl that is ready to run.
pub struct Crawl {
    env: Env,
    directory: Directory,
    config: Config,
    /// Where it goes on from.
    checkpoint: Checkpoint,
    /// What an earlier run wrote after that.
    undone: CutBack,
    /// How many partitions it had before it was divided otherwise.
    divided_from: Option<usize>,
    /// How names of archive files may begin.
    prefixes: Vec<String>,
    /// Whether there was an earlier run, however it ended.
    restarted: bool,
    progress: Arc<Progress>,
    /// What its control reaches for.
    desk: Arc<Desk>,
    /// Other processes are kept out until it is dropped.
    _lock: File,
}

impl Crawl {
    /// Makes a new crawl in `root`, or takes up the one that is there. What `asked` leaves open comes from the earlier
    /// run; seeds are added to those that the crawl has.
    pub fn open(env: &Env, root: &Path, mut asked: RawConfig) -> Result<Crawl, CrawlError> {
        asked.fetch_secrets(&env.files)?;
        let env = &env.within(root);
        let (directory, saved) = Directory::open(&env.files, root)?;
        let restarted = saved.is_some();
        let before = saved.as_ref().and_then(|saved| saved.archive.prefix.clone());
        let own = asked.clone();
        let mut merged = match saved {
            Some(saved) => {
                let mut seeds = saved.crawl.seeds.clone().unwrap_or_default();
                let more = asked.crawl.seeds.clone().unwrap_or_default();
                seeds.extend(more.into_iter().filter(|seed| !seeds.contains(seed)).collect::<Vec<_>>());
                let mut merged = asked.or(saved);
                merged.crawl.seeds = Some(seeds);
                if merged.crawl.partitions.is_none() {
                    let checkpoint = Checkpoint::read(&env.files, &directory.checkpoint())?;
                    merged.crawl.partitions = checkpoint.map(|checkpoint| checkpoint.partitions.len());
                }
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
        let standing = Standing::of(env, root, &own, &merged)?;
        let env = &Env { files: env.files.with_outside(standing.outside(&merged)), ..env.clone() };
        merged.fetch_secrets(&env.files)?;
        let config = merged.check()?;
        if config.seeds.is_empty() {
            return Err(CrawlError::NoSeed);
        }
        if let Some(path) = &config.links.blocklist {
            BlocklistFile::open(&env.files, path, &Blocklist::default())?;
        }
        if restarted && directory.has_lost_state()? {
            let path = directory.checkpoint();
            return Err(CrawlError::Checkpoint { path, problem: CheckpointProblem::Gone });
        }
        // Nothing was written so far: a slip must not leave a half-made directory behind.
        directory.create()?;
        let lock = directory.lock()?;
        merged.crawl.seeds = Some(config.seeds.iter().map(|seed| seed.as_str().to_owned()).collect());
        directory.write_config(&merged)?;
        standing.keep();
        let prefixes = [before, Some(config.archive_prefix.clone()), Some(WriterOptions::default().prefix)];
        let progress = Arc::new(Progress::new(config.partitions));
        let blocks = OperatorBlocks::open(&env.files, &directory.blocks(), &Blocklist::default())?;
        let desk = Desk::new(env, &directory, &progress, blocks, merged, config.clone());
        let mut crawl = Crawl {
            env: env.clone(),
            directory,
            prefixes: prefixes.into_iter().flatten().collect(),
            config,
            checkpoint: Checkpoint::default(),
            undone: CutBack::default(),
            divided_from: None,
            restarted,
            progress,
            desk: Arc::new(desk),
            _lock: lock,
        };
        crawl.go_back()?;
        Ok(crawl)
    }

    /// Goes back to the last checkpoint, which may be the beginning.
    fn go_back(&mut self) -> Result<(), CrawlError> {
        let path = self.directory.checkpoint();
        self.checkpoint = Checkpoint::settle(&self.env.files, &path)?.unwrap_or_default();
        let partitions = self.config.partitions;
        if self.checkpoint.number == 0 {
            Frontier::refuse_old(&self.env, &self.directory.frontier(0))?;
            if has_lost_checkpoint(&self.env, &self.directory)? {
                return Err(CrawlError::Checkpoint { path, problem: CheckpointProblem::Missing });
            }
            self.checkpoint.partitions.resize_with(partitions, Default::default);
        }
        let before = self.checkpoint.partitions.len();
        let prefixes = with_partitions(&self.prefixes, partitions.max(before));
        let archive = &self.checkpoint.archive;
        self.undone = cut_back(&self.env.files, &self.directory.warc(), archive, &prefixes)?;
        repartition::remove_litter(&self.env, &self.directory, &self.checkpoint)?;
        if before != partitions {
            let division = Division { env: &self.env, directory: &self.directory, config: &self.config };
            self.checkpoint = division.divide(&self.checkpoint)?;
            self.divided_from = Some(before);
        }
        self.directory = self.directory.with_layout(self.checkpoint.layout);
        self.progress.committed(self.checkpoint.number, self.checkpoint.unix_micros, Duration::ZERO);
        self.tell_where_it_was();
        Ok(())
    }

    /// Publishes what earlier runs have counted, before anybody takes a first sample: the difference would pass for a speed.
    fn tell_where_it_was(&self) {
        for (index, record) in self.checkpoint.partitions.iter().enumerate() {
            let totals = &record.totals;
            let reading = Reading {
                pages: totals.pages,
                bytes: totals.bytes,
                errors: totals.errors,
                requests: totals.requests,
                queued: record.queued + record.in_flight,
                seen: record.seen,
                ..Reading::default()
            };
            self.progress.publish(index, &reading);
        }
    }

    /// How many partitions the crawl had, if it was just divided otherwise.
    pub fn divided_from(&self) -> Option<usize> {
        self.divided_from
    }

    /// Whether the crawl goes on from what an earlier run has reached.
    pub fn is_resumed(&self) -> bool {
        self.checkpoint.number > 0
    }

    /// What was written after the checkpoint that the crawl goes on from, and is gone now: its pages will be fetched again.
    pub fn undone(&self) -> &CutBack {
        &self.undone
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

    /// A handle that steers it. The one that [`Crawl::run`] is given does so in any case; this one can be used before.
    pub fn control(&self) -> Control {
        let control = Control::default();
        control.attach(&self.desk);
        control
    }

    /// Where logs belong.
    pub fn logs(&self) -> PathBuf {
        self.directory.logs()
    }

    /// Crawls. Must be called inside [`mattock_env::run`] or a simulation: fetches are local tasks. With more than one partition
    /// each has a thread of its own; in a simulation they share the one that there is.
    pub async fn run(mut self, control: Control) -> Result<Summary, CrawlError> {
        let begun = self.env.clock.now();
        control.attach(&self.desk);
        let how = if self.is_resumed() { "goes on" } else { "begins" };
        control.note(
            Level::Info,
            "crawl",
            &format!("the crawl {how} with {} partitions", self.config.partitions),
        );
        for warning in self.config.warnings() {
            control.note(Level::Warn, "config", &warning);
        }
        let steering = tokio::task::spawn_local(helm::steer(self.desk.clone(), control.clone()));
        let reporter = Reporter::begin(&self.env, &self.directory, &self.config, &self.progress, &control);
        let cpu_begun = mattock_env::cpu_seconds().unwrap_or_default();
        let outcomes = self.run_to_end(&control).await;
        steering.abort();
        let _ = steering.await;
        self.desk.end();
        match &outcomes {
            Ok(_) => control.note(Level::Info, "crawl", "the run has ended in good order"),
            Err(error) => control.note(Level::Error, "crawl", &format!("the run has failed: {error}")),
        }
        let outcomes = outcomes?;
        drop(reporter);
        let (mut end, mut urls_seen, mut urls_queued) = (End::Complete, 0, 0);
        let mut totals = Totals::default();
        let mut longest_pause = Duration::ZERO;
        for outcome in outcomes {
            end = outcome.end;
            urls_seen += outcome.counts.accounts.seen;
            urls_queued += outcome.counts.queued;
            longest_pause = longest_pause.max(outcome.longest_pause);
            totals.add(outcome.totals);
        }
        let mut domain_pages: Vec<(String, u64)> = totals.domains.into_iter().collect();
        domain_pages.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        Ok(Summary {
            end,
            partitions: self.config.partitions as u64,
            pages: totals.pages,
            copies: totals.copies,
            near_copies: totals.near_copies,
            urls_seen,
            urls_queued,
            links_exchanged: totals.links_exchanged,
            bytes: totals.bytes,
            seconds: self.env.clock.now().since(begun).as_secs_f64(),
            cpu_seconds: mattock_env::cpu_seconds().unwrap_or_default() - cpu_begun,
            checkpoint_pause_ms: longest_pause.as_secs_f64() * 1000.0,
            domains: domain_pages.len() as u64,
            outcomes: totals.outcomes,
            refused: totals.refused,
            robots_fetches: totals.robots_fetches,
            sitemaps: totals.sitemaps,
            domain_pages,
        })
    }

    /// Runs until the end, as often as the disk fails and recovers.
    async fn run_to_end(&mut self, control: &Control) -> Result<Vec<Outcome>, CrawlError> {
        loop {
            // What was changed while it ran holds for the next run too.
            self.config = Config::clone(&self.desk.config());
            let outcomes = self.run_once(control).await;
            self.desk.leave();
            match outcomes {
                Ok(outcomes) => return Ok(outcomes),
                Err(error) => self.recover(error, control).await?,
            }
        }
    }

    /// Waits until the disk does what it is asked again, and goes back to the last checkpoint, which is whole whatever it did.
    async fn recover(&mut self, mut error: CrawlError, control: &Control) -> Result<(), CrawlError> {
        self.restarted = true;
        loop {
            let (env, root) = (&self.env, self.directory.root());
            storage::wait_until_over(error, env, root, &self.desk, control).await?;
            match self.go_back() {
                Ok(()) => return Ok(()),
                Err(another) => error = another,
            }
        }
    }

    /// Crawls until the end, or until something fails.
    async fn run_once(&self, control: &Control) -> Result<Vec<Outcome>, CrawlError> {
        let Crawl { env, directory, config, checkpoint, .. } = self;
        let blocklist = self.desk.blocks.in_force();
        let mut helpers = Vec::new();
        if let Some(path) = &config.links.blocklist {
            let file = BlocklistFile::open(&env.files, path, &blocklist)?;
            helpers.push(tokio::task::spawn_local(file.watch(env.clock.clone())));
        }
        let politeness = &config.politeness;
        let mut servers = Servers::new(politeness.server_delay);
        if config.partitions > 1 {
            servers = servers.with_hosts(politeness.delay);
        }
        if self.restarted {
            servers.hold_all(env.clock.now() + politeness.server_delay);
        }
        let coordinator = Coordinator::new(
            env,
            directory.checkpoint(),
            checkpoint,
            config.partitions,
            config.checkpoint.clone(),
        );
        let pages = checkpoint.partitions.iter().map(|record| record.totals.pages).sum();
        let mut before = BTreeMap::new();
        for (name, count) in checkpoint.partitions.iter().flat_map(|record| &record.totals.outcomes) {
            *before.entry(name.clone()).or_default() += count;
        }
        self.progress.begin(before);
        let (hub, inboxes) = Hub::new(config.partitions, config.max_pages, pages);
        let servers = Arc::new(servers);
        self.desk.enter(Live { hub, coordinator: coordinator.clone(), servers: servers.clone() });
        // What was changed since the configuration was taken reached nobody.
        let config = Config { partitions: config.partitions, ..Config::clone(&self.desk.config()) };
        self.desk.apply(&config);
        helpers.push(tokio::task::spawn_local(coordinator.clone().keep_time()));
        helpers.push(tokio::task::spawn_local(storage::watch(
            env.clone(),
            self.desk.clone(),
            control.clone(),
            coordinator.clone(),
        )));
        let common = Common {
            env: env.clone(),
            config,
            directory: directory.clone(),
            coordinator,
            servers,
            restarted: self.restarted,
            blocklist,
            control: control.clone(),
            progress: self.progress.clone(),
        };
        let mut running = Vec::new();
        for (inbox, from) in inboxes.into_iter().zip(checkpoint.partitions.iter().cloned()) {
            let member = common.clone();
            running.push(if self.config.partitions == 1 || env.is_simulated() {
                tokio::task::spawn_local(member.run(inbox, from))
            } else {
                let name = format!("partition-{}", inbox.index);
                tokio::task::spawn_local(mattock_env::run_apart(name, move || member.run(inbox, from)))
            });
        }
        drop(common);
        let mut outcomes = Vec::new();
        for task in running {
            outcomes.push(task.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic())));
        }
        for helper in helpers {
            helper.abort();
            // It must be gone before anybody opens what it holds.
            let _ = helper.await;
        }
        // Why a partition failed says more than that the others had to stop.
        outcomes.sort_by_key(|outcome| matches!(outcome, Err(CrawlError::OtherPartition)));
        outcomes.into_iter().collect()
    }
}
