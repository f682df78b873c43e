//! What loaded modules do, from bytes to values. Modules are written in the text format, next to what is expected of them.
#![expect(clippy::unwrap_used, reason = "the helpers of tests fail by panicking, as tests do")]

mod any_bytes;
mod failing;
mod loading;
mod metered;
mod template;
mod values;

use mattock_analyze::{AnalyzeError, Analyzer as _, Document, Value};
use mattock_wasm::{Limits, LoadError, Module};

/// All that can be imported, and a memory of one page in which `words` lie at 1024; for tests that have a body to write.
const IMPORTS: &str = r#"
  (import "mattock" "url" (func $url (param i32 i32) (result i32)))
  (import "mattock" "head" (func $head (param i32 i32) (result i32)))
  (import "mattock" "header" (func $header (param i32 i32 i32 i32) (result i32)))
  (import "mattock" "body" (func $body (param i32 i32) (result i32)))
  (import "mattock" "content" (func $content (param i32 i32) (result i32)))
  (import "mattock" "text" (func $text (param i32 i32) (result i32)))
  (import "mattock" "status" (func $status (result i32)))
  (import "mattock" "time" (func $time (result i64)))
  (import "mattock" "truncated" (func $truncated (result i32)))
  (import "mattock" "give_text" (func $give_text (param i32 i32)))
  (import "mattock" "give_integer" (func $give_integer (param i64)))
  (import "mattock" "give_float" (func $give_float (param f64)))
  (import "mattock" "give_boolean" (func $give_boolean (param i32)))
  (import "mattock" "give_time" (func $give_time (param i64)))
  (import "mattock" "give_list" (func $give_list))
  (import "mattock" "fail" (func $fail (param i32 i32)))
  (memory (export "memory") 1)
"#;

/// The bytes of a module in the text format.
fn bytes(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn load(text: &str) -> Result<Module, LoadError> {
    Module::load("column", &bytes(text), Limits::default())
}

/// A module that exports `analyze_KIND` with this body, and has `words` at 1024.
fn module(kind: &str, words: &str, body: &str) -> Module {
    let text = format!(
        r#"(module {IMPORTS} (data (i32.const 1024) "{words}") (func (export "analyze_{kind}") (local $n i32) {body}))"#
    );
    load(&text).unwrap()
}

const HEAD: &[u8] =
    b"HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\nX-Words: one\r\nX-Words: two\r\n\r\n";

const PAGE: &[u8] = b"<title>T</title><p>The quick brown fox jumps over the lazy dog.</p>";

/// A small page that was not found.
fn page() -> Document<'static> {
    Document::new("http://example.org/page", 1_700_000_000_000_000, 404, HEAD, PAGE, true)
}

fn answer(kind: &str, words: &str, body: &str) -> Result<Value, AnalyzeError> {
    module(kind, words, body).analyze(&page())
}

fn failure(kind: &str, words: &str, body: &str) -> String {
    answer(kind, words, body).unwrap_err().to_string()
}
