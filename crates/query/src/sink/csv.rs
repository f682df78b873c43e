//! CSV (RFC 4180) with a line of names. Null is an empty field, empty text is `""`; lists are JSON.

use std::borrow::Cow;
use std::io::{self, Write};

use datafusion::arrow::array::{Array as _, RecordBatch};
use datafusion::arrow::datatypes::SchemaRef;

use mattock_printable::{Formulas, Layout, csv, terminal};

use super::Sink;
use super::cell::text;

/// See the module.
pub struct CsvSink<W> {
    out: W,
    formulas: Formulas,
    line: String,
    cell: String,
}

impl<W: Write> CsvSink<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> CsvSink<W> {
        CsvSink { out, formulas: Formulas::Kept, line: String::new(), cell: String::new() }
    }

    /// The same for a spreadsheet or a terminal: text is no formula, and controls in it are named. Numbers stay numbers.
    pub fn for_spreadsheets(self) -> CsvSink<W> {
        CsvSink { formulas: Formulas::Defused, ..self }
    }

    fn add(&mut self, first: bool, formulas: Formulas) {
        if !first {
            self.line.push(',');
        }
        let cell = match formulas {
            Formulas::Kept => Cow::Borrowed(self.cell.as_str()),
            Formulas::Defused => terminal(&self.cell, Layout::Text),
        };
        csv(&cell, formulas, &mut self.line);
    }

    fn end(&mut self) -> io::Result<()> {
        self.line.push_str("\r\n");
        self.out.write_all(self.line.as_bytes())?;
        self.line.clear();
        Ok(())
    }
}

impl<W: Write> Sink for CsvSink<W> {
    fn begin(&mut self, schema: &SchemaRef) -> io::Result<()> {
        for (at, field) in schema.fields().iter().enumerate() {
            self.cell.clear();
            self.cell.push_str(field.name());
            self.add(at == 0, self.formulas);
        }
        self.end()
    }

    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        for row in 0..batch.num_rows() {
            for (at, column) in batch.columns().iter().enumerate() {
                if column.is_null(row) {
                    if at > 0 {
                        self.line.push(',');
                    }
                    continue;
                }
                self.cell.clear();
                text(column.as_ref(), row, &mut self.cell);
                let is_number = column.data_type().is_numeric();
                self.add(at == 0, if is_number { Formulas::Kept } else { self.formulas });
            }
            self.end()?;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use datafusion::arrow::array::{
        Int64Array, ListBuilder, StringArray, StringBuilder, TimestampMillisecondArray,
    };
    use datafusion::arrow::datatypes::{DataType, Field, Schema, TimeUnit};

    use super::super::JsonSink;
    use super::*;

    fn batch() -> RecordBatch {
        let mut list = ListBuilder::new(StringBuilder::new());
        list.append_value([Some("x\"y"), None]);
        list.append_null();
        let fields = vec![
            Field::new("text", DataType::Utf8, true),
            Field::new("number", DataType::Int64, true),
            Field::new("list", DataType::new_list(DataType::Utf8, true), true),
            Field::new("time", DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())), true),
        ];
        let columns: Vec<datafusion::arrow::array::ArrayRef> = vec![
            Arc::new(StringArray::from(vec![Some("a,\"b\"\n"), Some("")])),
            Arc::new(Int64Array::from(vec![None, Some(-5)])),
            Arc::new(list.finish()),
            Arc::new(
                TimestampMillisecondArray::from(vec![Some(973_036_800_000), Some(1_500)])
                    .with_timezone("UTC"),
            ),
        ];
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
    }

    fn written(mut sink: impl Sink) {
        sink.begin(&batch().schema()).unwrap();
        sink.write(&batch()).unwrap();
        sink.finish().unwrap();
    }

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        let mut out = Vec::new();
        written(CsvSink::new(&mut out));
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "text,number,list,time\r\n\"a,\"\"b\"\"\n\",,\"[\"\"x\\\"\"y\"\",null]\",2000-11-01T00:00:00Z\r\n\"\",-5,,1970-01-01T00:00:01.500Z\r\n"
        );
    }

    #[test]
    fn a_spreadsheet_takes_no_text_for_a_formula() {
        let fields =
            vec![Field::new("=name", DataType::Utf8, true), Field::new("number", DataType::Int64, true)];
        let text =
            StringArray::from(vec![Some("=HYPERLINK(\"http://a/\")"), Some("-"), Some("\t=\u{1b}[1m\u{9b}")]);
        let columns: Vec<datafusion::arrow::array::ArrayRef> =
            vec![Arc::new(text), Arc::new(Int64Array::from(vec![-1, -2, 3]))];
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap();
        let written = |sink: CsvSink<Vec<u8>>| {
            let mut sink = sink;
            sink.begin(&batch.schema()).unwrap();
            sink.write(&batch).unwrap();
            String::from_utf8(sink.out).unwrap()
        };
        assert_eq!(
            written(CsvSink::new(Vec::new())),
            "=name,number\r\n\"=HYPERLINK(\"\"http://a/\"\")\",-1\r\n-,-2\r\n\t=\u{1b}[1m\u{9b},3\r\n"
        );
        assert_eq!(
            written(CsvSink::new(Vec::new()).for_spreadsheets()),
            "'=name,number\r\n\"'=HYPERLINK(\"\"http://a/\"\")\",-1\r\n'-,-2\r\n\"'\t'=\\u{1b}[1m\\u{9b}\",3\r\n"
        );
    }

    #[test]
    fn objects_have_all_columns() {
        let mut out = Vec::new();
        written(JsonSink::new(&mut out));
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "{\"text\":\"a,\\\"b\\\"\\n\",\"number\":null,\"list\":[\"x\\\"y\",null],\"time\":\"2000-11-01T00:00:00Z\"}\n\
             {\"text\":\"\",\"number\":-5,\"list\":null,\"time\":\"1970-01-01T00:00:01.500Z\"}\n"
        );
    }
}
