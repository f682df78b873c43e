//! Features that are not of the documents which the report is about.

use std::path::Path;

use mattock_features::ListKind;
use mattock_query::Cancel;
use mattock_study::report::{DataSet, Missing, ReportOptions};
use mattock_study::{BuildFeatures, Foreign, Texts, build, build_from};

use crate::report::world::{Doc, ROOT, World, small};

fn built(docs: &[Doc]) -> World {
    let world = World::new(docs);
    build_again(&world);
    world
}

fn build_again(world: &World) {
    let mut options = BuildFeatures::new(Path::new(ROOT));
    (options.memory, options.threads) = (64 << 20, 1);
    build(&world.files, &options, &mut |_| {}, &Cancel::new()).unwrap();
}

/// What is said of the features.
fn note(data: &DataSet) -> Option<&Missing> {
    data.missing.iter().find(|missing| missing.figures == "features")
}

#[test]
fn features_that_are_older_than_the_documents_are_told_as_such() {
    let mut world = built(&small());
    let first = world.report();
    assert_eq!(note(&first), None);
    world.add(&[Doc::page("http://new.example.org/", 9000, "new")]);
    let data = world.report();
    assert_eq!(data.links, first.links);
    let said = note(&data).unwrap();
    assert!(said.why.ends_with("generation 1 of the feature databases, which is older than the documents"));
    assert_eq!(said.command.as_deref(), Some("mattock features build some-crawl"));
    let html = data.to_html();
    mattock_plot::markup::check(&html);
    assert!(html.contains("which is older than the documents. This makes them: mattock features build"));
    build_again(&world);
    let data = world.report();
    assert_eq!((note(&data), data.links.as_ref().unwrap().generation), (None, 2));
    assert_ne!(data.links.as_ref().unwrap().urls, first.links.unwrap().urls);
}

#[test]
fn no_date_reaches_features() {
    let world = built(&small());
    let now = world.report();
    // The date of the last fetch leaves nothing out, and that of an earlier one does.
    let last = world.report_as_of(7200, now.size.last_fetch.as_deref().unwrap());
    assert_eq!((note(&last), &last.links), (None, &now.links));
    let earlier = world.report_as_of(100, "2026-01-01T00:01:40Z");
    assert!(earlier.size.instances < now.size.instances);
    assert_eq!(earlier.links, now.links);
    let said = note(&earlier).unwrap();
    assert!(said.why.ends_with("as it was built: no date reaches into it"), "{said:?}");
    assert_eq!(said.command, None);
    let html = earlier.to_html();
    mattock_plot::markup::check(&html);
    assert!(html.contains("no date reaches into it"));
    assert!(html.contains("those of generation 1 of the feature databases as it was built"));
}

#[test]
fn features_of_something_else_and_from_elsewhere() {
    let world = World::new(&small());
    let texts = Texts { parts: Vec::new(), inputs: Box::new(std::iter::empty()) };
    let elsewhere = Path::new("/data/elsewhere");
    let list = Foreign::List(ListKind::Urls, texts);
    build_from(&world.files, elsewhere, list, 1 << 22, &mut |_| {}, &Cancel::new()).unwrap();
    assert!(world.report().links.is_none());
    let options = ReportOptions::default();
    let session = world.session(1);
    let data = world.report_on(&session, Some((elsewhere, "elsewhere")), None, &options, &Cancel::new());
    let data = data.unwrap();
    assert!(data.links.is_some());
    let said = note(&data).unwrap();
    assert!(said.why.ends_with("was built from a list of URLs and not of the documents"), "{said:?}");
    assert_eq!(said.command.as_deref(), Some("mattock features build some-crawl --into elsewhere"));
    let command = |figure: &str| {
        let found = data.definitions.iter().find(|definition| definition.figure == figure);
        found.unwrap().command.clone()
    };
    assert_eq!(command("links.links"), "mattock features info elsewhere");
    assert_eq!(command("links.reach.within_host"), "mattock report some-crawl --features elsewhere --json");
    assert!(data.to_html().contains("mattock report some-crawl --features elsewhere --seed 1"));
}
