//! The stages put together: messages are routed here, and nothing else is done. How records move from stage to stage is in
//! `flow`, what becomes of a visit in `finish`, and how all of it is saved in `state`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mattock_drum::{RobotsCache, UrlSeen};
use mattock_env::{Env, Time};
use mattock_fetch::FetchOutcome;
use mattock_queue::Queues;
use mattock_weburl::WebUrl;

use crate::accounts::Accounts;
use crate::admission::Admission;
use crate::bands::Bands;
use crate::bench::{Bench, Job, Slot};
use crate::budget::Budget;
use crate::content::{ContentCounts, ContentStage, PageContent};
use crate::doubts::Standing;
use crate::error::Result;
use crate::hurry::Hurry;
use crate::options::{Cut, FrontierOptions};
use crate::overflow::Overflow;
use crate::rules::RobotsStage;
use crate::save::Saves;
use crate::{
    Application, Link, Politeness, Purpose, Refusal, Request, Scope, Servers, Sitemaps, Visit, record,
};

/// What to do next.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// Fetch this now.
    Visit(Visit),
    /// Look up this host's addresses, and say what came with [`Frontier::resolved`].
    Resolve(HostToResolve),
    /// Nothing is allowed before this time, unless a visit ends earlier.
    WaitUntil(Time),
    /// Nothing before a visit ends.
    WaitForVisits,
    /// Nothing at all: the crawl is complete.
    Empty,
}

/// A host whose addresses must be known before it is visited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostToResolve {
    pub(crate) slot: Slot,
    /// Scheme, name and port.
    pub host: Box<str>,
    /// How often the host has failed in a row: perhaps another of its addresses does better.
    pub strikes: u8,
}

/// Whether a page visit was the last word on its URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// The URL is done, one way or the other.
    Done,
    /// It will be tried again.
    Again,
}

/// Where the URLs are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// URLs that passed the scope, and those that are settled.
    pub accounts: Accounts,
    /// URLs that wait, wherever they do.
    pub queued: u64,
    /// Visits under way.
    pub in_flight: u64,
    /// Hosts on the workbench.
    pub hosts: u64,
    /// URLs that were refused, by reason. Those of the scope count links, before `seen`.
    pub refused: BTreeMap<Refusal, u64>,
    /// Pages that were no news.
    pub content: ContentCounts,
}

impl Counts {
    /// URLs that nobody can account for; 0 unless there is a bug.
    pub fn missing(&self) -> i64 {
        self.accounts.missing(self.queued + self.in_flight)
    }
}

/// A request that waits for another try: when, its number, what.
pub(crate) type Deferred = Reverse<(Time, u64, DeferredRequest)>;

/// Requests have no order of their own; the number before it decides.
#[derive(Clone, Debug)]
pub(crate) struct DeferredRequest(pub(crate) Request);

impl PartialEq for DeferredRequest {
    fn eq(&self, _: &DeferredRequest) -> bool {
        true
    }
}

impl Eq for DeferredRequest {}

impl PartialOrd for DeferredRequest {
    fn partial_cmp(&self, other: &DeferredRequest) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for DeferredRequest {
    fn cmp(&self, _: &DeferredRequest) -> std::cmp::Ordering {
        std::cmp::Ordering::Equal
    }
}

/// The frontier of one partition.
pub struct Frontier {
    pub(crate) env: Env,
    pub(crate) dir: PathBuf,
    pub(crate) politeness: Politeness,
    pub(crate) admission: Admission,
    pub(crate) seen: UrlSeen,
    /// New URLs that `seen` let out and that are not in `ready` yet.
    pub(crate) new: VecDeque<Vec<u8>>,
    pub(crate) budget: Option<Budget>,
    pub(crate) robots: RobotsStage,
    pub(crate) content: ContentStage,
    pub(crate) queues: Queues,
    pub(crate) ready: Bands,
    pub(crate) overflow: Overflow,
    pub(crate) bench: Bench,
    pub(crate) deferred: BinaryHeap<Deferred>,
    /// Page visits under way, by number.
    pub(crate) in_flight: BTreeMap<u64, Request>,
    pub(crate) refused: BTreeMap<Refusal, u64>,
    pub(crate) accounts: Accounts,
    pub(crate) saves: Saves,
    pub(crate) number_next: u64,
    /// When stages that collect batches may be hurried again although nobody is idle.
    pub(crate) hurry_seen: Hurry,
    pub(crate) hurry_robots: Hurry,
    /// When the earlier run may still have been at work, if there was one.
    pub(crate) restarted: Option<Time>,
    /// Requests that failed without a visit of their own, because their host did.
    pub(crate) failed: Vec<(Request, FetchOutcome)>,
    /// Waits to be taken by [`Frontier::take_sitemaps`].
    pub(crate) sitemaps: Vec<Sitemaps>,
    /// Used again and again.
    pub(crate) buffer: Vec<u8>,
}

impl Frontier {
    /// Opens the frontier in `dir` as it was at the checkpoint that the options name. Makes no file. `servers` are shared with the other
    /// partitions of the process.
    pub fn open(env: &Env, dir: &Path, options: FrontierOptions, servers: Arc<Servers>) -> Result<Frontier> {
        let cut = Cut::new(options.memory_bytes, options.budget != crate::BudgetPolicy::Unlimited);
        let saved = crate::state::read(env, dir, options.checkpoint)?;
        let at = saved.as_ref().map(|saved| saved.checkpoints).unwrap_or_default();
        let drum = |memory_bytes| mattock_drum::Options::new(memory_bytes);
        let seen = UrlSeen::open_at(env, &dir.join("seen"), drum(cut.seen_bytes), Some(at.seen))?;
        let cache = RobotsCache::open_at(env, &dir.join("robots"), drum(cut.robots_bytes), Some(at.robots))?;
        let queue_options = mattock_queue::Options::new(cut.queues_bytes as usize);
        let queues = Queues::open_at(env, &dir.join("queues"), &queue_options, Some(at.queues))?;
        let learnt = saved.as_ref().map(|saved| saved.learnt());
        let content = ContentStage::open(
            env,
            &dir.join("content"),
            cut.content_bytes,
            at.content,
            learnt.map(|learnt| learnt.novelty),
        )?;
        let admission = Admission::new(
            options.scope,
            &options.blocklist,
            options.traps,
            learnt.map(|learnt| learnt.traps),
        );
        let budgets = saved.as_ref().and_then(|saved| saved.budgets());
        let memory = cut.degrees_bytes;
        let budget = Budget::open(env, dir, &queues, &options.budget, memory, budgets)?;
        let mut frontier = Frontier {
            env: env.clone(),
            dir: dir.to_owned(),
            seen,
            new: VecDeque::new(),
            budget,
            robots: RobotsStage::new(env, cache, &options.product_token),
            ready: Bands::new(&queues),
            overflow: Overflow::new(&queues),
            queues,
            bench: Bench::new(cut.bench, servers, options.politeness.domain_delay, options.resolve),
            politeness: options.politeness,
            admission,
            content,
            deferred: BinaryHeap::new(),
            in_flight: BTreeMap::new(),
            refused: BTreeMap::new(),
            accounts: Accounts::default(),
            saves: Saves::new(env),
            number_next: 0,
            hurry_seen: Hurry::default(),
            hurry_robots: Hurry::default(),
            restarted: options.restarted.then(|| env.clock.now()),
            failed: Vec::new(),
            sitemaps: Vec::new(),
            buffer: Vec::new(),
        };
        if let Some(time) = frontier.restarted {
            frontier
                .bench
                .hold_all(time + frontier.politeness.delay, time + frontier.politeness.domain_delay);
        }
        frontier.remove_litter(options.checkpoint)?;
        if let Some(saved) = saved {
            frontier.restore(options.checkpoint, saved)?;
        }
        Ok(frontier)
    }

    /// Where it is.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Makes a seed's surroundings part of the scope.
    pub fn include(&mut self, seed: &WebUrl) {
        self.admission.include(seed);
    }

    /// Says how many visits and look-ups the caller has under way at most. A part of that is then kept for hosts whose last pages came
    /// well and soon, so that those that hang cannot have all of it. Without this there is no limit to anybody.
    pub fn share_connections(&mut self, connections: usize) {
        self.bench.share_connections(connections);
    }

    /// Whether the last pages of a URL's host came well and soon.
    pub fn is_brisk(&self, url: &WebUrl) -> bool {
        let slot = self.bench.find(url.host_fingerprint().0);
        slot.is_some_and(|slot| self.bench.host(slot).standing == Standing::BRISK)
    }

    /// What the crawl is for; [`BreadthFirst`](crate::BreadthFirst) if nothing is said.
    pub fn serve(&mut self, application: Box<dyn Application>) {
        self.admission.serve(application);
    }

    /// Whether a page that came is to be [sketched](crate::Sketch): all of them, but of hosts that always had news a part is enough.
    pub fn wants_sketch(&self, url: &WebUrl) -> bool {
        self.content.wants_sketch(url.host_fingerprint().0, url.domain_fingerprint().0)
    }

    /// How many domains link to the URL's, as far as is remembered of late.
    pub fn known_in_degree(&self, url: &WebUrl) -> Option<u64> {
        self.budget.as_ref()?.last_in_degree(url.domain_fingerprint().0)
    }

    /// A page came with this content; for whoever looks at it after the visit was [taken back](Frontier::finished).
    pub fn came(&mut self, url: &WebUrl, content: PageContent) -> Result<()> {
        self.content.page(url.host_fingerprint().0, url.domain_fingerprint().0, content)
    }

    /// Whether requests wait on the bench, which can be given out as soon as politeness allows.
    pub fn has_waiting(&self) -> bool {
        self.bench.queued() > 0
    }

    /// What the crawl is about.
    pub fn scope(&self) -> &Scope {
        self.admission.scope()
    }

    /// Makes a seed part of the scope and submits it.
    pub fn seed(&mut self, url: WebUrl) -> Result<()> {
        self.include(&url);
        self.submit(&[Link::page(url, 0)], None)
    }

    /// Takes in links in the order they were found. `source` is the page they were found on: a link between domains adds to the
    /// reputation of the one that it leads to.
    pub fn submit(&mut self, links: &[Link], source: Option<&WebUrl>) -> Result<()> {
        if let (Some(budget), Some(source)) = (&mut self.budget, source) {
            let source = source.domain_fingerprint().0;
            let mut targets: Vec<u64> = links.iter().map(|link| link.url.domain_fingerprint().0).collect();
            targets.sort_unstable();
            targets.dedup();
            budget.link(targets.into_iter().map(|target| (target, source)))?;
        }
        self.admit(links)
    }

    /// The same for links that others have found, and links between domains: target and source.
    pub fn receive(&mut self, links: &[Link], edges: &[(u64, u64)]) -> Result<()> {
        if let Some(budget) = &mut self.budget {
            budget.link(edges.iter().copied())?;
        }
        self.admit(links)
    }

    fn admit(&mut self, links: &[Link]) -> Result<()> {
        let mut keys = Vec::with_capacity(links.len());
        let mut ends = Vec::with_capacity(links.len());
        let mut records = std::mem::take(&mut self.buffer);
        records.clear();
        for link in links {
            let band = match self.admission.judge(link) {
                Ok(band) => band,
                Err(refusal) => {
                    self.refuse(refusal);
                    continue;
                }
            };
            keys.push(link.url.fingerprint().0);
            record::encode_link(link, band, &mut records);
            ends.push(records.len());
        }
        let submitted = self.seen.submit_links(&keys, |index| {
            let start = if index == 0 { 0 } else { ends[index - 1] };
            &records[start..ends[index]]
        });
        self.buffer = records;
        submitted?;
        self.take_new().map(drop)
    }

    /// Why the crawl is not about a link, which is then counted; `None` if it is. Whoever has it asked need not be the one who
    /// visits it.
    pub fn refuses(&mut self, link: &Link) -> Option<Refusal> {
        let refusal = self.admission.scope().refuses(link)?;
        self.refuse(refusal);
        Some(refusal)
    }

    pub(crate) fn refuse(&mut self, refusal: Refusal) {
        *self.refused.entry(refusal).or_default() += 1;
    }

    /// What to do now.
    pub fn next(&mut self, now: Time) -> Result<Next> {
        self.flow(now)?;
        let (mut rounds, mut refills) = (0, 0);
        loop {
            match self.bench.next(now) {
                Some(Job::Visit(visit)) => {
                    if let Some(refusal) = self.admission.refuses_visit(&visit.request.url, visit.server) {
                        self.call_off(visit, refusal, now)?;
                        continue;
                    }
                    if visit.purpose == Purpose::Page {
                        self.budget.iter_mut().for_each(Budget::visited);
                        self.in_flight.insert(visit.request.number, visit.request.clone());
                    }
                    return Ok(Next::Visit(visit));
                }
                Some(Job::Resolve(slot)) => {
                    let host = self.bench.host(slot);
                    let (name, strikes) = (host.name.clone(), host.strikes);
                    return Ok(Next::Resolve(HostToResolve { slot, host: name, strikes }));
                }
                Some(Job::NeedRules(slot)) => self.ask_for_rules(slot, now)?,
                Some(Job::Uninvited(visit)) => {
                    if let Purpose::Robots { host, .. } = visit.purpose {
                        self.refuse_hop(&host, now)?;
                    }
                }
                Some(Job::Disallowed(request)) => {
                    let slot = self.bench.find(request.url.host_fingerprint().0);
                    let unreachable = slot.is_some_and(|slot| {
                        let rules = self.bench.host(slot).rules.latest();
                        rules.is_some_and(|robots| robots.disallow_reason().is_some())
                    });
                    self.accounts.refused += 1;
                    self.refuse(if unreachable { Refusal::RobotsUnreachable } else { Refusal::Robots });
                }
                None if self.feed(now)? => {}
                // Hosts that are on the bench may have millions of URLs that wait: to put them behind it in one go would keep visits from
                // being made for seconds.
                None if refills == ROUNDS_MAX => {
                    let wait = if self.bench.busy() > 0 { STAGE_WAIT } else { Duration::ZERO };
                    return Ok(Next::WaitUntil(now + wait));
                }
                None if self.refill(now)? => refills += 1,
                None if !self.take_new()? => break,
                None if rounds == ROUNDS_MAX => return Ok(Next::WaitUntil(now)),
                None => rounds += 1,
            }
        }
        if self.hurry(now)? {
            // Something is on its way through a stage that works in the background.
            return Ok(Next::WaitUntil(now + STAGE_WAIT));
        }
        if self.is_empty() && self.budget.as_mut().is_some_and(Budget::release) {
            return Ok(Next::WaitUntil(now + STAGE_WAIT));
        }
        let deferred = self.deferred.peek().map(|Reverse((time, _, _))| *time);
        Ok(match [self.bench.due(), deferred, self.hurry_next()].into_iter().flatten().min() {
            // A host that is only remembered is no reason to wait once everything is done.
            Some(_) if self.is_empty() => Next::Empty,
            Some(time) => Next::WaitUntil(time),
            None if self.bench.busy() > 0 => Next::WaitForVisits,
            None => Next::Empty,
        })
    }

    /// Whether nothing is under way and nothing waits that can come: `hurry` has found that no budget lets any more through,
    /// which it only asks if the bench has room.
    fn is_empty(&self) -> bool {
        let over_budget = self.budget.as_ref().map_or(0, Budget::len);
        let settled = !self.seen.is_unsettled() && self.robots.checking() == 0;
        self.bench.busy() == 0
            && settled
            && (over_budget == 0 || self.bench.has_room())
            && self.queued() == over_budget
            && !self.bench.has_asks()
    }

    /// URLs that wait, wherever they do.
    fn queued(&self) -> u64 {
        let in_ram = self.new.len() + self.deferred.len() + self.bench.queued();
        in_ram as u64 + self.budget.as_ref().map_or(0, Budget::len) + self.ready.len() + self.overflow.len()
    }

    /// The host's place on the bench; it is put there if it is not.
    pub(crate) fn slot_of(&mut self, url: &WebUrl) -> Result<Slot> {
        let key = url.host_fingerprint().0;
        if let Some(slot) = self.bench.find(key) {
            return Ok(slot);
        }
        self.robots.check(key)?;
        Ok(self.bench.add_host(key, url.host().into(), url.domain_fingerprint().0))
    }

    /// What the robots.txt files that were read since the last call name as sitemaps. Whether they are asked for is the
    /// caller's choice: they come back as links.
    pub fn take_sitemaps(&mut self) -> Vec<Sitemaps> {
        std::mem::take(&mut self.sitemaps)
    }

    /// Requests that were given up since the last call without a visit of their own, because nothing could be had from their
    /// host, and why.
    pub fn take_failed(&mut self) -> Vec<(Request, FetchOutcome)> {
        std::mem::take(&mut self.failed)
    }

    /// Where the URLs are.
    pub fn counts(&self) -> Counts {
        Counts {
            accounts: self.accounts,
            queued: self.queued(),
            in_flight: self.in_flight.len() as u64,
            hosts: self.bench.len() as u64,
            refused: self.refused.clone(),
            content: self.content.counts(),
        }
    }
}

/// How long until a stage in the background is looked at again.
const STAGE_WAIT: Duration = Duration::from_millis(2);
/// How often whoever has nothing to do takes new URLs, or puts some on the bench, before visits that are over have a turn.
const ROUNDS_MAX: u32 = 8;
