//! Where answers go: each [`Sink`] takes batches of rows as they come and writes them in one format. None keeps the answer in memory.
//!
//! | sink | for |
//! |---|---|
//! | [`TableSink`] | people at a terminal |
//! | [`JsonSink`] | programs, one object a line |
//! | [`CsvSink`] | spreadsheets |
//! | [`ParquetSink`] | other engines |
//! | [`FilesSink`] | a file for each document |

mod cell;
mod csv;
mod files;
mod json;
mod parquet;
mod table;

use std::io;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;

pub(crate) use cell::json;
pub use csv::CsvSink;
pub(crate) use files::CONTENTS;
pub use files::FilesSink;
pub use json::JsonSink;
pub use parquet::ParquetSink;
pub use table::TableSink;

/// Takes an answer.
pub trait Sink {
    /// Called first, once.
    fn begin(&mut self, schema: &SchemaRef) -> io::Result<()>;
    /// Rows of that schema.
    fn write(&mut self, batch: &RecordBatch) -> io::Result<()>;
    /// Called last, once, also if the query was stopped: after it what was written is whole.
    fn finish(&mut self) -> io::Result<()>;
    /// Called in its place if the query failed, so that what was written is not taken for an answer. Where somebody has seen rows already, as on
    /// a terminal, the rest of them is shown.
    fn fail(&mut self) -> io::Result<()> {
        self.finish()
    }
}

/// Keeps the rows, for small answers and for tests.
#[derive(Debug, Default)]
pub struct MemorySink {
    /// What came.
    pub batches: Vec<RecordBatch>,
}

impl Sink for MemorySink {
    fn begin(&mut self, _: &SchemaRef) -> io::Result<()> {
        Ok(())
    }

    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        self.batches.push(batch.clone());
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}
