//! Repositories on Web servers: such that list nothing, and such that lead elsewhere. And stores that do not answer.

mod server;

use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use mattock_env::Files;

use crate::process::{MATTOCK, Running, Scratch};
use crate::published::{done, foreign, rows};
use server::FileServer;

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A publication in `published`, with a kept column, and its repository in `repository`.
fn publication(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    foreign(&scratch, "one.warc", "one");
    foreign(&scratch, "two.warc", "two");
    done(scratch.mattock(&["import", "repository", "one.warc", "two.warc", "--copy"]));
    done(scratch.mattock(&["materialize", "repository", "title"]));
    done(scratch.mattock(&["publish", "repository", "published"]));
    scratch
}

const QUESTIONS: [&[&str]; 5] = [
    &["query", "--quiet", "select name, title, body"],
    &["query", "--quiet", "--sql", "select count(*), max(length(text)) from documents"],
    &["get", "http://foreign.example/one"],
    &["history", "http://foreign.example/two"],
    &["check"],
];

/// The answers to these questions, without what differs in any case: where it was asked.
fn answers(scratch: &Scratch, place: &str) -> Vec<Vec<String>> {
    let ask = |question: &&[&str]| {
        let arguments = [&question[..1], &[place], &question[1..]].concat();
        let rows = rows(scratch, &arguments).into_iter().map(|row| row.replace(place, "PLACE"));
        // What nobody can list is not looked at.
        rows.filter(|row| !row.contains("kept columns")).collect()
    };
    QUESTIONS.iter().map(ask).collect()
}

#[test]
fn a_server_that_only_serves_files_is_asked() {
    let scratch = publication("far_files");
    let server = FileServer::start(scratch.path().join("published"));
    assert_eq!(answers(&scratch, "published"), answers(&scratch, &server.url));
    let asked = server.asked();
    assert!(asked.iter().any(|line| line.starts_with("PROPFIND /index")), "{asked:?}");
    // Nobody sends parts of what cannot be listed.
    let url = format!("file://{}/again", scratch.path().display());
    let refused = scratch.mattock(&["publish", &server.url, &url]);
    assert!(!refused.status.success() && said(&refused).contains("does not tell which files"), "{refused:?}");
    // A part that is missing is told by whoever needs it.
    let index = scratch.path().join("published/index");
    for entry in Files::real().list(&index).unwrap() {
        if entry.name.starts_with("part-") {
            Files::real().remove_file(&index.join(entry.name)).unwrap();
        }
    }
    let missing = scratch.mattock(&["query", &server.url, "select name"]);
    assert!(!missing.status.success() && said(&missing).contains("part-000001"), "{}", said(&missing));
}

#[test]
fn a_publication_sends_nobody_to_another_server() {
    let scratch = publication("far_redirects");
    // What is there is even the right thing.
    let internal = FileServer::start(scratch.path().join("published"));
    let server = FileServer::redirecting(scratch.path().join("published"), "/imported/", &internal.url);
    let output = scratch.mattock(&["query", &server.url, "select name, body"]);
    assert!(said(&output).contains("sends readers on to http://127.0.0.1:"), "{}", said(&output));
    let output = scratch.mattock(&["get", &server.url, "http://foreign.example/one"]);
    assert!(!output.status.success() && said(&output).contains("another server"), "{}", said(&output));
    let everything = FileServer::redirecting(scratch.path().join("published"), "/", &internal.url);
    for arguments in [&["query", &everything.url, "select name"][..], &["check", &everything.url]] {
        let output = scratch.mattock(arguments);
        assert!(!output.status.success(), "{arguments:?}");
    }
    assert_eq!(internal.asked(), [""; 0]);
    assert!(!everything.asked().is_empty());
}

#[test]
fn trust_in_a_repository_is_none_in_servers_of_this_network() {
    let scratch = Scratch::new("far_trusted");
    foreign(&scratch, "archive.warc", "one");
    let server = FileServer::start(scratch.path().to_owned());
    let own = format!("{}/archive.warc", server.url);
    // Whoever names the server may read what is there, later too.
    done(scratch.mattock(&["import", "repository", &own]));
    let get = ["get", "repository", "http://foreign.example/one"];
    assert!(done(scratch.mattock(&get)).contains("Foreign one"));
    // What was trusted only, as archives are in directories of earlier versions, is not named.
    let path = scratch.path().join("repository/TRUST");
    let marks = crate::process::read(&path);
    let trusted: Vec<&str> = marks.lines().filter(|line| !line.starts_with("archive.server ")).collect();
    assert!(trusted.len() + 1 == marks.lines().count() && trusted.len() > 1, "{marks}");
    scratch.write("repository/TRUST", &(trusted.join("\n") + "\n"));
    let before = server.asked();
    let refused = scratch.mattock(&get);
    assert!(said(&refused).contains("no public server") && server.asked() == before, "{}", said(&refused));
    done(scratch.mattock(&["import", "repository", &own]));
    assert!(done(scratch.mattock(&get)).contains("Foreign one"));
    let before = server.asked();
    // Somebody else who trusts that has not named it.
    for place in ["repository", &*format!("file://{}/repository", scratch.path().display())] {
        for arguments in [
            &["get", place, "http://foreign.example/one"][..],
            &["query", place, "select name, body"],
            &["check", place],
            &["export", place, "--format", "warc", "--output", "out.warc.gz"],
        ] {
            let mut stranger = scratch.command(MATTOCK);
            stranger.env("XDG_CONFIG_HOME", scratch.path().join(".stranger"));
            let output = stranger.args(arguments).arg("--trust").output().unwrap();
            let shown = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
            assert!(shown.contains("no public server"), "{arguments:?}: {shown}");
        }
    }
    assert_eq!(server.asked(), before);
}

#[test]
fn a_proxy_is_asked_for_no_server_of_its_network() {
    for (name, url, is_asked) in [
        ("far_proxied_local", "http://intranet/x.warc", false),
        ("far_proxied_address", "http://169.254.169.254/x.warc", false),
        ("far_proxied", "http://foreign.example/x.warc", true),
    ] {
        let scratch = Scratch::new(name);
        foreign(&scratch, "one.warc", "one");
        done(scratch.mattock(&["import", "repository", "one.warc", "--copy"]));
        crate::trust::forge(&scratch, url);
        let proxy = FileServer::start(scratch.path().join("nothing"));
        let mut trusting = scratch.command(MATTOCK);
        trusting.env("http_proxy", &proxy.url).env_remove("no_proxy").env_remove("NO_PROXY");
        trusting.args(["get", "repository", "http://foreign.example/one", "--trust"]);
        let output = trusting.output().unwrap();
        let asked = proxy.asked();
        assert_eq!(asked.iter().any(|line| line.contains(url)), is_asked, "{asked:?} {output:?}");
        assert_eq!(said(&output).contains("no public server"), !is_asked, "{output:?}");
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a real client needs a real socket")]
fn a_publication_that_is_told_to_stop_ends() {
    let scratch = publication("far_stopped");
    // It takes connections, and says nothing.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut publish = scratch.command(MATTOCK);
    publish
        .args(["publish", "repository", "s3://bucket/web"])
        .env("AWS_ENDPOINT_URL", format!("http://{}", listener.local_addr().unwrap()))
        .env("AWS_ACCESS_KEY_ID", "key")
        .env("AWS_SECRET_ACCESS_KEY", "secret")
        .env("AWS_REGION", "here")
        .env("NO_PROXY", "127.0.0.1")
        .stderr(Stdio::null());
    let child = Running(publish.spawn().unwrap());
    let _asked = listener.accept().unwrap();
    let kill = format!("kill -TERM {}", child.0.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    assert_eq!(child.end(), Some(130));
}

/// Runs a command that may not take long.
fn within_20_s(scratch: &Scratch, arguments: &[&str]) -> Output {
    let mut timeout = scratch.command("timeout");
    let output = timeout.args(["--kill-after=1", "20", MATTOCK]).args(arguments).output();
    let output = output.expect("the system has it");
    assert!(matches!(output.status.code(), Some(0..=2)), "{arguments:?} hangs: {}", said(&output));
    output
}

#[test]
fn no_command_waits_for_a_pipe_at_a_url() {
    let scratch = publication("far_pipes");
    let pipe = |path: &Path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    let (url, other) = (format!("file://{}/published", scratch.path().display()), "repository");
    for place in
        ["index/INDEX", "index", "columns/title-1.3", "columns", "analyzers", "imported/one.warc", "TRUST"]
    {
        let (path, aside) = (scratch.path().join("published").join(place), scratch.path().join("aside"));
        let is_there = Files::real().entry(&path).unwrap().is_some();
        if is_there {
            Files::real().rename(&path, &aside).unwrap();
        }
        pipe(&path);
        for arguments in [
            &["query", &url, "select name, title, body"][..],
            &["get", &url, "http://foreign.example/one"],
            &["check", &url],
            &["export", &url, "--format", "warc", "--output", "out.warc.gz"],
            &["materialize", &url, "title"],
            &["import", &url, "one.warc", "--copy"],
            &["publish", other, &url],
            &["publish", &url, "copy"],
            &["query", &url, "select name", "--trust"],
        ] {
            within_20_s(&scratch, arguments);
        }
        Files::real().remove_file(&path).unwrap();
        if is_there {
            Files::real().rename(&aside, &path).unwrap();
        }
    }
    // An archive elsewhere too, by its URL and by its path.
    pipe(&scratch.path().join("pipe.warc"));
    let by_url = format!("file://{}/pipe.warc", scratch.path().display());
    for path in ["pipe.warc", &by_url] {
        let output = within_20_s(&scratch, &["import", "repository", path]);
        assert_eq!(output.status.code(), Some(1), "{path}: {}", said(&output));
        assert!(said(&output).contains("no regular file"), "{}", said(&output));
    }
}
