//! What comes off the bench, in which order, and how many at once: the gates of domains and servers, the trials of new hosts, and
//! the share of the connections that a host's [standing](crate::doubts) gives it.

use std::cmp::Reverse;
use std::sync::Arc;

use mattock_env::Time;

use super::{Bench, Job, Slot};
use crate::doubts::Standing;
use crate::host::{Address, Host, Rules, State, Work, page_visit};
use crate::trials::Trial;
use crate::{Servers, Visit};

impl Bench {
    /// The next thing that is allowed now.
    pub(crate) fn next(&mut self, now: Time) -> Option<Job> {
        let servers = Arc::clone(&self.servers);
        loop {
            self.turn(now);
            let slot = self.pop_ready()?;
            let host = self.host_mut(slot);
            host.state = State::Idle;
            let (work, domain) = (host.work(now), host.domain);
            let begins = matches!(work, Work::Resolve | Work::NeedRules | Work::Visit);
            if begins && host.trial == Trial::Ahead {
                if !self.trials.enter(domain, slot) {
                    self.host_mut(slot).state = State::Parked;
                    continue;
                }
                self.host_mut(slot).trial = Trial::Running;
            }
            let host = self.host_mut(slot);
            match work {
                Work::Resolve => {
                    // A farm of names is no reason to look them all up.
                    if let Some(time) = self.domains.shut_until(domain, now) {
                        self.wait(slot, time);
                        continue;
                    }
                    self.begin(slot, now);
                    return Some(Job::Resolve(slot));
                }
                Work::NeedRules => {
                    let before = host.rules.latest().cloned();
                    host.rules = Rules::Asked { before };
                    return Some(Job::NeedRules(slot));
                }
                Work::Refuse => {
                    if let Some(guest) = host.take_guest() {
                        self.schedule(slot, now);
                        return Some(Job::Uninvited(guest));
                    }
                    let refused = host.take_request();
                    self.urls -= usize::from(refused.is_some());
                    self.schedule(slot, now);
                    if let Some(request) = refused {
                        return Some(Job::Disallowed(request));
                    }
                }
                Work::Visit => {
                    if let Some(visit) = self.reserve(slot, &servers, now) {
                        return Some(Job::Visit(visit));
                    }
                }
                Work::Wait | Work::Nothing => self.schedule(slot, now),
            }
        }
    }

    /// Takes all gates and the next visit; or none of them, and the host waits.
    fn reserve(&mut self, slot: Slot, servers: &Servers, now: Time) -> Option<Visit> {
        let host = self.host(slot);
        let (key, domain, next_allowed) = (host.key, host.domain, host.next_allowed);
        let server = match host.address {
            Address::Known { server, .. } => Some(server),
            _ => None,
        };
        if next_allowed > now {
            self.wait(slot, next_allowed);
            return None;
        }
        if let Err(time) = self.domains.take(domain, now) {
            self.wait(slot, time);
            return None;
        }
        if let Some(server) = server
            && let Err(time) = servers.take(server, now)
        {
            self.domains.give_back(domain);
            self.wait(slot, time);
            return None;
        }
        // Another partition may be there for a robots.txt that redirects.
        if let Err(time) = servers.take_host(key, now) {
            self.domains.give_back(domain);
            if let Some(server) = server {
                servers.give_back(server);
            }
            self.wait(slot, time);
            return None;
        }
        self.begin(slot, now);
        let host = self.host_mut(slot);
        let visit = match host.take_ask() {
            Some(visit) => Visit { server, ..visit },
            None => {
                let request = host.take_request().expect("a host without work is not reserved");
                self.urls -= 1;
                page_visit(request, server)
            }
        };
        Some(visit)
    }

    /// The host that is next: the one with the best request of those that may begin something.
    fn pop_ready(&mut self) -> Option<Slot> {
        let heaps = self.ready.iter_mut().zip(Standing::all());
        let permitted = heaps.filter(|(_, standing)| self.doubts.permit(*standing));
        // The order is reversed: the greatest comes first, and none is less than any.
        let (best, _) = permitted.max_by(|(left, _), (right, _)| left.peek().cmp(&right.peek()))?;
        best.pop().map(|Reverse((_, slot))| slot)
    }

    /// How many visits and look-ups may be under way at once.
    pub(crate) fn share_connections(&mut self, connections: usize) {
        self.doubts.share(connections);
    }

    /// Something begins.
    pub(super) fn begin(&mut self, slot: Slot, now: Time) {
        self.busy += 1;
        let host = self.host_mut(slot);
        host.state = State::Busy;
        host.busy_since = now;
        host.busy_as = host.standing;
        let (standing, begun) = (host.standing, (now, slot, host.key));
        self.doubts.enter(standing);
        if standing > Standing::default() {
            self.doubts.watch(begun);
        }
    }

    /// What was begun is over.
    pub(super) fn end(&mut self, slot: Slot) {
        self.busy -= 1;
        let host = self.host_mut(slot);
        host.state = State::Idle;
        let busy_as = host.busy_as;
        self.doubts.leave(busy_as);
    }

    /// What takes too long counts as what the lowest do.
    pub(super) fn doubt(&mut self, now: Time) {
        while let Some((since, slot, key)) = self.doubts.overdue(now) {
            let same =
                |host: &&mut Host| host.key == key && host.state == State::Busy && host.busy_since == since;
            if let Some(host) = self.hosts[slot].as_mut().filter(same) {
                self.doubts.leave(std::mem::take(&mut host.busy_as));
                self.doubts.enter(Standing::default());
            }
        }
    }
}
