//! `mattock why` and `mattock stalls`: on crawls that run, that have ended, and that are none.

use serde_json::Value;

use crate::process::{MATTOCK, Scratch, interrupt};
use crate::served::{Served, world};

/// A port that is never connected to, so nothing leaves the machine.
const CLOSED: &str = "http://127.0.0.1:25/";

/// A run as a text without what differs from run to run: times.
fn timeless(scratch: &Scratch, arguments: &[&str]) -> String {
    let is_time = |word: &str| {
        let digits = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        digits.len() == 20 && digits.ends_with('Z') && digits.as_bytes()[10] == b'T'
    };
    let text = scratch.transcript(arguments);
    let lines = text.lines().map(|line| {
        let words = line.split(' ').map(|word| match word.find("20").filter(|_| is_time(word)) {
            Some(start) => format!("{}TIME{}", &word[..start], &word[start + 20..]),
            None => word.to_owned(),
        });
        words.collect::<Vec<_>>().join(" ")
    });
    lines.map(|line| line + "\n").collect()
}

fn json(scratch: &Scratch, arguments: &[&str]) -> Value {
    let output = scratch.mattock(arguments);
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).expect("it prints one object")
}

#[test]
fn mistakes() {
    let scratch = Scratch::new("why_mistakes");
    scratch.write("photo.jpg", "not a directory");
    scratch.snapshot("why_nothing", &["why"]);
    scratch.snapshot("why_no_url", &["why", "crawl"]);
    scratch.snapshot("why_no_crawl", &["why", "crawl", "http://example.com/"]);
    scratch.snapshot("why_something_else", &["why", ".", "http://example.com/"]);
    scratch.snapshot("why_a_file", &["why", "photo.jpg", "http://example.com/"]);
    scratch.snapshot("why_not_a_url", &["why", "crawl", "example.com"]);
    scratch.snapshot("stalls_nothing", &["stalls"]);
    scratch.snapshot("stalls_no_crawl", &["stalls", "crawl"]);
    assert!(!scratch.is_there("crawl"), "nothing is left behind");
}

#[test]
fn a_crawl_that_has_ended() {
    let scratch = Scratch::new("why_ended");
    scratch.mattock(&["crawl", "--out", "x", "--retries", "0", "--quiet", CLOSED]);
    let urls = ["http://127.0.0.1:25/", "http://127.0.0.1:25/other", "http://example.com/"];
    let words = [&["why", "x"][..], &urls].concat();
    insta::assert_snapshot!("why_failed_and_never_seen", timeless(&scratch, &words));
    insta::assert_snapshot!("stalls_complete", timeless(&scratch, &["stalls", "x"]));
    let told = json(&scratch, &["why", "x", "--json", CLOSED]);
    assert_eq!((told["answer"].as_str(), told["end"].as_str()), (Some("failed"), Some("complete")), "{told}");
    assert_eq!(told["instances"][0]["outcome"], "forbidden-port", "{told}");
    assert_eq!(json(&scratch, &["stalls", "x", "--json"])["limit"], "nothing-left");
}

/// Checkpoints are made all the time: what is looked at vanishes, and the newer one is taken.
#[test]
fn a_crawl_that_runs() {
    let scratch = Scratch::new("why_running");
    scratch.write("often.toml", "[checkpoint]\nevery = \"100ms\"\n");
    let served = Served::start(7, "50ms", 200);
    let mut child = scratch
        .command(MATTOCK)
        .args(&served.crawl)
        .args(["--config", "often.toml", "--quiet"])
        .spawn()
        .expect("the binary was built for this test");
    served.bell.recv().expect("the crawl gets so far");
    let seed = world(7).seeds().remove(0);
    let pages: Vec<String> = world(7).truth(1_000_000).unwrap().pages.into_iter().collect();
    // The first one may take a while on a machine that is busy.
    let has_checkpoint =
        || json(&scratch, &["why", "crawl", "--json", &seed])["checkpoint"].as_u64() > Some(0);
    assert!((0..500).any(|_| has_checkpoint()), "no checkpoint is made");
    let (mut known, mut before) = (0, 0);
    for part in pages.chunks(100) {
        let words: Vec<&str> =
            ["why", "crawl", "--json"].into_iter().chain(part.iter().map(String::as_str)).collect();
        let output = scratch.mattock(&words);
        assert!(output.status.success(), "{output:?}");
        let answers = String::from_utf8(output.stdout).unwrap();
        let answers: Vec<Value> = answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(answers.len(), part.len());
        let checkpoint = answers[0]["checkpoint"].as_u64().unwrap();
        assert!(checkpoint >= before && answers.iter().all(|answer| answer["checkpoint"] == checkpoint));
        before = checkpoint;
        known += answers.iter().filter(|answer| answer["answer"] != "never-seen").count();
    }
    let stalls = json(&scratch, &["stalls", "crawl", "--json"]);
    let told = json(&scratch, &["why", "crawl", "--json", &seed]);
    interrupt(&child);
    child.wait().unwrap();
    assert!(known > 0 && before > 0, "{known} {before}");
    assert_eq!(
        (&stalls["running"], &told["running"]),
        (&Value::Bool(true), &Value::Bool(true)),
        "{stalls} {told}"
    );
    assert_eq!(told["answer"], "fetched", "{told}");
    assert_eq!(stalls["live"]["connections"], 256, "{stalls}");
    assert!(!scratch.is_there("crawl/state/STATUS"), "it has ended in good order");
}
