//! Data on stdout, talk on stderr.
//!
//! Not by `println!` and `eprintln!`, which panic when the reader of a pipe has had enough (`mattock … | head`). For data a closed pipe comes back
//! as an error like any other, and [`exit`](crate::exit) takes it for a good end; talk that nobody hears is no reason to stop working.

use std::io::{self, Write};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int16Type, TimestampMillisecondType};
use arrow_array::{Array, RecordBatch};
use mattock_repository::StoredRecord;
use serde::Serialize;

/// Talks to the user, by the macros `say!` and `say_on!`.
pub(crate) fn tell(words: std::fmt::Arguments<'_>) {
    let _ = io::stderr().write_fmt(words);
}

/// Prints a text as it is, and at once: a reader may be waiting for it.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Prints one JSON object in one line.
pub(crate) fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    Ok(print(&format!("{}\n", serde_json::to_string(value)?))?)
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
