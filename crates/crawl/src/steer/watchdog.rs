//! Watchdogs: what an operator should hear of without looking.
//!
//! Asked by the helm once a second with what it has read. Each dog raises its alert once and lowers it when its cause is gone, with a
//! distance between the two, so that nothing flickers. All of it on the crawl's clock, from counters: no dog costs a partition anything.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use mattock_env::Time;
use serde::Serialize;

/// What is watched for.
#[derive(Clone, Debug, PartialEq)]
pub struct WatchOptions {
    /// Less free space than this.
    pub disk_free_bytes_min: u64,
    /// Nothing comes in for so long, although there is work.
    pub stall: Duration,
    /// More than this share of look-ups of names fails.
    pub dns_failures: f64,
    /// So many times more requests fail than before.
    pub errors_factor: f64,
    /// The process has more memory than this.
    pub memory_bytes_max: u64,
    /// A command that is run at every alert.
    pub on_alert: Option<String>,
}

/// What an alert is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AlertKind {
    /// The disk is nearly full.
    Disk,
    /// Nothing comes in.
    Stalled,
    /// Names are not found out.
    Dns,
    /// More requests fail than before.
    Errors,
    /// The process has too much memory.
    Memory,
}

impl AlertKind {
    /// Its name, as in logs and in `MATTOCK_ALERT`.
    pub fn name(self) -> &'static str {
        match self {
            AlertKind::Disk => "disk",
            AlertKind::Stalled => "stalled",
            AlertKind::Dns => "dns",
            AlertKind::Errors => "errors",
            AlertKind::Memory => "memory",
        }
    }
}

/// Something that is wrong now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Alert {
    /// What it is about.
    pub kind: AlertKind,
    /// Since when: microseconds since 1970.
    pub since_unix_micros: i64,
    /// In words, with what to do about it.
    pub text: String,
}

/// What the dogs look at: counters of this run, and the state of things.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Vitals {
    pub(crate) now: Time,
    pub(crate) unix_micros: i64,
    /// Requests that came back, whatever they brought.
    pub(crate) requests: u64,
    /// Those that brought no answer, or an error of the server's.
    pub(crate) failed: u64,
    /// Look-ups of names, and those that failed.
    pub(crate) lookups: u64,
    pub(crate) lookups_failed: u64,
    /// Whether there is anything to do, and it may be done.
    pub(crate) at_work: bool,
    pub(crate) free_bytes: Option<u64>,
    pub(crate) resident_bytes: Option<u64>,
}

/// What has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum News {
    Raised(Alert),
    Lowered(AlertKind),
}

/// Failures are compared by the minute.
const MINUTE: Duration = Duration::from_secs(60);
/// The last so many minutes…
const RECENT: usize = 3;
/// …against so many before.
const HISTORY: usize = 60;
/// With fewer requests or look-ups than this nobody can tell.
const ENOUGH: u64 = 50;
/// A share of failures below this is no reason for an alert, whatever it was before.
const ERRORS_SHARE_MIN: f64 = 0.2;

/// Counts of a minute.
#[derive(Clone, Copy, Debug, Default)]
struct Minute {
    requests: u64,
    failed: u64,
    lookups: u64,
    lookups_failed: u64,
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// All dogs.
#[derive(Debug, Default)]
pub(crate) struct Watchdogs {
    alerts: BTreeMap<AlertKind, Alert>,
    /// When something came in last, and how much had until then.
    moved: Option<(Time, u64)>,
    minutes: VecDeque<Minute>,
    minute_began: Option<(Time, Vitals)>,
}

impl Watchdogs {
    /// What is wrong now.
    pub(crate) fn alerts(&self) -> Vec<Alert> {
        self.alerts.values().cloned().collect()
    }

    /// Looks at everything; what has changed.
    pub(crate) fn look(&mut self, options: &WatchOptions, vitals: &Vitals) -> Vec<News> {
        let mut news = Vec::new();
        self.disk(options, vitals, &mut news);
        self.stalled(options, vitals, &mut news);
        self.memory(options, vitals, &mut news);
        if self.next_minute(vitals) {
            self.dns(options, vitals, &mut news);
            self.errors(options, vitals, &mut news);
        }
        news
    }

    fn set(
        &mut self,
        kind: AlertKind,
        wrong: bool,
        vitals: &Vitals,
        text: impl FnOnce() -> String,
        news: &mut Vec<News>,
    ) {
        match (self.alerts.contains_key(&kind), wrong) {
            (false, true) => {
                let alert = Alert { kind, since_unix_micros: vitals.unix_micros, text: text() };
                self.alerts.insert(kind, alert.clone());
                news.push(News::Raised(alert));
            }
            (true, false) => {
                self.alerts.remove(&kind);
                news.push(News::Lowered(kind));
            }
            _ => {}
        }
    }

    fn is_raised(&self, kind: AlertKind) -> bool {
        self.alerts.contains_key(&kind)
    }

    fn disk(&mut self, options: &WatchOptions, vitals: &Vitals, news: &mut Vec<News>) {
        let Some(free) = vitals.free_bytes else { return };
        let least = options.disk_free_bytes_min;
        let short = free < if self.is_raised(AlertKind::Disk) { least + least / 8 } else { least };
        let text = || {
            let mebibytes = |bytes: u64| bytes >> 20;
            format!(
                "{} MiB are left on the disk, and watch.disk_free_min is {} MiB; make room",
                mebibytes(free),
                mebibytes(least)
            )
        };
        self.set(AlertKind::Disk, short, vitals, text, news);
    }

    fn stalled(&mut self, options: &WatchOptions, vitals: &Vitals, news: &mut Vec<News>) {
        let moved = self.moved.is_none_or(|(_, requests)| requests != vitals.requests);
        if moved || !vitals.at_work {
            self.moved = Some((vitals.now, vitals.requests));
        }
        let since = self.moved.map_or(vitals.now, |(time, _)| time);
        let wrong = vitals.now.since(since) >= options.stall;
        let text = || {
            let minutes = vitals.now.since(since).as_secs() / 60;
            format!(
                "nothing has come in for {minutes} minutes although URLs wait; `mattock stalls` says more"
            )
        };
        self.set(AlertKind::Stalled, wrong, vitals, text, news);
    }

    fn memory(&mut self, options: &WatchOptions, vitals: &Vitals, news: &mut Vec<News>) {
        let Some(resident) = vitals.resident_bytes else { return };
        let most = options.memory_bytes_max;
        let wrong = resident > if self.is_raised(AlertKind::Memory) { most - most / 8 } else { most };
        let text = || {
            format!(
                "the process has {} MiB of memory, and watch.memory_max is {} MiB; lower crawl.memory or fetch.connections",
                resident >> 20,
                most >> 20
            )
        };
        self.set(AlertKind::Memory, wrong, vitals, text, news);
    }

    /// Counts by the minute; whether one is over.
    fn next_minute(&mut self, vitals: &Vitals) -> bool {
        let (began, before) = *self.minute_began.get_or_insert((vitals.now, *vitals));
        if vitals.now.since(began) < MINUTE {
            return false;
        }
        self.minute_began = Some((vitals.now, *vitals));
        if self.minutes.len() == RECENT + HISTORY {
            self.minutes.pop_front();
        }
        // Counters go back when the crawl does.
        self.minutes.push_back(Minute {
            requests: vitals.requests.saturating_sub(before.requests),
            failed: vitals.failed.saturating_sub(before.failed),
            lookups: vitals.lookups.saturating_sub(before.lookups),
            lookups_failed: vitals.lookups_failed.saturating_sub(before.lookups_failed),
        });
        true
    }

    fn recent(&self) -> usize {
        self.minutes.len().saturating_sub(RECENT)
    }

    fn dns(&mut self, options: &WatchOptions, vitals: &Vitals, news: &mut Vec<News>) {
        let last = self.minutes.range(self.recent()..);
        let (lookups, failed) =
            last.fold((0, 0), |sum, minute| (sum.0 + minute.lookups, sum.1 + minute.lookups_failed));
        let most = options.dns_failures * if self.is_raised(AlertKind::Dns) { 0.5 } else { 1.0 };
        let wrong = lookups >= ENOUGH.min(20) && share(failed, lookups) > most;
        let text = || {
            format!(
                "{:.0} % of look-ups of names failed in the last minutes; are the name servers all right?",
                100.0 * share(failed, lookups)
            )
        };
        self.set(AlertKind::Dns, wrong, vitals, text, news);
    }

    fn errors(&mut self, options: &WatchOptions, vitals: &Vitals, news: &mut Vec<News>) {
        let sum = |minutes: std::collections::vec_deque::Iter<'_, Minute>| {
            minutes.fold((0, 0), |sum, minute| (sum.0 + minute.requests, sum.1 + minute.failed))
        };
        let (requests, failed) = sum(self.minutes.range(self.recent()..));
        let (requests_before, failed_before) = sum(self.minutes.range(..self.recent()));
        let (now, before) = (share(failed, requests), share(failed_before, requests_before));
        let least = ERRORS_SHARE_MIN.max(before * options.errors_factor).min(0.95);
        let wrong = match self.is_raised(AlertKind::Errors) {
            true => now > least / 2.0 && requests > 0,
            false => requests >= ENOUGH && requests_before >= ENOUGH && now > least,
        };
        let text = || {
            format!(
                "{:.0} % of requests failed in the last minutes, {:.0} % before; is the network all right, are we blocked?",
                100.0 * now,
                100.0 * before
            )
        };
        self.set(AlertKind::Errors, wrong, vitals, text, news);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> WatchOptions {
        WatchOptions {
            disk_free_bytes_min: 1 << 30,
            stall: Duration::from_secs(600),
            dns_failures: 0.5,
            errors_factor: 3.0,
            memory_bytes_max: 1 << 30,
            on_alert: None,
        }
    }

    /// Raised and lowered alerts with their seconds, if every second is like this.
    fn watch(seconds: u64, mut at: impl FnMut(u64, &mut Vitals)) -> Vec<(u64, &'static str, bool)> {
        let (mut dogs, mut vitals, mut seen) = (Watchdogs::default(), Vitals::default(), Vec::new());
        for second in 0..seconds {
            vitals.now = Time::ZERO + Duration::from_secs(second);
            vitals.at_work = true;
            at(second, &mut vitals);
            for news in dogs.look(&options(), &vitals) {
                seen.push(match news {
                    News::Raised(alert) => (second, alert.kind.name(), true),
                    News::Lowered(kind) => (second, kind.name(), false),
                });
            }
        }
        seen
    }

    #[test]
    fn an_alert_is_raised_once_and_lowered_with_a_distance() {
        let seen = watch(100, |second, vitals| {
            vitals.requests += 1;
            let gib = 1u64 << 30;
            vitals.free_bytes = Some(match second {
                10..20 => gib - 1,
                20..30 => gib + 1,
                _ => 2 * gib,
            });
            vitals.resident_bytes = Some(if (50..60).contains(&second) { 2 * gib } else { gib / 2 });
        });
        assert_eq!(
            seen,
            [(10, "disk", true), (30, "disk", false), (50, "memory", true), (60, "memory", false)]
        );
    }

    #[test]
    fn standing_still_is_wrong_only_with_work_to_do() {
        let seen = watch(3000, |second, vitals| {
            vitals.requests += u64::from(!(100..2500).contains(&second));
            vitals.at_work = second >= 1000;
        });
        assert_eq!(seen, [(1599, "stalled", true), (2500, "stalled", false)]);
    }

    #[test]
    fn failures_are_held_against_what_is_usual() {
        // One in ten fails as a rule, one in two for ten minutes, and later a crawl in which half fail always.
        let seen = watch(7200, |second, vitals| {
            vitals.requests += 10;
            vitals.failed += if (3600..4200).contains(&second) { 5 } else { 1 };
        });
        let names: Vec<_> = seen.iter().map(|(_, name, raised)| (*name, *raised)).collect();
        assert_eq!(names, [("errors", true), ("errors", false)]);
        assert!((3600..3800).contains(&seen[0].0) && (4200..4500).contains(&seen[1].0), "{seen:?}");
        let always = watch(7200, |_, vitals| {
            vitals.requests += 10;
            vitals.failed += 5;
        });
        assert_eq!(always, []);
    }

    #[test]
    fn name_servers_that_fail_are_noticed() {
        let seen = watch(3600, |second, vitals| {
            vitals.requests += 1;
            vitals.lookups += 2;
            vitals.lookups_failed += if (600..1200).contains(&second) { 2 } else { 0 };
        });
        let names: Vec<_> = seen.iter().map(|(_, name, raised)| (*name, *raised)).collect();
        assert_eq!(names, [("dns", true), ("dns", false)]);
        assert!(seen[0].0 < 800 && seen[1].0 < 1400, "{seen:?}");
    }
}
