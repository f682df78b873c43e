//! What becomes of a visit when it is over: its host is released, its URL settled or tried again, its robots.txt learnt.

use std::cmp::Reverse;
use std::net::IpAddr;
use std::rc::Rc;
use std::time::Duration;

use mattock_env::Time;
use mattock_fetch::{Failure, FetchOutcome};
use mattock_robots::Robots;
use mattock_weburl::WebUrl;

use crate::bench::Rest;
use crate::doubts::Standing;
use crate::error::Result;
use crate::frontier::{DeferredRequest, Frontier, HostToResolve, Settled};
use crate::host::{Address, Rules};
use crate::rules::{Learned, VALID_UNREACHABLE, refused_rules, unreachable_rules};
use crate::{Finished, Purpose, Refusal, Request, RobotsAnswer, Sitemaps, Visit};

/// A host that has failed so often in a row is given up for an hour.
const STRIKES_MAX: u8 = 8;
/// A server is left alone for at most so many delays because of one of its hosts.
const SERVER_DELAYS_MAX: u32 = 16;
/// How long the rules of a host that cannot be reached hold.
const UNREACHABLE: Duration = Duration::from_secs(3600);

impl Frontier {
    /// What [`Frontier::finished`] will say of this outcome: whoever stores what came must do so before the frontier is saved.
    pub fn settles(&self, visit: &Visit, outcome: FetchOutcome) -> Settled {
        let retries = outcome.consequence().retries.min(self.politeness.retries_max);
        if visit.request.attempt < retries { Settled::Again } else { Settled::Done }
    }

    /// Takes a visit back: releases its host, and settles or reschedules its URL.
    pub fn finished(&mut self, finished: Finished, now: Time) -> Result<Settled> {
        let Finished { visit, outcome, at, took, retry_after_s, robots, content } = finished;
        let consequence = outcome.consequence();
        let attempt = visit.request.attempt;
        let settled = self.settles(&visit, outcome);
        let again = settled == Settled::Again;
        // A server that names a time knows better than our table.
        let first = retry_after_s.map_or(consequence.wait, Duration::from_secs);
        let slot = self.bench.find(visit.request.url.host_fingerprint().0);
        // A page that fails again says nothing new of its host: a few such pages, tried in a row, would kill it.
        let again_failed = visit.purpose == Purpose::Page && attempt > 0;
        let strikes = slot.map_or(0, |slot| self.strike(slot, consequence.host, !again_failed));
        if let Some(slot) = slot {
            let host = self.bench.host_mut(slot);
            let is_page = visit.purpose == Purpose::Page;
            host.standing = host.standing.after(is_page, !consequence.host, took);
        }
        let doubled = attempt.max(strikes.saturating_sub(1)).min(16);
        let wait = first.saturating_mul(1 << doubled).min(self.politeness.retry_after_max);
        let troubled = consequence.host || retry_after_s.is_some();
        if visit.purpose == Purpose::Page {
            self.in_flight.remove(&visit.request.number);
        }
        // The host is still taken, and what is put there waits for the release, which knows the new rules.
        match visit.purpose.clone() {
            Purpose::Page if again => {
                let request = Request { attempt: attempt + 1, ..visit.request.clone() };
                self.deferred.push(Reverse((at + wait, request.number, DeferredRequest(request))));
            }
            Purpose::Page => match outcome.status() {
                Some(_) => self.accounts.fetched += 1,
                None => self.accounts.failed += 1,
            },
            Purpose::Robots { host, hops } if again => {
                self.ask(visit.request.url.clone(), host, hops, attempt + 1, now)?;
            }
            Purpose::Robots { host, hops } => self.learn(&host, hops, outcome, robots, now)?,
        }
        let (host, domain) =
            (visit.request.url.host_fingerprint().0, visit.request.url.domain_fingerprint().0);
        if let Some(content) = content {
            self.content.page(host, domain, content)?;
        }
        let asked = slot.and_then(|slot| self.bench.host(slot).crawl_delay());
        let budget = slot.map_or(0, |slot| self.bench.host(slot).budget);
        let delay = self.politeness.host_delay(asked, budget, took);
        let wait = if troubled { wait } else { Duration::ZERO };
        let rest = Rest {
            host: delay.max(self.politeness.stale_delay(self.content.factor(host))).max(wait),
            domain: match self.content.is_stale(domain) {
                true => self.politeness.stale_delay(self.content.factor(domain)),
                false => Duration::ZERO,
            },
            // What one host asks for is no reason to leave all others behind the same address alone for a day.
            server: wait.min(self.politeness.server_delay.saturating_mul(SERVER_DELAYS_MAX)),
        };
        if let Some(slot) = slot
            && consequence.host
        {
            self.bench.end_trial(slot, now);
            if strikes >= STRIKES_MAX && !again_failed {
                // It has died. What waits here fails with it; what waits elsewhere is refused by these rules.
                self.bench.host_mut(slot).strikes = 0;
                self.set_rules(slot, unreachable_rules(), UNREACHABLE, now)?;
                self.fail_host(slot, outcome, now)?;
            }
        }
        self.bench.release(&visit, at, rest, now);
        Ok(settled)
    }

    /// A visit that was about to begin must not be made.
    pub(crate) fn call_off(&mut self, visit: Visit, refusal: Refusal, now: Time) -> Result<()> {
        let slot = self.bench.call_off(&visit, now);
        match visit.purpose {
            Purpose::Page => {
                self.accounts.refused += 1;
                self.refuse(refusal);
            }
            Purpose::Robots { ref host, .. } if visit.request.url.host() == &**host => {
                // Nothing of this host is visited; should that change, it is asked again.
                if let Some(slot) = slot {
                    for _ in self.bench.drain(slot) {
                        self.accounts.refused += 1;
                        self.refuse(refusal);
                    }
                    self.bench.host_mut(slot).rules = Rules::Unknown { before: None };
                    let guests = self.bench.host_mut(slot).drain_guests();
                    self.bench.schedule(slot, now);
                    for guest in guests {
                        if let Purpose::Robots { host, .. } = guest.purpose {
                            self.refuse_hop(&host, now)?;
                        }
                    }
                }
            }
            Purpose::Robots { host, hops } => {
                let outcome = FetchOutcome::Failed(Failure::ForbiddenAddress);
                self.learn(&host, hops, outcome, None, now)?;
            }
        }
        Ok(())
    }

    /// Counts failures of a host in a row, if this one `counts`.
    fn strike(&mut self, slot: usize, failed: bool, counts: bool) -> u8 {
        let host = self.bench.host_mut(slot);
        host.strikes = if failed { host.strikes.saturating_add(u8::from(counts)) } else { 0 };
        if failed {
            host.standing = Standing::default();
        }
        if failed && host.address != Address::Unneeded {
            host.address = Address::Unknown;
        }
        host.strikes
    }

    /// A robots.txt visit for `host` is over.
    fn learn(
        &mut self,
        host: &str,
        hops: u8,
        outcome: FetchOutcome,
        answer: Option<RobotsAnswer>,
        now: Time,
    ) -> Result<()> {
        let Ok(url) = WebUrl::parse(host) else { return Ok(()) };
        let slot = self.slot_of(&url)?;
        let before = self.bench.host(slot).rules.latest().cloned();
        match self.robots.learn(hops, outcome, answer, before.as_deref()) {
            Learned::Follow(url) => self.ask(url, host.into(), hops + 1, 0, now),
            Learned::Rules(mut robots, valid) => {
                let urls = robots.take_sitemaps();
                let waiting = self.bench.host(slot).requests().map(|request| request.depth);
                let depth = waiting.min().unwrap_or_default();
                if !urls.is_empty() {
                    self.sitemaps.push(Sitemaps { host: host.into(), depth, urls });
                }
                self.set_rules(slot, robots, valid, now)?;
                // Nothing can be had from this host, and why is known: that is what became of its URLs.
                if outcome.status().is_none() && before.is_none() {
                    self.fail_host(slot, outcome, now)?;
                }
                Ok(())
            }
        }
    }

    /// The robots.txt of `host` leads to where it is not followed.
    pub(crate) fn refuse_hop(&mut self, host: &str, now: Time) -> Result<()> {
        let Ok(url) = WebUrl::parse(host) else { return Ok(()) };
        let slot = self.slot_of(&url)?;
        let robots = refused_rules(self.bench.host(slot).rules.latest().map(|robots| &**robots));
        self.set_rules(slot, robots, VALID_UNREACHABLE, now)
    }

    fn set_rules(&mut self, slot: usize, robots: Box<Robots>, valid: Duration, now: Time) -> Result<()> {
        let key = self.bench.host(slot).key;
        self.robots.store(key, &robots, valid)?;
        let host = self.bench.host_mut(slot);
        host.rules = Rules::Known { robots: Rc::from(robots), expires: now + valid };
        host.guest_at = None;
        self.bench.schedule(slot, now);
        Ok(())
    }

    /// Gives up what waits on the bench for a host that cannot be reached.
    fn fail_host(&mut self, slot: usize, outcome: FetchOutcome, now: Time) -> Result<()> {
        for request in self.bench.drain(slot) {
            self.accounts.failed += 1;
            self.failed.push((request, outcome));
        }
        self.bench.schedule(slot, now);
        Ok(())
    }

    /// Takes back the look-up of a host: where it is and for how long that holds, or why that is not known.
    pub fn resolved(
        &mut self,
        host: &HostToResolve,
        found: std::result::Result<(IpAddr, Duration), Failure>,
        now: Time,
    ) -> Result<()> {
        let slot = host.slot;
        let failure = match found {
            Ok((server, valid)) => {
                self.bench.resolved(slot, Address::Known { server, expires: now + valid }, now);
                return Ok(());
            }
            Err(failure) => failure,
        };
        let outcome = FetchOutcome::Failed(failure);
        let consequence = outcome.consequence();
        self.bench.end_trial(slot, now);
        let strikes = self.strike(slot, true, true);
        if strikes <= consequence.retries.min(self.politeness.retries_max) {
            let wait = consequence.wait.saturating_mul(1 << (strikes - 1).min(16));
            self.bench.hold(slot, now + wait.min(self.politeness.retry_after_max));
            self.bench.resolved(slot, Address::Unknown, now);
            return Ok(());
        }
        self.bench.host_mut(slot).strikes = 0;
        let asks = self.bench.host_mut(slot).drain_asks();
        self.bench.resolved(slot, Address::Unknown, now);
        for visit in asks {
            if let Purpose::Robots { host, hops } = visit.purpose {
                self.learn(&host, hops, outcome, None, now)?;
            }
        }
        // Those that were past their robots.txt, and those that come within the hour.
        self.fail_host(slot, outcome, now)?;
        self.set_rules(slot, unreachable_rules(), UNREACHABLE, now)
    }

    /// The look-up found that no address is needed.
    pub fn resolved_by_others(&mut self, host: &HostToResolve, now: Time) {
        self.bench.resolved(host.slot, Address::Unneeded, now);
    }

    /// Takes back a visit that was given up before it came to anything. The URL waits again, as if never given out; a
    /// robots.txt is asked for anew.
    pub fn abandoned(&mut self, visit: Visit, now: Time) {
        let slot = self.bench.find(visit.request.url.host_fingerprint().0);
        let asked = slot.and_then(|slot| self.bench.host(slot).crawl_delay());
        let host = self.politeness.host_delay(asked, 0, Duration::ZERO);
        self.bench.release(&visit, now, Rest { host, ..Rest::default() }, now);
        match visit.purpose {
            Purpose::Page => {
                if let Some(request) = self.in_flight.remove(&visit.request.number)
                    && let Some(slot) = self.bench.find(request.url.host_fingerprint().0)
                {
                    self.bench.push(slot, request, now);
                }
            }
            Purpose::Robots { ref host, .. } => {
                let key = WebUrl::parse(host).map(|url| url.host_fingerprint().0);
                if let Some(slot) = key.ok().and_then(|key| self.bench.find(key)) {
                    let host = self.bench.host_mut(slot);
                    host.rules = Rules::Unknown { before: host.rules.latest().cloned() };
                    self.bench.schedule(slot, now);
                }
            }
        }
    }

    /// Takes back a look-up that was given up.
    pub fn unresolved(&mut self, host: &HostToResolve, now: Time) {
        self.bench.resolved(host.slot, Address::Unknown, now);
    }
}
