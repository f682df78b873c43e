//! What is refused before any document is seen, and what a module's version depends on.

use mattock_analyze::{Analyzer as _, Kind};
use mattock_wasm::{Limits, LoadError, Module};

use crate::{bytes, load, module};

fn refusal(text: &str) -> String {
    load(text).unwrap_err().to_string()
}

const FUNCTION: &str = r#"(func (export "analyze_text"))"#;
const MEMORY: &str = r#"(memory (export "memory") 1)"#;

#[test]
fn imports_that_there_are_not_are_named() {
    let write = r#"(import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32)))"#;
    for (module, named) in [
        (format!("{write} {MEMORY}"), "`wasi_snapshot_preview1.fd_write`"),
        (format!(r#"(import "env" "abort" (func)) {MEMORY}"#), "`env.abort`"),
        (format!(r#"(import "mattock" "clock" (func (result i64))) {MEMORY}"#), "`mattock.clock`"),
        (r#"(import "env" "memory" (memory 1))"#.to_owned(), "`env.memory`"),
    ] {
        let refusal = refusal(&format!("(module {module} {FUNCTION})"));
        assert!(refusal.contains(named) && refusal.contains("`mattock.body`"), "{refusal}");
    }
}

#[test]
fn imports_of_another_type_are_refused() {
    let refused = refusal(&format!(
        r#"(module (import "mattock" "url" (func (param i64) (result i32))) {MEMORY} {FUNCTION})"#
    ));
    assert_eq!(refused, "the module imports `mattock.url` as (i64) -> (i32), but it is (i32, i32) -> (i32)");
    let refused = refusal(&format!(r#"(module (import "mattock" "url" (global i32)) {MEMORY} {FUNCTION})"#));
    assert!(refused.contains("a global"), "{refused}");
}

#[test]
fn exports_must_be_there_and_clear() {
    assert_eq!(load(&format!("(module {FUNCTION})")).unwrap_err(), LoadError::NoMemory);
    assert_eq!(load(&format!("(module (memory 1) {FUNCTION})")).unwrap_err(), LoadError::NoMemory);
    let refused = refusal(&format!(r#"(module {MEMORY} (func (export "analyze")))"#));
    assert!(refused.contains("`analyze_text`") && refused.contains("`analyze_integer_list`"), "{refused}");
    let two = format!(r#"(module {MEMORY} {FUNCTION} (func (export "analyze_integer")))"#);
    let named = ["analyze_text", "analyze_integer"].map(str::to_owned);
    let [first, second] = named;
    assert_eq!(load(&two).unwrap_err(), LoadError::TwoFunctions(first, second));
    for (export, name) in [
        (r#"(func (export "analyze_text") (param i32))"#, "analyze_text"),
        (r#"(func (export "analyze_text") (result i32) (i32.const 1))"#, "analyze_text"),
        (r#"(global (export "analyze_text") i32 (i32.const 1))"#, "analyze_text"),
        (r#"(func (export "analyze_text")) (func (export "_initialize") (param i32))"#, "_initialize"),
    ] {
        let refused = load(&format!("(module {MEMORY} {export})")).unwrap_err();
        assert_eq!(refused, LoadError::ExportType(name.to_owned()), "{export}");
    }
}

#[test]
fn what_is_no_module_is_refused() {
    for bytes in [&b""[..], b"\0asm", b"<html>", b"\0asm\x02\0\0\0", b"\0asm\x01\0\0\0\x01"] {
        let refused = Module::load("column", bytes, Limits::default()).unwrap_err();
        assert!(matches!(refused, LoadError::Invalid(_)), "{bytes:?}: {refused}");
    }
    let large = vec![0; 17 << 20];
    let refused = Module::load("column", &large, Limits::default()).unwrap_err();
    assert!(matches!(refused, LoadError::TooLarge { .. }));
}

#[test]
fn memory_that_is_too_large_from_the_beginning_is_refused() {
    let text = format!(r#"(module (memory (export "memory") 1025) {FUNCTION})"#);
    assert_eq!(load(&text).unwrap_err(), LoadError::Memory { bytes: 1025 << 16, max: 64 << 20 });
    let limits = Limits { memory_bytes_max: 65 << 20, ..Limits::default() };
    assert!(Module::load("column", &bytes(&text), limits).is_ok());
}

#[test]
fn names_are_those_of_columns() {
    let bytes = bytes(&format!("(module {MEMORY} {FUNCTION})"));
    for name in ["a", "word_count", "h1"] {
        assert_eq!(Module::load(name, &bytes, Limits::default()).unwrap().name(), name);
    }
    for name in ["", "1h", "_a", "word-count", "Words", "ä", "a b"] {
        let refused = Module::load(name, &bytes, Limits::default()).unwrap_err();
        assert_eq!(refused, LoadError::Name(name.to_owned()));
    }
}

#[test]
fn the_version_changes_with_all_that_can_change_a_value() {
    let one = bytes(&format!("(module {MEMORY} {FUNCTION})"));
    let other = bytes(&format!("(module {MEMORY} {FUNCTION} (func))"));
    let version = |bytes: &[u8], limits| Module::load("a", bytes, limits).unwrap().version();
    let default = Limits::default();
    let changed = [
        version(&one, default),
        version(&other, default),
        version(&one, Limits { fuel: 1, ..default }),
        version(&one, Limits { memory_bytes_max: 1 << 20, ..default }),
        version(&one, Limits { answer_bytes_max: 1, ..default }),
    ];
    assert_eq!(changed[0], version(&one, default));
    for (at, version) in changed.iter().enumerate() {
        assert!(!changed[..at].contains(version), "{changed:?}");
        // Kept columns have it in the names of their directories.
        assert!(
            version.len() <= 64 && version.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        );
    }
    let text = mattock_analyze::built_in("text").unwrap().version();
    assert!(module("text", "", "").version().ends_with(&format!("_text{text}")), "it is handed the text");
}

#[test]
fn imports_say_what_the_value_depends_on() {
    let of_payload = |import: &str, signature: &str| {
        let text =
            format!(r#"(module (import "mattock" "{import}" (func {signature})) {MEMORY} {FUNCTION})"#);
        load(&text).unwrap().of_payload()
    };
    let read = "(param i32 i32) (result i32)";
    for (import, signature, expected) in [
        ("body", read, true),
        ("content", read, true),
        ("text", read, true),
        ("give_text", "(param i32 i32)", true),
        ("url", read, false),
        ("head", read, false),
        ("header", "(param i32 i32 i32 i32) (result i32)", false),
        ("status", "(result i32)", false),
        ("time", "(result i64)", false),
        ("truncated", "(result i32)", false),
    ] {
        assert_eq!(of_payload(import, signature), expected, "{import}");
    }
    assert_eq!(load(&format!("(module {MEMORY} {FUNCTION})")).unwrap().kind(), Kind::Text);
}
