//! Limits on a crawl: pages, depth, scope.

use std::path::Path;
use std::time::Duration;

use mattock_crawl::{End, Summary};
use mattock_env::sim::Simulation;
use mattock_weburl::WebUrl;

use crate::world::{archived, assert_polite, crawl, tiny};

fn crawled(change: &'static str) -> (Summary, Vec<WebUrl>) {
    Simulation::new(1).run(|env| async move {
        let root = Path::new("/crawl");
        let (summary, report) = crawl(&env, tiny(1), root, change).await;
        assert_polite(&report, Duration::from_secs(2));
        let urls = archived(&env, root).iter().map(|url| WebUrl::parse(url).unwrap()).collect();
        (summary, urls)
    })
}

#[test]
fn no_more_pages_than_asked_for() {
    for (change, pages) in [("[crawl]\nmax_pages = 1", 1), ("[crawl]\nmax_pages = 57", 57)] {
        let (summary, urls) = crawled(change);
        assert_eq!((summary.end, summary.pages), (End::MaxPages, pages));
        assert_eq!(urls.len() as u64, pages);
        assert!(summary.urls_queued > 0);
    }
}

#[test]
fn depth_is_counted_from_the_seeds() {
    let (seed_only, urls) = crawled("[crawl]\nmax_depth = 0");
    assert_eq!(seed_only.end, End::Complete);
    assert_eq!(urls.len(), tiny(1).seeds().len());
    let (one, _) = crawled("[crawl]\nmax_depth = 1");
    let (two, _) = crawled("[crawl]\nmax_depth = 2");
    assert!(seed_only.pages < one.pages && one.pages < two.pages);
    assert!(one.refused["too-deep"] > 0);
}

#[test]
fn scope_keeps_to_the_seeds_hosts_or_domains() {
    let seeds: Vec<WebUrl> = tiny(1).seeds().iter().map(|seed| WebUrl::parse(seed).unwrap()).collect();
    let (by_host, urls) = crawled("[crawl]\nscope = 'host'");
    assert!(urls.iter().all(|url| seeds.iter().any(|seed| seed.host() == url.host())));
    let (by_domain, urls) = crawled("[crawl]\nscope = 'domain'");
    assert!(urls.iter().all(|url| seeds.iter().any(|seed| seed.domain() == url.domain())));
    let (any, _) = crawled("");
    assert!(by_host.pages > 1 && by_host.pages <= by_domain.pages && by_domain.pages < any.pages);
    assert!(by_host.refused["out-of-scope"] > 0);
}
