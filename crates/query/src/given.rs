//! Tables beside the repository's own: CSV and Parquet files that the user has named, for SQL.
//!
//! A file is looked at when a session is opened, so that what is wrong with it is said before anything is computed, and read anew by each query. Of
//! a CSV file a first pass finds the types of columns: numbers, dates, truth values, and text where nothing else fits all of the first million
//! lines. Rows are handed on as they are read: a file need not fit into memory.

use std::collections::BTreeSet;
use std::io::{self, BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use datafusion::arrow::csv::ReaderBuilder;
use datafusion::arrow::csv::reader::Format;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::catalog::streaming::StreamingTable;
use datafusion::common::DataFusionError;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::parquet::arrow::arrow_reader::ArrowReaderMetadata;
use datafusion::parquet::errors::Result as ParquetResult;
use datafusion::parquet::file::reader::{ChunkReader, Length};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use futures::stream;
use mattock_env::{File, Files, OpenMode};

use crate::error::QueryError;
use crate::metadata::{MetadataTable, with_views};
use crate::options::Options;

/// A table of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenTable {
    /// What it is called in queries.
    pub name: String,
    /// The names of a CSV file's columns; if there are none here, its first line has them.
    pub columns: Vec<String>,
    /// The file.
    pub path: PathBuf,
}

/// A table with its name.
pub(crate) type Opened = (String, Arc<dyn TableProvider>);

/// So many lines of a CSV file tell of what types its columns are.
const TYPED_LINES: usize = 1_000_000;

/// Looks at the files of all tables.
pub(crate) fn open(files: &Files, options: &Options) -> Result<Vec<Opened>, QueryError> {
    let table = |given: &GivenTable| match table(files, given, options.batch_rows()) {
        Ok(table) => Ok((given.name.clone(), table)),
        Err(reason) => Err(QueryError::Table { path: given.path.clone(), reason }),
    };
    options.tables.iter().map(table).collect()
}

fn table(files: &Files, given: &GivenTable, batch_rows: usize) -> Result<Arc<dyn TableProvider>, String> {
    let path = std::path::absolute(&given.path).map_err(|error| error.to_string())?;
    let file = match files.open(&path, OpenMode::Read) {
        Ok(file) => Arc::new(file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err("there is no such file".into()),
        Err(error) => return Err(error.to_string()),
    };
    let length = file.len().map_err(|error| error.to_string())?;
    let mut start = vec![0; usize::try_from(length.min(4096)).unwrap_or(4096)];
    file.read_exact_at(&mut start, 0).map_err(|error| match error.kind() {
        io::ErrorKind::IsADirectory => "it is a directory, and a table is one file".to_owned(),
        _ => error.to_string(),
    })?;
    match start.as_slice() {
        [] => Err("it is empty".into()),
        [b'P', b'A', b'R', b'1', ..] if !given.columns.is_empty() => {
            Err("Parquet files have names of columns themselves: leave out those in parentheses".into())
        }
        [b'P', b'A', b'R', b'1', ..] => parquet(files, &path, Reading { file, length, at: 0 }),
        [0x1f, 0x8b, ..] | [b'P', b'K', 3, 4, ..] | [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            Err("it is compressed: unpack it first".into())
        }
        start if start.contains(&0) => Err("it is neither CSV nor Parquet".into()),
        _ => csv(files, &path, given, Reading { file, length, at: 0 }, batch_rows),
    }
}

fn parquet(files: &Files, path: &Path, reading: Reading) -> Result<Arc<dyn TableProvider>, String> {
    let metadata = ArrowReaderMetadata::load(&reading, Default::default())
        .map_err(|error| format!("it begins as a Parquet file and cannot be read as one: {error}"))?;
    let schema = with_views(metadata.schema());
    let table = MetadataTable::of_parts(files, schema, &[path.to_path_buf()]);
    Ok(Arc::new(table.map_err(|error| error.to_string())?))
}

fn csv(
    files: &Files,
    path: &Path,
    given: &GivenTable,
    reading: Reading,
    batch_rows: usize,
) -> Result<Arc<dyn TableProvider>, String> {
    let has_names = given.columns.is_empty();
    let format = Format::default().with_header(has_names);
    let read = |error| format!("it cannot be read as CSV: {error}");
    let (found, _) = format.infer_schema(reading.clone().buffered(), Some(TYPED_LINES)).map_err(read)?;
    let names: Vec<String> = match has_names {
        true => found.fields().iter().map(|field| field.name().trim().to_lowercase()).collect(),
        false => given.columns.clone(),
    };
    if names.len() != found.fields().len() {
        return Err(format!(
            "it has {} columns, and there are {} names for them",
            found.fields().len(),
            names.len()
        ));
    }
    let mut seen = BTreeSet::new();
    for (at, name) in names.iter().enumerate() {
        if name.is_empty() || name.parse::<f64>().is_ok() {
            return Err(format!(
                "its first line has no name for column {}, but `{name}`; if it has no names at all, say them, as in --table '{}({})=FILE'",
                at + 1,
                given.name,
                (1..=names.len()).map(|at| format!("column{at}")).collect::<Vec<_>>().join(",")
            ));
        }
        if !seen.insert(name) {
            return Err(format!("two of its columns are called `{name}`"));
        }
    }
    let field = |(field, name): (&Arc<Field>, String)| {
        // Of a column that is empty all along nothing is known.
        let data_type = if field.data_type().is_null() { DataType::Utf8 } else { field.data_type().clone() };
        Field::new(name, data_type, true)
    };
    let schema = Arc::new(Schema::new(found.fields().iter().zip(names).map(field).collect::<Vec<_>>()));
    let lines = Lines {
        files: files.clone(),
        path: path.to_path_buf(),
        schema: schema.clone(),
        has_names,
        batch_rows,
    };
    let table = StreamingTable::try_new(schema, vec![Arc::new(lines)]);
    Ok(Arc::new(table.map_err(|error| error.to_string())?))
}

/// The lines of a CSV file.
#[derive(Debug)]
struct Lines {
    files: Files,
    path: PathBuf,
    schema: SchemaRef,
    has_names: bool,
    batch_rows: usize,
}

impl PartitionStream for Lines {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let builder = ReaderBuilder::new(self.schema.clone())
            .with_header(self.has_names)
            .with_batch_size(self.batch_rows);
        let rows = || -> Result<_, DataFusionError> {
            let file = self.files.open(&self.path, OpenMode::Read)?;
            let length = file.len()?;
            Ok(builder.build_buffered(Reading { file: Arc::new(file), length, at: 0 }.buffered())?)
        };
        let rows: Box<dyn Iterator<Item = _> + Send> = match rows() {
            Ok(reader) => Box::new(reader.map(|batch| batch.map_err(DataFusionError::from))),
            Err(error) => Box::new(std::iter::once(Err(error))),
        };
        Box::pin(RecordBatchStreamAdapter::new(self.schema.clone(), stream::iter(rows)))
    }
}

/// A file from a place on.
#[derive(Clone)]
struct Reading {
    file: Arc<File>,
    length: u64,
    at: u64,
}

impl Reading {
    /// The lines of a text, without the mark that some programs begin one with.
    fn buffered(self) -> BufReader<Reading> {
        let mut reader = BufReader::with_capacity(1 << 16, self);
        if reader.fill_buf().is_ok_and(|start| start.starts_with("\u{feff}".as_bytes())) {
            reader.consume("\u{feff}".len());
        }
        reader
    }
}

impl Read for Reading {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buffer, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

impl Length for Reading {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for Reading {
    type T = BufReader<Reading>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        Ok(BufReader::new(Reading { at: start, ..self.clone() }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        let end = start.saturating_add(length as u64).min(self.length);
        let mut bytes = vec![0; usize::try_from(end.saturating_sub(start)).unwrap_or(0)];
        self.file.read_exact_at(&mut bytes, start)?;
        Ok(bytes.into())
    }
}
