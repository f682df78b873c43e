//! Templates are built with the compilers that are at hand, and count words.
#![expect(clippy::print_stderr, reason = "what is skipped is told")]

use std::path::{Path, PathBuf};
use std::process::Command;

use mattock_analyze::{Analyzer as _, Document, Kind, Value};
use mattock_env::Files;
use mattock_wasm::{Language, Limits, LoadError, Module, template};

use crate::page;

/// A directory with the files of a template.
fn project(directory: &str, language: Language) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(directory);
    let _ = Files::real().remove_dir_all(&path);
    Files::real().create_dir_all(&path).unwrap();
    for file in template("word_count", language).unwrap() {
        assert!(!file.text.contains("NAME"), "{}", file.name);
        Files::real().write_atomic(&path.join(&file.name), file.text.as_bytes()).unwrap();
    }
    path
}

/// What a command prints, if there is such a command and it succeeds.
fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn rustc() -> Command {
    Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
}

/// The module counts the words of the text.
fn check(file: &Path) {
    let bytes = Files::real().read(file).unwrap();
    let module = Module::load("word_count", &bytes, Limits::default()).unwrap();
    assert_eq!((module.kind(), module.of_payload()), (Kind::Integer, true));
    assert_eq!(module.analyze(&page()), Ok(Value::Integer(9)));
    let long = "word ".repeat(100_000);
    let long =
        Document::new("http://example.org/", 0, 200, b"\nContent-Type: text/plain", long.as_bytes(), false);
    assert_eq!(module.analyze(&long), Ok(Value::Integer(100_000)));
    let image = Document::new("http://example.org/", 0, 200, b"\nContent-Type: image/png", b"a b", false);
    assert_eq!(module.analyze(&image), Ok(Value::Null));
}

#[test]
fn rust() {
    let project = project("template_rust", Language::Rust);
    // Names and types are right on every machine.
    let library = ["--edition=2024", "--crate-type=lib", "--emit=metadata", "-Dwarnings", "lib.rs"];
    run(rustc().args(library).current_dir(&project));
    let target = "wasm32-unknown-unknown";
    let found = output(rustc().args(["--print", "target-libdir", "--target", target]));
    if found.is_none_or(|path| Files::real().entry(Path::new(&path)).unwrap().is_none()) {
        eprintln!("skipped: the target {target} is not installed, so the Rust template was not built for it");
        return;
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    run(Command::new(cargo)
        .args(["build", "--release", "--offline", "--target", target, "--target-dir", "built"])
        .env_remove("CARGO_TARGET_DIR")
        .current_dir(&project));
    check(&project.join("built").join(target).join("release/word_count.wasm"));
}

#[test]
fn c() {
    let project = project("template_c", Language::C);
    let compile = ["--target=wasm32", "-O2", "-Wall", "-Werror", "-c", "word_count.c", "-o", "word_count.o"];
    if output(Command::new("clang").args(compile).current_dir(&project)).is_none() {
        let there = output(Command::new("clang").args(["--print-targets"])).unwrap_or_default();
        assert!(!there.contains("wasm32"), "clang does not compile the template");
        eprintln!("skipped: there is no clang for WebAssembly, so the C template was not built");
        return;
    }
    // The linker that comes with Rust is the same program.
    let own =
        output(rustc().args(["--print", "sysroot"])).zip(output(rustc().args(["--print", "host-tuple"])));
    let own = own.map(|(sysroot, host)| format!("{sysroot}/lib/rustlib/{host}/bin/rust-lld"));
    let link = ["-flavor", "wasm", "--no-entry", "word_count.o", "-o", "word_count.wasm"];
    let linkers = ["wasm-ld".to_owned()].into_iter().chain(own);
    for linker in linkers {
        let arguments = if linker == "wasm-ld" { &link[2..] } else { &link[..] };
        if output(Command::new(&linker).args(arguments).current_dir(&project)).is_some() {
            return check(&project.join("word_count.wasm"));
        }
    }
    eprintln!("skipped: there is no wasm-ld, so the C template was not linked");
}

#[test]
fn only_names_of_columns() {
    for name in ["", "word-count", "../a", "a/b", "A"] {
        assert_eq!(template(name, Language::C).unwrap_err(), LoadError::Name(name.to_owned()));
    }
}
