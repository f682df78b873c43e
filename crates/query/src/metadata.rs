//! The table of what the index holds: the parts, and the tail in memory. Never opens an archive.
//!
//! Strings are handed out as views (`Utf8View`), which DataFusion compares, groups and joins fastest. Conditions are left to the
//! physical optimizer, which hands them to the Parquet reader: row groups and pages that cannot match are not read.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array as _, ArrayRef, AsArray as _, MutableArrayData, RecordBatch, make_array,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::error::ArrowError;
use datafusion::catalog::memory::{DataSourceExec, MemorySourceConfig};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Result;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::parquet::CachedParquetFileReaderFactory;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::{TableType, object_store::ObjectStoreUrl};
use datafusion::logical_expr::Expr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::union::UnionExec;
use mattock_env::{Files, is_url};

use crate::source::Source;
use crate::store::{STORE_URL, name_of};

/// A piece of a file has so many bytes at least, some two row groups of our own, since each is opened by itself.
const PIECE_BYTES: u64 = 4 << 20;
/// And a file so many pieces at most.
const PIECES_MAX: u64 = 16;
/// So much of a file's end is read at first. Row groups and columns are described there; of small parts that is all, and one reading less.
pub(crate) const END_BYTES: usize = 32 << 10;
/// From so many files of a directory on it is listed.
const LISTED_MIN: usize = 8;

/// See the module.
#[derive(Debug)]
pub(crate) struct MetadataTable {
    schema: SchemaRef,
    parts: Vec<PartitionedFile>,
    tail: Vec<RecordBatch>,
}

/// `schema` with strings as views.
pub(crate) fn with_views(schema: &Schema) -> SchemaRef {
    let fields: Vec<Field> = schema
        .fields()
        .iter()
        .map(|field| match field.data_type() {
            DataType::Utf8 | DataType::LargeUtf8 => field.as_ref().clone().with_data_type(DataType::Utf8View),
            _ => field.as_ref().clone(),
        })
        .collect();
    Arc::new(Schema::new(fields))
}

/// The same rows with strings as views, in buffers that hold nothing else: views share buffers, and whoever keeps a few rows of a large
/// batch would be charged for all of it.
fn viewed(rows: &RecordBatch, schema: &SchemaRef) -> std::result::Result<RecordBatch, ArrowError> {
    let columns = rows.columns().iter().zip(schema.fields()).map(|(column, field)| {
        let column = cast(column, field.data_type())?;
        Ok(compacted(&column))
    });
    RecordBatch::try_new(schema.clone(), columns.collect::<std::result::Result<_, ArrowError>>()?)
}

/// The same values; views, and what is a small part of something larger, get buffers of their own.
pub(crate) fn compacted(column: &ArrayRef) -> ArrayRef {
    if let Some(views) = column.as_string_view_opt() {
        return Arc::new(views.gc());
    }
    if let Some(views) = column.as_binary_view_opt() {
        return Arc::new(views.gc());
    }
    let data = column.to_data();
    if data.get_slice_memory_size().is_ok_and(|own| own * 2 < data.get_buffer_memory_size()) {
        let mut copy = MutableArrayData::new(vec![&data], false, data.len());
        if copy.try_extend(0, 0, data.len()).is_ok() {
            return make_array(copy.freeze());
        }
    }
    column.clone()
}

/// Adds to each of `sizes` about what the value in its row takes in memory.
pub(crate) fn add_sizes(column: &ArrayRef, sizes: &mut [usize]) {
    let fixed = column.data_type().primitive_width().unwrap_or(size_of::<u64>());
    for (row, size) in sizes.iter_mut().enumerate() {
        *size += match column.data_type() {
            DataType::Utf8View => size_of::<u128>() + view_length(column.as_string_view().views()[row]),
            DataType::BinaryView => size_of::<u128>() + view_length(column.as_binary_view().views()[row]),
            DataType::List(_) => {
                let list = column.as_list::<i32>();
                let (from, to) = (list.value_offsets()[row], list.value_offsets()[row + 1]);
                let values = list.values().slice(from as usize, (to - from) as usize).to_data();
                values.get_slice_memory_size().unwrap_or(values.get_buffer_memory_size())
            }
            _ => fixed,
        };
    }
}

/// The bytes that a view stands for: its first half word has them.
fn view_length(view: u128) -> usize {
    view as u32 as usize
}

/// Files as DataFusion names them, with their sizes. Many of one directory are found by one look at the directory.
pub(crate) fn partitioned(
    files: &Files,
    paths: &[std::path::PathBuf],
) -> std::io::Result<Vec<PartitionedFile>> {
    let mut found = Vec::with_capacity(paths.len());
    for of_one in paths.chunk_by(|one, other| one.parent() == other.parent()) {
        let directory =
            of_one[0].parent().filter(|directory| of_one.len() >= LISTED_MIN && !is_url(directory));
        let listed = match directory {
            Some(directory) => files.list(directory)?,
            None => Vec::new(),
        };
        for path in of_one {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let bytes = match listed.binary_search_by(|entry| entry.name.as_str().cmp(name)) {
                Ok(at) => Some(listed[at].len),
                Err(_) => files.entry(path)?.map(|entry| entry.len),
            };
            let bytes = bytes.ok_or_else(|| {
                std::io::Error::new(std::io::ErrorKind::NotFound, format!("{} is missing", path.display()))
            })?;
            found.push(PartitionedFile::new(name_of(path)?, bytes));
        }
    }
    Ok(found)
}

/// A file as pieces that one thread after the other takes: what a condition leaves of a table may all lie in one file, or close together in it.
fn pieces(part: &PartitionedFile) -> Vec<PartitionedFile> {
    let bytes = part.object_meta.size;
    let count = (bytes / PIECE_BYTES).clamp(1, PIECES_MAX);
    let bounds = (0..count).map(|at| (bytes * at / count, bytes * (at + 1) / count));
    bounds.map(|(start, end)| part.clone().with_range(start as i64, end as i64)).collect()
}

/// A scan of Parquet files in groups that the optimizer may divide among partitions.
pub(crate) fn parquet_scan(
    state: &dyn Session,
    schema: SchemaRef,
    parts: &[PartitionedFile],
    projection: Option<&Vec<usize>>,
    limit: Option<usize>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let url = ObjectStoreUrl::parse(STORE_URL)?;
    let store = state.runtime_env().object_store(&url)?;
    let cache = state.runtime_env().cache_manager.get_file_metadata_cache();
    let mut options = state.table_options().parquet.clone();
    options.global = state.config_options().execution.parquet.clone();
    let source = ParquetSource::new(schema)
        .with_table_parquet_options(options)
        .with_metadata_size_hint(END_BYTES)
        .with_parquet_file_reader_factory(Arc::new(CachedParquetFileReaderFactory::new(store, cache)));
    let groups = parts.iter().map(|part| FileGroup::new(pieces(part))).collect();
    let config = FileScanConfigBuilder::new(url, Arc::new(source))
        .with_file_groups(groups)
        .with_limit(limit)
        .with_projection_indices(projection.cloned())?
        .build();
    Ok(DataSourceExec::from_data_source(config))
}

impl MetadataTable {
    /// The table of what `source` holds; rows in memory are handed out in batches of `batch_rows`.
    pub(crate) fn new(files: &Files, source: &Source, batch_rows: usize) -> std::io::Result<MetadataTable> {
        let schema = with_views(&source.schema);
        let mut tail = Vec::new();
        for batch in &source.tail {
            for start in (0..batch.num_rows()).step_by(batch_rows) {
                let rows = batch.slice(start, batch_rows.min(batch.num_rows() - start));
                tail.push(viewed(&rows, &schema).map_err(std::io::Error::other)?);
            }
        }
        Ok(MetadataTable { schema, parts: partitioned(files, &source.parts)?, tail })
    }

    /// The same table with the rows of further parts.
    pub(crate) fn and(&self, files: &Files, others: &[std::path::PathBuf]) -> std::io::Result<MetadataTable> {
        let mut parts = self.parts.clone();
        parts.extend(partitioned(files, others)?);
        Ok(MetadataTable { schema: self.schema.clone(), parts, tail: self.tail.clone() })
    }

    /// A table of Parquet files alone.
    pub(crate) fn of_parts(
        files: &Files,
        schema: SchemaRef,
        parts: &[std::path::PathBuf],
    ) -> std::io::Result<MetadataTable> {
        Ok(MetadataTable { schema, parts: partitioned(files, parts)?, tail: Vec::new() })
    }
}

#[async_trait::async_trait]
impl TableProvider for MetadataTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let mut inputs = Vec::new();
        if !self.parts.is_empty() {
            inputs.push(parquet_scan(state, self.schema.clone(), &self.parts, projection, limit)?);
        }
        if !self.tail.is_empty() {
            let tail = std::slice::from_ref(&self.tail);
            inputs.push(MemorySourceConfig::try_new_exec(tail, self.schema.clone(), projection.cloned())?);
        }
        match inputs.len() {
            0 => {
                let schema = match projection {
                    Some(projection) => Arc::new(self.schema.project(projection)?),
                    None => self.schema.clone(),
                };
                Ok(Arc::new(EmptyExec::new(schema)))
            }
            1 => Ok(inputs.swap_remove(0)),
            _ => UnionExec::try_new(inputs),
        }
    }
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::array::{Int64Array, StringArray};

    use super::*;

    #[test]
    fn pieces_of_a_file_are_all_of_it() {
        for bytes in [0, 1, PIECE_BYTES - 1, PIECE_BYTES * 2 - 1, PIECE_BYTES * 7 + 3, PIECE_BYTES * 1000] {
            let pieces = pieces(&PartitionedFile::new("part", bytes));
            assert_eq!(pieces.len() as u64, (bytes / PIECE_BYTES).clamp(1, PIECES_MAX));
            let ranges: Vec<_> = pieces.into_iter().filter_map(|piece| piece.range).collect();
            assert_eq!((ranges[0].start, ranges[ranges.len() - 1].end), (0, bytes as i64));
            assert!(ranges.windows(2).all(|two| two[0].end == two[1].start), "{bytes}");
        }
    }

    #[test]
    fn a_small_part_of_something_large_becomes_small() {
        let numbers: ArrayRef =
            Arc::new(Int64Array::from_iter((0..10_000).map(|number| (number % 3 > 0).then_some(number))));
        let texts: ArrayRef =
            Arc::new(StringArray::from_iter_values((0..10_000).map(|number| format!("text {number}"))));
        for large in [numbers, texts] {
            let part = large.slice(5_001, 20);
            let own = compacted(&part);
            assert_eq!(&own, &part);
            assert!(own.get_buffer_memory_size() < 1024 && part.get_buffer_memory_size() > 50_000);
            assert_eq!(compacted(&large).get_buffer_memory_size(), large.get_buffer_memory_size());
        }
    }
}
