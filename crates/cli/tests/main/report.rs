//! `mattock report`: of a crawl that is over, one that runs, imported archives, and what users do wrong.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so by a panic")]

use mattock_env::Files;
use serde_json::Value;

use crate::process::{MATTOCK, Scratch, interrupt, read};
use crate::served::{Served, world};

fn json(scratch: &Scratch, arguments: &[&str]) -> Value {
    let output = scratch.mattock(arguments);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), 1, "one object in one line");
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_crawl_is_told_as_the_truth_knows_it() {
    let scratch = Scratch::new("report");
    let served = Served::start(5, "0s", 0);
    let words: Vec<&str> = served.crawl.iter().map(String::as_str).collect();
    assert!(scratch.mattock(&words).status.success());
    drop(served);
    let truth = world(5).truth(100_000).unwrap();

    let output = scratch.mattock(&["report", "crawl"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "crawl/report.html\n", "stdout is data");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("mattock features build crawl"), "what is missing, and how to get it: {said}");
    let html = read(&scratch.path().join("crawl/report.html"));
    mattock_plot::markup::check(&html);
    assert!(html.contains("Settings of the crawl") && html.contains("the numbers below add up"));

    let data = json(&scratch, &["report", "crawl", "--json", "--quiet"]);
    let crawl = &data["crawl"];
    let count = |name: &str| crawl[name].as_u64().unwrap();
    assert_eq!(
        count("discovered"),
        ["fetched", "failed", "refused", "queued"].iter().map(|name| count(name)).sum::<u64>()
    );
    assert_eq!(crawl["outcomes"]["200"], truth.allowed);
    assert_eq!((&crawl["end"], &crawl["running"]), (&Value::from("complete"), &Value::from(false)));
    let statuses = data["properties"]["statuses"]["values"].as_array().unwrap();
    for (status, expected) in truth.statuses.iter().filter(|(status, _)| **status != 200) {
        let name = status.to_string();
        let share = statuses.iter().find(|share| share["value"] == *name);
        assert_eq!(share.map_or(0, |share| share["count"].as_u64().unwrap()), *expected, "status {status}");
    }
    // Sitemaps are instances with status 200, too, and no pages of the world.
    let pages = data["size"]["pages"].as_u64().unwrap();
    let html = "select count(*) as n from documents where fetch_status = 200 and url not like '%sitemap%' and url not like '%feed.xml'";
    let counted = scratch.mattock(&["query", "crawl", "--quiet", "--sql", html]);
    assert_eq!(String::from_utf8(counted.stdout).unwrap(), format!("{{\"n\":{}}}\n", truth.allowed));
    assert!(pages >= truth.allowed, "{pages}");
    let hosts: usize = data["properties"]["hosts"]["sizes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|size| size["names"].as_u64().unwrap() as usize)
        .sum();
    assert_eq!(hosts as u64, truth.hosts);

    // The same figures from another place and with another number of threads.
    let again =
        ["report", "crawl", "--json=figures.json", "--output", "page.html", "--threads", "1", "--quiet"];
    assert!(scratch.mattock(&again).status.success());
    let kept: Value = serde_json::from_str(&read(&scratch.path().join("figures.json"))).unwrap();
    assert_eq!(kept, data);
    assert_eq!(read(&scratch.path().join("page.html")), read(&scratch.path().join("crawl/report.html")));
}

#[test]
fn features_may_be_elsewhere_and_older() {
    let scratch = Scratch::new("report_features");
    let served = Served::start(5, "0s", 0);
    let crawl = |pages: &str| {
        let words: Vec<&str> = served.crawl.iter().map(String::as_str).collect();
        let crawled = scratch.mattock(&[&words[..], &["--max-pages", pages, "--quiet"]].concat());
        assert_eq!(crawled.status.code(), Some(0), "{crawled:?}");
    };
    crawl("40");
    let build = ["features", "build", "crawl", "--into", "elsewhere", "--quiet"];
    assert!(scratch.mattock(&build).status.success());
    assert!(json(&scratch, &["report", "crawl", "--json"])["links"].is_null());
    let with = ["report", "crawl", "--json", "--features", "elsewhere"];
    let data = json(&scratch, &with);
    let figures = |data: &Value| -> Vec<String> {
        let missing = data["missing"].as_array().unwrap();
        missing.iter().map(|missing| missing["figures"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!((figures(&data), &data["links"]["generation"]), (vec!["copies.near".to_owned()], &1.into()));
    assert_eq!(data["missing"][0]["command"], "mattock duplicates elsewhere");
    // What was crawled since is in no part of the index yet.
    crawl("80");
    let data = json(&scratch, &with);
    assert_eq!(figures(&data), ["features", "copies.near"]);
    let page = scratch.mattock(&["report", "crawl", "--features", "elsewhere"]);
    let said = String::from_utf8(page.stderr).unwrap();
    assert!(
        said.contains(
            "Note: links and near-duplicates are of generation 1 of the feature databases, which is older than the documents. \
             This makes it: mattock features build crawl --into elsewhere\n"
        ),
        "{said}"
    );
    assert!(scratch.mattock(&build).status.success());
    assert_eq!(figures(&json(&scratch, &with)), ["copies.near"]);
}

#[test]
fn a_crawl_that_runs_has_a_report() {
    let scratch = Scratch::new("report_running");
    let served = Served::start(5, "50ms", 30);
    let mut crawl = scratch.command(MATTOCK).args(&served.crawl).arg("--quiet").spawn().unwrap();
    served.bell.recv().unwrap();
    let data = json(&scratch, &["report", "crawl", "--json", "--quiet"]);
    assert_eq!(data["crawl"]["running"], true, "{}", data["crawl"]);
    assert!(data["size"]["instances"].is_u64());
    interrupt(&crawl);
    assert_eq!(crawl.wait().unwrap().code(), Some(130));
    let data = json(&scratch, &["report", "crawl", "--json", "--quiet"]);
    assert_eq!(
        (&data["crawl"]["running"], &data["crawl"]["end"]),
        (&Value::from(false), &Value::from("stopped"))
    );
}

#[test]
fn imported_archives_have_a_report() {
    let scratch = Scratch::new("report_imported");
    let body = "<title>Foreign</title><p>Hello";
    let http = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{body}");
    scratch.write(
        "foreign.warc",
        &format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://foreign.example/\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n\
             WARC-Record-ID: <urn:test:1>\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{http}\r\n\r\n",
            http.len()
        ),
    );
    assert!(scratch.mattock(&["import", "others", "foreign.warc"]).status.success());
    let data = json(&scratch, &["report", "others", "--json", "--quiet"]);
    assert_eq!((&data["size"]["pages"], &data["crawl"]), (&Value::from(1), &Value::Null));
    assert_eq!(data["size"]["first_fetch"], "2026-01-01T00:00:00Z");
    assert!(!scratch.is_there("others/report.html"), "JSON alone was asked for");
    assert!(scratch.mattock(&["report", "others", "--quiet"]).status.success());
    let page = read(&scratch.path().join("others/report.html"));
    mattock_plot::markup::check(&page);
    // It has instances, and knows of no URL what became of it.
    assert!(page.contains("What servers have answered") && !page.contains("What became of the URLs"));
    assert!(page.contains("The first fetch was at 2026-01-01T00:00:00Z, the last at 2026-01-01T00:00:00Z."));

    // As of a day before there was nothing.
    let data = json(&scratch, &["report", "others", "--json", "--quiet", "--as-of", "2025-12-31"]);
    assert_eq!(data["size"]["pages"], 0);
    assert!(data["definitions"][0]["command"].as_str().unwrap().contains("--as-of 2025-12-31 "));
}

#[test]
fn what_cannot_be_is_said() {
    let scratch = Scratch::new("report_mistakes");
    let nothing = scratch.mattock(&["report", "nowhere"]);
    assert_eq!(nothing.status.code(), Some(2), "{nothing:?}");
    assert!(String::from_utf8_lossy(&nothing.stderr).contains("there is no repository"), "{nothing:?}");
    scratch.snapshot("report_of_a_url", &["report", "file:///no/such/place"]);
    scratch.snapshot("report_to_a_url", &["report", "nowhere", "--output", "s3://bucket/page.html"]);
    assert!(Files::real().entry(&scratch.path().join("nowhere")).unwrap().is_none());
}
