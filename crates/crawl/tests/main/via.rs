//! Every page says where the crawl found it, and that is true: what is named there leads to the page.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use mattock_crawl::{Control, End, SavedCrawl};
use mattock_env::Env;
use mattock_env::sim::Simulation;
use mattock_robots::sitemap;
use mattock_simweb::{Answer, Params, Request, World};
use mattock_weburl::{Base, Fingerprint, WebUrl};

use crate::world::{crawl, crawl_until, tiny};

const ROOT: &str = "/crawl";
const SEED: u64 = 3;

/// With sitemaps of all forms, and pages that only they lead to.
fn world() -> World {
    World::new(Params { sitemap_hosts: 1.0, sitemap_only_pages: 5, ..tiny(SEED).params().clone() }, SEED)
}

/// Every URL that has answered, and what it was found on.
fn rows(env: &Env) -> BTreeMap<String, Option<u64>> {
    let mut rows = BTreeMap::new();
    let saved = SavedCrawl::open(env, Path::new(ROOT)).unwrap();
    let visit = |row: &mattock_repository::Row<'_>| {
        if let Some(details) = row.details {
            assert!(rows.insert(row.url.to_owned(), details.via).is_none(), "{} is there twice", row.url);
        }
    };
    saved.rows(visit).unwrap();
    rows
}

fn answer(world: &World, url: &str, body: &mut Vec<u8>) -> Answer {
    let url = WebUrl::parse(url).unwrap();
    let (host, path_and_query) = (url.host_name(), url.path_and_query());
    world.answer(&Request { host, path_and_query, ..Request::default() }, 0, body)
}

/// All that `url` leads to, as the world has it: by its links, by a redirect, or by what it lists.
fn targets(world: &World, url: &str) -> Vec<String> {
    let mut targets = world.links(url, 0);
    let from = WebUrl::parse(url).unwrap();
    let mut body = Vec::new();
    let answer = answer(world, url, &mut body);
    let mut listed: Vec<String> = answer.location.into_iter().collect();
    if url.ends_with("/robots.txt") {
        let text = String::from_utf8(body).unwrap();
        listed.extend(text.lines().filter_map(|line| Some(line.strip_prefix("Sitemap:")?.trim().to_owned())));
    } else if !answer.content_type.starts_with("text/html") {
        let limits = sitemap::Limits::default();
        let sitemap = sitemap::parse(&body, Some(answer.content_type), &limits);
        listed.extend(sitemap.entries.into_iter().map(|entry| entry.url).chain(sitemap.children));
    }
    let base = Base::new(&from);
    targets.extend(listed.iter().filter_map(|text| Some(base.join(text).ok()?.to_string())));
    targets
}

/// Checks every row; how many were found by links, by redirects, by sitemaps and by robots.txt.
fn check(world: &World, rows: &BTreeMap<String, Option<u64>>) -> [usize; 4] {
    let robots = rows.keys().map(|url| format!("{}/robots.txt", WebUrl::parse(url).unwrap().host()));
    let known: BTreeMap<u64, String> =
        rows.keys().cloned().chain(robots).map(|url| (Fingerprint::of(&url).0, url)).collect();
    let seeds = world.seeds();
    let mut counts = [0; 4];
    for (url, via) in rows {
        let Some(via) = via else {
            assert!(seeds.contains(url), "{url} was found somewhere");
            continue;
        };
        assert!(!seeds.contains(url), "{url} is a seed, and was not found anywhere");
        let source = known.get(via).unwrap_or_else(|| panic!("{url} was found on a page that never came"));
        assert!(targets(world, source).contains(url), "{source} does not lead to {url}");
        let kind = match source.rsplit('/').next().unwrap_or_default() {
            "robots.txt" => 3,
            file if file.starts_with("sitemap") || file == "feed.xml" => 2,
            _ if answer(world, source, &mut Vec::new()).location.is_some() => 1,
            _ => 0,
        };
        counts[kind] += 1;
    }
    counts
}

#[test]
fn what_is_named_leads_to_the_page() {
    let rows = Simulation::new(SEED).run(|env| async move {
        crawl(&env, world(), Path::new(ROOT), "").await;
        rows(&env)
    });
    let counts = check(&world(), &rows);
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
    assert!(counts[0] > 100, "{counts:?}");
}

#[test]
fn through_restarts_and_between_partitions_too() {
    let rows = Simulation::new(SEED).run(|env| async move {
        for (partitions, seconds) in [(2, 20), (2, 30), (3, 40), (3, u64::MAX)] {
            let (control, clock) = (Control::default(), env.clock.clone());
            let stopper = control.clone();
            let timer = tokio::task::spawn_local(async move {
                clock.sleep(Duration::from_secs(seconds.min(1 << 30))).await;
                stopper.stop();
            });
            let change = format!("[crawl]\npartitions = {partitions}\nmemory = '256MiB'\nbudget = 'broad'");
            let (summary, _) = crawl_until(&env, world(), Path::new(ROOT), &change, control).await;
            timer.abort();
            assert_eq!(summary.end == End::Complete, seconds == u64::MAX);
        }
        rows(&env)
    });
    let counts = check(&world(), &rows);
    assert!(counts[0] > 100 && counts[2] > 0, "{counts:?}");
}
