//! The URL tests of the Web platform: we take exactly the `http` and `https` URLs that they say are URLs.

use mattock_weburl::{Base, UrlError, WebUrl};
use serde_json::Value;

use crate::exceptions::URLS;

struct Case {
    input: String,
    base: Option<String>,
    /// `None` if the suite says that it is no URL, or one of another scheme.
    expected: Option<Value>,
}

fn cases() -> Vec<Case> {
    let Some(suite) = crate::conformance::read("url/wpt/urltestdata.json") else { return Vec::new() };
    let suite: Vec<Value> = serde_json::from_str(&suite).expect("the suite is JSON");
    let text = |case: &Value, key: &str| case[key].as_str().map(str::to_owned);
    let cases: Vec<Case> = suite
        .into_iter()
        .filter(Value::is_object)
        .map(|case| {
            let web = matches!(case["protocol"].as_str(), Some("http:" | "https:"));
            Case {
                input: text(&case, "input").expect("every case has an input"),
                base: text(&case, "base"),
                expected: web.then_some(case),
            }
        })
        .collect();
    assert!(cases.len() > 800, "only {} cases were understood", cases.len());
    cases
}

fn found(case: &Case) -> Option<Result<WebUrl, UrlError>> {
    let Some(base) = &case.base else { return Some(WebUrl::parse(&case.input)) };
    if let Ok(base) = WebUrl::parse(base) {
        return Some(base.join(&case.input));
    }
    // A page cannot have these as its base.
    if base.starts_with("data:") || base.starts_with("javascript:") {
        return None;
    }
    let page = WebUrl::parse("http://page.example/").expect("a URL");
    Some(Base::with_href(&page, base).join(&case.input))
}

/// The bytes that a receiver sees behind the escapes.
fn decoded(text: &str) -> Vec<u8> {
    let (bytes, mut out, mut at) = (text.as_bytes(), Vec::new(), 0);
    while at < bytes.len() {
        let escape = text.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        match escape.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(value) => {
                out.push(value);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    out
}

#[test]
fn we_take_what_the_suite_takes() {
    let mut wrong = Vec::new();
    for case in cases() {
        let Some(found) = found(&case) else { continue };
        let exception = URLS.iter().any(|(input, _)| *input == case.input);
        if (found.is_ok() == case.expected.is_some()) == exception {
            wrong.push(format!("{:?} on {:?}: {found:?}", case.input, case.base));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_parts_are_those_of_the_suite() {
    for case in cases() {
        let (Some(Ok(url)), Some(expected)) = (found(&case), &case.expected) else { continue };
        let part = |key: &str| expected[key].as_str().expect("every URL has its parts");
        let input = &case.input;
        assert_eq!(format!("{}:", url.scheme()), part("protocol"), "{input:?}");
        assert_eq!(url.host_name(), part("hostname").trim_end_matches('.'), "{input:?}");
        assert_eq!(
            url.authority()[url.host_name().len()..].trim_start_matches(':'),
            part("port"),
            "{input:?}"
        );
        assert_eq!(decoded(url.path()), decoded(part("pathname")), "{input:?}");
        let query = part("search");
        let query = query.strip_prefix('?').unwrap_or(query);
        assert_eq!(decoded(url.query().unwrap_or_default()), decoded(query), "{input:?}");
        // And the suite's own form has ours as its canonical form.
        assert_eq!(WebUrl::parse(part("href")).as_ref(), Ok(&url), "{input:?}");
    }
}

#[test]
fn canonicalising_twice_changes_nothing() {
    for case in cases() {
        for text in [Some(&case.input), case.base.as_ref()].into_iter().flatten() {
            let Ok(url) = WebUrl::parse(text) else { continue };
            assert_eq!(WebUrl::parse(url.as_str()).as_ref(), Ok(&url), "{text:?}");
        }
        if let Some(Ok(url)) = found(&case) {
            assert_eq!(WebUrl::parse(url.as_str()).as_ref(), Ok(&url), "{:?}", case.input);
        }
    }
}
