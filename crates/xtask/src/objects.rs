//! The `objects` step: a repository in object storage over S3's own protocol, against a server that others wrote (moto, on loopback).
//!
//! 1. A crawl of the simulated Web is published; the command is killed while it sends, nobody sees half of it, and the same command goes on.
//! 2. Answers from the URL are those from the directory, in both languages, with and without documents.
//! 3. The server's log shows what they cost: a scan takes few requests, and a sample reads its own documents only.
//! 4. A second publication sends nothing; what has no bucket or no credentials is told.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::compiler;
use crate::process::{self, Background};
use crate::python::Python;
use crate::warc::{Crawl, Scratch, count, json_of};
use crate::workspace::Workspace;

/// Pinned, so that the step means the same every day.
const PACKAGES: [&str; 1] = ["moto[s3,server]==5.2.5"];
const IMPORTS: &str = "import boto3, moto.moto_server.werkzeug_app";
const SERVER: &str = include_str!("objects_server.py");

const URL: &str = "s3://archive/web";
const START_LIMIT: Duration = Duration::from_secs(60);
/// So many objects are put before the first publication is killed.
const PUT_BEFORE_KILL: usize = 3;

const QUERIES: [&[&str]; 4] = [
    &["select name, title, size where status = 200"],
    &["[samplingProb=0.05, samplingSeed=7] select name, content"],
    &["--sql", "select url_host_tld, count(*), min(fetch_time) from documents group by 1 order by 1"],
    &["--sql", "select url, length(text) from documents where fetch_status = 200 order by 1, 2"],
];

fn python(workspace: &Workspace) -> Result<Python> {
    let directory = workspace.target_directory()?.join("xtask/moto");
    Python::prepare(workspace, &directory, &PACKAGES, IMPORTS)
}

pub(crate) fn prepare(workspace: &Workspace) -> Result<()> {
    python(workspace).map(drop)
}

pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let target = workspace.target_directory()?;
    let python = python(workspace)?;
    compiler::build(workspace)?;
    let mattock = target.join("debug").join(format!("mattock{}", std::env::consts::EXE_SUFFIX));
    let scratch = Scratch::create(target.join("xtask/objects"))?;
    let crawl = Crawl {
        workspace,
        mattock: mattock.clone(),
        scratch: &scratch.path,
        compression: "gzip",
        suffix: ".gz",
        file_size: "200KB",
    };
    crawl.run()?;
    let (log, stall) = (scratch.path.join("requests.log"), scratch.path.join("stall"));
    let script = scratch.path.join("objects_server.py");
    std::fs::write(&script, SERVER)?;
    let mut serve = python.command(workspace);
    serve.arg(&script).arg(&log).arg(&stall).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut served = Background::start(serve)?;
    let endpoint = served.first_line(START_LIMIT)?;
    let step = Objects { workspace, mattock, dir: crawl.out(), log, stall, endpoint };
    step.publish()?;
    step.ask()?;
    step.costs()?;
    step.mistakes()
}

struct Objects<'a> {
    workspace: &'a Workspace,
    mattock: PathBuf,
    dir: PathBuf,
    log: PathBuf,
    stall: PathBuf,
    endpoint: String,
}

/// A line of the server's log.
struct Request {
    method: String,
    path: String,
    bytes: u64,
}

impl Objects<'_> {
    fn mattock(&self, command: &str, place: &Path) -> Command {
        let mut mattock = self.workspace.command(&self.mattock);
        mattock.arg(command).arg(place).stdin(Stdio::null());
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("AWS_")) {
            mattock.env_remove(name);
        }
        mattock
            .env("AWS_ENDPOINT_URL", &self.endpoint)
            .env("AWS_ACCESS_KEY_ID", "key")
            .env("AWS_SECRET_ACCESS_KEY", "secret")
            .env("AWS_REGION", "us-east-1");
        mattock
    }

    fn requests(&self) -> Result<Vec<Request>> {
        let text = std::fs::read_to_string(&self.log)?;
        let lines = text.lines().map(|line| line.split('\t').map(str::to_owned).collect::<Vec<_>>());
        let read = |words: Vec<String>| Request {
            method: words[0].clone(),
            path: words[1].clone(),
            bytes: words[4].parse().unwrap_or(0),
        };
        Ok(lines.filter(|words| words.len() == 5).map(read).collect())
    }

    /// Publishes it, at the second attempt.
    fn publish(&self) -> Result<()> {
        let puts = || -> Result<usize> {
            let requests = self.requests()?;
            Ok(requests
                .iter()
                .filter(|one| one.method == "PUT" && one.path.starts_with("/archive/web"))
                .count())
        };
        // The bucket's own making is no object.
        std::fs::write(&self.stall, PUT_BEFORE_KILL.to_string())?;
        let mut first = self.mattock("publish", &self.dir);
        first.arg(URL).stderr(Stdio::null());
        let first = Background::start(first)?;
        let start = Instant::now();
        while puts()? < PUT_BEFORE_KILL {
            ensure!(start.elapsed() < START_LIMIT, "the publication does not come to its objects");
            std::thread::sleep(Duration::from_millis(20));
        }
        drop(first);
        std::fs::remove_file(&self.stall)?;
        let mut early = self.mattock("query", Path::new(URL));
        early.arg("select name");
        let said = early.output()?;
        ensure!(said.status.code() == Some(2), "what is not published yet is asked: {said:?}");

        let mut again = self.mattock("publish", &self.dir);
        again.args([URL, "--json"]);
        let report = json_of(again)?;
        eprintln!("published, at the second attempt: {report}");
        ensure!(count(&report, "files_there")? >= PUT_BEFORE_KILL as u64, "it has not gone on: {report}");
        ensure!(count(&report, "files_sent")? > 0, "nothing was left to be sent: {report}");

        let mut third = self.mattock("publish", &self.dir);
        third.args([URL, "--json"]);
        let report: Value = json_of(third)?;
        ensure!(count(&report, "files_sent")? == 0, "it was sent twice: {report}");
        Ok(())
    }

    fn answer(&self, place: &Path, query: &[&str]) -> Result<Vec<String>> {
        let mut command = self.mattock("query", place);
        command.args(query).args(["--format", "jsonl"]);
        let text = process::output(command)?;
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        Ok(lines)
    }

    fn ask(&self) -> Result<()> {
        for query in QUERIES {
            let (here, there) = (self.answer(&self.dir, query)?, self.answer(Path::new(URL), query)?);
            ensure!(!here.is_empty() && here == there, "{query:?}: the answers differ");
        }
        eprintln!("{} queries have the same answers from either place", QUERIES.len());
        Ok(())
    }

    /// What was asked of archive files while `query` was answered: requests and bytes.
    fn cost(&self, query: &[&str]) -> Result<(u64, u64)> {
        let before = self.requests()?.len();
        self.answer(Path::new(URL), query)?;
        let requests = self.requests()?;
        let of_archives = |one: &&Request| one.method == "GET" && one.path.starts_with("/archive/web/warc/");
        let asked: Vec<_> = requests[before..].iter().filter(of_archives).collect();
        Ok((asked.len() as u64, asked.iter().map(|one| one.bytes).sum()))
    }

    fn costs(&self) -> Result<()> {
        let mut total = 0;
        for entry in std::fs::read_dir(self.dir.join("warc"))? {
            total += entry?.metadata()?.len();
        }
        let all = self.cost(&["--threads", "1", "select name, content"])?;
        let sample =
            self.cost(&["--threads", "1", "[samplingProb=0.01, samplingSeed=7] select name, content"])?;
        let none = self.cost(&["select name, status"])?;
        eprintln!(
            "archives of {total} bytes: a scan took {all:?} (requests, bytes), 1 % {sample:?}, columns of the index {none:?}"
        );
        ensure!(all.0 * 8192 <= total, "a scan asks too often");
        // Payloads of revisits are read once more, where they are.
        ensure!(all.1 <= total + total / 2, "a scan reads more than there is");
        ensure!(sample.1 * 4 <= total, "a sample reads more than its documents");
        ensure!(none == (0, 0), "a query of the index reads documents");
        Ok(())
    }

    fn mistakes(&self) -> Result<()> {
        let said = |mut command: Command| -> Result<String> {
            let output = command.arg("select name").output().context("mattock cannot be started")?;
            ensure!(!output.status.success(), "it should have failed");
            Ok(String::from_utf8_lossy(&output.stderr).into_owned())
        };
        let missing = said(self.mattock("query", Path::new("s3://no-such-bucket/web")))?;
        ensure!(missing.contains("s3://no-such-bucket/web") && missing.contains("hint:"), "{missing}");
        let mut nobody = self.mattock("query", Path::new(URL));
        nobody.env_remove("AWS_ACCESS_KEY_ID").env_remove("AWS_SECRET_ACCESS_KEY");
        // The machine's own service for credentials, if it has one, is left alone.
        nobody.env("AWS_METADATA_ENDPOINT", "http://127.0.0.1:9");
        let nobody = said(nobody)?;
        ensure!(nobody.contains("set AWS_ACCESS_KEY_ID"), "{nobody}");
        Ok(())
    }
}
