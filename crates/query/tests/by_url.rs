//! Columns by URL: values from files of their own, joined to every row of their URL.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::parquet::arrow::ArrowWriter;
use mattock_env::OpenMode;
use mattock_query::{Language, Options, Session, Summed, VALUES_VERSION, seal_values};

use crate::world::{Doc, World, key, pages, run, sql, wib};
use mattock_env::Random;

const HOME: &str = "http://a.example.org/";

fn directory() -> PathBuf {
    PathBuf::from("/values")
}

fn keep(world: &World, name: &str, urls: &[&str], values: ArrayRef) {
    keep_as(world, name, urls, values, VALUES_VERSION);
}

fn keep_as(world: &World, name: &str, urls: &[&str], values: ArrayRef, version: &str) {
    let mut rows: Vec<(i64, usize)> = urls.iter().enumerate().map(|(at, url)| (key(url), at)).collect();
    rows.sort_unstable();
    let keys: ArrayRef = Arc::new(rows.iter().map(|(key, _)| Some(*key)).collect::<Int64Array>());
    let order = Int64Array::from_iter_values(rows.iter().map(|(_, at)| *at as i64));
    let values = datafusion::arrow::compute::take(&values, &order, None).unwrap();
    let schema = Arc::new(Schema::new(vec![
        Field::new("url_key", DataType::Int64, false),
        Field::new("value", values.data_type().clone(), false),
    ]));
    let batch = RecordBatch::try_new(schema.clone(), vec![keys, values]).unwrap();
    let mut writer = ArrowWriter::try_new(Summed::new(Vec::new()), schema, None).unwrap();
    writer.write(&batch).unwrap();
    seal_values(&mut writer, version).unwrap();
    world.files.create_dir_all(&directory()).unwrap();
    let path = directory().join(format!("{name}.parquet"));
    let file = world.files.open(&path, OpenMode::CreateOrTruncate).unwrap();
    file.write_all_at(&writer.into_inner().unwrap().into_inner(), 0).unwrap();
}

fn session(world: &World) -> Session {
    let mut source = world.source();
    source.by_url = Arc::new(|| Ok(Some(directory())));
    Session::with_source(&world.files, source, Options::new(Random::from_seed(5))).unwrap()
}

/// A page that was fetched twice, two that were fetched once, and one that no value is known of.
fn world() -> World {
    let world = World::new(vec![
        Doc::page(HOME, 1, "first"),
        Doc::page(HOME, 2, "second"),
        Doc::page("http://a.example.org/1", 3, "one"),
        Doc::page("http://b.example.org/2", 4, "two"),
        Doc::page("http://b.example.org/3", 4, "three"),
    ]);
    let urls = [HOME, "http://a.example.org/1", "http://b.example.org/2", "http://nowhere.example.org/"];
    keep(&world, "in_degree", &urls, Arc::new(Int64Array::from(vec![7, 0, 2, 9])));
    keep(&world, "pagerank", &urls, Arc::new(Float64Array::from(vec![0.5, 0.25, 0.125, 1.0])));
    world
}

#[test]
fn every_row_has_the_value_of_its_url() {
    let world = world();
    world.remove_archive();
    let session = session(&world);
    let found = sql(&session, "select url, in_degree, pagerank from documents");
    let row = |url: &str, degree: &str, rank: &str| {
        format!(r#"{{"url":"{url}","in_degree":{degree},"pagerank":{rank}}}"#)
    };
    let mut expected = vec![
        row(HOME, "7", "0.5"),
        row(HOME, "7", "0.5"),
        row("http://a.example.org/1", "0", "0.25"),
        row("http://b.example.org/2", "2", "0.125"),
        row("http://b.example.org/3", "null", "null"),
    ];
    expected.sort();
    assert_eq!(found, expected);
    let asked = "select name, in_degree where in_degree > 1 && latest && host = \"b.example.org\"";
    assert_eq!(wib(&session, asked), [r#"{"name":"http://b.example.org/2","in_degree":2}"#]);
    let summed = "select host, sum(in_degree) as links from documents where pagerank < 0.5 group by host";
    assert_eq!(
        sql(&session, summed),
        [r#"{"host":"a.example.org","links":0}"#, r#"{"host":"b.example.org","links":2}"#]
    );
    assert!(!sql(&session, "select * from documents limit 1")[0].contains("in_degree"));
}

#[test]
fn conditions_on_it_spare_documents_and_it_is_explained() {
    let world = world();
    let session = session(&world);
    let query = session.plan("select title where in_degree = 2", Language::Wib).unwrap();
    let (rows, report) = run(query);
    assert_eq!((rows.as_slice(), report.documents_read), (&[r#"{"title":"two"}"#.to_string()][..], 1));
    let explained = session.plan("select url, in_degree", Language::Wib).unwrap().explain().unwrap();
    assert_eq!(explained.columns, ["url", "url_key"]);
    assert_eq!(explained.by_url, ["in_degree"]);
    assert!(explained.to_string().contains("columns by URL: in_degree\n"), "{explained}");
    assert!(explained.computed.is_empty() && explained.plan.contains("in_degree.parquet"), "{explained}");
}

#[test]
fn what_was_never_made_is_an_error_that_says_how() {
    let world = world();
    let session = session(&world);
    for (language, text) in
        [(Language::Wib, "select name, cluster"), (Language::Sql, "select url, cluster from documents")]
    {
        let error = session.plan(text, language).err().unwrap().to_string();
        assert!(
            error.starts_with("there is no column `cluster` yet")
                && error.ends_with("^^^^^^^ `mattock duplicates` makes it"),
            "{error}"
        );
    }
    // A word that only looks like one is no mistake.
    assert_eq!(sql(&session, "select count(*) as cluster from documents"), [r#"{"cluster":5}"#]);
    let none = world.session();
    let error = none.plan("select pagerank", Language::Wib).err().unwrap().to_string();
    assert!(error.ends_with("`mattock graph pagerank` makes it"), "{error}");

    let mut source = world.source();
    source.by_url = Arc::new(|| Err(std::io::Error::other("the list is damaged")));
    let broken = Session::with_source(&world.files, source, Options::new(Random::from_seed(5))).unwrap();
    let error = broken.plan("select pagerank", Language::Wib).err().unwrap().to_string();
    assert!(error.ends_with("the list is damaged"), "{error}");
}

#[test]
fn what_cannot_be_read_is_not_taken_for_what_was_never_made() {
    let world = world();
    let complaint = || {
        let asked = session(&world).plan("select url, pagerank from documents", Language::Sql);
        asked.err().unwrap().to_string()
    };
    let path = directory().join("pagerank.parquet");
    keep_as(&world, "pagerank", &[HOME], Arc::new(Float64Array::from(vec![0.5])), "7");
    let version = complaint();
    world.files.open(&path, OpenMode::CreateOrTruncate).unwrap().write_all_at(b"no values", 0).unwrap();
    let damaged = complaint();
    // The place of the files is one itself: the disk says no.
    world.files.remove_dir_all(&directory()).unwrap();
    world.files.open(&directory(), OpenMode::CreateNew).unwrap();
    let refused = complaint();
    for (error, why) in [(version, "version \"7\""), (damaged, ""), (refused, "not a directory")] {
        assert!(
            error.starts_with("the column `pagerank` cannot be read")
                && error.contains(&format!("{}: ", path.display()))
                && error.contains(why)
                && error.ends_with("; `mattock graph pagerank` makes it anew"),
            "{error}"
        );
    }
}

#[test]
fn a_revisit_finds_its_payload_in_parts_that_are_not_asked() {
    let mut docs = pages(9);
    for doc in &mut docs {
        (doc.mime, doc.body) = (Some("text/html"), docs_body());
    }
    let world = World::new(docs);
    let whole = world.source();
    let mut revisits = 0;
    for part in &whole.parts {
        let mut source = world.source();
        source.tail.clear();
        source.others = source.parts.iter().filter(|other| *other != part).cloned().collect();
        source.others.push(write_tail(&world, &whole.tail[0]));
        source.parts = vec![part.clone()];
        let session = Session::with_source(&world.files, source, Options::new(Random::from_seed(5))).unwrap();
        let (rows, report) = run(session.plan("select record_type, title", Language::Wib).unwrap());
        assert_eq!((rows.len(), report.failures.len()), (3, 0), "{rows:?} {:?}", report.failures);
        assert!(rows.iter().all(|row| row.ends_with(r#""title":"The same"}"#)), "{rows:?}");
        revisits += rows.iter().filter(|row| row.contains("revisit")).count();
    }
    assert!(revisits >= 5, "{revisits}");
}

fn docs_body() -> String {
    "<title>The same</title>".into()
}

fn write_tail(world: &World, batch: &RecordBatch) -> PathBuf {
    let path = Path::new("/repository/index/part-tail.parquet");
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    let file = world.files.open(path, OpenMode::CreateOrTruncate).unwrap();
    file.write_all_at(&writer.into_inner().unwrap(), 0).unwrap();
    path.to_path_buf()
}
