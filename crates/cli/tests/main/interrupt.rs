//! Ctrl-C in the middle of a crawl: it ends in good order, says how to go on, and going on completes it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;

use mattock_env::Files;
use mattock_repository::{RecordType, WarcReader};

use crate::process::{MATTOCK, Scratch, interrupt};
use crate::served::{Served, world};

const SEED: u64 = 11;

#[test]
fn a_stopped_crawl_goes_on_by_the_command_that_it_prints() {
    let scratch = Scratch::new("interrupt");
    let served = Served::start(SEED, "20ms", 150);
    let mut crawl = scratch.command(MATTOCK);
    crawl.args(&served.crawl).stdout(Stdio::null()).stderr(Stdio::piped());
    let child = crawl.spawn().expect("the binary was built for this test");
    served.bell.recv().expect("the crawl asks for more than so many pages");
    interrupt(&child);
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8(output.stderr).expect("it speaks in text");
    assert_eq!(output.status.code(), Some(130), "{said}");

    let begun = pages(&scratch.path().join("crawl/warc"));
    let truth = world(SEED).truth(100_000).expect("a tiny world has an end").pages;
    assert!(!begun.is_empty() && begun.len() < truth.len(), "it was in the middle: {said}");

    let (_, again) = said.split_once("To go on:\n  ").expect("it says how to go on");
    let output = scratch.command("sh").args(["-c", again]).output().expect("there is a shell");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    let found = pages(&scratch.path().join("crawl/warc"));
    assert!(found.keys().eq(truth.iter()), "{} pages of {}: {said}", found.len(), truth.len());
    assert!(found.values().all(|times| *times == 1), "each page is stored once");
}

/// Whoever asks for the end of a service gets what they asked for: it is no failure after which to start it again.
#[test]
fn a_crawl_that_is_asked_to_end_has_not_failed() {
    for signal in ["-TERM", "-HUP"] {
        let scratch = Scratch::new(&format!("asked{signal}"));
        let served = Served::start(SEED, "20ms", 20);
        let mut crawl = scratch.command(MATTOCK);
        crawl.args(&served.crawl).stdout(Stdio::null()).stderr(Stdio::piped());
        let child = crawl.spawn().expect("the binary was built for this test");
        served.bell.recv().expect("the crawl asks for more than so many pages");
        let sent = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(sent.expect("there is kill").success());
        let output = child.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{signal}: {said}");
        assert!(said.contains("Everything is saved"), "{signal}: {said}");
        assert!(scratch.mattock(&["check", "crawl"]).status.success(), "{signal}");
    }
}

/// The pages in an archive, each with how often it is there.
pub(crate) fn pages(directory: &Path) -> BTreeMap<String, u32> {
    let files = Files::real();
    let mut found = BTreeMap::new();
    for file in files.list(directory).expect("the archive can be read") {
        let mut reader = WarcReader::open(&files, &directory.join(&file.name)).expect("it is a WARC file");
        while let Some(record) = reader.next_record().expect("it is whole") {
            let url = record.target_uri().unwrap_or_default();
            let is_page = matches!(record.kind(), Some(RecordType::Response | RecordType::Revisit))
                && record.block.starts_with(b"HTTP/1.1 200")
                && !["/robots.txt", "/robots-rules.txt", "/feed.xml"]
                    .iter()
                    .any(|rules| url.ends_with(rules))
                && !url.contains("/sitemap");
            if is_page {
                *found.entry(url.to_owned()).or_default() += 1;
            }
        }
    }
    found
}
