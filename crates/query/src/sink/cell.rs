//! A cell as text, and a row as JSON: the same forms in all sinks that write text.

use std::fmt::Write as _;

use datafusion::arrow::array::{Array, AsArray as _, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};

/// Dates as RFC 3339 has them.
fn options() -> FormatOptions<'static> {
    FormatOptions::new().with_timestamp_tz_format(Some("%Y-%m-%dT%H:%M:%S%.fZ"))
}

/// Appends the text of a cell that is not null. Lists, maps and structures are JSON.
pub(super) fn text(array: &dyn Array, row: usize, out: &mut String) {
    match array.data_type() {
        DataType::Utf8 => out.push_str(array.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => out.push_str(array.as_string::<i64>().value(row)),
        DataType::Utf8View => out.push_str(array.as_string_view().value(row)),
        DataType::BinaryView => out.push_str(&String::from_utf8_lossy(array.as_binary_view().value(row))),
        DataType::Binary => out.push_str(&String::from_utf8_lossy(array.as_binary::<i32>().value(row))),
        DataType::List(_) | DataType::Map(..) | DataType::Struct(_) => json(array, row, out),
        _ => match ArrayFormatter::try_new(array, &options()) {
            Ok(formatter) => {
                // A value that cannot be shown, such as a time outside of the calendar, stays empty.
                let before = out.len();
                if write!(out, "{}", formatter.value(row)).is_err() {
                    out.truncate(before);
                }
            }
            Err(_) => out.push('?'),
        },
    }
}

/// Appends a cell as JSON.
pub(crate) fn json(array: &dyn Array, row: usize, out: &mut String) {
    if array.is_null(row) {
        out.push_str("null");
        return;
    }
    match array.data_type() {
        DataType::Boolean => out.push_str(if array.as_boolean().value(row) { "true" } else { "false" }),
        DataType::Int64 => {
            let _ = write!(out, "{}", array.as_primitive::<Int64Type>().value(row));
        }
        DataType::List(_) => {
            let list = array.as_list::<i32>().value(row);
            out.push('[');
            for at in 0..list.len() {
                if at > 0 {
                    out.push(',');
                }
                json(list.as_ref(), at, out);
            }
            out.push(']');
        }
        DataType::Map(..) => {
            let entries = array.as_map().value(row);
            let (keys, values) = (entries.column(0), entries.column(1));
            let pairs = (0..entries.len()).map(|at| {
                let mut key = String::new();
                text(keys.as_ref(), at, &mut key);
                (key, values.as_ref(), at)
            });
            pairs_of(pairs, out);
        }
        DataType::Struct(_) => {
            let fields = array.as_struct();
            let pairs = fields.column_names().into_iter().zip(fields.columns());
            pairs_of(pairs.map(|(name, column)| (name.to_owned(), column.as_ref(), row)), out);
        }
        DataType::Float32 | DataType::Float64 => {
            let start = out.len();
            text(array, row, out);
            // JSON has no words for what is no number.
            if out[start..].contains(['N', 'n', 'i', 'I']) {
                out.truncate(start);
                out.push_str("null");
            }
        }
        data_type
            if data_type.is_numeric()
                && !matches!(data_type, DataType::Decimal128(..) | DataType::Decimal256(..)) =>
        {
            text(array, row, out);
        }
        _ => {
            let mut plain = String::new();
            text(array, row, &mut plain);
            mattock_printable::json(&plain, out);
        }
    }
}

/// Appends names with the cells that belong to them, as a JSON object.
fn pairs_of<'a>(pairs: impl Iterator<Item = (String, &'a dyn Array, usize)>, out: &mut String) {
    out.push('{');
    for (at, (name, array, row)) in pairs.enumerate() {
        if at > 0 {
            out.push(',');
        }
        mattock_printable::json(&name, out);
        out.push(':');
        json(array, row, out);
    }
    out.push('}');
}

/// Appends a row as a JSON object with all its columns but those left out.
pub(super) fn object(batch: &RecordBatch, row: usize, without: &[usize], out: &mut String) {
    out.push('{');
    let mut first = true;
    for (at, field) in batch.schema_ref().fields().iter().enumerate() {
        if without.contains(&at) {
            continue;
        }
        if !first {
            out.push(',');
        }
        first = false;
        mattock_printable::json(field.name(), out);
        out.push(':');
        json(batch.column(at).as_ref(), row, out);
    }
    out.push('}');
}
