//! Delays of hosts, servers and domains, and those that servers ask for.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use mattock_env::Time;
use mattock_fetch::{Failure, FetchOutcome};
use mattock_frontier::{Finished, FrontierOptions, Next, Politeness, Settled};

use crate::world::{at, crawl, finish, finish_with, link, ms, next, open, options, plain, simulate, visit};

fn server(host: &str) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(192, 0, 2, host.bytes().map(u32::from).sum::<u32>() as u8 % 3))
}

#[test]
fn hosts_servers_and_domains_all_keep_their_delays() {
    simulate(|env| {
        let politeness = Politeness {
            server_delay: ms(300),
            domain_delay: ms(500),
            duration_factor: 0.0,
            ..Politeness::with_delay(ms(1000))
        };
        let took = ms(70);
        let mut frontier = open(&env, FrontierOptions { resolve: true, ..options(politeness) });
        let mut links = Vec::new();
        for number in 0..400 {
            links.push(link(&format!("http://h{}.d{}.com/{number}", number % 20, number % 7)));
        }
        frontier.submit(&links, None).unwrap();
        let visits = crawl(&mut frontier, at(0), took, server);
        assert_eq!(visits.iter().filter(|(_, visit)| visit.is_page()).count(), 400);
        let mut last: BTreeMap<String, Time> = BTreeMap::new();
        for (time, visit) in &visits {
            let url = &visit.request.url;
            assert_eq!(visit.server, Some(server(url.host())));
            let keys = [
                (url.host().to_owned(), ms(1000)),
                (format!("server {}", server(url.host())), ms(300)),
                (format!("domain {}", url.domain()), ms(500)),
            ];
            for (key, delay) in keys {
                if let Some(before) = last.insert(key.clone(), *time) {
                    assert!(*time >= before + took + delay, "{key} at {time:?}");
                }
            }
        }
    });
}

#[test]
fn failures_are_retried_as_the_table_says_and_then_settled() {
    simulate(|env| {
        let mut frontier = open(&env, options(plain(0)));
        frontier.submit(&[link("http://a.com/x")], None).unwrap();
        let robots = visit(&mut frontier, at(0));
        finish(&mut frontier, robots, 404, at(0));
        let failed = FetchOutcome::Failed(Failure::Disconnected);
        let (mut now, mut tries) = (at(0), 0);
        loop {
            match next(&mut frontier, now) {
                Next::WaitUntil(time) => now = time,
                Next::Visit(visit) => {
                    tries += 1;
                    if finish_with(&mut frontier, visit, failed, "", now) == Settled::Done {
                        break;
                    }
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(tries, 3);
        assert_eq!(now, at(3000), "one second, then two");
        assert_eq!(next(&mut frontier, now), Next::Empty);
    });
}

#[test]
fn a_server_that_asks_for_a_pause_gets_it() {
    simulate(|env| {
        let mut frontier = open(&env, options(plain(0)));
        frontier.submit(&["1", "2"].map(|path| link(&format!("http://a.com/{path}"))), None).unwrap();
        let robots = visit(&mut frontier, at(0));
        finish(&mut frontier, robots, 404, at(0));
        let busy = visit(&mut frontier, at(0));
        let outcome = FetchOutcome::Answered(503);
        let finished = Finished {
            visit: busy,
            outcome,
            at: at(0),
            took: Duration::ZERO,
            retry_after_s: Some(30),
            robots: None,
            content: None,
        };
        assert_eq!(frontier.finished(finished, at(0)).unwrap(), Settled::Again);
        assert_eq!(next(&mut frontier, at(0)), Next::WaitUntil(at(30_000)), "the whole host is left alone");
        assert!(matches!(next(&mut frontier, at(30_000)), Next::Visit(_)));
    });
}

#[test]
fn a_slow_host_is_given_time() {
    simulate(|env| {
        let politeness = Politeness { duration_factor: 4.0, ..plain(100) };
        let mut frontier = open(&env, options(politeness));
        frontier.submit(&["1", "2"].map(|path| link(&format!("http://a.com/{path}"))), None).unwrap();
        let visits = crawl(&mut frontier, at(0), ms(500), server);
        let times: Vec<Time> = visits.iter().map(|(time, _)| *time).collect();
        assert_eq!(times, [at(0), at(2500), at(5000)]);
    });
}

#[test]
fn a_name_that_cannot_be_found_is_asked_for_again_and_then_given_up() {
    for (failure, tries_expected) in [(Failure::NoSuchName, 1), (Failure::NameTimeout, 3)] {
        simulate(|env| {
            let mut frontier = open(&env, FrontierOptions { resolve: true, ..options(plain(0)) });
            frontier.submit(&["1", "2"].map(|path| link(&format!("http://a.com/{path}"))), None).unwrap();
            let (mut now, mut tries) = (at(0), 0);
            loop {
                match next(&mut frontier, now) {
                    Next::WaitUntil(time) => now = time,
                    Next::Resolve(host) => {
                        tries += 1;
                        frontier.resolved(&host, Err(failure), now).unwrap();
                    }
                    Next::Empty => break,
                    other => panic!("{other:?}"),
                }
            }
            assert_eq!(tries, tries_expected);
            let failed = frontier.take_failed();
            assert_eq!(failed.len(), 2);
            assert!(failed.iter().all(|(_, outcome)| *outcome == FetchOutcome::Failed(failure)));
            assert_eq!(frontier.counts().queued, 0);
        });
    }
}
