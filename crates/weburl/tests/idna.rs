//! Names in other scripts: the Web platform's tests of "domain to ASCII", as the hosts of URLs.

use mattock_weburl::WebUrl;
use serde_json::Value;

use crate::exceptions::{IDNA, is_wrong_punycode};

/// A name, and what it becomes in ASCII; `None` if it is no name.
struct Case {
    input: String,
    output: Option<String>,
    /// Whether the suite says that something is wrong with it; one of the suites does not say.
    flawed: bool,
}

fn cases(path: &str, fewest: usize) -> Vec<Case> {
    let Some(suite) = crate::conformance::read(path) else { return Vec::new() };
    // Half a surrogate pair is no text; where one gets into a URL, a replacement character stands for it.
    let suite = suite.replace(r"\ud900z", r"\ufffdz").replace(r"\ud900Z", r"\ufffdZ");
    let suite: Vec<Value> = serde_json::from_str(&suite).expect("the suite is JSON");
    let cases: Vec<Case> = suite
        .into_iter()
        .filter(Value::is_object)
        .map(|case| Case {
            input: case["input"].as_str().expect("every case has an input").to_owned(),
            output: case["output"].as_str().map(str::to_owned),
            flawed: case["comment"].is_string() || path.ends_with("toascii.json"),
        })
        .collect();
    assert!(cases.len() >= fewest, "only {} cases of {path} were understood", cases.len());
    cases
}

/// The name with every byte escaped, so that none of them ends the host.
fn escaped(name: &str) -> String {
    name.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

fn check(path: &str, fewest: usize) {
    let mut wrong = Vec::new();
    for Case { input, output, flawed } in cases(path, fewest) {
        if input.is_empty() {
            continue; // A URL without a host takes the next part for one.
        }
        // Dots at the end of a host go, which no name of these suites needs to tell it from another.
        let expected =
            output.as_deref().map(|name| name.trim_end_matches('.')).filter(|name| !name.is_empty());
        let found = WebUrl::parse(&format!("https://{}/x", escaped(&input)));
        let found = found.as_ref().ok().map(WebUrl::host_name);
        let exception = IDNA.iter().any(|(name, _)| *name == input)
            || flawed && found.is_none() && expected.is_some_and(is_wrong_punycode);
        if (found == expected) == exception {
            wrong.push(format!("{input:?} is {found:?}, not {output:?}"));
        }
        // What came out is a name as it stands.
        if let Some(name) = found {
            let again = WebUrl::parse(&format!("https://{name}/x"));
            assert_eq!(again.as_ref().ok().map(WebUrl::host_name), Some(name), "{input:?}");
        }
    }
    assert!(wrong.is_empty(), "{} of {path}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn unicode_s_own_tests() {
    check("url/wpt/IdnaTestV2.json", 2000);
}

#[test]
fn unicode_s_former_tests() {
    check("url/wpt/IdnaTestV2-removed.json", 15);
}

#[test]
fn what_unicode_s_tests_leave_out() {
    check("url/wpt/toascii.json", 60);
}
