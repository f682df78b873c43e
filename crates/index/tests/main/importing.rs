//! Foreign archives in the index: every record that can be read is a row, and what cannot is told with its place.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, TimestampMillisecondType};
use arrow_array::{RecordBatch, StringArray};
use mattock_env::sim::Simulation;
use mattock_env::{Env, OpenMode, UnixTime};
use mattock_index::{
    Asked, Foreign, ImportOptions, Imported, IndexError, IndexOptions, PartWriter, Snapshot, check_index,
    find_imported, import, import_lost, recover, rekey, update,
};
use mattock_repository::{Digest, Page, RecordFetcher, WarcWriter, WriterOptions};
use mattock_weburl::WebUrl;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// Imports files, with all that goes with it.
fn taken(env: &Env, root: &Path, foreign: &[Foreign]) -> Imported {
    let options = ImportOptions::named("foreign");
    import(&env.files, root, foreign, &options, &|| env.clock.unix(), |_, _| {}).unwrap()
}

/// Imports again what is lost: the files it is about, and what became of them.
fn again(env: &Env, root: &Path) -> Option<(Vec<Foreign>, Imported)> {
    let (mut lost, options) = (Vec::new(), ImportOptions::named("foreign"));
    let found = |foreign: &[Foreign]| lost = foreign.to_vec();
    let imported =
        import_lost(&env.files, root, &options, &|| env.clock.unix(), found, |_, _| {}).unwrap()?;
    Some((lost, imported))
}

/// Pages of an archive; where each begins, and where it ends.
fn archive(env: &Env, directory: &Path, count: usize) -> (PathBuf, Vec<(u64, u64)>) {
    env.files.create_dir_all(directory).unwrap();
    let mut writer =
        WarcWriter::open(&env.files, directory, WriterOptions::default(), env.random.fork("archive"))
            .unwrap();
    let mut places = Vec::new();
    let mut file = String::new();
    for number in 0..count {
        let url = format!("http://example.org/{number}");
        let body = format!("<html><title>{number}</title>{}", "x".repeat(number * 37 % 900));
        let written = writer
            .write_page(&Page {
                url: &url,
                ip: None,
                date: UnixTime::from_micros(1_700_000_000_000_000 + number as i64 * 1_000_000),
                request: &[],
                response_head: b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n",
                body: body.as_bytes(),
                truncated: None,
                security: None,
                metadata: &[],
            })
            .unwrap();
        places.push((written.place.offset, written.place.length));
        file = written.place.file.to_string();
    }
    writer.sync().unwrap();
    (directory.join(file), places)
}

fn snapshot(env: &Env, root: &Path) -> Snapshot {
    Snapshot::open(&env.files, root, &[], &IndexOptions::default()).unwrap()
}

/// URL, file, offset and length of every row.
fn rows(env: &Env, root: &Path) -> Vec<(String, String, u64, u64)> {
    let mut found = Vec::new();
    for part in snapshot(env, root).parts() {
        let bytes = bytes::Bytes::from(env.files.read(part).unwrap());
        for batch in ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap().build().unwrap() {
            let batch = batch.unwrap();
            let text = |name: &str, row| {
                batch.column_by_name(name).unwrap().as_string::<i32>().value(row).to_owned()
            };
            let number = |name: &str, row| {
                batch.column_by_name(name).unwrap().as_primitive::<Int32Type>().value(row) as u64
            };
            found.extend((0..batch.num_rows()).map(|row| {
                let (offset, length) = (number("warc_record_offset", row), number("warc_record_length", row));
                (text("url", row), text("warc_filename", row), offset, length)
            }));
        }
    }
    found
}

#[test]
fn a_damaged_record_costs_itself_and_a_file_is_imported_once() {
    Simulation::new(1).run(|env| async move {
        let (root, count) = (Path::new("/repository"), 60);
        let (path, places) = archive(&env, Path::new("/elsewhere"), count);
        let file = env.files.open(&path, OpenMode::Write).unwrap();
        let (offset, length) = places[20];
        file.write_all_at(b"no gzip", offset + length / 2).unwrap();
        let foreign = [Foreign { path: path.clone(), name: path.to_str().unwrap().to_owned() }];
        let imported = taken(&env, root, &foreign);
        assert_eq!((imported.instances, imported.untaken_count()), (count as u64 - 1, 1), "{imported:?}");
        assert_eq!(imported.untaken[0].offset, offset);
        // Who was killed behind a part has left it, and nobody has heard of it.
        let stray = root.join("index/part-000009.parquet");
        env.files.write_atomic(&stray, b"rows").unwrap();
        // Known files behind new ones, and the same one twice, cost nothing.
        let (other, _) = archive(&env, Path::new("/another"), 4);
        let other = Foreign { name: other.to_str().unwrap().to_owned(), path: other };
        let mixed = [other.clone(), other, foreign[0].clone()];
        let more = taken(&env, Path::new("/mixed"), &mixed[2..]);
        assert_eq!(more.instances, count as u64 - 1);
        let more = taken(&env, Path::new("/mixed"), &mixed);
        assert_eq!((more.instances, more.known), (4, 2));
        assert_eq!(rows(&env, Path::new("/mixed")).len(), count + 3);
        // Who was killed left parts that are in no list.
        let left = root.join("index/import-000001.rows");
        env.files.write_atomic(&left, b"rows").unwrap();
        let again = taken(&env, root, &foreign);
        assert_eq!((again.known, again.records), (1, 0));
        assert!(env.files.entry(&stray).unwrap().is_none() && env.files.entry(&left).unwrap().is_none());
        let found = rows(&env, root);
        assert_eq!(found.len(), count - 1);
        // Every row leads to its record.
        let (snapshot, mut fetcher) = (snapshot(&env, root), RecordFetcher::new(&env.files));
        for (url, file, offset, length) in found {
            let record = fetcher.fetch(&snapshot.archive(&file), offset, length).unwrap();
            assert_eq!(record.target_uri(), Some(url.as_str()));
        }
    });
}

/// A WARC file, plain, of responses and revisits: URL, status, type, body; a revisit has none, and names the digest of one before.
fn plain(env: &Env, path: &Path, records: &[(&str, u16, &str, Option<&str>, &str)]) -> Foreign {
    let mut archive = String::new();
    for (url, status, kind, body, digest) in records {
        let (word, body) = body.map_or(("revisit", ""), |body| ("response", body));
        let http = format!("HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\n\r\n{body}");
        archive += &format!(
            "WARC/1.0\r\nWARC-Type: {word}\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n\
             WARC-Record-ID: <urn:test:{url}>\r\nWARC-Payload-Digest: {digest}\r\n\
             Content-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{http}\r\n\r\n",
            http.len()
        );
    }
    env.files.write_atomic(path, archive.as_bytes()).unwrap();
    Foreign { path: path.to_path_buf(), name: path.to_str().unwrap().to_owned() }
}

/// Those of the rows in the newest part.
fn languages_of(env: &Env, snapshot: &Snapshot) -> Vec<Option<String>> {
    let bytes = bytes::Bytes::from(env.files.read(snapshot.parts().last().unwrap()).unwrap());
    let batch =
        ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap().build().unwrap().next().unwrap().unwrap();
    let column = batch.column_by_name("content_languages").unwrap().as_string::<i32>();
    column.iter().map(|languages| languages.map(str::to_owned)).collect()
}

#[test]
fn languages_are_looked_up_on_the_way() {
    Simulation::new(1).run(|env| async move {
        const GERMAN: &str = "<p>Die Würde des Menschen ist unantastbar. Sie zu achten und zu schützen ist Verpflichtung aller staatlichen Gewalt.";
        let known = Digest::of(&[GERMAN.as_bytes()]).to_string();
        let html = "text/html; charset=utf-8";
        let all = [
            ("http://a.org/page", 200, html, Some(GERMAN), known.as_str()),
            ("http://a.org/page-again", 200, html, None, known.as_str()),
            ("http://b.org/picture", 200, "image/png", Some("PNG"), ""),
            ("http://c.org/missing", 404, html, Some(GERMAN), ""),
        ];
        let stranger = [("http://d.org/revisit", 200, html, None, "sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")];
        let take = |root: &str, name: &str, records: &[_], languages| {
            let path = Path::new(root).join(name);
            env.files.create_dir_all(Path::new(root)).unwrap();
            let options = ImportOptions { languages, ..ImportOptions::named("foreign") };
            let foreign = [plain(&env, &path, records)];
            import(&env.files, Path::new(root), &foreign, &options, &|| env.clock.unix(), |_, _| {}).unwrap();
            snapshot(&env, Path::new(root))
        };
        let found = take("/one", "all.warc", &all, true);
        assert!(found.has_languages());
        let bytes = bytes::Bytes::from(env.files.read(&found.parts()[0]).unwrap());
        let batch = ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap().build().unwrap().next().unwrap();
        let batch = batch.unwrap();
        let column = batch.column_by_name("content_languages").unwrap().as_string::<i32>();
        assert_eq!(column.iter().collect::<Vec<_>>(), [Some("deu"), Some("deu"), None, None]);
        // What came before is known to a later import, too.
        let again = [("http://e.org/again", 200, html, None, known.as_str())];
        assert_eq!(languages_of(&env, &take("/one", "again.warc", &again, true)), [Some("deu".to_owned())]);
        // Of a revisit of something that never came by nothing can be known: no document would tell more.
        let found = take("/one", "stranger.warc", &stranger, true);
        assert!(found.has_languages());
        assert_eq!(languages_of(&env, &found), [None]);
        assert!(!take("/two", "all.warc", &all, false).has_languages());
    });
}

/// The times of insertion there are, in ms since 1970.
fn inserted(env: &Env, root: &Path) -> Vec<i64> {
    let mut times = Vec::new();
    for part in snapshot(env, root).parts() {
        let bytes = bytes::Bytes::from(env.files.read(part).unwrap());
        for batch in ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap().build().unwrap() {
            let batch = batch.unwrap();
            let column = batch.column_by_name("insertion_time").unwrap();
            times.extend(column.as_primitive::<TimestampMillisecondType>().iter().map(Option::unwrap));
        }
    }
    times.dedup();
    times
}

#[test]
fn what_is_imported_is_inserted_then_however_old_it_is() {
    Simulation::new(1).run(|env| async move {
        let root = Path::new("/repository");
        let take = |directory: &str, count: usize| {
            let (path, _) = archive(&env, Path::new(directory), count);
            let foreign = [Foreign { name: path.to_str().unwrap().to_owned(), path }];
            taken(&env, root, &foreign);
        };
        take("/one", 5);
        let first = inserted(&env, root);
        assert_eq!(first, [env.clock.unix().as_micros() / 1000]);
        take("/two", 6);
        let second = inserted(&env, root);
        assert!(second.len() == 2 && second[0] == first[0] && second[1] > first[0], "{second:?}");
        env.clock.set_back(Duration::from_secs(3600));
        take("/three", 7);
        let third = inserted(&env, root);
        assert!(third.len() == 3 && third[..2] == second && third[2] > third[1], "{third:?}");
        assert!(!snapshot(&env, root).has_undated());
    });
}

/// A record as Heritrix writes it.
fn heritrix(
    kind: &str,
    id: u32,
    concurrent: Option<u32>,
    url: &str,
    content_type: &str,
    block: &str,
) -> String {
    let concurrent =
        concurrent.map_or(String::new(), |other| format!("WARC-Concurrent-To: <urn:uuid:{other}>\r\n"));
    format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-01-02T03:04:05Z\r\n{concurrent}\
         WARC-Record-ID: <urn:uuid:{id}>\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    )
}

#[test]
fn what_metadata_records_tell_is_in_the_row_of_their_document() {
    Simulation::new(2).run(|env| async move {
        let (root, path) = (Path::new("/repository"), Path::new("/elsewhere/heritrix.warc"));
        let page = |id, url: &str| {
            let http = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>a";
            heritrix("response", id, None, url, "application/http; msgtype=response", http)
        };
        let told = |id, of, url: &str, fields: &str| {
            heritrix("metadata", id, Some(of), url, "application/warc-fields", fields)
        };
        let request =
            heritrix("request", 2, Some(1), "http://a.org/", "application/http", "GET / HTTP/1.0\r\n\r\n");
        let archive = [
            page(1, "http://a.org/"),
            request,
            told(3, 1, "http://a.org/", "seed: \r\nfetchTimeMs: 47\r\n"),
            page(4, "http://a.org/b"),
            told(5, 4, "http://a.org/b", "via: http://a.org/\r\nhopsFromSeed: LE\r\n"),
            // More of the same document.
            told(8, 4, "http://a.org/b", "fetchTimeMs: 3\r\n"),
            page(6, "http://a.org/c"),
            // Of another document, wherever that is.
            told(7, 4, "http://a.org/b", "via: http://a.org/c\r\nhopsFromSeed: L\r\n"),
        ];
        env.files.create_dir_all(Path::new("/elsewhere")).unwrap();
        env.files.write_atomic(path, archive.concat().as_bytes()).unwrap();
        let foreign = [Foreign { path: path.into(), name: path.to_str().unwrap().to_owned() }];
        let imported = taken(&env, root, &foreign);
        assert_eq!(
            (imported.instances, imported.others, imported.untaken_count()),
            (3, 5, 0),
            "{imported:?}"
        );
        let snapshot = snapshot(&env, root);
        let bytes = bytes::Bytes::from(env.files.read(&snapshot.parts()[0]).unwrap());
        let batch = ParquetRecordBatchReaderBuilder::try_new(bytes)
            .unwrap()
            .build()
            .unwrap()
            .next()
            .unwrap()
            .unwrap();
        let long = |name: &str| batch.column_by_name(name).unwrap().as_primitive::<Int64Type>().clone();
        let depth = batch.column_by_name("depth").unwrap().as_primitive::<Int32Type>();
        assert_eq!(depth.iter().collect::<Vec<_>>(), [Some(0), Some(2), None]);
        assert_eq!(long("took_ms").iter().collect::<Vec<_>>(), [Some(47), Some(3), None]);
        let first = long("url_key").value(0);
        assert_eq!(long("via_key").iter().collect::<Vec<_>>(), [None, Some(first), None]);
    });
}

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn records_that_share_a_member_have_no_place() {
    Simulation::new(3).run(|env| async move {
        let (root, path) = (Path::new("/repository"), Path::new("/elsewhere/shared.warc.gz"));
        let http = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>a";
        let page =
            |id, url: &str| heritrix("response", id, None, url, "application/http; msgtype=response", http);
        let request =
            |id, url: &str| heritrix("request", id, None, url, "application/http", "GET / HTTP/1.0\r\n\r\n");
        let members = [
            page(1, "http://a.org/alone"),
            request(2, "http://a.org/b") + &page(3, "http://a.org/b"),
            page(4, "http://a.org/c") + &page(5, "http://a.org/d") + &page(6, "http://a.org/e"),
            page(7, "http://a.org/last"),
        ]
        .map(|member| gzip(member.as_bytes()));
        env.files.create_dir_all(Path::new("/elsewhere")).unwrap();
        env.files.write_atomic(path, &members.concat()).unwrap();
        let foreign = [Foreign { path: path.into(), name: path.to_str().unwrap().to_owned() }];
        let imported = taken(&env, root, &foreign);
        assert_eq!(
            (imported.instances, imported.others, imported.untaken_count()),
            (2, 1, 4),
            "{imported:?}"
        );
        let second = members[0].len() as u64;
        let third = second + members[1].len() as u64;
        let offsets: Vec<u64> = imported.untaken.iter().map(|untaken| untaken.offset).collect();
        assert_eq!(offsets, [second, third, third, third]);
        assert!(imported.untaken[0].why.contains("shares a gzip member"), "{imported:?}");
        let mut fetcher = RecordFetcher::new(&env.files);
        let found = rows(&env, root);
        assert_eq!(found.len(), 2);
        let last = |url: &str| find_imported(&env.files, root, &Asked::parse(url).unwrap()).unwrap();
        assert_eq!((last("http://a.org/last").len(), last("http://a.org/b").len()), (1, 0));
        assert_eq!(
            (last("http://a.org:80/last")[0].offset, last("http://a.org/LAST").len()),
            (found[1].2, 0)
        );
        for (url, file, offset, length) in found {
            fetcher.document(Path::new(&file), offset, length, &url, None).unwrap();
        }
    });
}

#[test]
fn a_segment_is_not_the_whole_document() {
    Simulation::new(4).run(|env| async move {
        let (root, path) = (Path::new("/repository"), Path::new("/elsewhere/segments.warc"));
        let http = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>the beginning";
        let record = |kind: &str, number: u32, block: &str| {
            format!(
                "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: http://a.org/\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n\
                 WARC-Record-ID: <urn:test:{number}>\r\nWARC-Segment-Number: {number}\r\n\
                 Content-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
                block.len()
            )
        };
        let archive = record("response", 1, http) + &record("continuation", 2, " and the end");
        env.files.create_dir_all(Path::new("/elsewhere")).unwrap();
        env.files.write_atomic(path, archive.as_bytes()).unwrap();
        let foreign = [Foreign { path: path.into(), name: path.to_str().unwrap().to_owned() }];
        let imported = taken(&env, root, &foreign);
        assert_eq!((imported.instances, imported.untaken_count()), (1, 1), "{imported:?}");
        let bytes = bytes::Bytes::from(env.files.read(&snapshot(&env, root).parts()[0]).unwrap());
        let batch = ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap().build().unwrap().next().unwrap();
        let batch = batch.unwrap();
        assert_eq!(batch.column_by_name("content_truncated").unwrap().as_string::<i32>().value(0), "length");
    });
}

#[test]
fn a_revisit_that_leaves_its_payload_out_was_not_cut() {
    Simulation::new(4).run(|env| async move {
        let (root, path) = (Path::new("/repository"), Path::new("/elsewhere/cut.warc"));
        let http = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
        let record = |kind: &str, url: &str, why: &str| {
            heritrix(kind, 1, None, url, "application/http", http).replacen(
                "WARC-Record-ID",
                &format!("WARC-Truncated: {why}\r\nWARC-Record-ID"),
                1,
            )
        };
        let archive = [
            record("revisit", "http://a.org/1", "length"),
            record("revisit", "http://a.org/2", "time"),
            record("response", "http://a.org/3", "length"),
        ];
        env.files.create_dir_all(Path::new("/elsewhere")).unwrap();
        env.files.write_atomic(path, archive.concat().as_bytes()).unwrap();
        taken(&env, root, &[Foreign { path: path.into(), name: path.to_str().unwrap().to_owned() }]);
        let bytes = bytes::Bytes::from(env.files.read(&snapshot(&env, root).parts()[0]).unwrap());
        let batch = ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap().build().unwrap().next().unwrap();
        let batch = batch.unwrap();
        let cut = batch.column_by_name("content_truncated").unwrap().as_string::<i32>();
        assert_eq!(cut.iter().collect::<Vec<_>>(), [None, Some("time"), Some("length")]);
    });
}

#[test]
fn what_is_left_out_is_counted_by_kind_and_digests_tell_damage() {
    Simulation::new(4).run(|env| async move {
        let (root, path) = (Path::new("/repository"), Path::new("/elsewhere/kinds.warc"));
        let http = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>a page";
        let digest = Digest::of(&[http.as_bytes()]);
        let page = heritrix("response", 1, None, "http://a.org/", "application/http", http).replacen(
            "WARC-Record-ID",
            &format!("WARC-Block-Digest: {digest}\r\nWARC-Record-ID"),
            1,
        );
        let lookup = heritrix("response", 2, None, "dns:a.org", "text/dns", "a.org. 1 IN A 192.0.2.1");
        let resource = heritrix("resource", 3, None, "http://a.org/file", "text/plain", "a file");
        let archive = [lookup.repeat(20), page.clone(), resource, page.replace("a page", "a qage")].concat();
        env.files.create_dir_all(Path::new("/elsewhere")).unwrap();
        env.files.write_atomic(path, archive.as_bytes()).unwrap();
        let foreign = [Foreign { path: path.into(), name: path.to_str().unwrap().to_owned() }];
        let options = ImportOptions { digests: true, told_max: 3, ..ImportOptions::named("foreign") };
        let imported = import(&env.files, root, &foreign, &options, &|| env.clock.unix(), |_, _| {}).unwrap();
        let counts: Vec<_> = imported.left.iter().map(|(kind, count)| (kind.as_str(), *count)).collect();
        assert_eq!(counts, [("damage", 1), ("dns", 20), ("resource", 1)]);
        assert_eq!((imported.untaken.len(), imported.untaken_count(), imported.losses()), (5, 22, 1));
        assert_eq!(imported.instances, 2, "tools that write wrong digests lose nothing");
    });
}

#[test]
fn samples_of_other_programs_are_imported_or_refused_with_a_reason() {
    let env = Env::real();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/warc");
    let mut files = Vec::new();
    list(&env, &samples, &mut files);
    if files.is_empty() {
        eprintln!("skipped: there are no samples in {}", samples.display());
        return;
    }
    let root = std::env::temp_dir().join(format!("mattock-import-{}", std::process::id()));
    let mut instances = 0;
    for path in &files {
        let foreign = [Foreign { path: path.clone(), name: path.to_str().unwrap().to_owned() }];
        let imported = import(
            &env.files,
            &root,
            &foreign,
            &ImportOptions::named("samples"),
            &|| env.clock.unix(),
            |_, _| {},
        );
        let imported = imported.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(
            imported.records > 0 || imported.untaken_count() > 0 || env.files.read(path).unwrap().is_empty(),
            "{}: nothing, and no reason",
            path.display()
        );
        instances += imported.instances;
    }
    let found = rows(&env, &root);
    assert_eq!(found.len() as u64, instances);
    assert!(instances > 100, "{instances}");
    let mut fetcher = RecordFetcher::new(&env.files);
    for (url, file, offset, length) in found {
        let record = fetcher.document(Path::new(&file), offset, length, &url, None);
        assert!(record.is_ok(), "{file} at {offset}: {record:?}");
    }
    env.files.remove_dir_all(&root).unwrap();
}

/// Parts of earlier versions have keys of canonical URLs, without sessions: all is found there, and a rebuild gives them the keys of today.
#[test]
fn parts_with_keys_of_earlier_versions_are_read_and_made_anew() {
    Simulation::new(1).run(|env| async move {
        let (root, path) = (Path::new("/repository"), Path::new("/elsewhere/sessions.warc"));
        let urls = ["http://a.org/b", "http://a.org/a?zenid=12", "http://a.org/a?zenid=11", "http://a.org/a"];
        let records = urls.map(|url| (url, 200, "text/html", Some(url), ""));
        env.files.create_dir_all(Path::new("/elsewhere")).unwrap();
        taken(&env, root, &[plain(&env, path, &records)]);
        let times = inserted(&env, root);
        let read = || {
            let part = snapshot(&env, root).parts()[0].clone();
            let bytes = bytes::Bytes::from(env.files.read(&part).unwrap());
            (
                part,
                ParquetRecordBatchReaderBuilder::try_new(bytes)
                    .unwrap()
                    .build()
                    .unwrap()
                    .next()
                    .unwrap()
                    .unwrap(),
            )
        };
        let keys = |batch: &RecordBatch| -> Vec<String> {
            batch.column(0).as_string::<i32>().iter().map(|key| key.unwrap().to_owned()).collect()
        };
        let (part, batch) = read();
        let today = ["org,a)/a", "org,a)/a?zenid=11", "org,a)/a?zenid=12", "org,a)/b"];
        assert_eq!(keys(&batch), today);
        let mut columns = batch.columns().to_vec();
        let urls_there = batch.column(1).as_string::<i32>();
        let old = urls_there.iter().map(|url| WebUrl::parse(url.unwrap()).unwrap().archive_key());
        columns[0] = Arc::new(StringArray::from_iter_values(old));
        let mut writer = PartWriter::create(&env.files, &part).unwrap();
        writer.write(&RecordBatch::try_new(batch.schema(), columns).unwrap()).unwrap();
        writer.finish().unwrap();
        env.files.remove_file(&root.join("index/INDEX")).unwrap();
        recover(&env.files, root).unwrap().unwrap();
        let found = |url: &str| {
            let found = find_imported(&env.files, root, &Asked::parse(url).unwrap()).unwrap();
            found.into_iter().map(|row| row.url).collect::<Vec<_>>()
        };
        for url in urls {
            assert_eq!(found(url), [url]);
        }
        assert_eq!(
            (rekey(&env.files, root).unwrap(), keys(&read().1)),
            (1, today.map(str::to_owned).to_vec())
        );
        for url in urls {
            assert_eq!(found(url), [url]);
        }
        assert_eq!((rekey(&env.files, root).unwrap(), inserted(&env, root)), (0, times));
        assert!(env.files.entry(&part).unwrap().is_none());
        assert_eq!(check_index(&env.files, root).unwrap().problems, [""; 0]);
    });
}

/// Plain samples lose their last line ends in some way: the last record has all of its block, and is taken and found again.
#[test]
fn a_last_record_without_its_line_ends_is_read_again() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/warc");
    let (real, mut paths) = (Env::real(), Vec::new());
    list(&real, &samples, &mut paths);
    let page =
        heritrix("response", 1, None, "http://a.org/", "application/http", "HTTP/1.1 200 OK\r\n\r\na page");
    let mut archives = vec![page.repeat(3).into_bytes()];
    archives.extend(
        paths
            .iter()
            .filter(|path| path.extension().is_some_and(|end| end == "warc" || end == "arc"))
            .map(|path| real.files.read(path).unwrap()),
    );
    for archive in archives {
        let block_end = archive.trim_ascii_end().len();
        Simulation::new(1).run(|env| async move {
            let mut fetcher = RecordFetcher::new(&env.files);
            env.files.create_dir_all(Path::new("/elsewhere")).unwrap();
            for kept in 0..(archive.len() - block_end).min(5) {
                let (root, path) = (format!("/repository-{kept}"), format!("/elsewhere/{kept}.warc"));
                env.files.write_atomic(Path::new(&path), &archive[..block_end + kept]).unwrap();
                taken(&env, Path::new(&root), &[Foreign { path: path.clone().into(), name: path }]);
                for (url, file, offset, length) in rows(&env, Path::new(&root)) {
                    let record = fetcher.document(Path::new(&file), offset, length, &url, None);
                    assert!(record.is_ok(), "{url} with {kept} bytes of its end: {record:?}");
                }
            }
        });
    }
}

fn list(env: &Env, directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in env.files.list(directory).unwrap_or_default() {
        let path = directory.join(&entry.name);
        let is_archive =
            [".warc", ".arc", ".warc.gz", ".arc.gz", ".warc.zst"].iter().any(|end| entry.name.ends_with(end));
        match entry.is_dir {
            true => list(env, &path, files),
            false if is_archive => files.push(path),
            false => {}
        }
    }
}

#[test]
fn parts_that_are_lost_or_damaged_are_told_and_imported_again() {
    Simulation::new(1).run(|env| async move {
        let root = Path::new("/repository");
        let (path, _) = archive(&env, Path::new("/elsewhere"), 40);
        let foreign = [Foreign { name: path.to_str().unwrap().to_owned(), path }];
        taken(&env, root, &foreign);
        assert_eq!(check_index(&env.files, root).unwrap().problems, [""; 0]);
        let part = snapshot(&env, root).parts()[0].clone();
        // One bit, which no length shows.
        let whole = env.files.read(&part).unwrap();
        let mut flipped = whole.clone();
        flipped[whole.len() / 2] ^= 4;
        env.files.write_atomic(&part, &flipped).unwrap();
        let found = check_index(&env.files, root).unwrap();
        assert!(found.problems[0].contains("its checksum is wrong"), "{found:?}");
        env.files.write_atomic(&part, &whole[..whole.len() - 1]).unwrap();
        let cut = Snapshot::open(&env.files, root, &[], &IndexOptions::default()).unwrap_err().to_string();
        assert!(cut.contains("another length") && cut.contains("--rebuild"), "{cut}");
        env.files.remove_file(&part).unwrap();
        assert!(Snapshot::open(&env.files, root, &[], &IndexOptions::default()).is_err());
        assert_eq!(again(&env, root).unwrap().0, foreign);
        assert_eq!(rows(&env, root).len(), 40);
        assert!(again(&env, root).is_none());
    });
}

#[test]
fn without_a_list_nothing_is_removed() {
    Simulation::new(1).run(|env| async move {
        let root = Path::new("/repository");
        let (path, _) = archive(&env, Path::new("/elsewhere"), 5);
        taken(&env, root, &[Foreign { name: path.to_str().unwrap().to_owned(), path }]);
        let part = snapshot(&env, root).parts()[0].clone();
        env.files.remove_file(&root.join("index/INDEX")).unwrap();
        let lost = update(&env.files, root, &[], &IndexOptions::default(), 1, |_| {});
        assert!(matches!(lost, Err(IndexError::Lost { .. })));
        let lost = Snapshot::open(&env.files, root, &[], &IndexOptions::default());
        assert!(matches!(lost, Err(IndexError::Lost { .. })));
        assert!(env.files.entry(&part).unwrap().is_some());
        let recovered = recover(&env.files, root).unwrap().unwrap();
        assert_eq!((recovered.parts, recovered.rows, recovered.lost), (1, 5, 0));
        assert_eq!((rows(&env, root).len(), recover(&env.files, root).unwrap()), (5, None));
        assert!(update(&env.files, root, &[], &IndexOptions::default(), 1, |_| {}).is_ok());
    });
}
