//! Columns that follow from features, joined by queries.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use mattock_env::{Files, OpenMode, Random};
use mattock_features::{BuildOptions, Builder, Direction, Features};
use mattock_query::sink::JsonSink;
use mattock_query::{Cancel, Language, Options, Session, Source, check_values};
use mattock_study::{FEATURES, Values, column_path, columns_directory, keep_column_of};
use mattock_weburl::WebUrl;

use crate::shelf::{Doc, ROOT, Shelf};

/// Memory for sorting.
const MEMORY: u64 = 1 << 22;

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
    let kept = keep_column_of(&shelf.files, &features, "pagerank", Values::Floats(&rank), MEMORY).unwrap();
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
        let values = Values::Integers(&component);
        let kept = keep_column_of(&shelf.files, &features, "component", values, MEMORY).unwrap();
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
    // As is one that was cut off, or has a wrong byte among its values.
    let path = directory.join("in_degree.parquet");
    let column = shelf.files.open(&path, OpenMode::Write).unwrap();
    column.set_len(column.len().unwrap() / 2).unwrap();
    assert!(!shelf.build().unwrap().is_new);
    assert_eq!(shelf.ask("select sum(in_degree) as links from documents"), [r#"{"links":3}"#]);
    for at in [4, 30, 60] {
        let column = shelf.files.open(&path, OpenMode::Write).unwrap();
        let mut byte = [0];
        column.read_exact_at(&mut byte, at).unwrap();
        column.write_all_at(&[byte[0] ^ 4], at).unwrap();
        let error = check_values(&shelf.files, &path).unwrap_err().to_string();
        assert_eq!(error, "it is damaged: its checksum is wrong", "byte {at}");
        assert!(!shelf.build().unwrap().is_new);
    }
    assert_eq!(shelf.ask("select sum(in_degree) as links from documents"), [r#"{"links":3}"#]);
}

/// Features of a hundred pages on the disk of this machine: simulated files have one process, which gets every lock.
fn on_disk(files: &Files, name: &str) -> Features {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).join(FEATURES);
    // A run that was killed leaves one behind.
    let _ = files.remove_dir_all(&home);
    let (options, report) = (BuildOptions { memory: MEMORY, ..BuildOptions::default() }, &mut |_| {});
    let mut builder = Builder::begin(files, &home, &options, report).unwrap();
    for number in 0..100 {
        builder.page(&WebUrl::parse(&format!("http://a.org/{number}")).unwrap(), &[]).unwrap();
    }
    builder.finish().unwrap();
    Features::open(files, &home).unwrap()
}

/// Rows, least and greatest value of a column.
fn summed(files: &Files, path: &Path) -> String {
    let fields = ["url_key", "value"].map(|name| Field::new(name, DataType::Int64, false));
    let schema = Arc::new(Schema::new(fields.to_vec()));
    let source = Source::new(path.parent().unwrap(), schema, vec![path.to_path_buf()], Vec::new());
    let session = Session::with_source(files, source, Options::new(Random::from_seed(1))).unwrap();
    let asked = "select count(*) as n, min(value) as least, max(value) as most from documents";
    let mut out = Vec::new();
    let query = session.plan(asked, Language::Sql).unwrap();
    query.run(&mut JsonSink::new(&mut out), &mut |_| {}, &Cancel::new()).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn two_who_keep_the_same_column_at_the_same_time_do_not_meet() {
    let files = Files::real();
    let features = on_disk(&files, "columns_at_the_same_time");
    let keep = |values: &dyn Fn(u64) -> Option<i64>| {
        keep_column_of(&files, &features, "component", Values::Integers(values), MEMORY).unwrap()
    };
    let path = column_path(&features, "component");
    // While the first one sorts, a second one begins and ends.
    let first = |id: u64| {
        if id == 50 {
            assert_eq!(keep(&|id| Some(-(id as i64))), 100);
            assert_eq!(summed(&files, &path), "{\"n\":100,\"least\":-99,\"most\":0}\n");
        }
        Some(id as i64)
    };
    assert_eq!(keep(&first), 100);
    assert_eq!(summed(&files, &path), "{\"n\":100,\"least\":0,\"most\":99}\n", "the last one counts");
    let names = |dir: &Path| -> Vec<String> {
        files.list(dir).unwrap().into_iter().map(|entry| entry.name).collect()
    };
    assert_eq!(names(path.parent().unwrap()), ["component.parquet"]);
    assert_eq!(names(&features.dir().with_file_name("keeping")), ["1.lock", "2.lock"]);
    files.remove_dir_all(features.dir().parent().unwrap()).unwrap();
}
