//! What a [`Control`](crate::Control) reaches for: the crawl's directory, its configuration, and the run that is under way.
//!
//! Made with the crawl and handed to its control. A run announces itself when it begins and is gone when it ends; between two, as when
//! the disk is full, there is none. Whoever reaches for it does so under a lock, so that nobody holds a part of a run that is over.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mattock_env::{Env, Time};
use mattock_frontier::Servers;
use mattock_weburl::WebUrl;
use tokio::sync::oneshot;

use super::blocks::OperatorBlocks;
use super::disk::Forecast;
use super::fields::{self, LIVE};
use super::{
    Alert, CheckpointState, DiskState, Field, HostQuery, HostRow, MemoryState, Phase, Rates, Snapshot,
    SpeedInForce,
};
use crate::checkpoint::Coordinator;
use crate::config::nearest;
use crate::directory::Directory;
use crate::exchange::{Hub, Order};
use crate::{Config, Control, CrawlError, Progress, RawConfig};

/// A run that is under way.
pub(crate) struct Live {
    pub(crate) hub: Arc<Hub>,
    pub(crate) coordinator: Arc<Coordinator>,
    pub(crate) servers: Arc<Servers>,
}

/// A crawl's side of its control.
pub(crate) struct Desk {
    pub(crate) env: Env,
    pub(crate) directory: Directory,
    pub(crate) progress: Arc<Progress>,
    pub(crate) blocks: OperatorBlocks,
    pub(crate) rates: Rates,
    pub(crate) begun: Time,
    /// As it stands in `crawl.toml`, and what follows from it.
    settings: Mutex<(RawConfig, Arc<Config>)>,
    live: Mutex<Option<Live>>,
    pub(crate) ended: AtomicBool,
    /// What the helm has found.
    pub(crate) seen: Mutex<Seen>,
}

/// What the helm has found.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) speed: SpeedInForce,
    pub(crate) alerts: Vec<Alert>,
    pub(crate) forecast: Forecast,
    pub(crate) free_bytes: Option<u64>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Desk {
    pub(crate) fn new(
        env: &Env,
        directory: &Directory,
        progress: &Arc<Progress>,
        blocks: OperatorBlocks,
        raw: RawConfig,
        config: Config,
    ) -> Desk {
        Desk {
            env: env.clone(),
            directory: directory.clone(),
            progress: progress.clone(),
            blocks,
            rates: Rates::default(),
            begun: env.clock.now(),
            settings: Mutex::new((raw, Arc::new(config))),
            live: Mutex::new(None),
            ended: AtomicBool::new(false),
            seen: Mutex::default(),
        }
    }

    pub(crate) fn root(&self) -> &Path {
        self.directory.root()
    }

    /// What the helm has found.
    pub(crate) fn seen(&self) -> MutexGuard<'_, Seen> {
        lock(&self.seen)
    }

    /// The configuration in force.
    pub(crate) fn config(&self) -> Arc<Config> {
        lock(&self.settings).1.clone()
    }

    /// A run begins.
    pub(crate) fn enter(&self, live: Live) {
        *lock(&self.live) = Some(live);
    }

    /// It is over.
    pub(crate) fn leave(&self) {
        *lock(&self.live) = None;
    }

    /// No other will begin.
    pub(crate) fn end(&self) {
        self.leave();
        self.ended.store(true, Ordering::Relaxed);
    }

    /// Does something to the run that is under way, if there is one.
    pub(crate) fn with_live<T>(&self, work: impl FnOnce(&Live) -> T) -> Option<T> {
        lock(&self.live).as_ref().map(work)
    }

    /// Asks for a checkpoint; its number.
    pub(crate) fn checkpoint_now(&self) -> Result<u64, CrawlError> {
        self.with_live(|live| live.coordinator.ask_now()).ok_or(CrawlError::NotRunning)
    }

    /// Changes the configuration, here and on disk, if what comes out is right.
    fn change(
        &self,
        change: impl FnOnce(&mut RawConfig) -> Result<(), CrawlError>,
    ) -> Result<Arc<Config>, CrawlError> {
        let mut settings = lock(&self.settings);
        let mut raw = settings.0.clone();
        change(&mut raw)?;
        let config = Arc::new(raw.check()?);
        self.directory.write_config(&raw)?;
        *settings = (raw, config.clone());
        Ok(config)
    }

    /// Adds seeds for this run and all that follow; how many are new.
    pub(crate) fn add_seeds(&self, urls: Vec<WebUrl>) -> Result<usize, CrawlError> {
        let mut new = Vec::new();
        self.change(|raw| {
            let seeds = raw.crawl.seeds.get_or_insert_default();
            for url in urls {
                if !seeds.iter().any(|seed| seed == url.as_str()) {
                    seeds.push(url.as_str().to_owned());
                    new.push(url);
                }
            }
            Ok(())
        })?;
        let seeds: Arc<[WebUrl]> = new.into();
        // If the run has just come to its end, the next one begins with them.
        self.with_live(|live| {
            for to in 0..live.hub.partitions() {
                live.hub.order(to, Order::Seeds(seeds.clone()));
            }
        });
        Ok(seeds.len())
    }

    /// The settings that can be changed.
    pub(crate) fn fields(&self) -> Vec<Field> {
        fields::fields(&self.config())
    }

    /// Changes one.
    pub(crate) fn set_field(&self, name: &str, value: &str) -> Result<(), CrawlError> {
        let Some(field) = LIVE.iter().find(|field| field.name == name) else {
            let near = nearest(name, LIVE.iter().map(|field| field.name)).map(str::to_owned);
            return Err(CrawlError::NotLive { name: name.to_owned(), suggestion: near });
        };
        let before = self.config();
        let config = self.change(|raw| {
            (field.set)(raw, value)
                .map_err(|message| CrawlError::Rule { rule: field.name.to_owned(), message })?;
            let after = raw.check()?.politeness.server_delay;
            if after.is_zero() != before.politeness.server_delay.is_zero() {
                // Whether addresses are looked up at all is settled when a run begins.
                let message =
                    "it cannot become 0, or anything else if it is, while the crawl runs".to_owned();
                return Err(CrawlError::Rule { rule: "politeness.server_delay".to_owned(), message });
            }
            Ok(())
        })?;
        self.apply(&config);
        Ok(())
    }

    /// Puts settings into force in the run that is under way.
    pub(crate) fn apply(&self, config: &Config) {
        self.with_live(|live| {
            live.hub.set_page_limit(config.max_pages);
            live.coordinator.set(config.checkpoint.every, config.checkpoint.pages);
            live.servers.set_delays(config.politeness.server_delay, config.politeness.delay);
            for to in 0..live.hub.partitions() {
                live.hub.order(to, Order::Politeness(Box::new(config.politeness.clone())));
            }
        });
    }

    /// Asks every partition for its hosts.
    pub(crate) fn ask_for_hosts(&self, query: &HostQuery) -> Vec<oneshot::Receiver<Vec<HostRow>>> {
        let ask = |live: &Live| {
            let partitions = 0..live.hub.partitions();
            let asked = partitions.filter_map(|to| {
                let (sender, receiver) = oneshot::channel();
                live.hub.order(to, Order::Hosts(query.clone(), sender)).then_some(receiver)
            });
            asked.collect()
        };
        self.with_live(ask).unwrap_or_default()
    }

    fn phase(&self, control: &Control, live: bool) -> Phase {
        match live {
            _ if self.ended.load(Ordering::Relaxed) => Phase::Ended,
            _ if control.is_stopping() => Phase::Stopping,
            false if self.progress.trouble().is_some() => Phase::Recovering,
            false => Phase::Starting,
            true if control.is_paused() => Phase::Paused,
            true => Phase::Running,
        }
    }

    /// Everything there is to see.
    pub(crate) fn snapshot(&self, control: &Control) -> Snapshot {
        let (config, clock) = (self.config(), &self.env.clock);
        let (live, under_way) =
            self.with_live(|live| (true, live.coordinator.is_under_way())).unwrap_or_default();
        let (made, took) = self.progress.checkpoint_made();
        let seen = self.seen();
        let reserve_bytes = config.checkpoint.disk_reserve_bytes;
        Snapshot {
            unix_micros: clock.unix().as_micros(),
            uptime_s: clock.now().since(self.begun).as_secs_f64(),
            directory: self.root().display().to_string(),
            phase: self.phase(control, live),
            partitions: config.partitions,
            connections: config.connections,
            max_pages: config.max_pages,
            paused: control.paused(),
            speed: seen.speed,
            schedule: config.schedule.entries.clone(),
            now: self.progress.read(),
            rates: self.rates.read(),
            outcomes: self.progress.outcomes(),
            memory: MemoryState {
                resident_bytes: mattock_env::resident_bytes().filter(|_| !self.env.is_simulated()),
                frontier_bytes: config.memory_bytes,
                limit_bytes: config.watch.memory_bytes_max,
            },
            disk: DiskState {
                free_bytes: seen.free_bytes,
                reserve_bytes,
                alert_bytes: config.watch.disk_free_bytes_min,
                used_per_s: seen.forecast.used_per_s(),
                seconds_left: seen.forecast.seconds_left(reserve_bytes),
            },
            checkpoint: CheckpointState {
                number: self.progress.checkpoint(),
                unix_micros: made,
                seconds: took.as_secs_f64(),
                under_way,
                every_s: config.checkpoint.every.as_secs_f64(),
            },
            alerts: seen.alerts.clone(),
            trouble: self.progress.trouble(),
            event_last: control.events().last(),
        }
    }
}
