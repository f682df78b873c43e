//! Queries on more than fits into the memory that they are given.

use mattock_env::{OpenMode, Random};
use mattock_query::{Cancel, Language, Query, Session};

use crate::world::{DAY_MS, Doc, START_MS, World, dir, run, run_in_order, sql};

/// Texts of about so many bytes, none like another.
fn texts(count: usize, bytes: usize) -> Vec<Doc> {
    let mut random = Random::from_seed(7);
    let mut text = |number: usize| {
        let mut text = format!("text {number}");
        while text.len() < bytes {
            // Every word is there twice, so that archives are smaller than what is in them.
            let word = format!("{:x}", random.below(u64::MAX));
            text.push_str(&format!(" {word} {word}"));
        }
        text
    };
    let doc = |number: usize| Doc {
        // Not in the order of the archive.
        url: format!("http://a.example.org/{:06}", (number * 7_919) % count),
        time_ms: START_MS + number as i64 % 60 * DAY_MS,
        status: 200,
        mime: Some("text/plain"),
        title: String::new(),
        body: text(number),
        via: None,
        inserted_ms: None,
        fields: "",
    };
    (0..count).map(doc).collect()
}

fn in_memory(world: &World, megabytes: usize) -> Session {
    world.session_with(|options| options.memory_bytes = megabytes << 20)
}

fn planned(session: &Session, text: &str) -> Query {
    session.plan(text, Language::Sql).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_kept_column_may_be_larger_than_memory() {
    const DOCS: usize = 1_601;
    const BYTES: usize = 64 << 10;
    let world = World::new(texts(DOCS, BYTES));
    let queries = [
        "select count(*) as n, sum(length(content)) as bytes, max(content) as last from documents",
        "select content from documents where url like '%/000123'",
        "select url, length(content) as bytes from documents where sampled(0.01, 3)",
        "select url from documents where match(content, 'text 77 ')",
        "select url from documents where url = 'http://nowhere.example.org/' and length(content) > 3",
    ];
    let queries =
        queries.map(|query| query.replace("match(content, 'text 77 ')", "content like 'text 77 %'"));
    let before: Vec<Vec<String>> = queries.iter().map(|query| sql(&world.session(), query)).collect();
    let session = in_memory(&world, 64);
    let kept = session.materialize("content", &mut |_| {}, &Cancel::new()).unwrap();
    assert_eq!(kept.report.rows, DOCS as u64);
    let size: u64 = kept.files.iter().map(|file| world.files.entry(file).unwrap().unwrap().len).sum();
    assert!(size > (DOCS * BYTES / 4) as u64, "{size}");
    world.remove_archive();
    let mut read = Vec::new();
    for (query, before) in queries.iter().zip(before) {
        let (rows, report) = run(planned(&session, query));
        assert!(rows == before, "{query}");
        assert_eq!((report.documents_read, report.failures.len()), (0, 0), "{query}");
        read.push(report.kept_bytes_read);
    }
    // Of values that are not asked for nothing is read but what shares a page with others.
    assert!(read[0] <= size && read[3] <= size && read[0] > size / 2, "{read:?} of {size}");
    assert!(read[1] < 1 << 20 && read[2] < size / 20 && read[4] == 0, "{read:?} of {size}");
}

#[test]
fn documents_are_sorted_in_less_memory_than_they_take() {
    const DOCS: usize = 1_709;
    let world = World::new(texts(DOCS, 32 << 10));
    let session = in_memory(&world, 32);
    let (rows, _) = run_in_order(planned(&session, "select url, content from documents order by url"));
    assert_eq!(rows.len(), DOCS);
    assert!(rows.is_sorted() && rows.iter().all(|row| row.len() > 32 << 10));
    let (rows, _) =
        run_in_order(planned(&session, "select url, body from documents order by length(content), url"));
    assert_eq!(rows.len(), DOCS);
    let distinct = sql(&session, "select count(distinct content) as n from documents");
    assert_eq!(distinct, [format!(r#"{{"n":{DOCS}}}"#)]);
}

#[test]
fn a_revisit_is_found_in_little_memory() {
    let mut docs: Vec<Doc> = (0..20_000)
        .map(|number| {
            Doc::page(&format!("http://a.example.org/{number}"), number % 60, &format!("Page {number}"))
        })
        .collect();
    docs.push(Doc { url: "http://b.example.org/".into(), ..docs[19_990].clone() });
    let world = World::new(docs);
    let asked = "select url, title from documents where record_type = 'revisit'";
    let (rows, report) = run(planned(&in_memory(&world, 3), asked));
    assert_eq!(rows, [r#"{"url":"http://b.example.org/","title":"Page 19990"}"#]);
    assert_eq!((report.documents_read, report.failures), (1, Vec::new()));
}

#[test]
fn who_cannot_look_for_what_a_revisit_repeats_fails() {
    let page = Doc::page("http://a.example.org/", 1, "one");
    let world = World::new(vec![page.clone(), Doc { url: "http://b.example.org/".into(), ..page }]);
    let broken = dir().join("index/broken.parquet");
    let mut source = world.source();
    world.files.create_dir_all(broken.parent().unwrap()).unwrap();
    world
        .files
        .open(&broken, OpenMode::CreateOrTruncate)
        .unwrap()
        .write_all_at(b"no Parquet at all", 0)
        .unwrap();
    source.others.push(broken);
    let options = mattock_query::Options::new(Random::from_seed(1));
    let session = Session::with_source(&world.files, source, options).unwrap();
    let query = planned(&session, "select url, title from documents");
    let mut sink = mattock_query::sink::MemorySink::default();
    let error = query.run(&mut sink, &mut |_| {}, &Cancel::new()).unwrap_err();
    assert!(matches!(error, mattock_query::QueryError::Engine(_)), "{error}");
}

#[test]
fn too_little_memory_is_said_with_what_helps() {
    let world = World::new(texts(20, 100));
    let session = world.session_with(|options| options.memory_bytes = 1000);
    let query = planned(&session, "select url, length(url) as bytes from documents order by bytes, url");
    let mut sink = mattock_query::sink::MemorySink::default();
    let error = query.run(&mut sink, &mut |_| {}, &Cancel::new()).unwrap_err();
    assert!(matches!(error, mattock_query::QueryError::Memory(_)), "{error}");
    let said = error.to_string();
    assert!(said.contains("raise --memory") && !said.contains("datafusion"), "{said}");
}
