//! Keeps a computed column beside the index, so that queries need not compute it again.
//!
//! Values are computed once for each distinct payload and written to `DIR/columns/NAME-VERSION/`, failures with their reasons;
//! what is there already is not computed again. A document that cannot be read is left out, and tried again the next time. A new
//! file gets its name when it is whole. Stopped half-way, what has been computed is kept.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use datafusion::arrow::array::{AsArray as _, BooleanArray, RecordBatch};
use datafusion::arrow::compute::filter_record_batch;
use datafusion::arrow::datatypes::{DataType, Field, SchemaRef};
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{LogicalPlanBuilder, ident};
use mattock_analyze::Analyzer;
use mattock_env::{File, OpenMode};

use crate::cancel::Cancel;
use crate::columns::{Column, Origin};
use crate::complaint::nearest;
use crate::content::tally::Tally;
use crate::documents::{DOCUMENTS, Missing};
use crate::error::QueryError;
use crate::kept::{self, KeptColumn};
use crate::query::{Dates, Progress, Query, Report};
use crate::session::Session;
use crate::sink::{ParquetSink, Sink};

/// The name of the column of failures while it is computed, and what it says of documents that cannot be read.
const ERROR: &str = "__error";
const UNREADABLE: &str = "\u{0}unreadable";

/// What was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Materialized {
    /// The new file; `None` if nothing was missing.
    pub file: Option<PathBuf>,
    /// What was done for it; its rows are the values in the file.
    pub report: Report,
}

impl Session {
    /// Keeps the column `name`.
    pub fn materialize(
        &self,
        name: &str,
        progress: &mut dyn FnMut(&Progress),
        cancel: &Cancel,
    ) -> Result<Materialized, QueryError> {
        let analyzer = self.analyzer(name)?;
        let inner = &self.inner;
        let directory = kept::directory(&inner.source.dir, analyzer.as_ref());
        let io = |error| QueryError::Io { path: directory.clone(), source: error };
        inner.files.create_dir_all(&directory).map_err(io)?;
        let number = kept::files_of(&inner.files, &directory).map_err(io)?.len();
        let path = directory.join(format!("part-{number:05}.parquet"));
        let unfinished = directory.join(format!("part-{number:05}.parquet.tmp"));
        let file = inner.files.open(&unfinished, OpenMode::CreateOrTruncate).map_err(io)?;
        let mut sink = KeptSink {
            schema: kept::schema(analyzer.as_ref()),
            sink: ParquetSink::new(FileWriter { file, written: 0 }),
            rows: 0,
        };
        let ran = self.missing(&analyzer).and_then(|query| query.run(&mut sink, progress, cancel));
        let mut report = match ran {
            Ok(report) => report,
            Err(error) => {
                // There is another error to tell of.
                let _ = inner.files.remove_file(&unfinished);
                return Err(match error {
                    QueryError::Output(source) => QueryError::Io { path, source },
                    error => error,
                });
            }
        };
        report.rows = sink.rows;
        if sink.rows == 0 {
            inner.files.remove_file(&unfinished).map_err(io)?;
            return Ok(Materialized { file: None, report });
        }
        inner.files.rename(&unfinished, &path).map_err(io)?;
        inner.files.sync_dir(&directory).map_err(io)?;
        Ok(Materialized { file: Some(path), report })
    }

    fn analyzer(&self, name: &str) -> Result<Arc<dyn Analyzer>, QueryError> {
        match self.inner.columns.find(name).map(|column| column.origin) {
            Some(Origin::Analyzer(analyzer)) => Ok(analyzer),
            Some(_) => Err(QueryError::NoAnalyzer {
                name: name.to_string(),
                hint: ": this column is not computed, so there is nothing to keep".to_string(),
            }),
            None => {
                let names = self.inner.columns.names();
                let hint = nearest(name, names.iter().map(String::as_str));
                let hint = hint.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
                Err(QueryError::NoAnalyzer { name: name.to_string(), hint })
            }
        }
    }

    /// The query for key, value and failure of every payload that no value is kept of.
    fn missing(&self, analyzer: &Arc<dyn Analyzer>) -> Result<Query, QueryError> {
        let inner = &self.inner;
        let io = QueryError::io(&inner.source.dir);
        let kept = KeptColumn::open(&inner.files, &inner.source.dir, analyzer.as_ref()).map_err(io)?;
        let key = kept::key_of(analyzer.as_ref());
        let schema = kept::schema(analyzer.as_ref());
        let value = Column {
            field: schema.field(1).clone().with_name(analyzer.name()),
            origin: Origin::Analyzer(analyzer.clone()),
        };
        let error = Column {
            field: Field::new(ERROR, DataType::Utf8View, true),
            origin: Origin::FailureOfLast(UNREADABLE),
        };
        let tally = Arc::new(Tally::default());
        let state = self.state_for(value.is_wide());
        let table = self.table(vec![value, error], Dates::default(), Some(Missing { key, kept }), &tally)?;
        let plan = LogicalPlanBuilder::scan(DOCUMENTS, provider_as_source(Arc::new(table)), None)?
            .project(vec![ident(key), ident(analyzer.name()), ident(ERROR)])?
            .build()?;
        Ok(Query {
            session: self.clone(),
            plan: state.optimize(&plan)?,
            state,
            tally,
            seeds: Vec::new(),
            dates: Dates::default(),
        })
    }
}

/// Leaves out documents that could not be read, and writes the others.
struct KeptSink {
    schema: SchemaRef,
    sink: ParquetSink<FileWriter>,
    rows: u64,
}

impl Sink for KeptSink {
    fn begin(&mut self, _: &SchemaRef) -> io::Result<()> {
        let schema = self.schema.clone();
        self.sink.begin(&schema)
    }

    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        let errors = batch.column(2).as_string_view();
        let readable: BooleanArray = errors.iter().map(|error| Some(error != Some(UNREADABLE))).collect();
        let named =
            RecordBatch::try_new(self.schema.clone(), batch.columns().to_vec()).map_err(io::Error::other)?;
        let batch = filter_record_batch(&named, &readable).map_err(io::Error::other)?;
        debug_assert_eq!(readable.len(), named.num_rows());
        self.rows += batch.num_rows() as u64;
        self.sink.write(&batch)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.sink.finish()
    }
}

/// A file of `env`, written from front to back, and made durable by the last flush.
struct FileWriter {
    file: File,
    written: u64,
}

impl Write for FileWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write_all_at(bytes, self.written)?;
        self.written += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.sync()
    }
}
