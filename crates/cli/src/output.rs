//! Data on stdout, talk on stderr: the only outlets, since clippy refuses `std::io::stdout` and `stderr` elsewhere.
//!
//! Not by `println!` and `eprintln!`, which panic when the reader of a pipe has had enough (`mattock … | head`). For data a closed pipe comes back
//! as an error like any other, and [`exit`](crate::exit) takes it for a good end; talk that nobody hears is no reason to stop working.
//!
//! Much of what is printed was written by strangers: URLs, titles, headers, names of files, words of analyzers. So whatever is for people goes
//! through [`terminal`] as a whole, just before it leaves, and nobody who says something has to think of it. Data is byte-exact, unless stdout is
//! a terminal: there it is shown as [`terminal`] shows it, and JSON with escapes that mean the same.
#![expect(clippy::disallowed_methods, reason = "these are the outlets")]

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int16Type, TimestampMillisecondType};
use arrow_array::{Array, RecordBatch};
use mattock_printable::{Layout, TerminalWriter, json_on_terminal, terminal};
use mattock_repository::StoredRecord;
use serde::Serialize;

/// Talks to the user, by the macros `say!` and `say_on!`.
pub(crate) fn tell(words: std::fmt::Arguments<'_>) {
    let words = words.to_string();
    // At once, so that lines of several threads stay whole.
    let _ = io::stderr().write_all(terminal(&words, Layout::Lines).as_bytes());
}

/// A text of others within a line: it cannot end the line, and begin one that this program never said.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    terminal(text, Layout::Line)
}

/// Whether a person watches stderr, so that progress can be drawn there.
pub(crate) fn is_watched() -> bool {
    io::stderr().is_terminal()
}

/// Whether data goes to a terminal.
pub(crate) fn is_shown() -> bool {
    io::stdout().is_terminal()
}

/// Prints a text for people, and at once: a reader may be waiting for it.
pub(crate) fn print(text: &str) -> io::Result<()> {
    write(terminal(text, Layout::Lines).as_bytes())
}

/// Prints a text for programs, such as the path of a file: byte for byte, if not to a terminal.
pub(crate) fn print_data(text: &str) -> io::Result<()> {
    if is_shown() { print(text) } else { write(text.as_bytes()) }
}

/// Prints one JSON object in one line.
pub(crate) fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    let json = serde_json::to_string(value)? + "\n";
    Ok(match is_shown() {
        true => write(json_on_terminal(&json).as_bytes()),
        false => write(json.as_bytes()),
    }?)
}

fn write(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

/// Prints a document, which may be of any kind: byte for byte, if not to a terminal.
pub(crate) fn print_document(bytes: &[u8]) -> io::Result<()> {
    if !is_shown() {
        return write(bytes);
    }
    let mut out = TerminalWriter::new(io::stdout().lock(), Layout::Text);
    out.write_all(bytes)?;
    out.finish()
}

/// stdout, for JSON lines.
pub(crate) fn json_lines() -> Box<dyn Write + Send> {
    if is_shown() { Box::new(TerminalWriter::json(io::stdout())) } else { Box::new(io::stdout()) }
}

/// stdout, for other rows.
pub(crate) fn rows() -> Box<dyn Write + Send> {
    if is_shown() {
        Box::new(TerminalWriter::new(io::stdout(), Layout::Lines))
    } else {
        Box::new(io::stdout())
    }
}

/// How many columns the terminal has.
pub(crate) fn columns() -> Option<usize> {
    rustix::termios::tcgetwinsize(io::stdout()).ok().map(|size| usize::from(size.ws_col))
}

/// A text of a column, in whichever form the engine has it.
pub(crate) fn text(column: &dyn Array, row: usize) -> Option<String> {
    let text = column.as_string_opt::<i32>().map(|texts| texts.value(row));
    let text = text.or_else(|| column.as_string_view_opt().map(|texts| texts.value(row)));
    text.filter(|_| column.is_valid(row)).map(str::to_owned)
}

/// The column `fetch_status`.
pub(crate) fn status(batch: &RecordBatch, row: usize) -> Option<i16> {
    Some(batch.column_by_name("fetch_status")?.as_primitive_opt::<Int16Type>()?.value(row))
}

/// The column `fetch_time`, in milliseconds since 1970.
pub(crate) fn time(batch: &RecordBatch, row: usize) -> Option<i64> {
    Some(batch.column_by_name("fetch_time")?.as_primitive_opt::<TimestampMillisecondType>()?.value(row))
}

/// A record as it stands in a file that is not compressed.
pub(crate) fn record_bytes(record: &StoredRecord<'_>) -> Vec<u8> {
    let mut bytes = format!("WARC/{}\r\n", record.version).into_bytes();
    for (name, value) in record.fields.iter() {
        bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(record.block);
    bytes.extend_from_slice(b"\r\n\r\n");
    bytes
}
