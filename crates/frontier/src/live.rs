//! What a running frontier tells whoever looks on, and what may be changed about it while it runs.

use std::net::IpAddr;
use std::time::Duration;

use mattock_env::Time;

use crate::doubts::Standing;
use crate::frontier::Frontier;
use crate::host::{Address, Rules, State};
use crate::{BANDS, Politeness};

/// What waits before each stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stages {
    /// Links of which `seen` has not said yet whether they are new.
    pub arriving: u64,
    /// URLs that `seen` let through and that are in no band yet.
    pub new: u64,
    /// URLs that wait for a budget.
    pub budget: u64,
    /// URLs in the ready bands, the most urgent first.
    pub ready: [u64; BANDS as usize],
    /// URLs on disk behind hosts on the bench.
    pub overflow: u64,
    /// URLs on the bench.
    pub bench: u64,
    /// URLs that wait for another try.
    pub deferred: u64,
    /// Hosts whose rules are looked for on disk.
    pub rules: u64,
}

/// A host on the bench.
#[derive(Clone, Copy, Debug)]
pub struct HostView<'a> {
    /// Scheme, name and port.
    pub name: &'a str,
    /// `ready`, `waiting`, `busy`, `idle` or `parked`.
    pub state: &'static str,
    /// URLs that wait on the bench.
    pub queued: usize,
    /// URLs that wait on disk behind those.
    pub on_disk: u64,
    /// How long until it may be visited.
    pub next_visit: Duration,
    /// Failures in a row.
    pub strikes: u8,
    /// The budget of its domain.
    pub budget: u32,
    /// Its server.
    pub address: Option<IpAddr>,
    /// `known`, `unknown`, `checking` or `asked`.
    pub robots: &'static str,
    /// The Crawl-delay that it asks for.
    pub crawl_delay: Option<Duration>,
    /// Whether its last pages came well and soon.
    pub brisk: bool,
}

impl Frontier {
    /// What waits before each stage. Cheap.
    pub fn stages(&self) -> Stages {
        Stages {
            arriving: self.seen.undelivered(),
            new: self.new.len() as u64,
            budget: self.budget.as_ref().map_or(0, |budget| budget.len()),
            ready: self.ready.lengths(),
            overflow: self.overflow.len(),
            bench: self.bench.queued() as u64,
            deferred: self.deferred.len() as u64,
            rules: self.robots.checking() as u64,
        }
    }

    /// Shows every host on the bench, in no order that means anything.
    pub fn hosts(&self, now: Time, mut sink: impl FnMut(HostView<'_>)) {
        for (_, host) in self.bench.iter() {
            sink(HostView {
                name: &host.name,
                state: match host.state {
                    State::Idle => "idle",
                    State::Waiting => "waiting",
                    State::Ready => "ready",
                    State::Busy => "busy",
                    State::Parked => "parked",
                },
                queued: host.queued(),
                on_disk: host.overflow,
                next_visit: host.next_allowed.since(now),
                strikes: host.strikes,
                budget: host.budget,
                address: match host.address {
                    Address::Known { server, .. } => Some(server),
                    Address::Unknown | Address::Unneeded => None,
                },
                robots: match host.rules {
                    Rules::Checking => "checking",
                    Rules::Unknown { .. } => "unknown",
                    Rules::Asked { .. } => "asked",
                    Rules::Known { .. } => "known",
                },
                crawl_delay: host.crawl_delay(),
                brisk: host.standing == Standing::BRISK,
            });
        }
    }

    /// Other rules of politeness from now on. Hosts that were told to wait wait as they were told. Whether servers and domains are looked
    /// at all stays as it was at the beginning: their delays are those of their [gates](crate::gates).
    pub fn set_politeness(&mut self, politeness: Politeness) {
        self.bench.set_domain_delay(politeness.domain_delay);
        self.politeness = politeness;
    }
}
