//! Everything that is submitted is visited once, however small the memory and however often it is saved and opened again.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use mattock_env::sim::Simulation;
use mattock_frontier::{Next, Refusal, Scope, ScopeRule};
use mattock_weburl::WebUrl;

use crate::world::{at, crawl, finish, link, ms, next, open, options, plain, save, simulate, visit};

const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

#[test]
fn refusals_are_counted_by_reason() {
    simulate(|env| {
        let mut options = options(plain(0));
        options.scope = Scope::new(ScopeRule::Host, Some(0));
        let mut frontier = open(&env, options);
        frontier.seed(WebUrl::parse("http://a.com/").unwrap()).unwrap();
        let deeper = mattock_frontier::Link { depth: 1, ..link("http://a.com/x") };
        frontier.submit(&[link("http://b.com/"), deeper, link("http://a.com/")], None).unwrap();
        let counts = frontier.counts();
        assert_eq!(counts.refused[&Refusal::Scope], 1);
        assert_eq!(counts.refused[&Refusal::Depth], 1);
        assert_eq!((counts.accounts.seen, counts.queued), (1, 1), "the page; its robots.txt does not count");
    });
}

#[test]
fn a_giant_host_goes_through_the_overflow_in_its_order() {
    simulate(|env| {
        let mut frontier = open(&env, options(plain(0)));
        // More than it may have in a queue that it shares.
        let links: Vec<_> = (0..50_000).map(|number| link(&format!("http://a.com/{number}"))).collect();
        for part in links.chunks(500) {
            frontier.submit(part, None).unwrap();
        }
        frontier.submit(&[link("http://b.com/")], None).unwrap();
        let visits = crawl(&mut frontier, at(0), Duration::ZERO, |_| ADDRESS);
        let pages: Vec<&str> = visits
            .iter()
            .filter(|(_, visit)| visit.is_page())
            .map(|(_, visit)| visit.request.url.as_str())
            .collect();
        assert_eq!(pages.len(), 50_001);
        assert!(
            pages.iter().position(|url| *url == "http://b.com/").unwrap() < 10_000,
            "it need not wait for a.com"
        );
        let of_a: Vec<&str> = pages.into_iter().filter(|url| url.starts_with("http://a.com")).collect();
        assert_eq!(of_a, links.iter().map(|link| link.url.as_str()).collect::<Vec<_>>());
    });
}

#[test]
fn what_was_saved_goes_on_and_nothing_is_visited_twice() {
    for seed in 0..20 {
        let mut simulation = Simulation::new(seed);
        let mut visited = BTreeSet::new();
        let mut submitted = 0;
        for life in 0..4u64 {
            let more = simulation.run(|env| {
                let visited = &mut visited;
                async move {
                    let mut frontier = open(&env, options(plain(10)));
                    assert_eq!(frontier.counts().accounts.seen, submitted);
                    let links: Vec<_> = (0..300)
                        .map(|number| link(&format!("http://h{}.com/{}", number % 9, life * 200 + number)))
                        .collect();
                    frontier.submit(&links, None).unwrap();
                    let mut now = env.clock.now();
                    for _ in 0..100 {
                        match next(&mut frontier, now) {
                            Next::Visit(visit) => {
                                let page = visit.is_page();
                                let url = visit.request.url.to_string();
                                finish(&mut frontier, visit, if page { 200 } else { 404 }, now);
                                assert!(!page || visited.insert(url), "twice");
                            }
                            Next::WaitUntil(time) => now = time,
                            other => panic!("{other:?}"),
                        }
                    }
                    // One is under way and comes to nothing: it is made again.
                    let mut given_up = None;
                    while given_up.is_none() {
                        match next(&mut frontier, now) {
                            Next::Visit(visit) => given_up = Some(visit),
                            Next::WaitUntil(time) => now = time,
                            other => panic!("{other:?}"),
                        }
                    }
                    save(&env, &mut frontier, now);
                    frontier.counts().accounts.seen
                }
            });
            submitted = more;
            simulation.files().crash();
        }
        let rest = simulation.run(|env| async move {
            let mut frontier = open(&env, options(plain(10)));
            let now = env.clock.now();
            crawl(&mut frontier, now, Duration::ZERO, |_| ADDRESS)
        });
        for (_, visit) in rest {
            assert!(!visit.is_page() || visited.insert(visit.request.url.to_string()), "twice");
        }
        assert_eq!(visited.len() as u64, submitted, "seed {seed}");
    }
}

#[test]
fn hosts_are_left_alone_after_a_restart() {
    let mut simulation = Simulation::new(1);
    simulation.run(|env| async move {
        let mut frontier = open(&env, options(plain(1000)));
        frontier.submit(&["1", "2"].map(|path| link(&format!("http://a.com/{path}"))), None).unwrap();
        let robots = visit(&mut frontier, env.clock.now());
        finish(&mut frontier, robots, 404, env.clock.now());
        save(&env, &mut frontier, env.clock.now());
    });
    simulation.run(|env| async move {
        let mut frontier = open(&env, options(plain(1000)));
        let now = env.clock.now();
        assert_eq!(next(&mut frontier, now), Next::WaitUntil(now + ms(1000)));
        assert_eq!(visit(&mut frontier, now + ms(1000)).request.url.as_str(), "http://a.com/1");
    });
}
