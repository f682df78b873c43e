use std::fmt::Write as _;

use mattock_env::{Random, SimFiles};

use super::*;
use crate::web::fake::FakeWeb;
use crate::{Params, Preset};

const ONE: &str = "www.one-sim.com";
const TWO: &str = "www.two-sim.com";
const SLOW: &str = "slow.three-sim.com";

/// A log written by hand: milliseconds, host, path, status.
#[derive(Default)]
struct Log {
    text: String,
}

impl Log {
    fn add(mut self, time_ms: u64, host: &str, path: &str, status: u16) -> Log {
        let server = if host == SLOW { "127.64.0.3" } else { "127.64.0.1" };
        let kind = if path == "/robots.txt" { "robots" } else { "page" };
        let nanos = time_ms * 1_000_000;
        writeln!(self.text, "{nanos}\t{server}\t{host}\t{path}\t{status}\t1000\tGET\t{kind}").unwrap();
        self
    }

    fn judge_in_slices(&self, delay_ms: Option<f64>, urls_max: u64) -> AuditReport {
        let files = Files::simulated(SimFiles::new(Random::from_seed(1)));
        let file = files.open(Path::new("/log"), OpenMode::CreateNew).unwrap();
        file.write_all_at(format!("{MAGIC}{{}}\n{}", self.text).as_bytes(), 0).unwrap();
        judge(&file, &FakeWeb, delay_ms, urls_max).unwrap()
    }

    fn judge(&self, delay_ms: Option<f64>) -> AuditReport {
        self.judge_in_slices(delay_ms, 1000)
    }
}

fn paths(examples: &[AuditedRequest]) -> Vec<&str> {
    examples.iter().map(|example| example.path.as_str()).collect()
}

#[test]
fn a_polite_crawl_is_clean() {
    let log = Log::default()
        .add(0, ONE, "/robots.txt", 200)
        .add(500, TWO, "/robots.txt", 404)
        .add(1_000, ONE, "/", 200)
        .add(1_600, TWO, "/", 200)
        .add(2_000, ONE, "/missing", 404);
    let report = log.judge(Some(1000.0));
    assert!(report.is_clean(), "{report}");
    assert_eq!((report.requests, report.robots_requests, report.hosts, report.servers), (5, 2, 2, 1));
    assert_eq!((report.min_gap_host_ms, report.min_gap_server_ms), (Some(1000.0), Some(400.0)));
    assert_eq!((report.seconds, report.bytes, report.torn_tail), (2.0, 5000, false));
    assert_eq!(report.statuses, [(200, 3), (404, 2)].into());
    let gap = report.min_gap_server.unwrap();
    assert_eq!((gap.first.host.as_str(), gap.second.path.as_str()), (TWO, "/missing"));
}

#[test]
fn one_request_per_host_has_no_gap() {
    let report = Log::default().add(0, ONE, "/robots.txt", 200).add(1, SLOW, "/robots.txt", 200).judge(None);
    assert_eq!((report.min_gap_host_ms, report.min_gap_server_ms), (None, None));
    let json = serde_json::to_value(&report).unwrap();
    assert!(json["min_gap_host_ms"].is_null());
    for key in ["requests", "min_gap_server_ms", "robots_violations", "fetched_twice"] {
        assert!(json.get(key).is_some(), "{key}");
    }
}

#[test]
fn too_small_a_gap_is_found_with_its_pair() {
    let log = Log::default()
        .add(0, ONE, "/robots.txt", 200)
        .add(100, ONE, "/a", 200)
        .add(199, ONE, "/b", 200)
        .add(300, ONE, "/c", 200);
    let report = log.judge(Some(100.0));
    assert_eq!((report.min_gap_host_ms, report.delay_violations), (Some(99.0), 1));
    assert_eq!(paths(&report.examples.delay), ["/b"]);
    let gap = report.min_gap_host.as_ref().unwrap();
    assert_eq!((gap.first.path.as_str(), gap.second.path.as_str()), ("/a", "/b"));
    assert!(!report.is_clean() && log.judge(Some(99.0)).is_clean() && log.judge(None).is_clean());
}

#[test]
fn forbidden_pages_are_found() {
    let log =
        Log::default().add(0, ONE, "/robots.txt", 200).add(9, ONE, "/private/x", 404).add(10, ONE, "/x", 200);
    let report = log.judge(None);
    assert_eq!((report.robots_violations, paths(&report.examples.robots)), (1, vec!["/private/x"]));
    assert!(!report.is_clean());
}

#[test]
fn a_page_before_robots_is_found_once_per_host() {
    let log = Log::default()
        .add(0, ONE, "/a", 200)
        .add(1, ONE, "/b", 200)
        .add(2, TWO, "/robots.txt", 200)
        .add(3, TWO, "/c", 200)
        .add(4, ONE, "/robots.txt", 200)
        .add(5, ONE, "/d", 200);
    let report = log.judge(None);
    assert_eq!((report.before_robots, paths(&report.examples.before_robots)), (1, vec!["/a"]));
}

#[test]
fn a_url_fetched_twice_is_found_in_one_pass_or_in_many() {
    let mut log = Log::default().add(0, ONE, "/robots.txt", 200).add(1, TWO, "/robots.txt", 200);
    for round in 0..3 {
        for page in 0..7 {
            // Page 0 succeeds every time, page 1 at the second attempt, page 2 is asked for again in vain.
            let status = match (page, round) {
                (0, _) | (_, 0) if page != 1 => 200,
                (1, 1) => 200,
                (2, _) => 304,
                _ => 503,
            };
            log = log.add(10 + round * 10 + page, ONE, &format!("/{page}"), status);
        }
    }
    // The same path elsewhere is another URL; robots.txt may be fetched again.
    let log = log.add(90, TWO, "/0", 200).add(91, ONE, "/robots.txt", 200).add(92, TWO, "/0", 200);
    for urls_max in [1000, 10, 3, 1] {
        let report = log.judge_in_slices(None, urls_max);
        assert_eq!(report.fetched_twice, 2, "{report}");
        let found: Vec<_> =
            report.examples.fetched_twice.iter().map(|found| (found.time_s, found.host.as_str())).collect();
        assert_eq!(found, [(0.02, ONE), (0.092, TWO)]);
    }
}

#[test]
fn a_crawl_delay_binds_pages_but_not_robots() {
    let log = Log::default()
        .add(0, SLOW, "/robots.txt", 302)
        .add(100, SLOW, "/robots.txt", 200)
        .add(2_100, SLOW, "/a", 200)
        .add(4_099, SLOW, "/b", 200);
    let report = log.judge(None);
    assert_eq!((report.crawl_delay_violations, paths(&report.examples.crawl_delay)), (1, vec!["/b"]));
}

#[test]
fn bad_lines_are_reported_and_a_torn_tail_is_tolerated() {
    let mut log = Log::default().add(5, ONE, "/robots.txt", 200);
    log.text.push_str("what?\n");
    let mut log = log.add(7, ONE, "/a", 200).add(6, ONE, "/b", 200);
    log.text.push_str("8000000\t127.64.0.1\t-\t-\t400\t100\tGET\tpage\n9000000\t127.64");
    let report = log.judge(None);
    assert!(report.torn_tail);
    assert_eq!((report.requests, report.hosts, report.malformed_lines), (3, 1, 2));
    let lines: Vec<_> = report.examples.malformed.iter().map(|malformed| malformed.line).collect();
    assert_eq!(lines, [3, 5]);
    let text = report.to_string();
    assert!(text.contains("line 3: the time is not a number") && text.contains("cut off"), "{text}");
}

#[test]
fn examples_are_few() {
    let log = (0..30).fold(Log::default(), |log, page| log.add(page, ONE, &format!("/private/{page}"), 200));
    let report = log.judge(None);
    assert_eq!((report.robots_violations, report.examples.robots.len()), (30, EXAMPLES_MAX));
    assert!(report.to_string().contains("… and 20 more"));
}

#[test]
fn what_is_not_a_log_is_refused() {
    let files = Files::simulated(SimFiles::new(Random::from_seed(1)));
    let judged = |text: &str| {
        let path = Path::new("/file");
        let file = files.open(path, OpenMode::CreateOrTruncate).unwrap();
        file.write_all_at(text.as_bytes(), 0).unwrap();
        audit(&files, path, &AuditOptions::default())
    };
    assert!(matches!(judged(""), Err(AuditError::NotALog { .. })));
    assert!(matches!(judged("GET / 200\n"), Err(AuditError::NotALog { .. })));
    assert!(matches!(judged(&format!("{MAGIC}{{\"seed\":1\n")), Err(AuditError::Header { .. })));
    let header = AuditHeader { seed: 1, delay_ms: Some(50), params: Params::preset(Preset::Tiny) };
    let json = serde_json::to_string(&header).unwrap();
    let report = judged(&format!("{MAGIC}{json}\n")).unwrap();
    assert_eq!((report.requests, report.delay_ms), (0, Some(50.0)));
    let missing = audit(&files, Path::new("/none"), &AuditOptions::default()).unwrap_err();
    assert!(missing.to_string().contains("/none"), "{missing}");
}
