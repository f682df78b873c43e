//! The handle on a running crawl: everything that an operator may do to it, and everything that can be seen of it.
//!
//! Made before or with the crawl, handed to [`Crawl::run`](crate::Crawl::run), and used from any thread by as many as like. What only
//! sets a value (stop, pause, speed) works at any time; what needs the crawl's directory or its partitions says
//! [`CrawlError::NotRunning`] before the crawl is there. Nothing here waits for a partition, except [`Control::hosts`].

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use mattock_weburl::WebUrl;

use crate::steer::desk::Desk;
use crate::steer::helm;
use crate::steer::limiter::Limiter;
use crate::steer::pause::Pauses;
use crate::steer::{
    Events, Example, Field, HostQuery, HostRow, Level, Paused, PausedBy, Snapshot, SpeedInForce, SpeedLimit,
    log,
};
use crate::watched::Watched;
use crate::{Config, CrawlError};

/// A handle on a running crawl. Cheap to clone, can be sent between threads.
#[derive(Clone)]
pub struct Control {
    shared: Arc<Shared>,
}

struct Shared {
    stop: Watched<bool>,
    pauses: Pauses,
    limiter: Limiter,
    /// What the operator has set, if anything.
    speed: Mutex<Option<SpeedLimit>>,
    events: Events,
    desk: Mutex<Option<Arc<Desk>>>,
}

impl Default for Control {
    fn default() -> Control {
        Control {
            shared: Arc::new(Shared {
                stop: Watched::new(false),
                pauses: Pauses::default(),
                limiter: Limiter::default(),
                speed: Mutex::new(None),
                events: Events::default(),
                desk: Mutex::new(None),
            }),
        }
    }
}

impl fmt::Debug for Control {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Control").field("stop", &self.shared.stop).finish_non_exhaustive()
    }
}

/// What an operator does.
impl Control {
    /// Asks the crawl to finish what is under way, close its files and save its frontier.
    pub fn stop(&self) {
        self.shared.stop.update(|stop| *stop = true);
        self.note(Level::Info, "operator", "stop");
    }

    /// Has no new visit begin, robots.txt and look-ups of names included. What is under way ends, checkpoints go on.
    pub fn pause(&self, reason: &str) {
        self.pause_by(PausedBy::Operator, reason.to_owned());
    }

    /// Lifts the pause that [`Control::pause`] began. If the schedule or the disk has the crawl pause too, it goes on doing so.
    pub fn resume(&self) {
        self.resume_by(PausedBy::Operator);
    }

    /// Sets a limit that holds from now on, whatever the schedule and the configuration say, until it is
    /// [cleared](Control::clear_speed) or the process ends.
    pub fn set_speed(&self, limit: SpeedLimit) -> Result<(), CrawlError> {
        if let Some(problem) = limit.problem() {
            return Err(CrawlError::Rule { rule: "speed".to_owned(), message: problem.to_owned() });
        }
        self.put_speed(Some(limit));
        Ok(())
    }

    /// Has the schedule and the configuration say how fast the crawl may be.
    pub fn clear_speed(&self) {
        self.put_speed(None);
    }

    fn put_speed(&self, limit: Option<SpeedLimit>) {
        *self.shared.speed.lock().unwrap_or_else(PoisonError::into_inner) = limit;
        if let Ok(desk) = self.desk() {
            helm::set_speed(&desk, self);
        }
    }

    /// Asks for a checkpoint; its number. It counts as soon as [`Progress::checkpoint`](crate::Progress::checkpoint), or the one in a
    /// snapshot, is not less.
    pub fn checkpoint_now(&self) -> Result<u64, CrawlError> {
        let number = self.desk()?.checkpoint_now()?;
        self.note(Level::Info, "operator", &format!("checkpoint {number} is asked for"));
        Ok(number)
    }

    /// Adds seeds, for this run and those that follow; how many the crawl did not have.
    pub fn add_seeds(&self, urls: Vec<WebUrl>) -> Result<usize, CrawlError> {
        let added = self.desk()?.add_seeds(urls)?;
        self.note(Level::Info, "operator", &format!("{added} seeds are added"));
        Ok(added)
    }

    /// Blocks what an entry says, in the words of the [blocklist](mattock_frontier::blocklist); whether that is new. In force at once, for
    /// what waits too, and in later runs.
    pub fn block(&self, rule: &str) -> Result<bool, CrawlError> {
        let new = self.desk()?.blocks.block(rule)?;
        if new {
            self.note(Level::Info, "operator", &format!("blocked: {}", rule.trim()));
        }
        Ok(new)
    }

    /// Takes back what was blocked by the same entry; whether it was. What was refused meanwhile stays refused.
    pub fn unblock(&self, rule: &str) -> Result<bool, CrawlError> {
        let was = self.desk()?.blocks.unblock(rule)?;
        if was {
            self.note(Level::Info, "operator", &format!("no longer blocked: {}", rule.trim()));
        }
        Ok(was)
    }

    /// Changes one of the settings in [`LIVE`](crate::steer::LIVE), here and in `crawl.toml`. The value is written as in the
    /// configuration, without quotes; an empty one brings the default back.
    pub fn set_field(&self, name: &str, value: &str) -> Result<(), CrawlError> {
        let desk = self.desk()?;
        desk.set_field(name, value)?;
        helm::set_speed(&desk, self);
        self.note(Level::Info, "operator", &format!("{name} = {value}"));
        Ok(())
    }
}

/// What can be seen.
impl Control {
    /// Whether it was asked to stop.
    pub fn is_stopping(&self) -> bool {
        self.shared.stop.get()
    }

    /// Who has the crawl pause; empty if nobody.
    pub fn paused(&self) -> Vec<Paused> {
        self.shared.pauses.list()
    }

    /// The limit that is in force, who says so, and until when.
    pub fn speed(&self) -> SpeedInForce {
        self.desk().map_or_else(|_| SpeedInForce::default(), |desk| desk.seen().speed)
    }

    /// What the operator has blocked, oldest first. The user's own file is not part of it.
    pub fn blocks(&self) -> Result<Vec<String>, CrawlError> {
        Ok(self.desk()?.blocks.entries())
    }

    /// The settings that can be changed, with their values.
    pub fn fields(&self) -> Result<Vec<Field>, CrawlError> {
        Ok(self.desk()?.fields())
    }

    /// The configuration in force.
    pub fn config(&self) -> Result<Arc<Config>, CrawlError> {
        Ok(self.desk()?.config())
    }

    /// Where the crawl is.
    pub fn directory(&self) -> Result<PathBuf, CrawlError> {
        Ok(self.desk()?.root().to_owned())
    }

    /// What has happened lately.
    pub fn events(&self) -> &Events {
        &self.shared.events
    }

    /// Everything there is to see.
    pub fn snapshot(&self) -> Result<Snapshot, CrawlError> {
        Ok(self.desk()?.snapshot(self))
    }

    /// The last URLs of each kind of failure, latest first.
    pub fn examples(&self) -> Result<BTreeMap<String, Vec<Example>>, CrawlError> {
        Ok(self.desk()?.progress.examples().all())
    }

    /// The hosts that are being crawled now. Every partition answers between two of its visits; those that are just ending
    /// say nothing. Works on any runtime.
    pub async fn hosts(&self, query: HostQuery) -> Result<Vec<HostRow>, CrawlError> {
        let mut rows = Vec::new();
        for answer in self.desk()?.ask_for_hosts(&query) {
            rows.extend(answer.await.unwrap_or_default());
        }
        Ok(query.merge(rows))
    }
}

/// For the crawl itself.
impl Control {
    /// Waits until it is asked to stop.
    pub(crate) async fn stopped(&self) {
        self.shared.stop.wait_for(|stop| *stop).await;
    }

    /// Gives the control a crawl.
    pub(crate) fn attach(&self, desk: &Arc<Desk>) {
        *self.shared.desk.lock().unwrap_or_else(PoisonError::into_inner) = Some(desk.clone());
        self.shared.pauses.date(desk.env.clock.unix().as_micros());
        helm::set_speed(desk, self);
    }

    fn desk(&self) -> Result<Arc<Desk>, CrawlError> {
        let desk = self.shared.desk.lock().unwrap_or_else(PoisonError::into_inner);
        desk.clone().ok_or(CrawlError::NotRunning)
    }

    /// Whether nothing may begin.
    pub(crate) fn is_paused(&self) -> bool {
        self.shared.pauses.any()
    }

    pub(crate) fn limiter(&self) -> &Limiter {
        &self.shared.limiter
    }

    /// What the operator has set, if anything.
    pub(crate) fn speed_set(&self) -> Option<SpeedLimit> {
        *self.shared.speed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unix_micros(&self) -> i64 {
        self.desk().map_or(0, |desk| desk.env.clock.unix().as_micros())
    }

    pub(crate) fn pause_by(&self, by: PausedBy, reason: String) {
        let text = format!("paused: {reason}");
        if self.shared.pauses.pause(by, self.unix_micros(), reason) {
            self.note(Level::Info, "pause", &text);
        }
    }

    pub(crate) fn resume_by(&self, by: PausedBy) {
        if self.shared.pauses.lift(by) {
            if let Ok(desk) = self.desk() {
                self.limiter().forget_unused(desk.env.clock.now());
            }
            let rest = if self.is_paused() { "; there are other reasons to pause" } else { "" };
            self.note(Level::Info, "pause", &format!("resumed{rest}"));
        }
    }

    /// Puts something into the ring of events, and into the log.
    pub(crate) fn note(&self, level: Level, kind: &str, text: &str) {
        self.shared.events.add(self.unix_micros(), level, kind, text, BTreeMap::new());
        match level {
            Level::Debug => tracing::debug!(target: log::STEER, kind, "{text}"),
            Level::Info => tracing::info!(target: log::STEER, kind, "{text}"),
            Level::Warn => tracing::warn!(target: log::STEER, kind, "{text}"),
            Level::Error => tracing::error!(target: log::STEER, kind, "{text}"),
        }
    }
}
