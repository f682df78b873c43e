//! JSON Lines: one object for each row, columns in the order asked for, nulls included.

use std::io::{self, Write};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;

use super::Sink;
use super::cell::object;

/// See the module.
pub struct JsonSink<W> {
    out: W,
    line: String,
}

impl<W: Write> JsonSink<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> JsonSink<W> {
        JsonSink { out, line: String::new() }
    }
}

impl<W: Write> Sink for JsonSink<W> {
    fn begin(&mut self, _: &SchemaRef) -> io::Result<()> {
        Ok(())
    }

    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        for row in 0..batch.num_rows() {
            self.line.clear();
            object(batch, row, &[], &mut self.line);
            self.line.push('\n');
            self.out.write_all(self.line.as_bytes())?;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
