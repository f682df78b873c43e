//! The `warc` step: crawls of the simulated Web over real sockets, one for each compression, judged by tools that others
//! wrote.
//!
//! 1. `mattock simweb serve` in the background; its first line is the command that crawls it.
//! 2. That command, without delay, into a scratch directory.
//! 3. warcio and FastWARC (in an environment of their own, kept between runs) read the archives.
//! 4. So they do with the archives of crawls that the `test` step has killed and resumed, and with those that the example `write`
//!    of `repository` makes: every kind of record, hostile pages, with either compression and with a dictionary.
//! 5. DuckDB and pyarrow read the crawl's index, and pywb replays its pages.
//! 6. The server's log shows no visit that robots.txt forbids and none made twice, and the crawl found exactly the
//!    pages that the simulated Web knows to be there.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::{Value, json};

use crate::compiler;
use crate::process::{self, Background};
use crate::python::Python;
use crate::workspace::Workspace;

/// The readers, pinned so that the step means the same every day.
const READERS: [&str; 7] = [
    "warcio==1.8.1",
    "fastwarc==1.1.0",
    "duckdb==2.0.0",
    "pytz==2026.6",
    "pyarrow==26.0.1",
    "pywb==2.10.0",
    // pywb takes parts of it at run time.
    "setuptools==80.9.0",
];

/// What shows that they are there.
const IMPORTS: &str = "import duckdb, fastwarc.warc, pyarrow.parquet, pywb, warcio.archiveiterator";

const WORLD: [&str; 4] = ["--preset", "tiny", "--seed", "7"];

/// The values of `archive.compression`, and what file names then end in.
const COMPRESSIONS: [(&str, &str); 2] = [("gzip", ".gz"), ("zstd", ".zst")];

/// URLs that pywb is asked for.
const MADE_URLS: &str = "crates/weburl/tests/archive_keys.tsv";

const CHECKER: &str = include_str!("warc_check.py");
const TABLE_CHECKER: &str = include_str!("table_check.py");

const START_LIMIT: Duration = Duration::from_secs(60);
const CRAWL_LIMIT: Duration = Duration::from_secs(300);
const STOP_LIMIT: Duration = Duration::from_secs(20);

fn python(workspace: &Workspace) -> Result<Python> {
    let directory = workspace.target_directory()?.join("xtask/python");
    Python::prepare(workspace, &directory, &READERS, IMPORTS)
}

pub(crate) fn prepare(workspace: &Workspace) -> Result<()> {
    python(workspace).map(drop)
}

pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let target = workspace.target_directory()?;
    // First what may be missing on this machine, then what takes long.
    let python = python(workspace)?;
    compiler::build(workspace)?;
    check_examples(workspace, &python)?;
    let mattock = target.join("debug").join(format!("mattock{}", std::env::consts::EXE_SUFFIX));
    for (compression, suffix) in COMPRESSIONS {
        let scratch = Scratch::create(target.join("xtask/warc"))?;
        let crawl = Crawl {
            workspace,
            mattock: mattock.clone(),
            scratch: &scratch.path,
            compression,
            suffix,
            file_size: "1GB",
        };
        let summary = crawl.run()?;
        crawl.check_archives(&python, &summary)?;
        crawl.check_table(&python)?;
        crawl.check_audit()?;
        crawl.check_complete(&summary)?;
    }
    check_kept(workspace, &python)
}

/// Where the `test` step leaves archives of crawls that were killed.
pub(crate) fn kept_archives(workspace: &Workspace) -> Result<PathBuf> {
    Ok(workspace.target_directory()?.join("tmp/killed-archives"))
}

/// Archives that show every kind of record.
fn check_examples(workspace: &Workspace, python: &Python) -> Result<()> {
    let target = workspace.target_directory()?;
    let write = target.join("debug/examples").join(format!("write{}", std::env::consts::EXE_SUFFIX));
    for kind in ["gzip", "zstd", "dictionary"] {
        let scratch = Scratch::create(target.join("xtask/warc-examples"))?;
        let mut command = workspace.command(&write);
        command.arg(&scratch.path).arg(kind);
        process::run(command)?;
        let report = judge(workspace, python, &scratch.path)?;
        eprintln!("example archive, {kind}: {report}");
        for wanted in ["warcinfo", "request", "response", "revisit", "metadata"] {
            ensure!(count(&report["types"], wanted)? > 0, "the example archive holds no {wanted} record");
        }
    }
    Ok(())
}

fn check_kept(workspace: &Workspace, python: &Python) -> Result<()> {
    let kept = kept_archives(workspace)?;
    let found: Vec<PathBuf> = match std::fs::read_dir(&kept) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?,
        Err(_) => Vec::new(),
    };
    for archive in &found {
        judge(workspace, python, archive).with_context(|| archive.display().to_string())?;
    }
    eprintln!("archives of crawls that were killed and resumed: {}, all whole", found.len());
    let _ = std::fs::remove_dir_all(&kept);
    Ok(())
}

/// A directory that is empty at the start and gone at the end.
pub(crate) struct Scratch {
    pub(crate) path: PathBuf,
}

impl Scratch {
    pub(crate) fn create(path: PathBuf) -> Result<Self> {
        // An interrupted run leaves one behind.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).with_context(|| format!("cannot create {}", path.display()))?;
        Ok(Self { path })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

pub(crate) struct Crawl<'a> {
    pub(crate) workspace: &'a Workspace,
    pub(crate) mattock: PathBuf,
    pub(crate) scratch: &'a Path,
    pub(crate) compression: &'static str,
    pub(crate) suffix: &'static str,
    /// When a new file is begun.
    pub(crate) file_size: &'static str,
}

impl Crawl<'_> {
    fn mattock<const N: usize>(&self, arguments: [&str; N]) -> Command {
        let mut command = self.workspace.command(&self.mattock);
        command.args(arguments).stdin(Stdio::null());
        command
    }

    pub(crate) fn out(&self) -> PathBuf {
        self.scratch.join("crawl")
    }

    fn audit(&self) -> PathBuf {
        self.scratch.join("audit.log")
    }

    /// Serves the simulated Web, crawls it and gives the crawl's summary.
    pub(crate) fn run(&self) -> Result<Value> {
        let mut serve = self.mattock(["simweb", "serve"]);
        serve.args(WORLD).arg("--audit").arg(self.audit());
        let log = self.scratch.join("serve.stderr");
        serve.stdout(Stdio::piped()).stderr(std::fs::File::create(&log)?);
        let mut served = Background::start(serve)?;
        let line = served.first_line(START_LIMIT).map_err(with_log(&log))?;
        let summary = self.crawl(&line)?;
        served.interrupt(STOP_LIMIT).map_err(with_log(&log))?;
        Ok(summary)
    }

    fn crawl(&self, line: &str) -> Result<Value> {
        let words = shell_words(line).with_context(|| format!("the first line of simweb serve: {line}"))?;
        ensure!(
            words.len() > 2 && words[1] == "crawl",
            "the first line of simweb serve is no `mattock crawl …` command: {line}"
        );
        let (log, printed) = (self.scratch.join("crawl.stderr"), self.scratch.join("crawl.stdout"));
        let config = self.scratch.join("mattock.toml");
        std::fs::write(
            &config,
            format!(
                "[archive]\ncompression = \"{}\"\nfile_size = \"{}\"\n",
                self.compression, self.file_size
            ),
        )?;
        let mut command = self.mattock([]);
        command
            .args(&words[1..])
            .arg("--config")
            .arg(config)
            .arg("--out")
            .arg(self.out())
            .args(["--delay", "0s", "--json"]);
        command.stdout(std::fs::File::create(&printed)?).stderr(std::fs::File::create(&log)?);
        let status = Background::start(command)?.wait(CRAWL_LIMIT).map_err(with_log(&log))?;
        if !status.success() {
            return Err(with_log(&log)(anyhow!("the crawl ended with {status}")));
        }
        let text = std::fs::read_to_string(&printed)?;
        serde_json::from_str(&text)
            .with_context(|| format!("mattock crawl --json printed no JSON object: {text}"))
    }

    fn check_archives(&self, python: &Python, summary: &Value) -> Result<()> {
        let report = judge(self.workspace, python, &self.out().join("warc"))?;
        eprintln!("archives: {report}");
        ensure!(report["suffixes"] == json!([self.suffix]), "the archives should end in {}", self.suffix);
        // Pages with a payload seen before are stored as revisits; robots.txt and errors come on top.
        let stored: u64 =
            ["response", "revisit"].iter().filter_map(|kind| report["types"][kind].as_u64()).sum();
        let pages = count(summary, "pages")?;
        ensure!(stored >= pages, "the archives hold {stored} responses, but {pages} pages were crawled");
        Ok(())
    }

    /// The index and the archive as others read them.
    fn check_table(&self, python: &Python) -> Result<()> {
        let script = self.scratch.join("table_check.py");
        std::fs::write(&script, TABLE_CHECKER)?;
        let replay = Scratch::create(self.scratch.join("replay"))?;
        let mut command = python.command(self.workspace);
        command.arg(&script).arg(&self.mattock).arg(self.out()).arg(&replay.path);
        command.arg(self.workspace.root().join(MADE_URLS));
        let report = json_of(command).context("other tools do not read the index as it is meant")?;
        eprintln!("index: {report}");
        Ok(())
    }

    fn check_audit(&self) -> Result<()> {
        let mut command = self.mattock(["simweb", "audit"]);
        command.arg(self.audit()).arg("--json");
        let audit = json_of(command)?;
        eprintln!("audit: {audit}");
        ensure!(count(&audit, "requests")? > 0, "the server's log holds no request");
        for wrong in ["robots_violations", "fetched_twice"] {
            let found = count(&audit, wrong)?;
            ensure!(found == 0, "the server's log shows {wrong}: {found}");
        }
        Ok(())
    }

    fn check_complete(&self, summary: &Value) -> Result<()> {
        let mut command = self.mattock(["simweb", "truth"]);
        command.args(WORLD).arg("--json");
        let truth = json_of(command)?;
        let (allowed, pages) = (count(&truth, "allowed")?, count(summary, "pages")?);
        ensure!(
            pages == allowed,
            "the crawl fetched {pages} pages, where {allowed} are reachable and allowed"
        );
        eprintln!("crawl: {pages} pages, which is all that are reachable and allowed");
        Ok(())
    }
}

pub(crate) fn json_of(command: Command) -> Result<Value> {
    let shown = process::shown(&command);
    let text = process::output(command)?;
    serde_json::from_str(&text).with_context(|| format!("`{shown}` printed no JSON object: {text}"))
}

pub(crate) fn count(object: &Value, key: &str) -> Result<u64> {
    object[key].as_u64().with_context(|| format!("no number `{key}` in {object}"))
}

/// Adds to an error what the process said on stderr, for the scratch directory will be gone.
fn with_log(log: &Path) -> impl FnOnce(anyhow::Error) -> anyhow::Error {
    move |error| {
        let text = std::fs::read_to_string(log).unwrap_or_default();
        anyhow!("{error:#}; it said on stderr:\n{}", process::tail(&text))
    }
}

/// What the readers say of the files in `archive`.
fn judge(workspace: &Workspace, python: &Python, archive: &Path) -> Result<Value> {
    let script = workspace.target_directory()?.join("xtask/warc_check.py");
    std::fs::write(&script, CHECKER)?;
    let mut command = python.command(workspace);
    command.arg(&script).arg(archive);
    json_of(command).context("the archives are not as they should be")
}

/// Splits a command line as a shell would: blanks, quotes and backslashes, nothing else.
fn shell_words(line: &str) -> Result<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => {
                let escaped = characters.next().context("a backslash at the end of the line")?;
                word.get_or_insert_default().push(escaped);
            }
            (None, _) if character.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    ensure!(quote.is_none(), "a quote that is not closed");
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_is_split_as_in_a_shell() {
        let split = |line| shell_words(line).unwrap();
        assert_eq!(
            split("mattock crawl  --out d http://a/ "),
            ["mattock", "crawl", "--out", "d", "http://a/"]
        );
        assert_eq!(split(r#"a 'b c' "d \" e" f\ g '' h'i'"#), ["a", "b c", "d \" e", "f g", "", "hi"]);
        assert!(split("  ").is_empty());
        assert!(shell_words("a 'b").is_err());
        assert!(shell_words("a \\").is_err());
    }

    #[test]
    fn a_missing_number_is_an_error_that_shows_the_object() {
        let object = serde_json::json!({"pages": "many"});
        assert!(count(&object, "pages").unwrap_err().to_string().contains("many"));
        assert_eq!(count(&serde_json::json!({"pages": 3}), "pages").unwrap(), 3);
    }

    #[test]
    fn scratch_is_empty_at_first_and_gone_at_last() {
        let path = std::env::temp_dir().join(format!("mattock-xtask-scratch-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("left-over"), "").unwrap();
        let scratch = Scratch::create(path.clone()).unwrap();
        assert_eq!(std::fs::read_dir(&path).unwrap().count(), 0);
        drop(scratch);
        assert!(!path.exists());
    }
}
