//! The column `via`: from fingerprints to the URLs that links were found on.

use mattock_query::Language;

use crate::world::{DAY_MS, Doc, START_MS, World, pages, run, sql, wib};

const HOME: &str = "http://a.example.org/";

/// A home page that was fetched three times, what was found on it, and what was found on a page that is not stored.
fn world() -> World {
    let found = |url: &str, day: i64, via| Doc { via, ..Doc::page(url, day, "found") };
    World::new(vec![
        Doc::page(HOME, 1, "first"),
        Doc::page(HOME, 2, "second"),
        Doc::page(HOME, 5, "third"),
        found("http://a.example.org/1", 3, Some(HOME)),
        found("http://b.example.org/2", 4, Some("http://a.example.org/1")),
        found("http://b.example.org/3", 4, Some("http://lost.example.org/")),
        found("http://b.example.org/4", 6, Some("http://b.example.org/4")),
    ])
}

#[test]
fn every_row_is_there_once_with_what_it_was_found_on() {
    let world = world();
    world.remove_archive();
    for threads in [1, 4] {
        let session = world.session_with(|options| options.threads = threads);
        let found = sql(&session, "select url, via from documents where fetch_time > timestamp '2000-10-03'");
        let row = |url: &str, via: &str| format!(r#"{{"url":"{url}","via":{via}}}"#);
        let mut expected = vec![
            row(HOME, "null"),
            row("http://a.example.org/1", &format!("{HOME:?}")),
            row("http://b.example.org/2", r#""http://a.example.org/1""#),
            row("http://b.example.org/3", "null"),
            row("http://b.example.org/4", r#""http://b.example.org/4""#),
        ];
        expected.sort();
        assert_eq!(found, expected);
        let text = format!(r#"select name where via = "{HOME}""#);
        assert_eq!(wib(&session, &text), [r#"{"name":"http://a.example.org/1"}"#]);
        let both = r#"select name where match(via, "a.example") && latest && !(host = "a.example.org")"#;
        assert_eq!(wib(&session, both), [r#"{"name":"http://b.example.org/2"}"#]);
        let counted = "select via, count(*) as n from documents where via is not null group by via limit 9";
        assert_eq!(sql(&session, counted).len(), 3);
    }
}

#[test]
fn what_came_later_was_not_there_as_of_a_date() {
    let session = world().session_with(|options| options.as_of_ms = Some(START_MS + 4 * DAY_MS));
    let found = sql(&session, "select url from documents where via is not null");
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn it_goes_with_samples_and_with_what_was_inserted_by_a_date() {
    let mut dated = world();
    let docs = dated.docs.drain(..).map(|doc| Doc { inserted_ms: Some(doc.time_ms + 5), ..doc }).collect();
    let dated = World::new(docs);
    let sample = "[samplingProb=1, samplingSeed=7] select name, via";
    assert_eq!(wib(&dated.session(), sample), wib(&dated.session(), "select name, via"));
    let session = dated.session_with(|options| options.inserted_by_ms = Some(START_MS + 4 * DAY_MS + 5));
    assert_eq!(sql(&session, "select url from documents where via is not null").len(), 2);
}

#[test]
fn it_goes_with_computed_columns_and_says_what_it_reads() {
    let world = world();
    let session = world.session();
    let query =
        session.plan("select via, title where via != \"\" || title = \"third\"", Language::Wib).unwrap();
    let (rows, report) = run(query);
    assert_eq!((rows.len(), report.documents_read), (4, 7));
    let query = session.plan(r#"select title where match(via, "org/$")"#, Language::Wib).unwrap();
    let (rows, report) = run(query);
    assert_eq!(
        (rows.len(), report.documents_read),
        (1, 1),
        "conditions on it are fulfilled before documents are read"
    );
    let explained = session.plan("select via", Language::Wib).unwrap().explain().unwrap();
    assert_eq!(explained.columns, ["fetch_time", "url", "url_key", "via_key"]);
    assert!(explained.computed.is_empty() && explained.plan.contains("SortMergeJoin"), "{explained}");
    assert!(!sql(&session, "select * from documents limit 1")[0].contains("\"via\""));
}

/// More than memory holds, all of it found on pages that are there.
#[test]
fn memory_is_enough_whatever_the_index() {
    let mut docs = pages(100_000);
    let urls: Vec<&'static str> = docs.iter().map(|doc| &*doc.url.clone().leak()).collect();
    for (number, doc) in docs.iter_mut().enumerate() {
        (doc.via, doc.body) = (number.checked_sub(1).map(|before| urls[before / 7]), String::new());
    }
    let world = World::new(docs);
    for threads in [1, 2] {
        let session = world.session_with(|options| {
            (options.threads, options.memory_bytes) = (threads, 16 << 20);
        });
        let asked =
            "select count(*) as n, count(via) as found, count(distinct via) as sources from documents";
        assert_eq!(sql(&session, asked), [r#"{"n":100000,"found":99999,"sources":14286}"#]);
    }
}
