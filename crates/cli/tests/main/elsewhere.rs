//! Features that are not in their repository: built into another directory, of a repository that is at a URL, or of lists.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so by a panic")]

use std::process::Output;

use mattock_env::Files;
use serde_json::Value;

use crate::process::Scratch;

/// Pages and their texts; each links to the first.
const PAGES: [(&str, &str); 3] = [
    ("one", "mattock and spade dig the garden"),
    ("two", "mattock and spade dig the soil"),
    ("three", "telescope shows the stars above the soil"),
];

/// A repository of an archive that is no crawl's.
fn imported(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    let record = |(page, text): &(&str, &str)| {
        let http = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>{page}</title><p>{text} <a href=/one>one</a>"
        );
        format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://away-sim.com/{page}\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n\
             WARC-Record-ID: <urn:test:{page}>\r\nContent-Type: application/http; msgtype=response\r\n\
             Content-Length: {}\r\n\r\n{http}\r\n\r\n",
            http.len()
        )
    };
    scratch.write("pages.warc", &PAGES.iter().map(record).collect::<String>());
    done(scratch.mattock(&["import", "site", "pages.warc", "--copy"]));
    scratch
}

fn done(output: Output) -> Vec<Value> {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn said(output: Output) -> String {
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn features_are_found_where_they_were_built() {
    let scratch = imported("elsewhere_built");
    let url = &format!("file://{}/far", scratch.path().display());
    done(scratch.mattock(&["publish", "site", url, "--json"]));
    done(scratch.mattock(&["features", "build", url, "--into", "near", "--quiet"]));

    let ranks = "select name, pagerank where pagerank > 0";
    let refused = said(scratch.mattock(&["query", url, ranks]));
    assert!(
        refused.contains("mattock features build URL --into DIR") && refused.contains("--features DIR"),
        "{refused}"
    );
    let refused = said(scratch.mattock(&["query", url, "--features", "nowhere", ranks]));
    assert!(
        refused.contains("there are no features of URLs in ") && refused.contains("/nowhere"),
        "{refused}"
    );
    let refused = said(scratch.mattock(&["query", url, "--features", "near", ranks]));
    assert!(refused.contains("`mattock graph pagerank` makes it"), "{refused}");

    // What is kept says how it is asked for, and is had in this way.
    let kept = said(scratch.mattock(&["graph", "pagerank", "near", "--top", "1"]));
    assert!(
        kept.contains("Kept: with --features near a query ") && !kept.contains("mattock query near"),
        "{kept}"
    );
    let kept = said(scratch.mattock(&["duplicates", "near", "--json"]));
    assert!(kept.contains("Kept: with --features near a query "), "{kept}");
    for repository in ["site", url] {
        let rows = done(scratch.mattock(&["query", repository, "--features", "near", ranks, "--quiet"]));
        assert_eq!(rows.len(), 3, "{rows:?}");
        let terms = ["terms", repository, "--features", "near", "--query", "select name", "--quiet"];
        let terms = done(scratch.mattock(&terms));
        assert!(terms.iter().any(|row| row["term"] == "mattock"), "{terms:?}");
    }
    let of_page = ["terms", url, "--features", "near", "http://away-sim.com/one", "--quiet"];
    assert!(!done(scratch.mattock(&of_page)).is_empty());
}

#[test]
fn a_repository_is_asked_without_saying_where() {
    let scratch = imported("elsewhere_here");
    done(scratch.mattock(&["features", "build", "site", "--quiet"]));
    let kept = said(scratch.mattock(&["graph", "pagerank", "site", "--top", "1"]));
    assert!(kept.ends_with("Kept: mattock query site 'select name, pagerank'\n"), "{kept}");
    let rows = done(scratch.mattock(&["query", "site", "select name, pagerank", "--quiet"]));
    assert!(rows.len() == 3 && rows.iter().all(|row| row["pagerank"].is_f64()), "{rows:?}");
    // Other links of the same URLs.
    scratch.write("links", "http://away-sim.com/one\thttp://away-sim.com/two\n");
    done(scratch.mattock(&["features", "build", "others", "--from", "links", "--list", "urls", "--quiet"]));
    let degrees =
        ["query", "site", "--features", "others", "select name, in_degree where in_degree = 1", "--quiet"];
    let rows = done(scratch.mattock(&degrees));
    assert_eq!(
        rows.iter().map(|row| row["name"].as_str().unwrap()).collect::<Vec<_>>(),
        ["http://away-sim.com/two"]
    );
}

#[test]
fn what_nobody_hears_keeps_nothing_from_being_done() {
    let scratch = imported("elsewhere_unheard");
    done(scratch.mattock(&["features", "build", "site", "--quiet"]));
    let output = scratch.mattock_unheard(&["graph", "pagerank", "site", "--top", "1"]);
    assert!(output.status.success() && !output.stdout.is_empty(), "{:?}", output.status);
    let ranks = done(scratch.mattock(&["query", "site", "--format", "jsonl", "select name, pagerank"]));
    assert_eq!(ranks.len(), 3, "{ranks:?}");
}

#[test]
fn lists_do_not_replace_features_of_documents() {
    let scratch = imported("elsewhere_lists");
    done(scratch.mattock(&["features", "build", "site", "--quiet"]));
    scratch.write("links.tsv", "http://a-sim.com/\thttp://b-sim.com/\n");
    let list = ["features", "build", "site", "--from", "links.tsv", "--list", "urls"];
    let output = scratch.mattock(&list);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(output).contains("has features of its own documents, which would be replaced"));
    // A list may take the place of a list.
    for _ in 0..2 {
        done(scratch.mattock(&["features", "build", "other", "--from", "links.tsv", "--list", "urls"]));
    }
}

#[test]
fn a_report_needs_the_features_that_are_named() {
    let scratch = imported("elsewhere_report");
    for (arguments, expected) in [
        (["--features", "nowhere"], "nowhere/features has no features"),
        (["--sample", "0"], "--sample 0 draws nothing"),
    ] {
        let output = scratch.mattock(&[&["report", "site"][..], &arguments].concat());
        assert_eq!(output.status.code(), Some(2));
        let told = said(output);
        assert!(told.contains(expected), "{told}");
        let page = Files::real().entry(&scratch.path().join("site/report.html")).unwrap();
        assert!(page.is_none(), "nothing was written");
    }
}
