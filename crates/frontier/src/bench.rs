//! The workbench: the hosts that are being crawled now, and when each may be visited. The only part of the frontier in RAM.
//!
//! Filled from the ready bands and from its own overflow, emptied by visits. A host is in one of two heaps: `waiting`, by the
//! time at which something can happen, or `ready`, by the order of its best request. (There is one of these for each
//! [standing](crate::doubts); while as many hosts of one are busy as may be, it is left aside.) It leaves `ready` with a [`Job`]: look up
//! its address, or visit it. A visit takes the gates of its domain and its server in the same step; a host that finds one shut
//! waits for the time it is told.
//!
//! Invariants: one visit at a time per host; never before its next allowed time; a host with anything to do is in exactly one
//! heap, or busy, or waits for its rules, or is parked until fewer of its domain are on trial, or is hungry for what it has on disk; a host without anything to do is forgotten, but not before its delay is over.
//!
//! Costs: a few heap operations per visit; about 250 bytes per URL and 400 per host.

mod off;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use mattock_env::Time;

use crate::doubts::{Doubts, STANDINGS};
use crate::gates::Gates;
use crate::host::{Address, Host, State, Work};
use crate::trials::{Trial, Trials};
use crate::{Purpose, Request, Servers, Visit};

/// How much there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    pub(crate) hosts: usize,
    pub(crate) urls: usize,
}

/// How long everybody is left alone after a visit; servers and domains at least for the delays of their gates.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rest {
    pub(crate) host: Duration,
    pub(crate) server: Duration,
    pub(crate) domain: Duration,
}

/// What comes off the bench.
#[derive(Debug)]
pub(crate) enum Job {
    /// Visit this now.
    Visit(Visit),
    /// Look up the address of this host.
    Resolve(Slot),
    /// This host's robots.txt must be had.
    NeedRules(Slot),
    /// The rules do not allow this.
    Disallowed(Request),
    /// Nor this, to which another host's robots.txt redirects.
    Uninvited(Visit),
}

/// A host's place in the table.
pub(crate) type Slot = usize;

/// A host that is ready, by its best request.
type Ready = Reverse<((u8, u64), Slot)>;

pub(crate) struct Bench {
    room: Room,
    servers: Arc<Servers>,
    domains: Gates<u64>,
    trials: Trials,
    /// No host is visited before.
    not_before: Time,
    /// Whether addresses must be known.
    resolve: bool,
    hosts: Vec<Option<Host>>,
    free: Vec<Slot>,
    by_key: HashMap<u64, Slot>,
    waiting: BinaryHeap<Reverse<(Time, Slot)>>,
    /// Hosts that are ready, by their standing.
    ready: [BinaryHeap<Ready>; STANDINGS],
    doubts: Doubts,
    urls: usize,
    busy: usize,
    /// Hosts whose queue has become short while more of theirs waits on disk.
    hungry: Vec<Slot>,
}

impl Bench {
    pub(crate) fn new(room: Room, servers: Arc<Servers>, domain_delay: Duration, resolve: bool) -> Bench {
        Bench {
            room,
            servers,
            domains: Gates::new(domain_delay),
            trials: Trials::default(),
            not_before: Time::ZERO,
            resolve,
            hosts: Vec::new(),
            free: Vec::new(),
            by_key: HashMap::new(),
            waiting: BinaryHeap::new(),
            ready: Default::default(),
            doubts: Doubts::new(),
            urls: 0,
            busy: 0,
            hungry: Vec::new(),
        }
    }

    /// Whether more hosts and URLs can be taken.
    pub(crate) fn has_room(&self) -> bool {
        self.by_key.len() < self.room.hosts && self.urls < self.room.urls
    }

    /// Whether it is at most half full.
    pub(crate) fn is_half_empty(&self) -> bool {
        self.by_key.len() <= self.room.hosts / 2 && self.urls <= self.room.urls / 2
    }

    /// How many URLs one host may have here: many while there is room, few when it becomes scarce.
    pub(crate) fn share(&self) -> usize {
        let fair = self.room.urls / self.by_key.len().max(1);
        fair.clamp(16, 4096)
    }

    pub(crate) fn find(&self, key: u64) -> Option<Slot> {
        self.by_key.get(&key).copied()
    }

    /// Puts a host on the bench. Its rules are being checked.
    pub(crate) fn add_host(&mut self, key: u64, name: Box<str>, domain: u64) -> Slot {
        let address = if self.resolve { Address::Unknown } else { Address::Unneeded };
        let mut host = Host::new(key, name, domain, address);
        host.next_allowed = self.not_before;
        let host = Some(host);
        let slot = match self.free.pop() {
            Some(slot) => {
                self.hosts[slot] = host;
                slot
            }
            None => {
                self.hosts.push(host);
                self.hosts.len() - 1
            }
        };
        self.by_key.insert(key, slot);
        slot
    }

    pub(crate) fn host(&self, slot: Slot) -> &Host {
        self.hosts[slot].as_ref().expect("a slot that is handed out is in use")
    }

    /// After a change [`schedule`](Bench::schedule) must be called.
    pub(crate) fn host_mut(&mut self, slot: Slot) -> &mut Host {
        self.hosts[slot].as_mut().expect("a slot that is handed out is in use")
    }

    /// Puts a page on a host's queue.
    pub(crate) fn push(&mut self, slot: Slot, request: Request, now: Time) {
        self.urls += 1;
        self.host_mut(slot).push(request);
        self.schedule(slot, now);
    }

    /// Puts a robots.txt at the head of a host's queue.
    pub(crate) fn push_ask(&mut self, slot: Slot, visit: Visit, now: Time) {
        self.host_mut(slot).push_ask(visit);
        self.awaited(slot, now);
    }

    /// Puts another host's robots.txt on a host's queue, before its pages.
    pub(crate) fn push_guest(&mut self, slot: Slot, visit: Visit, now: Time) {
        self.host_mut(slot).push_guest(visit);
        self.awaited(slot, now);
    }

    /// Somebody waits for what was put on a host's queue.
    fn awaited(&mut self, slot: Slot, now: Time) {
        let host = self.host_mut(slot);
        let domain = host.domain;
        if host.trial == Trial::Ahead {
            // Somebody on trial waits for this one. If its turn had come already, it is another one's now.
            host.trial = Trial::Over;
            if host.state == State::Parked {
                host.state = State::Idle;
            } else {
                self.unpark_one(domain, now);
            }
        }
        self.schedule(slot, now);
    }

    /// Puts a host where its work and its next allowed time say.
    pub(crate) fn schedule(&mut self, slot: Slot, now: Time) {
        let host = self.host_mut(slot);
        if host.state != State::Idle {
            return;
        }
        let (work, next_allowed, order) = (host.work(now), host.next_allowed, host.order());
        let done = host.is_done();
        match work {
            Work::Wait => {}
            // Nothing of this is a visit.
            Work::NeedRules | Work::Refuse => self.make_ready(slot, order),
            Work::Resolve | Work::Visit if next_allowed <= now => self.make_ready(slot, order),
            Work::Resolve | Work::Visit => self.wait(slot, next_allowed),
            // It must be remembered until its delay is over.
            Work::Nothing if done => self.wait(slot, next_allowed),
            Work::Nothing => {}
        }
        let share = self.share();
        let host = self.host(slot);
        if host.overflow > 0 && host.queued() < share.min(64) / 4 {
            self.hungry.push(slot);
        }
    }

    fn make_ready(&mut self, slot: Slot, order: (u8, u64)) {
        let host = self.host_mut(slot);
        host.state = State::Ready;
        // The standing only changes while it is busy.
        let standing = host.standing;
        self.ready[standing.index()].push(Reverse((order, slot)));
    }

    fn wait(&mut self, slot: Slot, time: Time) {
        self.host_mut(slot).state = State::Waiting;
        self.waiting.push(Reverse((time, slot)));
    }

    /// Hosts that want more from disk.
    pub(crate) fn take_hungry(&mut self) -> Vec<Slot> {
        let mut hungry = std::mem::take(&mut self.hungry);
        hungry.sort_unstable();
        hungry.dedup();
        hungry.retain(|&slot| self.hosts[slot].as_ref().is_some_and(|host| host.overflow > 0));
        hungry
    }

    /// Moves hosts whose time has come, and forgets those that are done.
    fn turn(&mut self, now: Time) {
        self.doubt(now);
        while let Some(&Reverse((time, slot))) = self.waiting.peek()
            && time <= now
        {
            self.waiting.pop();
            let host = self.host_mut(slot);
            host.state = State::Idle;
            if host.is_done() && host.next_allowed <= now {
                let key = host.key;
                self.end_trial(slot, now);
                self.by_key.remove(&key);
                self.hosts[slot] = None;
                self.free.push(slot);
            } else {
                self.schedule(slot, now);
            }
        }
    }

    /// The address is known, or need not be.
    pub(crate) fn resolved(&mut self, slot: Slot, address: Address, now: Time) {
        self.end(slot);
        self.host_mut(slot).address = address;
        self.schedule(slot, now);
    }

    /// A visit that ended at `ended`.
    pub(crate) fn release(&mut self, visit: &Visit, ended: Time, rest: Rest, now: Time) {
        let Some(slot) = self.find(visit.request.url.host_fingerprint().0) else {
            debug_assert!(false, "a busy host is never forgotten");
            return;
        };
        self.end(slot);
        let host = self.host_mut(slot);
        host.next_allowed = ended + rest.host;
        let (key, domain, waits) = (host.key, host.domain, host.queued() > 0);
        self.servers.release_host(key, ended, rest.host);
        if visit.purpose == Purpose::Page || !waits {
            self.end_trial(slot, now);
        }
        self.domains.release(domain, ended, rest.domain, rest.domain);
        if let Some(server) = visit.server {
            self.servers.release(server, ended, rest.server);
        }
        self.schedule(slot, now);
    }

    /// A page of the host was visited, or it failed: another one of its domain can be tried.
    pub(crate) fn end_trial(&mut self, slot: Slot, now: Time) {
        let host = self.host_mut(slot);
        let domain = host.domain;
        if std::mem::replace(&mut host.trial, Trial::Over) != Trial::Running {
            return;
        }
        self.trials.leave(domain);
        self.unpark_one(domain, now);
    }

    fn unpark_one(&mut self, domain: u64, now: Time) {
        while let Some(parked) = self.trials.unpark(domain) {
            // Its place may be another one's by now.
            let here = |host: &&mut Host| host.state == State::Parked && host.domain == domain;
            if let Some(host) = self.hosts[parked].as_mut().filter(here) {
                host.state = State::Idle;
                return self.schedule(parked, now);
            }
        }
    }

    /// An earlier run may have visited anybody until just now.
    pub(crate) fn hold_all(&mut self, hosts: Time, domains: Time) {
        self.not_before = hosts;
        self.domains.hold_all(domains);
    }

    /// A visit is not made: nobody has to wait because of it.
    pub(crate) fn call_off(&mut self, visit: &Visit, now: Time) -> Option<Slot> {
        let slot = self.find(visit.request.url.host_fingerprint().0)?;
        self.end(slot);
        let host = self.host(slot);
        let (key, domain) = (host.key, host.domain);
        self.domains.give_back(domain);
        self.servers.give_back_host(key);
        if let Some(server) = visit.server {
            self.servers.give_back(server);
        }
        self.schedule(slot, now);
        Some(slot)
    }

    /// Another delay of domains from now on.
    pub(crate) fn set_domain_delay(&mut self, delay: Duration) {
        self.domains.set_delay(delay);
    }

    /// Keeps a host from being visited before `time`.
    pub(crate) fn hold(&mut self, slot: Slot, time: Time) {
        let host = self.host_mut(slot);
        host.next_allowed = host.next_allowed.max(time);
    }

    /// Takes everything off a host that waits for it.
    pub(crate) fn drain(&mut self, slot: Slot) -> Vec<Request> {
        let requests = self.host_mut(slot).drain();
        self.urls -= requests.len();
        requests
    }

    /// When the next waiting host may be visited.
    pub(crate) fn due(&self) -> Option<Time> {
        self.waiting.peek().map(|&Reverse((time, _))| time)
    }

    /// Pages on the bench.
    pub(crate) fn queued(&self) -> usize {
        self.urls
    }

    /// Visits and look-ups under way.
    pub(crate) fn busy(&self) -> usize {
        self.busy
    }

    /// Hosts on the bench.
    pub(crate) fn len(&self) -> usize {
        self.by_key.len()
    }

    /// Whether a robots.txt waits to be fetched.
    pub(crate) fn has_asks(&self) -> bool {
        self.iter().any(|(_, host)| host.has_asks())
    }

    /// All hosts, by their place.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Slot, &Host)> {
        self.hosts.iter().enumerate().filter_map(|(slot, host)| Some((slot, host.as_ref()?)))
    }
}
