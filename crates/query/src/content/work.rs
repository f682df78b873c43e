//! What a partition does with one stretch of rows: reads the documents, asks the analyzers, applies the condition.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use datafusion::arrow::array::{
    Array as _, ArrayRef, BooleanArray, Int32Array, RecordBatch, RecordBatchOptions, StringViewArray,
    TimestampMillisecondArray,
};
use datafusion::arrow::compute::kernels::zip::zip;
use datafusion::arrow::compute::{filter, filter_record_batch, is_not_null, prep_null_mask_filter};
use datafusion::arrow::datatypes::{Field, SchemaRef};
use datafusion::common::cast::as_boolean_array;
use datafusion::common::{DataFusionError, Result, internal_datafusion_err};
use datafusion::physical_expr::PhysicalExpr;
use mattock_analyze::{self as analyze, Analyzer, Document, Kind};

use super::build::ColumnBuilder;
use super::reader::Reader;
use super::tally::{RECORD, Tally};

/// A column to be computed.
#[derive(Clone)]
pub(crate) struct Computed {
    /// Its name and type.
    pub(crate) field: Field,
    /// What it is made of.
    pub(crate) value: Value,
    /// Where the input has values of it that were computed before.
    pub(crate) kept: Option<Kept>,
}

/// What a column is made of.
#[derive(Clone)]
pub(crate) enum Value {
    /// The document's bytes.
    Body,
    /// What an analyzer says.
    Analyzer(Arc<dyn Analyzer>),
    /// Why the analyzer of another column failed; this text if the document could not be read.
    FailureOf(usize, &'static str),
}

impl Value {
    fn kind(&self) -> Option<Kind> {
        match self {
            Value::Body => None,
            Value::Analyzer(analyzer) => Some(analyzer.kind()),
            Value::FailureOf(..) => Some(Kind::Text),
        }
    }
}

/// Columns of the input with values that were computed before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    /// Not null where there is such a value.
    pub(crate) key: usize,
    /// The value.
    pub(crate) value: usize,
    /// Why there is none.
    pub(crate) error: usize,
}

/// What is to be done. The same for all partitions.
pub(crate) struct Work {
    /// Columns to compute; those of the condition first.
    pub(crate) computed: Vec<Computed>,
    /// How many of them the condition needs.
    pub(crate) first: usize,
    /// The condition, on the input's columns followed by the first computed ones, and the schema of both.
    pub(crate) condition: Option<(Arc<dyn PhysicalExpr>, SchemaRef)>,
    /// What comes out: places among the input's columns followed by the computed ones.
    pub(crate) projection: Vec<usize>,
    /// And its schema.
    pub(crate) output: SchemaRef,
    /// Documents of one stretch may take so much memory, or one document more.
    pub(crate) bytes_max: usize,
    /// What was done.
    pub(crate) tally: Arc<Tally>,
}

/// The columns that say where documents are.
struct Places<'a> {
    archive: &'a StringViewArray,
    offset: &'a Int32Array,
    length: &'a Int32Array,
    url: &'a StringViewArray,
    time: &'a TimestampMillisecondArray,
    truncated: Option<&'a StringViewArray>,
}

/// The columns of the index that are needed to read a document.
pub(crate) const PLACE: [&str; 6] =
    ["warc_filename", "warc_record_offset", "warc_record_length", "url", "fetch_time", "content_truncated"];

pub(super) fn typed<'a, T: 'static>(batch: &'a RecordBatch, name: &str) -> Result<&'a T> {
    let column = batch.column_by_name(name).and_then(|column| column.as_any().downcast_ref());
    column.ok_or_else(|| internal_datafusion_err!("the index has no column {name} of the type expected"))
}

impl<'a> Places<'a> {
    fn new(batch: &'a RecordBatch) -> Result<Places<'a>> {
        Ok(Places {
            archive: typed(batch, PLACE[0])?,
            offset: typed(batch, PLACE[1])?,
            length: typed(batch, PLACE[2])?,
            url: typed(batch, PLACE[3])?,
            time: typed(batch, PLACE[4])?,
            truncated: typed(batch, PLACE[5]).ok(),
        })
    }

    fn truncated(&self, row: usize) -> bool {
        self.truncated.is_some_and(|truncated| truncated.is_valid(row))
    }

    fn time_us(&self, row: usize) -> i64 {
        self.time.value(row).saturating_mul(1_000)
    }
}

/// Where a document lies in memory.
struct Loaded {
    status: u16,
    head: std::ops::Range<usize>,
    body: std::ops::Range<usize>,
}

impl Work {
    /// The rows of a stretch that fulfil the condition, with what was asked for, in one or more batches.
    pub(super) fn run(&self, reader: &mut Reader, rows: &RecordBatch) -> Result<Vec<RecordBatch>> {
        let mut done = Vec::new();
        let mut next = 0;
        let mut bytes = Vec::new();
        while next < rows.num_rows() {
            bytes.clear();
            let loaded = self.load(reader, rows, next, &mut bytes)?;
            let part = rows.slice(next, loaded.len());
            next += loaded.len();
            let batch = self.finish(&part, &loaded, &bytes)?;
            if batch.num_rows() > 0 {
                done.push(batch);
            }
        }
        Ok(done)
    }

    /// Reads documents from row `first` on, until memory is full or the stretch ends.
    fn load(
        &self,
        reader: &mut Reader,
        rows: &RecordBatch,
        first: usize,
        bytes: &mut Vec<u8>,
    ) -> Result<Vec<Option<Loaded>>> {
        let places = Places::new(rows)?;
        let mut loaded = Vec::new();
        for row in first..rows.num_rows() {
            let unknown = self
                .computed
                .iter()
                .any(|column| column.kept.is_none_or(|kept| rows.column(kept.key).is_null(row)));
            loaded.push(if unknown { self.read(reader, &places, row, bytes) } else { None });
            if bytes.len() >= self.bytes_max {
                break;
            }
        }
        Ok(loaded)
    }

    fn read(
        &self,
        reader: &mut Reader,
        places: &Places<'_>,
        row: usize,
        bytes: &mut Vec<u8>,
    ) -> Option<Loaded> {
        if places.archive.is_null(row) || places.offset.is_null(row) {
            // Rows without a record: fetches that brought nothing.
            return None;
        }
        let number = |value: i32| u64::from(value as u32);
        let (offset, length) = (number(places.offset.value(row)), number(places.length.value(row)));
        match reader.read(places.archive.value(row), offset, length, places.url.value(row)) {
            Ok(stored) => {
                Tally::add(&self.tally.records_read, 1);
                let start = bytes.len();
                bytes.extend_from_slice(stored.head);
                let middle = bytes.len();
                bytes.extend_from_slice(stored.body);
                Some(Loaded { status: stored.status, head: start..middle, body: middle..bytes.len() })
            }
            Err(reason) => {
                self.tally.failed(RECORD, places.url.value(row), &reason);
                None
            }
        }
    }

    fn finish(&self, rows: &RecordBatch, loaded: &[Option<Loaded>], bytes: &[u8]) -> Result<RecordBatch> {
        let places = Places::new(rows)?;
        let documents: Vec<Option<Document<'_>>> = loaded
            .iter()
            .enumerate()
            .map(|(row, loaded)| {
                let loaded = loaded.as_ref()?;
                let (head, body) = (&bytes[loaded.head.clone()], &bytes[loaded.body.clone()]);
                let url = places.url.value(row);
                Some(Document::new(
                    url,
                    places.time_us(row),
                    loaded.status,
                    head,
                    body,
                    places.truncated(row),
                ))
            })
            .collect();
        let all: Vec<usize> = (0..rows.num_rows()).collect();
        let mut columns = self.compute(&self.computed[..self.first], rows, &documents, &all)?;
        let (rows, chosen) = match &self.condition {
            None => (rows.clone(), all),
            Some((condition, schema)) => {
                let inputs = rows.columns().iter().chain(&columns).cloned().collect();
                let answer = condition
                    .evaluate(&RecordBatch::try_new(schema.clone(), inputs)?)?
                    .into_array(rows.num_rows())?;
                let mask = true_only(as_boolean_array(&answer)?);
                for column in &mut columns {
                    *column = filter(column, &mask)?;
                }
                let chosen = all.into_iter().filter(|row| mask.value(*row)).collect();
                (filter_record_batch(rows, &mask)?, chosen)
            }
        };
        columns.extend(self.compute(&self.computed[self.first..], &rows, &documents, &chosen)?);
        let input = rows.num_columns();
        let output = self
            .projection
            .iter()
            .map(|at| if *at < input { rows.column(*at).clone() } else { columns[*at - input].clone() });
        let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
        Ok(RecordBatch::try_new_with_options(self.output.clone(), output.collect(), &options)?)
    }

    /// The columns for the documents at `chosen`, of which `rows` are the rows.
    fn compute(
        &self,
        computed: &[Computed],
        rows: &RecordBatch,
        documents: &[Option<Document<'_>>],
        chosen: &[usize],
    ) -> Result<Vec<ArrayRef>> {
        let mut builders: Vec<ColumnBuilder> =
            computed.iter().map(|column| ColumnBuilder::new(column.value.kind())).collect();
        let mut reasons: Vec<Option<String>> = vec![None; computed.len()];
        let urls: &StringViewArray = typed(rows, PLACE[3])?;
        // Document by document, so that what one analyzer found out is still at hand for the next.
        for (row, document) in chosen.iter().map(|at| &documents[*at]).enumerate() {
            for (at, (column, builder)) in computed.iter().zip(&mut builders).enumerate() {
                if let Some(kept) = column.kept
                    && rows.column(kept.key).is_valid(row)
                {
                    Tally::add(&self.tally.values_kept, 1);
                    let errors: &StringViewArray =
                        rows.column(kept.error).as_any().downcast_ref().ok_or_else(not_text)?;
                    if errors.is_valid(row) {
                        self.tally.failed(column.field.name(), urls.value(row), errors.value(row));
                    }
                    builder.append_null();
                    continue;
                }
                let answer = match (document, &column.value) {
                    (None, Value::FailureOf(_, unreadable)) => {
                        Ok(analyze::Value::Text((*unreadable).to_string()))
                    }
                    (None, _) => Ok(analyze::Value::Null),
                    (Some(document), Value::Body) => {
                        builder.append_bytes(document.body);
                        continue;
                    }
                    (Some(_), Value::FailureOf(of, _)) => {
                        Ok(reasons[*of].take().map_or(analyze::Value::Null, analyze::Value::Text))
                    }
                    (Some(document), Value::Analyzer(analyzer)) => ask(analyzer.as_ref(), document),
                };
                if let Err(reason) = answer.and_then(|value| builder.append(value)) {
                    builder.append_null();
                    self.tally.failed(column.field.name(), urls.value(row), &reason);
                    reasons[at] = Some(reason);
                }
            }
        }
        let columns = computed.iter().zip(builders).map(|(column, builder)| {
            let array = builder.finish();
            match column.kept {
                Some(kept) => Ok(zip(&is_not_null(rows.column(kept.key))?, rows.column(kept.value), &array)?),
                None => Ok(array),
            }
        });
        columns.collect()
    }
}

/// What an analyzer says of a document, or why it says nothing. One that panics has failed on this document, and on no other.
fn ask(analyzer: &dyn Analyzer, document: &Document<'_>) -> std::result::Result<analyze::Value, String> {
    match catch_unwind(AssertUnwindSafe(|| analyzer.analyze(document))) {
        Ok(answer) => answer.map_err(|error| error.to_string()),
        Err(_) => Err("the analyzer panicked".to_string()),
    }
}

fn not_text() -> DataFusionError {
    internal_datafusion_err!("kept errors are no text")
}

/// Null counts as false.
fn true_only(answer: &BooleanArray) -> BooleanArray {
    if answer.null_count() == 0 { answer.clone() } else { prep_null_mask_filter(answer) }
}
