//! `cargo xtask ci`: the steps in order, each with its time, up to the first that fails.
//!
//! The order puts what is quick and often wrong first. `compile` goes through all code once, for its lints and documentation as well
//! (`compiler.rs`); the steps behind it use what it has made. Meanwhile the tools of others that later steps judge with are installed, which
//! is more waiting than work; `warc` and `objects` run beside `console`, because all of them leave cores idle now and then. What runs beside
//! another step prints what its commands say when they have ended.

use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::workspace::Workspace;
use crate::{compiler, console, deny, objects, process, room, tree, warc};

struct Step {
    name: &'static str,
    about: &'static str,
    /// What to do when it fails.
    hint: &'static str,
    run: fn(&Workspace) -> Result<()>,
    /// Installs what it needs, which can be done long before. What fails here is tried again, and told, by the step.
    prepare: Option<fn(&Workspace) -> Result<()>>,
    /// With which step it begins, and beside which it runs, where it need not wait for its turn.
    beside: Option<&'static str>,
}

const COMPILE: &str = "compile";

const STEPS: [Step; 9] = [
    Step {
        name: "room",
        about: "the disk has room for what follows",
        hint: "remove old target directories, or set CARGO_TARGET_DIR to a larger disk",
        run: room::check,
        prepare: None,
        beside: None,
    },
    Step {
        name: "fmt",
        about: "the code is formatted",
        hint: "`cargo fmt --all` mends it",
        run: fmt,
        prepare: None,
        beside: None,
    },
    Step {
        name: "tree",
        about: "the house rules for files",
        hint: "each line above names a file and what to change in it",
        run: tree::check,
        prepare: None,
        beside: None,
    },
    Step {
        name: "deny",
        about: "what we depend on: its licences, its sources, nothing twice without a reason, no known hole",
        hint: "choose or update the dependency, or argue for it in deny.toml; `cargo tree -i NAME@VERSION` says who asks for it; \
               if cargo speaks of the lock file, run `cargo check` and commit Cargo.lock",
        run: deny::check,
        prepare: None,
        beside: None,
    },
    Step {
        name: COMPILE,
        about: "everything compiles, without a warning from the compiler, clippy or rustdoc",
        hint: "`cargo clippy --workspace --all-targets` or `cargo doc --workspace --no-deps` shows it again; \
               clippy.toml says why a method is disallowed",
        run: compile,
        prepare: None,
        beside: None,
    },
    Step {
        name: "test",
        about: "all tests",
        hint: "run one with `cargo test -p PACKAGE NAME`; CONTRIBUTING.md says how to replay a simulation seed",
        run: test,
        prepare: Some(terminal),
        beside: None,
    },
    Step {
        name: "warc",
        about: "archives of a crawl satisfy warcio and FastWARC; the crawl was complete and polite",
        hint: "to look closer, `cargo run -- simweb serve --preset tiny --seed 7` prints the crawl to run beside it; \
               on a machine without Python or a package index, `cargo xtask ci --skip warc` does the rest",
        run: warc::check,
        prepare: Some(warc::prepare),
        beside: Some("console"),
    },
    Step {
        name: "objects",
        about: "a repository in object storage, over S3's protocol: published, killed, gone on with, and asked",
        hint: "target/xtask/objects has the server's log of requests; \
               on a machine without Python or a package index, `cargo xtask ci --skip objects` does the rest",
        run: objects::check,
        prepare: Some(objects::prepare),
        beside: Some("console"),
    },
    Step {
        name: "console",
        about: "the console in a browser: a crawl is steered, hostile pages are harmless; its REST interface under a fuzzer",
        hint: "pictures of every page are in target/console-shots, failure.png among them; \
               on a machine without Chromium, Python or a package index, `cargo xtask ci --skip console` does the rest",
        run: console::check,
        prepare: Some(console::prepare),
        beside: None,
    },
];

/// Which steps are asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Selection {
    only: Vec<String>,
    skip: Vec<String>,
    list: bool,
}

impl Selection {
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut selection = Self::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let (flag, attached) = match argument.split_once('=') {
                Some((flag, value)) => (flag, Some(value.to_owned())),
                None => (argument.as_str(), None),
            };
            let names = match flag {
                "--only" => &mut selection.only,
                "--skip" => &mut selection.skip,
                "--list" if attached.is_none() => {
                    selection.list = true;
                    continue;
                }
                _ => return Err(format!("ci does not know `{argument}`")),
            };
            let name = attached.or_else(|| rest.next().cloned()).ok_or(format!("{flag} needs a step"))?;
            if !STEPS.iter().any(|step| step.name == name) {
                let known = STEPS.map(|step| step.name).join(", ");
                return Err(format!("there is no step `{name}`; the steps are {known}"));
            }
            names.push(name);
        }
        Ok(selection)
    }

    fn wants(&self, name: &str) -> bool {
        let named = |names: &[String]| names.iter().any(|known| known == name);
        (self.only.is_empty() || named(&self.only)) && !named(&self.skip)
    }
}

enum Outcome {
    Passed(Duration),
    Failed(Duration),
    NotReached,
    LeftOut,
}

/// Runs the chosen steps and prints the table.
pub(crate) fn run(selection: &Selection) -> ExitCode {
    if selection.list {
        for step in &STEPS {
            println!("{:10}{}", step.name, step.about);
        }
        return ExitCode::SUCCESS;
    }
    let workspace = match Workspace::find() {
        Ok(workspace) => workspace,
        Err(error) => {
            eprintln!("error: {error:#}");
            return ExitCode::FAILURE;
        }
    };
    let start = Instant::now();
    let outcomes = run_all(selection, &workspace);
    eprint!("\n{}", table(&outcomes, start.elapsed()));
    match outcomes.iter().any(|outcome| matches!(outcome, Outcome::Failed(_))) {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    }
}

/// Runs steps in order, and those that may run beside another one with it, one after the other. Alone, what is printed is better seen at once.
fn run_all(selection: &Selection, workspace: &Workspace) -> Vec<Outcome> {
    let failed = AtomicBool::new(false);
    let run = |step: &Step, beside: bool| {
        if !selection.wants(step.name) {
            return Outcome::LeftOut;
        }
        if failed.load(Ordering::SeqCst) {
            return Outcome::NotReached;
        }
        let outcome = run_step(step, workspace, beside);
        failed.fetch_or(matches!(outcome, Outcome::Failed(_)), Ordering::SeqCst);
        outcome
    };
    let with = |step: &Step| step.beside.filter(|other| selection.wants(other));
    let mut outcomes: Vec<Option<Outcome>> = STEPS.iter().map(|_| None).collect();
    std::thread::scope(|scope| {
        for (place, step) in STEPS.iter().enumerate().filter(|(_, step)| with(step).is_none()) {
            let others: Vec<usize> =
                (0..STEPS.len()).filter(|other| with(&STEPS[*other]) == Some(step.name)).collect();
            let lane = scope.spawn(|| {
                process::print_at_once();
                if step.name == COMPILE && selection.wants(COMPILE) {
                    for later in STEPS.iter().filter(|later| selection.wants(later.name)) {
                        prepare(later, workspace, &failed);
                    }
                }
                others.into_iter().map(|other| (other, run(&STEPS[other], true))).collect::<Vec<_>>()
            });
            outcomes[place] = Some(run(step, false));
            for (other, outcome) in lane.join().unwrap_or_default() {
                outcomes[other] = Some(outcome);
            }
        }
    });
    outcomes.into_iter().map(|outcome| outcome.unwrap_or(Outcome::NotReached)).collect()
}

/// Installs what a step to come needs, unless it will not be reached.
fn prepare(step: &Step, workspace: &Workspace, failed: &AtomicBool) {
    let Some(prepare) = step.prepare.filter(|_| !failed.load(Ordering::SeqCst)) else { return };
    if let Err(error) = prepare(workspace) {
        eprintln!("{} is not ready yet: {error:#}", step.name);
    }
}

fn run_step(step: &Step, workspace: &Workspace, beside: bool) -> Outcome {
    let beside = if beside { " (beside the next)" } else { "" };
    eprintln!("\n{}", bold(&format!("== {}: {}{beside}", step.name, step.about)));
    let start = Instant::now();
    let result = (step.run)(workspace);
    let time = start.elapsed();
    match result {
        Ok(()) => {
            eprintln!("== {} passed in {:.1} s", step.name, time.as_secs_f64());
            Outcome::Passed(time)
        }
        Err(error) => {
            eprintln!("\n{}", bold(&format!("== {} FAILED after {:.1} s", step.name, time.as_secs_f64())));
            eprintln!("error: {error:#}");
            eprintln!("hint: {}", step.hint);
            eprintln!("again: cargo xtask ci --only {}", step.name);
            Outcome::Failed(time)
        }
    }
}

fn table(outcomes: &[Outcome], total: Duration) -> String {
    let mut text = String::new();
    for (step, outcome) in STEPS.iter().zip(outcomes) {
        let (time, word) = match outcome {
            Outcome::Passed(time) => (Some(*time), "passed"),
            Outcome::Failed(time) => (Some(*time), "FAILED"),
            Outcome::NotReached => (None, "not reached"),
            Outcome::LeftOut => (None, "left out"),
        };
        let seconds = time.map_or("-".to_owned(), |time| format!("{:.1} s", time.as_secs_f64()));
        text += &format!("{:10}{seconds:>9}  {word}\n", step.name);
    }
    text + &format!("{:10}{:>9}\n", "total", format!("{:.1} s", total.as_secs_f64()))
}

fn bold(text: &str) -> String {
    if process::on_terminal() { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() }
}

fn fmt(workspace: &Workspace) -> Result<()> {
    process::run(workspace.cargo(["fmt", "--all", "--check"]))
}

fn compile(workspace: &Workspace) -> Result<()> {
    process::run(compiler::cargo(workspace, ["build", "--all-targets"])?)?;
    compiler::all_is_documented(workspace)
}

/// With nextest if it is there, because it runs the tests of all crates side by side. The examples in the documentation, which it does not
/// run, come first.
/// Some test wants a real terminal.
fn terminal(workspace: &Workspace) -> Result<()> {
    let there = || {
        let mut tmux = workspace.command("tmux");
        tmux.arg("-V");
        process::works(tmux)
    };
    if !there() {
        process::install(workspace, &["tmux"]);
    }
    anyhow::ensure!(there(), "this step needs tmux (Debian: apt install tmux)");
    Ok(())
}

fn test(workspace: &Workspace) -> Result<()> {
    terminal(workspace)?;
    process::run(compiler::cargo(workspace, ["test", "--doc", "--quiet"])?)?;
    let tests = if process::works(workspace.cargo(["nextest", "--version"])) {
        let mut tests = compiler::cargo(workspace, ["nextest", "run", "--lib", "--bins", "--tests"])?;
        // Many wait for a server or a clock more than they compute.
        let threads = std::thread::available_parallelism().map_or(2, usize::from) + 1;
        tests.arg(format!("--test-threads={threads}"));
        tests
    } else {
        eprintln!("cargo-nextest is not installed: cargo test runs the tests, one crate after the other");
        compiler::cargo(workspace, ["test", "--lib", "--bins", "--tests"])?
    };
    process::run(keeping(workspace, tests)?)
}

/// Archives of crawls that tests have killed are left for the `warc` step.
fn keeping(workspace: &Workspace, mut tests: Command) -> Result<Command> {
    let kept = warc::kept_archives(workspace)?;
    let _ = std::fs::remove_dir_all(&kept);
    std::fs::create_dir_all(&kept).with_context(|| format!("cannot create {}", kept.display()))?;
    tests.env("MATTOCK_KEPT_ARCHIVES", kept);
    Ok(tests)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Selection, String> {
        Selection::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn without_arguments_every_step_runs() {
        let all = parse("").unwrap();
        assert!(STEPS.iter().all(|step| all.wants(step.name)));
    }

    #[test]
    fn only_and_skip_choose() {
        let chosen = parse("--only fmt --only=tree --skip fmt").unwrap();
        let names: Vec<_> = STEPS.iter().map(|step| step.name).filter(|name| chosen.wants(name)).collect();
        assert_eq!(names, ["tree"]);
    }

    #[test]
    fn mistakes_are_named() {
        assert!(parse("--only fnt").unwrap_err().contains("no step `fnt`; the steps are room, fmt, tree"));
        assert!(parse("--skip").unwrap_err().contains("needs a step"));
        assert!(parse("--fast").unwrap_err().contains("--fast"));
        assert!(parse("--list=fmt").unwrap_err().contains("--list=fmt"));
    }

    #[test]
    fn the_table_tells_what_was_not_reached() {
        let outcomes = [
            Outcome::Passed(Duration::ZERO),
            Outcome::Passed(Duration::from_millis(1500)),
            Outcome::LeftOut,
            Outcome::Failed(Duration::from_secs(2)),
            Outcome::NotReached,
        ];
        let expected = "room          0.0 s  passed\n\
                        fmt           1.5 s  passed\n\
                        tree              -  left out\n\
                        deny          2.0 s  FAILED\n\
                        compile           -  not reached\n\
                        total         2.5 s\n";
        assert_eq!(table(&outcomes, Duration::from_millis(2500)), expected);
    }
}
