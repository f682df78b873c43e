//! The `console` step: the operator's desk in a real browser, and its REST interface under a fuzzer.
//!
//! 1. Chromium, headless, through chromedriver: a crawl of the simulated Web is watched, paused, blocked from a host (which the Web's own log
//!    shows), resumed and stopped; hostile pages are looked at, and run and load nothing. Pictures of every page are kept.
//! 2. schemathesis, with the token, against the OpenAPI description of a running crawl: no server error, and answers as described.
//! 3. promtool, if it is there, reads the metrics.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::compiler;
use crate::process::{self, Background};
use crate::workspace::Workspace;

/// Pinned, so that the step means the same every day.
const FUZZER: &str = "schemathesis==4.32.5";
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,negative_data_rejection";

const START_LIMIT: Duration = Duration::from_secs(60);

pub(crate) fn prepare(workspace: &Workspace) -> Result<()> {
    browser_is_there(workspace)?;
    fuzzer(workspace).map(drop)
}

pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let target = workspace.target_directory()?;
    browser_is_there(workspace)?;
    let fuzzer = fuzzer(workspace)?;
    compiler::build(workspace)?;
    let mattock = target.join("debug").join(format!("mattock{}", std::env::consts::EXE_SUFFIX));
    let scratch = target.join("xtask/console");
    let _ = std::fs::remove_dir_all(&scratch);
    std::fs::create_dir_all(&scratch).with_context(|| format!("cannot create {}", scratch.display()))?;
    fuzz(workspace, &mattock, &fuzzer, &scratch)?;
    let shots = target.join("console-shots");
    let _ = std::fs::remove_dir_all(&shots);
    let mut browser = workspace.command("python3");
    browser
        .arg(workspace.root().join("crates/xtask/console/browser.py"))
        .arg(&mattock)
        .arg(&scratch)
        .arg(&shots);
    // No bytecode beside the sources.
    browser.env("PYTHONDONTWRITEBYTECODE", "1");
    process::run(browser).with_context(|| format!("pictures are in {}", shots.display()))?;
    let _ = std::fs::remove_dir_all(&scratch);
    Ok(())
}

/// Chromium and its driver, installed if they are missing and that can be done.
fn browser_is_there(workspace: &Workspace) -> Result<()> {
    let there = || {
        let mut driver = workspace.command("chromedriver");
        driver.arg("--version");
        let mut chromium = workspace.command("chromium");
        chromium.arg("--version");
        process::works(driver) && process::works(chromium)
    };
    if !there() {
        process::install(workspace, &["chromium", "chromium-driver"]);
    }
    ensure!(
        there(),
        "this step needs chromium and chromedriver (Debian: apt install chromium chromium-driver)"
    );
    Ok(())
}

/// Sets schemathesis up, or takes that of an earlier run.
fn fuzzer(workspace: &Workspace) -> Result<PathBuf> {
    let directory = &workspace.target_directory()?.join("xtask/schemathesis");
    let (stamp, program) = (directory.join("version.txt"), directory.join("venv/bin/schemathesis"));
    let mut version = workspace.command(&program);
    version.arg("--version");
    if std::fs::read_to_string(&stamp).is_ok_and(|text| text == FUZZER) && process::works(version) {
        return Ok(program);
    }
    let _ = std::fs::remove_dir_all(directory);
    std::fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    let mut venv = workspace.command("python3");
    venv.args(["-m", "venv"]).arg(directory.join("venv"));
    process::run(venv).context("this step needs python3 with venv (Debian: apt install python3-venv)")?;
    let mut install = workspace.command(directory.join("venv/bin/python"));
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", FUZZER]);
    process::run(install).context("pip could not install schemathesis: is a package index in reach?")?;
    std::fs::write(&stamp, FUZZER)?;
    Ok(program)
}

/// Fuzzes the console of a crawl that runs.
fn fuzz(workspace: &Workspace, mattock: &Path, fuzzer: &Path, scratch: &Path) -> Result<()> {
    let command = |arguments: &[&str]| {
        let mut command: Command = workspace.command(mattock);
        command.args(arguments).stdin(Stdio::null()).stderr(Stdio::null());
        command
    };
    let mut serve = command(&["simweb", "serve", "--preset", "small", "--seed", "3"]);
    serve.stdout(Stdio::piped());
    let mut served = Background::start(serve)?;
    let line = served.first_line(START_LIMIT)?;
    let directory = scratch.join("fuzzed");
    let log = scratch.join("fuzzed.stderr");
    // Stopping is left out below: everything else may be done to it.
    let mut crawl = workspace.command("sh");
    let line = line.replacen("mattock", &mattock.display().to_string(), 1);
    crawl.arg("-c").arg(format!("exec {line} --out \"$0\" --delay 2s --console 127.0.0.1:0")).arg(&directory);
    crawl.stdin(Stdio::null()).stdout(Stdio::null()).stderr(std::fs::File::create(&log)?);
    let mut crawl = Background::start(crawl)?;
    let (address, token) = address(&log, &mut crawl)?;
    let authorization = format!("Authorization: Bearer {token}");
    let mut run = workspace.command(fuzzer);
    run.arg("--config-file").arg(workspace.root().join("crates/xtask/console/schemathesis.toml"));
    run.args(["run", &format!("{address}api/v1/openapi.json"), "--url", &address, "--checks", CHECKS]);
    // It leaves a directory where it runs.
    run.current_dir(scratch);
    run.args(["--exclude-path", "/api/v1/stop", "--exclude-path", "/api/v1/live"]);
    run.args([
        "--header",
        "X-Mattock: 1",
        "--header",
        &authorization,
        "--max-examples",
        "40",
        "--seed",
        "1",
        "--generation-database",
        "none",
    ]);
    process::run(run).context("schemathesis has found something")?;
    let mut metrics = workspace.command("sh");
    metrics.args([
        "-c",
        "command -v promtool >/dev/null || exit 0; curl -sf -H \"$1\" \"$0metrics\" | promtool check metrics",
        &address,
        &authorization,
    ]);
    process::run(metrics)
}

/// Where the console of a crawl is, and its token, as it says on stderr.
fn address(log: &Path, crawl: &mut Background) -> Result<(String, String)> {
    for _ in 0..600 {
        let text = std::fs::read_to_string(log).unwrap_or_default();
        let mut words = text.split_whitespace().filter(|word| word.starts_with("http://127.0.0.1:"));
        if let Some((address, token)) = words.find_map(|word| word.split_once("?token=")) {
            return Ok((address.to_owned(), token.to_owned()));
        }
        if let Ok(status) = crawl.wait(Duration::from_millis(100)) {
            anyhow::bail!("the crawl ended at once with {status}: {}", process::tail(&text));
        }
    }
    anyhow::bail!("the crawl does not say where its console is")
}
