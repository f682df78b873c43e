//! Rows of the index one by one, for whoever reads the records that they name.

use std::io;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, TimestampMillisecondType};
use arrow_array::{Array as _, RecordBatch};
use arrow_schema::SchemaRef;
use mattock_env::UnixTime;
use mattock_query::sink::Sink;
use mattock_query::{QueryError, Report};

use crate::output;

/// The order in which archives are read the fastest.
pub(crate) const BY_PLACE: [&str; 2] = ["warc_filename", "warc_record_offset"];

/// Where a row says that its record is: file, offset and length.
pub(crate) fn place(batch: &RecordBatch, row: usize) -> (String, u64, u64) {
    let column = |name: &str| batch.column_by_name(name).expect("it was asked for");
    let number = |name: &str| column(name).as_primitive::<Int32Type>().value(row) as u64;
    let file = output::text(column("warc_filename"), row).unwrap_or_default();
    (file, number("warc_record_offset"), number("warc_record_length"))
}

/// When a row says that its record was fetched, to the millisecond.
pub(crate) fn time(batch: &RecordBatch, row: usize) -> Option<UnixTime> {
    let column = batch.column_by_name("fetch_time")?.as_primitive_opt::<TimestampMillisecondType>()?;
    column.is_valid(row).then(|| UnixTime::from_micros(column.value(row).saturating_mul(1000)))
}

/// Takes an answer row by row.
pub(crate) struct Visiting<'a>(pub(crate) &'a mut dyn FnMut(&RecordBatch, usize) -> io::Result<()>);

impl Sink for Visiting<'_> {
    fn begin(&mut self, _: &SchemaRef) -> io::Result<()> {
        Ok(())
    }

    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        (0..batch.num_rows()).try_for_each(|row| (self.0)(batch, row))
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What cannot be written says so itself.
pub(crate) fn output_error(result: Result<Report, QueryError>) -> anyhow::Result<Report> {
    match result {
        Err(QueryError::Output(error)) => Err(error.into()),
        other => Ok(other?),
    }
}
