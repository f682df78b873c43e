//! Holds the URLs of a host until its robots.txt is known, then passes or refuses them.
//!
//! Filled by the budget stage, emptied into `ready`. A host is asked once while its rules hold (24 hours, RFC 9309
//! §2.4); the URLs that come meanwhile wait here in their order. Redirects of robots.txt are followed up to five
//! times, each hop as a polite visit to the host it leads to; the rules then hold for the host that was asked first.
//!
//! What was passed and still waits to be visited is asked about again ([`RobotsStage::still_passes`]): rules that have
//! expired must be fetched anew first, and those that came may say no. If they cannot be had, the old ones hold on, as RFC
//! 9309 §2.4 permits.

use std::collections::HashMap;
use std::time::Duration;

use mattock_env::Time;
use mattock_fetch::FetchOutcome;
use mattock_robots::{Access, DisallowReason, Robots, access_for_status};
use mattock_weburl::WebUrl;

use crate::{Refusal, Request, RobotsAnswer, Sitemaps};

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
    /// The rules are known.
    Rules {
        /// Requests that waited for them.
        passages: Vec<Passage>,
        /// What the file names as sitemaps.
        sitemaps: Option<Sitemaps>,
    },
}

#[derive(Debug)]
enum State {
    /// `before`: the rules that have expired, if there were any.
    Asked { waiting: Vec<Request>, before: Option<Box<Robots>> },
    /// `renewed`: requests may have been passed by other rules than these.
    Known { robots: Box<Robots>, expires: Time, renewed: bool },
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
            Some(State::Known { robots, expires, .. }) if *expires > now => judge(robots, request),
            Some(State::Asked { waiting, .. }) => {
                waiting.push(request);
                self.waiting += 1;
                Passage::Wait
            }
            _ => self.ask(request),
        }
    }

    fn ask(&mut self, request: Request) -> Passage {
        let Some(url) = robots_url(&request.url) else {
            return Passage::Refused(request, Refusal::RobotsUnreachable);
        };
        let host: Box<str> = request.url.host().into();
        let before = match self.hosts.remove(&host) {
            Some(State::Known { robots, .. }) if robots.disallow_reason().is_none() => Some(robots),
            _ => None,
        };
        self.hosts.insert(host, State::Asked { waiting: vec![request], before });
        self.waiting += 1;
        Passage::Ask(url)
    }

    /// Whether a request that was passed may still be made. If not, it must be submitted again.
    pub fn still_passes(&self, request: &Request, now: Time) -> bool {
        match self.hosts.get(request.url.host()) {
            Some(State::Known { robots, expires, renewed }) => {
                *expires > now && (!renewed || robots.allows(request.url.path_and_query()))
            }
            _ => false,
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
        let (waiting, before) = match self.hosts.remove(host) {
            Some(State::Asked { waiting, before }) => (waiting, before),
            _ => (Vec::new(), None),
        };
        self.waiting -= waiting.len();
        let renewed = before.is_some();
        let (mut robots, valid) = match (status.map(access_for_status), body, before) {
            (Some(Access::Rules), Some(body), _) => {
                (Box::new(Robots::parse(&body, &self.product_token)), VALID)
            }
            (Some(Access::AllowAll), _, _) => (Box::new(Robots::allow_all()), VALID),
            (_, _, Some(before)) => (before, VALID_UNREACHABLE),
            _ => (Box::new(Robots::disallow_all(DisallowReason::Unreachable)), VALID_UNREACHABLE),
        };
        let urls = robots.take_sitemaps();
        let depth = waiting.iter().map(|request| request.depth).min().unwrap_or_default();
        let sitemaps = (!urls.is_empty()).then(|| Sitemaps { host: host.into(), depth, urls });
        let passages = waiting.into_iter().map(|request| judge(&robots, request)).collect();
        self.hosts.insert(host.into(), State::Known { robots, expires: now + valid, renewed });
        Learned::Rules { passages, sitemaps }
    }

    /// The Crawl-delay that a host asks for.
    pub fn crawl_delay(&self, host: &str) -> Option<Duration> {
        match self.hosts.get(host) {
            Some(State::Known { robots, .. } | State::Asked { before: Some(robots), .. }) => {
                robots.crawl_delay()
            }
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
            State::Asked { waiting, .. } => waiting.as_slice(),
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
    use crate::Link;
    use crate::budget::Budget;
    use mattock_fetch::Failure;

    fn passages(learned: Learned) -> Vec<Passage> {
        match learned {
            Learned::Rules { passages, .. } => passages,
            Learned::Follow(url) => panic!("follow {url}"),
        }
    }

    fn request(url: &str) -> Request {
        Budget::default().admit(Link::page(WebUrl::parse(url).unwrap(), 0))
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
        assert_eq!(passages(learned), expected);
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
            let learned = stage.answered(HOST, 0, outcome, rules(""), Time::ZERO);
            let passed = matches!(passages(learned)[..], [Passage::Pass(_)]);
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
        assert_eq!(passages(learned), [refused]);
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
        assert!(matches!(passages(learned)[..], [Passage::Pass(_)]));
    }

    #[test]
    fn what_was_passed_is_judged_again_when_the_rules_are_old() {
        let mut stage = RobotsStage::new("mattock");
        let page = request("http://a.com/1");
        let day_later = Time::ZERO + VALID;
        stage.submit(page.clone(), Time::ZERO);
        let mild = rules("User-agent: *\nCrawl-delay: 9\n");
        stage.answered(HOST, 0, FetchOutcome::Answered(200), mild, Time::ZERO);
        assert!(stage.still_passes(&page, Time::ZERO));
        assert!(!stage.still_passes(&page, day_later), "nobody knows");
        assert!(matches!(stage.submit(page.clone(), day_later), Passage::Ask(_)));
        assert!(!stage.still_passes(&page, day_later), "it waits");
        assert_eq!(stage.crawl_delay(HOST), Some(Duration::from_secs(9)), "the old delay holds on");
        let strict = rules("User-agent: *\nDisallow: /1\n");
        let learned = stage.answered(HOST, 0, FetchOutcome::Answered(200), strict, day_later);
        assert_eq!(passages(learned), [Passage::Refused(page.clone(), Refusal::Robots)]);
        assert!(!stage.still_passes(&page, day_later));
        assert!(stage.still_passes(&request("http://a.com/2"), day_later));
    }

    #[test]
    fn old_rules_hold_on_while_new_ones_cannot_be_had() {
        let mut stage = RobotsStage::new("mattock");
        let (good, bad) = (request("http://a.com/1"), request("http://a.com/private/"));
        stage.submit(good.clone(), Time::ZERO);
        let private = rules("User-agent: *\nDisallow: /private/\n");
        stage.answered(HOST, 0, FetchOutcome::Answered(200), private, Time::ZERO);
        let later = Time::ZERO + VALID;
        stage.submit(good.clone(), later);
        stage.submit(bad.clone(), later);
        let learned = stage.answered(HOST, 0, FetchOutcome::Answered(503), None, later);
        let expected = [Passage::Pass(good.clone()), Passage::Refused(bad, Refusal::Robots)];
        assert_eq!(passages(learned), expected);
        assert!(!stage.still_passes(&good, later + VALID_UNREACHABLE), "asked again before long");
    }

    #[test]
    fn sitemaps_are_handed_on_once_beside_the_first_page() {
        let mut stage = RobotsStage::new("mattock");
        let deep = |path: &str, depth| Request { depth, ..request(path) };
        stage.submit(deep("http://a.com/1", 7), Time::ZERO);
        stage.submit(deep("http://a.com/2", 4), Time::ZERO);
        let answer = rules("Sitemap: /s.xml\nSitemap: http://b.com/s.xml\n");
        let learned = stage.answered(HOST, 0, FetchOutcome::Answered(200), answer, Time::ZERO);
        let Learned::Rules { sitemaps, .. } = learned else { panic!("{learned:?}") };
        let urls = vec!["/s.xml".to_owned(), "http://b.com/s.xml".to_owned()];
        assert_eq!(sitemaps, Some(Sitemaps { host: HOST.into(), depth: 4, urls }));
    }
}
