//! Holds the URLs of a host until its robots.txt is known, then passes or refuses them.
//!
//! Filled by the budget stage, emptied into `ready`. A host is asked once while its rules hold (24 hours, RFC 9309
//! §2.4); the URLs that come meanwhile wait here in their order. Redirects of robots.txt are followed up to five
//! times, each hop as a polite visit to the host it leads to; the rules then hold for the host that was asked first.

use std::collections::HashMap;
use std::time::Duration;

use mattock_env::Time;
use mattock_fetch::FetchOutcome;
use mattock_robots::{Access, DisallowReason, Robots, access_for_status};
use mattock_weburl::WebUrl;

use crate::{Refusal, Request, RobotsAnswer};

/// How long rules hold.
const VALID: Duration = Duration::from_secs(24 * 3600);
/// How long a host whose robots.txt could not be had is left alone.
const VALID_UNREACHABLE: Duration = Duration::from_secs(3600);
const HOPS_MAX: u8 = 5;

/// What becomes of a request here.
#[derive(Debug, PartialEq, Eq)]
pub enum Passage {
    /// It may be fetched.
    Pass(Request),
    /// It may not.
    Refused(Request, Refusal),
    /// It waits, and this robots.txt must be fetched for it.
    Ask(WebUrl),
    /// It waits for a robots.txt that was asked for already.
    Wait,
}

/// What becomes of an answer to a robots.txt request.
#[derive(Debug, PartialEq, Eq)]
pub enum Learned {
    /// It redirects: fetch this next.
    Follow(WebUrl),
    /// The rules are known; these requests waited for them.
    Rules(Vec<Passage>),
}

#[derive(Debug)]
enum State {
    Asked { waiting: Vec<Request> },
    Known { robots: Box<Robots>, expires: Time },
}

/// The stage; one entry per host.
#[derive(Debug)]
pub struct RobotsStage {
    product_token: String,
    hosts: HashMap<Box<str>, State>,
    waiting: usize,
}

impl RobotsStage {
    /// A stage that obeys the rules for this product token.
    pub fn new(product_token: &str) -> RobotsStage {
        RobotsStage { product_token: product_token.to_owned(), hosts: HashMap::new(), waiting: 0 }
    }

    /// Judges a request, or makes it wait.
    pub fn submit(&mut self, request: Request, now: Time) -> Passage {
        match self.hosts.get_mut(request.url.host()) {
            Some(State::Known { robots, expires }) if *expires > now => judge(robots, request),
            Some(State::Asked { waiting }) => {
                waiting.push(request);
                self.waiting += 1;
                Passage::Wait
            }
            _ => match robots_url(&request.url) {
                Some(url) => {
                    self.hosts.insert(request.url.host().into(), State::Asked { waiting: vec![request] });
                    self.waiting += 1;
                    Passage::Ask(url)
                }
                None => Passage::Refused(request, Refusal::RobotsUnreachable),
            },
        }
    }

    /// Takes in what came of asking for the robots.txt of `host`.
    pub fn answered(
        &mut self,
        host: &str,
        hops: u8,
        outcome: FetchOutcome,
        answer: Option<RobotsAnswer>,
        now: Time,
    ) -> Learned {
        let status = outcome.status();
        let (body, location) = answer.map_or((None, None), |answer| (answer.body, answer.location));
        if let (Some(300..400), Some(location)) = (status, location)
            && hops < HOPS_MAX
        {
            return Learned::Follow(location);
        }
        let robots = match (status.map(access_for_status), body) {
            (Some(Access::Rules), Some(body)) => Robots::parse(&body, &self.product_token),
            (Some(Access::AllowAll), _) => Robots::allow_all(),
            _ => Robots::disallow_all(DisallowReason::Unreachable),
        };
        let valid = if robots.disallow_reason().is_some() { VALID_UNREACHABLE } else { VALID };
        let known = State::Known { robots: Box::new(robots), expires: now + valid };
        let Some(State::Asked { waiting }) = self.hosts.insert(host.into(), known) else {
            return Learned::Rules(Vec::new());
        };
        self.waiting -= waiting.len();
        let Some(State::Known { robots, .. }) = self.hosts.get(host) else {
            return Learned::Rules(Vec::new());
        };
        Learned::Rules(waiting.into_iter().map(|request| judge(robots, request)).collect())
    }

    /// The Crawl-delay that a host asks for.
    pub fn crawl_delay(&self, host: &str) -> Option<Duration> {
        match self.hosts.get(host) {
            Some(State::Known { robots, .. }) => robots.crawl_delay(),
            _ => None,
        }
    }

    /// Requests that wait for a robots.txt.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// Those requests, host by host in no particular order.
    pub fn requests(&self) -> impl Iterator<Item = &Request> {
        self.hosts.values().flat_map(|state| match state {
            State::Asked { waiting } => waiting.as_slice(),
            State::Known { .. } => &[],
        })
    }
}

fn judge(robots: &Robots, request: Request) -> Passage {
    if robots.allows(request.url.path_and_query()) {
        return Passage::Pass(request);
    }
    let refusal =
        if robots.disallow_reason().is_some() { Refusal::RobotsUnreachable } else { Refusal::Robots };
    Passage::Refused(request, refusal)
}

fn robots_url(url: &WebUrl) -> Option<WebUrl> {
    WebUrl::parse(&format!("{}/robots.txt", url.host())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mattock_fetch::Failure;

    fn request(url: &str) -> Request {
        Request { url: WebUrl::parse(url).unwrap(), depth: 0, attempt: 0, number: 0 }
    }

    fn rules(text: &str) -> Option<RobotsAnswer> {
        Some(RobotsAnswer { body: Some(text.as_bytes().to_vec()), location: None })
    }

    const HOST: &str = "http://a.com";

    #[test]
    fn urls_wait_until_their_host_has_answered() {
        let mut stage = RobotsStage::new("mattock");
        let (one, two) = (request("http://a.com/private/1"), request("http://a.com/2"));
        let asked = WebUrl::parse("http://a.com/robots.txt").unwrap();
        assert_eq!(stage.submit(one.clone(), Time::ZERO), Passage::Ask(asked));
        assert_eq!(stage.submit(two.clone(), Time::ZERO), Passage::Wait);
        assert_eq!(stage.waiting(), 2);
        let answer = rules("User-agent: *\nDisallow: /private/\nCrawl-delay: 7\n");
        let learned = stage.answered(HOST, 0, FetchOutcome::Answered(200), answer, Time::ZERO);
        let expected = vec![Passage::Refused(one.clone(), Refusal::Robots), Passage::Pass(two.clone())];
        assert_eq!(learned, Learned::Rules(expected));
        assert_eq!(stage.waiting(), 0);
        assert_eq!(stage.crawl_delay(HOST), Some(Duration::from_secs(7)));
        assert_eq!(stage.submit(two.clone(), Time::ZERO), Passage::Pass(two.clone()));
        assert!(matches!(stage.submit(two, Time::ZERO + VALID), Passage::Ask(_)), "rules expire");
    }

    #[test]
    fn an_unreachable_robots_txt_forbids_and_a_missing_one_allows() {
        for (outcome, allowed) in [
            (FetchOutcome::Answered(404), true),
            (FetchOutcome::Answered(403), true),
            (FetchOutcome::Answered(503), false),
            (FetchOutcome::Answered(429), false),
            (FetchOutcome::Failed(Failure::Disconnected), false),
        ] {
            let mut stage = RobotsStage::new("mattock");
            stage.submit(request("http://a.com/1"), Time::ZERO);
            let Learned::Rules(passages) = stage.answered(HOST, 0, outcome, rules(""), Time::ZERO) else {
                panic!("{outcome}");
            };
            let passed = matches!(passages[..], [Passage::Pass(_)]);
            assert_eq!(passed, allowed, "{outcome}");
        }
    }

    #[test]
    fn a_file_that_did_not_come_whole_permits_nothing() {
        let mut stage = RobotsStage::new("mattock");
        stage.submit(request("http://a.com/1"), Time::ZERO);
        let cut = Some(RobotsAnswer { body: None, location: None });
        let learned = stage.answered(HOST, 0, FetchOutcome::Answered(200), cut, Time::ZERO);
        let refused = Passage::Refused(request("http://a.com/1"), Refusal::RobotsUnreachable);
        assert_eq!(learned, Learned::Rules(vec![refused]));
    }

    #[test]
    fn redirects_are_followed_five_times() {
        let mut stage = RobotsStage::new("mattock");
        stage.submit(request("http://a.com/1"), Time::ZERO);
        let target = WebUrl::parse("http://b.com/robots.txt").unwrap();
        let answer = || Some(RobotsAnswer { body: None, location: Some(target.clone()) });
        for hops in 0..HOPS_MAX {
            let learned = stage.answered(HOST, hops, FetchOutcome::Answered(301), answer(), Time::ZERO);
            assert_eq!(learned, Learned::Follow(target.clone()));
        }
        let learned = stage.answered(HOST, HOPS_MAX, FetchOutcome::Answered(301), answer(), Time::ZERO);
        assert!(matches!(learned, Learned::Rules(passages) if matches!(passages[..], [Passage::Pass(_)])));
    }
}
