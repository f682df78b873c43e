//! A crawl that is steered while it runs, from the command line and over HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Output, Stdio};

use serde_json::Value;

use crate::process::{MATTOCK, Running, Scratch, read};
use crate::served::Served;

/// A crawl in the background.
struct Crawl {
    child: Running,
    /// Where its console is.
    address: String,
}

impl Crawl {
    /// Begins a crawl of a served world, slow enough to be steered.
    fn begin(scratch: &Scratch, served: &Served, more: &[&str]) -> Crawl {
        let mut command = scratch.command(MATTOCK);
        command.args(&served.crawl).args(["--console", "127.0.0.1:0"]).args(more);
        let mut child =
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it can be started");
        let stderr = child.stderr.take().expect("it is piped");
        let mut lines = BufReader::new(stderr).lines();
        let mut told = String::new();
        let address = loop {
            let line =
                lines.next().unwrap_or_else(|| panic!("it ended without a console: {told}")).expect("text");
            if let Some(address) = line.strip_prefix("Console: http://") {
                break address.trim_end_matches('/').to_owned();
            }
            told += &line;
        };
        // Somebody must read on, or it stands still.
        std::thread::spawn(move || lines.for_each(drop));
        Crawl { child: Running(child), address }
    }

    #[expect(clippy::disallowed_methods, reason = "a client of a real server needs a real connection")]
    fn get(&self, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address)
            .expect("sent");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("answered");
        let (head, body) = text.split_once("\r\n\r\n").expect("HTTP");
        (head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status"), body.to_owned())
    }
}

fn ctl(scratch: &Scratch, arguments: &[&str]) -> Output {
    scratch.mattock(&[&["ctl", "crawl"], arguments].concat())
}

fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

fn json(scratch: &Scratch, arguments: &[&str]) -> Value {
    let output = ctl(scratch, &[arguments, &["--json"]].concat());
    serde_json::from_str(&said(&output)).expect("one JSON object")
}

#[test]
fn a_running_crawl_does_as_it_is_told() {
    let scratch = Scratch::new("ctl-told");
    let served = Served::start(11, "2s", 20);
    let crawl = Crawl::begin(&scratch, &served, &["--partitions", "2"]);
    served.bell.recv().expect("it asks");

    assert!(said(&ctl(&scratch, &["pause", "--reason", "lunch"])).starts_with("paused"));
    let status = json(&scratch, &["status"]);
    assert_eq!(
        (status["phase"].as_str(), status["paused"][0]["reason"].as_str()),
        (Some("paused"), Some("lunch"))
    );
    let shown = said(&ctl(&scratch, &["status"]));
    assert!(shown.contains("paused      by operator: lunch"), "{shown}");

    assert!(
        said(&ctl(&scratch, &["block", "host", "www.example.com"])).contains("blocked: host www.example.com")
    );
    assert_eq!(said(&ctl(&scratch, &["block"])), "host www.example.com\n");
    assert!(read(&scratch.path().join("crawl/blocks.txt")).contains("host www.example.com"));
    assert!(said(&ctl(&scratch, &["unblock", "host", "www.example.com"])).contains("no longer blocked"));
    assert_eq!(json(&scratch, &["block"])["rules"], serde_json::json!([]));

    assert!(
        said(&ctl(&scratch, &["speed", "--pages", "5", "--mbit", "2.5"]))
            .contains("5 requests/s and 2.5 Mbit/s")
    );
    assert_eq!(said(&ctl(&scratch, &["speed"])), "5 requests/s, 2.5 Mbit/s (by operator)\n");
    assert!(said(&ctl(&scratch, &["speed", "--configured"])).contains("configuration"));

    assert_eq!(json(&scratch, &["seed", "http://www.example.com/new"])["new"], 1);
    assert!(read(&scratch.path().join("crawl/crawl.toml")).contains("http://www.example.com/new"));
    assert!(
        said(&ctl(&scratch, &["set", "politeness.delay", "1500ms"])).contains("politeness.delay = 1500ms")
    );
    let fields = said(&ctl(&scratch, &["set"]));
    assert!(
        fields.lines().any(|line| line.starts_with("politeness.delay") && line.contains("1500ms")),
        "{fields}"
    );

    let made = said(&ctl(&scratch, &["checkpoint", "--wait"]));
    assert!(made.contains("is made"), "{made}");
    assert!(said(&ctl(&scratch, &["resume"])).starts_with("resumed"));
    let log = said(&ctl(&scratch, &["log"]));
    for word in ["paused: lunch", "blocked: host www.example.com", "resumed"] {
        assert!(log.contains(word), "{word} is missing in\n{log}");
    }

    let wrong = ctl(&scratch, &["set", "politeness.delays", "1s"]);
    assert_eq!(wrong.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("politeness.delay"), "it names the nearest");

    assert_eq!(crawl.get("/healthz"), (200, r#"{"running":true,"status":"running"}"#.to_owned()));
    let (status, metrics) = crawl.get("/metrics");
    assert!(status == 200 && metrics.contains("\nmattock_crawl_pages_total "), "{metrics}");
    let (status, host) = crawl.get("/api/v1/hosts?sort=queued&limit=1");
    let host: Value = serde_json::from_str(&host).expect("JSON");
    assert!(status == 200 && host["items"][0]["queued"].as_u64() > Some(0), "{host}");
    let name = host["items"][0]["name"].as_str().expect("a name").replace("://", "%3A%2F%2F");
    let (status, host) = crawl.get(&format!("/api/v1/hosts/{name}"));
    assert!(status == 200 && host.contains("\"over_time\""), "{host}");

    assert!(said(&ctl(&scratch, &["stop", "--wait"])).contains("everything is saved"));
    assert_eq!(crawl.child.end(), Some(130));
    assert!(!scratch.is_there("crawl/control.sock"));
    let gone = ctl(&scratch, &["status"]);
    assert_eq!(gone.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&gone.stderr).contains("no crawl is running in crawl; start it with"));
}

#[test]
fn the_open_network_needs_a_token() {
    let scratch = Scratch::new("ctl-open");
    let refused = scratch.mattock(&["crawl", "--out", "x", "--console", "0.0.0.0:0", "http://localhost/"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--console-token"));
    assert!(!scratch.is_there("x"), "nothing is begun for a console that cannot be");
    let weak = scratch.mattock(&[
        "crawl",
        "--out",
        "x",
        "--console",
        "0.0.0.0:0",
        "--console-token",
        "weak",
        "http://localhost/",
    ]);
    assert_eq!(weak.status.code(), Some(2));
    let nothing = scratch.mattock(&["console", "x"]);
    assert_eq!(nothing.status.code(), Some(2));
}
