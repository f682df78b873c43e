//! What a partition does with one stretch of rows: reads the documents, asks the analyzers, applies the condition.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use datafusion::arrow::array::{
    Array as _, ArrayRef, BooleanArray, Int32Array, Int64Array, RecordBatch, RecordBatchOptions,
    StringViewArray, TimestampMillisecondArray,
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
use crate::kept::values::{ValueReader, Values};

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

/// Values that were computed before, and the columns of the input that tell where.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    /// Not null where there is such a value.
    pub(crate) place: usize,
    /// What it takes.
    pub(crate) bytes: usize,
    /// The values.
    pub(crate) values: Arc<Values>,
}

/// What a partition reads with: documents, and the kept values of each computed column that has some.
pub(super) struct Readers {
    pub(super) documents: Reader,
    values: Vec<Option<ValueReader>>,
}

impl Readers {
    /// Bytes of kept values that were read so far.
    pub(super) fn kept_bytes_read(&self) -> u64 {
        self.values.iter().flatten().map(ValueReader::bytes_read).sum()
    }
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
    /// What a partition needs for it.
    pub(super) fn readers(&self, documents: Reader) -> Readers {
        let values = self.computed.iter().map(|column| {
            let kept = column.kept.as_ref()?;
            Some(ValueReader::new(&kept.values))
        });
        Readers { documents, values: values.collect() }
    }

    /// The rows of a stretch that fulfil the condition, with what was asked for, in one or more batches.
    pub(super) fn run(&self, readers: &mut Readers, rows: &RecordBatch) -> Result<Vec<RecordBatch>> {
        let mut done = Vec::new();
        let mut next = 0;
        let mut bytes = Vec::new();
        while next < rows.num_rows() {
            bytes.clear();
            let loaded = self.load(&mut readers.documents, rows, next, &mut bytes)?;
            let part = rows.slice(next, loaded.len());
            next += loaded.len();
            let batch = self.finish(&mut readers.values, &part, &loaded, &bytes)?;
            if batch.num_rows() > 0 {
                done.push(batch);
            }
        }
        Ok(done)
    }

    /// Reads documents from row `first` on, until memory is full, with the kept values that will come, or the stretch ends.
    fn load(
        &self,
        reader: &mut Reader,
        rows: &RecordBatch,
        first: usize,
        bytes: &mut Vec<u8>,
    ) -> Result<Vec<Option<Loaded>>> {
        let places = Places::new(rows)?;
        let mut loaded = Vec::new();
        let mut kept_bytes = 0;
        for row in first..rows.num_rows() {
            let mut unknown = false;
            for column in &self.computed {
                match &column.kept {
                    Some(kept) if rows.column(kept.place).is_valid(row) => {
                        let size = numbers(rows, kept.bytes)?.value(row);
                        kept_bytes += usize::try_from(size).unwrap_or(0);
                    }
                    _ => unknown = true,
                }
            }
            loaded.push(if unknown { self.read(reader, &places, row, bytes) } else { None });
            if bytes.len() + kept_bytes >= self.bytes_max {
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

    fn finish(
        &self,
        values: &mut [Option<ValueReader>],
        rows: &RecordBatch,
        loaded: &[Option<Loaded>],
        bytes: &[u8],
    ) -> Result<RecordBatch> {
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
        let (first_values, other_values) = values.split_at_mut(self.first);
        let mut columns = self.compute(&self.computed[..self.first], first_values, rows, &documents, &all)?;
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
        let others = &self.computed[self.first..];
        columns.extend(self.compute(others, other_values, &rows, &documents, &chosen)?);
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
        values: &mut [Option<ValueReader>],
        rows: &RecordBatch,
        documents: &[Option<Document<'_>>],
        chosen: &[usize],
    ) -> Result<Vec<ArrayRef>> {
        let mut builders: Vec<ColumnBuilder> =
            computed.iter().map(|column| ColumnBuilder::new(column.value.kind())).collect();
        let mut reasons: Vec<Option<String>> = vec![None; computed.len()];
        let urls: &StringViewArray = typed(rows, PLACE[3])?;
        let mut kept = Vec::new();
        for (column, values) in computed.iter().zip(values) {
            kept.push(match (&column.kept, values) {
                (Some(kept), Some(values)) => {
                    let found = values.read(numbers(rows, kept.place)?)?;
                    if let Some((_, errors)) = &found {
                        self.count_kept(column, urls, rows.column(kept.place), errors)?;
                    }
                    found
                }
                _ => None,
            });
        }
        // Document by document, so that what one analyzer found out is still at hand for the next.
        for (row, document) in chosen.iter().map(|at| &documents[*at]).enumerate() {
            for (at, (column, builder)) in computed.iter().zip(&mut builders).enumerate() {
                if let Some(kept) = &column.kept
                    && rows.column(kept.place).is_valid(row)
                {
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
        let columns = computed.iter().zip(builders).zip(kept).map(|((column, builder), found)| {
            let array = builder.finish();
            match (&column.kept, found) {
                (Some(kept), Some((values, _))) => {
                    Ok(zip(&is_not_null(rows.column(kept.place))?, &values, &array)?)
                }
                _ => Ok(array),
            }
        });
        columns.collect()
    }

    /// Counts values that were kept, and failures among them.
    fn count_kept(
        &self,
        column: &Computed,
        urls: &StringViewArray,
        places: &ArrayRef,
        errors: &ArrayRef,
    ) -> Result<()> {
        Tally::add(&self.tally.values_kept, (places.len() - places.null_count()) as u64);
        let errors: &StringViewArray = errors.as_any().downcast_ref().ok_or_else(not_text)?;
        for (row, error) in errors.iter().enumerate() {
            if let Some(error) = error {
                self.tally.failed(column.field.name(), urls.value(row), error);
            }
        }
        Ok(())
    }
}

fn numbers(rows: &RecordBatch, column: usize) -> Result<&Int64Array> {
    let numbers = rows.column(column).as_any().downcast_ref();
    numbers.ok_or_else(|| internal_datafusion_err!("places and sizes are no numbers"))
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
