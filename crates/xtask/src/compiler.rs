//! A stand-in for the compiler of our own crates, so that CI goes through the code once.
//!
//! `cargo build`, `cargo clippy` and `cargo doc` share nothing: the last two want every dependency checked once more, which for the query engine
//! alone takes minutes. So cargo is told to compile the workspace's crates with this program (`RUSTC_WORKSPACE_WRAPPER`), which calls
//!
//! 1. `clippy-driver` where cargo meant `rustc`: the same compiler with clippy's lints, warnings being errors;
//! 2. `rustdoc` with the same dependencies, for libraries and programs, warnings being errors, too.
//!
//! What comes out is kept apart by cargo from what is built without it. A crate with a warning is not kept, and is reported again next time.
//!
//! The price: clippy's driver leaves out what the compiler does to its own intermediate code (inlining, and the checks of null and misaligned
//! pointers in debug builds), and sets `cfg(clippy)`. So tests look for a little less than those of `cargo test`; what it costs them in speed was
//! not measured.

use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::OnceLock;

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::{Value, json};

use crate::process;
use crate::workspace::Workspace;

/// Where documentation goes, for the stand-in.
const DOCUMENTATION: &str = "MATTOCK_XTASK_DOCUMENTATION";

/// A cargo that compiles the workspace with this program.
pub(crate) fn cargo<const N: usize>(workspace: &Workspace, arguments: [&str; N]) -> Result<Command> {
    static COPY: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let target = workspace.target_directory()?;
    let copy = COPY
        .get_or_init(|| copy_of_this_program(&target.join("xtask")).map_err(|error| format!("{error:#}")));
    let mut cargo = workspace.cargo(arguments);
    cargo.args(["--workspace", "--locked"]);
    cargo.env("RUSTC_WORKSPACE_WRAPPER", copy.as_ref().map_err(|error| anyhow!(error.clone()))?);
    cargo.env(DOCUMENTATION, target.join("doc"));
    // What is compiled once, and often on a new machine, has no use for records of how.
    cargo.env("CARGO_INCREMENTAL", "0");
    Ok(cargo)
}

/// Builds the program, and the example that writes archives. With an example features are those of tests, of which everything is
/// compiled already: without, the query engine would be compiled a second time.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    process::run(cargo(workspace, ["build", "--bin", "mattock", "--example", "write"])?)
}

/// Whether the documentation of every library and program is there: what was taken for something else has none.
pub(crate) fn all_is_documented(workspace: &Workspace) -> Result<()> {
    let documentation = workspace.target_directory()?.join("doc");
    let metadata = workspace.metadata()?;
    let members = metadata["workspace_members"].as_array().context("cargo metadata names no members")?;
    let packages = metadata["packages"].as_array().context("cargo metadata names no packages")?;
    let ours = packages.iter().filter(|package| members.contains(&package["id"]));
    let targets = ours.filter_map(|package| package["targets"].as_array()).flatten();
    let is_documented =
        |target: &&Value| target["kind"] == json!(["lib"]) || target["kind"] == json!(["bin"]);
    let mut count = 0;
    for target in targets.filter(is_documented) {
        let name = target["name"].as_str().unwrap_or_default().replace('-', "_");
        ensure!(
            documentation.join(&name).join("index.html").exists(),
            "there is no documentation of `{name}`"
        );
        count += 1;
    }
    ensure!(count > 0, "there is nothing to document");
    Ok(())
}

/// Compiling the workspace replaces this program, so that it is copied first. Cargo compiles again what was compiled with a program of another
/// name: it has one for each version of what is done here.
fn copy_of_this_program(directory: &Path) -> Result<PathBuf> {
    std::fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    let mut version = DefaultHasher::new();
    include_str!("compiler.rs").hash(&mut version);
    let name = format!("compiler-{:016x}{}", version.finish(), std::env::consts::EXE_SUFFIX);
    for entry in std::fs::read_dir(directory)?.flatten() {
        let other = entry.file_name();
        if other.to_string_lossy().starts_with("compiler") && other != *name {
            let _ = std::fs::remove_file(entry.path());
        }
    }
    let own = std::env::current_exe().context("this program does not know where it is")?;
    let (new, copy) = (directory.join(format!("compiler-{}.new", std::process::id())), directory.join(name));
    std::fs::copy(&own, &new).with_context(|| format!("cannot copy {}", own.display()))?;
    std::fs::rename(&new, &copy).with_context(|| format!("cannot replace {}", copy.display()))?;
    Ok(copy)
}

/// Whether cargo has started this program as a compiler: the first argument is then the compiler that it stands for.
pub(crate) fn is_meant(arguments: &[String]) -> bool {
    arguments.first().is_some_and(|first| Path::new(first).file_stem().is_some_and(|name| name == "rustc"))
}

/// Compiles one crate, and writes its documentation.
pub(crate) fn compile(rustc: &str, arguments: &[String]) -> ExitCode {
    let mut commands = Vec::new();
    if is_question(arguments) {
        let mut asked = Command::new(rustc);
        asked.args(arguments);
        commands.push(asked);
    } else {
        let mut clippy = Command::new(beside(rustc, "clippy-driver"));
        clippy.arg(rustc).args(arguments).arg("-Dwarnings");
        commands.push(clippy);
    }
    if let (Some(directory), Some(kept)) = (std::env::var_os(DOCUMENTATION), documented(arguments)) {
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
                eprintln!(
                    "cannot start {program}: {error}; `rustup component add clippy` installs what clippy needs"
                );
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

/// What cargo asks of a compiler before it compiles; it remembers the answers.
fn is_question(arguments: &[String]) -> bool {
    arguments.iter().any(|argument| argument == "-vV" || argument == "-" || argument.starts_with("--print"))
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
    if is_question(arguments) {
        return None;
    }
    let mut kept = Vec::new();
    let (mut source, mut kind) = (None, None);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let (flag, attached) = match argument.split_once('=') {
            Some((flag, value)) if flag.starts_with("--") => (flag, Some(value)),
            _ => (argument.as_str(), None),
        };
        match flag {
            "--test" => return None,
            "--emit" | "--out-dir" | "-C" | "-l" => {
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
