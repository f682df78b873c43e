//! What a partition does with one stretch of rows: reads the documents, asks the analyzers, applies the condition.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array as _, ArrayRef, Int32Array, Int64Array, RecordBatch, RecordBatchOptions, StringViewArray,
    TimestampMillisecondArray,
};
use datafusion::arrow::compute::kernels::zip::zip;
use datafusion::arrow::compute::{filter, filter_record_batch, is_not_null};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::{DataFusionError, Result, internal_datafusion_err};
use datafusion::physical_expr::PhysicalExpr;
use mattock_analyze::Document;
use mattock_env::UnixTime;

use super::computed::{Builders, Computed, fulfilled};
use super::reader::{Reader, Stored, told};
use super::tally::{RECORD, Tally};
use crate::kept::values::ValueReader;

/// What a partition reads with: documents, and the kept values of each computed column that has some.
pub(super) struct Readers {
    pub(super) documents: Reader,
    values: Vec<Option<ValueReader>>,
    /// Documents under way: room that is taken once, since what is given back to the system comes again page by page.
    bytes: Vec<u8>,
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

    fn document<'d>(&self, row: usize, status: u16, head: &'d [u8], body: &'d [u8]) -> Document<'d>
    where
        'a: 'd,
    {
        let url = self.url.value(row);
        Document::new(url, self.time_us(row), status, head, body, self.truncated(row))
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
        Readers { documents, values: values.collect(), bytes: Vec::new() }
    }

    /// The rows of a stretch that fulfil the condition, with what was asked for, in one or more batches.
    pub(super) fn run(&self, readers: &mut Readers, rows: &RecordBatch) -> Result<Vec<RecordBatch>> {
        let mut done = Vec::new();
        let mut next = 0;
        while next < rows.num_rows() {
            // What only the condition needs, or only the answer, is computed as documents are read; otherwise they wait for the condition.
            let at_once = self.first == 0 && self.condition.is_none() || self.first == self.computed.len();
            let (count, batch) = match at_once {
                true => self.at_once(readers, rows, next)?,
                false => self.one_after_the_other(readers, rows, next)?,
            };
            next += count;
            if batch.num_rows() > 0 {
                done.push(batch);
            }
        }
        Ok(done)
    }

    /// Computes all columns of each document while it lies where it was read. Gives how many rows were looked at.
    fn at_once(
        &self,
        readers: &mut Readers,
        rows: &RecordBatch,
        first: usize,
    ) -> Result<(usize, RecordBatch)> {
        let places = Places::new(rows)?;
        let mut builders = Builders::new(&self.computed);
        let (mut taken, mut row) = (0, first);
        while row < rows.num_rows() && taken < self.bytes_max {
            let (kept_bytes, unknown) = self.known(rows, row)?;
            let stored = unknown.then(|| self.stored(&mut readers.documents, &places, row)).flatten();
            taken += kept_bytes + stored.as_ref().map_or(0, |stored| stored.head.len() + stored.body.len());
            let document = stored.map(|stored| places.document(row, stored.status, stored.head, stored.body));
            builders.add(&self.computed, rows, row, document.as_ref(), places.url.value(row), &self.tally);
            row += 1;
        }
        let part = rows.slice(first, row - first);
        let columns = self.finished(&self.computed, builders, &mut readers.values, &part)?;
        let Some((condition, schema)) = &self.condition else {
            return Ok((row - first, self.projected(&part, &columns)?));
        };
        let mask = fulfilled(condition, schema, &part, &columns)?;
        let columns = columns.iter().map(|column| filter(column, &mask)).collect::<Result<Vec<_>, _>>()?;
        Ok((row - first, self.projected(&filter_record_batch(&part, &mask)?, &columns)?))
    }

    /// Computes what the condition needs, and the other columns of those documents that fulfil it. Gives how many rows were looked at.
    fn one_after_the_other(
        &self,
        readers: &mut Readers,
        rows: &RecordBatch,
        first: usize,
    ) -> Result<(usize, RecordBatch)> {
        let Readers { documents, values, bytes } = readers;
        bytes.clear();
        // One long document must not keep its room for ever.
        bytes.shrink_to(2 * self.bytes_max);
        let loaded = self.load(documents, rows, first, bytes)?;
        let part = rows.slice(first, loaded.len());
        Ok((loaded.len(), self.finish(values, &part, &loaded, bytes)?))
    }

    /// What the kept values of a row take, and whether anything of it has to be computed.
    fn known(&self, rows: &RecordBatch, row: usize) -> Result<(usize, bool)> {
        let (mut bytes, mut unknown) = (0, false);
        for column in &self.computed {
            match &column.kept {
                Some(kept) if rows.column(kept.place).is_valid(row) => {
                    bytes += usize::try_from(numbers(rows, kept.bytes)?.value(row)).unwrap_or(0);
                }
                _ => unknown = true,
            }
        }
        Ok((bytes, unknown))
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
            let (kept, unknown) = self.known(rows, row)?;
            kept_bytes += kept;
            let stored = unknown.then(|| self.stored(reader, &places, row)).flatten();
            loaded.push(stored.map(|stored| {
                let start = bytes.len();
                bytes.extend_from_slice(stored.head);
                let middle = bytes.len();
                bytes.extend_from_slice(stored.body);
                Loaded { status: stored.status, head: start..middle, body: middle..bytes.len() }
            }));
            if bytes.len() + kept_bytes >= self.bytes_max {
                break;
            }
        }
        Ok(loaded)
    }

    /// The document of a row; `None` if there is none, or it cannot be read, which is counted.
    fn stored<'r>(&self, reader: &'r mut Reader, places: &Places<'_>, row: usize) -> Option<Stored<'r>> {
        if places.archive.is_null(row) || places.offset.is_null(row) {
            // Rows without a record: fetches that brought nothing.
            return None;
        }
        let number = |value: i32| u64::from(value as u32);
        let (offset, length) = (number(places.offset.value(row)), number(places.length.value(row)));
        let time = UnixTime::from_micros(places.time_us(row));
        match reader.read(places.archive.value(row), offset, length, places.url.value(row), time) {
            Ok(stored) => {
                Tally::add(&self.tally.records_read, 1);
                // Where the server or the crawler broke off, the index says so.
                if let Some(flaw) = stored.flaw.filter(|_| !places.truncated(row)) {
                    self.tally.decoded_in_part(places.url.value(row), told(flaw));
                }
                Some(stored)
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
                Some(places.document(row, loaded.status, head, body))
            })
            .collect();
        let all: Vec<usize> = (0..rows.num_rows()).collect();
        let (first_values, other_values) = values.split_at_mut(self.first);
        let mut columns = self.compute(&self.computed[..self.first], first_values, rows, &documents, &all)?;
        let (rows, chosen) = match &self.condition {
            None => (rows.clone(), all),
            Some((condition, schema)) => {
                let mask = fulfilled(condition, schema, rows, &columns)?;
                for column in &mut columns {
                    *column = filter(column, &mask)?;
                }
                let chosen = all.into_iter().filter(|row| mask.value(*row)).collect();
                (filter_record_batch(rows, &mask)?, chosen)
            }
        };
        let others = &self.computed[self.first..];
        columns.extend(self.compute(others, other_values, &rows, &documents, &chosen)?);
        self.projected(&rows, &columns)
    }

    /// What comes out, of the input's columns and those that were computed.
    fn projected(&self, rows: &RecordBatch, columns: &[ArrayRef]) -> Result<RecordBatch> {
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
        let mut builders = Builders::new(computed);
        let urls: &StringViewArray = typed(rows, PLACE[3])?;
        // Document by document, so that what one analyzer found out is still at hand for the next.
        for (row, document) in chosen.iter().map(|at| &documents[*at]).enumerate() {
            builders.add(computed, rows, row, document.as_ref(), urls.value(row), &self.tally);
        }
        self.finished(computed, builders, values, rows)
    }

    /// The columns of `rows`: what was computed, and what was kept.
    fn finished(
        &self,
        computed: &[Computed],
        builders: Builders,
        values: &mut [Option<ValueReader>],
        rows: &RecordBatch,
    ) -> Result<Vec<ArrayRef>> {
        let urls: &StringViewArray = typed(rows, PLACE[3])?;
        let mut columns = Vec::new();
        for ((column, builder), values) in computed.iter().zip(builders.columns).zip(values) {
            let array = builder.finish();
            let found = match (&column.kept, values) {
                (Some(kept), Some(values)) => {
                    values.read(numbers(rows, kept.place)?)?.map(|found| (kept, found))
                }
                _ => None,
            };
            columns.push(match found {
                Some((kept, (values, errors))) => {
                    self.count_kept(column, urls, rows.column(kept.place), &errors)?;
                    zip(&is_not_null(rows.column(kept.place))?, &values, &array)?
                }
                None => array,
            });
        }
        Ok(columns)
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

fn not_text() -> DataFusionError {
    internal_datafusion_err!("kept errors are no text")
}
