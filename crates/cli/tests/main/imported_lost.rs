//! What becomes of imported rows when parts of the index are damaged, and archives are not there.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so by a panic")]

use std::path::PathBuf;

use mattock_env::Files;

use crate::process::Scratch;

/// An archive of pages with these names.
fn archive(scratch: &Scratch, file: &str, names: &[&str]) {
    let page = |name: &&str| {
        let http =
            format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>{name}</title><p>Spades.");
        format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a-sim.com/{name}\r\nWARC-Date: 2026-01-02T03:04:05Z\r\n\
             WARC-Record-ID: <urn:test:{name}>\r\nContent-Type: application/http\r\nContent-Length: {}\r\n\r\n{http}\r\n\r\n",
            http.len()
        )
    };
    scratch.write(file, &names.iter().map(page).collect::<String>());
}

/// Runs, and gives the exit code and all that was said.
fn run(scratch: &Scratch, arguments: &[&str]) -> (Option<i32>, String) {
    let output = scratch.mattock(arguments);
    let said = [output.stderr, output.stdout].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (output.status.code(), said.concat())
}

#[track_caller]
fn ends(scratch: &Scratch, code: i32, arguments: &[&str]) -> String {
    let (ended, said) = run(scratch, arguments);
    assert_eq!(ended, Some(code), "{arguments:?}: {said}");
    said
}

fn names(scratch: &Scratch) -> Vec<String> {
    let sql = "select url from documents order by url";
    let said = ends(scratch, 0, &["query", "site", "--sql", sql, "--format", "csv", "--quiet"]);
    said.lines()
        .filter(|line| line.starts_with("http"))
        .filter_map(|url| Some(url.rsplit_once('/')?.1.to_owned()))
        .collect()
}

/// Changes one byte of a file.
fn damage(scratch: &Scratch, file: &str, at: usize) {
    let path = scratch.path().join(file);
    let mut bytes = Files::real().read(&path).unwrap();
    bytes[at] ^= 1;
    Files::real().write_atomic(&path, &bytes).unwrap();
}

fn moved(scratch: &Scratch, from: &str, to: &str) {
    let path = |name: &str| -> PathBuf { scratch.path().join(name) };
    Files::real().rename(&path(from), &path(to)).unwrap();
}

#[test]
fn a_rebuild_keeps_what_is_whole_and_notes_what_it_cannot_reach() {
    let scratch = Scratch::new("imported_lost_partly");
    archive(&scratch, "one.warc", &["a", "b"]);
    archive(&scratch, "two.warc", &["c"]);
    for file in ["one.warc", "two.warc"] {
        ends(&scratch, 0, &["import", "site", file]);
    }
    // The other one's archive is not needed.
    damage(&scratch, "site/index/part-000002.parquet", 100);
    moved(&scratch, "one.warc", "away.warc");
    let said = ends(&scratch, 0, &["index", "site", "--rebuild"]);
    assert!(said.contains("1 archive(s) are imported again"), "{said}");
    assert_eq!(names(&scratch), ["a", "b", "c"]);
    assert!(scratch.is_there("site/index/part-000001.parquet"));

    // And one that is needed is taken when it is there again.
    damage(&scratch, "site/index/part-000001.parquet", 100);
    for _ in 0..2 {
        let said = ends(&scratch, 1, &["index", "site", "--rebuild"]);
        assert!(said.contains("one.warc cannot be read") && said.contains("put them back"), "{said}");
        assert_eq!(names(&scratch), ["c"]);
        assert!(
            ends(&scratch, 0, &["query", "site", "select name"]).contains("1 imported archive(s) are lost")
        );
        let said = ends(&scratch, 1, &["check", "site"]);
        assert!(said.contains("one.warc, which was imported, are lost"), "{said}");
    }
    moved(&scratch, "away.warc", "one.warc");
    ends(&scratch, 0, &["index", "site", "--rebuild"]);
    assert_eq!(names(&scratch), ["a", "b", "c"]);
    ends(&scratch, 0, &["check", "site"]);
}

#[test]
fn a_repository_of_which_all_is_lost_is_still_one() {
    let scratch = Scratch::new("imported_lost_wholly");
    archive(&scratch, "one.warc", &["a", "b"]);
    ends(&scratch, 0, &["import", "site", "one.warc"]);
    damage(&scratch, "site/index/part-000001.parquet", 100);
    moved(&scratch, "one.warc", "away.warc");
    ends(&scratch, 1, &["index", "site", "--rebuild"]);
    ends(&scratch, 1, &["check", "site"]);
    assert_eq!(names(&scratch), [""; 0]);
    moved(&scratch, "away.warc", "one.warc");
    // An import takes it as well.
    ends(&scratch, 0, &["import", "site", "one.warc"]);
    assert_eq!(names(&scratch), ["a", "b"]);
    ends(&scratch, 0, &["index", "site", "--rebuild"]);
    ends(&scratch, 0, &["check", "site"]);
}

#[test]
fn a_lost_list_is_made_of_the_parts_again() {
    let scratch = Scratch::new("imported_list_lost");
    archive(&scratch, "one.warc", &["a", "b"]);
    archive(&scratch, "two.warc", &["c"]);
    for file in ["one.warc", "two.warc"] {
        ends(&scratch, 0, &["import", "site", file]);
    }
    // Its archive is not needed for that.
    moved(&scratch, "one.warc", "away.warc");
    damage(&scratch, "site/index/INDEX", 40);
    assert!(ends(&scratch, 1, &["query", "site", "select name"]).contains("INDEX is damaged"));
    let said = ends(&scratch, 0, &["index", "site", "--rebuild"]);
    assert!(said.contains("2 part(s) with 3 rows say themselves what is in them"), "{said}");
    assert_eq!(names(&scratch), ["a", "b", "c"]);

    Files::real().remove_file(&scratch.path().join("site/index/INDEX")).unwrap();
    assert!(ends(&scratch, 1, &["query", "site", "select name"]).contains("INDEX is missing, though"));
    ends(&scratch, 0, &["index", "site", "--rebuild"]);
    assert_eq!(names(&scratch), ["a", "b", "c"]);
    let again = ends(&scratch, 0, &["import", "site", "two.warc"]);
    assert!(again.contains("1 file(s) were there already"), "{again}");

    // What nobody knows any more is told once.
    damage(&scratch, "site/index/part-000001.parquet", 5);
    let bytes = Files::real().read(&scratch.path().join("site/index/part-000001.parquet")).unwrap();
    let cut = &bytes[..bytes.len() / 2];
    Files::real().write_atomic(&scratch.path().join("site/index/part-000001.parquet"), cut).unwrap();
    Files::real().remove_file(&scratch.path().join("site/index/INDEX")).unwrap();
    let said = ends(&scratch, 1, &["index", "site", "--rebuild"]);
    assert!(said.contains("part-000001.parquet is damaged") && said.contains("mattock import"), "{said}");
    assert_eq!(names(&scratch), ["c"]);
    moved(&scratch, "away.warc", "one.warc");
    ends(&scratch, 0, &["import", "site", "one.warc", "two.warc"]);
    assert_eq!(names(&scratch), ["a", "b", "c"]);
    ends(&scratch, 0, &["check", "site"]);
}

#[test]
fn a_crawl_whose_list_is_damaged_keeps_what_was_imported() {
    let scratch = Scratch::new("imported_list_beside");
    // Nothing at this address may be connected to.
    scratch.mattock(&["crawl", "--out", "site", "--retries", "0", "--quiet", "http://127.0.0.1:9/"]);
    archive(&scratch, "one.warc", &["a", "b"]);
    ends(&scratch, 0, &["import", "site", "one.warc"]);
    moved(&scratch, "one.warc", "away.warc");
    damage(&scratch, "site/index/INDEX", 25);
    ends(&scratch, 0, &["index", "site", "--rebuild"]);
    assert_eq!(names(&scratch), ["a", "b"]);
}

#[test]
fn an_archive_that_grew_is_taken_on_and_another_one_is_refused() {
    let scratch = Scratch::new("imported_grown");
    archive(&scratch, "one.warc", &["a", "b"]);
    ends(&scratch, 0, &["import", "site", "one.warc"]);
    archive(&scratch, "one.warc", &["a", "b", "c", "d"]);
    assert!(ends(&scratch, 1, &["check", "site"]).contains("it has grown by"));
    let said = ends(&scratch, 0, &["import", "site", "one.warc"]);
    assert!(said.contains("2 instances (0 revisits) of 1 file(s)"), "{said}");
    assert_eq!(names(&scratch), ["a", "b", "c", "d"]);
    assert!(ends(&scratch, 0, &["import", "site", "one.warc"]).contains("1 file(s) were there already"));
    ends(&scratch, 0, &["check", "site"]);
    // Of the same length, longer and shorter.
    archive(&scratch, "two.warc", &["z"]);
    for other in [&["a", "b", "c", "e"][..], &["a", "b", "x", "d", "e"], &["a", "b"]] {
        archive(&scratch, "one.warc", other);
        let said = ends(&scratch, 1, &["import", "site", "one.warc", "two.warc"]);
        assert!(said.contains("one.warc at 0: is another file") && said.contains("another name"), "{said}");
        assert_eq!(names(&scratch), ["a", "b", "c", "d", "z"]);
    }
}
