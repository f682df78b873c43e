//! The cases of Google's parser; where RFC 9309 says otherwise, `google_exceptions.txt` names the case and why.

use std::path::PathBuf;

use mattock_robots::Robots;

fn suite() -> PathBuf {
    let conformance = std::env::var_os("MATTOCK_CONFORMANCE").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/conformance")),
        PathBuf::from,
    );
    conformance.join("robots/google_cases.jsonl")
}

/// From a URL to what is matched; the suite also holds an empty URL.
fn path_and_query(url: &str) -> &str {
    let after_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
    after_scheme.find('/').map_or("", |slash| &after_scheme[slash..])
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the suite is a real file that lies outside the project")]
#[expect(clippy::print_stderr, reason = "a skipped suite says so")]
fn google_cases() {
    let Ok(text) = std::fs::read_to_string(suite()) else {
        eprintln!("skipped: {} is not here", suite().display());
        return;
    };
    let exceptions: Vec<(&str, &str)> = include_str!("google_exceptions.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split_once('\t').expect("a rule, a tab, a URL"))
        .collect();
    let mut excepted = vec![false; exceptions.len()];
    let mut failures = Vec::new();
    let mut count = 0;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let case: serde_json::Value = serde_json::from_str(line).expect("a case per line");
        let field = |name: &str| case[name].as_str().expect("a string").to_owned();
        let (body, agent, url) = (field("robots"), field("agent"), field("url"));
        let expected = case["allowed"].as_bool().expect("a verdict");
        count += 1;
        if Robots::parse(body.as_bytes(), &agent).verdict(path_and_query(&url)).allowed == expected {
            continue;
        }
        match exceptions
            .iter()
            .position(|(rule, path)| body.lines().any(|line| line == *rule) && *path == url)
        {
            Some(known) => excepted[known] = true,
            None => failures.push(line.to_owned()),
        }
    }
    assert!(count >= 100, "only {count} cases: the suite is not whole");
    assert!(failures.is_empty(), "{} of {count} cases fail:\n{}", failures.len(), failures.join("\n"));
    for (exception, used) in exceptions.iter().zip(excepted) {
        assert!(used, "{exception:?} passes: take it off the list");
    }
}
