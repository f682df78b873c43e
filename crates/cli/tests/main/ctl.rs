//! A crawl that is steered while it runs, from the command line and over HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use mattock_env::Files;
use serde_json::Value;

use crate::process::{MATTOCK, Running, Scratch, read};
use crate::served::Served;

/// A crawl in the background.
struct Crawl {
    child: Running,
    /// Where its console is.
    address: String,
    token: String,
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
        let (address, token) = loop {
            let line =
                lines.next().unwrap_or_else(|| panic!("it ended without a console: {told}")).expect("text");
            if let Some(url) = line.strip_prefix("Console: http://") {
                // A token that was given is not told.
                let (address, rest) = url.split_once('/').expect("a path");
                break (address.to_owned(), rest.trim_start_matches("?token=").to_owned());
            }
            told += &line;
        };
        // Somebody must read on, or it stands still.
        std::thread::spawn(move || lines.for_each(drop));
        Crawl { child: Running(child), address, token }
    }

    fn get(&self, path: &str) -> (u16, String) {
        self.get_with(&self.token, path)
    }

    #[expect(clippy::disallowed_methods, reason = "a client of a real server needs a real connection")]
    fn get_with(&self, token: &str, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        let host = &self.address;
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
        )
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
#[expect(clippy::disallowed_methods, reason = "modes of files are looked at past our own door")]
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

    let file = scratch.path().join("crawl/state/console-token");
    assert_eq!(read(&file), crawl.token, "programs on this machine find the token");
    let mode = std::fs::symlink_metadata(&file).expect("it is there").permissions().mode();
    assert_eq!((mode & 0o777, crawl.token.len()), (0o600, 32));
    assert_eq!(crawl.get_with("0123456789abcdef0123456789abcdef", "/healthz").0, 401);
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
    assert_eq!(crawl.child.end(), Some(0));
    assert!(!scratch.is_there("crawl/control.sock") && !scratch.is_there("crawl/state/console-token"));
    let gone = ctl(&scratch, &["status"]);
    assert_eq!(gone.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&gone.stderr).contains("no crawl is running in crawl; start it with"));
}

/// The files below a directory in which a text is.
fn files_with(directory: &Path, text: &str) -> Vec<PathBuf> {
    let files = Files::real();
    let mut found = Vec::new();
    for entry in files.list(directory).expect("it can be listed") {
        let path = directory.join(&entry.name);
        match entry.is_dir {
            true => found.extend(files_with(&path, text)),
            // The socket cannot be read.
            false if files.is_special(&path).expect("it is there") => {}
            false => {
                let bytes = files.read(&path).expect("it can be read");
                found.extend(
                    bytes.windows(text.len()).any(|window| window == text.as_bytes()).then_some(path),
                );
            }
        }
    }
    found
}

#[test]
fn a_token_is_left_nowhere_but_in_its_file() {
    let scratch = Scratch::new("ctl-token");
    let served = Served::start(11, "2s", 20);
    let given = "planted-token-0123456789";
    for more in [&["--console-token", given][..], &[]] {
        let crawl = Crawl::begin(&scratch, &served, more);
        assert_eq!(crawl.token.is_empty(), !more.is_empty());
        let token = if more.is_empty() { &crawl.token } else { given };
        assert_eq!(crawl.get_with(token, "/healthz").0, 200);
        assert!(said(&ctl(&scratch, &["checkpoint", "--wait"])).contains("is made"));
        let own = scratch.path().join("crawl/state/console-token");
        let expected = if more.is_empty() { vec![own] } else { vec![] };
        assert_eq!(files_with(scratch.path(), token), expected);
        said(&ctl(&scratch, &["stop", "--wait"]));
        assert_eq!(crawl.child.end(), Some(0));
        assert_eq!(files_with(scratch.path(), token), Vec::<PathBuf>::new());
    }
}

#[test]
fn the_open_network_needs_a_token() {
    let scratch = Scratch::new("ctl-open");
    let open =
        ["crawl", "--out", "x", "--console", "0.0.0.0:0", "--console-token", "none", "http://localhost/"];
    let refused = scratch.mattock(&open);
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
