//! Kept columns, and what is said about queries before they run.

use mattock_env::{Files, OpenMode};
use mattock_query::{Cancel, KeptCheck, Language, QueryError, check_kept};

use crate::world::{Doc, World, dir, pages, run, sql, wib};

fn nothing(_: &mattock_query::Progress) {}

#[test]
fn a_kept_column_is_not_computed_again() {
    let mut docs = pages(50);
    // The same payload at another place.
    docs.push(Doc { url: "http://d.example.org/copy".into(), ..docs[4].clone() });
    let mut world = World::new(docs);
    let session = world.session();
    let before = wib(&session, "select name, title where match(title, \"[1-4]\")");
    let kept = session.materialize("title", &mut nothing, &Cancel::new()).unwrap();
    assert_eq!((kept.report.rows, kept.report.documents_read), (50, 50), "once for each payload");
    assert!(kept.files[0].to_str().unwrap().contains("/columns/title-"));
    let (rows, report) =
        run(session.plan("select name, title where match(title, \"[1-4]\")", Language::Wib).unwrap());
    assert_eq!(rows, before);
    assert_eq!((report.documents_read, report.values_kept), (0, 51));
    // Only what is new is computed, by queries and by the next time it is kept.
    world.add(vec![Doc::page("http://new.example.org/", 3, "New 1")]);
    let session = world.session();
    let (rows, report) =
        run(session.plan("select name, title where match(title, \"[1-4]\")", Language::Wib).unwrap());
    assert_eq!((rows.len(), report.documents_read), (before.len() + 1, 1));
    let kept = session.materialize("title", &mut nothing, &Cancel::new()).unwrap();
    assert_eq!((kept.report.rows, kept.report.documents_read), (1, 1));
    assert!(session.materialize("title", &mut nothing, &Cancel::new()).unwrap().files.is_empty());
    world.remove_archive();
    assert_eq!(wib(&world.session(), "select name, title where match(title, \"[1-4]\")"), rows);
}

#[test]
fn a_kept_value_is_that_of_what_its_server_calls_it() {
    let page = Doc::page("http://a.example.org/", 1, "typed");
    let as_type = |number: i64, mime| Doc {
        url: format!("http://a.example.org/{number}"),
        time_ms: page.time_ms + number,
        mime: Some(mime),
        ..page.clone()
    };
    let mut docs: Vec<Doc> = ["image/png", "text/html", "text/plain"]
        .into_iter()
        .zip(1..)
        .map(|(mime, at)| as_type(at, mime))
        .collect();
    docs.push(as_type(4, "text/html"));
    let charset = |number, charset| Doc { body: "Gr\u{fc}n \u{410}".into(), ..as_type(number, charset) };
    docs.extend([charset(5, "text/plain; charset=utf-8"), charset(6, "text/plain; charset=windows-1251")]);
    let world = World::new(docs);
    let asked = "select url, title, content, charset from documents";
    let before = sql(&world.session(), asked);
    for (column, values) in [("title", 5), ("content", 5), ("charset", 5)] {
        let kept = world.session().materialize(column, &mut nothing, &Cancel::new()).unwrap();
        assert_eq!((kept.report.rows, kept.report.failures.len()), (values, 0), "{column}");
    }
    world.remove_archive();
    let (rows, report) = run(world.session().plan(asked, Language::Sql).unwrap());
    assert_eq!((rows, report.documents_read, report.values_kept), (before, 0, 18));
}

#[test]
fn what_is_of_an_instance_is_kept_for_revisits_too() {
    let mut docs = pages(20);
    let body = docs[3].body.clone();
    docs.iter_mut().skip(1).step_by(2).for_each(|doc| doc.body = body.clone());
    docs.iter_mut().for_each(|doc| doc.mime = Some("text/html"));
    let world = World::new(docs);
    let revisits = sql(&world.session(), "select count(*) as n from documents where record_type = 'revisit'");
    assert_eq!(revisits, [r#"{"n":9}"#]);
    let asked = "select url, links, http_server from documents";
    let before = sql(&world.session(), asked);
    for column in ["links", "http_server"] {
        let kept = world.session().materialize(column, &mut nothing, &Cancel::new()).unwrap();
        assert_eq!(kept.report.rows, 20, "{column}");
    }
    world.remove_archive();
    let (rows, report) = run(world.session().plan(asked, Language::Sql).unwrap());
    assert_eq!((rows, report.documents_read), (before, 0));
}

#[test]
fn captures_of_one_url_within_a_second_have_values_of_their_own() {
    let linking = |title: &str, link: &str| Doc {
        body: format!("<title>{title}</title><a href='/{link}'>next</a>"),
        ..Doc::page("http://a.example.org/", 1, title)
    };
    let one = linking("one", "l1");
    // The same payload, of which the server says something else.
    let three = Doc { fields: "Server: three\r\n", ..one.clone() };
    let world = World::new(vec![one, linking("two", "l2"), three]);
    let asked = "select title, links, http_server, instance from documents order by warc_record_offset";
    let before = sql(&world.session(), asked);
    for own in ["/l1", "/l2", "three"] {
        assert!(before.concat().contains(own), "{before:?}");
    }
    for (column, values) in [("title", 2), ("links", 3), ("http_server", 3)] {
        let kept = world.session().materialize(column, &mut nothing, &Cancel::new()).unwrap();
        assert_eq!(kept.report.rows, values, "{column}");
    }
    world.remove_archive();
    assert_eq!(sql(&world.session(), asked), before);
}

#[test]
fn damage_in_kept_files_is_found() {
    let world = World::new(pages(30));
    let check = || check_kept(&world.files, &dir());
    assert_eq!(check(), None);
    let kept = world.session().materialize("title", &mut nothing, &Cancel::new()).unwrap();
    assert_eq!(check(), Some(KeptCheck { files: 1, problems: Vec::new() }));
    let whole = world.files.read(&kept.files[0]).unwrap();
    for at in (0..whole.len()).step_by(97) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        put(&world.files, &kept.files[0], &bytes);
        let found = check().unwrap();
        assert!(found.files == 0 && found.problems[0].contains("`title`"), "{at}: {found:?}");
    }
    put(&world.files, &kept.files[0], &whole[..whole.len() / 2]);
    assert_eq!(check().unwrap().problems.len(), 1);
    put(&world.files, &kept.files[0], &whole);
    assert_eq!(check().unwrap().files, 1);
}

fn put(files: &Files, path: &std::path::Path, bytes: &[u8]) {
    let file = files.open(path, OpenMode::CreateOrTruncate).unwrap();
    file.write_all_at(bytes, 0).unwrap();
}

#[test]
fn what_was_kept_can_be_forgotten_and_old_files_are_not_read() {
    let world = World::new(pages(12));
    let session = world.session();
    let columns = crate::world::dir().join("columns");
    let old = columns.join("title-1");
    world.files.create_dir_all(&old).unwrap();
    let file = world.files.open(&old.join("part-00000.parquet"), OpenMode::CreateOrTruncate).unwrap();
    file.write_all_at(b"of another format", 0).unwrap();
    let asked = "select name, title";
    let before = wib(&session, asked);
    for column in ["title", "language"] {
        session.materialize(column, &mut nothing, &Cancel::new()).unwrap();
    }
    assert_eq!(wib(&session, asked), before);
    assert_eq!(session.drop_kept("title").unwrap().len(), 2);
    assert_eq!(session.drop_kept("title").unwrap().len(), 0);
    let left = world.files.list(&columns).unwrap().into_iter().filter(|entry| entry.is_dir).count();
    assert_eq!(left, 1, "those of other columns stay");
    let (rows, report) = run(session.plan(asked, Language::Wib).unwrap());
    assert_eq!((rows, report.documents_read, report.values_kept), (before, 12, 0));
}

#[test]
fn what_is_no_analyzer_cannot_be_kept() {
    let world = World::new(pages(3));
    for (name, part) in
        [("titel", "did you mean `title`?"), ("url", "not computed"), ("latest", "not computed")]
    {
        let error = world.session().materialize(name, &mut nothing, &Cancel::new()).unwrap_err();
        assert!(
            matches!(&error, QueryError::NoAnalyzer { .. }) && error.to_string().contains(part),
            "{error}"
        );
    }
}

#[test]
fn an_unreadable_document_is_tried_again() {
    let world = World::new(pages(9));
    let path = crate::world::dir().join("archive");
    let moved = crate::world::dir().join("elsewhere");
    let names: Vec<String> = world.files.list(&path).unwrap().into_iter().map(|entry| entry.name).collect();
    let move_all = |from: &std::path::Path, to: &std::path::Path| {
        world.files.create_dir_all(to).unwrap();
        for name in &names {
            world.files.rename(&from.join(name), &to.join(name)).unwrap();
        }
    };
    move_all(&path, &moved);
    let kept = world.session().materialize("title", &mut nothing, &Cancel::new()).unwrap();
    assert_eq!((kept.files.len(), kept.report.failures[0].count), (0, 9));
    move_all(&moved, &path);
    let kept = world.session().materialize("title", &mut nothing, &Cancel::new()).unwrap();
    assert_eq!(kept.report.rows, 9);
}

#[test]
fn explain_says_what_will_be_read() {
    let world = World::new(pages(90));
    let session = world.session();
    let index = session
        .plan("select count(*) from documents where url = 'http://a.example.org/page3.ram'", Language::Sql)
        .unwrap();
    let explanation = index.explain().unwrap();
    assert_eq!((explanation.columns.as_slice(), explanation.files), (&["url".to_string()][..], 2));
    assert!(explanation.row_groups < explanation.row_groups_total, "{explanation}");
    assert_eq!(explanation.memory_rows, 30);
    assert!(
        explanation.to_string().contains("; 30 rows from memory, which are in no file yet\n"),
        "{explanation}"
    );
    let small = World::new(pages(2)).session();
    let explanation = small.plan("select name where status = 200", Language::Wib).unwrap().explain().unwrap();
    assert_eq!(explanation.columns, ["fetch_status", "url"]);
    assert_eq!((explanation.files, explanation.memory_rows), (0, 2), "{explanation}");
    let explanation = index.explain().unwrap();
    assert_eq!((explanation.documents, explanation.archive_bytes), (0, 0));
    let content = session
        .plan("select name, title where host = \"b.example.org\" && match(text, \"x\")", Language::Wib)
        .unwrap();
    let explanation = content.explain().unwrap();
    assert_eq!(explanation.computed, ["text", "title"]);
    assert_eq!(explanation.documents, 30);
    assert!(explanation.archive_bytes > 1_000 && explanation.index_bytes > 100, "{explanation}");
    assert!(explanation.plan.contains("ContentExec: first=[text]"), "{explanation}");
    // All is counted before anything is read: the sort stands behind the meter.
    let (sort, meter) =
        (explanation.plan.find("SortExec").unwrap(), explanation.plan.find("MeterExec").unwrap());
    assert!(sort < meter, "{explanation}");
    // Looking does not count as doing.
    let (_, report) = run(content);
    assert_eq!(report.documents_read, 30);
}
