//! Figures against what was stored.

use std::collections::{BTreeMap, BTreeSet};

use mattock_env::Random;
use mattock_query::{Cancel, Language};
use mattock_study::report::{DataSet, ReportError, ReportOptions};
use serde_json::Value;

use crate::report::world::{Doc, World, small};

fn json(data: &DataSet) -> Value {
    serde_json::to_value(data).unwrap()
}

#[test]
fn a_small_repository_as_json() {
    let data = World::new(&small()).report();
    insta::assert_snapshot!("small", serde_json::to_string_pretty(&json(&data)).unwrap());
}

#[test]
fn the_figures_of_a_small_repository() {
    let data = World::new(&small()).report();
    let size = &data.size;
    assert_eq!((size.instances, size.pages, size.urls), (10, 8, 8));
    assert_eq!((size.hosts, size.domains, size.truncated), (4, 3, 1));
    assert_eq!((size.first_fetch.as_deref(), size.seconds), (Some("2026-01-01T00:00:00Z"), 7200.0));
    let (copies, change) = (&data.copies, &data.change);
    assert_eq!((copies.pages, copies.payloads, copies.copies, copies.urls_most), (7, 6, 1, 2));
    assert_eq!((change.urls_again, change.instances_again, change.changed), (1, 2, 1));
    assert_eq!(change.seconds_between.as_ref().unwrap().median, 3600);
    let content = &data.content;
    assert_eq!((content.html_pages, content.sample_pages, content.sample_probability), (7, 7, 1.0));
    let languages: Vec<(&str, u64)> =
        content.languages.values.iter().map(|share| (share.language.as_str(), share.pages)).collect();
    assert_eq!(languages, [("eng", 6), ("deu", 1)]);
    let ages = content.age_seconds.as_ref().unwrap();
    assert_eq!((ages.count, ages.least, ages.most), (2, 3610, 3640));
    assert_eq!(data.course.stretch_seconds, 120);
    assert_eq!(data.course.stretches.iter().map(|stretch| stretch.pages).sum::<u64>(), 8);
    let domains: Vec<(&str, u64)> =
        data.properties.domains.by_pages.iter().map(|share| (share.value.as_str(), share.count)).collect();
    assert_eq!(domains, [("example.org", 5), ("example.com", 2), ("example.co.uk", 1)]);
    assert!(data.properties.hosts.by_pages.iter().any(|share| share.value == "http://de.example.org:8080"));
    assert!(data.links.is_none() && data.crawl.is_none());
}

/// Figures that are defined, and that stand in the object where their definition says.
#[test]
fn every_figure_is_defined_and_its_query_gives_rows() {
    let world = World::new(&small());
    world.link(&[("http://www.example.org/", &["http://www.example.org/one.html"])]);
    let data = world.report();
    let all = json(&data);
    let session = world.session(2);
    let mut queries = BTreeSet::new();
    for definition in &data.definitions {
        let found = definition.figure.split('.').try_fold(&all, |value, name| value.get(name));
        assert!(found.is_some(), "{} is nowhere", definition.figure);
        assert!(definition.definition.ends_with('.') && !definition.definition.is_empty(), "{definition:?}");
        if let Some(sql) = definition.command.strip_prefix("mattock query some-crawl --sql \"") {
            queries.insert(sql.strip_suffix('"').unwrap());
        } else {
            let known = ["graph stats", "graph bowtie", "graph top", "features info", "report"];
            let command = definition.command.strip_prefix("mattock ").unwrap();
            assert!(known.iter().any(|known| command.starts_with(known)), "{definition:?}");
        }
    }
    assert!(queries.len() > 20, "{queries:?}");
    for sql in queries {
        assert!(!sql.contains(['"', '$', '`', '\\']), "a shell takes it as it is: {sql}");
        let mut sink = mattock_query::sink::MemorySink::default();
        let query = session.plan(sql, Language::Sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        query.run(&mut sink, &mut |_| {}, &Cancel::new()).unwrap();
        let rows: usize = sink.batches.iter().map(|batch| batch.num_rows()).sum();
        assert!(rows > 0 || sql.contains("depth"), "{sql}");
    }
    // What is told has a definition.
    for name in
        ["size.pages", "properties.types", "course.stretches", "copies.copies", "links.links", "record_bytes"]
    {
        assert!(data.definitions.iter().any(|definition| definition.figure == name), "{name}");
    }
}

#[test]
fn an_empty_repository_has_a_report_too() {
    let data = World::new(&[]).report();
    assert_eq!((data.size.instances, data.size.first_fetch.as_deref()), (0, None));
    assert!(data.record_bytes.is_none() && data.course.stretches.is_empty());
    assert_eq!(data.missing[0].command.as_deref(), Some("mattock features build some-crawl"));
    let html = data.to_html();
    mattock_plot::markup::check(&html);
    assert!(html.contains("Nothing is stored yet.") && html.contains("mattock features build some-crawl"));
}

#[test]
fn nothing_depends_on_threads_or_on_what_is_in_memory() {
    let world = World::new(&small());
    world.link(&[
        ("http://www.example.org/", &["http://www.example.org/one.html", "https://mirror.example.co.uk/"]),
        ("http://www.example.org/one.html", &["http://www.example.org/"]),
    ]);
    let of = |threads: usize, memory_bytes: usize| {
        let options = ReportOptions { threads, memory_bytes, ..ReportOptions::default() };
        world.report_with(&options, None, &Cancel::new()).unwrap()
    };
    let first = of(1, 512 << 20);
    for (threads, memory_bytes) in [(1, 512 << 20), (3, 512 << 20), (2, 1 << 20)] {
        let other = of(threads, memory_bytes);
        assert_eq!(json(&first), json(&other), "{threads} threads, {memory_bytes} bytes");
        assert_eq!(first.to_html(), other.to_html());
    }
}

#[test]
fn a_report_can_be_stopped() {
    let cancel = Cancel::new();
    cancel.cancel();
    let stopped = World::new(&small()).report_with(&ReportOptions::default(), None, &cancel);
    assert!(matches!(stopped, Err(ReportError::Stopped)), "{stopped:?}");
}

/// Documents at random on a few hosts.
fn random(seed: u64, count: usize) -> Vec<Doc> {
    let mut random = Random::from_seed(seed);
    let mut below = |limit: u64| random.below(limit);
    (0..count)
        .map(|_| {
            let host = ["a.org", "www.a.org", "b.co.uk", "c.com", "192.0.2.7"][below(5) as usize];
            let scheme = ["http", "https"][below(2) as usize];
            let url = format!("{scheme}://{host}/{}", below(20));
            let (second, body) = (below(100_000) as i64, format!("text {}", below(8)));
            match below(4) {
                0 => Doc::answer(&url, second, [404, 301, 500][below(3) as usize]),
                _ => Doc {
                    kind: ["text/html", "text/plain"][below(2) as usize].into(),
                    ..Doc::page(&url, second, &body)
                },
            }
        })
        .collect()
}

#[test]
fn as_a_naive_model_counts() {
    for seed in 0..3 {
        let mut docs = random(seed, 120);
        // One URL has one instance at one time.
        let mut taken = BTreeSet::new();
        docs.retain(|doc| taken.insert((doc.url.clone(), doc.second)));
        let data = World::new(&docs).report();
        let pages = || docs.iter().filter(|doc| doc.status == 200);
        let counted = |keys: &mut dyn Iterator<Item = String>| {
            let mut counts: BTreeMap<String, u64> = BTreeMap::new();
            keys.for_each(|key| *counts.entry(key).or_default() += 1);
            counts
        };
        let told = |shares: &mattock_study::report::Shares| -> BTreeMap<String, u64> {
            shares.values.iter().map(|share| (share.value.clone(), share.count)).collect()
        };
        let properties = &data.properties;
        let host = |doc: &Doc| doc.url.split('/').take(3).collect::<Vec<_>>().join("/");
        assert_eq!(told(&properties.statuses), counted(&mut docs.iter().map(|doc| doc.status.to_string())));
        assert_eq!(told(&properties.types), counted(&mut pages().map(|doc| doc.kind.clone())));
        let hosts = counted(&mut pages().map(host));
        let by_pages = properties.hosts.by_pages.iter().map(|share| (share.value.clone(), share.count));
        assert_eq!(by_pages.collect::<BTreeMap<_, _>>(), hosts);
        assert_eq!(data.size.hosts, docs.iter().map(host).collect::<BTreeSet<_>>().len() as u64);
        assert!(properties.hosts.by_pages.is_sorted_by(|one, two| one.count >= two.count));
        assert!(properties.hosts.by_bytes.is_sorted_by(|one, two| one.archive_bytes >= two.archive_bytes));
        let sizes: u64 = properties.hosts.sizes.iter().map(|size| size.names * size.pages).sum();
        assert_eq!(sizes, pages().count() as u64);
        let payloads: BTreeSet<(&str, &str)> =
            pages().map(|doc| (doc.url.as_str(), doc.body.as_str())).collect();
        let bodies: BTreeSet<&str> = pages().map(|doc| doc.body.as_str()).collect();
        assert_eq!((data.copies.pages, data.copies.payloads), (payloads.len() as u64, bodies.len() as u64));

        let mut chains: BTreeMap<&str, Vec<&Doc>> = BTreeMap::new();
        docs.iter().for_each(|doc| chains.entry(&doc.url).or_default().push(doc));
        let (mut again, mut changed) = (0, 0);
        for chain in chains.values_mut() {
            chain.sort_by_key(|doc| doc.second);
            again += chain.len() as u64 - 1;
            changed += chain.windows(2).filter(|pair| pair[0].body != pair[1].body).count() as u64;
        }
        assert_eq!((data.change.instances_again, data.change.changed), (again, changed), "seed {seed}");
        assert_eq!(data.size.urls, chains.len() as u64);
        assert_eq!(
            data.course.stretches.iter().map(|stretch| stretch.instances).sum::<u64>(),
            docs.len() as u64
        );
        assert!(data.course.stretches.len() <= 101);
    }
}
