//! A crawl on virtual time to which everything happens: crashes, power cuts, a full disk, a failing disk, a bad network, a clock that is set.
//!
//! A trial is drawn from its seed: a small simulated Web, a configuration, and a number of *lives*. In each but the last something
//! goes wrong at some file operation; what is on the disk then is what the simulated disk makes of it, and the next life goes on
//! from there, perhaps with another number of partitions. In the last life nothing fails, and the crawl must come to its end. Then the [`checks`] look at
//! what is there and at what the servers saw. All of it depends on the seed alone.

pub mod checks;
mod clock;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mattock_crawl::{Control, Crawl, CrawlError, End, RawConfig, Summary};
use mattock_env::sim::Simulation;
use mattock_env::{Env, Fault, Files, NetFaults, Random, SimFiles};
use mattock_simweb::{AuditHeader, AuditLog, Params, Preset, ServeOptions, World, serve};

const ROOT: &str = "/crawl";
const LOG: &str = "/audit";
const DELAY_MS: u64 = 500;
const LIVES_MAX: u64 = 4;
const PARTITIONS_MAX: u64 = 3;
/// No life takes longer, unless it hangs.
const PATIENCE: Duration = Duration::from_secs(7 * 24 * 3600);

/// A bug that is planted to see whether the checks find it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// What is synced is not durable.
    SkippedSync,
    /// Visits that were under way are forgotten by a restart.
    DroppedLease,
    /// Hosts are visited sooner than they should be.
    IgnoredDelay,
}

/// What happened, and what is wrong with it.
#[derive(Debug, Default)]
pub struct Verdict {
    /// What was drawn, in words.
    pub story: Vec<String>,
    /// What does not hold; empty if all is well.
    pub problems: Vec<String>,
    /// Pages in the archive.
    pub pages: u64,
    /// Lives that ended early.
    pub deaths: u64,
}

/// What goes wrong in a life.
#[derive(Clone, Copy, Debug)]
enum Death {
    /// The process is gone; what it wrote is still there.
    Kill(u64),
    /// The machine is gone, and what was not durable with it.
    PowerCut(u64),
    /// The disk is full for a while.
    Full,
    /// Every so often an operation fails.
    Failing,
}

impl Death {
    fn draw(random: &mut Random) -> Death {
        // Short lives find what happens at the beginning, long ones what happens between two checkpoints.
        let after = match random.below(4) {
            0 => random.below(60),
            1 => random.below(600),
            _ => random.below(6000),
        };
        match random.below(8) {
            0..=2 => Death::Kill(after),
            3..=5 => Death::PowerCut(after),
            6 => Death::Full,
            _ => Death::Failing,
        }
    }
}

/// Runs the trial of a seed.
pub fn run(seed: u64, bug: Option<Bug>) -> Verdict {
    let mut random = Random::from_seed(seed).fork("trial");
    let lossy = random.below(3) == 0;
    let mut chance = |most: f64| if lossy { most * random.unit() } else { 0.0 };
    let faults = NetFaults {
        refuse: chance(0.02),
        hang: chance(0.005),
        break_off: chance(0.04),
        lose_datagram: chance(0.1),
        latency_ms: 1..=1 + random.below(200),
    };
    let story = vec![format!("network: {faults:?}")];
    let mut simulation = Simulation::new(seed).network(faults);
    let disk = simulation.files().clone();
    simulation.run(|env| {
        let journal = SimFiles::new(env.random.fork("journal"));
        let partitions = 1 + random.below(PARTITIONS_MAX);
        let every_ms = 300 + random.below(20_000);
        let compression = if random.below(2) == 0 { "gzip" } else { "zstd" };
        let delay_ms = if bug == Some(Bug::IgnoredDelay) { DELAY_MS / 2 } else { DELAY_MS };
        let config = format!(
            "[crawl]\nscope = 'any'\nmemory = '{}MiB'\n[politeness]\ndelay = '{delay_ms}ms'\n\
             [archive]\ncompression = '{compression}'\nfile_size = '{}KB'\n\
             [checkpoint]\nevery = '{every_ms}ms'\npages = {}\ndisk_reserve = '{}KiB'\n",
            64 * PARTITIONS_MAX,
            1 << (6 + random.below(8)),
            1 + random.below(400),
            random.below(2) * 256,
        );
        let trial = Trial {
            world_seed: seed % 20,
            journal: Env { files: Files::simulated(journal), ..env.clone() },
            env,
            disk,
            random,
            lossy,
            bug,
            config,
            partitions,
            verdict: Verdict { story, ..Verdict::default() },
        };
        trial.run()
    })
}

/// A trial that is under way.
struct Trial {
    env: Env,
    disk: SimFiles,
    /// The servers' own disk.
    journal: Env,
    random: Random,
    world_seed: u64,
    lossy: bool,
    bug: Option<Bug>,
    config: String,
    /// Of the life at hand.
    partitions: u64,
    verdict: Verdict,
}

impl Trial {
    async fn run(mut self) -> Verdict {
        self.verdict.story.push(format!("world {}, {}", self.world_seed, self.config.replace('\n', "; ")));
        let world = World::new(Params::preset(Preset::Tiny), self.world_seed);
        let header =
            AuditHeader { seed: world.seed(), delay_ms: Some(DELAY_MS), params: world.params().clone() };
        let truth = world.truth(1_000_000).expect("it is tiny");
        let log = AuditLog::create(&self.journal, Path::new(LOG), &header).expect("this disk never fails");
        let seeds = world.seeds();
        let server = serve(&self.journal, Arc::new(world), ServeOptions::default(), Some(log))
            .await
            .expect("nobody else is here");
        self.config += &format!(
            "[network]\ndns = ['{}']\nallow_address = ['127.0.0.0/8']\nconnect_port = ['80={}']\n",
            server.dns_address(),
            server.http_port()
        );
        self.config = self.config.replace("[crawl]\n", &format!("[crawl]\nseeds = {seeds:?}\n"));
        let summary = self.live().await;
        server.stop().await.expect("this disk never fails");
        if let Some(summary) = summary {
            let found = checks::all(&self.env, &self.journal, &truth, &summary, self.lossy);
            self.verdict.problems.extend(found);
            self.verdict.pages = summary.pages;
        }
        self.verdict
    }

    /// All lives; what the last one has come to.
    async fn live(&mut self) -> Option<Summary> {
        let lives = 1 + self.random.below(LIVES_MAX);
        for life in 0..=lives {
            let death = (life < lives).then(|| Death::draw(&mut self.random));
            if life > 0 && self.random.below(2) == 0 {
                self.partitions = 1 + self.random.below(PARTITIONS_MAX);
            }
            let partitions = self.partitions;
            self.verdict.story.push(format!("life {life}: {partitions} partitions, {death:?}"));
            let jumps = clock::draw(&mut self.random);
            if !jumps.is_empty() {
                self.verdict
                    .story
                    .push(format!("life {life}: the clock is set (after, by seconds): {jumps:.1?}"));
            }
            let clock = clock::begin(&self.env.clock, jumps);
            let control = Control::default();
            let done = self.live_once(death, control.clone()).await;
            clock.abort();
            self.disk.clear_faults();
            self.disk.set_capacity(None);
            match done {
                Ok(summary) if summary.end == End::Complete => return Some(summary),
                Ok(_) => {}
                Err(error) => {
                    self.verdict.story.push(format!("died: {error}"));
                    self.verdict.deaths += 1;
                    // A disk that is full or fails for a while is waited for.
                    let survivable = !matches!(death, Some(Death::Kill(_) | Death::PowerCut(_)));
                    if survivable && !control.is_stopping() {
                        self.verdict.problems.push(format!("it was given up: {error}"));
                        return None;
                    }
                }
            }
            match death {
                Some(Death::Kill(_)) => self.disk.kill(),
                _ => self.disk.crash(),
            }
            if self.bug == Some(Bug::DroppedLease) {
                self.drop_a_lease();
            }
            self.check_resuming();
        }
        self.verdict.problems.push("the crawl did not come to its end".into());
        None
    }

    async fn live_once(&mut self, death: Option<Death>, control: Control) -> Result<Summary, CrawlError> {
        self.disk.ignore_syncs(self.bug == Some(Bug::SkippedSync));
        let mut trouble = None;
        match death {
            Some(Death::Kill(after) | Death::PowerCut(after)) => {
                self.disk.fail_at(self.disk.operations() + after, Fault::Stop);
            }
            Some(Death::Full | Death::Failing) => {
                let (disk, clock) = (self.disk.clone(), self.env.clock.clone());
                let (begin_ms, last_ms) = (self.random.below(60_000), 1 + self.random.below(60_000));
                let room = self.random.below(1 << 20);
                let full = matches!(death, Some(Death::Full));
                let (stop, stops) = (control.clone(), self.random.below(3) == 0);
                trouble = Some(tokio::task::spawn_local(async move {
                    clock.sleep(Duration::from_millis(begin_ms)).await;
                    if full {
                        disk.set_capacity(Some(disk.used_bytes() + room));
                    } else {
                        disk.set_probability(Fault::Io, 0.02);
                    }
                    clock.sleep(Duration::from_millis(last_ms)).await;
                    if stops {
                        stop.stop();
                    }
                    disk.clear_faults();
                    disk.set_capacity(None);
                }));
            }
            None => {}
        }
        let config = self.config();
        let run = async { Crawl::open(&self.env, Path::new(ROOT), config)?.run(control).await };
        let done = self.env.clock.timeout(PATIENCE, run).await;
        if let Some(trouble) = trouble {
            trouble.abort();
        }
        done.unwrap_or_else(|_| {
            self.verdict.problems.push("the crawl stands still".into());
            Err(CrawlError::OtherPartition)
        })
    }

    /// What is asked for in the life at hand.
    fn config(&self) -> RawConfig {
        let partitions = format!("[crawl]\npartitions = {}\n", self.partitions);
        let config = self.config.replace("[crawl]\n", &partitions);
        RawConfig::parse(&config, "trial").expect("it is a valid configuration")
    }

    /// What is found after a crash can be opened as often as one likes, and is always the same.
    fn check_resuming(&mut self) {
        // The files that a crawl leaves alone when it is only opened.
        let mut hashes = Vec::new();
        for _ in 0..2 {
            if let Err(error) = Crawl::open(&self.env, Path::new(ROOT), self.config()) {
                self.verdict.problems.push(format!("it cannot be opened again: {error}"));
                return;
            }
            hashes.push(checks::hash(&self.disk));
        }
        if hashes[0] != hashes[1] {
            self.verdict.problems.push("opening it twice gives two states".into());
        }
    }

    /// Plants a bug: a visit that is under way counts as made.
    fn drop_a_lease(&mut self) {
        if let Err(problem) = checks::lose_a_visit(&self.env, Path::new(ROOT)) {
            self.verdict.story.push(format!("no visit was lost: {problem}"));
        }
    }
}
