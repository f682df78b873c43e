//! `mattock fetch`: what it shows of a page of the simulated Web, and what it says to mistakes.

use serde_json::Value;

use crate::process::{MATTOCK, Scratch, read};
use crate::served::Served;

#[test]
fn every_step_is_shown() {
    let scratch = Scratch::new("fetch");
    let served = Served::start(7, "0s", 0);
    let words = [&["fetch", "--body", "page.html"][..], &served.reached()].concat();
    let output = scratch.mattock(&words);
    let shown = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{shown}");
    let mut rest = shown.as_str();
    for step in [
        "URL          http://",
        "\naddresses    127.",
        "not public, but allowed",
        "\nrobots.txt   http://",
        "\nverdict      allowed",
        "\nconnection   127.",
        "\ntime         DNS ",
        ", connect ",
        ", first byte ",
        ", total ",
        "\n> GET / HTTP/1.1\n> Host: ",
        "\n> User-Agent: mattock/",
        "\n< HTTP/1.1 200 OK\n< ",
        "\nbody         ",
        "\noutcome      200: final",
        "\ntype         text/html; charset=utf-8, read as UTF-8",
        "\ntitle        ",
        "\nlinks        ",
        "\n             anchor ",
        "more (--links shows all)",
    ] {
        let (_, after) = rest.split_once(step).unwrap_or_else(|| panic!("no {step:?} in\n{shown}"));
        rest = after;
    }
    assert!(read(&scratch.path().join("page.html")).contains("<title>"), "the body is saved");

    let all = scratch.mattock(&[&["fetch", "--links"][..], &served.reached()].concat());
    let all = String::from_utf8(all.stdout).unwrap();
    assert!(all.lines().count() > shown.lines().count() && !all.contains("more (--links"), "{all}");
}

#[test]
fn programs_get_one_object() {
    let scratch = Scratch::new("fetch_json");
    let served = Served::start(7, "0s", 0);
    let own = ["fetch", "--json", "--user-agent", "Other/1 (x)", "--header", "Accept-Language: de"];
    let output = scratch.mattock(&[&own[..], &served.reached()].concat());
    assert!(output.stderr.is_empty(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["fetched"], true);
    assert_eq!(report["addresses"]["found"][0]["permitted"], true);
    assert_eq!(report["robots"]["allowed"], true);
    let fetch = &report["fetch"];
    assert_eq!(fetch["outcome"]["name"], "200");
    let request: Vec<&str> =
        fetch["request"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    assert!(
        request.contains(&"User-Agent: Other/1 (x)") && request.contains(&"Accept-Language: de"),
        "{text}"
    );
    assert!(fetch["timings_ms"]["connect"].is_number() && fetch["timings_ms"]["tls"].is_null());
    let (found, listed) = (&report["page"]["links_found"], report["page"]["links"].as_array().unwrap());
    assert_eq!(found.as_u64(), Some(listed.len() as u64), "programs get all links");
    assert!(listed.len() > 10);
}

#[test]
fn what_a_crawl_would_not_ask_for_is_not_asked_for() {
    let scratch = Scratch::new("fetch_forbidden");
    // No address, no name server, no packet: the guard decides before.
    scratch.snapshot_without_times("fetch_of_a_private_address", &["fetch", "http://10.0.0.1/"]);
    scratch.snapshot_without_times("fetch_of_a_mail_server", &["fetch", "http://192.0.2.1:25/"]);
    let words = ["fetch", "--no-robots", "http://192.0.2.1:25/"];
    scratch.snapshot_without_times("fetch_all_the_same", &words);
}

#[test]
fn mistakes() {
    let scratch = Scratch::new("fetch_mistakes");
    const URL: &str = "http://example.com/";
    scratch.snapshot("fetch_nothing", &["fetch"]);
    scratch.snapshot("fetch_without_scheme", &["fetch", "example.com"]);
    scratch.snapshot("fetch_with_half_a_header", &["fetch", "--header", "Accept", URL]);
    scratch.snapshot("fetch_with_a_header_of_ours", &["fetch", "--header", "Host: b", URL]);
    scratch.snapshot("fetch_through_no_proxy", &["fetch", "--proxy", "socks5://localhost:1080", URL]);
    scratch.snapshot("fetch_as_two_lines", &["fetch", "--user-agent", "a\nb", URL]);
    scratch.snapshot("fetch_from_a_name", &["fetch", "--allow-address", "localhost", URL]);
    scratch.write("ours.toml", "[tls]\nextra_roots = [\"ours.pem\"]\n");
    scratch.snapshot("fetch_without_authority", &["fetch", "--config", "ours.toml", URL]);
    scratch.write("ours.pem", "Dear authority,\n");
    scratch.snapshot("fetch_with_no_authority", &["fetch", "--config", "ours.toml", URL]);
}

#[test]
fn a_reader_that_has_had_enough_is_no_mistake() {
    let scratch = Scratch::new("fetch_closed_pipe");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output =
        scratch.command(MATTOCK).args(["fetch", "http://10.0.0.1/"]).stdout(writer).output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}
