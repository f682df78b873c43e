//! Reads kept values by their places, and nothing else of the files: only the pages of Parquet that have them.
//!
//! Whoever reads documents asks for the values of a stretch of rows at a time, when it is known that they are wanted. Values are written in
//! about the order of the archives, in which they are asked for, so that a page is mostly read once; that of a payload that was met again lies anywhere, and
//! costs a page of its own, as its document would.
//!
//! Memory: the values asked for, the pages that they are on, and where the pages of the last few files are.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch, UInt32Array};
use datafusion::arrow::compute::{concat, take};
use datafusion::common::{DataFusionError, Result};
use datafusion::parquet::arrow::ProjectionMask;
use datafusion::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowSelection,
    RowSelectionPolicy, RowSelector,
};
use datafusion::parquet::errors::{ParquetError, Result as ParquetResult};
use datafusion::parquet::file::metadata::PageIndexPolicy;
use datafusion::parquet::file::reader::{ChunkReader, Length};
use mattock_env::{File, Files, OpenMode};

use super::{ERROR, Place, VALUE};
use crate::metadata::compacted;
use crate::sums::{Compared, Sums, damaged};

/// So many files are kept open.
const OPEN_MAX: usize = 8;

/// The files with the values of a column.
#[derive(Debug)]
pub(crate) struct Values {
    pub(super) files: Files,
    /// By number.
    pub(super) parts: BTreeMap<u32, PathBuf>,
    /// What is read is compared.
    pub(super) sums: Sums,
}

/// See the module. Each partition has its own.
pub(crate) struct ValueReader {
    values: Arc<Values>,
    /// The one used last comes first.
    open: Vec<(u32, Part)>,
    bytes_read: u64,
}

impl ValueReader {
    /// A reader of these values.
    pub(crate) fn new(values: &Arc<Values>) -> ValueReader {
        ValueReader { values: values.clone(), open: Vec::new(), bytes_read: 0 }
    }

    /// Bytes of pages that were read so far.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    /// The values at these places, and why there are none; null where no place is named. None of both if no place is named at all.
    pub(crate) fn read(&mut self, places: &Int64Array) -> Result<Option<(ArrayRef, ArrayRef)>> {
        let mut wanted: Vec<i64> = places.iter().flatten().collect();
        wanted.sort_unstable();
        wanted.dedup();
        let mut batches = Vec::new();
        for of_part in wanted.chunk_by(|one, other| Place(*one).part() == Place(*other).part()) {
            let part = self.part(Place(of_part[0]).part())?;
            let rows: Vec<u64> = of_part.iter().map(|place| Place(*place).row()).collect();
            let bytes = part.read(&rows, &mut batches)?;
            self.bytes_read += bytes;
        }
        if batches.is_empty() {
            return Ok(None);
        }
        let order: UInt32Array = places
            .iter()
            .map(|place| place.and_then(|place| wanted.binary_search(&place).ok()).map(|at| at as u32))
            .collect();
        let column = |name: &str| -> Result<ArrayRef> {
            let parts = batches.iter().map(|batch| {
                let column = batch.column_by_name(name);
                column.ok_or_else(|| DataFusionError::Internal(format!("a kept column without {name}")))
            });
            let parts = parts.collect::<Result<Vec<_>>>()?;
            let all = concat(&parts.iter().map(|part| part.as_ref()).collect::<Vec<_>>())?;
            // Whole pages would stay in memory for the few values that are taken from them.
            Ok(compacted(&take(&all, &order, None)?))
        };
        Ok(Some((column(VALUE)?, column(ERROR)?)))
    }

    fn part(&mut self, number: u32) -> Result<&Part> {
        let open = match self.open.iter().position(|(open, _)| *open == number) {
            Some(at) => self.open.remove(at),
            None => {
                self.open.truncate(OPEN_MAX - 1);
                (number, Part::open(&self.values, number)?)
            }
        };
        self.open.insert(0, open);
        Ok(&self.open[0].1)
    }
}

/// An open file.
struct Part {
    path: PathBuf,
    pages: Pages,
    metadata: ArrowReaderMetadata,
    /// The first row of each row group, and what follows the last one.
    starts: Vec<u64>,
}

impl Part {
    fn open(values: &Values, number: u32) -> Result<Part> {
        let path = values.parts.get(&number).cloned();
        let path = path.ok_or_else(|| DataFusionError::Internal(format!("no kept part {number}")))?;
        let failed = |error: &dyn std::fmt::Display| wrong(&path, error);
        let file = Arc::new(values.files.open(&path, OpenMode::Read).map_err(|error| failed(&error))?);
        let options = ArrowReaderOptions::new()
            .with_column_index_policy(PageIndexPolicy::Skip)
            .with_offset_index_policy(PageIndexPolicy::Required);
        let length = file.len().map_err(|error| failed(&error))?;
        let sums = values.sums.of(&std::path::absolute(&path)?);
        let pages = Pages { file, sums, length, read: Arc::default() };
        let metadata = ArrowReaderMetadata::load(&pages, options).map_err(|error| failed(&error))?;
        let mut starts = vec![0];
        for group in metadata.metadata().row_groups() {
            starts.push(starts[starts.len() - 1] + u64::try_from(group.num_rows()).unwrap_or(0));
        }
        Ok(Part { path, pages, metadata, starts })
    }

    /// Adds the rows, which are sorted. Gives the bytes of their pages.
    fn read(&self, rows: &[u64], into: &mut Vec<RecordBatch>) -> Result<u64> {
        let mut bytes = 0;
        let group_of = |row: u64| self.starts.partition_point(|start| *start <= row) - 1;
        for of_group in rows.chunk_by(|one, other| group_of(*one) == group_of(*other)) {
            let group = group_of(of_group[0]);
            if group + 1 >= self.starts.len() {
                return Err(wrong(&self.path, &"it has fewer values than it should"));
            }
            bytes += self.read_group(group, of_group, into).map_err(|error| wrong(&self.path, &error))?;
        }
        Ok(bytes)
    }

    fn read_group(&self, group: usize, rows: &[u64], into: &mut Vec<RecordBatch>) -> ParquetResult<u64> {
        let selection = selection(rows, self.starts[group], self.starts[group + 1]);
        let metadata = self.metadata.metadata();
        let schema = metadata.file_metadata().schema_descr();
        let wanted = |leaf: &usize| [VALUE, ERROR].contains(&schema.get_column_root(*leaf).name());
        let leaves: Vec<usize> = (0..schema.num_columns()).filter(wanted).collect();
        let offsets = metadata.offset_index().and_then(|index| index.get(group));
        let offsets = offsets.ok_or_else(|| ParquetError::General("it has no index of its pages".into()))?;
        let ranges = leaves.iter().flat_map(|leaf| selection.scan_ranges(offsets[*leaf].page_locations()));
        let mut ranges: Vec<Range<u64>> = ranges.collect();
        ranges.sort_by_key(|range| range.start);
        ranges.dedup();
        let bytes = self.pages.fetch(&ranges)?;
        let read = ranges.iter().map(|range| range.start).zip(bytes).collect();
        let pages = Pages { read: Arc::new(read), ..self.pages.clone() };
        let batches = ParquetRecordBatchReaderBuilder::new_with_metadata(pages, self.metadata.clone())
            .with_projection(ProjectionMask::leaves(schema, leaves))
            .with_row_groups(vec![group])
            .with_row_selection(selection)
            .with_row_selection_policy(RowSelectionPolicy::Selectors)
            .with_batch_size(rows.len())
            .build()?;
        for batch in batches {
            into.push(batch?);
        }
        Ok(ranges.iter().map(|range| range.end - range.start).sum())
    }
}

fn wrong(path: &std::path::Path, error: &dyn std::fmt::Display) -> DataFusionError {
    DataFusionError::External(
        format!(
            "kept values in {}: {error}; `mattock materialize DIR COLUMN --drop` forgets them",
            path.display()
        )
        .into(),
    )
}

/// Those rows, counted from `start`, and none of the others before `end`.
fn selection(rows: &[u64], start: u64, end: u64) -> RowSelection {
    let mut selectors = Vec::new();
    let mut next = start;
    for row in rows {
        selectors.push(RowSelector::skip(usize::try_from(row - next).unwrap_or(usize::MAX)));
        selectors.push(RowSelector::select(1));
        next = row + 1;
    }
    selectors.push(RowSelector::skip(usize::try_from(end - next).unwrap_or(usize::MAX)));
    RowSelection::from(selectors)
}

/// A file of which some pages are read already.
#[derive(Clone)]
struct Pages {
    file: Arc<File>,
    sums: Option<Arc<Compared>>,
    length: u64,
    /// By where they begin.
    read: Arc<BTreeMap<u64, Bytes>>,
}

impl Pages {
    /// The bytes of these ranges, as they were written.
    fn fetch(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Bytes>> {
        if let Some(sums) = &self.sums {
            return sums.read(&self.file, ranges);
        }
        // Before there is memory for them.
        if ranges.iter().any(|range| range.start > range.end || range.end > self.length) {
            return Err(damaged("it names bytes behind its end"));
        }
        Ok(self.file.read_ranges(ranges)?.into_iter().map(Bytes::from).collect())
    }
}

impl Length for Pages {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for Pages {
    type T = io::BufReader<Following>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        Ok(io::BufReader::new(Following { pages: self.clone(), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        if let Some((at, page)) = self.read.range(..=start).next_back() {
            let within = usize::try_from(start - at).unwrap_or(usize::MAX);
            if let Some(end) = within.checked_add(length).filter(|end| *end <= page.len()) {
                return Ok(page.slice(within..end));
            }
        }
        let range = start..start.saturating_add(length as u64);
        Ok(self.fetch(&[range])?.pop().unwrap_or_default())
    }
}

/// What follows in such a file.
struct Following {
    pages: Pages,
    at: u64,
}

impl io::Read for Following {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.pages.length.saturating_sub(self.at);
        let count = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let range = self.at..self.at + count as u64;
        let bytes = self.pages.fetch(&[range])?.pop().unwrap_or_default();
        buffer[..count].copy_from_slice(&bytes);
        self.at += count as u64;
        Ok(count)
    }
}

/// A file from a place on.
pub(crate) struct Rest {
    pub(crate) file: Arc<File>,
    pub(crate) at: u64,
}

impl io::Read for Rest {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buffer, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}
