//! Nothing is lost and nothing waits for ever where hosts run dry, die, are blocked, or are many.

use std::time::Duration;

use mattock_env::Time;
use mattock_fetch::{Failure, FetchOutcome};
use mattock_frontier::blocklist::Blocklist;
use mattock_frontier::{Frontier, FrontierOptions, Next, Refusal};

use crate::world::*;

/// Visits until nothing is left, each answered at once by `outcome`; pages that were done, and how long it took.
fn run(
    frontier: &mut Frontier,
    robots: &str,
    outcome: impl Fn(&str) -> FetchOutcome,
) -> (Vec<String>, Duration) {
    let (mut now, mut pages) = (at(0), Vec::new());
    loop {
        match frontier.next(now).unwrap() {
            Next::Visit(visit) if visit.is_page() => {
                let url = visit.request.url.to_string();
                finish_with(frontier, visit, outcome(&url), robots, now);
                pages.push(url);
            }
            Next::Visit(visit) => {
                finish_with(frontier, visit, FetchOutcome::Answered(200), robots, now);
            }
            Next::WaitUntil(time) => now = time.max(now + Duration::from_nanos(1)),
            Next::Empty => return (pages, now.since(Time::ZERO)),
            other => panic!("nothing is under way, and nobody is looked up: {other:?}"),
        }
    }
}

#[test]
fn what_is_forbidden_does_not_hide_what_is_behind_it_on_disk() {
    simulate(|env| {
        let mut frontier = open(&env, options(plain(0)));
        let url = |number| format!("http://a.com/{}/{number}", if number < 9_000 { "no" } else { "yes" });
        let links: Vec<_> = (0..10_000).map(|number| link(&url(number))).collect();
        frontier.submit(&links, None).unwrap();
        let (pages, _) =
            run(&mut frontier, "User-agent: *\nDisallow: /no/\n", |_| FetchOutcome::Answered(200));
        assert_eq!(pages.len(), 1_000);
        assert_eq!(frontier.counts().refused.get(&Refusal::Robots), Some(&9_000));
    });
}

#[test]
fn a_host_that_has_died_does_not_keep_the_crawl_alive() {
    simulate(|env| {
        let mut frontier = open(&env, options(plain(100)));
        let links: Vec<_> = (0..500).map(|number| link(&format!("http://a.com/{number}"))).collect();
        frontier.submit(&links, None).unwrap();
        let (tried, took) = run(&mut frontier, "", |_| FetchOutcome::Failed(Failure::Refused));
        assert!(tried.len() < 30, "{}", tried.len());
        assert!(took < Duration::from_secs(2 * 3600), "{took:?}");
        let failed = frontier.take_failed().len() as u64;
        let refused = frontier.counts().refused.get(&Refusal::RobotsUnreachable).copied().unwrap_or(0);
        assert!(failed + refused >= 490, "{failed} failed, {refused} refused");
        assert_eq!(frontier.counts().queued, 0);
    });
}

#[test]
fn hosts_of_a_domain_are_tried_a_few_at_a_time_and_none_is_forgotten() {
    simulate(|env| {
        let mut frontier = open(&env, options(plain(1_000)));
        let links: Vec<_> = (0..300).map(|number| link(&format!("http://h{number}.a.com/"))).collect();
        frontier.submit(&links, None).unwrap();
        frontier.submit(&[link("http://b.com/")], None).unwrap();
        let mut first = Vec::new();
        while let Next::Visit(visit) = next(&mut frontier, at(0)) {
            first.push(visit);
        }
        assert_eq!(first.len(), 8 + 1, "eight of the domain, and the other");
        for visit in first {
            finish(&mut frontier, visit, 404, at(0));
        }
        let (pages, _) = run(&mut frontier, "", |_| FetchOutcome::Answered(200));
        assert_eq!(pages.len(), 301);
    });
}

#[test]
fn who_is_blocked_while_waiting_is_not_visited() {
    simulate(|env| {
        let blocklist = Blocklist::default();
        let mut frontier = open(&env, FrontierOptions { blocklist: blocklist.clone(), ..options(plain(0)) });
        let of = |host: &str, count| -> Vec<_> {
            (0..count).map(|number| link(&format!("http://{host}/{number}"))).collect()
        };
        // More than the bench takes of one host.
        frontier.submit(&of("a.com", 9_000), None).unwrap();
        frontier.submit(&of("b.com", 10), None).unwrap();
        frontier.submit(&of("c.com", 10), None).unwrap();
        for _ in 0..4 {
            let visit = visit(&mut frontier, at(0));
            finish(&mut frontier, visit, 404, at(0));
        }
        blocklist.block("host a.com").unwrap();
        blocklist.block("url http://c.com/5").unwrap();
        let (pages, _) = run(&mut frontier, "", |_| FetchOutcome::Answered(200));
        assert!(pages.iter().all(|url| !url.contains("a.com") && url != "http://c.com/5"), "{pages:?}");
        let counts = frontier.counts();
        assert_eq!(counts.queued, 0);
        let refused = counts.refused[&Refusal::BlockedHost] + counts.refused[&Refusal::BlockedUrl];
        assert!(refused > 8_990 && refused + pages.len() as u64 >= 9_016, "{counts:?}");
    });
}

#[test]
fn a_visit_that_is_over_does_not_wait_until_everything_that_is_ready_was_moved() {
    simulate(|env| {
        let mut frontier = open(&env, options(plain(0)));
        let links: Vec<_> = (0..50_000).map(|number| link(&format!("http://a.com/{number}"))).collect();
        frontier.submit(&links, None).unwrap();
        // The only host is busy with its robots.txt, and everything else that is ready is its.
        let (mut now, mut visit) = (at(0), None);
        let mut moved = 0;
        while moved < 49_000 {
            let before = frontier.stages();
            match frontier.next(now).unwrap() {
                Next::Visit(first) => assert!(visit.replace(first).is_none(), "one at a time"),
                Next::WaitUntil(time) => now = time.max(now + Duration::from_nanos(1)),
                other => panic!("there is more to move: {other:?}"),
            }
            let after = frontier.stages();
            let step = (after.overflow + after.bench).saturating_sub(before.overflow + before.bench);
            assert!(step <= 2_048, "{step} at once");
            moved += step;
        }
        finish_with(&mut frontier, visit.unwrap(), FetchOutcome::Answered(404), "", now);
        let (pages, _) = run(&mut frontier, "", |_| FetchOutcome::Answered(200));
        assert_eq!(pages.len(), 50_000);
    });
}
