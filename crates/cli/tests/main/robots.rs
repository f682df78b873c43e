//! `mattock robots check`: the deciding line, exit codes, mistakes.

use serde_json::Value;

use crate::process::Scratch;
use crate::served::Served;

const RULES: &str = "# Ours
User-agent: *
Disallow: /
Crawl-delay: 10

User-agent: mattock
User-agent: otherbot
Disallow: /private/
Allow: /private/open/ # but this
Disallow: /*.pdf$
Sitemap: http://www.example.com/sitemap.xml
";

const URL: &str = "http://www.example.com/";

#[test]
fn the_deciding_line_is_shown() {
    let scratch = Scratch::new("robots");
    scratch.write("robots.txt", RULES);
    for (name, path) in [
        ("robots_forbidden", "private/a"),
        ("robots_allowed_by_a_longer_rule", "private/open/a"),
        ("robots_pattern", "a.pdf"),
        ("robots_no_rule", "a"),
    ] {
        scratch.snapshot(name, &["robots", "check", "--file", "robots.txt", &format!("{URL}{path}")]);
    }
    let other = ["robots", "check", "--file", "robots.txt", "--agent", "newbot", URL];
    scratch.snapshot("robots_of_another_agent", &other);
    scratch.snapshot("robots_json", &["robots", "check", "--json", "--file", "robots.txt", URL]);
    scratch.write("empty.txt", "");
    scratch.snapshot("robots_empty", &["robots", "check", "--file", "empty.txt", URL]);
}

#[test]
fn redirects_are_followed_and_shown() {
    let scratch = Scratch::new("robots_redirected");
    let served = Served::start(7, "0s", 0);
    let mut words = [&["robots", "check", "--json"][..], &served.reached()].concat();
    *words.last_mut().unwrap() = "http://www.cacimacake-sim.fr/";
    let output = scratch.mattock(&words);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let requests = report["requests"].as_array().unwrap();
    let outcomes: Vec<&str> = requests.iter().map(|asked| asked["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["301", "200"], "{report}");
    assert!(report["rules"].as_u64().unwrap() > 0, "{report}");
}

#[test]
fn mistakes() {
    let scratch = Scratch::new("robots_mistakes");
    scratch.snapshot("robots_of_nothing", &["robots", "check"]);
    scratch.snapshot("robots_of_another_scheme", &["robots", "check", "ftp://example.com/"]);
    scratch.snapshot("robots_missing_file", &["robots", "check", "--file", "missing.txt", URL]);
    scratch.snapshot("robots_for_a_whole_agent", &["robots", "check", "--agent", "Bot/1.0 (+x)", URL]);
    scratch.snapshot("robots_for_nobody", &["robots", "check", "--agent", "", URL]);
    scratch.snapshot("robots_misspelt", &["robots", "chek", URL]);
}
