//! Rules: asked for first, judged last.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mattock_fetch::{Failure, FetchOutcome};
use mattock_frontier::blocklist::Blocklist;
use mattock_frontier::{Finished, Frontier, FrontierOptions, Next, Refusal, RobotsAnswer, Servers, Settled};
use mattock_weburl::WebUrl;

use crate::world::{at, finish, finish_with, link, ms, next, open, options, plain, simulate, visit};

const DAY_MS: u64 = 24 * 3600 * 1000;

#[test]
fn robots_first_then_the_page_after_its_crawl_delay() {
    simulate(|env| {
        let mut frontier = open(&env, options(plain(100)));
        frontier.submit(&[link("http://a.com/x")], None).unwrap();
        let robots = visit(&mut frontier, at(0));
        assert_eq!(robots.request.url.as_str(), "http://a.com/robots.txt");
        assert_eq!(next(&mut frontier, at(0)), Next::WaitForVisits);
        let rules = "User-agent: *\nCrawl-delay: 0.3";
        finish_with(&mut frontier, robots, FetchOutcome::Answered(200), rules, at(10));
        assert_eq!(next(&mut frontier, at(10)), Next::WaitUntil(at(310)));
        let page = visit(&mut frontier, at(310));
        assert_eq!(page.request.url.as_str(), "http://a.com/x");
        assert_eq!(finish(&mut frontier, page, 200, at(320)), Settled::Done);
        assert_eq!(next(&mut frontier, at(320)), Next::Empty);
        assert_eq!(frontier.counts().accounts.seen, 1);
    });
}

#[test]
fn what_waits_on_the_bench_is_judged_by_the_rules_of_its_day() {
    simulate(|env| {
        let mut frontier = open(&env, options(plain(0)));
        frontier.submit(&["1", "2", "3"].map(|path| link(&format!("http://a.com/{path}"))), None).unwrap();
        let robots = visit(&mut frontier, at(0));
        finish(&mut frontier, robots, 404, at(0));
        let page = visit(&mut frontier, at(0));
        finish(&mut frontier, page, 200, at(0));
        let tomorrow = at(DAY_MS);
        let robots = visit(&mut frontier, tomorrow);
        assert_eq!(robots.request.url.as_str(), "http://a.com/robots.txt", "not page 2");
        assert_eq!(frontier.counts().queued, 2, "which waits like page 3");
        let rules = "User-agent: *\nDisallow: /2";
        finish_with(&mut frontier, robots, FetchOutcome::Answered(200), rules, tomorrow);
        assert_eq!(visit(&mut frontier, tomorrow).request.url.as_str(), "http://a.com/3");
        assert_eq!(frontier.counts().refused[&Refusal::Robots], 1);
    });
}

#[test]
fn old_rules_hold_on_while_new_ones_cannot_be_had() {
    simulate(|env| {
        let mut frontier = open(&env, options(plain(0)));
        frontier
            .submit(&["1", "2", "private/"].map(|path| link(&format!("http://a.com/{path}"))), None)
            .unwrap();
        let robots = visit(&mut frontier, at(0));
        let rules = "User-agent: *\nDisallow: /private/\nCrawl-delay: 9";
        finish_with(&mut frontier, robots, FetchOutcome::Answered(200), rules, at(0));
        let page = visit(&mut frontier, at(9000));
        finish(&mut frontier, page, 200, at(9000));
        let mut robots = visit(&mut frontier, at(DAY_MS));
        robots.request.attempt = 9;
        finish(&mut frontier, robots, 503, at(DAY_MS));
        assert!(matches!(next(&mut frontier, at(DAY_MS + 8999)), Next::WaitUntil(_)), "the old delay");
        let later = at(DAY_MS + 2_100_000);
        assert_eq!(visit(&mut frontier, later).request.url.as_str(), "http://a.com/2");
    });
}

#[test]
fn the_status_of_a_robots_txt_decides_where_its_rules_do_not() {
    for (status, allowed) in [(200, true), (404, true), (410, true), (403, true), (500, false), (503, false)]
    {
        simulate(|env| {
            let mut frontier = open(&env, options(plain(0)));
            frontier.submit(&[link("http://a.com/1")], None).unwrap();
            let mut robots = visit(&mut frontier, at(0));
            robots.request.attempt = 9;
            finish(&mut frontier, robots, status, at(0));
            let page = next(&mut frontier, at(DAY_MS / 100));
            assert_eq!(matches!(page, Next::Visit(_)), allowed, "{status}");
            let refused = frontier.counts().refused.get(&Refusal::RobotsUnreachable).copied();
            assert_eq!(refused, (!allowed).then_some(1), "{status}");
        });
    }
}

/// A domain belongs to one partition, but a redirect leads the other there: they take turns all the same.
#[test]
fn a_redirect_into_another_partition_waits_for_that_host_too() {
    simulate(|env| {
        let servers = Arc::new(Servers::new(Duration::ZERO).with_hosts(ms(1000)));
        let open = |name: &str| {
            Frontier::open(&env, Path::new(name), options(plain(1000)), servers.clone()).unwrap()
        };
        let (mut ours, mut theirs) = (open("/ours"), open("/theirs"));
        ours.submit(&[link("http://a.com/")], None).unwrap();
        theirs.submit(&[link("http://b.com/")], None).unwrap();
        let redirected = visit(&mut ours, at(0));
        let answer =
            RobotsAnswer { body: None, location: Some(WebUrl::parse("http://b.com/robots.txt").unwrap()) };
        let finished = Finished {
            visit: redirected,
            outcome: FetchOutcome::Answered(301),
            at: at(0),
            took: Duration::ZERO,
            retry_after_s: None,
            robots: Some(answer),
            content: None,
        };
        ours.finished(finished, at(0)).unwrap();
        let there = visit(&mut ours, at(0));
        assert_eq!(there.request.url.as_str(), "http://b.com/robots.txt");
        assert!(!matches!(next(&mut theirs, at(0)), Next::Visit(_)), "two at once");
        finish(&mut ours, there, 404, at(500));
        assert!(!matches!(next(&mut theirs, at(1400)), Next::Visit(_)), "too soon");
        let turn = match next(&mut theirs, at(1400)) {
            Next::WaitUntil(time) => time,
            other => panic!("{other:?}"),
        };
        assert!(turn >= at(1500) && turn <= at(3500), "{turn:?}");
        assert_eq!(visit(&mut theirs, turn).request.url.as_str(), "http://b.com/robots.txt");
    });
}

#[test]
fn redirects_are_followed_five_times_and_the_rules_hold_for_who_was_asked() {
    simulate(|env| {
        let mut frontier = open(&env, options(plain(0)));
        frontier.submit(&[link("http://a.com/1"), link("http://a.com/2")], None).unwrap();
        let target = WebUrl::parse("http://b.com/robots.txt").unwrap();
        for hop in 0..=5 {
            let robots = visit(&mut frontier, at(0));
            let asked = if hop == 0 { "http://a.com/robots.txt" } else { "http://b.com/robots.txt" };
            assert_eq!(robots.request.url.as_str(), asked);
            let last = hop == 5;
            let answer = RobotsAnswer {
                body: last.then(|| b"User-agent: *\nDisallow: /1".to_vec()),
                location: (!last).then(|| target.clone()),
            };
            frontier
                .finished(
                    Finished {
                        visit: robots,
                        content: None,
                        outcome: FetchOutcome::Answered(if last { 200 } else { 301 }),
                        at: at(0),
                        took: Duration::ZERO,
                        retry_after_s: None,
                        robots: Some(answer),
                    },
                    at(0),
                )
                .unwrap();
        }
        assert_eq!(visit(&mut frontier, at(0)).request.url.as_str(), "http://a.com/2");
    });
}

#[test]
fn urls_of_a_host_that_cannot_be_reached_fail_by_its_failure() {
    simulate(|env| {
        let mut frontier = open(&env, options(plain(0)));
        frontier.submit(&["1", "2"].map(|path| link(&format!("http://a.com/{path}"))), None).unwrap();
        let mut now = at(0);
        let refused = FetchOutcome::Failed(Failure::Refused);
        let mut tries = 0;
        loop {
            match next(&mut frontier, now) {
                Next::WaitUntil(time) => now = time,
                Next::Visit(visit) => {
                    tries += 1;
                    finish_with(&mut frontier, visit, refused, "", now);
                }
                Next::Empty => break,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(tries, 3);
        let failed = frontier.take_failed();
        assert_eq!(failed.iter().map(|(_, outcome)| *outcome).collect::<Vec<_>>(), [refused, refused]);
        // Within the hour nobody asks again.
        frontier.submit(&[link("http://a.com/3")], None).unwrap();
        assert_eq!(next(&mut frontier, at(60_000)), Next::Empty);
        assert_eq!(frontier.counts().refused[&Refusal::RobotsUnreachable], 1);
    });
}

#[test]
fn sitemaps_are_handed_on_once_beside_the_first_page() {
    simulate(|env| {
        let mut frontier = open(&env, options(plain(0)));
        let deep = |path: &str, depth| mattock_frontier::Link { depth, ..link(path) };
        frontier.submit(&[deep("http://a.com/1", 7), deep("http://a.com/2", 4)], None).unwrap();
        let robots = visit(&mut frontier, at(0));
        finish_with(&mut frontier, robots, FetchOutcome::Answered(200), "Sitemap: /s.xml\n", at(0));
        let sitemaps = frontier.take_sitemaps();
        assert_eq!(
            (sitemaps.len(), sitemaps[0].depth, &sitemaps[0].urls[..]),
            (1, 4, &["/s.xml".to_owned()][..])
        );
        assert!(frontier.take_sitemaps().is_empty());
    });
}

/// Answers a visit for a robots.txt with a redirect.
fn redirect(frontier: &mut Frontier, visit: mattock_frontier::Visit, to: &str) {
    let answer = RobotsAnswer { body: None, location: Some(WebUrl::parse(to).unwrap()) };
    let finished = Finished {
        visit,
        outcome: FetchOutcome::Answered(301),
        at: at(0),
        took: Duration::ZERO,
        retry_after_s: None,
        robots: Some(answer),
        content: None,
    };
    frontier.finished(finished, at(0)).unwrap();
}

/// Asks for a.com, whose robots.txt redirects to something of b.com, whose own rules these are: the URLs that are visited, and the pages that
/// are refused because no rules can be had.
fn visits_of_a_redirect(target: &str, rules: &str) -> (Vec<String>, Option<u64>) {
    simulate(|env| {
        let mut visited = Vec::new();
        let mut frontier = open(&env, options(plain(0)));
        frontier.submit(&[link("http://a.com/1")], None).unwrap();
        while let Next::Visit(visit) = next(&mut frontier, at(0)) {
            visited.push(visit.request.url.as_str().to_owned());
            let answered = FetchOutcome::Answered(200);
            match visit.request.url.as_str() {
                "http://a.com/robots.txt" => redirect(&mut frontier, visit, target),
                "http://b.com/robots.txt" => drop(finish_with(&mut frontier, visit, answered, rules, at(0))),
                _ => drop(finish_with(&mut frontier, visit, answered, "", at(0))),
            }
        }
        assert_eq!(frontier.counts().queued, 0);
        (visited, frontier.counts().refused.get(&Refusal::RobotsUnreachable).copied())
    })
}

#[test]
fn a_redirect_leads_to_what_the_other_host_allows_and_nowhere_else() {
    let forbids = "User-agent: *\nDisallow: /private/";
    let (visited, refused) = visits_of_a_redirect("http://b.com/private/x?delete=1", forbids);
    assert_eq!(visited, ["http://a.com/robots.txt", "http://b.com/robots.txt"]);
    assert_eq!(refused, Some(1), "nothing is fetched where no rules can be had");
    let (visited, refused) = visits_of_a_redirect("http://b.com/rules/of-a.txt", forbids);
    let all = [
        "http://a.com/robots.txt",
        "http://b.com/robots.txt",
        "http://b.com/rules/of-a.txt",
        "http://a.com/1",
    ];
    assert_eq!((&visited[..], refused), (&all.map(str::to_owned)[..], None));
    // Everybody's own rules may be had, and on its own host a robots.txt may be anywhere.
    let (visited, _) = visits_of_a_redirect("http://b.com/robots.txt", "User-agent: *\nDisallow: /");
    assert_eq!(visited, ["http://a.com/robots.txt", "http://b.com/robots.txt"]);
    let (visited, _) = visits_of_a_redirect("http://a.com/rules.txt", "");
    assert_eq!(visited, ["http://a.com/robots.txt", "http://a.com/rules.txt", "http://a.com/1"]);
}

#[test]
fn hosts_whose_rules_wait_for_each_other_have_none() {
    simulate(|env| {
        let mut frontier = open(&env, options(plain(0)));
        frontier.submit(&["a", "b", "c"].map(|host| link(&format!("http://{host}.com/1"))), None).unwrap();
        let mut visited = Vec::new();
        while let Next::Visit(visit) = next(&mut frontier, at(0)) {
            let url = visit.request.url.as_str().to_owned();
            let target = match url.as_str() {
                "http://a.com/robots.txt" => "http://b.com/x",
                "http://b.com/robots.txt" => "http://c.com/x",
                "http://c.com/robots.txt" => "http://a.com/x",
                other => panic!("{other}"),
            };
            redirect(&mut frontier, visit, target);
            visited.push(url);
        }
        assert_eq!(visited.len(), 3, "{visited:?}");
        assert_eq!(frontier.counts().refused[&Refusal::RobotsUnreachable], 3);
        assert_eq!(frontier.counts().queued, 0);
    });
}

#[test]
fn a_redirect_to_a_blocked_host_is_not_followed() {
    for target in ["http://b.com/robots.txt", "http://b.com/x"] {
        simulate(|env| {
            let blocklist = Blocklist::default();
            blocklist.block("host b.com").unwrap();
            let options = FrontierOptions { blocklist, ..options(plain(0)) };
            let mut frontier = open(&env, options);
            frontier.submit(&[link("http://a.com/1")], None).unwrap();
            let robots = visit(&mut frontier, at(0));
            redirect(&mut frontier, robots, target);
            assert_eq!(next(&mut frontier, at(0)), Next::Empty, "{target}");
            let counts = frontier.counts();
            assert_eq!((counts.queued, counts.accounts.failed + counts.accounts.refused), (0, 1), "{target}");
        });
    }
}
