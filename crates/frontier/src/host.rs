//! A host on the bench: what waits for it, what is known about it, and when it may be visited.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::net::IpAddr;
use std::rc::Rc;
use std::time::Duration;

use mattock_env::Time;
use mattock_robots::Robots;

use crate::doubts::Standing;
use crate::trials::Trial;
use crate::{Purpose, Request, Visit};

/// Where a host stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// In no heap: it has nothing that could be done now.
    Idle,
    /// In the heap of those that wait for their time.
    Waiting,
    /// In the heap of those that can be visited.
    Ready,
    /// Being visited, or its address is being looked up.
    Busy,
    /// Waits until fewer hosts of its domain are on trial.
    Parked,
}

/// What is known of a host's robots.txt.
#[derive(Clone, Debug)]
pub(crate) enum Rules {
    /// The cache on disk is being asked.
    Checking,
    /// Nothing is known, or what was known has expired: it must be fetched.
    Unknown {
        /// What has expired.
        before: Option<Rc<Robots>>,
    },
    /// It is being fetched.
    Asked {
        /// What has expired.
        before: Option<Rc<Robots>>,
    },
    /// Known, until then.
    Known {
        /// The rules.
        robots: Rc<Robots>,
        /// When they expire.
        expires: Time,
    },
}

impl Rules {
    /// The rules as far as they are known, expired or not.
    pub(crate) fn latest(&self) -> Option<&Rc<Robots>> {
        match self {
            Rules::Checking => None,
            Rules::Unknown { before } | Rules::Asked { before } => before.as_ref(),
            Rules::Known { robots, .. } => Some(robots),
        }
    }
}

/// What is known of where a host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// It must be looked up.
    Unknown,
    /// It need not be known: a proxy finds it, or nobody counts servers.
    Unneeded,
    /// Known, until then.
    Known {
        /// The server.
        server: IpAddr,
        /// When it must be looked up again.
        expires: Time,
    },
}

/// What a host would do if it were its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Look up its address.
    Resolve,
    /// Visit it.
    Visit,
    /// Refuse what is next, which its rules forbid: a guest, or else a page.
    Refuse,
    /// Ask for its robots.txt first.
    NeedRules,
    /// Wait for what is under way.
    Wait,
    /// There is nothing.
    Nothing,
}

/// Bands before page number: the order of requests.
type Order = (u8, u64);

struct Queued {
    order: Order,
    request: Request,
}

impl PartialEq for Queued {
    fn eq(&self, other: &Queued) -> bool {
        self.order == other.order
    }
}

impl Eq for Queued {}

impl PartialOrd for Queued {
    fn partial_cmp(&self, other: &Queued) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Queued {
    fn cmp(&self, other: &Queued) -> std::cmp::Ordering {
        self.order.cmp(&other.order)
    }
}

pub(crate) struct Host {
    pub(crate) key: u64,
    /// Scheme, name and port.
    pub(crate) name: Box<str>,
    pub(crate) domain: u64,
    pub(crate) state: State,
    pub(crate) trial: Trial,
    pub(crate) rules: Rules,
    pub(crate) address: Address,
    pub(crate) next_allowed: Time,
    /// Visits for a robots.txt, ours or one that redirects to ours.
    asks: VecDeque<Visit>,
    /// Visits for robots.txt files of other hosts, which redirect to something else here: pages as far as we are concerned.
    guests: VecDeque<Visit>,
    /// The host at which our own robots.txt is such a guest.
    pub(crate) guest_at: Option<u64>,
    requests: BinaryHeap<Reverse<Queued>>,
    /// Its URLs that wait on disk.
    pub(crate) overflow: u64,
    /// URLs read from there that are not in the queue yet.
    pub(crate) promised: usize,
    /// Failures of the host in a row.
    pub(crate) strikes: u8,
    /// The budget of its domain, from the last request that came.
    pub(crate) budget: u32,
    /// What is expected of it. Changes only while it is busy.
    pub(crate) standing: Standing,
    /// Since when it is busy, if it is, and as what it then counts.
    pub(crate) busy_since: Time,
    pub(crate) busy_as: Standing,
}

impl Host {
    pub(crate) fn new(key: u64, name: Box<str>, domain: u64, address: Address) -> Host {
        Host {
            key,
            name,
            domain,
            state: State::Idle,
            trial: Trial::Ahead,
            rules: Rules::Checking,
            address,
            next_allowed: Time::ZERO,
            asks: VecDeque::new(),
            guests: VecDeque::new(),
            guest_at: None,
            requests: BinaryHeap::new(),
            overflow: 0,
            promised: 0,
            strikes: 0,
            budget: 0,
            standing: Standing::default(),
            busy_since: Time::ZERO,
            busy_as: Standing::default(),
        }
    }

    pub(crate) fn push(&mut self, request: Request) {
        self.budget = request.budget;
        self.requests.push(Reverse(Queued { order: (request.band, request.number), request }));
    }

    pub(crate) fn push_ask(&mut self, visit: Visit) {
        self.asks.push_back(visit);
    }

    pub(crate) fn push_guest(&mut self, visit: Visit) {
        self.guests.push_back(visit);
    }

    /// Pages that wait here.
    pub(crate) fn queued(&self) -> usize {
        self.requests.len()
    }

    /// Whether it can leave the bench.
    pub(crate) fn is_done(&self) -> bool {
        !self.has_asks() && self.requests.is_empty() && self.overflow == 0
    }

    /// What it would do now.
    pub(crate) fn work(&self, now: Time) -> Work {
        let resolved = match self.address {
            Address::Unknown => false,
            Address::Unneeded => true,
            Address::Known { expires, .. } => expires > now,
        };
        if self.asks.is_empty() {
            if self.requests.is_empty() && self.guests.is_empty() {
                return Work::Nothing;
            }
            match &self.rules {
                Rules::Checking | Rules::Asked { .. } => return Work::Wait,
                Rules::Unknown { .. } => return Work::NeedRules,
                Rules::Known { expires, .. } if *expires <= now => return Work::NeedRules,
                Rules::Known { .. } if self.next().is_some_and(|request| !self.allows(request)) => {
                    return Work::Refuse;
                }
                Rules::Known { .. } => {}
            }
        }
        // Looking up is no visit, but one that failed is not repeated at once either.
        if resolved { Work::Visit } else { Work::Resolve }
    }

    /// Its place among the hosts that are ready: a robots.txt holds up everything behind it.
    pub(crate) fn order(&self) -> Order {
        match self.requests.peek() {
            Some(Reverse(queued)) if !self.has_asks() => queued.order,
            _ => (0, 0),
        }
    }

    /// Whether a robots.txt waits to be fetched here.
    pub(crate) fn has_asks(&self) -> bool {
        !self.asks.is_empty() || !self.guests.is_empty()
    }

    /// The next visit for a robots.txt. A guest comes only where the rules, which then are known, allow it.
    pub(crate) fn take_ask(&mut self) -> Option<Visit> {
        self.asks.pop_front().or_else(|| self.take_guest())
    }

    /// The robots.txt of another host that would be next.
    pub(crate) fn take_guest(&mut self) -> Option<Visit> {
        self.guests.pop_front()
    }

    /// Robots.txt files of other hosts that wait.
    pub(crate) fn drain_guests(&mut self) -> VecDeque<Visit> {
        std::mem::take(&mut self.guests)
    }

    /// What would be next, and is judged by the rules.
    fn next(&self) -> Option<&Request> {
        let page = || self.requests.peek().map(|Reverse(queued)| &queued.request);
        self.guests.front().map(|visit| &visit.request).or_else(page)
    }

    /// The next page.
    pub(crate) fn take_request(&mut self) -> Option<Request> {
        self.requests.pop().map(|Reverse(queued)| queued.request)
    }

    /// Everything that waits, in order.
    pub(crate) fn drain(&mut self) -> Vec<Request> {
        std::mem::take(&mut self.requests)
            .into_sorted_vec()
            .into_iter()
            .rev()
            .map(|Reverse(queued)| queued.request)
            .collect()
    }

    /// Robots visits that wait.
    pub(crate) fn drain_asks(&mut self) -> VecDeque<Visit> {
        let mut asks = std::mem::take(&mut self.asks);
        asks.append(&mut self.guests);
        asks
    }

    /// Everything that waits, in no order.
    pub(crate) fn requests(&self) -> impl Iterator<Item = &Request> {
        self.requests.iter().map(|Reverse(queued)| &queued.request)
    }

    /// The Crawl-delay that it asks for.
    pub(crate) fn crawl_delay(&self) -> Option<Duration> {
        self.rules.latest()?.crawl_delay()
    }

    /// Whether the rules allow a request.
    fn allows(&self, request: &Request) -> bool {
        match &self.rules {
            Rules::Known { robots, .. } => robots.allows(request.url.path_and_query()),
            _ => false,
        }
    }
}

/// A visit for a page.
pub(crate) fn page_visit(request: Request, server: Option<IpAddr>) -> Visit {
    Visit { request, purpose: Purpose::Page, server }
}
