//! Queries in both languages, from the text to the rows.

use std::sync::Arc;

use mattock_analyze::{AnalyzeError, Analyzer, Document, Kind, Value};
use mattock_query::{Cancel, Language, QueryError};

use crate::world::{DAY_MS, Doc, START_MS, World, pages, run, sql, wib};

#[test]
fn the_queries_of_the_paper_run_as_written() {
    let figure_3 = r#"
select name, content where
    match(name, "^http://") && match(name, ".ram\$");
select mmlinks where
    match(http_content_type, "^text/");
"#;
    let figure_4 = r#"
[samplingProb=0.1, samplingSeed=789]
select name, content where
  (match(name, ".html$")
  && insertionDate < Date("2000/11/01"));
"#;
    let world = World::new(pages(300));
    let session = world.session();
    let mut queries = session.plan_all(figure_3, Language::Wib).unwrap();
    let (text, _) = run(queries.pop().unwrap());
    let expected = world.docs.iter().filter(|doc| doc.mime == Some("text/html")).count();
    assert_eq!(text.len(), expected);
    let (ram, report) = run(queries.pop().unwrap());
    let expected =
        world.docs.iter().filter(|doc| doc.url.starts_with("http://") && doc.url.ends_with(".ram")).count();
    assert_eq!((ram.len(), report.documents_read), (expected, expected as u64));
    for doc in world.docs.iter().filter(|doc| doc.url.starts_with("http://") && doc.url.ends_with(".ram")) {
        assert!(ram.iter().any(|line| line.contains(&doc.url) && line.contains(&doc.body)), "{}", doc.url);
    }
    let (sample, report) = run(session.plan(figure_4, Language::Wib).unwrap());
    let november = START_MS + 31 * DAY_MS;
    let expected: Vec<&Doc> = world
        .docs
        .iter()
        .filter(|doc| doc.url.ends_with(".html") && doc.time_ms < november)
        .filter(|doc| mattock_query::is_sampled(&doc.instance(), 0.1, 789))
        .collect();
    assert!(!expected.is_empty());
    assert_eq!((sample.len(), report.seeds), (expected.len(), vec![789]));
    assert_eq!(report.documents_read, expected.len() as u64, "only the sample is read");
    for doc in expected {
        assert!(sample.iter().any(|line| line.contains(&doc.url) && line.contains("<title>")), "{}", doc.url);
    }
}

#[test]
fn a_revisit_has_the_payload_of_the_page_that_it_repeats() {
    let mut docs = pages(20);
    let body = docs[3].body.clone();
    for (number, doc) in docs.iter_mut().enumerate().filter(|(number, _)| number % 2 == 1) {
        doc.body = if number == 19 { format!("{body}!") } else { body.clone() };
    }
    docs.iter_mut().for_each(|doc| doc.mime = Some("text/html"));
    let mut world = World::new(docs);
    let revisits = "select count(*) as revisits from documents where record_type = 'revisit'";
    assert_eq!(sql(&world.session(), revisits), [r#"{"revisits":8}"#]);
    let asked = "select url, content, http_server from documents";
    let told = |doc: &Doc| {
        format!(r#"{{"url":"{}","content":"{}","http_server":"test/{}"}}"#, doc.url, doc.body, doc.host())
    };
    let mut expected: Vec<String> = world.docs.iter().map(told).collect();
    expected.sort();
    assert_eq!(sql(&world.session(), asked), expected);

    // What is repeated may lie anywhere; what is nowhere is counted.
    world.forget_responses();
    let (lines, report) = run(world.session().plan(asked, Language::Sql).unwrap());
    assert_eq!(report.failures.iter().map(|failure| failure.count).sum::<u64>(), lines.len() as u64);
    assert!(report.failures[0].example.contains("not in this repository"), "{:?}", report.failures);
}

#[test]
fn words_of_athena_are_known() {
    let world = World::new(pages(60));
    let session = world.session();
    for (query, row) in [
        ("select if(count(*) > 3, 'many', 'few') as n from documents", r#"{"n":"many"}"#),
        (
            "select if(count(*) < 3, 1) as n, if(false, 1 / 0, 2) as two from documents",
            r#"{"n":null,"two":2}"#,
        ),
        (
            "select max(cardinality(split(url_host_name, '.'))) as parts from documents where url_host_tld = 'org'",
            r#"{"parts":3}"#,
        ),
        (
            "select min(levenshtein_distance('a.exampel.org', url_host_name)) as far from documents",
            r#"{"far":2}"#,
        ),
        (
            "select count(distinct regexp_extract(url_path, '\\.([a-z]+)$', 1)) as endings from documents",
            r#"{"endings":3}"#,
        ),
        (
            "select min(regexp_extract(url_path, '\\.[a-z]+$')) as first from documents",
            r#"{"first":".html"}"#,
        ),
        ("select array_length(array_distinct(ARRAY[1, 2, 1])) as n", r#"{"n":2}"#),
        ("select md5('a') like '%2661' as hashed, round(2.6) as three", r#"{"hashed":true,"three":3.0}"#),
    ] {
        assert_eq!(sql(&session, query), [row], "{query}");
    }
    let error =
        session.plan("select regexp_extract(url, 'a', 1) from documents", Language::Sql).and_then(|query| {
            query.run(&mut mattock_query::sink::MemorySink::default(), &mut |_| {}, &Cancel::new())
        });
    assert!(error.unwrap_err().to_string().contains("number of a group"));
}

#[test]
fn a_query_on_the_index_opens_no_archive() {
    let world = World::new(pages(60));
    world.remove_archive();
    let session = world.session();
    let query = session
        .plan("select name, status where status = 200 && host = \"a.example.org\"", Language::Wib)
        .unwrap();
    let (rows, report) = run(query);
    assert_eq!((rows.len(), report.documents_read, report.failures.len()), (20, 0, 0));
    let counts = sql(&session, "select url_host_tld, count(*) as n from documents group by 1 order by 1");
    assert_eq!(counts, [r#"{"url_host_tld":"com","n":20}"#, r#"{"url_host_tld":"org","n":40}"#]);
    assert_eq!(sql(&session, "select count(*) as n from documents"), [r#"{"n":60}"#]);
    assert_eq!(sql(&session, "select count(*) as n from documents where url like '%.ram'"), [r#"{"n":21}"#]);
    assert_eq!(sql(&session, "select * from documents limit 3").len(), 3);
}

#[test]
fn documents_that_cannot_be_read_are_counted() {
    let world = World::new(pages(60));
    world.remove_archive();
    let session = world.session();
    let (rows, report) = run(session.plan("select name, title where status = 200", Language::Wib).unwrap());
    assert_eq!(rows.len(), 60);
    assert!(rows.iter().all(|row| row.ends_with(r#""title":null}"#)));
    assert_eq!(
        (report.failures.len(), report.failures[0].count, report.failures[0].column.as_str()),
        (1, 60, "record")
    );
    assert!(
        report.failures[0].example.starts_with("http://a.example.org/page"),
        "{}",
        report.failures[0].example
    );
}

#[test]
fn a_record_of_another_document_is_a_failure_and_not_an_answer() {
    let mut world = World::new(pages(60));
    let asked = "select name, title where status = 200";
    let before = wib(&world.session(), asked);
    // Two pages with titles.
    world.exchange_places(1, 7);
    let (rows, report) = run(world.session().plan(asked, Language::Wib).unwrap());
    let other = rows.iter().filter(|row| !before.contains(row)).collect::<Vec<_>>();
    assert!(other.len() == 2 && other.iter().all(|row| row.ends_with(r#""title":null}"#)), "{other:?}");
    assert_eq!((report.failures.len(), report.failures[0].count), (1, 2));
    assert!(report.failures[0].example.contains("another record"), "{}", report.failures[0].example);
}

struct Fussy;

impl Analyzer for Fussy {
    fn name(&self) -> &str {
        "fussy"
    }

    fn version(&self) -> String {
        "1".into()
    }

    fn kind(&self) -> Kind {
        Kind::Integer
    }

    fn analyze(&self, document: &Document<'_>) -> Result<Value, AnalyzeError> {
        match document.body.len() % 3 {
            0 => Ok(Value::Integer(document.body.len() as i64)),
            1 => Err(AnalyzeError::Failed("too fussy".into())),
            _ => Ok(Value::Text("not a number".into())),
        }
    }
}

#[test]
fn an_analyzer_that_fails_gives_nulls_and_is_counted() {
    let docs: Vec<Doc> = (0..30)
        .map(|number| Doc { body: "x".repeat(number), ..Doc::page(&format!("http://a.b/{number}"), 0, "") })
        .collect();
    let world = World::new(docs);
    let session = world.session_with(|options| options.analyzers.push(Arc::new(Fussy)));
    let (rows, report) = run(session.plan("select name, fussy", Language::Wib).unwrap());
    assert_eq!(rows.iter().filter(|row| row.contains("null")).count(), 20);
    assert_eq!((report.failures.len(), report.failures[0].count), (1, 20));
    assert_eq!(report.failures[0].example, "http://a.b/1: too fussy");
    assert_eq!(
        wib(&session, "select name where fussy > 20"),
        [r#"{"name":"http://a.b/21"}"#, r#"{"name":"http://a.b/24"}"#, r#"{"name":"http://a.b/27"}"#]
    );
}

#[test]
fn computed_columns_are_columns_of_sql_too() {
    let world = World::new(pages(40));
    let session = world.session();
    let first =
        r#"{"url":"http://b.example.org/page1.html","title":"Page 1","http_server":"test/b.example.org"}"#;
    assert_eq!(
        sql(&session, "select url, title, http_server from documents where title = 'Page 1'"),
        [first]
    );
    let joined = "select a.title, b.title as other from documents a join documents b on a.url = b.url where a.url like '%page9.%'";
    assert_eq!(sql(&session, joined), [r#"{"title":"Page 9","other":"Page 9"}"#]);
    let grouped =
        "select length(title) as l, count(*) as n from documents where title is not null group by 1";
    let rows = sql(&session, grouped);
    assert_eq!(rows.len(), 2, "{rows:?}");
    let all = sql(&session, "select *, title from documents where url like '%page9.%'");
    assert!(all[0].contains(r#""title":"Page 9""#) && !all[0].contains(r#""content":"#), "{all:?}");
    assert_eq!(
        sql(&session, "select url from documents where any_match(links, 'b.example.org/next$') limit 2")
            .len(),
        2
    );
    let expected = world.docs.iter().filter(|doc| {
        doc.host() == "b.example.org" && doc.mime == Some("text/html") && !doc.title.contains('1')
    });
    let found =
        wib(&session, "select name where match(links, \"b.example.org/next$\") && !match(title, \"1\")");
    assert_eq!(found.len(), expected.count());
}

#[test]
fn mistakes_are_pointed_at_in_both_languages() {
    let world = World::new(pages(3));
    let session = world.session();
    for (language, text, place, part) in [
        (Language::Wib, "select nmae", "nmae", "did you mean `name`?"),
        (Language::Wib, "select name where titel = \"x\"", "titel", "did you mean `title`?"),
        (Language::Wib, "select name where status = \"200\"", "status = \"200\"", "without quotes"),
        (Language::Wib, "select name where insertionDate < \"2000\"", "insertionDate < \"2000\"", "Date("),
        (Language::Wib, "select name where name", "name", "not a condition"),
        (Language::Wib, "select name where match(status, \"2\")", "status", "looks at text"),
        (Language::Wib, "select name where links = \"x\"", "links", "`match`"),
        (Language::Sql, "select ulr from documents", "ulr", "did you mean `url`?"),
        (
            Language::Sql,
            "select url from documents\nwhere fetch_statsu = 200",
            "fetch_statsu",
            "did you mean `fetch_status`?",
        ),
        (Language::Sql, "select url form documents", "documents", ""),
        (Language::Sql, "select url from documents where", "", ""),
        (Language::Sql, "select url from dokuments", "dokuments", ""),
        (Language::Sql, "drop table documents", "", "only queries"),
        (Language::Sql, "copy documents to 'x.parquet'", "", "only queries"),
    ] {
        let Err(QueryError::Query(complaint)) = session.plan(text, language) else { panic!("{text}") };
        let shown = complaint.to_string();
        assert!(shown.contains(part), "{text}: {shown}");
        let span = complaint.span.unwrap_or_else(|| panic!("{text}: {shown}"));
        // Of places that end beyond the word only the beginning counts.
        assert!(text[span.start..].starts_with(place), "{text}: {shown}");
    }
}

#[test]
fn history_and_dates() {
    let page = |url: &str, day, title: &str| Doc::page(url, day, title);
    let mut docs = vec![
        page("http://a.b/1", 0, "one"),
        page("http://a.b/1", 2, "one"),
        page("http://a.b/1", 4, "two"),
        page("http://a.b/2", 3, "x"),
    ];
    docs.extend((0..20).map(|number| page(&format!("http://c.d/{number}"), 1, "y")));
    let world = World::new(docs);
    let session = world.session();
    let rows = wib(&session, "select name, instance_number, changed, latest where host = \"a.b\"");
    assert_eq!(
        rows,
        [
            r#"{"name":"http://a.b/1","instance_number":1,"changed":null,"latest":false}"#,
            r#"{"name":"http://a.b/1","instance_number":2,"changed":false,"latest":false}"#,
            r#"{"name":"http://a.b/1","instance_number":3,"changed":true,"latest":true}"#,
            r#"{"name":"http://a.b/2","instance_number":1,"changed":null,"latest":true}"#,
        ]
    );
    // A condition on something else than the URL does not change what is the latest.
    assert_eq!(wib(&session, "select name where latest && insertionDate < Date(\"2000/10/03\")").len(), 20);
    assert_eq!(
        wib(&session, "select title, first_seen where changed"),
        [r#"{"title":"two","first_seen":"2000-10-01T00:00:00Z"}"#]
    );
    let then = world.session_with(|options| options.as_of_ms = Some(START_MS + 2 * DAY_MS));
    assert_eq!(
        wib(&then, "select name, instance_number where latest && host = \"a.b\""),
        [r#"{"name":"http://a.b/1","instance_number":2}"#]
    );
    assert_eq!(sql(&then, "select count(*) as n from documents"), [r#"{"n":22}"#]);
}

#[test]
fn a_sample_can_be_drawn_again_when_there_is_more() {
    let mut world = World::new(pages(200));
    let text = "[samplingProb=0.2] select name";
    let (first, report) = run(world.session().plan(text, Language::Wib).unwrap());
    let (seed, date) = (report.seeds[0], report.dates.inserted_by_ms.unwrap());
    assert!((20..60).contains(&first.len()), "{}", first.len());
    let later: Vec<Doc> = pages(500)
        .into_iter()
        .map(|mut doc| {
            doc.time_ms = date + 1 + doc.time_ms % DAY_MS;
            doc
        })
        .collect();
    world.add(later);
    let session = world.session_with(|options| options.inserted_by_ms = Some(date));
    let again = wib(&session, &format!("[samplingProb=0.2, samplingSeed={seed}] select name"));
    assert_eq!(again, first);
    let in_sql = sql(&session, &format!("select url as name from documents where sampled(0.2, {seed})"));
    assert_eq!(in_sql, first);
    let larger = wib(&session, &format!("[samplingProb=0.5, samplingSeed={seed}] select name"));
    assert!(first.iter().all(|row| larger.contains(row)));
    let (_, drawn) =
        run(session.plan("select count(*) from documents where sampled(0.5)", Language::Sql).unwrap());
    assert_eq!((drawn.seeds.len(), drawn.dates.inserted_by_ms), (1, Some(date)));
}

#[test]
fn a_query_that_is_stopped_says_so() {
    let world = World::new(pages(90));
    let session = world.session();
    let cancel = Cancel::new();
    cancel.cancel();
    let mut out = Vec::new();
    let mut sink = mattock_query::sink::CsvSink::new(&mut out);
    let report = session
        .plan("select name, title", Language::Wib)
        .unwrap()
        .run(&mut sink, &mut |_| {}, &cancel)
        .unwrap();
    assert!(report.cancelled);
    assert_eq!(String::from_utf8(out).unwrap(), "name,title\r\n");
}

#[test]
fn progress_ends_at_the_total() {
    let world = World::new(pages(90));
    let mut last = None;
    let mut sink = mattock_query::sink::MemorySink::default();
    let query = world.session().plan("select title where status = 200", Language::Wib).unwrap();
    query.run(&mut sink, &mut |progress| last = Some(*progress), &Cancel::new()).unwrap();
    let last = last.unwrap();
    assert_eq!((last.rows, last.documents, last.documents_total), (90, 90, Some(90)));
    assert_eq!(Some(last.bytes), last.bytes_total);
}

#[test]
fn an_empty_repository_has_no_rows() {
    let world = World::new(Vec::new());
    let session = world.session();
    assert!(
        wib(&session, "[samplingProb=0.5] select name, title, latest where match(content, \"x\")").is_empty()
    );
    assert_eq!(sql(&session, "select count(*) as n from documents"), [r#"{"n":0}"#]);
}

#[test]
fn two_scans_of_one_query_find_their_originals_side_by_side() {
    let mut docs = pages(60);
    let body = docs[3].body.clone();
    docs.iter_mut().skip(1).step_by(2).for_each(|doc| doc.body = body.clone());
    docs.iter_mut().for_each(|doc| doc.mime = Some("text/html"));
    let world = World::new(docs);
    let both = "select count(title) as n from documents union all select count(charset) as n from documents";
    for _ in 0..5 {
        assert_eq!(sql(&world.session(), both), [r#"{"n":60}"#; 2]);
    }
}

#[test]
fn a_condition_with_a_sample_means_the_same_documents_each_time() {
    let world = World::new(pages(200));
    let session = world.session();
    let asked = || {
        let query = session.plan_selection("url", Some("sampled(0.3)"), &[]).unwrap();
        assert_eq!(query.seeds().len(), 1);
        run(query).0
    };
    let first = asked();
    assert!(first.len() > 20 && first.len() < 120, "{}", first.len());
    assert_eq!(first, asked());
}

#[test]
fn what_could_be_decoded_in_part_only_is_counted() {
    let mut docs = pages(20);
    docs.iter_mut().step_by(5).for_each(|doc| doc.fields = "Content-Encoding: shrunk\r\n");
    docs.iter_mut().for_each(|doc| doc.mime = Some("text/html"));
    let world = World::new(docs);
    let sum = "select sum(octet_length(body)) as bytes, count(title) as n from documents";
    let (rows, report) = run(world.session().plan(sum, Language::Sql).unwrap());
    let bytes: usize = world.docs.iter().map(|doc| doc.body.len()).sum();
    assert_eq!(rows, [format!("{{\"bytes\":{bytes},\"n\":20}}")]);
    let partial = report.partial.unwrap();
    assert_eq!((partial.count, report.failures.len()), (4, 0));
    assert!(partial.example.contains("a coding that is not known"), "{}", partial.example);
    let words = "select octet_length('äb') as a, octet_length(null) as b, octet_length(url) as c from documents limit 1";
    assert!(sql(&world.session(), words)[0].starts_with(r#"{"a":3,"b":null,"c":"#));
}

#[test]
fn columns_of_both_sides_of_a_join_have_names_of_their_own() {
    let world = World::new(pages(3));
    let asked = "select a.url, b.url, b.fetch_status from documents a join documents b using (url) order by 1 limit 1";
    let url = &world.docs.iter().map(|doc| &doc.url).min().unwrap();
    assert_eq!(
        sql(&world.session(), asked),
        [format!(r#"{{"url":"{url}","url_2":"{url}","fetch_status":200}}"#)]
    );
}
