//! What waits at a checkpoint, and for what.

use std::cmp::Reverse;
use std::time::Duration;

use super::Look;
use crate::bands;
use crate::budget;
use crate::error::Result;
use crate::{BANDS, Request};

/// Hosts that are named.
const NAMED: usize = 10;

/// What waits where, in one partition or in several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Links that `seen` or the in-degrees have not answered, those that are known already included.
    pub arriving: u64,
    /// URLs that wait for the turn of their domain's budget.
    pub budgeted: u64,
    /// URLs of domains that have no budget left at all.
    pub over_budget: u64,
    /// URLs that may be fetched as soon as the bench has room, by priority band.
    pub ready: [u64; BANDS as usize],
    /// URLs on the bench, those under way included.
    pub on_bench: u64,
    /// URLs on disk behind the bench.
    pub behind: u64,
    /// URLs that wait for another try.
    pub deferred: u64,
    /// Until the first of them.
    pub deferred_wait: Option<Duration>,
    /// Hosts on the bench that have URLs.
    pub hosts: u64,
    /// Those of them that must still be left alone.
    pub hosts_waiting: u64,
    /// Until the first of them may be visited, if none may be now.
    pub hosts_wait: Option<Duration>,
    /// The longest that one of them must be left alone.
    pub hosts_wait_longest: Duration,
    /// The hosts with the most URLs on the bench and behind it, the largest first.
    pub largest: Vec<HostLoad>,
}

/// A host and what it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostLoad {
    /// Scheme, name and port.
    pub name: String,
    /// Its URLs on the bench and behind it.
    pub urls: u64,
    /// How long it must still be left alone.
    pub wait: Duration,
}

impl Survey {
    /// URLs that wait, wherever they do, but for those on their way through `seen`.
    pub fn queued(&self) -> u64 {
        self.budgeted
            + self.over_budget
            + self.ready.iter().sum::<u64>()
            + self.on_bench
            + self.behind
            + self.deferred
    }

    /// Adds what another partition has.
    pub fn add(&mut self, other: Survey) {
        self.arriving += other.arriving;
        self.budgeted += other.budgeted;
        self.over_budget += other.over_budget;
        for (ours, theirs) in self.ready.iter_mut().zip(other.ready) {
            *ours += theirs;
        }
        self.on_bench += other.on_bench;
        self.behind += other.behind;
        self.deferred += other.deferred;
        self.deferred_wait = self.deferred_wait.into_iter().chain(other.deferred_wait).min();
        let none_now = |survey: &Survey| survey.hosts == survey.hosts_waiting;
        self.hosts_wait = match none_now(self) && none_now(&other) {
            true => self.hosts_wait.into_iter().chain(other.hosts_wait).min(),
            false => None,
        };
        self.hosts += other.hosts;
        self.hosts_waiting += other.hosts_waiting;
        self.hosts_wait_longest = self.hosts_wait_longest.max(other.hosts_wait_longest);
        self.largest.extend(other.largest);
        self.sort();
    }

    fn sort(&mut self) {
        self.largest.sort_by(|a, b| Reverse(a.urls).cmp(&Reverse(b.urls)).then_with(|| a.name.cmp(&b.name)));
        self.largest.truncate(NAMED);
    }
}

impl Look {
    /// What waits, and for what.
    pub fn survey(&self) -> Result<Survey> {
        let mut survey = Survey::default();
        let Some(saved) = &self.saved else { return Ok(survey) };
        self.seen.undelivered(|_| survey.arriving += 1)?;
        if let Some(standings) = &self.standings {
            standings.degrees.undelivered(|_| survey.arriving += 1)?;
        }
        let prefix = format!("{}-", budget::PREFIX);
        for name in self.queues.names().filter(|name| name.starts_with(&prefix)) {
            match name[prefix.len()..].parse::<u64>() {
                Ok(_) => survey.budgeted += self.queues.len(name),
                Err(_) => survey.over_budget += self.queues.len(name),
            }
        }
        for band in 0..BANDS {
            survey.ready[usize::from(band)] = self.queues.len(&bands::name(band));
        }
        let mut first: Option<Duration> = None;
        for host in &saved.hosts {
            let urls = host.requests.len() as u64 + host.overflow;
            survey.on_bench += host.requests.len() as u64;
            survey.behind += host.overflow;
            if urls == 0 {
                continue;
            }
            survey.hosts += 1;
            survey.hosts_waiting += u64::from(!host.wait.is_zero());
            survey.hosts_wait_longest = survey.hosts_wait_longest.max(host.wait);
            first = Some(first.map_or(host.wait, |first| first.min(host.wait)));
            survey.largest.push(HostLoad { name: host.name.clone(), urls, wait: host.wait });
            if survey.largest.len() >= 2 * NAMED {
                survey.sort();
            }
        }
        survey.hosts_wait = first.filter(|_| survey.hosts == survey.hosts_waiting);
        survey.sort();
        survey.deferred = saved.deferred.len() as u64;
        survey.deferred_wait = saved.deferred.iter().map(|(wait, _): &(Duration, Request)| *wait).min();
        Ok(survey)
    }
}
