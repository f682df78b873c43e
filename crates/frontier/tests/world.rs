//! A frontier on simulated files, and a Web that always answers.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mattock_env::sim::Simulation;
use mattock_env::{Env, Time};
use mattock_fetch::FetchOutcome;
use mattock_frontier::{
    Finished, Frontier, FrontierOptions, Link, Next, Politeness, Purpose, RobotsAnswer, Scope, ScopeRule,
    Servers, Settled, Visit,
};
use mattock_weburl::WebUrl;

pub(crate) fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

pub(crate) fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

pub(crate) fn options(politeness: Politeness) -> FrontierOptions {
    FrontierOptions::new(Scope::new(ScopeRule::Any, None), politeness, "mattock")
}

/// Without delays of servers and of slowness, so that times are easy to tell.
pub(crate) fn plain(delay_ms: u64) -> Politeness {
    Politeness { server_delay: Duration::ZERO, duration_factor: 0.0, ..Politeness::with_delay(ms(delay_ms)) }
}

pub(crate) fn open(env: &Env, options: FrontierOptions) -> Frontier {
    let servers = Arc::new(Servers::new(options.politeness.server_delay));
    let checkpoint = Frontier::newest(env, Path::new("/frontier")).unwrap();
    let options = FrontierOptions { checkpoint, ..options };
    Frontier::open(env, Path::new("/frontier"), options, servers).unwrap()
}

/// Makes the next checkpoint, which counts.
pub(crate) fn save(env: &Env, frontier: &mut Frontier, now: Time) {
    let number = Frontier::newest(env, Path::new("/frontier")).unwrap() + 1;
    frontier.save(number, now).unwrap();
    frontier.committed(number);
    assert_eq!(frontier.counts().missing(), 0, "{:?}", frontier.counts());
}

pub(crate) fn simulate<T>(work: impl FnOnce(Env) -> T) -> T {
    Simulation::new(1).run(|env| async move { work(env) })
}

pub(crate) fn link(url: &str) -> Link {
    Link::page(WebUrl::parse(url).unwrap(), 0)
}

/// The next thing to do, once the stages in the background are through.
pub(crate) fn next(frontier: &mut Frontier, now: Time) -> Next {
    for _ in 0..10_000 {
        match frontier.next(now).unwrap() {
            Next::WaitUntil(time) if time <= now + ms(2) => {}
            other => return other,
        }
    }
    panic!("the stages never come to rest");
}

pub(crate) fn visit(frontier: &mut Frontier, now: Time) -> Visit {
    match next(frontier, now) {
        Next::Visit(visit) => visit,
        other => panic!("expected a visit, not {other:?}"),
    }
}

pub(crate) fn finish_with(
    frontier: &mut Frontier,
    visit: Visit,
    outcome: FetchOutcome,
    robots: &str,
    now: Time,
) -> Settled {
    let robots = matches!(visit.purpose, Purpose::Robots { .. })
        .then(|| RobotsAnswer { body: Some(robots.as_bytes().to_vec()), location: None });
    let finished = Finished {
        visit,
        outcome,
        at: now,
        took: Duration::ZERO,
        retry_after_s: None,
        robots,
        content: None,
    };
    frontier.finished(finished, now).unwrap()
}

pub(crate) fn finish(frontier: &mut Frontier, visit: Visit, status: u16, now: Time) -> Settled {
    finish_with(frontier, visit, FetchOutcome::Answered(status), "", now)
}

/// Crawls until nothing is left; every visit takes `took` of time, and hosts have addresses by `server`. What was visited, and
/// when.
pub(crate) fn crawl(
    frontier: &mut Frontier,
    now: Time,
    took: Duration,
    server: impl Fn(&str) -> IpAddr,
) -> Vec<(Time, Visit)> {
    crawl_with(frontier, now, took, server, usize::MAX)
}

/// The same with at most so many visits at a time.
pub(crate) fn crawl_with(
    frontier: &mut Frontier,
    mut now: Time,
    took: Duration,
    server: impl Fn(&str) -> IpAddr,
    at_once: usize,
) -> Vec<(Time, Visit)> {
    let mut visits = Vec::new();
    let mut under_way: Vec<(Time, Visit)> = Vec::new();
    loop {
        let full = under_way.len() >= at_once;
        match if full { Next::WaitForVisits } else { frontier.next(now).unwrap() } {
            Next::Visit(visit) => {
                visits.push((now, visit.clone()));
                under_way.push((now + took, visit));
            }
            Next::Resolve(host) => {
                let found = Ok((server(&host.host), Duration::from_secs(3600)));
                frontier.resolved(&host, found, now).unwrap();
            }
            Next::Empty => return visits,
            other => {
                let until = match other {
                    Next::WaitUntil(time) => Some(time),
                    _ => None,
                };
                let first = under_way.iter().map(|(time, _)| *time).min();
                now = until.into_iter().chain(first).min().expect("something is going on");
                let (done, rest) = under_way.into_iter().partition(|(time, _)| *time <= now);
                under_way = rest;
                let done: Vec<(Time, Visit)> = done;
                for (time, visit) in done {
                    let robots = matches!(visit.purpose, Purpose::Robots { .. });
                    let status = if robots { 404 } else { 200 };
                    let answer = robots.then_some(RobotsAnswer { body: None, location: None });
                    let outcome = FetchOutcome::Answered(status);
                    let finished = Finished {
                        visit,
                        outcome,
                        at: time,
                        took,
                        retry_after_s: None,
                        robots: answer,
                        content: None,
                    };
                    frontier.finished(finished, now).unwrap();
                }
            }
        }
    }
}
