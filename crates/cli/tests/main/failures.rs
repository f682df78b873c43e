//! Crawls that come to nothing, and what is said at the beginning of those that may bother people.

use crate::process::Scratch;

/// A port that is never connected to, so nothing leaves the machine.
const CLOSED: &str = "http://127.0.0.1:25/";

#[test]
fn a_crawl_without_a_page_has_failed() {
    let scratch = Scratch::new("no_page");
    let output =
        scratch.mattock(&["crawl", "--out", "x", "--retries", "0", "--contact", "a@example.com", CLOSED]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("error: not one page came in: forbidden-port × 1"), "{said}");
    assert!(said.ends_with(&format!("mattock fetch {CLOSED}\n")), "{said}");
    assert!(!said.contains("warning"), "{said}");

    // Programs get the numbers all the same.
    let output = scratch.mattock(&["crawl", "--out", "x", "--quiet", "--json"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.starts_with("{\"end\":\"complete\",") && said.contains("\"pages\":0,"), "{said}");
}

#[test]
fn who_crawls_without_a_name_is_told() {
    let scratch = Scratch::new("anonymous");
    let warned = |words: &[&str]| {
        let output = scratch.mattock(&[&["crawl", "--retries", "0"][..], words, &[CLOSED]].concat());
        String::from_utf8(output.stderr).unwrap().contains("warning: nobody can tell who crawls")
    };
    assert!(warned(&["--out", "a"]));
    assert!(!warned(&["--out", "b", "--contact", "https://example.com/us"]));
    assert!(!warned(&["--out", "c", "--connect-port", "80=8080"]), "a laboratory");
    assert!(!warned(&["--out", "d", "--quiet"]));
}
