//! Domains have their due, in turn, and nothing is lost.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use mattock_env::sim::Simulation;
use mattock_frontier::{BudgetPolicy, FrontierOptions, Link, Next};
use mattock_weburl::WebUrl;

use crate::world::{at, crawl, crawl_with, finish, link, next, open, options, plain, save, simulate};

const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn found(url: &str) -> Link {
    Link { depth: 1, ..link(url) }
}

fn budgeted(budget: BudgetPolicy) -> FrontierOptions {
    FrontierOptions { budget, ..options(plain(0)) }
}

#[test]
fn a_large_domain_does_not_keep_small_ones_waiting() {
    let place_of_last = |budget: BudgetPolicy| {
        simulate(|env| {
            let mut frontier = open(&env, budgeted(budget));
            let mut links: Vec<Link> =
                (0..9000).map(|number| found(&format!("http://h{}.big.com/{number}", number % 50))).collect();
            links.extend((0..40).map(|number| found(&format!("http://small{number}.com/"))));
            frontier.submit(&links, None).unwrap();
            let visits = crawl_with(&mut frontier, at(0), Duration::from_millis(1), |_| ADDRESS, 1);
            let pages: Vec<WebUrl> = visits
                .into_iter()
                .filter(|(_, visit)| visit.is_page())
                .map(|(_, visit)| visit.request.url)
                .collect();
            assert_eq!(pages.len(), 9040);
            pages.iter().rposition(|url| url.as_str().contains("small")).unwrap()
        })
    };
    assert!(place_of_last(BudgetPolicy::Equal { pages: 10 }) < 300);
    assert!(place_of_last(BudgetPolicy::Unlimited) > 5000);
}

#[test]
fn who_is_linked_to_goes_first() {
    simulate(|env| {
        let mut frontier = open(&env, budgeted(BudgetPolicy::Broad { top: 10, least: 5, most: 500 }));
        for number in 0..30 {
            let source = WebUrl::parse(&format!("http://s{number}.org/")).unwrap();
            frontier.submit(&[found(&format!("http://known.com/{number}"))], Some(&source)).unwrap();
        }
        let source = WebUrl::parse("http://farm0.net/").unwrap();
        let farm: Vec<Link> = (0..400).map(|number| found(&format!("http://farm.net/{number}"))).collect();
        frontier.submit(&farm, Some(&source)).unwrap();
        let known: Vec<Link> = (30..400).map(|number| found(&format!("http://known.com/{number}"))).collect();
        frontier.submit(&known, Some(&source)).unwrap();
        let visits = crawl_with(&mut frontier, at(0), Duration::from_millis(1), |_| ADDRESS, 1);
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let pages = visits.iter().filter(|(_, visit)| visit.is_page());
        for (_, visit) in pages.clone().take(400) {
            *counts.entry(visit.request.url.domain().to_owned()).or_default() += 1;
        }
        assert_eq!(pages.count(), 800, "nothing is lost");
        assert!(counts["known.com"] > 350, "{counts:?}");
    });
}

/// A few hosts that many link to are left alone most of the time, while each page of a farm has a host of its own. The farm must not have
/// what the others cannot use.
#[test]
fn who_is_not_proven_waits_even_while_nobody_else_is_ready() {
    simulate(|env| {
        let broad = budgeted(BudgetPolicy::broad());
        let mut frontier = open(&env, FrontierOptions { politeness: plain(10), ..broad });
        for number in 0..50 {
            let source = WebUrl::parse(&format!("http://s{number}.org/")).unwrap();
            let known = (0..5).map(|page| found(&format!("http://known{page}.com/{number}")));
            let farm = found(&format!("http://x{number}.farm{number}.net/"));
            frontier.submit(&known.chain([farm]).collect::<Vec<Link>>(), Some(&source)).unwrap();
        }
        let visits = crawl_with(&mut frontier, at(0), Duration::from_millis(1), |_| ADDRESS, 64);
        let domains: Vec<bool> = visits
            .iter()
            .filter(|(_, visit)| visit.is_page())
            .map(|(_, visit)| visit.request.url.domain().starts_with("farm"))
            .collect();
        assert_eq!(domains.len(), 300, "nothing is lost");
        let early = domains[..250].iter().filter(|farm| **farm).count();
        assert!((1..=5).contains(&early), "{early} pages of farms, which is more than a few or none at all");
    });
}

#[test]
fn a_crawl_of_popular_domains_ends_when_only_others_wait() {
    simulate(|env| {
        let mut frontier = open(&env, budgeted(BudgetPolicy::popular_only(10)));
        for number in 0..5 {
            let source = WebUrl::parse(&format!("http://s{number}.org/")).unwrap();
            let links = [found("http://known.com/"), found(&format!("http://u{number}.com/"))];
            frontier.submit(&links, Some(&source)).unwrap();
        }
        let visits = crawl_with(&mut frontier, at(0), Duration::from_millis(1), |_| ADDRESS, 1);
        let pages: Vec<&str> = visits
            .iter()
            .filter(|(_, visit)| visit.is_page())
            .map(|(_, visit)| visit.request.url.as_str())
            .collect();
        assert_eq!(pages, ["http://known.com/"]);
        assert_eq!(frontier.counts().queued, 5);
    });
}

#[test]
fn what_is_over_budget_survives_a_restart() {
    for seed in 0..10 {
        let mut simulation = Simulation::new(seed);
        let options = || budgeted(BudgetPolicy::Broad { top: 10, least: 2, most: 50 });
        let mut pages: BTreeMap<String, u32> = BTreeMap::new();
        for life in 0..3 {
            let pages = &mut pages;
            simulation.run(|env| async move {
                let mut frontier = open(&env, options());
                let links: Vec<Link> = (0..200)
                    .map(|number| found(&format!("http://d{}.com/{life}/{number}", number % 4)))
                    .collect();
                let source = WebUrl::parse(&format!("http://s{life}.org/")).unwrap();
                frontier.submit(&links, Some(&source)).unwrap();
                let mut now = env.clock.now();
                for _ in 0..60 {
                    match next(&mut frontier, now) {
                        Next::Visit(visit) => {
                            let page = visit.is_page();
                            if page {
                                *pages.entry(visit.request.url.to_string()).or_default() += 1;
                            }
                            finish(&mut frontier, visit, if page { 200 } else { 404 }, now);
                        }
                        Next::WaitUntil(time) => now = time,
                        other => panic!("{other:?}"),
                    }
                }
                save(&env, &mut frontier, now);
            });
            simulation.files().crash();
        }
        let rest = simulation.run(|env| async move {
            let mut frontier = open(&env, options());
            let now = env.clock.now();
            crawl(&mut frontier, now, Duration::ZERO, |_| ADDRESS)
        });
        for (_, visit) in rest.into_iter().filter(|(_, visit)| visit.is_page()) {
            *pages.entry(visit.request.url.to_string()).or_default() += 1;
        }
        assert_eq!((pages.len(), pages.values().max()), (600, Some(&1)), "seed {seed}");
    }
}
