//! `mattock lab`: small experiments, and what they leave behind.

use mattock_env::Files;
use serde_json::Value;

use crate::process::{Scratch, read};

fn names(scratch: &Scratch, dir: &str) -> Vec<String> {
    let entries = Files::real().list(&scratch.path().join(dir)).expect("the directory was made");
    let mut names: Vec<String> = entries.into_iter().map(|entry| entry.name).collect();
    names.sort();
    names
}

#[test]
fn star_compares_budgets_and_leaves_a_report() {
    let scratch = Scratch::new("lab_star");
    let output = scratch.mattock(&["lab", "star", "--seed", "3", "--out", "star", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let share = |at: usize| {
        let requests = &report["budgets"][at]["requests"];
        requests["farms"].as_f64().unwrap() / requests["all"].as_f64().unwrap()
    };
    assert_eq!(report["budgets"][0]["budget"], "unlimited");
    assert_eq!(report["budgets"][2]["budget"], "broad");
    assert!(share(0) > 0.5 && share(2) < 0.05, "{} and {}", share(0), share(2));
    assert_eq!(names(&scratch, "star"), ["star-degree.svg", "star-share.svg", "star.json", "star.md"]);
    let kept: Value = serde_json::from_str(&read(&scratch.path().join("star/star.json"))).unwrap();
    assert_eq!(kept, report);
}

#[test]
fn beast_is_flat_and_leaves_no_queues() {
    let scratch = Scratch::new("lab_beast");
    let words = ["lab", "beast", "--domains", "10", "--naive-rounds", "4", "--out", "beast", "--json"];
    let output = scratch.mattock(&words);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let growth = |of: &str| report["beast_growth"][of].as_f64().unwrap();
    assert!(growth("pages") > 64.0 && growth("bytes_per_page") < 1.5, "{report}");
    assert_eq!(names(&scratch, "beast"), ["beast.json", "beast.md", "beast.svg"]);
    assert!(read(&scratch.path().join("beast/beast.md")).contains("](beast.svg)"));
}

#[test]
fn a_file_in_the_way_is_a_mistake() {
    let scratch = Scratch::new("lab_file");
    Files::real().write_atomic(&scratch.path().join("here"), b"").unwrap();
    let output = scratch.mattock(&["lab", "star", "--out", "here"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}
