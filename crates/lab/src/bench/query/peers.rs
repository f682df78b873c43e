//! FastWARC and DuckDB, in a Python environment that is made once and kept.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use mattock_env::Env;
use serde::Deserialize;

use super::QueryBenchError;

const SCRIPT: &str = include_str!("../../../bench/peers.py");
const PACKAGES: [&str; 3] = ["fastwarc==1.1.0", "duckdb", "pytz"];

/// Runs the peers.
pub(super) struct Peers {
    python: PathBuf,
    script: PathBuf,
}

/// What reading all responses took.
#[derive(Clone, Copy, Deserialize)]
pub(super) struct Read {
    pub(super) records: u64,
    pub(super) cpu_s: f64,
    pub(super) wall_s: f64,
}

#[derive(Deserialize)]
struct Answered {
    rows: u64,
    seconds: f64,
}

#[derive(Deserialize)]
struct Answers {
    queries: Vec<Answered>,
}

impl Peers {
    /// Sets them up in `directory`, or takes what is there.
    pub(super) fn prepare(env: &Env, directory: &Path) -> Result<Peers, QueryBenchError> {
        env.files.create_dir_all(directory)?;
        let python = directory.join("venv/bin/python");
        let script = directory.join("peers.py");
        env.files.write_atomic(&script, SCRIPT.as_bytes())?;
        let works = |python: &Path| {
            let mut import = Command::new(python);
            import.args(["-c", "import fastwarc.warc, duckdb, pytz"]).stderr(Stdio::null());
            import.status().is_ok_and(|status| status.success())
        };
        if !works(&python) {
            let mut venv = Command::new("python3");
            run(venv.args(["-m", "venv"]).arg(directory.join("venv")))?;
            let mut install = Command::new(&python);
            run(install
                .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
                .args(PACKAGES))?;
        }
        Ok(Peers { python, script })
    }

    /// Reads all responses of the files.
    pub(super) fn fastwarc(&self, files: &[PathBuf]) -> Result<Read, QueryBenchError> {
        let output = run(Command::new(&self.python).arg(&self.script).arg("fastwarc").args(files))?;
        parsed(&output)
    }

    /// Runs the queries: rows and seconds of each.
    pub(super) fn duckdb(
        &self,
        parts: &Path,
        threads: usize,
        queries: &[&str],
    ) -> Result<Vec<(u64, f64)>, QueryBenchError> {
        let failed = |error: std::io::Error| QueryBenchError::Peer(format!("DuckDB cannot be run: {error}"));
        let mut child = Command::new(&self.python)
            .arg(&self.script)
            .arg("duckdb")
            .arg(parts)
            .arg(threads.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(queries.join("\n").as_bytes()).map_err(failed)?;
        }
        let output = child.wait_with_output().map_err(failed)?;
        if !output.status.success() {
            return Err(QueryBenchError::Peer(format!("DuckDB ended with {}", output.status)));
        }
        let answers: Answers = parsed(&output.stdout)?;
        Ok(answers.queries.into_iter().map(|answer| (answer.rows, answer.seconds)).collect())
    }
}

fn parsed<T: for<'a> Deserialize<'a>>(output: &[u8]) -> Result<T, QueryBenchError> {
    serde_json::from_slice(output)
        .map_err(|error| QueryBenchError::Peer(format!("a peer said something else: {error}")))
}

/// What a command prints, if it ends well.
fn run(command: &mut Command) -> Result<Vec<u8>, QueryBenchError> {
    let name = command.get_program().to_string_lossy().into_owned();
    let said = |what: String| {
        QueryBenchError::Peer(format!("{name} {what}; peers need python3 with venv and a package index"))
    };
    let output = command.output().map_err(|error| said(format!("cannot be run: {error}")))?;
    if !output.status.success() {
        return Err(said(format!(
            "ended with {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        )));
    }
    Ok(output.stdout)
}
