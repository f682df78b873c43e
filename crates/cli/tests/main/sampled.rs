//! Samples: what a query says of one draws it again, whatever came since.

use std::process::Stdio;

use crate::process::{MATTOCK, Running, Scratch};
use crate::published::{done, foreign, rows};
use crate::served::Served;

const SAMPLE: &str = "[samplingProb=0.4, samplingSeed=7] select name, instance, title";

/// A sample of the crawl: the flag that the query says draws it again, and the rows.
fn drawn(scratch: &Scratch) -> (Vec<String>, Vec<String>) {
    let asked = scratch.mattock(&["query", "crawl", SAMPLE, "--format", "jsonl"]);
    let said = String::from_utf8_lossy(&asked.stderr).into_owned();
    let flag = said
        .lines()
        .find_map(|line| line.split_once("the same again: that seed with "))
        .expect("the hint is there")
        .1;
    let mut lines: Vec<String> = done(asked).lines().map(str::to_owned).collect();
    lines.sort();
    (flag.split(' ').map(str::to_owned).collect(), lines)
}

#[test]
fn a_sample_of_a_crawl_that_runs_is_drawn_again_when_it_has_ended_and_older_archives_have_come() {
    let scratch = Scratch::new("sampled_running");
    let served = Served::start(11, "1s", 30);
    let mut crawl = scratch.command(MATTOCK);
    crawl.args(&served.crawl).args(["--quiet"]);
    let crawl = Running(crawl.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    served.bell.recv().unwrap();
    let mut samples: Vec<(Vec<String>, Vec<String>)> = Vec::new();
    // Until a later one has more than the first.
    while samples.len() < 3 || samples[0].1.len() == samples[samples.len() - 1].1.len() {
        done(scratch.mattock(&["ctl", "crawl", "checkpoint", "--wait"]));
        samples.push(drawn(&scratch));
        if samples.len() == 2 {
            foreign(&scratch, "while.warc", "while");
            done(scratch.mattock(&["import", "crawl", "while.warc"]));
            samples.push(drawn(&scratch));
        }
    }
    done(scratch.mattock(&["ctl", "crawl", "stop", "--wait"]));
    assert_eq!(crawl.end(), Some(0), "it ran until now");
    samples.push(drawn(&scratch));
    for number in 0..20 {
        let name = format!("old-{number}.warc");
        foreign(&scratch, &name, &format!("old-{number}"));
        done(scratch.mattock(&["import", "crawl", &name]));
    }
    samples.push(drawn(&scratch));
    let all = samples[samples.len() - 1].1.len();
    assert!(samples[samples.len() - 2].1.len() < all, "what was imported is there");
    done(scratch.mattock(&["index", "crawl", "--rebuild"]));
    for (flag, before) in &samples {
        assert_eq!(flag[0], "--inserted-by");
        let words = ["query", "crawl", SAMPLE, "--quiet", "--format", "jsonl", &flag[0], &flag[1]];
        assert_eq!(&rows(&scratch, &words), before, "{flag:?}");
    }
}

#[test]
fn what_sql_cannot_sample_is_wrong_usage() {
    let scratch = Scratch::new("sampled_wrongly");
    foreign(&scratch, "one.warc", "one");
    done(scratch.mattock(&["import", "one", "one.warc"]));
    scratch.snapshot(
        "sampled_wrongly",
        &["query", "one", "--sql", "select url from documents where sampled(2, 1)"],
    );
    let rows_of = "select count(*) from documents tablesample system (3 rows)";
    scratch.snapshot("sampled_by_rows", &["query", "one", "--sql", rows_of]);
    let none = "select count(*) as n from documents tablesample bernoulli (0) repeatable (3)";
    assert_eq!(rows(&scratch, &["query", "one", "--quiet", "--sql", none]), [r#"{"n":0}"#]);
}
