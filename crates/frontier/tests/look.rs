//! Looking at a saved frontier: every URL is where it must be, and nothing is changed by that.

use std::path::Path;

use mattock_env::Env;
use mattock_env::sim::Simulation;
use mattock_fetch::{Failure, FetchOutcome};
use mattock_frontier::look::{BudgetQueue, Look, Whereabouts};
use mattock_frontier::{BudgetPolicy, Frontier, FrontierOptions, Link, Settled};
use mattock_weburl::WebUrl;

use crate::world::{at, finish, finish_with, link, ms, open, options, plain, save, simulate, visit};

const DIR: &str = "/frontier";

fn look(env: &Env) -> Look {
    let number = Frontier::newest(env, Path::new(DIR)).unwrap();
    Look::open(env, Path::new(DIR), number).unwrap()
}

fn find(look: &Look, url: &str) -> Whereabouts {
    look.find(&WebUrl::parse(url).unwrap()).unwrap()
}

fn found(url: &str) -> Link {
    Link { depth: 1, ..link(url) }
}

#[test]
fn before_the_first_checkpoint_nothing_is_known() {
    simulate(|env| {
        let look = Look::open(&env, Path::new(DIR), 0).unwrap();
        assert_eq!(find(&look, "http://a.com/"), Whereabouts::Unseen);
        assert_eq!(look.survey().unwrap().queued(), 0);
        let error = Look::open(&env, Path::new(DIR), 3).err().unwrap();
        assert!(error.has_moved_on(), "{error}");
    });
}

#[test]
fn a_giant_host_has_its_urls_on_the_bench_and_behind_it_in_order() {
    simulate(|env| {
        let mut frontier = open(&env, options(plain(0)));
        let links: Vec<Link> = (0..30_000).map(|number| link(&format!("http://a.com/{number}"))).collect();
        for part in links.chunks(500) {
            frontier.submit(part, None).unwrap();
        }
        let robots = visit(&mut frontier, at(0));
        finish(&mut frontier, robots, 404, at(0));
        for number in 0..7 {
            let page = visit(&mut frontier, at(number));
            assert_eq!(page.request.url.as_str(), format!("http://a.com/{number}"));
            finish(&mut frontier, page, 200, at(number));
        }
        let under_way = visit(&mut frontier, at(10));
        assert_eq!(under_way.request.url.as_str(), "http://a.com/7");
        save(&env, &mut frontier, at(10));
        let before = env.files.list(Path::new(DIR)).unwrap();
        let look = look(&env);
        let urls: Vec<&WebUrl> = links.iter().map(|link| &link.url).collect();
        let mut kinds = [0; 3];
        for (number, place) in look.find_all(&urls).unwrap().into_iter().enumerate() {
            // In the order in which they were found, the one under way first.
            let expected = (number as u64).saturating_sub(7);
            match place {
                Whereabouts::Settled => {
                    assert!(number < 7);
                    kinds[0] += 1;
                }
                Whereabouts::Bench { ahead, attempt: 0, .. } => {
                    assert_eq!(ahead, expected);
                    kinds[1] += 1;
                }
                Whereabouts::Behind { ahead, .. } | Whereabouts::Ready { ahead, .. } => {
                    assert!(ahead <= expected, "{number}: {ahead}");
                    kinds[2] += 1;
                }
                other => panic!("{number}: {other:?}"),
            }
        }
        let survey = look.survey().unwrap();
        assert_eq!((kinds[0], kinds[1]), (7, survey.on_bench));
        assert_eq!(kinds[2], survey.behind + survey.ready.iter().sum::<u64>());
        assert_eq!(survey.queued(), 30_000 - 7);
        assert_eq!((survey.hosts, survey.largest[0].name.as_str()), (1, "http://a.com"));
        assert_eq!(env.files.list(Path::new(DIR)).unwrap(), before);
    });
}

#[test]
fn what_has_failed_waits_for_another_try() {
    simulate(|env| {
        let mut frontier = open(&env, options(plain(1000)));
        frontier.submit(&[link("http://a.com/"), link("http://a.com/2")], None).unwrap();
        let robots = visit(&mut frontier, at(0));
        finish_with(
            &mut frontier,
            robots,
            FetchOutcome::Answered(200),
            "User-agent: *\nDisallow: /2\n",
            at(0),
        );
        let page = visit(&mut frontier, at(1000));
        let failed = FetchOutcome::Failed(Failure::Disconnected);
        assert_eq!(finish_with(&mut frontier, page, failed, "", at(1000)), Settled::Again);
        save(&env, &mut frontier, at(1200));
        let look = look(&env);
        let wait = failed.consequence().wait - ms(200);
        assert_eq!(find(&look, "http://a.com/"), Whereabouts::Again { attempt: 1, wait });
        let Whereabouts::Bench { ahead: 0, .. } = find(&look, "http://a.com/2") else { panic!("it waits") };
        let rules = look.rules(&WebUrl::parse("http://a.com/2").unwrap()).unwrap().unwrap();
        let verdict = rules.robots.verdict("/2");
        assert_eq!((verdict.allowed, verdict.rule.unwrap().line), (false, 2));
        assert_eq!(find(&look, "http://a.com/3"), Whereabouts::Unseen);
    });
}

#[test]
fn budgets_hold_urls_in_the_queues_that_they_say() {
    simulate(|env| {
        let budget = BudgetPolicy::Broad { top: 10, least: 5, most: 500 };
        let mut frontier = open(&env, FrontierOptions { budget: budget.clone(), ..options(plain(0)) });
        for number in 0..6 {
            let source = WebUrl::parse(&format!("http://s{number}.org/")).unwrap();
            frontier.submit(&[found("http://known.com/")], Some(&source)).unwrap();
        }
        let links: Vec<Link> = (0..40).map(|number| found(&format!("http://small.com/{number}"))).collect();
        frontier.submit(&links, None).unwrap();
        save(&env, &mut frontier, at(0));
        let first = look(&env);
        let places = |look: &Look| -> Vec<Whereabouts> {
            let urls: Vec<&WebUrl> = links.iter().map(|link| &link.url).collect();
            look.find_all(&urls).unwrap()
        };
        let asking = places(&first).iter().filter(|place| **place == Whereabouts::Budgeting).count();
        assert!(asking > 0, "nobody knows its domain yet: {:?}", places(&first));
        // A visit makes the stages turn: some are let through, and who is not proven is not.
        let known = visit(&mut frontier, at(1));
        assert_eq!(known.request.url.host_name(), "known.com");
        save(&env, &mut frontier, at(1));
        let second = look(&env);
        let over = |place: &Whereabouts| {
            matches!(place, Whereabouts::Budgeted { queue: BudgetQueue::Over, budget: 0, .. })
        };
        assert!(places(&second).iter().all(over), "{:?}", places(&second));
        let standing = second.standing(&links[0].url, &budget).unwrap().unwrap();
        assert_eq!((standing.in_degree.count, standing.is_proven), (0, false));
        let standing = second.standing(&known.request.url, &budget).unwrap().unwrap();
        assert_eq!((standing.in_degree.count, standing.is_proven), (6, true));
        assert_eq!(second.survey().unwrap().over_budget, 40);
        let gone = Look::open(&env, Path::new(DIR), 1).err().unwrap();
        assert!(gone.has_moved_on(), "{gone}");
    });
}

/// More than RAM knows: `seen` answers when a batch is full.
#[test]
fn what_seen_has_not_answered_is_on_its_way() {
    let mut simulation = Simulation::new(1);
    simulation.run(|env| async move {
        let mut frontier = open(&env, options(plain(0)));
        let url = |number: u64| format!("http://h{}.com/{number}", number % 500);
        let mut submitted = 0;
        while frontier.counts().accounts.seen == submitted && submitted < 4_000_000 {
            let links: Vec<Link> = (submitted..submitted + 5_000).map(|number| link(&url(number))).collect();
            frontier.submit(&links, None).unwrap();
            submitted += 5_000;
        }
        let seen = frontier.counts().accounts.seen;
        assert!(seen < submitted, "all of {submitted} are answered at once");
        // Known ones again: they are not on their way.
        frontier.submit(&(0..500).map(|number| link(&url(number))).collect::<Vec<_>>(), None).unwrap();
        save(&env, &mut frontier, at(0));
        let seen = frontier.counts().accounts.seen;
        let look = look(&env);
        let last: Vec<WebUrl> =
            (submitted - 5_000..submitted).map(|number| WebUrl::parse(&url(number)).unwrap()).collect();
        let places = look.find_all(&last.iter().collect::<Vec<_>>()).unwrap();
        let arriving = places.iter().filter(|place| **place == Whereabouts::Arriving).count() as u64;
        assert_eq!(arriving, (submitted - seen).min(5_000));
        assert!(places.iter().all(|place| !matches!(place, Whereabouts::Unseen | Whereabouts::Settled)));
        for number in 0..20 {
            let place = find(&look, &url(number));
            assert!(matches!(place, Whereabouts::Ready { .. }), "{place:?}");
        }
    });
}
