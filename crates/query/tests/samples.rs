//! Samples as SQL asks for them, and samples that are drawn again.

use mattock_query::{Dates, Language, QueryError, Session};
use proptest::prelude::*;

use crate::world::{DAY_MS, Doc, START_MS, World, pages, run, sql, wib};

/// What `mattock query` says of a query that cannot be understood.
fn complaint(session: &Session, text: &str) -> String {
    match session.plan(text, Language::Sql) {
        Err(error @ QueryError::Query(_)) => error.to_string(),
        Err(other) => panic!("{text}: {other:?}"),
        Ok(_) => panic!("{text} is taken"),
    }
}

/// What stands over the carets, and what is said.
fn marked(session: &Session, text: &str) -> (String, String) {
    let said = complaint(session, text);
    let lines: Vec<&str> = said.lines().collect();
    let [message, _, shown, carets] = lines.as_slice() else { panic!("{said}") };
    let start = carets.find('^').unwrap();
    let end = carets.rfind('^').unwrap() + 1;
    (shown[start..end].to_string(), (*message).to_string())
}

#[test]
fn a_table_sample_is_the_sample_of_its_share_and_seed() {
    let world = World::new(pages(400));
    let session = world.session();
    let expected = |share: f64, seed: u64| {
        let drawn = |doc: &&Doc| mattock_query::is_sampled(&doc.instance(), share, seed);
        let mut urls: Vec<String> =
            world.docs.iter().filter(drawn).map(|doc| format!(r#"{{"url":"{}"}}"#, doc.url)).collect();
        urls.sort();
        urls
    };
    for (sample, share, seed) in [
        ("documents tablesample bernoulli (10) repeatable (7)", 0.1, 7),
        ("documents tablesample system (10) repeatable (7)", 0.1, 7),
        ("documents TableSample Bernoulli (12.5) Repeatable (18446744073709551615)", 0.125, u64::MAX),
        ("documents as d tablesample bernoulli (0.7 percent) repeatable (9)", 0.007, 9),
        ("documents tablesample (30 percent) repeatable (9)", 0.3, 9),
        ("documents tablesample bernoulli (100) repeatable (1)", 1.0, 1),
        ("documents tablesample bernoulli (0) repeatable (1)", 0.0, 1),
        ("(select * from documents tablesample bernoulli (10) repeatable (7)) as inside", 0.1, 7),
    ] {
        let (rows, report) = run(session.plan(&format!("select url from {sample}"), Language::Sql).unwrap());
        assert_eq!(rows, expected(share, seed), "{sample}");
        assert_eq!(report.seeds, [seed], "{sample}");
        assert!(report.dates.inserted_by_ms.is_some(), "{sample}");
    }
    let text = "select documents.url from documents tablesample bernoulli (10) repeatable (7) \
                where documents.fetch_status = 200 and url in (select url from documents tablesample system (50) repeatable (7))";
    assert_eq!(sql(&session, text), expected(0.1, 7));
    let (_, report) = run(session
        .plan("select count(*) from documents tablesample bernoulli (5) where sampled(0.5)", Language::Sql)
        .unwrap());
    assert_eq!(report.seeds.len(), 1, "one seed is drawn for all");
}

#[test]
fn tables_of_a_join_are_sampled_each_for_itself_and_only_their_documents_are_read() {
    let world = World::new(pages(300));
    let session = world.session();
    let text = "select d.url, e.title from documents as d tablesample bernoulli (20) repeatable (3) \
                join documents e tablesample bernoulli (40) repeatable (3) on d.url = e.url";
    let (rows, report) = run(session.plan(text, Language::Sql).unwrap());
    let drawn = |doc: &&Doc| mattock_query::is_sampled(&doc.instance(), 0.2, 3);
    assert_eq!(rows.len(), world.docs.iter().filter(drawn).count());
    let larger = world.docs.iter().filter(|doc| mattock_query::is_sampled(&doc.instance(), 0.4, 3)).count();
    assert_eq!((report.documents_read, report.seeds), (larger as u64, vec![3]));
    // What is computed is no column of `*` here either.
    let all =
        sql(&session, "select * from documents tablesample bernoulli (20) repeatable (3) where title <> ''");
    assert!(!all.is_empty() && all.iter().all(|row| !row.contains(r#""title""#)), "{all:?}");
    let named = sql(&session, "select *, title from documents tablesample bernoulli (20) repeatable (3)");
    assert!(named.iter().all(|row| row.contains(r#""title":"#)), "{named:?}");
}

#[test]
fn what_is_no_sample_of_ours_is_refused_at_its_place() {
    let session = World::new(pages(30)).session();
    for (text, place, message) in [
        (
            "select 1 from documents tablesample bernoulli (101)",
            "101",
            "a percentage is a number from 0 to 100",
        ),
        ("select 1 from documents tablesample bernoulli (-1)", "1", "a percentage is"),
        ("select 1 from documents tablesample bernoulli (status)", "status", "a percentage is"),
        ("select 1 from documents tablesample system (5 rows)", "5", "a sample has no fixed number of rows"),
        ("select 1 from documents tablesample (5)", "5", "a share of what?"),
        ("select 1 from documents tablesample (bucket 3 out of 16)", "3", "a sample is no bucket"),
        (
            "select 1 from documents tablesample bernoulli (5) repeatable (1.5)",
            "1.5",
            "a seed is a whole number",
        ),
        (
            "with d as (select url from documents) select 1 from d tablesample bernoulli (5)",
            "d",
            "only the table `documents` can be sampled",
        ),
        (
            "select 1 from (select url from documents) tablesample bernoulli (5)",
            "tablesample",
            "only the table `documents` can be sampled",
        ),
        (
            "with documents as (select 1 as x) select 1 from documents tablesample bernoulli (5)",
            "documents",
            "only the table `documents` can be sampled",
        ),
        ("select url from documents where sampled(2, 1)", "2", "a probability is a number from 0 to 1"),
        (
            "select url from documents where sampled(status, 1)",
            "status",
            "a probability is a number from 0 to 1",
        ),
        ("select url from documents where sampled(0.5, 'x')", "'x'", "a seed is a whole number"),
        ("select url from documents where sampled(0.5, 1.5)", "1.5", "a seed is a whole number"),
    ] {
        let (shown, said) = marked(&session, text);
        assert!(shown == place && said.starts_with(message), "{text}: `{shown}`: {said}");
    }
    let below = complaint(&session, "select url from documents where sampled(-0.5, 1)");
    assert!(below.starts_with("a probability is a number from 0 to 1") && below.contains('^'), "{below}");
}

#[test]
fn what_is_added_later_is_not_in_a_sample_of_before_however_old_it_is() {
    let day = |day: i64| START_MS + day * DAY_MS;
    let doc = |number: i64, fetched: i64, inserted: Option<i64>| {
        let mut doc = Doc::page(&format!("http://a.b/{number}"), fetched, "x");
        doc.inserted_ms = inserted.map(day);
        doc
    };
    // Of an index that did not know yet, then of a checkpoint.
    let mut world = World::new((0..40).map(|number| doc(number, number % 5, None)).collect());
    world.add((40..90).map(|number| doc(number, 5 + number % 5, Some(12))).collect());
    let text = "[samplingProb=0.5, samplingSeed=3] select name";
    let (first, report) = run(world.session().plan(text, Language::Wib).unwrap());
    assert_eq!(report.dates, Dates { as_of_ms: None, inserted_by_ms: Some(day(12)) });
    // A date that is still to come is not told: what comes until then would be drawn, too.
    let until = world.session_with(|options| options.inserted_by_ms = Some(day(99)));
    let (rows, told) = run(until.plan(text, Language::Wib).unwrap());
    assert_eq!((rows, told.dates), (first.clone(), report.dates));
    // Visits that were over later, and an archive from years ago.
    world.add((90..150).map(|number| doc(number, 7, Some(13))).collect());
    world.add((150..200).map(|number| doc(number, -4000, Some(14))).collect());
    let then = world.session_with(|options| options.inserted_by_ms = report.dates.inserted_by_ms);
    assert_eq!(wib(&then, text), first);
    assert_eq!(sql(&then, "select count(*) as n from documents"), [r#"{"n":90}"#]);
    let older = world.session_with(|options| options.as_of_ms = Some(day(4)));
    let (fetched, report) = run(older.plan(text, Language::Wib).unwrap());
    assert!(fetched.len() > 30, "what had been fetched by then: {}", fetched.len());
    assert_eq!(report.dates, Dates { as_of_ms: Some(day(4)), inserted_by_ms: Some(day(14)) });
    // Everywhere the time is there, also of rows that have none themselves.
    let session = world.session();
    let counts = "select insertionDate, count(*) as n from documents where insertion_time >= to_timestamp_millis(970790400000) \
                  group by 1 order by 1";
    let asked = sql(&session, counts);
    assert_eq!(asked.len(), 3, "{asked:?}");
    assert_eq!(wib(&session, "select name where insertionDate < Date(\"2000/10/06\")").len(), 40);
    assert_eq!(wib(&session, "select name where date < Date(\"2000/10/06\")").len(), 90);
    assert_eq!(
        wib(&session, "select insertionDate, title where name = \"http://a.b/3\""),
        [r#"{"insertionDate":"2000-10-04T00:00:00Z","title":"x"}"#]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Documents of any age come in batches; what an index of an earlier version holds comes first.
    #[test]
    fn a_sample_is_unchanged_by_later_insertions(
        batches in proptest::collection::vec(proptest::collection::vec((0..60i64, 0..3usize), 1..25), 2..6),
        has_undated in any::<bool>(),
        probability in 0.0..=1.0f64,
        seed in any::<u64>(),
    ) {
        let mut world = World::new(Vec::new());
        let text = format!("[samplingProb={probability}, samplingSeed={seed}] select name, title");
        let mut drawn: Vec<(Option<i64>, Vec<String>)> = Vec::new();
        for (at, batch) in batches.iter().enumerate() {
            let inserted = (!has_undated || at > 0).then(|| START_MS + (100 + at as i64) * DAY_MS);
            let page = |(number, (day, host)): (usize, &(i64, usize))| Doc {
                inserted_ms: inserted,
                ..Doc::page(&format!("http://h{host}.org/{at}/{number}"), *day, "x")
            };
            world.add(batch.iter().enumerate().map(page).collect());
            let (rows, report) = run(world.session().plan(&text, Language::Wib).unwrap());
            drawn.push((report.dates.inserted_by_ms, rows));
            for (date, rows) in &drawn {
                let then = world.session_with(|options| options.inserted_by_ms = *date);
                prop_assert_eq!(&wib(&then, &text), rows);
            }
        }
    }
}
