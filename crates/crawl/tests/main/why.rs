//! `why` against what is true: the simulated Web, the servers' log, the archive, and the accounts of the checkpoint.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mattock_crawl::{Answer, Control, Crawl, End, RawConfig, SavedCrawl, Why, why};
use mattock_env::sim::Simulation;
use mattock_env::{Env, Random};
use mattock_repository::{RecordType, WarcReader};
use mattock_simweb::{AuditHeader, AuditLog, Params, Preset, ServeOptions, World, serve};
use mattock_weburl::WebUrl;

const ROOT: &str = "/crawl";
const LOG: &str = "/audit";
/// What was answered so shortly before a checkpoint may not have been taken back by then.
const UNDER_WAY_NANOS: i64 = 1_000_000_000;

/// A crawl that is ended at some moment.
struct Case {
    seed: u64,
    params: Params,
    /// Ends in the section of links.
    config: String,
    /// When it ends.
    ms: u64,
    /// Stopped in good order, not killed.
    stopped: bool,
}

impl Case {
    fn world(&self) -> World {
        World::new(self.params.clone(), self.seed)
    }
}

/// Without sitemaps, and without mirrors, whose pages name their originals: so that links tell everything that can be seen.
fn linked(preset: Preset) -> Params {
    Params { sitemap_hosts: 0.0, mirror_hosts: 0.0, ..Params::preset(preset) }
}

/// What the servers have seen of a URL: nanoseconds since the log began, and status.
type Requests = BTreeMap<String, Vec<(i64, u16)>>;

fn requests(env: &Env) -> Requests {
    let text = String::from_utf8(env.files.read(Path::new(LOG)).unwrap()).unwrap();
    let mut requests = Requests::new();
    for line in text.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit())) {
        let columns: Vec<&str> = line.split('\t').collect();
        let url = format!("http://{}{}", columns[2], columns[3]);
        let Ok(url) = WebUrl::parse(&url) else { continue };
        let request = (columns[0].parse().unwrap(), columns[4].parse().unwrap());
        requests.entry(url.as_str().to_owned()).or_default().push(request);
    }
    requests
}

/// Serves and crawls until the case ends it; when the log began.
fn crawl(simulation: &mut Simulation, case: &Case, blocked: &str) -> i64 {
    let begun = simulation.run(|env| {
        let world = case.world();
        let (config, half, stopped) = (case.config.clone(), Duration::from_millis(case.ms / 2), case.stopped);
        async move {
            let header = AuditHeader { seed: world.seed(), delay_ms: None, params: world.params().clone() };
            let seeds = world.seeds();
            let log = AuditLog::create(&env, Path::new(LOG), &header).unwrap();
            let begun = env.clock.unix().as_micros() * 1000;
            let server = serve(&env, Arc::new(world), ServeOptions::default(), Some(log)).await.unwrap();
            let network = format!(
                "[crawl]\nseeds = {seeds:?}\nscope = 'any'\n[network]\ndns = ['{}']\nallow_address = ['127.0.0.0/8']\nconnect_port = ['80={}']",
                server.dns_address(),
                server.http_port()
            );
            env.files.write_atomic(Path::new("/blocked.txt"), b"host nobody.example\n").unwrap();
            let config = RawConfig::parse(&format!("{config}deny_patterns = ['/denied/']"), "test")
                .unwrap()
                .or(RawConfig::parse(&network, "network").unwrap());
            let control = Control::default();
            let run = Crawl::open(&env, Path::new(ROOT), config).unwrap().run(control.clone());
            let run = tokio::task::spawn_local(run);
            env.clock.sleep(half).await;
            let blocked = format!("host {blocked}\n");
            env.files.write_atomic(Path::new("/blocked.txt"), blocked.as_bytes()).unwrap();
            env.clock.sleep(half).await;
            if stopped {
                control.stop();
                run.await.unwrap().unwrap();
                server.stop().await.unwrap();
            }
            begun
        }
    });
    if !case.stopped {
        simulation.files().kill();
    }
    begun
}

/// Everything that a crawl knows that has these rows: the seeds, and what its pages link to.
fn seen(
    world: &World,
    rows: &BTreeMap<String, String>,
    wanted: impl Fn(&WebUrl) -> bool,
) -> BTreeSet<String> {
    let mut seen: BTreeSet<String> = world.seeds().into_iter().collect();
    for (url, outcome) in rows {
        if matches!(outcome.as_str(), "200" | "301" | "302" | "303" | "307" | "308") {
            seen.extend(world.links(url, 0).into_iter().filter(|link| wanted(&WebUrl::parse(link).unwrap())));
        }
    }
    seen
}

/// Where the response records of the archive are.
fn archived(env: &Env) -> BTreeMap<(String, u64), String> {
    let mut found = BTreeMap::new();
    let warc = Path::new(ROOT).join("warc");
    for entry in env.files.list(&warc).unwrap() {
        let mut reader = WarcReader::open(&env.files, &warc.join(&entry.name)).unwrap();
        while let Ok(Some(record)) = reader.next_record() {
            if matches!(record.kind(), Some(RecordType::Response | RecordType::Revisit)) {
                let url = record.target_uri().unwrap_or_default().to_owned();
                found.insert((entry.name.clone(), record.offset), url);
            }
        }
    }
    found
}

fn name(answer: &Answer) -> &'static str {
    match answer {
        Answer::NeverSeen { refusal: None, .. } => "never seen",
        Answer::NeverSeen { .. } => "never seen, not wanted",
        Answer::Arriving => "arriving",
        Answer::Budgeting => "budgeting",
        Answer::Budgeted { queue: None, .. } => "over budget",
        Answer::Budgeted { .. } => "budgeted",
        Answer::Ready { .. } => "ready",
        Answer::BehindHost { .. } => "behind its host",
        Answer::OnBench { .. } => "on the bench",
        Answer::Again { .. } => "again",
        Answer::Disallowed => "disallowed",
        Answer::Refused { .. } => "refused",
        Answer::Fetched { .. } => "fetched",
        Answer::Failed { .. } => "failed",
    }
}

/// What is held against the answers.
struct Truth {
    world: World,
    seen: BTreeSet<String>,
    requests: Requests,
    archived: BTreeMap<(String, u64), String>,
    /// When the log began, and the checkpoint's moment after that, in nanoseconds.
    begun: i64,
    checkpoint: i64,
    blocked: String,
    complete: bool,
}

impl Truth {
    fn forbids(&self, url: &WebUrl) -> bool {
        self.world.forbidden(url.host_name(), url.path_and_query())
    }

    /// Whether the servers have given this URL its last answer before the checkpoint.
    fn answered_before(&self, url: &str) -> bool {
        let last = |status: u16| !matches!(status, 0 | 429 | 500 | 502 | 503 | 504);
        let requests = self.requests.get(url).into_iter().flatten();
        requests.filter(|(at, _)| *at < self.checkpoint - UNDER_WAY_NANOS).any(|(_, status)| last(*status))
    }

    fn check(&self, url: &WebUrl, why: &Why) {
        let text = url.as_str();
        let told = || format!("{why:#?}\n{:?}", self.requests.get(text));
        assert_eq!(why.url, text);
        match &why.answer {
            // A link to it may have been found when it was on the list already.
            Answer::NeverSeen { refusal: Some("blocked-host"), .. } => {
                assert_eq!(url.host_name(), self.blocked)
            }
            Answer::NeverSeen { .. } => {
                let asked = self.requests.get(text).into_iter().flatten();
                let before = asked.filter(|(at, _)| *at < self.checkpoint).count();
                assert!(!self.seen.contains(text) && before == 0, "{}", told());
            }
            _ => assert!(self.seen.contains(text), "{}", told()),
        }
        match &why.answer {
            Answer::Fetched { instances } => {
                let [instance] = &instances[..] else { panic!("{}", told()) };
                let status: u16 = instance.outcome.parse().unwrap();
                let served = self.requests.get(text).unwrap_or_else(|| panic!("{}", told()));
                assert!(served.iter().any(|(at, of)| *of == status && *at <= self.checkpoint), "{}", told());
                let place = (instance.file.clone().unwrap(), instance.offset.unwrap());
                assert_eq!(self.archived.get(&place).map(String::as_str), Some(text), "{}", told());
                assert!(!self.forbids(url), "{}", told());
            }
            Answer::Failed { instances } => {
                assert_eq!(instances.len(), 1);
                assert_eq!(
                    self.requests.get(text).into_iter().flatten().find(|(_, status)| *status == 200),
                    None,
                    "{}",
                    told()
                );
            }
            Answer::Disallowed => {
                let robots = why.robots.as_ref().unwrap();
                assert!(!robots.allowed && robots.closed.is_some() != robots.line.is_some(), "{}", told());
                assert!(!self.requests.contains_key(text), "{}", told());
                assert!(self.forbids(url) || robots.closed == Some("unreachable"), "{}", told());
            }
            Answer::Refused { refusal } => {
                assert_eq!(
                    (*refusal, url.host_name()),
                    (Some("blocked-host"), self.blocked.as_str()),
                    "{}",
                    told()
                );
            }
            Answer::NeverSeen { .. } => {}
            waits => {
                assert!(!self.complete || matches!(waits, Answer::Budgeted { .. }), "{}", told());
                assert!(!self.answered_before(text), "{}", told());
            }
        }
        if let Answer::OnBench { not_before, .. } | Answer::BehindHost { not_before, .. } = &why.answer {
            let (from, until) =
                (self.checkpoint + UNDER_WAY_NANOS, not_before.as_micros() * 1000 - self.begun);
            let later =
                self.requests.get(text).into_iter().flatten().find(|(at, _)| (from..until).contains(at));
            assert_eq!(later, None, "too early: {}", told());
        }
        if let Answer::Again { attempt, next } = &why.answer {
            let until = next.as_micros() * 1000 - self.begun;
            let later = self
                .requests
                .get(text)
                .into_iter()
                .flatten()
                .find(|(at, _)| (self.checkpoint + 1..until).contains(at));
            assert!(*attempt > 0 && later.is_none(), "{}", told());
        }
    }
}

/// URLs that nobody links to, and by which rule a link to them would be refused.
fn strangers(case: &Case, random: &mut Random, hosts: &[String]) -> Vec<(WebUrl, Option<&'static str>)> {
    let mut strangers = Vec::new();
    let scoped = case.config.contains("scope = 'domain'");
    for number in 0..60 {
        let host = &hosts[random.below(hosts.len() as u64) as usize];
        for (path, refusal) in [
            (format!("/nobody/links/here-{number}"), None),
            (format!("/shop-{number}?add_to_cart=1"), Some("acting-link")),
            (
                format!("/a/{number}/a/{number}/a/{number}/a/{number}/a/{number}/a/{number}/a/b"),
                Some("path-repeats"),
            ),
            (format!("/{}/{number}", "l".repeat(2020 - host.len())), Some("url-too-long")),
            (format!("/denied/{number}"), Some("denied-pattern")),
        ] {
            strangers.push((WebUrl::parse(&format!("{host}{path}")).unwrap(), refusal));
        }
        let elsewhere = format!("http://elsewhere-{number}.example.org/");
        strangers.push((WebUrl::parse(&elsewhere).unwrap(), scoped.then_some("out-of-scope")));
    }
    strangers
}

/// Checks everything that the crawl of a case may be asked for; how often each answer came.
fn check(case: &Case, counts: &mut BTreeMap<&'static str, u64>) -> usize {
    let mut simulation = Simulation::new(case.seed);
    let world = case.world();
    let truth = (case.params.domains < 100).then(|| world.truth(1_000_000).unwrap());
    let pages: BTreeSet<String> =
        truth.map(|truth| truth.pages.union(&truth.failures).cloned().collect()).unwrap_or_default();
    let domains: BTreeSet<String> =
        world.seeds().iter().map(|seed| WebUrl::parse(seed).unwrap().domain().to_owned()).collect();
    let scoped = case.config.contains("scope = 'domain'");
    let wanted = |url: &WebUrl| !scoped || domains.contains(url.domain());
    // A host with many pages, but not that of the seeds.
    let blocked = host_to_block(&pages, &world);
    let begun = crawl(&mut simulation, case, &blocked);
    let counts_here = simulation.run(|env| async move {
        let saved = SavedCrawl::open(&env, Path::new(ROOT)).unwrap();
        assert!(saved.number() > 0, "there is a checkpoint");
        let mut rows = BTreeMap::new();
        saved
            .rows(|row| {
                assert!(rows.insert(row.url.to_owned(), row.outcome.to_owned()).is_none());
            })
            .unwrap();
        let seen = seen(&world, &rows, wanted);
        let truth = Truth {
            seen,
            requests: requests(&env),
            archived: archived(&env),
            begun,
            checkpoint: saved.time().as_micros() * 1000 - begun,
            blocked: blocked.clone(),
            complete: saved.end() == Some(End::Complete),
            world,
        };
        let mut random = Random::from_seed(case.seed);
        let known: BTreeSet<String> = truth.seen.union(&pages).cloned().collect();
        let urls: Vec<WebUrl> = known.iter().map(|url| WebUrl::parse(url).unwrap()).collect();
        let hosts: Vec<String> = urls
            .iter()
            .filter(|url| wanted(url) && url.host_name() != blocked)
            .map(|url| url.host().to_owned())
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        let strangers = strangers(case, &mut random, &hosts);
        let asked: Vec<WebUrl> =
            urls.iter().cloned().chain(strangers.iter().map(|(url, _)| url.clone())).collect();
        let answers = why(&env, Path::new(ROOT), &asked).unwrap();
        assert_eq!(answers.len(), asked.len());
        for (url, answer) in asked.iter().zip(&answers) {
            truth.check(url, answer);
        }
        for ((url, refusal), answer) in strangers.iter().zip(&answers[urls.len()..]) {
            let Answer::NeverSeen { refusal: found, .. } = answer.answer else { panic!("{answer:?}") };
            assert_eq!(found, *refusal, "{url}");
        }
        // One at a time it is the same.
        for _ in 0..20 {
            let index = random.below(asked.len() as u64) as usize;
            let one = why(&env, Path::new(ROOT), &asked[index..=index]).unwrap();
            assert_eq!(one[0], answers[index]);
        }
        let mut counts: BTreeMap<&'static str, u64> = BTreeMap::new();
        answers.iter().for_each(|answer| *counts.entry(name(&answer.answer)).or_default() += 1);
        // The accounts must come out, to the last URL.
        let of = |names: &[&str]| names.iter().filter_map(|name| counts.get(name)).sum::<u64>();
        let accounts = saved.partitions().fold((0, 0, 0, 0, 0), |sum, part| {
            let accounts = part.accounts;
            (
                sum.0 + accounts.seen,
                sum.1 + accounts.fetched,
                sum.2 + accounts.failed,
                sum.3 + accounts.refused,
                sum.4 + part.queued + part.in_flight,
            )
        });
        let waits =
            ["budgeting", "over budget", "budgeted", "ready", "behind its host", "on the bench", "again"];
        let unseen =
            |why: &&Why| matches!(why.answer, Answer::NeverSeen { .. }) && truth.seen.contains(&why.url);
        let blocked = answers.iter().filter(unseen).count() as u64;
        let found = (
            truth.seen.len() as u64 - of(&["arriving"]) - blocked,
            of(&["fetched"]),
            of(&["failed"]),
            of(&["disallowed", "refused"]),
            of(&waits),
        );
        assert_eq!(found, accounts, "seen, fetched, failed, refused, waiting");
        counts
    });
    let sum = counts_here.values().sum::<u64>() as usize;
    counts_here.into_iter().for_each(|(name, count)| *counts.entry(name).or_default() += count);
    sum
}

/// The host with the most pages that is not a seed's.
fn host_to_block(pages: &BTreeSet<String>, world: &World) -> String {
    let seeds: BTreeSet<String> =
        world.seeds().iter().map(|seed| WebUrl::parse(seed).unwrap().host_name().to_owned()).collect();
    let mut hosts: BTreeMap<String, u64> = BTreeMap::new();
    for page in pages {
        *hosts.entry(WebUrl::parse(page).unwrap().host_name().to_owned()).or_default() += 1;
    }
    let others = hosts.into_iter().filter(|(host, _)| !seeds.contains(host));
    others.max_by_key(|(_, count)| *count).map_or_else(|| "nobody.example".into(), |(host, _)| host)
}

#[test]
fn every_answer_is_true() {
    let (mut counts, mut asked) = (BTreeMap::new(), 0);
    for round in 0..20u64 {
        let mut random = Random::from_seed(round).fork("why");
        // With few connections and no delays URLs wait for room, not for their hosts.
        let (crowd, seconds) = ("connections = 3\n[politeness]\ndelay = '0s'", 10..150);
        let (settings, ms) = match round % 8 {
            0 => ("[checkpoint]\nevery = '7s'".to_owned(), seconds),
            1 => ("[crawl]\nbudget = 'popular-only'\n[checkpoint]\nevery = '5s'".to_owned(), seconds),
            2 => {
                ("[crawl]\npartitions = 3\nmemory = '192MiB'\n[checkpoint]\nevery = '9s'".to_owned(), seconds)
            }
            3 => ("[crawl]\nscope = 'domain'\n[checkpoint]\nevery = '4s'".to_owned(), seconds),
            4 => ("[checkpoint]\nevery = '6s'".to_owned(), seconds),
            5 => ("[crawl]\norder = 'short-paths-first'\n[checkpoint]\npages = 50".to_owned(), seconds),
            6 => (format!("[checkpoint]\nevery = '300ms'\n[fetch]\n{crowd}"), 1..4),
            _ => {
                let budget = ["equal", "broad"][round as usize / 8 % 2];
                let budget = format!("[crawl]\nbudget = '{budget}'\nbudget_pages = 3");
                (format!("{budget}\n[checkpoint]\nevery = '300ms'\n[fetch]\n{crowd}"), 1..4)
            }
        };
        let blocks = if round % 8 == 4 { "blocklist = '/blocked.txt'\n" } else { "" };
        let case = Case {
            seed: 1 + round,
            params: linked(Preset::Tiny),
            config: format!("{settings}\n[links]\n{blocks}"),
            ms: (ms.start + random.below(ms.end - ms.start)) * 1000 + random.below(1000),
            stopped: round % 3 == 0,
        };
        asked += check(&case, &mut counts);
    }
    // Hosts that have more than there is room for.
    let settings =
        "[crawl]\nmemory = '64MiB'\n[politeness]\ndelay = '200ms'\n[checkpoint]\nevery = '6s'\n[links]\n";
    let (params, config) = (linked(Preset::Small), settings.to_owned());
    asked += check(&Case { seed: 1, params, config, ms: 25_000, stopped: false }, &mut counts);
    assert!(asked >= 10_000, "{asked} URLs: {counts:?}");
    for name in [
        "never seen",
        "never seen, not wanted",
        "over budget",
        "budgeted",
        "ready",
        "behind its host",
        "on the bench",
        "again",
        "disallowed",
        "refused",
        "fetched",
        "failed",
    ] {
        assert!(counts.contains_key(name), "{name} never came");
    }
}
