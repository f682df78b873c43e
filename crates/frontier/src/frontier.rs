//! The stages put together: messages are routed here, and nothing else is done.

use std::collections::BTreeMap;
use std::time::Duration;

use mattock_env::Time;
use mattock_fetch::FetchOutcome;
use mattock_weburl::WebUrl;

use crate::budget::Budget;
use crate::ready::Ready;
use crate::robots_stage::{Learned, Passage, RobotsStage};
use crate::seen::UrlSeen;
use crate::workbench::Workbench;
use crate::{Finished, Link, Politeness, Purpose, Refusal, Request, Scope, Sitemaps, Target, Visit};

/// What a frontier is made with.
#[derive(Clone, Debug)]
pub struct FrontierOptions {
    /// What the crawl is about.
    pub scope: Scope,
    /// How long hosts are left alone.
    pub politeness: Politeness,
    /// Whose rules in robots.txt are ours.
    pub product_token: String,
}

/// What to do next.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// Fetch this now.
    Visit(Visit),
    /// Nothing is allowed before this time, unless a visit ends earlier.
    WaitUntil(Time),
    /// Nothing before a visit ends.
    WaitForVisits,
    /// Nothing at all: the crawl is complete.
    Empty,
}

/// Whether a page visit was the last word on its URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// The URL is done, one way or the other.
    Done,
    /// It will be tried again.
    Again,
}

/// Where the URLs are: `seen` = passed on to fetching and done + `queued` + `in_flight` + refused after `seen`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// URLs that passed the scope, each once.
    pub seen: u64,
    /// URLs that wait, wherever they do.
    pub queued: u64,
    /// Visits under way.
    pub in_flight: u64,
    /// Hosts on the workbench.
    pub hosts: u64,
    /// URLs that were refused, by reason. `Scope` and `Depth` count links, before `seen`.
    pub refused: BTreeMap<Refusal, u64>,
}

/// The frontier of one partition.
#[derive(Debug)]
pub struct Frontier {
    politeness: Politeness,
    scope: Scope,
    pub(crate) seen: UrlSeen,
    budget: Budget,
    pub(crate) robots: RobotsStage,
    pub(crate) ready: Ready,
    pub(crate) bench: Workbench,
    pub(crate) refused: BTreeMap<Refusal, u64>,
    robots_number_next: u64,
    /// Waits to be taken by [`Frontier::take_sitemaps`].
    sitemaps: Vec<Sitemaps>,
}

impl Frontier {
    /// An empty frontier.
    pub fn new(options: FrontierOptions) -> Frontier {
        Frontier {
            politeness: options.politeness,
            scope: options.scope,
            seen: UrlSeen::default(),
            budget: Budget::default(),
            robots: RobotsStage::new(&options.product_token),
            ready: Ready::default(),
            bench: Workbench::default(),
            refused: BTreeMap::new(),
            robots_number_next: 0,
            sitemaps: Vec::new(),
        }
    }

    /// Makes a seed's surroundings part of the scope.
    pub fn include(&mut self, seed: &WebUrl) {
        self.scope.include(seed);
    }

    /// Makes a seed part of the scope and submits it.
    pub fn seed(&mut self, url: WebUrl, now: Time) {
        self.include(&url);
        self.submit(vec![Link::page(url, 0)], now);
    }

    /// Takes in links in the order they were found.
    pub fn submit(&mut self, mut links: Vec<Link>, now: Time) {
        links.retain(|link| match self.scope.refuses(link) {
            None => true,
            Some(refusal) => {
                *self.refused.entry(refusal).or_default() += 1;
                false
            }
        });
        self.seen.check_update(&mut links);
        for link in links {
            let request = self.budget.admit(link);
            self.request(request, now);
        }
    }

    /// From the robots stage on.
    pub(crate) fn request(&mut self, request: Request, now: Time) {
        let passage = self.robots.submit(request, now);
        self.pass(passage, now);
    }

    /// Requests restored from a snapshot keep a full delay's distance from what was asked before it.
    pub(crate) fn restore_request(&mut self, link: Link, attempt: u8, now: Time) {
        self.bench.hold(link.url.host(), now + self.politeness.delay);
        let request = Request { attempt, ..self.budget.admit(link) };
        self.request(request, now);
    }

    fn pass(&mut self, passage: Passage, now: Time) {
        match passage {
            Passage::Pass(request) => self.ready.push(request),
            Passage::Refused(_, refusal) => *self.refused.entry(refusal).or_default() += 1,
            Passage::Wait => {}
            Passage::Ask(url) => {
                let host = url.host().into();
                self.ask(url, host, 0, 0, now);
            }
        }
    }

    fn ask(&mut self, url: WebUrl, host: Box<str>, hops: u8, attempt: u8, now: Time) {
        // Numbered apart and before all pages: a robots.txt holds up everything behind it.
        let number = self.robots_number_next;
        self.robots_number_next += 1;
        let request = Request { url, depth: 0, redirects: 0, target: Target::Page, attempt, number };
        self.bench.add_robots(request, host, hops, now);
    }

    /// What to do now.
    pub fn next(&mut self, now: Time) -> Next {
        while let Some(request) = self.ready.pop(now) {
            self.bench.add(request, now);
        }
        while let Some(visit) = self.bench.next(now) {
            if visit.purpose != Purpose::Page || self.robots.still_passes(&visit.request, now) {
                return Next::Visit(visit);
            }
            // Its rules have expired or changed while it waited. It goes back to the robots stage, and its host is free.
            let host: Box<str> = visit.request.url.host().into();
            self.request(visit.request, now);
            self.bench.release(&host, now, now);
        }
        match [self.bench.due(), self.ready.due()].into_iter().flatten().min() {
            Some(time) => Next::WaitUntil(time),
            None if self.bench.busy() > 0 => Next::WaitForVisits,
            None => Next::Empty,
        }
    }

    /// What [`Frontier::finished`] will say of this outcome: whoever stores what came must do so before.
    pub fn settles(&self, visit: &Visit, outcome: FetchOutcome) -> Settled {
        let retries = outcome.consequence().retries.min(self.politeness.retries_max);
        if visit.request.attempt < retries { Settled::Again } else { Settled::Done }
    }

    /// What the robots.txt files that were read since the last call name as sitemaps. Whether they are asked for is the
    /// caller's choice: they come back as links.
    pub fn take_sitemaps(&mut self) -> Vec<Sitemaps> {
        std::mem::take(&mut self.sitemaps)
    }

    /// Takes a visit back: releases its host, and settles or reschedules its URL.
    pub fn finished(&mut self, finished: Finished, now: Time) -> Settled {
        let Finished { visit, outcome, at, retry_after_s, robots } = finished;
        let consequence = outcome.consequence();
        let attempt = visit.request.attempt;
        let again = self.settles(&visit, outcome) == Settled::Again;
        // A server that names a time knows better than our table.
        let first = retry_after_s.map_or(consequence.wait, Duration::from_secs);
        let wait = first.saturating_mul(1 << attempt.min(16)).min(self.politeness.retry_after_max);
        let host: Box<str> = visit.request.url.host().into();
        match visit.purpose {
            Purpose::Page if again => {
                let request = Request { attempt: attempt + 1, ..visit.request };
                self.ready.defer(request, at + wait);
            }
            Purpose::Page => {}
            Purpose::Robots { host, hops } if again => {
                self.ask(visit.request.url, host, hops, attempt + 1, now);
            }
            Purpose::Robots { host, hops } => match self.robots.answered(&host, hops, outcome, robots, now) {
                Learned::Follow(url) => self.ask(url, host, hops + 1, 0, now),
                Learned::Rules { passages, sitemaps } => {
                    passages.into_iter().for_each(|passage| self.pass(passage, now));
                    self.sitemaps.extend(sitemaps);
                }
            },
        }
        let mut delay = self.politeness.host_delay(self.robots.crawl_delay(&host));
        if consequence.host || retry_after_s.is_some() {
            delay = delay.max(wait);
        }
        self.bench.release(&host, at + delay, now);
        if again { Settled::Again } else { Settled::Done }
    }

    /// Takes back a visit that was given up before it came to anything. The URL waits again, as if never given out; a
    /// robots.txt is asked for anew by the next run, so this is for stops only.
    pub fn abandoned(&mut self, visit: Visit, now: Time) {
        let host: Box<str> = visit.request.url.host().into();
        if visit.purpose == Purpose::Page {
            self.ready.push(visit.request);
        }
        self.bench.release(&host, now + self.politeness.delay, now);
    }

    /// Where the URLs are.
    pub fn counts(&self) -> Counts {
        Counts {
            seen: self.seen.len() as u64,
            queued: (self.robots.waiting() + self.ready.len() + self.bench.queued()) as u64,
            in_flight: self.bench.busy() as u64,
            hosts: self.bench.hosts() as u64,
            refused: self.refused.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RobotsAnswer, ScopeRule};
    use mattock_fetch::Failure;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    fn frontier(delay_ms: u64) -> Frontier {
        Frontier::new(FrontierOptions {
            scope: Scope::new(ScopeRule::Any, None),
            politeness: Politeness { delay: Duration::from_millis(delay_ms), ..Politeness::default() },
            product_token: "mattock".into(),
        })
    }

    fn visit(frontier: &mut Frontier, now: Time) -> Visit {
        match frontier.next(now) {
            Next::Visit(visit) => visit,
            other => panic!("expected a visit, not {other:?}"),
        }
    }

    fn finish(frontier: &mut Frontier, visit: Visit, outcome: FetchOutcome, now: Time) -> Settled {
        let robots = matches!(visit.purpose, Purpose::Robots { .. }).then(|| RobotsAnswer {
            body: Some(b"User-agent: *\nCrawl-delay: 0.3".to_vec()),
            location: None,
        });
        frontier.finished(Finished { visit, outcome, at: now, retry_after_s: None, robots }, now)
    }

    #[test]
    fn robots_first_then_the_page_after_its_crawl_delay() {
        let mut frontier = frontier(100);
        frontier.seed(WebUrl::parse("http://a.com/x").unwrap(), at(0));
        let robots = visit(&mut frontier, at(0));
        assert_eq!(robots.request.url.as_str(), "http://a.com/robots.txt");
        assert_eq!(frontier.next(at(0)), Next::WaitForVisits);
        finish(&mut frontier, robots, FetchOutcome::Answered(200), at(10));
        assert_eq!(frontier.next(at(10)), Next::WaitUntil(at(310)));
        let page = visit(&mut frontier, at(310));
        assert_eq!(page.request.url.as_str(), "http://a.com/x");
        assert_eq!(finish(&mut frontier, page, FetchOutcome::Answered(200), at(320)), Settled::Done);
        assert_eq!(frontier.next(at(320)), Next::Empty);
        assert_eq!(frontier.counts().seen, 1);
    }

    #[test]
    fn failures_are_retried_as_the_table_says_and_then_settled() {
        let mut frontier = frontier(0);
        frontier.seed(WebUrl::parse("http://a.com/x").unwrap(), at(0));
        let robots = visit(&mut frontier, at(0));
        finish(&mut frontier, robots, FetchOutcome::Answered(404), at(0));
        let failed = FetchOutcome::Failed(Failure::Disconnected);
        let mut now = at(0);
        let mut tries = 0;
        loop {
            match frontier.next(now) {
                Next::WaitUntil(time) => now = time,
                Next::Visit(visit) => {
                    tries += 1;
                    if finish(&mut frontier, visit, failed, now) == Settled::Done {
                        break;
                    }
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(tries, 3);
        assert_eq!(now, at(3000), "one second, then two");
        assert_eq!(frontier.next(now), Next::Empty);
    }

    #[test]
    fn a_server_that_asks_for_a_pause_gets_it() {
        let mut frontier = frontier(0);
        let link = |path: &str| Link::page(WebUrl::parse(&format!("http://a.com/{path}")).unwrap(), 0);
        frontier.submit(vec![link("1"), link("2")], at(0));
        let robots = visit(&mut frontier, at(0));
        finish(&mut frontier, robots, FetchOutcome::Answered(404), at(0));
        let busy = visit(&mut frontier, at(0));
        let outcome = FetchOutcome::Answered(503);
        let finished = Finished { visit: busy, outcome, at: at(0), retry_after_s: Some(30), robots: None };
        assert_eq!(frontier.finished(finished, at(0)), Settled::Again);
        assert_eq!(frontier.next(at(0)), Next::WaitUntil(at(30_000)), "the whole host is left alone");
        assert_eq!(visit(&mut frontier, at(30_000)).request.number, 1, "what did not fail goes first");
    }

    #[test]
    fn what_waits_on_the_bench_is_judged_by_the_rules_of_its_day() {
        let mut frontier = frontier(0);
        let link = |path: &str| Link::page(WebUrl::parse(&format!("http://a.com/{path}")).unwrap(), 0);
        frontier.submit(vec![link("1"), link("2"), link("3")], at(0));
        let robots = visit(&mut frontier, at(0));
        finish(&mut frontier, robots, FetchOutcome::Answered(404), at(0));
        let page = visit(&mut frontier, at(0));
        finish(&mut frontier, page, FetchOutcome::Answered(200), at(0));
        let tomorrow = at(24 * 3600 * 1000);
        let mut robots = visit(&mut frontier, tomorrow);
        assert_eq!(robots.request.url.as_str(), "http://a.com/robots.txt", "not page 2");
        assert_eq!(frontier.counts().queued, 2, "which waits like page 3");
        robots.request.attempt = 9;
        let body = Some(b"User-agent: *\nDisallow: /2".to_vec());
        let answer = Some(RobotsAnswer { body, location: None });
        let outcome = FetchOutcome::Answered(200);
        let finished = Finished { visit: robots, outcome, at: tomorrow, retry_after_s: None, robots: answer };
        frontier.finished(finished, tomorrow);
        assert_eq!(visit(&mut frontier, tomorrow).request.url.as_str(), "http://a.com/3");
        assert_eq!(frontier.counts().refused[&Refusal::Robots], 1);
    }

    #[test]
    fn refusals_are_counted_by_reason() {
        let mut frontier = Frontier::new(FrontierOptions {
            scope: Scope::new(ScopeRule::Host, Some(0)),
            politeness: Politeness::default(),
            product_token: "mattock".into(),
        });
        frontier.seed(WebUrl::parse("http://a.com/").unwrap(), at(0));
        let link = |url: &str, depth| Link::page(WebUrl::parse(url).unwrap(), depth);
        frontier.submit(
            vec![link("http://b.com/", 0), link("http://a.com/x", 1), link("http://a.com/", 0)],
            at(0),
        );
        let counts = frontier.counts();
        assert_eq!(counts.refused[&Refusal::Scope], 1);
        assert_eq!(counts.refused[&Refusal::Depth], 1);
        assert_eq!((counts.seen, counts.queued), (1, 1), "the page; its robots.txt does not count");
    }
}
