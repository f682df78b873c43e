//! The crawl's numbers for Prometheus, in its text format.
//!
//! One table says what there is: name, type, meaning, and where it stands in the snapshot. What is unknown is left out. Labels are bounded:
//! outcomes, stages and alerts, never a host or a URL.

use std::fmt::Write as _;

use serde_json::Value;

use crate::answer::Answer;
use crate::desk::Desk;

/// The type of the text.
pub(crate) const KIND: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A number: name, type, meaning, place in the snapshot, and what it is multiplied by.
struct Metric(&'static str, &'static str, &'static str, &'static str, f64);

const COUNTER: &str = "counter";
const GAUGE: &str = "gauge";

const METRICS: &[Metric] = &[
    Metric(
        "mattock_crawl_pages_total",
        COUNTER,
        "Pages fetched (status 200), in all runs.",
        "/now/pages",
        1.0,
    ),
    Metric("mattock_crawl_received_bytes_total", COUNTER, "Bytes received, in all runs.", "/now/bytes", 1.0),
    Metric(
        "mattock_crawl_errors_total",
        COUNTER,
        "URLs that ended in a failure or a status of 400 or more, in all runs.",
        "/now/errors",
        1.0,
    ),
    Metric(
        "mattock_crawl_requests_total",
        COUNTER,
        "Requests that came back in this run.",
        "/now/requests",
        1.0,
    ),
    Metric("mattock_crawl_urls_seen", GAUGE, "URLs seen.", "/now/seen", 1.0),
    Metric("mattock_crawl_urls_queued", GAUGE, "URLs that wait.", "/now/queued", 1.0),
    Metric("mattock_crawl_visits_in_flight", GAUGE, "Visits and look-ups under way.", "/now/in_flight", 1.0),
    Metric(
        "mattock_crawl_lookups_in_flight",
        GAUGE,
        "Look-ups of addresses under way.",
        "/now/locating",
        1.0,
    ),
    Metric(
        "mattock_crawl_connections_max",
        GAUGE,
        "Connections that there may be at once.",
        "/connections",
        1.0,
    ),
    Metric("mattock_crawl_hosts", GAUGE, "Hosts on the workbench.", "/now/hosts", 1.0),
    Metric("mattock_crawl_partitions", GAUGE, "Partitions.", "/partitions", 1.0),
    Metric("mattock_crawl_uptime_seconds", GAUGE, "How long this run takes already.", "/uptime_s", 1.0),
    Metric(
        "mattock_crawl_pages_per_second",
        GAUGE,
        "Pages a second over the last ten seconds.",
        "/rates/pages_per_s_10",
        1.0,
    ),
    Metric(
        "mattock_crawl_requests_per_second",
        GAUGE,
        "Requests a second over the last ten seconds.",
        "/rates/requests_per_s_10",
        1.0,
    ),
    Metric(
        "mattock_crawl_received_bytes_per_second",
        GAUGE,
        "Bytes received a second over the last ten seconds.",
        "/rates/bytes_per_s_10",
        1.0,
    ),
    Metric(
        "mattock_crawl_speed_limit_pages_per_second",
        GAUGE,
        "The speed limit in force, in requests.",
        "/speed/limit/pages_per_s",
        1.0,
    ),
    Metric(
        "mattock_crawl_speed_limit_bits_per_second",
        GAUGE,
        "The speed limit in force, in bits received.",
        "/speed/limit/bits_per_s",
        1.0,
    ),
    Metric(
        "mattock_crawl_memory_resident_bytes",
        GAUGE,
        "Resident memory of the process.",
        "/memory/resident_bytes",
        1.0,
    ),
    Metric(
        "mattock_crawl_memory_limit_bytes",
        GAUGE,
        "With more memory than this there is an alert.",
        "/memory/limit_bytes",
        1.0,
    ),
    Metric("mattock_crawl_disk_free_bytes", GAUGE, "Bytes free on the disk.", "/disk/free_bytes", 1.0),
    Metric(
        "mattock_crawl_disk_reserve_bytes",
        GAUGE,
        "With less free bytes than this the crawl pauses.",
        "/disk/reserve_bytes",
        1.0,
    ),
    Metric(
        "mattock_crawl_disk_left_seconds",
        GAUGE,
        "Time until the reserve is reached, if it goes on like this.",
        "/disk/seconds_left",
        1.0,
    ),
    Metric(
        "mattock_crawl_checkpoint_number",
        GAUGE,
        "The number of the last checkpoint.",
        "/checkpoint/number",
        1.0,
    ),
    Metric(
        "mattock_crawl_checkpoint_timestamp_seconds",
        GAUGE,
        "When it was made.",
        "/checkpoint/unix_micros",
        1e-6,
    ),
    Metric(
        "mattock_crawl_checkpoint_duration_seconds",
        GAUGE,
        "How long it took.",
        "/checkpoint/seconds",
        1.0,
    ),
];

const PHASES: [&str; 7] = ["starting", "running", "paused", "recovering", "stopping", "ended", "stopped"];
const ALERTS: [&str; 5] = ["disk", "stalled", "dns", "errors", "memory"];

pub(crate) fn answer(desk: &Desk) -> Answer {
    Answer::new(KIND, text(&desk.snapshot()))
}

fn text(snapshot: &Value) -> String {
    let mut out = String::new();
    for Metric(name, kind, about, place, factor) in METRICS {
        if let Some(value) = snapshot.pointer(place).and_then(Value::as_f64) {
            head(&mut out, name, kind, about);
            let _ = writeln!(out, "{name} {}", value * factor);
        }
    }
    let maps = [
        (
            "mattock_crawl_outcomes_total",
            COUNTER,
            "What became of URLs, in all runs.",
            "outcome",
            "/outcomes",
        ),
        (
            "mattock_crawl_urls_waiting",
            GAUGE,
            "URLs that wait, by the stage that they wait for.",
            "stage",
            "/now/waiting",
        ),
    ];
    for (name, kind, about, label, place) in maps {
        if let Some(map) = snapshot.pointer(place).and_then(Value::as_object).filter(|map| !map.is_empty()) {
            head(&mut out, name, kind, about);
            for (key, value) in map.iter().filter_map(|(key, value)| Some((key, number(value)?))) {
                let _ = writeln!(out, "{name}{{{label}=\"{}\"}} {value}", escaped(key));
            }
        }
    }
    let phase = snapshot["phase"].as_str().unwrap_or_default();
    head(&mut out, "mattock_crawl_phase", GAUGE, "What the crawl is doing: 1 for the phase that it is in.");
    for known in PHASES {
        let _ = writeln!(out, "mattock_crawl_phase{{phase=\"{known}\"}} {}", u8::from(known == phase));
    }
    let raised: Vec<&str> = snapshot["alerts"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|alert| alert["kind"].as_str())
        .collect();
    head(&mut out, "mattock_crawl_alert", GAUGE, "What is wrong now: 1 for every alert that is raised.");
    for known in ALERTS {
        let _ =
            writeln!(out, "mattock_crawl_alert{{kind=\"{known}\"}} {}", u8::from(raised.contains(&known)));
    }
    head(&mut out, "mattock_console_info", GAUGE, "The version of the program.");
    let version = escaped(snapshot["version"].as_str().unwrap_or_default());
    let _ = writeln!(out, "mattock_console_info{{version=\"{version}\"}} 1");
    out
}

/// A number; of a list, its sum.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Array(list) => Some(list.iter().filter_map(Value::as_f64).sum()),
        other => other.as_f64(),
    }
}

fn head(out: &mut String, name: &str, kind: &str, about: &str) {
    let _ = writeln!(out, "# HELP {name} {about}\n# TYPE {name} {kind}");
}

fn escaped(label: &str) -> String {
    label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::BTreeSet;

    #[test]
    fn the_text_is_what_prometheus_reads() {
        let snapshot = json!({
            "now": { "pages": 7, "bytes": 1_000_000_000_000u64, "waiting": { "seen": 3, "ready": [1, 2] } },
            "phase": "running", "outcomes": { "200": 7, "a\"b\\c\nd": 1 },
            "checkpoint": { "unix_micros": 1_500_000 }, "alerts": [{ "kind": "disk" }], "version": "1",
        });
        let text = text(&snapshot);
        let mut described = BTreeSet::new();
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                assert!(
                    described.insert(rest.split(' ').next().unwrap().to_owned()),
                    "{line} is there twice"
                );
            } else if !line.starts_with("# TYPE ") {
                let name: String =
                    line.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
                assert!(described.contains(&name), "{line}");
                assert!(line.rsplit(' ').next().unwrap().parse::<f64>().is_ok(), "{line}");
            }
        }
        for line in [
            "mattock_crawl_pages_total 7",
            "mattock_crawl_received_bytes_total 1000000000000",
            "mattock_crawl_outcomes_total{outcome=\"200\"} 7",
            "mattock_crawl_outcomes_total{outcome=\"a\\\"b\\\\c\\nd\"} 1",
            "mattock_crawl_urls_waiting{stage=\"seen\"} 3",
            "mattock_crawl_urls_waiting{stage=\"ready\"} 3",
            "mattock_crawl_phase{phase=\"running\"} 1",
            "mattock_crawl_phase{phase=\"paused\"} 0",
            "mattock_crawl_alert{kind=\"disk\"} 1",
            "mattock_crawl_checkpoint_timestamp_seconds 1.5",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is missing in\n{text}");
        }
        assert!(!text.contains("mattock_crawl_disk_free_bytes"), "what is unknown is left out");
    }

    #[test]
    fn names_end_in_their_units() {
        for Metric(name, kind, about, ..) in METRICS {
            assert!(name.starts_with("mattock_crawl_") && about.ends_with('.'), "{name}");
            assert_eq!(name.ends_with("_total"), *kind == COUNTER, "{name}");
        }
    }
}
