//! Features of a crawl of the simulated Web are what the world knows of itself.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use mattock_crawl::{Control, Crawl, End, RawConfig, SavedCrawl};
use mattock_env::sim::Simulation;
use mattock_env::{Env, Files};
use mattock_features::{Direction, Features, Grain};
use mattock_index::{IndexOptions, LedgerSource};
use mattock_query::Cancel;
use mattock_simweb::{Params, Preset, ServeOptions, World, serve};
use mattock_study::{BuildFeatures, FEATURES, build};

use crate::shelf::{Graph, graph};

const ROOT: &str = "/crawl";

/// A world with everything that makes links hard: mirrors, copies, odd spellings, sessions, calendars, redirects, links not to be followed.
fn world(seed: u64) -> World {
    let params = Params {
        domains: 12,
        mirror_hosts: 0.2,
        near_duplicates: 0.2,
        redirects: 0.1,
        odd_spellings: 0.3,
        nofollow_links: 0.2,
        meta_nofollow: 0.1,
        session_hosts: 0.3,
        broken_links: 0.3,
        ..Params::preset(Preset::Tiny)
    };
    params.check().unwrap();
    World::new(params, seed)
}

async fn crawl(env: Env, world: World) {
    let seeds = world.seeds();
    let server = serve(&env, Arc::new(world), ServeOptions::default(), None).await.unwrap();
    let config = format!(
        "[crawl]\nseeds = {seeds:?}\nscope = 'any'\n[network]\ndns = ['{}']\nallow_address = ['127.0.0.0/8']\nconnect_port = ['80={}']",
        server.dns_address(),
        server.http_port()
    );
    let config = RawConfig::parse(&config, "test").unwrap();
    let summary = Crawl::open(&env, Path::new(ROOT), config).unwrap().run(Control::default()).await.unwrap();
    assert_eq!(summary.end, End::Complete);
    server.stop().await.unwrap();
}

/// Brings the index up to the crawl's last checkpoint; the URLs of pages and redirects that its ledger has.
fn index(env: &Env) -> BTreeSet<String> {
    let saved = SavedCrawl::open(env, Path::new(ROOT)).unwrap();
    let named = |ledger: mattock_crawl::SavedLedger| LedgerSource {
        name: ledger.name,
        path: ledger.path,
        bytes: ledger.bytes,
    };
    let ledgers: Vec<LedgerSource> = saved.ledgers().into_iter().map(named).collect();
    let options = IndexOptions { crawl: "crawl".into(), archive: "warc".into() };
    let updated = mattock_index::update(&env.files, Path::new(ROOT), &ledgers, &options, 1, |_| {}).unwrap();
    assert_eq!((updated.parts, updated.tail), (1, 0));
    let mut pages = BTreeSet::new();
    saved
        .rows(|row| {
            let leads = row.details.is_some_and(|details| !details.redirect.is_empty());
            if row.outcome == "200" || row.outcome.starts_with('3') && leads {
                pages.insert(row.url.to_owned());
            }
        })
        .unwrap();
    pages
}

#[test]
fn links_and_degrees_are_those_of_the_world() {
    for seed in [2, 3] {
        let world = world(seed);
        let mut simulation = Simulation::new(seed);
        simulation.run(|env| crawl(env, world.clone()));
        let pages = simulation.run(|env| async move { index(&env) });
        let files = Files::simulated(simulation.files().clone());
        let mut options = BuildFeatures::new(Path::new(ROOT));
        // Pieces, and too little memory to sort them without runs.
        (options.memory, options.piece_rows) = (16 << 20, 150);
        let built = build(&files, &options, &mut |_| {}, &Cancel::new()).unwrap();
        assert!(built.failures.is_empty(), "{:?}", built.failures);

        let truth = world.truth(1_000_000).unwrap();
        assert!(pages.is_superset(&truth.pages) && truth.pages.len() > 200, "seed {seed}");
        let expected: Graph =
            pages.iter().map(|url| (url.clone(), world.links_on(url).into_iter().collect())).collect();
        let features = Features::open(&files, &Path::new(ROOT).join(FEATURES)).unwrap();
        let found = graph(&features);
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "seed {seed}");
        for (url, links) in &expected {
            assert_eq!(&found[url], links, "seed {seed}: {url}");
        }

        let mut in_degrees: BTreeMap<&str, u64> = BTreeMap::new();
        for target in expected.values().flatten() {
            *in_degrees.entry(target).or_default() += 1;
        }
        let urls = features.urls().unwrap();
        let in_links = features.links(Grain::Pages, Direction::In).unwrap();
        for id in 0..urls.len() {
            let url = urls.url(id).unwrap().unwrap();
            assert_eq!(in_links.degree(id), in_degrees.get(url.as_str()).copied().unwrap_or(0), "{url}");
        }
        assert_eq!(
            built.counts.unwrap().links,
            expected.values().map(|links| links.len() as u64).sum::<u64>()
        );
    }
}
