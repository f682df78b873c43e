//! Connections are shared out by standing: hosts that hang cannot have all of them.

use std::collections::BTreeMap;
use std::time::Duration;

use mattock_env::Time;
use mattock_fetch::{Failure, FetchOutcome};
use mattock_frontier::{Finished, Frontier, Next, Purpose, RobotsAnswer, Visit};
use proptest::prelude::*;

use crate::world::{at, link, ms, open, options, plain, simulate};

/// How a host behaves.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Quick,
    /// Answers well, but late.
    Slow,
    /// Its pages hang from this one on, and then fail.
    HangsFrom(u32),
}

/// What a host has shown: as the frontier should see it, told anew from what happened.
#[derive(Default)]
struct Shown {
    robots: bool,
    pages: u32,
    asked: u32,
}

impl Shown {
    fn standing(&self) -> usize {
        if self.pages == 0 { usize::from(self.robots) } else { (self.pages as usize + 1).min(4) }
    }
}

fn took(kind: Kind, visit: &Visit, asked: u32) -> (Duration, bool) {
    match kind {
        _ if visit.purpose != Purpose::Page => (ms(10), true),
        Kind::Quick => (ms(20), true),
        Kind::Slow => (ms(3000), true),
        Kind::HangsFrom(first) if asked < first => (ms(20), true),
        Kind::HangsFrom(_) => (ms(20_000), false),
    }
}

fn finish(frontier: &mut Frontier, visit: Visit, well: bool, took: Duration, now: Time) {
    let robots = visit.purpose != Purpose::Page;
    let outcome = match well {
        true => FetchOutcome::Answered(if robots { 404 } else { 200 }),
        false => FetchOutcome::Failed(Failure::FirstByteTimeout),
    };
    let robots = robots.then_some(RobotsAnswer { body: None, location: None });
    let finished = Finished { visit, outcome, at: now, took, retry_after_s: None, robots, content: None };
    frontier.finished(finished, now).unwrap();
}

struct UnderWay {
    begun: Time,
    ends: Time,
    standing: usize,
    well: bool,
    visit: Visit,
}

/// Crawls with so many connections until nothing is left, and checks the shares at every step. When the last page of a quick host
/// was visited.
fn crawl(kinds: &[Kind], pages: u32, connections: usize) -> Time {
    simulate(|env| {
        let mut frontier = open(&env, options(plain(100)));
        frontier.share_connections(connections);
        let shares = [4, 3, 2, 1, 0].map(|kept| connections - connections * kept / 8);
        let mut links = Vec::new();
        for page in 0..pages {
            links.extend((0..kinds.len()).map(|host| link(&format!("http://h{host}.com/{page}"))));
        }
        frontier.submit(&links, None).unwrap();
        let (mut now, mut quick_done, mut same_time) = (at(0), at(0), 0);
        let mut shown: BTreeMap<usize, Shown> = BTreeMap::new();
        let mut under_way: Vec<UnderWay> = Vec::new();
        loop {
            let full = under_way.len() >= connections;
            let until = match if full { Next::WaitForVisits } else { frontier.next(now).unwrap() } {
                Next::Visit(visit) => {
                    let name = visit.request.url.host_name();
                    let host: usize = name[1..name.len() - 4].parse().unwrap();
                    let shown = shown.entry(host).or_default();
                    let (took, well) = took(kinds[host], &visit, shown.asked);
                    shown.asked += u32::from(visit.is_page());
                    if matches!(kinds[host], Kind::Quick) {
                        quick_done = now + took;
                    }
                    let standing = shown.standing();
                    under_way.push(UnderWay { begun: now, ends: now + took, standing, well, visit });
                    for (level, share) in shares.into_iter().enumerate().skip(standing) {
                        let late =
                            |visit: &&UnderWay| visit.begun + ms(2000) < now || visit.standing <= level;
                        let busy = under_way.iter().filter(late).count();
                        assert!(busy <= share, "{busy} of {share} at {level} when {host} begins at {now:?}");
                    }
                    continue;
                }
                Next::Empty => return quick_done,
                Next::WaitUntil(time) => Some(time),
                Next::WaitForVisits => {
                    assert!(!under_way.is_empty(), "nothing is under way that could be waited for");
                    None
                }
                Next::Resolve(host) => panic!("{host:?} need not be found"),
            };
            let first = under_way.iter().map(|visit| visit.ends).min();
            let next = until.into_iter().chain(first).min().unwrap();
            // Stages in the background may want to be asked again, but not without end.
            same_time = if next > now { 0 } else { same_time + 1 };
            assert!(same_time < 10_000, "it spins");
            now = now.max(next);
            let (done, rest) = under_way.into_iter().partition(|visit| visit.ends <= now);
            under_way = rest;
            let done: Vec<UnderWay> = done;
            for UnderWay { begun, ends, well, visit, .. } in done {
                let name = visit.request.url.host_name();
                let host: usize = name[1..name.len() - 4].parse().unwrap();
                let shown = shown.entry(host).or_default();
                match well && ends.since(begun) <= ms(2000) {
                    false => (shown.robots, shown.pages) = (false, 0),
                    true if visit.is_page() => shown.pages += 1,
                    true => shown.robots = true,
                }
                finish(&mut frontier, visit, well, ends.since(begun), now);
            }
        }
    })
}

#[test]
fn hosts_that_hang_leave_room_for_those_that_do_not() {
    let mut kinds = vec![Kind::Quick; 4];
    kinds.extend([Kind::HangsFrom(1); 60]);
    kinds.extend([Kind::HangsFrom(0); 60]);
    let done = crawl(&kinds, 20, 32);
    assert!(done < at(20_000), "before the first that hangs has come to an end: {done:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn shares_are_kept_and_everything_is_visited(
        kinds in proptest::collection::vec(
            prop_oneof![Just(Kind::Quick), Just(Kind::Slow), (0u32..5).prop_map(Kind::HangsFrom)],
            1..30,
        ),
        pages in 1u32..8,
        connections in 1usize..20,
    ) {
        crawl(&kinds, pages, connections);
    }
}
