//! Columns that follow from features, joined by queries.

use std::collections::BTreeMap;
use std::path::Path;

use mattock_features::Direction;
use mattock_study::{Values, columns_directory, keep_column};

use crate::shelf::{Doc, ROOT, Shelf};

fn shelf() -> Shelf {
    let mut shelf = Shelf::new(1);
    shelf.add(&[
        Doc::page("http://a.org/", 1, &["http://a.org/1", "http://b.org/", "http://b.org/"]),
        Doc::page("http://a.org/1", 2, &["http://a.org/", "http://b.org/"]),
        Doc::other("http://a.org/old", 3, 301, &["http://a.org/1"]),
        Doc::other("http://a.org/gone", 4, 404, &[]),
    ]);
    shelf
}

#[test]
fn degrees_are_made_by_every_build_and_joined() {
    let mut shelf = shelf();
    shelf.build().unwrap();
    let asked = "select url, in_degree, out_degree from documents";
    let row = |url: &str, degrees: &str| format!(r#"{{"url":"{url}",{degrees}}}"#);
    let mut expected = vec![
        row("http://a.org/", r#""in_degree":1,"out_degree":2"#),
        row("http://a.org/1", r#""in_degree":2,"out_degree":2"#),
        row("http://a.org/old", r#""in_degree":0,"out_degree":1"#),
        row("http://a.org/gone", r#""in_degree":null,"out_degree":null"#),
    ];
    expected.sort();
    assert_eq!(shelf.ask(asked), expected);
    shelf.add(&[Doc::page("http://b.org/", 5, &["http://a.org/gone"])]);
    shelf.build().unwrap();
    let asked = "select url from documents where in_degree = 2 order by url";
    assert_eq!(shelf.ask(asked), [row_of("http://a.org/1"), row_of("http://b.org/")]);
    let asked = "select url from documents where in_degree = 1 and fetch_status = 404";
    assert_eq!(shelf.ask(asked), [row_of("http://a.org/gone")]);
}

fn row_of(url: &str) -> String {
    format!(r#"{{"url":"{url}"}}"#)
}

#[test]
fn whatever_was_computed_by_id_is_asked_by_url() {
    let shelf = shelf();
    shelf.build().unwrap();
    let features = shelf.features();
    let urls = features.urls().unwrap();
    let rank = |id: u64| id.is_multiple_of(2).then_some(id as f64 / 4.0 - 0.5);
    let kept = keep_column(&shelf.files, Path::new(ROOT), "pagerank", Values::Floats(&rank)).unwrap();
    assert_eq!(kept, urls.len().div_ceil(2));
    let expected: BTreeMap<String, Option<f64>> =
        (0..urls.len()).map(|id| (urls.url(id).unwrap().unwrap(), rank(id))).collect();
    for line in shelf.ask("select url, pagerank from documents where fetch_status < 400") {
        let row: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(row["pagerank"].as_f64(), expected[row["url"].as_str().unwrap()], "{line}");
    }
    // Another value takes the place of the one before.
    let component = |id: u64| Some(-(id as i64));
    for _ in 0..2 {
        let kept =
            keep_column(&shelf.files, Path::new(ROOT), "component", Values::Integers(&component)).unwrap();
        assert_eq!(kept, urls.len());
    }
    assert_eq!(shelf.ask("select max(component) <= 0 as so from documents"), [r#"{"so":true}"#]);
    let directory = columns_directory(&shelf.files, Path::new(ROOT)).unwrap().unwrap();
    let names: Vec<String> =
        shelf.files.list(&directory).unwrap().into_iter().map(|entry| entry.name).collect();
    assert_eq!(
        names,
        ["component", "in_degree", "out_degree", "pagerank"].map(|name| format!("{name}.parquet"))
    );
    assert_eq!(features.links(mattock_features::Grain::Pages, Direction::Out).unwrap().arcs(), 5);
}

#[test]
fn columns_that_are_missing_are_made_by_a_build_with_nothing_new() {
    let shelf = shelf();
    shelf.build().unwrap();
    let directory = columns_directory(&shelf.files, Path::new(ROOT)).unwrap().unwrap();
    shelf.files.remove_file(&directory.join("in_degree.parquet")).unwrap();
    assert!(!shelf.build().unwrap().is_new);
    assert_eq!(shelf.ask("select sum(in_degree) as links from documents"), [r#"{"links":3}"#]);
}
