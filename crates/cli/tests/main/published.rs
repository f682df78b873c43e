//! Repositories by URL: published, asked, filled, and what users do wrong with them. The store is a directory (`file:`), reached in the
//! same way as all others; S3's own protocol is a step of CI.

use std::path::Path;
use std::process::{Output, Stdio};

use mattock_env::Files;
use mattock_repository::WarcReader;

use crate::process::{MATTOCK, Running, Scratch};
use crate::served::{Served, world};

/// An archive that is no crawl's.
pub(crate) fn foreign(scratch: &Scratch, name: &str, page: &str) {
    let http =
        format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>Foreign {page}</title><p>Hello");
    scratch.write(
        name,
        &format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://foreign.example/{page}\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n\
             WARC-Record-ID: <urn:test:{page}>\r\nContent-Type: application/http; msgtype=response\r\n\
             Content-Length: {}\r\n\r\n{http}\r\n\r\n",
            http.len()
        ),
    );
}

pub(crate) fn done(output: Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What is printed, in order: rows of an answer have none.
pub(crate) fn rows(scratch: &Scratch, arguments: &[&str]) -> Vec<String> {
    let text = done(scratch.mattock(arguments));
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// What is said when it does not go well.
fn refused(scratch: &Scratch, arguments: &[&str]) -> String {
    let output = scratch.mattock(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const QUERIES: [&[&str]; 6] = [
    &["select name, insertionDate, size, instance_number where status = 200"],
    &["select name, title, text where match(name, \"index\")"],
    &["[samplingProb=0.05, samplingSeed=7] select name, content, language"],
    &["--sql", "select url_host_tld, count(*), max(fetch_time) from documents group by 1"],
    &["--sql", "select title, count(*) from documents where content_mime_type = 'text/html' group by 1"],
    &["--sql", "select warc_filename, count(*), sum(length(text)) from documents group by 1"],
];

#[test]
fn a_published_repository_gives_the_same_answers() {
    let scratch = Scratch::new("published");
    let served = Served::start(11, "0ms", 0);
    scratch.write("small.toml", "[archive]\nfile_size = '300KB'\n");
    done(
        scratch
            .command(MATTOCK)
            .args(&served.crawl)
            .args(["--config", "small.toml", "--quiet"])
            .output()
            .unwrap(),
    );
    drop(served);
    foreign(&scratch, "foreign.warc", "one");
    done(scratch.mattock(&["import", "crawl", "foreign.warc"]));
    done(scratch.mattock(&["materialize", "crawl", "title"]));
    done(scratch.mattock(&["export", "crawl", "--format", "cdxj", "--output", "crawl/site.cdxj"]));

    let url = &format!("file://{}/far%20away/web/", scratch.path().display());
    let report: serde_json::Value =
        serde_json::from_str(&done(scratch.mattock(&["publish", "crawl", url, "--with-imported", "--json"])))
            .unwrap();
    assert!(report["files_sent"].as_u64() > Some(5) && report["files_there"] == 0, "{report}");
    let sent = (report["files_sent"].clone(), report["bytes_sent"].clone());
    assert!(scratch.is_there("far away/web/index/INDEX") && scratch.is_there("far away/web/site.cdxj"));
    let report: serde_json::Value =
        serde_json::from_str(&done(scratch.mattock(&["publish", "crawl", url, "--with-imported", "--json"])))
            .unwrap();
    assert!(
        report["files_sent"] == 0 && report["bytes_sent"] == 0 && report["files_there"].as_u64() > Some(5),
        "{report}"
    );

    let page = world(11).truth(100_000).unwrap().pages.into_iter().next().unwrap().to_string();
    let asked = |place: &str| {
        let mut answers: Vec<Vec<String>> = Vec::new();
        for query in QUERIES {
            answers
                .push(rows(&scratch, &[&["query", place, "--quiet", "--format", "jsonl"], query].concat()));
        }
        for print in ["body", "head", "text", "record"] {
            answers.push(rows(&scratch, &["get", place, &page, "--print", print]));
        }
        answers.push(rows(&scratch, &["history", place, &page, "--json", "--diff"]));
        answers.push(rows(&scratch, &["history", place, "http://foreign.example/one"]));
        for format in ["warc", "cdxj"] {
            done(scratch.mattock(&["export", place, "--format", format, "--output", "exported"]));
            let path = scratch.path().join("exported");
            let mut records = Vec::new();
            if format == "warc" {
                let mut reader = WarcReader::open(&Files::real(), &path).unwrap();
                while let Some(record) = reader.next_record().unwrap() {
                    records.push(format!(
                        "{:?} {:?}",
                        record.fields.iter().collect::<Vec<_>>(),
                        record.block
                    ));
                }
                // The one that describes the file is of now.
                records.remove(0);
            } else {
                records.push(format!("{:?}", Files::real().read(&path).unwrap()));
            }
            answers.push(records);
            Files::real().remove_file(&scratch.path().join("exported")).unwrap();
        }
        answers
    };
    let here = asked("crawl");
    // Without the crawl's state there is as much to publish.
    Files::real().remove_dir_all(&scratch.path().join("crawl/state")).unwrap();
    let kept = &format!("file://{}/kept", scratch.path().display());
    let report: serde_json::Value = serde_json::from_str(&done(scratch.mattock(&[
        "publish",
        "crawl",
        kept,
        "--with-imported",
        "--json",
    ])))
    .unwrap();
    assert_eq!((report["files_sent"].clone(), report["bytes_sent"].clone()), sent);
    // What was published stands by itself.
    Files::real().rename(&scratch.path().join("crawl"), &scratch.path().join("gone")).unwrap();
    Files::real().remove_file(&scratch.path().join("foreign.warc")).unwrap();
    let there = asked(url);
    let checked = done(scratch.mattock(&["check", url]));
    assert!(checked.contains("is whole.") && checked.contains("as it says"), "{checked}");
    assert!(here.iter().all(|answer| !answer.is_empty()));
    for (at, (here, there)) in here.iter().zip(&there).enumerate() {
        assert!(here == there, "answer {at} differs");
    }
    let said = scratch.mattock(&["query", url, "[samplingProb=0.01, samplingSeed=1] select name, text"]);
    assert!(String::from_utf8_lossy(&said.stderr).contains("requests to open it and"), "{said:?}");
}

/// A reader finds what a checkpoint holds, with its documents, however far the crawl is by then.
#[test]
fn a_crawl_that_runs_is_published_as_of_its_checkpoint() {
    let scratch = Scratch::new("published_running");
    let served = Served::start(11, "2s", 30);
    scratch.write("small.toml", "[archive]\nfile_size = '300KB'\n");
    let mut crawl = scratch.command(MATTOCK);
    crawl.args(&served.crawl).args(["--config", "small.toml", "--quiet"]);
    let crawl = Running(crawl.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    served.bell.recv().unwrap();
    let url = &format!("file://{}/bucket", scratch.path().display());
    let publish = || -> u64 {
        let report = done(scratch.mattock(&["publish", "crawl", url, "--json"]));
        serde_json::from_str::<serde_json::Value>(&report).unwrap()["rows"].as_u64().unwrap()
    };
    let documents =
        "select url, fetch_time, length(content) from documents where content_mime_type = 'text/html'";
    let ask =
        |place: &str| rows(&scratch, &["query", place, "--quiet", "--sql", documents, "--format", "jsonl"]);
    let mut rounds: Vec<Vec<String>> = Vec::new();
    // Until a later one has more than the first.
    while rounds.len() < 2 || rounds[0].len() == rounds[rounds.len() - 1].len() {
        done(scratch.mattock(&["ctl", "crawl", "checkpoint", "--wait"]));
        let published = publish();
        let count =
            rows(&scratch, &["query", url, "--quiet", "--sql", "select count(*) as n from documents"]);
        assert_eq!(count, [format!("{{\"n\":{published}}}")]);
        let found = ask(url);
        assert!(!found.is_empty() && found.iter().all(|row| !row.contains("null")), "{found:?}");
        let gone = |row: &&String| !found.contains(row);
        assert_eq!(rounds.last().into_iter().flatten().find(gone), None, "it was there before");
        rounds.push(found);
    }
    done(scratch.mattock(&["ctl", "crawl", "stop", "--wait"]));
    assert_eq!(crawl.end(), Some(0), "it ran until now");
    publish();
    let (here, there) = (ask("crawl"), ask(url));
    assert!(
        here == there && here.len() >= rounds[rounds.len() - 1].len(),
        "{} and {}",
        here.len(),
        there.len()
    );
}

#[test]
#[expect(clippy::disallowed_methods, reason = "what is there is looked at past our own door")]
fn a_repository_by_url_is_filled() {
    let scratch = Scratch::new("filled_by_url");
    let url = |name: &str| format!("file://{}/{name}", scratch.path().display());
    foreign(&scratch, "one.warc", "one");
    foreign(&scratch, "two.warc", "two");
    let titles = ["--quiet", "--sql", "select title, warc_filename from documents order by 1"];

    // An archive that lies somewhere else is read where it is.
    done(scratch.mattock(&["import", "near", &url("one.warc")]));
    let answer = done(scratch.mattock(&[&["query", "near"][..], &titles].concat()));
    assert_eq!(answer, format!("{{\"title\":\"Foreign one\",\"warc_filename\":\"{}\"}}\n", url("one.warc")));

    // A repository made at a URL holds what it names.
    let far = &url("far");
    assert!(refused(&scratch, &["import", far, "two.warc"]).contains("add --copy"));
    done(scratch.mattock(&["import", far, "two.warc", "--copy"]));
    done(scratch.mattock(&["import", far, &url("one.warc")]));
    assert!(done(scratch.mattock(&["import", far, &url("one.warc"), "--json"])).contains("\"known\":1"));
    // One that lies outside of it is read by whoever says that they trust it.
    let before = rows(&scratch, &[&["query", far, "--trust"][..], &titles].concat());
    assert_eq!(before.len(), 2);
    done(scratch.mattock(&["materialize", far, "title", "--trust"]));
    let kept = Files::real().list(&scratch.path().join("far/columns/title-1.3")).unwrap();
    let parts = kept.iter().filter(|entry| entry.name.ends_with(".parquet"));
    assert_eq!(parts.count(), 1, "{kept:?}");
    let nothing = scratch.mattock(&["materialize", far, "title", "--trust"]);
    assert!(String::from_utf8_lossy(&nothing.stderr).contains("Nothing new"), "{nothing:?}");
    Files::real().remove_file(&scratch.path().join("one.warc")).unwrap();
    assert_eq!(rows(&scratch, &[&["query", far, "--trust"][..], &titles].concat()), before, "kept values");
    done(scratch.mattock(&["index", far]));
    assert!(refused(&scratch, &["index", far, "--rebuild"]).contains("publish it again"));

    // Nothing that is only there is lost.
    let said = refused(&scratch, &["publish", "near", far]);
    assert!(said.contains("would lose it") && said.contains("two.warc"), "{said}");
    done(scratch.mattock(&["publish", "near", &url("other")]));
    assert!(!Path::new(&scratch.path().join("other/outside")).is_dir(), "what has a URL stays there");
}

#[test]
fn what_another_repository_has_published_stays() {
    let scratch = Scratch::new("published_over");
    for name in ["one", "two"] {
        foreign(&scratch, &format!("{name}.warc"), name);
        done(scratch.mattock(&["import", name, &format!("{name}.warc"), "--copy"]));
    }
    let titles =
        |place: &str| rows(&scratch, &["query", place, "--quiet", "--sql", "select title from documents"]);
    for (place, by) in [("plain", "plain"), ("far", &*format!("file://{}/far", scratch.path().display()))] {
        done(scratch.mattock(&["publish", "one", by]));
        let said = refused(&scratch, &["publish", "two", by]);
        assert!(said.contains("another repository has published (1 rows)"), "{said}");
        assert!(said.contains("--replace"), "{said}");
        assert_eq!(titles(by), [r#"{"title":"Foreign one"}"#]);
        // Whoever has read the list reads on: nothing that it names has another content.
        let index = |name: &str| scratch.path().join(place).join("index").join(name);
        let parts = || -> Vec<String> {
            let entries = Files::real().list(&index("")).unwrap();
            entries.into_iter().map(|entry| entry.name).filter(|name| name.starts_with("part-")).collect()
        };
        let before: Vec<_> =
            parts().iter().map(|name| (name.clone(), Files::real().read(&index(name)).unwrap())).collect();
        done(scratch.mattock(&["publish", "two", by, "--replace"]));
        assert_eq!(titles(by), [r#"{"title":"Foreign two"}"#]);
        assert_eq!((before.len(), parts().len()), (1, 2));
        for (name, bytes) in before {
            assert!(Files::real().read(&index(&name)).unwrap() == bytes, "{name}");
        }
        done(scratch.mattock(&["publish", "two", by]));
        // A publication is still of where it came from.
        let copy = format!("{place}-copy");
        done(scratch.mattock(&["publish", "two", &copy]));
        done(scratch.mattock(&["publish", place, &copy]));
        assert_eq!(titles(&copy), [r#"{"title":"Foreign two"}"#]);
    }
    // Nothing is made of a publication but by its repository.
    let said = refused(&scratch, &["index", "plain", "--rebuild"]);
    assert!(said.contains("publish it again"), "{said}");
    // An archive of another content is not overwritten.
    scratch.write("plain/imported/two.warc", "something else");
    let said = refused(&scratch, &["publish", "two", "plain"]);
    assert!(said.contains("plain/imported/two.warc is there already, and is another file"), "{said}");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "links are made past our own door")]
fn mistakes_with_urls() {
    let scratch = Scratch::new("mistakes_with_urls");
    foreign(&scratch, "one.warc", "one");
    done(scratch.mattock(&["import", "near", "one.warc"]));
    scratch.snapshot("url_of_another_scheme", &["query", "ftp://server/web", "select name"]);
    scratch.snapshot("url_without_a_bucket", &["query", "s3:///web", "select name"]);
    scratch.snapshot("url_of_another_machine", &["publish", "near", "file://server/web"]);
    scratch.snapshot("no_repository_at_a_url", &["query", "file:///no/such/place", "select name"]);
    assert!(
        refused(&scratch, &["publish", "nothing", "file:///no/such/place"])
            .contains("there is no repository")
    );
    let itself = format!("file://{}/near", scratch.path().display());
    for target in ["near", &itself] {
        assert!(
            refused(&scratch, &["publish", "near", target]).contains("is within what would be published")
        );
    }
    // By another name it is known by its list.
    std::os::unix::fs::symlink(scratch.path().join("near"), scratch.path().join("same")).unwrap();
    let same = format!("file://{}/same", scratch.path().display());
    assert!(refused(&scratch, &["publish", "near", &same]).contains("is a repository itself"));
    // A directory has no place for what lies outside; a URL has.
    let said = refused(&scratch, &["publish", "near", "plain", "--with-imported"]);
    assert!(said.contains("one.warc was imported from outside") && said.contains("/plain"), "{said}");
    assert!(!scratch.is_there("plain/index/INDEX"));
    assert!(refused(&scratch, &["import", "other", "file:///no/such.warc"]).contains("there is no file"));
    // Paths that look a little like URLs are paths.
    for path in ["C:\\web", "C:/web", "a:b", "./s3://web"] {
        let said = refused(&scratch, &["query", path, "select name"]);
        assert!(said.contains("there is no repository"), "{path}: {said}");
    }
    let nobody = scratch
        .command(MATTOCK)
        .args(["query", "s3://bucket/web", "select name"])
        .env("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
        .env("AWS_METADATA_ENDPOINT", "http://127.0.0.1:9")
        .env_remove("AWS_ACCESS_KEY_ID")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&nobody.stderr);
    assert_eq!(nobody.status.code(), Some(1), "{said}");
    assert!(said.contains("s3://bucket/web") && said.contains("hint: set AWS_ACCESS_KEY_ID"), "{said}");
}
