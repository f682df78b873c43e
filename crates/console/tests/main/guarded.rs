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

const TOKEN: &str = "correct horse battery staple";

/// Name no host and no URL: monitoring on this machine has them without the token.
const COUNTS: [&str; 2] = ["/metrics", "/healthz"];

#[test]
fn without_the_token_there_is_nothing_but_the_bare_pages() {
    let scratch = Scratch::new("guarded-token");
    let (_console, address) = console(&scratch.0, Some(TOKEN));
    let right = format!("Authorization: Bearer {TOKEN}");
    let api: serde_json::Value =
        serde_json::from_str(&ask(address, "GET /api/v1/openapi.json", &[&right], "").body).unwrap();
    let mut count = 0;
    for (path, methods) in api["paths"].as_object().unwrap() {
        if COUNTS.contains(&path.as_str()) {
            continue;
        }
        let path = path.replace("{host}", "http%3A%2F%2Fa.com").replace("{domain}", "a.com");
        for method in methods.as_object().unwrap().keys() {
            let response = ask(address, &format!("{} {path}", method.to_uppercase()), &[OURS, JSON], "{}");
            assert_eq!(
                (response.status, response.error().as_str()),
                (401, "unauthorized"),
                "{method} {path}"
            );
            assert_eq!(response.header("set-cookie"), None);
            count += 1;
        }
    }
    assert!(count > 25, "{count} routes");
    for path in ["/metrics", "/healthz", "/view?u=http://a.com/", "/nothing"] {
        let status = |headers: &[&str]| ask(address, &format!("GET {path}"), headers, "").status;
        let bare = if COUNTS.contains(&path) { 200 } else { 401 };
        assert_eq!((status(&[]), status(&["Cookie: mattock=1"])), (bare, bare), "{path}");
        assert_ne!(status(&[&right]), 401, "{path}");
        assert_eq!(status(&[&right, "Host: evil.example"]), 421, "{path}");
    }
    assert_eq!(ask(address, "GET /", &[], "").status, 200);
    assert_eq!(ask(address, "POST /api/v1/stop", &[&right, JSON], "{}").status, 409);
    let ticket = ask(address, "POST /api/v1/tickets", &[&right, JSON], r#"{"u":"http://a.com/"}"#);
    let ticket: serde_json::Value = serde_json::from_str(&ticket.body).unwrap();
    let view = format!("GET /view?u=http://a.com/&ticket={}", ticket["ticket"].as_str().unwrap());
    // Good once: the second time it is as if there was none.
    assert_eq!(ask(address, &view, &[], "").status, 409, "there is no crawl to show a page of");
    assert_eq!(ask(address, &view, &[], "").status, 401);
}

#[test]
fn a_browser_shows_the_token_once() {
    let scratch = Scratch::new("guarded-browser");
    let (_console, address) = console(&scratch.0, Some(TOKEN));
    let get = |path: &str, headers: &[&str]| ask(address, &format!("GET {path}"), headers, "");
    for wrong in ["/?token=", "/?token=correct+horse+battery+stable", "/?a=b&token=%63"] {
        let response = get(wrong, &[]);
        assert_eq!((response.status, response.header("location")), (303, Some("/")), "{wrong}");
        assert_eq!(response.header("set-cookie"), None, "{wrong}");
    }
    assert_eq!(get("/?token=correct+horse+battery+staple", &["Host: evil.example"]).status, 421);
    let login = ask(address, "POST /api/v1/login", &[&format!("Authorization: Bearer {TOKEN}")], "");
    assert_eq!(login.status, 200, "{}", login.body);
    let shown = get("/?token=correct+horse+battery+staple", &[]);
    assert_eq!((shown.status, shown.header("location")), (303, Some("/")), "the token leaves the address");
    for response in [login, shown] {
        let cookie = response.header("set-cookie").expect("a session");
        assert!(cookie.contains("; HttpOnly") && cookie.contains("; SameSite=Strict"), "{cookie}");
        assert!(!response.head.contains("horse"), "{}", response.head);
        let session = format!("Cookie: {}", cookie.split(';').next().unwrap());
        assert_eq!(get("/api/v1/snapshot", &[&session]).status, 200);
        assert_eq!(get("/view?u=http://a.com/", &[&session]).status, 409, "there is no crawl");
        assert_eq!(get("/api/v1/snapshot", &[&session, "Sec-Fetch-Site: same-site"]).status, 403);
        let post = |headers: &[&str]| ask(address, "POST /api/v1/pause", headers, "{}").status;
        assert_eq!((post(&[&session, JSON]), post(&[&session, JSON, OURS])), (403, 409));
    }
    // Another console on this machine, even at the same port later, knows nothing of it.
    let (_other, elsewhere) = console(&scratch.0, None);
    assert_eq!(ask(elsewhere, "GET /?token=x", &[], "").header("set-cookie"), None);
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
