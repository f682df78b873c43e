//! What `query` and `export` write to files: the documents' own bytes, whole or not at all, in every format.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so by a panic")]

use std::process::Output;

use mattock_env::Files;
use mattock_repository::{Digest, RecordType, WarcReader};
use serde_json::Value;

use crate::help;
use crate::process::Scratch;

/// A WARC record with an HTTP answer, or with `fields` what else it may be.
fn record(kind: &str, url: &str, fields: &str, block: &str) -> String {
    format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n\
         WARC-Record-ID: <urn:test:{}>\r\n{fields}Content-Type: application/http; msgtype=response\r\n\
         Content-Length: {}\r\n\r\n{block}\r\n\r\n",
        url.len(),
        block.len()
    )
}

fn page(url: &str, mime: &str, body: &str) -> String {
    record("response", url, "", &format!("HTTP/1.1 200 OK\r\nContent-Type: {mime}\r\n\r\n{body}"))
}

const PDF: &str = "%PDF-1.4\n\u{1}\u{2}binary%%EOF";
const HTML: &str = "<html><title>Spades</title><p>About Rust and spades.</html>";

fn repository(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    let pages = [
        page("http://a.example/paper.pdf", "application/pdf", PDF),
        page("http://a.example/", "text/html", HTML),
        page("http://b.example/untitled", "text/html", "<p>No title"),
    ];
    scratch.write("pages.warc", &pages.concat());
    done(scratch.mattock(&["import", "web", "pages.warc"]));
    scratch
}

fn done(output: Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn read(scratch: &Scratch, name: &str) -> String {
    String::from_utf8(Files::real().read(&scratch.path().join(name)).unwrap()).unwrap()
}

fn rows(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_directory_of_files_has_the_documents() {
    let scratch = repository("written_files");
    let names = |scratch: &Scratch, directory: &str| -> Vec<String> {
        let entries = Files::real().list(&scratch.path().join(directory)).unwrap();
        entries.into_iter().map(|entry| entry.name).collect()
    };
    for (directory, query) in [
        ("asked", "select name, content where type = \"application/pdf\""),
        ("named", "select name where type = \"application/pdf\""),
    ] {
        done(scratch.mattock(&["query", "web", query, "--format", "files", "-o", directory]));
        let index = rows(&read(&scratch, &format!("{directory}/index.jsonl")));
        assert_eq!((index.len(), index[0]["name"].as_str()), (1, Some("http://a.example/paper.pdf")));
        let file = index[0]["file"].as_str().unwrap();
        assert!(file.ends_with(".pdf"), "{file}");
        assert_eq!(read(&scratch, &format!("{directory}/{file}")), PDF);
        assert_eq!(names(&scratch, directory).len(), 2);
    }
    done(scratch.mattock(&[
        "query",
        "web",
        "select text where host = \"a.example\"",
        "--format",
        "files",
        "-o",
        "texts",
    ]));
    let index = rows(&read(&scratch, "texts/index.jsonl"));
    let texts: Vec<String> = index.iter().filter_map(|row| row["file"].as_str()).map(str::to_owned).collect();
    assert!(
        index.len() == 2 && texts.len() == 1 && texts[0].ends_with(".txt"),
        "a PDF has no main text: {index:?}"
    );
    assert_eq!(read(&scratch, &format!("texts/{}", texts[0])).trim(), "About Rust and spades.");
    let nothing = scratch.mattock(&[
        "query",
        "web",
        "--sql",
        "select url from documents",
        "--format",
        "files",
        "-o",
        "none",
    ]);
    assert!(said(&nothing).contains("no column is the content of a file"), "{nothing:?}");
    assert!(!scratch.is_there("none"));
    // A query that fails takes along what it wrote.
    let failing = "select body, instance, 1 / (length(url) - 25) as x from documents order by url desc";
    let failed = scratch.mattock(&[
        "query",
        "web",
        "--sql",
        failing,
        "--format",
        "files",
        "-o",
        "failed",
        "--threads",
        "1",
    ]);
    assert!(!failed.status.success(), "{failed:?}");
    assert!(!scratch.is_there("failed") || names(&scratch, "failed").is_empty());
}

#[test]
fn an_answer_that_fails_is_not_there() {
    let scratch = repository("written_failing");
    let failing = ["query", "web", "--sql", "select 1 / (fetch_status - 200) from documents", "--output"];
    for format in ["jsonl", "csv", "parquet", "table"] {
        let failed = scratch.mattock(&[&failing[..], &["answer", "--format", format]].concat());
        assert_eq!(failed.status.code(), Some(1), "{failed:?}");
        assert!(!scratch.is_there("answer") && !scratch.is_there("answer.unfinished"), "{format}");
    }
    // What was there stays, and what was left behind does not.
    scratch.write("answer", "old\n");
    scratch.write("answer.unfinished", "rubbish");
    scratch.mattock(&[&failing[..], &["answer"]].concat());
    assert_eq!(read(&scratch, "answer"), "old\n");
    done(scratch.mattock(&["query", "web", "select name", "--format", "csv", "-o", "answer"]));
    assert_eq!(read(&scratch, "answer").lines().count(), 4);
    assert!(!scratch.is_there("answer.unfinished"));
    // What is no file is written to as it is.
    done(scratch.mattock(&["query", "web", "select name", "--quiet", "-o", "/dev/null"]));
    assert!(!Files::real().entry("/dev/null".as_ref()).unwrap().unwrap().is_dir);
    let full = scratch.mattock(&["query", "web", "select name", "--quiet", "-o", "/dev/full"]);
    assert!(said(&full).contains("cannot write /dev/full: No space left"), "{full:?}");
}

#[test]
fn columns_are_exported_and_conditions_are_of_either_language() {
    let scratch = repository("written_columns");
    let mut number = 0;
    let mut export = |arguments: &[&str]| {
        number += 1;
        let name = format!("out{number}");
        let output = scratch.mattock(&[&["export", "web", "--output", &name], arguments].concat());
        (name, output)
    };
    for condition in [
        "status = 200 && match(name, \"^http://a\") && title = \"Spades\"",
        "fetch_status = 200 and url like 'http://a%' and title is not null",
        "url in (select url from documents where title = 'Spades') -- a comment",
    ] {
        let arguments = ["--columns", "name, title,status", "--format", "jsonl", "--where", condition];
        let (name, output) = export(&arguments);
        done(output);
        assert_eq!(
            read(&scratch, &name),
            "{\"name\":\"http://a.example/\",\"title\":\"Spades\",\"status\":200}\n"
        );
    }
    let (name, output) = export(&["--format", "csv", "--columns", "url"]);
    done(output);
    assert_eq!(read(&scratch, &name).lines().count(), 4);
    let (name, output) = export(&["--format", "parquet"]);
    done(output);
    assert!(Files::real().read(&scratch.path().join(name)).unwrap().starts_with(b"PAR1"));
    for (condition, expected) in [
        ("titel = \"x\"", "1 | titel = \"x\"\n  | ^^^^^ did you mean `title`?"),
        ("status = 200 && titel = 1", "1 | status = 200 && titel = 1\n  |                 ^^^^^"),
        (
            "fetch_status = 200 and titel = 'x'",
            "1 | fetch_status = 200 and titel = 'x'\n  |                        ^^^^^",
        ),
        ("fetch_status = = 200", "1 | fetch_status = = 200\n"),
        ("fetch_status = 200 and", "1 | fetch_status = 200 and\n"),
        ("1 = 1) or (1 = 1", "1 | 1 = 1) or (1 = 1\n"),
    ] {
        let (name, output) = export(&["--format", "csv", "--where", condition]);
        assert_eq!(output.status.code(), Some(2), "{condition}: {output:?}");
        assert!(said(&output).contains(expected), "{condition}: {}", said(&output));
        assert!(!scratch.is_there(&name) && !scratch.is_there(&format!("{name}.unfinished")));
    }
    let (_, output) = export(&["--format", "csv", "--columns", "url, titel"]);
    assert!(
        said(&output).contains("1 | url, titel\n  |      ^^^^^ did you mean `title`?"),
        "{}",
        said(&output)
    );
    let (_, output) = export(&["--format", "warc", "--columns", "url"]);
    assert!(said(&output).contains("--columns are for"), "{output:?}");
}

#[test]
fn the_examples_of_the_help_work() {
    let scratch = repository("written_help");
    let quoted = |command: &str| -> Vec<String> {
        let text =
            help::text(&scratch, &[command.to_owned()]).split_whitespace().collect::<Vec<_>>().join(" ");
        text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    let queries: Vec<String> =
        quoted("query").into_iter().filter(|text| text.starts_with("select")).collect();
    assert_eq!(queries.len(), 1);
    for query in queries {
        let answer = done(scratch.mattock(&["query", "web", &query, "--quiet"]));
        assert_eq!(answer, "{\"name\":\"http://a.example/\"}\n", "{query}");
    }
    let conditions: Vec<String> = quoted("export").into_iter().filter(|text| text.contains(" = ")).collect();
    assert_eq!(conditions.len(), 2);
    for (number, condition) in conditions.iter().enumerate() {
        let name = format!("out{number}");
        done(scratch.mattock(&["export", "web", "--format", "cdxj", "-o", &name, "--where", condition]));
    }
    let columns: Vec<String> =
        quoted("export").into_iter().filter(|text| text.contains(',') && !text.contains(' ')).collect();
    assert_eq!(columns.len(), 1);
    done(scratch.mattock(&["export", "web", "--format", "csv", "-o", "columns", "--columns", &columns[0]]));
}

/// The records of a file that was exported: version, type, URL, block. The first one describes the file, and is looked at here.
fn exported(scratch: &Scratch, name: &str) -> Vec<(String, RecordType, String, String)> {
    let mut reader = WarcReader::open(&Files::real(), &scratch.path().join(name)).unwrap();
    let mut found = Vec::new();
    while let Some(record) = reader.next_record().unwrap() {
        let digest = record.fields.get("WARC-Block-Digest").and_then(Digest::from_field);
        assert!(digest.is_none_or(|digest| digest == Digest::of(&[record.block])));
        found.push((
            record.version.to_owned(),
            record.kind().unwrap(),
            record.target_uri().unwrap_or_default().to_owned(),
            String::from_utf8_lossy(record.block).into_owned(),
        ));
    }
    let info = found.remove(0);
    assert!(info.1 == RecordType::Warcinfo && info.3.contains("software: mattock"), "{info:?}");
    found
}

#[test]
fn an_exported_archive_holds_what_can_be_read() {
    let scratch = repository("written_warc");
    let block = "HTTP/1.1 200 OK\r\n\r\nchanged";
    let wrong = format!("WARC-Block-Digest: {}\r\n", Digest::of(&[b"what it was"]));
    scratch.write("damaged.warc", &record("response", "http://c.example/damaged", &wrong, block));
    scratch.write("gone.warc", &page("http://c.example/gone", "text/html", "gone"));
    let http = "HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\nold";
    let description = "1 0 InternetArchive\nURL IP-address Archive-date Content-type Archive-length\n";
    scratch.write(
        "old.arc",
        &format!(
            "filedesc://old.arc 0.0.0.0 20010101000000 text/plain {}\n{description}\nhttp://old.example/x 192.0.2.1 20010101000000 text/html {}\n{http}\n",
            description.len(),
            http.len()
        ),
    );
    done(scratch.mattock(&["import", "web", "damaged.warc", "gone.warc", "old.arc"]));
    Files::real().remove_file(&scratch.path().join("gone.warc")).unwrap();
    let output = scratch.mattock(&["export", "web", "--format", "warc", "-o", "all.warc.gz"]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(1), "what was asked for is not all there: {text}");
    assert!(text.contains("damaged.warc is damaged at the record at byte 0"), "{text}");
    assert!(text.contains("gone.warc"), "{text}");
    assert!(text.contains("4 instances are in all.warc.gz"), "{text}");
    let records = exported(&scratch, "all.warc.gz");
    assert_eq!(records.len(), 4);
    let old = records.iter().find(|(_, _, url, _)| url == "http://old.example/x").unwrap();
    assert_eq!((old.0.as_str(), old.1, old.3.as_str()), ("1.1", RecordType::Response, http));
    done(scratch.mattock(&["import", "again", "all.warc.gz"]));
    let titles =
        done(scratch.mattock(&["query", "again", "select title where title = \"Spades\"", "--quiet"]));
    assert_eq!(titles, "{\"title\":\"Spades\"}\n");
}

#[test]
fn a_revisit_without_its_original_becomes_a_response() {
    let scratch = Scratch::new("written_revisit");
    let digest = format!("WARC-Payload-Digest: {}\r\n", Digest::of(&[HTML.as_bytes()]));
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-From: ";
    let original = record("response", "http://a.example/", &digest, &format!("{head}a\r\n\r\n{HTML}"));
    let refers = format!(
        "{digest}WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest\r\n\
         WARC-Refers-To-Target-URI: http://a.example/\r\nWARC-Refers-To-Date: 2026-01-01T00:00:00Z\r\n"
    );
    let revisit = record("revisit", "http://b.example/copy", &refers, &format!("{head}b\r\n\r\n"));
    scratch.write("pages.warc", &[original, revisit].concat());
    done(scratch.mattock(&["import", "web", "pages.warc"]));
    done(scratch.mattock(&["export", "web", "--format", "warc", "-o", "both.warc.gz"]));
    let kinds: Vec<RecordType> =
        exported(&scratch, "both.warc.gz").into_iter().map(|record| record.1).collect();
    assert_eq!(kinds, [RecordType::Response, RecordType::Revisit]);
    let only = ["--where", "host = \"b.example\""];
    done(scratch.mattock(&[&["export", "web", "--format", "warc", "-o", "one.warc.gz"][..], &only].concat()));
    let records = exported(&scratch, "one.warc.gz");
    assert_eq!(records.len(), 1);
    assert_eq!((records[0].1, records[0].2.as_str()), (RecordType::Response, "http://b.example/copy"));
    assert_eq!(records[0].3, format!("{head}b\r\n\r\n{HTML}"));
    // Its line in the index of a collection says so.
    done(scratch.mattock(&[&["export", "web", "--format", "wacz", "-o", "one.wacz"][..], &only].concat()));
    let wacz = Files::real().read(&scratch.path().join("one.wacz")).unwrap();
    let text = String::from_utf8_lossy(&wacz);
    assert!(text.contains("\"mime\":\"text/html\"") && !text.contains("warc/revisit"));
    let (_, pages) = text.split_once("json-pages-1.0").unwrap();
    let page: Value = serde_json::from_str(pages.lines().nth(1).unwrap()).unwrap();
    assert_eq!(
        (page["title"].as_str(), page["url"].as_str()),
        (Some("Spades"), Some("http://b.example/copy"))
    );
    assert!(page["id"].as_str().is_some_and(|id| !id.is_empty()), "{page}");
}
