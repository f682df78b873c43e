//! A crawl that goes on with another number of partitions: nothing lost, nothing twice, nobody hurt.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mattock_crawl::check::{CheckReport, check};
use mattock_crawl::{Answer, Control, Crawl, CrawlError, End, RawConfig, SavedCrawl, Summary, Why, why};
use mattock_env::sim::Simulation;
use mattock_env::{Env, Fault, Files, Random, SimFiles};
use mattock_simweb::{
    AuditHeader, AuditLog, AuditOptions, Params, ServeOptions, Server, World, audit, serve,
};
use mattock_weburl::WebUrl;

use crate::world::{archived, assert_polite, tiny};

const ROOT: &str = "/crawl";
const LOG: &str = "/audit";
const DELAY: Duration = Duration::from_millis(500);

/// A crawl of one world, whose servers outlive the runs.
struct Lives {
    env: Env,
    /// The servers' own disk.
    journal: Env,
    /// Between two requests to a host.
    least: Duration,
    server: Server,
    settings: String,
}

impl Lives {
    /// `more` settings of `[crawl]`.
    async fn begin(env: &Env, world: World, more: &str) -> Lives {
        // Domains with larger budgets are visited sooner.
        let least = if more.contains("budget") { DELAY / 2 } else { DELAY };
        let journal = SimFiles::new(env.random.fork("journal"));
        let journal = Env { files: Files::simulated(journal), ..env.clone() };
        let header = AuditHeader {
            seed: world.seed(),
            delay_ms: Some(least.as_millis() as u64),
            params: world.params().clone(),
        };
        let seeds = world.seeds();
        let log = AuditLog::create(&journal, Path::new(LOG), &header).unwrap();
        let server = serve(&journal, Arc::new(world), ServeOptions::default(), Some(log)).await.unwrap();
        let settings = format!(
            "[politeness]\ndelay = '{}ms'\n[checkpoint]\nevery = '3s'\n[network]\ndns = ['{}']\n\
             allow_address = ['127.0.0.0/8']\nconnect_port = ['80={}']\n[crawl]\nscope = 'any'\n\
             seeds = {seeds:?}\nmemory = '512MiB'\n{more}\n",
            DELAY.as_millis(),
            server.dns_address(),
            server.http_port()
        );
        Lives { env: env.clone(), journal, least, server, settings }
    }

    fn open(&self, partitions: usize) -> Result<Crawl, CrawlError> {
        let settings = format!("{}partitions = {partitions}\n", self.settings);
        Crawl::open(&self.env, Path::new(ROOT), RawConfig::parse(&settings, "test").unwrap())
    }

    /// Runs for a while, or to the end.
    async fn run(&self, crawl: Crawl, seconds: Option<u64>) -> Summary {
        let control = Control::default();
        let timer = seconds.map(|seconds| {
            let (stop, clock) = (control.clone(), self.env.clock.clone());
            tokio::task::spawn_local(async move {
                clock.sleep(Duration::from_secs(seconds)).await;
                stop.stop();
            })
        });
        let summary = crawl.run(control).await.unwrap();
        timer.inspect(|timer| timer.abort());
        summary
    }

    fn checked(&self) -> CheckReport {
        let report = check(&self.env, Path::new(ROOT), &mut |_| {}).unwrap();
        assert!(report.whole, "{report:#?}");
        for counts in SavedCrawl::open(&self.env, Path::new(ROOT)).unwrap().partitions() {
            assert_eq!(counts.missing(), 0, "{counts:?}");
        }
        report
    }

    /// What the servers saw: nobody was asked too soon, over all runs.
    async fn end(self) {
        self.server.stop().await.unwrap();
        let report = audit(&self.journal.files, Path::new(LOG), &AuditOptions::default()).unwrap();
        assert_polite(&report, self.least);
    }
}

/// Where URLs are, as far as that must not change when a crawl is divided otherwise.
fn told(env: &Env, urls: &[WebUrl]) -> BTreeMap<String, String> {
    let told = |why: Why| {
        let place = match why.answer {
            Answer::Fetched { instances } | Answer::Failed { instances } => format!("{instances:?}"),
            Answer::NeverSeen { refusal, .. } => format!("never seen: {refusal:?}"),
            Answer::Disallowed | Answer::Refused { .. } => "refused".into(),
            Answer::Again { attempt, .. } => format!("again {attempt}"),
            _ => "waits".into(),
        };
        (why.url, format!("{place} {:?}", why.robots))
    };
    why(env, Path::new(ROOT), urls).unwrap().into_iter().map(told).collect()
}

/// All URLs of a world, and one that is none.
fn urls(world: &World) -> Vec<WebUrl> {
    let truth = world.truth(1_000_000).unwrap();
    let all = truth.pages.iter().map(|url| WebUrl::parse(url).unwrap());
    all.chain([WebUrl::parse("http://nobody-knows.com/").unwrap()]).collect()
}

/// Accounts of all partitions together.
fn sums(env: &Env) -> [u64; 5] {
    let saved = SavedCrawl::open(env, Path::new(ROOT)).unwrap();
    saved.partitions().fold([0; 5], |sums, counts| {
        let accounts = counts.accounts;
        let open = counts.queued + counts.in_flight;
        let counts = [accounts.seen, accounts.fetched, accounts.failed, accounts.refused, open];
        std::array::from_fn(|at| sums[at] + counts[at])
    })
}

/// More pages than fit on the bench.
fn large(seed: u64) -> World {
    let params = Params { page_bytes: 1_500, pages_min: 60, pages_max: 900, ..tiny(seed).params().clone() };
    World::new(params, seed)
}

/// Stopped with one number and taken up with another, again and again.
fn goes_on(seed: u64, world: fn(u64) -> World, more: &str, lives: &[(usize, u64)], last: usize) {
    let truth = world(seed).truth(1_000_000).unwrap();
    let all = urls(&world(seed));
    Simulation::new(seed).run(|env| async move {
        let crawls = Lives::begin(&env, world(seed), more).await;
        let ends = lives.iter().map(|(partitions, seconds)| (*partitions, Some(*seconds)));
        for (partitions, seconds) in ends.chain([(last, None)]) {
            let before = SavedCrawl::open(&env, Path::new(ROOT)).ok().map(|saved| saved.number());
            let was = before.map(|_| (told(&env, &all), sums(&env)));
            let crawl = crawls.open(partitions).unwrap();
            if let Some((places, [seen, settled @ .., open])) = was {
                assert!(crawl.divided_from().is_some_and(|was| was != partitions));
                assert_eq!(crawls.checked().partitions, partitions as u64);
                let [seen_now, settled_now @ .., open_now] = sums(&env);
                assert_eq!(settled_now, settled);
                assert_eq!(seen_now - seen, open_now - open, "links that were on their way");
                let now = told(&env, &all);
                for (url, place) in &places {
                    assert_eq!(now[url], *place, "{url}");
                }
            }
            let summary = crawls.run(crawl, seconds).await;
            assert_eq!(summary.end == End::Complete, seconds.is_none(), "{summary:?}");
            assert_eq!(summary.partitions, partitions as u64);
            let report = crawls.checked();
            assert_eq!(report.notes, [], "nothing is left over");
            if seconds.is_none() {
                assert_eq!((summary.pages, report.urls_open), (truth.allowed, 0));
                assert_eq!(summary.outcomes["200"], summary.pages);
            }
        }
        assert_eq!(archived(&env, Path::new(ROOT)), truth.pages);
        crawls.end().await;
    });
}

#[test]
fn it_ends_with_the_same_pages() {
    goes_on(1, tiny, "", &[(1, 11)], 2);
    goes_on(2, tiny, "", &[(2, 7)], 1);
    goes_on(3, tiny, "", &[(3, 9)], 4);
    goes_on(4, tiny, "", &[(1, 5), (4, 5), (2, 9), (3, 20)], 1);
}

#[test]
fn with_budgets_and_more_than_fits_on_the_bench() {
    goes_on(5, large, "budget = 'broad'\nbudget_pages = 2", &[(1, 9), (3, 30)], 2);
    goes_on(6, large, "", &[(2, 15), (5, 15)], 1);
}

/// A run that is killed while it divides leaves the one division or the other, and the next goes on.
#[test]
fn killed_at_any_moment_of_it() {
    let (mut before, mut after) = (0, 0);
    for seed in 0..24 {
        let mut random = Random::from_seed(seed).fork("division");
        let truth = tiny(seed % 8).truth(1_000_000).unwrap();
        let (from, to) = [(1, 3), (3, 1), (2, 3)][seed as usize % 3];
        let mut simulation = Simulation::new(seed);
        let disk: SimFiles = simulation.files().clone();
        let undivided = simulation.run(|env| async move {
            let crawls = Lives::begin(&env, tiny(seed % 8), "").await;
            let crawl = crawls.open(from).unwrap();
            crawls.run(crawl, Some(4 + seed % 5)).await;
            let operations = disk.operations();
            // About as many as it takes.
            disk.fail_at(operations + random.below(80 + 120 * to as u64), Fault::Stop);
            let divided = crawls.open(to).map(drop);
            disk.clear_faults();
            if seed % 2 == 0 {
                disk.kill();
            } else {
                disk.crash();
            }
            let found = SavedCrawl::open(&env, Path::new(ROOT)).unwrap().partitions().len();
            assert!(found == from || found == to, "{found}");
            assert!(divided.is_err() || found == to);
            crawls.checked();
            let crawl = crawls.open(to).unwrap();
            assert_eq!(crawl.divided_from(), (found == from).then_some(from));
            assert_eq!(crawls.checked().notes, []);
            let summary = crawls.run(crawl, None).await;
            assert_eq!((summary.end, summary.pages), (End::Complete, truth.allowed));
            assert_eq!(archived(&env, Path::new(ROOT)), truth.pages);
            assert_eq!(crawls.checked().notes, []);
            crawls.end().await;
            found == from
        });
        before += u32::from(undivided);
        after += u32::from(!undivided);
    }
    assert!(before > 5 && after > 2, "{before} {after}");
}

/// What is wanted stands in `crawl.toml` before it is done.
#[test]
fn the_number_is_kept_from_then_on() {
    Simulation::new(9).run(|env| async move {
        let crawls = Lives::begin(&env, tiny(9), "").await;
        let crawl = crawls.open(2).unwrap();
        crawls.run(crawl, Some(5)).await;
        drop(crawls.open(3).unwrap());
        let again = Crawl::open(&env, Path::new(ROOT), RawConfig::default()).unwrap();
        assert_eq!((again.config().partitions, again.divided_from()), (3, None));
        drop(again);
        // Before the first checkpoint there is nothing to divide.
        let other = Path::new("/other");
        for partitions in [3, 1, 2] {
            let settings = format!("{}partitions = {partitions}\n", crawls.settings);
            let crawl = Crawl::open(&env, other, RawConfig::parse(&settings, "test").unwrap()).unwrap();
            assert_eq!((crawl.config().partitions, crawl.divided_from()), (partitions, None));
        }
        crawls.end().await;
    });
}
