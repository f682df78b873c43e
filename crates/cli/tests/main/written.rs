//! What `query` writes to files: the documents' own bytes, whole or not at all.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so by a panic")]

use std::process::Output;

use mattock_env::Files;
use serde_json::Value;

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
