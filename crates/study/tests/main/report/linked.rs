//! What the links tell, with feature databases of all kinds.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use mattock_features::{BuildOptions, Features, build_from_ids};
use mattock_query::{Cancel, Summed, VALUES_VERSION, seal_values};
use mattock_study::FEATURES;
use mattock_study::report::{Reach, ReportOptions};
use parquet::arrow::ArrowWriter;

use crate::report::world::{ROOT, World, small};

/// Two sites, a page of nobody, and URLs that were never crawled.
const LINKS: [(&str, &[&str]); 5] = [
    (
        "http://www.a.org/",
        &["http://www.a.org/1", "http://www.a.org/2", "http://blog.a.org/", "https://b.com/"],
    ),
    ("http://www.a.org/1", &["http://www.a.org/", "http://www.a.org/1"]),
    ("http://www.a.org/2", &["http://www.a.org/", "https://b.com/", "https://c.com/never"]),
    ("http://blog.a.org/", &["http://www.a.org/"]),
    ("https://d.com/alone", &[]),
];

#[test]
fn links_are_counted_by_how_far_they_lead() {
    let world = World::new(&small());
    world.link(&LINKS);
    let links = world.report().links.unwrap();
    assert_eq!((links.urls, links.urls_crawled, links.links, links.hosts, links.domains), (7, 5, 10, 5, 4));
    assert_eq!(links.reach, Some(Reach { within_host: 5, within_domain: 2, between_domains: 3 }));
    let graph = links.page_graph.as_ref().unwrap();
    assert_eq!((graph.nodes, graph.links), (7, 10));
    // Of nine links between different pages six are answered.
    assert_eq!(graph.reciprocity, 6.0 / 9.0);
    assert_eq!((graph.strong_components, graph.strong_component_most, graph.weak_components), (4, 4, 2));
    assert_eq!(graph.bowtie.sizes(), [4, 0, 2, 0, 0, 1]);
    assert_eq!((graph.in_degrees.most, graph.in_degrees.zero, graph.out_degrees.most), (3, 1, 4));
    assert_eq!((graph.top[0].name.as_str(), graph.top[0].in_degree), ("http://www.a.org/", 3));
    assert_eq!(links.domain_graph.as_ref().unwrap().nodes, 4);
    let hosts = links.host_graph.unwrap();
    assert_eq!((hosts.nodes, hosts.links), (5, 4));
    assert!(hosts.top.iter().any(|ranked| ranked.name == "https://b.com"));
    let sum: f64 = hosts.top.iter().map(|ranked| ranked.pagerank).sum();
    assert!((sum - 1.0).abs() < 1e-5, "{sum}");
}

#[test]
fn the_page_shows_them() {
    let world = World::new(&small());
    assert!(world.report().to_html().contains("mattock features build some-crawl"));
    world.link(&LINKS);
    let html = world.report().to_html();
    mattock_plot::markup::check(&html);
    for part in [
        "Bow-tie",
        "core: 4 URLs (57.1 %)",
        "Three graphs",
        "https://b.com/",
        "mattock graph bowtie some-crawl",
    ] {
        assert!(html.contains(part), "{part}");
    }
    assert!(!html.contains("features build"), "they are there");
    assert!(html.contains("mattock duplicates some-crawl"), "that was not done yet");
}

#[test]
fn a_graph_of_numbers_has_no_hosts() {
    let world = World::new(&small());
    let pairs = [(0, 1), (1, 2), (2, 0), (3, 0)].map(Ok);
    let dir = Path::new(ROOT).join(FEATURES);
    build_from_ids(
        &world.files,
        &dir,
        &BuildOptions { memory: 1 << 22, ..BuildOptions::default() },
        Some(4),
        pairs,
        &mut |_| {},
    )
    .unwrap();
    let data = world.report();
    let links = data.links.as_ref().unwrap();
    assert_eq!((links.urls, links.links), (4, 4));
    assert!(links.reach.is_none() && links.host_graph.is_none() && links.domain_graph.is_none());
    let graph = links.page_graph.as_ref().unwrap();
    assert_eq!(graph.top[0].name, "0");
    assert_eq!(graph.bowtie.sizes(), [3, 1, 0, 0, 0, 0]);
    mattock_plot::markup::check(&data.to_html());
}

fn keep_clusters(world: &World, version: &str) {
    let features = Features::open(&world.files, &Path::new(ROOT).join(FEATURES)).unwrap();
    let columns: [(&str, Vec<i64>); 2] =
        [("url_key", (0..7).collect()), ("value", vec![0, 0, 2, 2, 2, 5, 6])];
    let columns = columns.map(|(name, values)| (name, Arc::new(Int64Array::from(values)) as ArrayRef));
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = ArrowWriter::try_new(Summed::new(Vec::new()), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    seal_values(&mut writer, version).unwrap();
    let directory = features.dir().join("columns");
    world.files.create_dir_all(&directory).unwrap();
    let bytes = writer.into_inner().unwrap().into_inner();
    world.files.write_atomic(&directory.join("cluster.parquet"), &bytes).unwrap();
}

#[test]
fn clusters_that_were_kept_are_counted() {
    let world = World::new(&small());
    world.link(&LINKS);
    keep_clusters(&world, "7");
    let result = world.report_with(&ReportOptions::default(), None, &Cancel::new());
    let said = result.unwrap_err().to_string();
    assert!(said.contains("version \"7\"") && said.ends_with("`mattock duplicates` makes it anew"), "{said}");
    keep_clusters(&world, VALUES_VERSION);
    let data = world.report();
    let near = data.copies.near.unwrap();
    assert_eq!((near.pages, near.clusters, near.copies, near.pages_most), (5, 2, 3, 3));
    assert!(data.missing.is_empty());
    assert!(data.to_html().contains("Clusters of near-duplicates"));
}

#[test]
fn damaged_features_are_an_error_that_says_what_to_do() {
    let world = World::new(&small());
    world.link(&LINKS);
    let manifest = Path::new(ROOT).join(FEATURES).join("MANIFEST");
    world.files.write_atomic(&manifest, b"nonsense").unwrap();
    let result = world.report_with(&ReportOptions::default(), None, &Cancel::new());
    let said = result.unwrap_err().to_string();
    assert!(said.contains("MANIFEST") && said.contains("mattock features build"), "{said}");
}
