//! Queries on more than fits into the memory that they are given.

use mattock_env::Random;
use mattock_query::{Language, Query, Session};

use crate::world::{DAY_MS, Doc, START_MS, World, run_in_order, sql};

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
