//! Pages of archives that were imported are shown as those of a crawl are, with and without a crawl.

use mattock_env::{Env, Files};
use mattock_index::{Foreign, ImportOptions, import};

use crate::client::{Scratch, ask, console};

fn record(kind: &str, date: &str, fields: &str, block: &str) -> String {
    format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: http://a-sim.com\r\nWARC-Date: {date}\r\n{fields}\
         WARC-Record-ID: <urn:test:{date}>\r\nContent-Type: application/http\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    )
}

#[test]
fn imported_pages_are_shown() {
    let scratch = Scratch::new("imported-pages");
    let page = |body: &str| format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>{body}");
    let refers =
        "WARC-Refers-To-Target-URI: http://a-sim.com/\r\nWARC-Refers-To-Date: 2026-01-02T00:00:00Z\r\n";
    let archive = [
        record("response", "2026-01-01T00:00:00Z", "", &page("first")),
        record("response", "2026-01-02T00:00:00.500Z", "", &page("second")),
        record("revisit", "2026-01-03T00:00:00Z", refers, "HTTP/1.1 304 Not Modified\r\n\r\n"),
    ];
    let path = scratch.0.join("pages.warc");
    Files::real().write_atomic(&path, archive.concat().as_bytes()).expect("it can be written");
    let foreign = [Foreign { path, name: "pages.warc".into() }];
    let env = Env::real();
    let now = || env.clock.unix();
    import(&env.files, &scratch.0, &foreign, &ImportOptions::named("pages"), &now, |_, _| {})
        .expect("it can be imported");
    let (_console, address) = console(&scratch.0, None);
    let get = |what: &str, url: &str, more: &str| {
        let response = ask(address, &format!("GET /{what}?u={url}{more}"), &[], "");
        (response.status, response.body)
    };
    let (status, told) = get("api/v1/url", "http://a-sim.com/", "");
    let told: serde_json::Value = serde_json::from_str(&told).expect("it is JSON");
    assert_eq!((status, told["why"]["instances"].as_array().map(Vec::len)), (200, Some(3)), "{told}");
    assert_eq!(told["why"]["instances"][1]["time"], "2026-01-02T00:00:00Z", "{told}");
    for (number, body) in [(0, "<p>first"), (1, "<p>second"), (2, "<p>second")] {
        let (status, shown) = get("view", "http://a-sim.com/", &format!("&n={number}"));
        assert!(status == 200 && shown.contains(body), "{number}: {shown}");
        assert_eq!(get("api/v1/page", "http://a-sim.com/", &format!("&n={number}")).0, 200);
    }
    assert_eq!(get("api/v1/page", "http://a-sim.com/", "&n=3").0, 404);
    assert_eq!(get("api/v1/url", "http://b-sim.com/", "").0, 404);
}
