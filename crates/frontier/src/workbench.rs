//! The hosts that can be visited, and when.
//!
//! Filled from [`Ready`](crate::ready::Ready), emptied by visits. Each host on the bench is in exactly one state:
//!
//! | state | where | leaves it by |
//! |---|---|---|
//! | ready | the ready heap, by request number | a visit |
//! | waiting | the waiting heap, by next allowed time | its time coming |
//! | busy | neither | [`Workbench::release`] |
//! | idle | neither: no requests, only its next allowed time is remembered | a request, or being forgotten |
//!
//! Invariants: a host is visited by one visit at a time, and never before its next allowed time. A host that has no
//! requests and whose delay is over is forgotten. Every operation costs O(log hosts).

use std::collections::{BTreeMap, BinaryHeap, HashMap, VecDeque};

use mattock_env::Time;

use crate::ready::Smallest;
use crate::{Purpose, Request, Visit};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ready,
    Waiting,
    Busy,
    Idle,
}

#[derive(Debug)]
struct Host {
    name: Box<str>,
    state: State,
    next_allowed: Time,
    visits: VecDeque<Visit>,
}

/// Hosts in RAM with a few visits each.
#[derive(Debug, Default)]
pub struct Workbench {
    hosts: Vec<Host>,
    slots: HashMap<Box<str>, usize>,
    free: Vec<usize>,
    ready: BinaryHeap<Smallest<(u64, usize)>>,
    waiting: BinaryHeap<Smallest<(Time, usize)>>,
    /// Idle hosts by the time from which they can be forgotten.
    idle: BTreeMap<(Time, usize), ()>,
    /// Page visits that wait; those for robots.txt are not counted, as nobody asked for them.
    queued: usize,
    busy: usize,
}

impl Workbench {
    /// Puts a page request on the bench.
    pub fn add(&mut self, request: Request, now: Time) {
        let name: Box<str> = request.url.host().into();
        self.push(name, Visit { request, purpose: Purpose::Page }, now, false);
    }

    /// Puts a robots.txt request at the head of its host's queue.
    pub fn add_robots(&mut self, request: Request, for_host: Box<str>, hops: u8, now: Time) {
        let name: Box<str> = request.url.host().into();
        self.push(name, Visit { request, purpose: Purpose::Robots { host: for_host, hops } }, now, true);
    }

    fn push(&mut self, name: Box<str>, visit: Visit, now: Time, first: bool) {
        let slot = self.slot(name);
        let host = &mut self.hosts[slot];
        self.queued += usize::from(visit.purpose == Purpose::Page);
        if first {
            host.visits.push_front(visit);
        } else {
            host.visits.push_back(visit);
        }
        if host.state == State::Idle {
            self.idle.remove(&(host.next_allowed, slot));
            self.schedule(slot, now);
        }
    }

    fn slot(&mut self, name: Box<str>) -> usize {
        if let Some(&slot) = self.slots.get(&name) {
            return slot;
        }
        let host = Host {
            name: name.clone(),
            state: State::Idle,
            next_allowed: Time::ZERO,
            visits: VecDeque::new(),
        };
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
        self.slots.insert(name, slot);
        slot
    }

    /// Puts a host where its queue and its next allowed time say.
    fn schedule(&mut self, slot: usize, now: Time) {
        let host = &mut self.hosts[slot];
        match host.visits.front() {
            None => {
                host.state = State::Idle;
                self.idle.insert((host.next_allowed, slot), ());
            }
            Some(_) if host.next_allowed > now => {
                host.state = State::Waiting;
                self.waiting.push(std::cmp::Reverse((host.next_allowed, slot)));
            }
            Some(visit) => {
                host.state = State::Ready;
                self.ready.push(std::cmp::Reverse((visit.request.number, slot)));
            }
        }
    }

    /// The next visit that is allowed now. Its host is busy until released.
    pub fn next(&mut self, now: Time) -> Option<Visit> {
        self.turn(now);
        let std::cmp::Reverse((_, slot)) = self.ready.pop()?;
        let host = &mut self.hosts[slot];
        debug_assert!(host.state == State::Ready && host.next_allowed <= now);
        host.state = State::Busy;
        self.busy += 1;
        let visit = host.visits.pop_front();
        self.queued -= usize::from(visit.as_ref().is_some_and(|visit| visit.purpose == Purpose::Page));
        visit
    }

    /// Moves hosts whose time has come to the ready heap, and forgets idle ones.
    fn turn(&mut self, now: Time) {
        while let Some(&std::cmp::Reverse((time, slot))) = self.waiting.peek()
            && time <= now
        {
            self.waiting.pop();
            self.schedule(slot, now);
        }
        while let Some(entry) = self.idle.first_entry()
            && entry.key().0 <= now
        {
            let ((_, slot), ()) = entry.remove_entry();
            self.slots.remove(&self.hosts[slot].name);
            self.free.push(slot);
        }
    }

    /// A visit to this host is over; it may be visited again at `next_allowed`.
    pub fn release(&mut self, host: &str, next_allowed: Time, now: Time) {
        let Some(&slot) = self.slots.get(host) else {
            debug_assert!(false, "a busy host is never forgotten");
            return;
        };
        debug_assert!(self.hosts[slot].state == State::Busy);
        self.busy -= 1;
        self.hosts[slot].next_allowed = next_allowed;
        self.schedule(slot, now);
    }

    /// Keeps a host that is not on the bench yet from being visited before `time`.
    pub fn hold(&mut self, name: &str, time: Time) {
        let slot = self.slot(name.into());
        let host = &mut self.hosts[slot];
        if host.state == State::Idle && host.next_allowed < time {
            self.idle.remove(&(host.next_allowed, slot));
            host.next_allowed = time;
            self.idle.insert((time, slot), ());
        }
    }

    /// When the next waiting host may be visited.
    pub fn due(&self) -> Option<Time> {
        self.waiting.peek().map(|&std::cmp::Reverse((time, _))| time)
    }

    /// Page visits on the bench.
    pub fn queued(&self) -> usize {
        self.queued
    }

    /// Visits given out and not released.
    pub fn busy(&self) -> usize {
        self.busy
    }

    /// Hosts on the bench.
    pub fn hosts(&self) -> usize {
        self.slots.len()
    }

    /// Page requests on the bench, for a snapshot.
    pub fn requests(&self) -> impl Iterator<Item = &Request> {
        self.hosts
            .iter()
            .flat_map(|host| &host.visits)
            .filter(|visit| visit.purpose == Purpose::Page)
            .map(|visit| &visit.request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Link;
    use crate::budget::Budget;
    use mattock_weburl::WebUrl;
    use proptest::prelude::*;
    use std::time::Duration;

    fn request(url: &str, number: u64) -> Request {
        Request { number, ..Budget::default().admit(Link::page(WebUrl::parse(url).unwrap(), 0)) }
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn hosts_take_turns_in_request_order() {
        let mut bench = Workbench::default();
        bench.add(request("http://a.com/1", 1), at(0));
        bench.add(request("http://a.com/2", 2), at(0));
        bench.add(request("http://b.com/3", 3), at(0));
        assert_eq!(bench.next(at(0)).unwrap().request.number, 1);
        assert_eq!(bench.next(at(0)).unwrap().request.number, 3);
        assert_eq!(bench.next(at(0)), None, "a.com is busy");
        bench.release("http://a.com", at(100), at(10));
        assert_eq!(bench.next(at(99)), None);
        assert_eq!(bench.due(), Some(at(100)));
        assert_eq!(bench.next(at(100)).unwrap().request.number, 2);
    }

    #[test]
    fn robots_txt_goes_first() {
        let mut bench = Workbench::default();
        bench.add(request("http://a.com/1", 1), at(0));
        bench.add_robots(request("http://a.com/robots.txt", 9), "http://a.com".into(), 0, at(0));
        assert_eq!(bench.next(at(0)).unwrap().request.number, 9);
    }

    #[test]
    fn a_host_is_forgotten_only_after_its_delay() {
        let mut bench = Workbench::default();
        bench.add(request("http://a.com/1", 1), at(0));
        bench.next(at(0)).unwrap();
        bench.release("http://a.com", at(100), at(0));
        bench.add(request("http://a.com/2", 2), at(50));
        assert_eq!(bench.next(at(50)), None);
        bench.next(at(100)).unwrap();
        bench.release("http://a.com", at(200), at(100));
        assert_eq!(bench.next(at(199)), None);
        assert_eq!(bench.hosts(), 1);
        assert_eq!(bench.next(at(200)), None);
        assert_eq!(bench.hosts(), 0);
    }

    #[test]
    fn a_held_host_waits() {
        let mut bench = Workbench::default();
        bench.hold("http://a.com", at(100));
        bench.add(request("http://a.com/1", 1), at(0));
        assert_eq!(bench.next(at(99)), None);
        assert!(bench.next(at(100)).is_some());
    }

    proptest! {
        /// Whatever happens in whatever order: one visit at a time per host, never before its time, nothing lost.
        #[test]
        fn politeness_and_completeness(steps in proptest::collection::vec((0u8..3, 0u64..5, 0u64..50), 1..300)) {
            let mut bench = Workbench::default();
            let mut now = at(0);
            let mut busy: BTreeMap<String, ()> = BTreeMap::new();
            let mut allowed: BTreeMap<String, Time> = BTreeMap::new();
            let (mut added, mut visited) = (0u64, 0u64);
            let mut visit = |bench: &mut Workbench, now: Time, busy: &mut BTreeMap<String, ()>, allowed: &BTreeMap<String, Time>| {
                if let Some(visit) = bench.next(now) {
                    let host = visit.request.url.host().to_owned();
                    assert!(busy.insert(host.clone(), ()).is_none(), "{host} is visited twice at once");
                    assert!(allowed.get(&host).is_none_or(|&time| time <= now), "{host} is visited too early");
                    visited += 1;
                    return true;
                }
                false
            };
            for (what, host, wait) in steps {
                now = now + Duration::from_millis(wait);
                let name = format!("http://h{host}.com");
                match what {
                    0 => {
                        bench.add(request(&format!("{name}/{added}"), added), now);
                        added += 1;
                    }
                    1 => drop(visit(&mut bench, now, &mut busy, &allowed)),
                    _ => if busy.remove(&name).is_some() {
                        let next = now + Duration::from_millis(wait * 2);
                        allowed.insert(name.clone(), next);
                        bench.release(&name, next, now);
                    },
                }
            }
            for _ in 0..1000 {
                now = now + Duration::from_millis(100);
                for (name, ()) in std::mem::take(&mut busy) {
                    allowed.insert(name.clone(), now);
                    bench.release(&name, now, now);
                }
                while visit(&mut bench, now, &mut busy, &allowed) {}
            }
            prop_assert_eq!((bench.queued(), bench.busy()), (0, 0));
            prop_assert_eq!(visited, added);
        }
    }
}
