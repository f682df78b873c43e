//! Rows on their way out: in the format that was asked for, to stdout or to a file.
//!
//! [`sink`] is for those who have Arrow batches, as queries do. [`Rows`] is for those who have one row after the other: it makes batches of
//! them, so that an answer of any length takes little memory.

use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use mattock_printable::TerminalWriter;
use mattock_query::sink::{CsvSink, JsonSink, ParquetSink, Sink, TableSink};

use crate::args::rows::{RowFormat, RowsArgs};
use crate::exit::Usage;
use crate::output;
use crate::unfinished::{Unfinished, UnfinishedSink};

/// Rows of a batch.
const BATCH_ROWS: usize = 8192;

/// Where rows go: to a file or to stdout, as a table on a terminal and as JSON lines elsewhere if nothing is said. If they are to be `safe`,
/// no spreadsheet and no terminal obeys what is in CSV and JSON lines, wherever they go.
pub(crate) fn sink(
    format: Option<RowFormat>,
    safe: bool,
    path: Option<&Path>,
) -> anyhow::Result<Box<dyn Sink>> {
    let terminal = path.is_none() && output::is_shown();
    let format = format.unwrap_or(if terminal { RowFormat::Table } else { RowFormat::Jsonl });
    if format == RowFormat::Parquet && terminal {
        return Err(Usage("Parquet is not for terminals: say where to with --output".into()).into());
    }
    let (file, out): (_, Box<dyn Write + Send>) = match path {
        Some(path) => {
            let (file, out) = Unfinished::create(path)?;
            (Some(file), Box::new(BufWriter::new(out)))
        }
        None if format == RowFormat::Jsonl => (None, Box::new(BufWriter::new(output::json_lines()))),
        None => (None, Box::new(BufWriter::new(output::rows()))),
    };
    let sink: Box<dyn Sink> = match format {
        RowFormat::Table => Box::new(TableSink::new(out, width())),
        RowFormat::Jsonl if safe => Box::new(JsonSink::new(TerminalWriter::json(out))),
        RowFormat::Jsonl => Box::new(JsonSink::new(out)),
        RowFormat::Csv if safe => Box::new(CsvSink::new(out).for_spreadsheets()),
        RowFormat::Csv => Box::new(CsvSink::new(out)),
        RowFormat::Parquet => Box::new(ParquetSink::new(out)),
    };
    Ok(match file {
        Some(file) => Box::new(UnfinishedSink::new(sink, file)),
        None => sink,
    })
}

/// What a table may take: what the shell says, or the terminal.
fn width() -> usize {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    said.or_else(output::columns).filter(|width| *width > 0).unwrap_or(120)
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Integer,
    Float,
}

/// A value of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cell<'a> {
    Text(&'a str),
    Integer(i64),
    Float(f64),
}

impl Cell<'_> {
    /// A count; none here is ever greater than what the column can hold.
    pub(crate) fn count(count: u64) -> Cell<'static> {
        Cell::Integer(i64::try_from(count).unwrap_or(i64::MAX))
    }
}

enum Column {
    Text(StringBuilder),
    Integer(Int64Builder),
    Float(Float64Builder),
}

impl Column {
    fn new(kind: Kind) -> Column {
        match kind {
            Kind::Text => Column::Text(StringBuilder::new()),
            Kind::Integer => Column::Integer(Int64Builder::new()),
            Kind::Float => Column::Float(Float64Builder::new()),
        }
    }

    fn push(&mut self, cell: &Cell<'_>) {
        match (self, cell) {
            (Column::Text(column), Cell::Text(text)) => column.append_value(text),
            (Column::Integer(column), Cell::Integer(number)) => column.append_value(*number),
            (Column::Float(column), Cell::Float(number)) => column.append_value(*number),
            _ => unreachable!("a cell is of its column's kind"),
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Column::Text(column) => Arc::new(column.finish()),
            Column::Integer(column) => Arc::new(column.finish()),
            Column::Float(column) => Arc::new(column.finish()),
        }
    }
}

/// Takes rows one by one.
pub(crate) struct Rows {
    sink: Box<dyn Sink>,
    schema: SchemaRef,
    columns: Vec<Column>,
    waiting: usize,
    count: u64,
}

impl Rows {
    pub(crate) fn begin(args: &RowsArgs, columns: &[(&str, Kind)]) -> anyhow::Result<Rows> {
        Rows::into(sink(args.format, args.safe, args.output.as_deref())?, columns)
    }

    fn into(mut sink: Box<dyn Sink>, columns: &[(&str, Kind)]) -> anyhow::Result<Rows> {
        let field = |(name, kind): &(&str, Kind)| {
            let data_type = match kind {
                Kind::Text => DataType::Utf8,
                Kind::Integer => DataType::Int64,
                Kind::Float => DataType::Float64,
            };
            Field::new(*name, data_type, false)
        };
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        sink.begin(&schema)?;
        let columns = columns.iter().map(|(_, kind)| Column::new(*kind)).collect();
        Ok(Rows { sink, schema, columns, waiting: 0, count: 0 })
    }

    /// One row: as many cells as there are columns, each of its kind.
    pub(crate) fn push(&mut self, cells: &[Cell<'_>]) -> anyhow::Result<()> {
        assert_eq!(cells.len(), self.columns.len(), "a row has all columns");
        self.columns.iter_mut().zip(cells).for_each(|(column, cell)| column.push(cell));
        self.waiting += 1;
        self.count += 1;
        if self.waiting >= BATCH_ROWS { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> anyhow::Result<()> {
        let columns = self.columns.iter_mut().map(Column::finish).collect();
        self.waiting = 0;
        self.sink.write(&RecordBatch::try_new(self.schema.clone(), columns)?)?;
        Ok(())
    }

    /// Ends the answer; how many rows it has.
    pub(crate) fn finish(mut self) -> anyhow::Result<u64> {
        if self.waiting > 0 {
            self.flush()?;
        }
        self.sink.finish()?;
        Ok(self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;
    use std::sync::{Mutex, PoisonError};

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn rows_come_out_as_they_went_in() {
        let out = Shared::default();
        let columns = [("name", Kind::Text), ("count", Kind::Integer), ("share", Kind::Float)];
        let mut rows = Rows::into(Box::new(CsvSink::new(out.clone())), &columns).unwrap();
        let count = BATCH_ROWS + 3;
        for number in 0..count {
            let name = format!("n{number}");
            rows.push(&[Cell::Text(&name), Cell::count(number as u64), Cell::Float(0.5)]).unwrap();
        }
        assert_eq!(rows.finish().unwrap(), count as u64);
        let text = String::from_utf8(out.0.lock().unwrap().clone()).unwrap();
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("name,count,share"));
        for number in 0..count {
            assert_eq!(lines.next().unwrap(), format!("n{number},{number},0.5"));
        }
        assert_eq!(lines.next(), None);
    }
}
