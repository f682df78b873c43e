//! The task that looks at the clock for the operator: which speed limit is in force, how fast the crawl is, what is wrong with it.
//!
//! Runs beside the partitions for as long as the crawl does, recoveries included. It wakes once a second, and at the very moment at which
//! the schedule changes something, so that limits change on time.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use mattock_env::{Time, UnixTime};

use super::desk::Desk;
use super::rates::Counted;
use super::watchdog::{News, Vitals, Watchdogs};
use super::{Alert, Level, PausedBy, SpeedInForce, SpeedLimit, SpeedSource, disk};
use crate::{Config, Control};

/// How often it looks.
const EVERY: Duration = Duration::from_secs(1);
/// How long a command of the operator's may take.
const COMMAND_LIMIT: Duration = Duration::from_secs(60);

/// Which limit is in force, by what the operator says, else the schedule, else the configuration.
fn in_force(
    config: &Config,
    operator: Option<SpeedLimit>,
    now: UnixTime,
    local: impl Fn(UnixTime) -> i32,
) -> SpeedInForce {
    if let Some(limit) = operator {
        return SpeedInForce { limit, source: SpeedSource::Operator, ..SpeedInForce::default() };
    }
    let entry = config.schedule.at(now, &local);
    let until_unix_micros = config.schedule.until(now, &local).map(UnixTime::as_micros);
    match entry {
        None => SpeedInForce {
            limit: config.speed,
            source: SpeedSource::Config,
            until_unix_micros,
            ..SpeedInForce::default()
        },
        Some(index) => SpeedInForce {
            limit: config.schedule.entries[index].limit.or(config.speed),
            source: SpeedSource::Schedule,
            entry: Some(index),
            until_unix_micros,
            pause: config.schedule.entries[index].pause,
        },
    }
}

/// Sets the limit that is in force at this moment.
pub(crate) fn set_speed(desk: &Desk, control: &Control) {
    let clock = &desk.env.clock;
    let config = desk.config();
    let mut seen = desk.seen();
    let speed = in_force(&config, control.speed_set(), clock.unix(), |at| clock.local_offset_s(at));
    // Also if it is the same as before: the limiter may be new to it.
    control.limiter().set(speed.limit, clock.now());
    // Under the lock, and every time: who finds another speed in force at the same moment must not leave the wrong pause behind.
    if speed.pause {
        let entry = speed.entry.map_or(1, |entry| entry + 1);
        control.pause_by(PausedBy::Schedule, format!("entry {entry} of the schedule"));
    } else {
        control.resume_by(PausedBy::Schedule);
    }
    if speed == seen.speed {
        return;
    }
    let before = std::mem::replace(&mut seen.speed, speed);
    drop(seen);
    if (speed.limit, speed.source, speed.entry) != (before.limit, before.source, before.entry) {
        control.note(Level::Info, "speed", &describe(&speed));
    }
}

fn describe(speed: &SpeedInForce) -> String {
    let pages = speed.limit.pages_per_s.map(|pages| format!("{pages} requests/s"));
    let bits = speed.limit.bits_per_s.map(|bits| format!("{} Mbit/s", bits / 1e6));
    let limits: Vec<String> = pages.into_iter().chain(bits).collect();
    let limit = if limits.is_empty() { "no limit".to_owned() } else { limits.join(", ") };
    let source = match (speed.source, speed.entry) {
        (SpeedSource::Config, _) => "by the configuration".to_owned(),
        (SpeedSource::Schedule, entry) => format!("by entry {} of the schedule", entry.unwrap_or(0) + 1),
        (SpeedSource::Operator, _) => "by the operator".to_owned(),
    };
    format!("{limit} {source}")
}

/// Looks for ever.
pub(crate) async fn steer(desk: Arc<Desk>, control: Control) {
    let mut dogs = Watchdogs::default();
    let running = Rc::new(std::cell::RefCell::new(BTreeSet::new()));
    let clock = desk.env.clock.clone();
    let (mut look_next, mut disk_next) = (Time::ZERO, Time::ZERO);
    loop {
        set_speed(&desk, &control);
        let now = clock.now();
        if now >= look_next {
            look_next = now + EVERY;
            if now >= disk_next {
                disk_next = now + disk::LOOK;
                look_at_disk(&desk, now);
            }
            for news in look(&desk, &control, &mut dogs, now) {
                tell(&desk, &control, &running, news);
            }
        }
        let unix = clock.unix();
        let edge = desk.config().schedule.next_edge(unix, |at| clock.local_offset_s(at));
        let edge = edge.map(|edge| {
            let micros = edge.as_micros().saturating_sub(unix.as_micros());
            now + Duration::from_micros(u64::try_from(micros).unwrap_or(0))
        });
        clock.sleep_until(edge.map_or(look_next, |edge| edge.min(look_next))).await;
    }
}

fn look_at_disk(desk: &Desk, now: Time) {
    let free = desk.env.files.free_bytes(desk.root()).ok();
    let mut seen = desk.seen();
    seen.free_bytes = free;
    if let Some(free) = free {
        seen.forecast.add(now, free);
    }
}

fn look(desk: &Desk, control: &Control, dogs: &mut Watchdogs, now: Time) -> Vec<News> {
    let progress = &desk.progress;
    let reading = progress.read();
    let counters = progress.counters();
    desk.rates.add(
        now,
        Counted {
            pages: reading.pages,
            requests: reading.requests,
            bytes: reading.bytes,
            errors: reading.errors,
        },
    );
    let vitals = Vitals {
        now,
        unix_micros: desk.env.clock.unix().as_micros(),
        requests: reading.requests,
        failed: counters.failed.load(Ordering::Relaxed),
        lookups: counters.lookups.load(Ordering::Relaxed),
        lookups_failed: counters.lookups_failed.load(Ordering::Relaxed),
        at_work: reading.queued > 0
            && control.paused().is_empty()
            && !control.is_stopping()
            && !control.limiter().is_waiting(now),
        free_bytes: desk.seen().free_bytes,
        resident_bytes: mattock_env::resident_bytes().filter(|_| !desk.env.is_simulated()),
    };
    let news = dogs.look(&desk.config().watch, &vitals);
    desk.seen().alerts = dogs.alerts();
    news
}

/// Logs it, and has the operator's command run.
fn tell(desk: &Arc<Desk>, control: &Control, running: &Running, news: News) {
    match news {
        News::Raised(alert) => {
            control.note(Level::Warn, "alert", &format!("{}: {}", alert.kind.name(), alert.text));
            if let Some(command) = desk.config().watch.on_alert.clone()
                && !desk.env.is_simulated()
                && running.borrow_mut().insert(alert.kind)
            {
                tokio::task::spawn_local(run(desk.clone(), control.clone(), running.clone(), command, alert));
            }
        }
        News::Lowered(kind) => {
            control.note(Level::Info, "alert", &format!("{}: it is over", kind.name()));
        }
    }
}

/// Alerts whose command has not ended yet.
type Running = Rc<std::cell::RefCell<BTreeSet<super::AlertKind>>>;

async fn run(desk: Arc<Desk>, control: Control, running: Running, command: String, alert: Alert) {
    let variables = [
        ("MATTOCK_ALERT", alert.kind.name().to_owned()),
        ("MATTOCK_TEXT", alert.text),
        ("MATTOCK_DIR", desk.root().display().to_string()),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value)).to_vec();
    let ran = mattock_env::run_command(command, variables, COMMAND_LIMIT).await;
    running.borrow_mut().remove(&alert.kind);
    match ran {
        Ok(ran) if ran.code == Some(0) => {
            control.note(Level::Info, "on-alert", &format!("watch.on_alert has run: {}", ran.output));
        }
        Ok(ran) => {
            let code = ran.code.map_or("no exit code".to_owned(), |code| format!("exit code {code}"));
            control.note(
                Level::Warn,
                "on-alert",
                &format!("watch.on_alert ended with {code}: {}", ran.output),
            );
        }
        Err(error) => {
            control.note(Level::Warn, "on-alert", &format!("watch.on_alert cannot be run: {error}"))
        }
    }
}
