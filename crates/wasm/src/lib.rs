//! Analyzers that are loaded: WebAssembly modules, each of which computes a column.
//!
//! Filled by whoever has the bytes of a file: [`Module::load`] checks them and gives an `Analyzer`, which a query asks as it asks those
//! that are built in. [`template`](template()) is what a new one begins with.
//!
//! - `module`: loading, and one call for each document.
//! - `host`: the functions that a module can import; `document` has what they read, `answer` what they were given.
//! - `limits`, `error`: what is allowed, and what is refused.
//!
//! # What a module looks like
//!
//! It exports its memory as `memory`, and one function without parameters and results, whose name says what the column holds: `analyze_text`,
//! `analyze_integer`, `analyze_float`, `analyze_boolean`, `analyze_time`, `analyze_text_list` or `analyze_integer_list`. If there is
//! a function `_initialize`, it is called before. It may import these functions from the module `mattock`, and nothing else:
//!
//! | functions | what they do |
//! |---|---|
//! | `url`, `head`, `body`, `content`, `text` `(start, capacity) -> length` | copy a part of the document to `start`, as far as `capacity` reaches, and return how long it is; -1 if there is none. `head` and `body` are bytes; `content` is the body in UTF-8, `text` the main text |
//! | `header(name, name_length, start, capacity) -> length` | the same for a header field |
//! | `status() -> i32`, `time() -> i64`, `truncated() -> i32` | as in `Document` |
//! | `give_text(start, length)`, `give_integer(i64)`, `give_float(f64)`, `give_boolean(i32)`, `give_time(i64)` | give the value, or for lists one piece of it |
//! | `give_list()` | gives a list that may stay empty; without any of these calls the value is null |
//! | `fail(start, length)` | gives a reason instead, and does not return |
//!
//! Nothing is allocated by one side for the other, so that a module can be written by hand, or in C without a library.
//!
//! # Invariants
//!
//! - No authority: no clock, no chance, no file, no network. The same document gives the same value, and fuel is counted, not timed.
//! - No state: every document gets a new instance.
//! - Bounded by [`Limits`]: steps, memory, the answer; bytes that the host copies are paid for, too.
//! - No module and no document makes the program fail. A trap, missing fuel, a place outside of memory, a value of another kind, a text that
//!   is not UTF-8: an error for that document.
//! - What a module imports says what its value depends on: one that reads only the body is kept once for each distinct payload.
//!
//! # What the choice costs
//!
//! The engine is an interpreter, `wasmi`, and not a compiler: built from nothing, in release, it took 51 seconds of processor time where
//! `wasmtime` with Cranelift and little else took 371, though most of that was optimised less. It runs slower: counting the words of a page of
//! 30 KB takes 0.46 ms (65 MB/s), compiled by Cranelift 0.11 ms. A call with an empty document, its instance included, takes 2 to 4 µs for
//! a module in C with little memory, so keeping instances would win little.

mod answer;
mod document;
mod error;
mod host;
mod limits;
mod module;
mod template;

pub use error::LoadError;
pub use limits::Limits;
pub use module::Module;
pub use template::{Language, TemplateFile, template};

/// Raised with every change of what the functions of `mattock` do, or of the steps that they cost.
pub const ABI_VERSION: u32 = 2;
