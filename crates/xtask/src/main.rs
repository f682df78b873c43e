//! Chores of the project, run as `cargo xtask`. The main one is `cargo xtask ci`: the one command that says whether
//! a change may go in, the same for people and for CI.
//!
//! Depends on next to nothing, because it is compiled before anything else on a fresh machine.
#![expect(
    clippy::disallowed_methods,
    reason = "a chore runner works on the real machine; nothing of it runs in simulation"
)]
#![expect(clippy::print_stderr, clippy::print_stdout, reason = "it talks to whoever started it")]

mod ci;
mod compiler;
mod console;
mod deny;
mod licences;
mod objects;
mod policy;
mod process;
mod python;
mod room;
mod spdx;
mod tree;
mod warc;
mod workspace;

use std::process::ExitCode;

const HELP: &str = "\
usage: cargo xtask ci [--only STEP]… [--skip STEP]… [--list]
       cargo xtask sim [--seeds N] [--from SEED] [--seed SEED] [--bug NAME]
       cargo xtask power [CUTS]
       cargo xtask damaged [COPIES] [--seed SEED] [--kind KIND] [--binary FILE]

  ci             everything that must hold before a change goes in; stops at the first failure
  --only STEP    run this step only (may be repeated)
  --skip STEP    leave this step out (may be repeated)
  --list         print the steps in order, and run none
  sim            crawls on virtual time to which everything happens: crashes, power cuts, full and failing disks, bad networks;
                 each must come to the same pages all the same
  --seeds N      so many of them (500)
  --from SEED    beginning with this one (0)
  --seed SEED    this one only, and tell its story
  --bug NAME     plant a bug, to see that it is found: skipped-sync, dropped-lease or ignored-delay
  power          power cuts on a file system of its own, 30 if nothing is said: nothing acknowledged may be lost; needs
                 root, mkfs.ext4 and loop devices
  damaged        damaged copies of a small repository, 400 if nothing is said: no command may panic, be killed, take more than
                 4 GiB or a minute, or give another answer without a word
  --seed SEED    that of the first copy (1); each further one has the next
  --kind KIND    only Part, Index, Kept, Checkpoint, Ledger, State, Drum, Queue, Features or ByUrl
  --binary FILE  ask this binary instead of the one that is built";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        Some((rustc, rest)) if compiler::is_meant(&arguments) => compiler::compile(rustc, rest),
        Some((command, rest)) if command == "ci" => match ci::Selection::parse(rest) {
            Ok(selection) => ci::run(&selection),
            Err(message) => wrong_usage(&message),
        },
        Some((command, rest)) if command == "sim" || command == "power" => laboratory(command, rest),
        Some((command, rest)) if command == "damaged" => damaged(rest),
        Some((help, _)) if ["help", "--help", "-h"].contains(&help.as_str()) => {
            println!("{HELP}");
            ExitCode::SUCCESS
        }
        Some((other, _)) => wrong_usage(&format!("there is no `{other}`")),
        None => wrong_usage("nothing to do"),
    }
}

/// Runs a trial of the laboratory, which is not compiled with the chores, and without the query engine, which would take much longer.
fn laboratory(name: &str, arguments: &[String]) -> ExitCode {
    let mut command = std::process::Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .args(["run", "--quiet", "--release", "-p", "mattock-lab", "--no-default-features"])
        .args(["--example", name, "--"])
        .args(arguments);
    match command.status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => wrong_usage(&format!("cannot run cargo: {error}")),
    }
}

/// Runs the ignored test of the command line that damages copies: it has the binary at hand, and the simulated Web.
fn damaged(arguments: &[String]) -> ExitCode {
    let mut command = std::process::Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args([
        "test",
        "--quiet",
        "-p",
        "mattock-cli",
        "--test",
        "main",
        "--",
        "--ignored",
        "--nocapture",
    ]);
    command.arg("as_many_damaged_copies_as_one_likes");
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let name = match argument.as_str() {
            "--seed" => "DAMAGED_SEED",
            "--kind" => "DAMAGED_KIND",
            "--binary" => "DAMAGED_BINARY",
            copies if copies.parse::<u64>().is_ok() => {
                command.env("DAMAGED_COPIES", copies);
                continue;
            }
            other => return wrong_usage(&format!("`{other}` is no number of copies")),
        };
        let Some(value) = rest.next() else { return wrong_usage(&format!("{argument} needs a value")) };
        command.env(name, value);
    }
    match command.status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => wrong_usage(&format!("cannot run cargo: {error}")),
    }
}

fn wrong_usage(message: &str) -> ExitCode {
    eprintln!("error: {message}\n\n{HELP}");
    ExitCode::from(2)
}
