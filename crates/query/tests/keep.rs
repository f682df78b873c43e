//! Kept columns, and what is said about queries before they run.

use mattock_query::{Cancel, Language, QueryError};

use crate::world::{Doc, World, pages, run, wib};

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
    assert!(kept.file.unwrap().to_str().unwrap().contains("/columns/title-"));
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
    assert_eq!(session.materialize("title", &mut nothing, &Cancel::new()).unwrap().file, None);
    world.remove_archive();
    assert_eq!(wib(&world.session(), "select name, title where match(title, \"[1-4]\")"), rows);
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
    assert_eq!((kept.file, kept.report.failures[0].count), (None, 9));
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
