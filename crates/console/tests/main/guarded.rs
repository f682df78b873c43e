//! Who gets what.

use crate::client::{Scratch, ask, connect, console, send};

const JSON: &str = "Content-Type: application/json";
const OURS: &str = "X-Mattock: 1";

#[test]
fn every_page_has_a_strict_policy() {
    let scratch = Scratch::new("guarded-policy");
    let (_console, address) = console(&scratch.0, None);
    for path in [
        "/",
        "/assets/app.js",
        "/assets/console.css",
        "/healthz",
        "/metrics",
        "/api/v1/openapi.json",
        "/nothing",
    ] {
        let response = ask(address, &format!("GET {path}"), &[], "");
        let policy = response.header("content-security-policy").expect("a policy");
        for part in [
            "default-src 'none'",
            "script-src 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
            "form-action 'none'",
        ] {
            assert!(policy.contains(part), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains('*'), "{path}: {policy}");
        assert_eq!(response.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(response.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(response.header("cross-origin-resource-policy"), Some("same-origin"));
        assert_eq!(response.header("access-control-allow-origin"), None);
        assert_eq!(response.header("cache-control"), Some("no-store"));
    }
}

#[test]
fn strangers_are_turned_away() {
    let scratch = Scratch::new("guarded-strangers");
    let (_console, address) = console(&scratch.0, None);
    let get = |headers: &[&str]| ask(address, "GET /api/v1/snapshot", headers, "").status;
    assert_eq!(get(&[]), 200);
    assert_eq!(get(&["Host: evil.example"]), 421);
    assert_eq!(get(&["Host: localhost:1"]), 200, "a forwarded port");
    assert_eq!(get(&["Origin: http://evil.example"]), 403);
    assert_eq!(get(&["Sec-Fetch-Site: cross-site"]), 403);
    assert_eq!(ask(address, "GET /", &["Host: evil.example"], "").status, 421);
    assert_eq!(ask(address, "GET /healthz", &["Host: evil.example"], "").status, 421);
    let post = |headers: &[&str]| {
        let response = ask(address, "POST /api/v1/pause", headers, "{}");
        (response.status, response.error())
    };
    assert_eq!(post(&[JSON]), (403, "forbidden".into()));
    assert_eq!(post(&[JSON, OURS, "Origin: null"]), (403, "forbidden".into()));
    assert_eq!(post(&[JSON, OURS]), (409, "conflict".into()), "nothing runs here");
    // A preflight gets no leave.
    let preflight = ask(
        address,
        "OPTIONS /api/v1/pause",
        &["Origin: http://evil.example", "Access-Control-Request-Headers: x-mattock"],
        "",
    );
    assert_eq!(preflight.status, 403);
    assert_eq!(preflight.header("access-control-allow-headers"), None);
}

#[test]
fn a_token_opens_everything_but_the_bare_pages() {
    let scratch = Scratch::new("guarded-token");
    let token = "correct horse battery staple";
    let (_console, address) = console(&scratch.0, Some(token));
    let right = format!("Authorization: Bearer {token}");
    for path in
        ["/api/v1/snapshot", "/api/v1/live", "/metrics", "/api/v1/openapi.json", "/view?u=http://a.com/"]
    {
        let response = ask(address, &format!("GET {path}"), &[], "");
        assert_eq!((response.status, response.error().as_str()), (401, "unauthorized"), "{path}");
    }
    assert_eq!(ask(address, "GET /", &[], "").status, 200);
    assert_eq!(ask(address, "GET /healthz", &[], "").status, 401);
    assert_eq!(ask(address, "GET /healthz", &[&right], "").status, 200);
    assert_eq!(ask(address, "GET /metrics", &[&right], "").status, 200);
    assert_eq!(ask(address, "POST /api/v1/stop", &[OURS, JSON], "{}").status, 401);
    assert_eq!(ask(address, "POST /api/v1/stop", &[&right, JSON], "{}").status, 409);
    let ticket = ask(address, "POST /api/v1/tickets", &[&right, JSON], r#"{"u":"http://a.com/"}"#);
    let ticket: serde_json::Value = serde_json::from_str(&ticket.body).unwrap();
    let view = format!("GET /view?u=http://a.com/&ticket={}", ticket["ticket"].as_str().unwrap());
    // Good once: the second time it is as if there was none.
    assert_eq!(ask(address, &view, &[], "").status, 409, "there is no crawl to show a page of");
    assert_eq!(ask(address, &view, &[], "").status, 401);
}

#[test]
fn what_is_wrong_is_told_as_json() {
    let scratch = Scratch::new("guarded-wrong");
    let (_console, address) = console(&scratch.0, None);
    let post = |path: &str, headers: &[&str], body: &str| {
        let response = ask(address, &format!("POST {path}"), &[&[OURS], headers].concat(), body);
        (response.status, response.error())
    };
    let told = |status: u16, error: &str| (status, error.to_owned());
    assert_eq!(post("/api/v1/blocks", &[JSON], r#"{"rule":"#), told(400, "invalid"));
    assert_eq!(post("/api/v1/blocks", &[JSON], "[1]"), told(400, "invalid"));
    assert_eq!(post("/api/v1/blocks", &[JSON], "{}"), told(400, "invalid"));
    assert_eq!(post("/api/v1/blocks", &[JSON], r#"{"rule":"a","more":1}"#), told(400, "invalid"));
    assert_eq!(post("/api/v1/blocks", &[JSON], r#"{"rule":"a\nb"}"#), told(400, "invalid"));
    assert_eq!(
        post("/api/v1/blocks", &["Content-Type: text/plain"], r#"{"rule":"a"}"#),
        told(415, "not-json")
    );
    assert_eq!(
        post("/api/v1/blocks", &[JSON], &format!(r#"{{"rule":"{}"}}"#, "x".repeat(70_000))),
        told(413, "too-large")
    );
    assert_eq!(post("/api/v1/snapshot", &[JSON], "{}"), told(405, "method-not-allowed"));
    assert_eq!(post("/", &[JSON], "{}"), told(405, "method-not-allowed"));
    let get = |path: &str| {
        let response = ask(address, &format!("GET {path}"), &[], "");
        (response.status, response.error())
    };
    assert_eq!(get("/api/v2/snapshot"), told(404, "not-found"));
    assert_eq!(get("/../Cargo.toml"), told(404, "not-found"));
    assert_eq!(get("/assets/%2e%2e/app.js"), told(404, "not-found"));
    assert_eq!(get("/api/v1/hosts?limit=0"), told(400, "invalid"));
    assert_eq!(get("/api/v1/hosts?colour=red"), told(400, "invalid"));
    assert_eq!(get("/api/v1/url?u=javascript:alert(1)"), told(400, "invalid"));
    assert_eq!(get("/api/v1/hosts/%ff"), told(400, "invalid"));
    assert_eq!(get("/api/v1/url?u=http://a.com/"), told(409, "conflict"), "there is no crawl");
    assert_eq!(send(connect(address), "nonsense\r\n\r\n").status, 400);
}
