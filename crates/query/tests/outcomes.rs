//! The table of what became of every URL, and the languages that an index has.

use std::path::Path;
use std::sync::Arc;

use mattock_env::{Files, UnixTime};
use mattock_index::LedgerSource;
use mattock_query::{Language, Options, Session};
use mattock_repository::{Ledger, Place, Row, Unsynced};

use crate::world::{World, dir, pages, sql};

/// A ledger with two checkpoints, and what of it is committed.
fn ledger(files: &Files, name: &str, rows: &[(&str, &str, bool)]) -> LedgerSource {
    let path = dir().join(name);
    let mut ledger = Ledger::open(files, &path, 0).unwrap();
    let mut bytes = 0;
    for (number, (url, outcome, stored)) in (0..).zip(rows) {
        let place = Place { file: Arc::from("a.warc.gz"), offset: 0, length: 10 };
        let row = Row {
            url,
            time: UnixTime::from_micros(number * 1_000_000),
            outcome,
            depth: 2,
            took_ms: 7,
            digest: None,
            place: stored.then_some(place),
            truncated: false,
            details: None,
        };
        ledger.append(&row).unwrap();
        let time = UnixTime::from_micros(100_000_000 + number * 1_000_000);
        bytes = ledger.mark(&mut Unsynced::new(files), time).unwrap();
    }
    LedgerSource { name: name.to_owned(), path, bytes }
}

fn session(world: &World, change: impl FnOnce(&mut Options)) -> Session {
    let mut options = Options::new(mattock_env::Random::from_seed(5));
    change(&mut options);
    let mut source = world.source();
    world.files.create_dir_all(Path::new("/repository")).unwrap();
    source.ledgers = vec![
        ledger(
            &world.files,
            "one",
            &[
                ("http://www.a.co.uk/", "200", true),
                ("http://b.org/x", "connect-timeout", false),
                ("http://b.org/y", "404", true),
            ],
        ),
        ledger(&world.files, "two", &[("http://c.com/", "200", false)]),
    ];
    Session::with_source(&world.files, source, options).unwrap()
}

#[test]
fn failures_have_rows_and_so_has_what_was_not_kept() {
    let world = World::new(pages(10));
    let asked = session(&world, |_| {});
    let all = "select url, url_host_registered_domain as domain, outcome, fetch_status, stored, depth from outcomes order by url";
    assert_eq!(
        sql(&asked, all),
        [
            r#"{"url":"http://b.org/x","domain":"b.org","outcome":"connect-timeout","fetch_status":null,"stored":false,"depth":2}"#,
            r#"{"url":"http://b.org/y","domain":"b.org","outcome":"404","fetch_status":404,"stored":true,"depth":2}"#,
            r#"{"url":"http://c.com/","domain":"c.com","outcome":"200","fetch_status":200,"stored":false,"depth":2}"#,
            r#"{"url":"http://www.a.co.uk/","domain":"a.co.uk","outcome":"200","fetch_status":200,"stored":true,"depth":2}"#,
        ]
    );
    let joined = "select count(*) as n from outcomes join documents using (fetch_status) where not stored";
    let expected = world.docs.iter().filter(|doc| doc.status == 200).count();
    assert_eq!(sql(&asked, joined), [format!("{{\"n\":{expected}}}")]);
}

#[test]
fn dates_hold_for_them_too() {
    let world = World::new(pages(3));
    let count = "select count(*) as n from outcomes";
    for (as_of_ms, inserted_by_ms, expected) in
        [(Some(500), None, 2), (None, Some(101_000), 3), (Some(0), Some(200_000), 2), (None, None, 4)]
    {
        let asked = session(&world, |options| {
            (options.as_of_ms, options.inserted_by_ms) = (as_of_ms, inserted_by_ms);
        });
        assert_eq!(sql(&asked, count), [format!("{{\"n\":{expected}}}")], "{as_of_ms:?} {inserted_by_ms:?}");
    }
}

#[test]
fn a_table_that_is_not_there_is_told_from_those_that_are() {
    let world = World::new(pages(3));
    let (crawl, import) = (session(&world, |_| {}), world.session());
    let told = |session: &Session, table: &str| {
        let planned = session.plan(&format!("select * from {table}"), Language::Sql);
        planned.err().unwrap().to_string()
    };
    assert!(told(&crawl, "outcomes where title = 'x'").ends_with("the table `documents` has it"));
    assert!(told(&crawl, "outcome").ends_with("^^^^^^^ did you mean `outcomes`?"));
    assert!(told(&crawl, "document").ends_with("did you mean `documents`?"));
    assert!(told(&crawl, "elephants").contains("the tables are `documents` and, of a crawl, `outcomes`"));
    assert!(told(&import, "outcomes").ends_with("only the directory of a crawl has its outcomes"));
}
