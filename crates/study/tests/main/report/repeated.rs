//! Samples that can be drawn again, and languages that are kept.

use mattock_query::Cancel;
use mattock_study::report::{DataSet, ReportOptions};

use crate::report::world::{Doc, ENGLISH, GERMAN, World};

fn pages(from: usize, to: usize) -> Vec<Doc> {
    let page = |number: usize| {
        let text = if number.is_multiple_of(4) { GERMAN } else { ENGLISH };
        Doc::page(&format!("http://example.org/{number}"), number as i64, &format!("Page {number}. {text}"))
    };
    (from..to).map(page).collect()
}

fn sampled(world: &World, sample: u64, seed: u64) -> DataSet {
    let options = ReportOptions { sample, seed, ..ReportOptions::default() };
    world.report_with(&options, None, &Cancel::new()).unwrap()
}

#[test]
fn a_sample_is_drawn_again_by_its_seed() {
    let world = World::new(&pages(0, 200));
    let first = sampled(&world, 50, 1);
    assert_eq!(first.content.sample_probability, 0.25);
    let count = first.content.sample_pages;
    assert!((25..100).contains(&count), "{count}");
    assert_eq!(first.content.languages.pages(), count);
    assert!(!first.content.languages.of_all_pages);
    assert_eq!(sampled(&world, 50, 1), first);
    assert_ne!(sampled(&world, 50, 2).content.html_bytes, first.content.html_bytes);
    let html = first.to_html();
    assert!(
        html.contains("probability 0.25, seed 1") && html.contains("mattock materialize some-crawl language")
    );
    let none = sampled(&world, 0, 1);
    assert_eq!((none.content.html_pages, none.content.sample_pages, none.content.html_bytes), (200, 0, None));
}

#[test]
fn languages_that_are_kept_are_counted_for_all_pages() {
    let mut world = World::new(&pages(0, 200));
    world.session(2).materialize("language", &mut |_| {}, &Cancel::new()).unwrap();
    let data = sampled(&world, 50, 1);
    let languages = &data.content.languages;
    assert!(languages.of_all_pages);
    let told: Vec<(&str, u64)> =
        languages.values.iter().map(|share| (share.language.as_str(), share.pages)).collect();
    assert_eq!(told, [("eng", 150), ("deu", 50)]);
    // When many pages came since, reading them all would take too long.
    world.add(&pages(200, 400));
    let data = sampled(&world, 50, 1);
    assert!(!data.content.languages.of_all_pages);
    assert_eq!(data.content.languages.pages(), data.content.sample_pages);
}

#[test]
fn languages_of_the_index_are_those_of_all_pages() {
    let mut world = World::new(&[]);
    world.add_with(&pages(0, 200), true);
    let data = sampled(&world, 50, 1);
    let told: Vec<(&str, u64)> =
        data.content.languages.values.iter().map(|share| (share.language.as_str(), share.pages)).collect();
    assert_eq!((told, data.content.languages.of_all_pages), (vec![("eng", 150), ("deu", 50)], true));
    assert!(!data.to_html().contains("mattock materialize"));
}

#[test]
fn documents_that_cannot_be_read_are_told() {
    let world = World::new(&pages(0, 20));
    world.files.remove_dir_all(std::path::Path::new("/archives")).unwrap();
    let data = world.report();
    assert_eq!((data.content.sample_pages, data.content.unreadable), (20, 20));
    assert!(data.to_html().contains("20 of which could not be read"));
}
