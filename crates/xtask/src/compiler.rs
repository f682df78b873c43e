//! A stand-in for the compiler of our own crates, so that CI goes through the code once.
//!
//! `cargo build`, `cargo clippy` and `cargo doc` share nothing: the last two want every dependency checked once more, which for the query engine
//! alone takes minutes. So cargo is told to compile the workspace's crates with this program (`RUSTC_WORKSPACE_WRAPPER`), which calls
//!
//! 1. `clippy-driver` where cargo meant `rustc`: the compiler itself, with clippy's lints, warnings being errors;
//! 2. `rustdoc` with the same dependencies, for what is no test and no example, warnings being errors, too.
//!
//! What comes out is kept apart by cargo from what is built without it. A crate with a warning is not kept, and is reported again next time.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::process;
use crate::workspace::Workspace;

/// Where documentation goes, for the stand-in.
const DOCUMENTATION: &str = "MATTOCK_XTASK_DOCUMENTATION";

/// A cargo that compiles the workspace with this program. All of them have the same features, so that nothing is compiled twice.
pub(crate) fn cargo<const N: usize>(workspace: &Workspace, arguments: [&str; N]) -> Result<Command> {
    let target = workspace.target_directory()?;
    let mut cargo = workspace.cargo(arguments);
    cargo.args(["--workspace", "--locked"]);
    cargo.env("RUSTC_WORKSPACE_WRAPPER", copy_of_this_program(&target.join("xtask"))?);
    cargo.env(DOCUMENTATION, target.join("doc"));
    // What is compiled once, and often on a new machine, has no use for records of how.
    cargo.env("CARGO_INCREMENTAL", "0");
    Ok(cargo)
}

/// Builds the program, and the example that writes archives.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    process::run(cargo(workspace, ["build", "--bin", "mattock", "--example", "write"])?)
}

/// Compiling the workspace replaces this program.
fn copy_of_this_program(directory: &Path) -> Result<PathBuf> {
    std::fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    let own = std::env::current_exe().context("this program does not know where it is")?;
    let copy = directory.join(format!("compiler{}", std::env::consts::EXE_SUFFIX));
    let bytes = std::fs::read(&own).with_context(|| format!("cannot read {}", own.display()))?;
    if std::fs::read(&copy).is_ok_and(|there| there == bytes) {
        return Ok(copy);
    }
    let (new, permissions) = (directory.join("compiler.new"), std::fs::metadata(&own)?.permissions());
    std::fs::write(&new, bytes)
        .and_then(|()| std::fs::set_permissions(&new, permissions))
        .and_then(|()| std::fs::rename(&new, &copy))
        .with_context(|| format!("cannot write {}", copy.display()))?;
    Ok(copy)
}

/// Whether cargo has started this program as a compiler: the first argument is then the compiler that it stands for.
pub(crate) fn is_meant(arguments: &[String]) -> bool {
    arguments.first().is_some_and(|first| Path::new(first).file_stem().is_some_and(|name| name == "rustc"))
}

/// Compiles one crate, and writes its documentation.
pub(crate) fn compile(rustc: &str, arguments: &[String]) -> ExitCode {
    let documentation = std::env::var_os(DOCUMENTATION);
    let mut clippy = Command::new(beside(rustc, "clippy-driver"));
    clippy.arg(rustc).args(arguments).arg("-Dwarnings");
    let mut commands = vec![clippy];
    if let (Some(directory), Some(kept)) = (documentation, documented(arguments)) {
        let mut rustdoc = Command::new(beside(rustc, "rustdoc"));
        rustdoc.args(kept).arg("-Dwarnings").arg("--out-dir").arg(directory);
        commands.push(rustdoc);
    }
    for mut command in commands {
        match command.status() {
            Ok(status) if status.success() => {}
            Ok(_) => return ExitCode::FAILURE,
            Err(error) => {
                let program = command.get_program().display();
                eprintln!("cannot start {program}: {error}; `rustup component add clippy` installs it");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

/// Another program of the same toolchain.
fn beside(rustc: &str, name: &str) -> OsString {
    match Path::new(rustc).parent().filter(|directory| !directory.as_os_str().is_empty()) {
        Some(directory) => directory.join(format!("{name}{}", std::env::consts::EXE_SUFFIX)).into_os_string(),
        None => name.into(),
    }
}

/// What of the compiler's arguments is for rustdoc, if the crate is one to document: a library or a program, not a test, an example, or a
/// question that cargo has.
fn documented(arguments: &[String]) -> Option<Vec<String>> {
    let mut kept = Vec::new();
    let (mut source, mut kind) = (None, None);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let (flag, attached) = match argument.split_once('=') {
            Some((flag, value)) if flag.starts_with("--") => (flag, Some(value)),
            _ => (argument.as_str(), None),
        };
        match flag {
            "--test" | "--print" | "-" => return None,
            "--emit" | "--out-dir" | "-C" => {
                if attached.is_none() {
                    rest.next();
                }
            }
            "--crate-name" | "--crate-type" | "--edition" | "--cfg" | "--check-cfg" | "--extern" | "-L"
            | "--cap-lints" | "--target" => {
                let value = attached.map_or_else(|| rest.next().cloned(), |value| Some(value.to_owned()))?;
                if flag == "--crate-type" {
                    kind = Some(value.clone());
                }
                kept.extend([flag.to_owned(), value]);
            }
            _ => {
                if argument.ends_with(".rs") && !argument.starts_with('-') {
                    source = Some(argument.clone());
                }
                kept.push(argument.clone());
            }
        }
    }
    let source = source?;
    let of_the_crate = source.contains("/src/") || source.starts_with("src/");
    match kind.as_deref() {
        Some("lib") => {}
        // Of a program nothing is public, and everything is of interest.
        Some("bin") if of_the_crate => kept.push("--document-private-items".to_owned()),
        _ => return None,
    }
    Some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn a_compiler_is_told_from_a_chore() {
        assert!(is_meant(&words("/toolchain/bin/rustc -vV")));
        assert!(is_meant(&words("rustc --crate-name a")));
        assert!(!is_meant(&words("ci --only fmt")));
        assert!(!is_meant(&[]));
    }

    #[test]
    fn a_library_is_documented_with_its_dependencies() {
        let line = "--crate-name a --edition=2024 crates/a/src/lib.rs --error-format=json --crate-type lib --emit=dep-info,metadata,link \
                    -C opt-level=1 --warn=missing_docs --cfg feature=\"x\" --out-dir target/debug/deps -L dependency=deps --extern b=libb.rmeta";
        let expected = "--crate-name a --edition 2024 crates/a/src/lib.rs --error-format=json --crate-type lib --warn=missing_docs \
                        --cfg feature=\"x\" -L dependency=deps --extern b=libb.rmeta";
        assert_eq!(documented(&words(line)).unwrap(), words(expected));
    }

    #[test]
    fn of_a_program_all_is_documented() {
        let kept =
            documented(&words("--crate-name a crates/a/src/main.rs --crate-type bin --emit=link")).unwrap();
        assert!(kept.contains(&"--document-private-items".to_owned()));
    }

    #[test]
    fn tests_examples_and_questions_have_no_documentation() {
        for line in [
            "--crate-name a crates/a/src/lib.rs --emit=link --test",
            "--crate-name write crates/a/examples/write.rs --crate-type bin --emit=link",
            "--crate-name a crates/a/src/lib.rs --crate-type proc-macro",
            "- --crate-name ___ --print=file-names --crate-type bin",
            "-vV",
        ] {
            assert_eq!(documented(&words(line)), None, "{line}");
        }
    }

    #[test]
    fn other_programs_are_those_of_the_same_toolchain() {
        assert_eq!(beside("/toolchain/bin/rustc", "rustdoc"), "/toolchain/bin/rustdoc");
        assert_eq!(beside("rustc", "rustdoc"), "rustdoc");
    }
}
