//! Answers in every format, and that what was stopped is whole.

use std::io;

use bytes::Bytes;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use mattock_env::OpenMode;
use mattock_query::sink::{FilesSink, ParquetSink, Sink, TableSink};
use mattock_query::{Cancel, Language};

use crate::world::{Doc, World, dir, pages};

#[test]
fn a_parquet_file_has_all_rows_also_of_a_query_that_was_stopped() {
    let world = World::new(pages(90));
    let session = world.session();
    for stop in [false, true] {
        let cancel = Cancel::new();
        let mut out = Vec::new();
        let mut sink = ParquetSink::new(&mut out);
        let query = session.plan("select name, title, links, insertionDate", Language::Wib).unwrap();
        let report = query
            .run(
                &mut sink,
                &mut |progress| {
                    if stop && progress.rows > 0 {
                        cancel.cancel()
                    }
                },
                &cancel,
            )
            .unwrap();
        drop(sink);
        let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(out)).unwrap().build().unwrap();
        let rows: usize = reader.map(|batch| batch.unwrap().num_rows()).sum();
        assert_eq!(rows as u64, report.rows);
        assert!(report.rows == 90 || stop && report.cancelled);
    }
}

#[test]
fn a_directory_has_a_file_for_each_document() {
    let world = World::new(pages(9));
    let session = world.session();
    let query = session
        .plan_files("select name, content where host = \"a.example.org\"", Language::Wib)
        .unwrap()
        .pop()
        .unwrap();
    let out = dir().join("out");
    let report = query.run(&mut FilesSink::new(&world.files, &out), &mut |_| {}, &Cancel::new()).unwrap();
    assert_eq!(report.rows, 3);
    let index = String::from_utf8(world.files.read(&out.join("index.jsonl")).unwrap()).unwrap();
    assert_eq!(index.lines().count(), 3);
    for doc in world.docs.iter().filter(|doc| doc.host() == "a.example.org") {
        let ending = if doc.mime == Some("text/html") { "html" } else { "bin" };
        let name = format!("{}.{ending}", doc.instance());
        assert_eq!(world.files.read(&out.join(&name)).unwrap(), doc.body.as_bytes());
        let line =
            format!("{{\"file\":\"{name}\",\"name\":\"{}\",\"instance\":\"{}\"", doc.url, doc.instance());
        assert!(index.contains(&line), "{index}");
    }
}

#[test]
fn documents_of_one_name_have_files_of_their_own() {
    let capture = |title| Doc::page("http://a.example.org/", 1, title);
    let world = World::new(["one", "two", "three"].map(capture).into());
    let session = world.session();
    let query =
        session.plan_files("select title, content from documents", Language::Sql).unwrap().pop().unwrap();
    let out = dir().join("out");
    world.files.create_dir_all(&out).unwrap();
    // Somebody's own file.
    let name = format!("{}.html", world.docs[0].instance());
    world.files.open(&out.join(&name), OpenMode::CreateOrTruncate).unwrap().write_all_at(b"mine", 0).unwrap();
    query.run(&mut FilesSink::new(&world.files, &out), &mut |_| {}, &Cancel::new()).unwrap();
    let index = String::from_utf8(world.files.read(&out.join("index.jsonl")).unwrap()).unwrap();
    for doc in &world.docs {
        let line = index.lines().find(|line| line.contains(&format!("\"title\":\"{}\"", doc.title))).unwrap();
        let file = line.split('"').nth(3).unwrap();
        assert_eq!(world.files.read(&out.join(file)).unwrap(), doc.body.as_bytes(), "{line}");
    }
    assert_eq!(world.files.read(&out.join(name)).unwrap(), b"mine");
}

#[test]
fn a_directory_that_cannot_be_written_to_its_end_has_no_files() {
    let long = |doc: Doc| Doc { body: doc.body.clone() + &" ".repeat(5_000), ..doc };
    let world = World::new(pages(9).into_iter().map(long).collect());
    let out = dir().join("failing");
    let query = world.session().plan_files("select name", Language::Wib).unwrap().pop().unwrap();
    // Room for the list and for some of the documents.
    world.disk.set_capacity(Some(world.disk.used_bytes() + 20_000));
    let failed = query.run(&mut FilesSink::new(&world.files, &out), &mut |_| {}, &Cancel::new()).unwrap_err();
    assert!(failed.to_string().contains("cannot write /repository/failing/"), "{failed}");
    assert!(world.files.list(&out).unwrap().is_empty());
}

#[test]
fn a_table_is_as_wide_as_the_terminal() {
    let world = World::new(pages(3));
    let mut out = Vec::new();
    let query = world
        .session()
        .plan("select url, fetch_status, content from documents order by url", Language::Sql)
        .unwrap();
    query.run(&mut TableSink::new(&mut out, 60), &mut |_| {}, &Cancel::new()).unwrap();
    let expected = "\
url                fetch_status  content
─────────────────  ────────────  ───────────────────────────
http://b.example…           200  <html><head><title>Page 1<…
http://c.example…           200  <html><head><title>Page 2<…
https://a.exampl…           200  <html><head><title>Page 0<…
";
    assert_eq!(String::from_utf8(out).unwrap().lines().count(), expected.lines().count());
}

/// Says when the query has begun.
struct Begun(std::sync::mpsc::Sender<()>);

impl Sink for Begun {
    fn begin(&mut self, _: &SchemaRef) -> io::Result<()> {
        self.0.send(()).map_err(io::Error::other)
    }

    fn write(&mut self, _: &RecordBatch) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// It would take hours, and has no row to give before its end.
#[test]
fn a_query_that_only_computes_can_be_stopped() {
    let world = World::new(pages(90));
    let session = world.session();
    let tables = ["a", "b", "c", "d", "e", "f"];
    let from: Vec<String> = tables.iter().map(|name| format!("documents {name}")).collect();
    let ordered: Vec<String> =
        tables.windows(2).map(|two| format!("{}.url <> {}.url || 'x'", two[0], two[1])).collect();
    let text = format!("select count(*) from {} where {}", from.join(", "), ordered.join(" and "));
    let query = session.plan(&text, Language::Sql).unwrap();
    let cancel = Cancel::new();
    let (begun, began) = std::sync::mpsc::channel();
    let stopping = cancel.clone();
    let stopper = std::thread::spawn(move || {
        began.recv().unwrap();
        stopping.cancel();
    });
    let report = query.run(&mut Begun(begun), &mut |_| {}, &cancel).unwrap();
    assert!(report.cancelled && report.rows == 0);
    stopper.join().unwrap();
}
