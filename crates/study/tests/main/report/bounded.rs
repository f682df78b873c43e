//! Graphs that memory is too small for.

use std::path::Path;

use mattock_features::{BuildOptions, build_from_ids};
use mattock_query::Cancel;
use mattock_study::FEATURES;
use mattock_study::report::{DataSet, ReportOptions};

use crate::report::world::{ROOT, World, small};

/// Pages of two hosts, each of which links to all.
const PAGES: usize = 60;

fn dense() -> World {
    let world = World::new(&small());
    let urls: Vec<String> =
        (0..PAGES).map(|number| format!("http://{}.org/{number}", ["a", "b"][number % 2])).collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    world.link(&urls.iter().map(|url| (*url, urls.as_slice())).collect::<Vec<_>>());
    world
}

fn within(world: &World, memory_bytes: usize) -> DataSet {
    let options = ReportOptions { memory_bytes, ..ReportOptions::default() };
    world.report_with(&options, None, &Cancel::new()).unwrap()
}

fn figures(data: &DataSet) -> Vec<&str> {
    data.missing.iter().map(|missing| missing.figures).collect()
}

#[test]
fn lists_and_coded_links_give_the_same_figures() {
    let world = dense();
    let lists = within(&world, 512 << 20);
    assert_eq!(lists.links.as_ref().unwrap().links, (PAGES * PAGES) as u64);
    // Lists of both directions alone take more than that.
    let coded = within(&world, PAGES * PAGES * 2 * 4);
    assert_eq!(coded.links, lists.links);
    assert_eq!(figures(&coded), ["copies.near"]);
}

#[test]
fn a_graph_that_does_not_fit_is_left_out_and_told() {
    let world = dense();
    // Coded links fit, and what is kept for each page beside them does not.
    let data = within(&world, 8_000);
    assert_eq!(figures(&data), ["copies.near", "links.page_graph"]);
    let links = data.links.as_ref().unwrap();
    let whole = within(&world, 512 << 20).links.unwrap();
    assert_eq!((links.page_graph.as_ref(), links.links), (None, whole.links));
    assert_eq!((&links.reach, &links.host_graph), (&whole.reach, &whole.host_graph));
    let missing = &data.missing[1];
    assert!(missing.why.starts_with("60 nodes and 3,600 links need about "), "{missing:?}");
    assert_eq!(missing.command.as_deref(), Some("mattock report some-crawl --memory 1MiB"));
    let html = data.to_html();
    mattock_plot::markup::check(&html);
    assert!(html.contains("The graph of URLs is left out. 60 nodes") && !html.contains("Bow-tie</h"));
    assert!(data.definitions.iter().all(|definition| !definition.figure.starts_with("links.page_graph")));

    let none = within(&world, 0);
    let all = ["links.reach", "links.page_graph", "links.host_graph", "links.domain_graph"];
    assert_eq!(figures(&none)[1..], all);
    assert_eq!(none.links.as_ref().unwrap().urls, PAGES as u64, "the manifest knows them");
    mattock_plot::markup::check(&none.to_html());
}

#[test]
fn a_graph_of_numbers_is_bounded_too() {
    let world = World::new(&small());
    let options = BuildOptions { memory: 1 << 22, ..BuildOptions::default() };
    let dir = Path::new(ROOT).join(FEATURES);
    build_from_ids(&world.files, &dir, &options, Some(100_000), [Ok((0, 1))], &mut |_| {}).unwrap();
    let data = within(&world, 1 << 20);
    assert_eq!(figures(&data)[1..], ["links.page_graph"]);
    assert!(within(&world, 64 << 20).links.unwrap().page_graph.is_some());
}
