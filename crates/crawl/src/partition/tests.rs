//! The loop before what no server can do to it.

use super::*;
use crate::checkpoint::{Checkpoint, Coordinator, Seat};
use crate::exchange::Hub;
use crate::{RawConfig, task};
use mattock_env::sim::Simulation;
use mattock_fetch::FetchOutcome;
use mattock_frontier::{Finished, FrontierOptions, Next, Purpose, RobotsAnswer, Scope, ScopeRule, Servers};
use mattock_weburl::WebUrl;
use std::path::Path;

fn partition(env: &Env) -> Partition {
    let config = RawConfig::parse("", "test").unwrap().check().unwrap();
    let scope = Scope::new(ScopeRule::Any, None);
    let options = FrontierOptions::new(scope, config.politeness.clone(), &config.product);
    let servers = Arc::new(Servers::new(Duration::ZERO));
    let (warc, random) = (Path::new("/warc"), env.random.fork("warc"));
    let archive = WarcWriter::open(&env.files, warc, config.writer_options(), random).unwrap();
    let (hub, mut inboxes) = Hub::new(1, None, 0);
    let path = Path::new("/CHECKPOINT").to_path_buf();
    let coordinator = Coordinator::new(env, path, &Checkpoint::default(), 1, config.checkpoint.clone());
    Partition {
        env: env.clone(),
        config,
        frontier: Frontier::open(env, Path::new("/frontier"), options, servers).unwrap(),
        archive,
        ledger: Ledger::open(&env.files, Path::new("/ledger"), 0).unwrap(),
        part: Part::new(env, Seat::new(&coordinator, 0)),
        rules: LinkRules::default(),
        totals: Totals::default(),
        control: Control::default(),
        progress: Arc::new(Progress::new(1)),
        outbox: Outbox::new(&hub),
        inbox: inboxes.remove(0),
    }
}

/// Robots.txt and page both break down; neither keeps the host busy, and the crawl comes to its end.
#[test]
fn a_fetch_that_breaks_down_is_an_outcome_and_its_host_goes_on() {
    Simulation::new(1).run(|env| async move {
        let mut partition = partition(&env);
        let (sender, mut receiver) = unbounded_channel();
        for host in ["http://a.com/", "http://b.com/"] {
            partition.frontier.seed(WebUrl::parse(host).unwrap()).unwrap();
        }
        let client = Rc::new(Client::new(&env, partition.config.client_options()));
        let mut run = Run {
            partition: &mut partition,
            client,
            connections: Connections::new(1),
            connections_max: 1,
            extract: Options::default(),
            sender: sender.clone(),
            in_flight: BTreeMap::new(),
            number_next: 0,
            unread: VecDeque::new(),
            publish_next: Time::ZERO,
            returns: Returns::new(env.clock.now()),
        };
        loop {
            run.count_failed().unwrap();
            match run.partition.frontier.next(env.clock.now()).unwrap() {
                Next::Visit(visit) => {
                    let number = run.number_next;
                    run.number_next += 1;
                    // The second host has no rules, so that a page of it is visited.
                    if visit.purpose != Purpose::Page && visit.request.url.host() == "http://b.com" {
                        let outcome = FetchOutcome::Answered(404);
                        let at = env.clock.now();
                        let robots = Some(RobotsAnswer { body: None, location: None });
                        let took = Duration::ZERO;
                        let finished =
                            Finished { visit, outcome, at, took, retry_after_s: None, robots, content: None };
                        run.partition.frontier.finished(finished, at).unwrap();
                        continue;
                    }
                    let task = task::spawn(number, sender.clone(), async { panic!("as a fetch might") });
                    run.in_flight.insert(number, (Errand::Visit(visit, Claim::default()), task));
                    run.take_back(receiver.recv().await.unwrap()).unwrap();
                }
                Next::WaitUntil(time) => env.clock.sleep_until(time).await,
                Next::Resolve(host) => panic!("{host:?} need not be found"),
                Next::WaitForVisits => panic!("a host was left busy"),
                Next::Empty => break,
            }
        }
        assert!(run.in_flight.is_empty());
        drop(run);
        assert_eq!(partition.totals.outcomes, BTreeMap::from([("internal".to_owned(), 2)]));
        assert_eq!((partition.totals.errors, partition.totals.robots_fetches), (2, 1));
        let counts = partition.frontier.counts();
        assert_eq!((counts.queued, counts.refused.values().sum::<u64>()), (0, 0));
    });
}
