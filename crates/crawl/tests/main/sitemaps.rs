//! Sitemaps lead to pages that nothing else leads to, politely and within their limits.

use std::path::Path;

use mattock_env::sim::Simulation;
use mattock_simweb::{Params, World};

use crate::world::{archived, assert_polite, crawl, tiny};

const SEED: u64 = 3;

fn world() -> World {
    World::new(Params { sitemap_hosts: 1.0, sitemap_only_pages: 5, ..tiny(SEED).params().clone() }, SEED)
}

#[test]
fn what_only_sitemaps_list_is_found() {
    let truth = world().truth(1_000_000).unwrap();
    let unlinked = truth.pages.iter().filter(|url| url.contains("/unlinked/")).count();
    assert!(unlinked >= 30, "{unlinked} pages are too few to tell");
    let (summary, report, pages) = Simulation::new(SEED).run(|env| async move {
        let root = Path::new("/crawl");
        let (summary, report) = crawl(&env, world(), root, "").await;
        (summary, report, archived(&env, root))
    });
    assert_eq!(pages, truth.pages);
    assert_eq!(summary.pages, truth.allowed, "sitemaps are counted apart");
    assert_polite(&report, std::time::Duration::from_secs(2));
    for kind in ["url-set", "index", "text", "rss"] {
        assert!(summary.sitemaps.get(kind).is_some_and(|&count| count > 0), "{:?}", summary.sitemaps);
    }
    assert_eq!(summary.sitemaps.get("not-a-sitemap"), None, "{:?}", summary.sitemaps);
}

/// Their pages would lie too deep.
#[test]
fn sitemaps_are_not_asked_for_in_vain() {
    let (summary, report) = Simulation::new(SEED)
        .run(|env| async move { crawl(&env, world(), Path::new("/crawl"), "[crawl]\nmax_depth = 1").await });
    assert!(summary.pages > 5);
    // The seed's own host has no sitemap, and all others are one step away.
    assert!(summary.sitemaps.is_empty(), "{:?}", summary.sitemaps);
    assert_eq!(report.robots_violations, 0);
}
