//! What a query will read, before it reads it.
//!
//! Of the index only the ends of the Parquet files are looked at, to say which row groups cannot hold an answer. If documents will
//! be read, the rows of the index are gone through to say which: that takes as long as a query that needs no archive.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use datafusion::arrow::array::{ArrayRef, UInt64Array};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::TableProvider as _;
use datafusion::catalog::memory::{DataSourceExec, MemorySourceConfig};
use datafusion::common::Column as Name;
use datafusion::common::pruning::PruningStatistics;
use datafusion::datasource::physical_plan::{FileScanConfig, ParquetSource};
use datafusion::parquet::arrow::arrow_reader::statistics::StatisticsConverter;
use datafusion::parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_optimizer::pruning::{PruningPredicate, PruningPredicateBuilder};
use datafusion::physical_plan::{ExecutionPlan, displayable, execute_stream};
use futures::StreamExt as _;
use mattock_env::{Files, OpenMode, Panics};

use crate::content::exec::ContentExec;
use crate::content::meter::MeterExec;
use crate::content::tally::Tally;
use crate::error::QueryError;
use crate::query::{Dates, Query};
use crate::store::path_of;
use crate::sums::damaged;

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// Columns of the index that are read.
    pub columns: Vec<String>,
    /// Columns that are read by URL.
    pub by_url: Vec<String>,
    /// Columns that are computed from documents.
    pub computed: Vec<String>,
    /// Of these, the ones of which values were kept.
    pub kept: Vec<String>,
    /// Parquet files that are opened.
    pub files: u64,
    /// Row groups in them.
    pub row_groups_total: u64,
    /// Row groups that may hold an answer.
    pub row_groups: u64,
    /// Bytes of Parquet in these row groups and columns.
    pub index_bytes: u64,
    /// Rows that are in no file yet, and are read from memory.
    pub memory_rows: u64,
    /// Documents that are read; none if no archive is opened.
    pub documents: u64,
    /// What they take in the archives.
    pub archive_bytes: u64,
    /// Seeds of samples.
    pub seeds: Vec<u64>,
    /// The dates that the answer holds for.
    pub dates: Dates,
    /// The plan, an operator a line.
    pub plan: String,
}

impl Query {
    /// What it will read.
    pub fn explain(&self) -> Result<Explanation, QueryError> {
        let physical = self.physical()?;
        let mut explanation = Explanation {
            seeds: self.seeds.clone(),
            dates: self.dates,
            plan: displayable(physical.as_ref()).indent(false).to_string(),
            ..Explanation::default()
        };
        let column_of = |path: &Path| self.session.inner.columns.by_url()?.column_of(path);
        let mut scans = Scans::default();
        let mut meters = Vec::new();
        visit(&physical, &mut |plan| {
            if let Some(exec) = plan.downcast_ref::<DataSourceExec>()
                && let Some((config, _)) = exec.downcast_to_file_source::<ParquetSource>()
            {
                scans.add(config, column_of);
            }
            if let Some(exec) = plan.downcast_ref::<DataSourceExec>()
                && let Some(tail) = exec.data_source().downcast_ref::<MemorySourceConfig>()
            {
                let schema = self.session.inner.metadata.schema();
                explanation.memory_rows = explanation.memory_rows.max(scans.add_tail(tail, &schema));
            }
            if let Some(exec) = plan.downcast_ref::<ContentExec>() {
                exec.names(&mut explanation.computed, &mut explanation.kept);
            }
            if plan.downcast_ref::<MeterExec>().is_some() {
                meters.push(plan.clone());
            }
        });
        let Scans { columns, by_url, parts } = scans;
        explanation.columns = columns.into_iter().collect();
        explanation.by_url = by_url.into_iter().map(str::to_string).collect();
        explanation.files = parts.len() as u64;
        for (path, reads) in &parts {
            look_at(&self.session.inner.files, path, reads, &mut explanation)?;
        }
        self.measure(meters, &mut explanation)?;
        Ok(explanation)
    }

    /// Goes through the rows whose documents would be read.
    fn measure(
        &self,
        meters: Vec<Arc<dyn ExecutionPlan>>,
        explanation: &mut Explanation,
    ) -> Result<(), QueryError> {
        let measured = self.session.block_on(async {
            for meter in meters {
                let mut rows = execute_stream(meter, self.state.task_ctx())?;
                while let Some(batch) = rows.next().await {
                    batch?;
                }
            }
            Ok::<(), QueryError>(())
        })?;
        measured.map_err(|error| self.session.failed(error))?;
        // What was counted here is not what a run will have done.
        explanation.documents = self.tally.rows_total.swap(0, Ordering::Relaxed);
        explanation.archive_bytes = self.tally.bytes_total.swap(0, Ordering::Relaxed);
        debug_assert_eq!(Tally::get(&self.tally.rows), 0);
        Ok(())
    }
}

/// One scan of a file: the columns that it reads, and what rows must fulfil.
struct Read {
    columns: BTreeSet<String>,
    condition: Option<PruningPredicate>,
    schema: SchemaRef,
}

/// What all scans of a plan read.
#[derive(Default)]
struct Scans {
    /// Columns of the index.
    columns: BTreeSet<String>,
    /// Columns that lie in files of their own.
    by_url: BTreeSet<&'static str>,
    parts: BTreeMap<PathBuf, Vec<Read>>,
}

fn visit(plan: &Arc<dyn ExecutionPlan>, look: &mut dyn FnMut(&Arc<dyn ExecutionPlan>)) {
    look(plan);
    for child in plan.children() {
        visit(child, look);
    }
}

impl Scans {
    /// Adds a scan; `column_of` says which files have the values of one column.
    fn add(&mut self, config: &FileScanConfig, column_of: impl Fn(&Path) -> Option<&'static str>) {
        let schema = config.file_schema();
        let mut columns: BTreeSet<String> = match config.file_source().projection() {
            Some(projection) => {
                projection.column_indices().iter().map(|at| schema.field(*at).name().clone()).collect()
            }
            None => schema.fields().iter().map(|field| field.name().clone()).collect(),
        };
        let condition = config.file_source().filter();
        if let Some(condition) = &condition {
            columns.extend(collect_columns(condition).into_iter().map(|column| column.name().to_string()));
        }
        for file in config.file_groups.iter().flat_map(|group| group.iter()) {
            let path = path_of(&file.object_meta.location);
            match column_of(&path) {
                Some(name) => drop(self.by_url.insert(name)),
                None => self.columns.extend(columns.iter().cloned()),
            }
            let reads = self.parts.entry(path).or_default();
            // A file that is divided among partitions is one file.
            if !reads
                .iter()
                .any(|read| read.columns == columns && read.condition.is_some() == condition.is_some())
            {
                let condition = condition.clone().and_then(|condition| {
                    PruningPredicateBuilder::new().with_file_schema(schema.clone()).try_build(condition).ok()
                });
                reads.push(Read { columns: columns.clone(), condition, schema: schema.clone() });
            }
        }
    }
}

impl Scans {
    /// Adds a scan of what is in memory; how many rows those are, if they are rows of the index.
    fn add_tail(&mut self, tail: &MemorySourceConfig, index: &SchemaRef) -> u64 {
        // A query may bring rows of its own.
        if tail.original_schema() != *index {
            return 0;
        }
        let all: Vec<usize> = (0..index.fields().len()).collect();
        let read = tail.projection().as_ref().unwrap_or(&all);
        self.columns.extend(read.iter().map(|at| index.field(*at).name().clone()));
        tail.partitions().iter().flatten().map(|batch| batch.num_rows() as u64).sum()
    }
}

fn look_at(
    files: &Files,
    path: &Path,
    reads: &[Read],
    explanation: &mut Explanation,
) -> Result<(), QueryError> {
    let metadata = metadata(files, path).map_err(QueryError::io(path))?;
    for read in reads {
        explanation.row_groups_total += metadata.num_row_groups() as u64;
        let statistics = RowGroups { metadata: &metadata, schema: &read.schema };
        let chosen = match &read.condition {
            Some(condition) => condition.prune(&statistics)?,
            None => vec![true; metadata.num_row_groups()],
        };
        for (group, _) in metadata.row_groups().iter().zip(chosen).filter(|(_, chosen)| *chosen) {
            explanation.row_groups += 1;
            let chunks = group.columns().iter().filter(|chunk| {
                chunk.column_path().parts().first().is_some_and(|name| read.columns.contains(name))
            });
            explanation.index_bytes +=
                chunks.map(|chunk| u64::try_from(chunk.compressed_size()).unwrap_or(0)).sum::<u64>();
        }
    }
    Ok(())
}

/// What stands at the end of a Parquet file: the metadata, its length, and `PAR1`.
pub(crate) fn metadata(files: &Files, path: &Path) -> std::io::Result<ParquetMetaData> {
    let file = files.open(path, OpenMode::Read)?;
    let length = file.len()?;
    let short = || std::io::Error::new(std::io::ErrorKind::InvalidData, "not a Parquet file");
    let mut end = [0; 8];
    file.read_exact_at(&mut end, length.checked_sub(8).ok_or_else(short)?)?;
    let size = u64::from(u32::from_le_bytes([end[0], end[1], end[2], end[3]]));
    let start = length.checked_sub(8 + size).ok_or_else(short)?;
    let mut bytes = vec![0; usize::try_from(size).map_err(|_| short())?];
    file.read_exact_at(&mut bytes, start)?;
    let decoded = Panics::default().contain(|| ParquetMetaDataReader::decode_metadata(&bytes));
    let fails = |panic| damaged(&format!("its reader fails on it: {panic}"));
    decoded.map_err(fails)?.map_err(std::io::Error::other)
}

/// The least and largest values of row groups.
struct RowGroups<'a> {
    metadata: &'a ParquetMetaData,
    schema: &'a SchemaRef,
}

impl RowGroups<'_> {
    fn converter(&self, column: &Name) -> Option<StatisticsConverter<'_>> {
        StatisticsConverter::try_new(&column.name, self.schema, self.metadata.file_metadata().schema_descr())
            .ok()
    }
}

impl PruningStatistics for RowGroups<'_> {
    fn min_values(&self, column: &Name) -> Option<ArrayRef> {
        self.converter(column)?.row_group_mins(self.metadata.row_groups()).ok()
    }

    fn max_values(&self, column: &Name) -> Option<ArrayRef> {
        self.converter(column)?.row_group_maxes(self.metadata.row_groups()).ok()
    }

    fn num_containers(&self) -> usize {
        self.metadata.num_row_groups()
    }

    fn null_counts(&self, column: &Name) -> Option<ArrayRef> {
        let counts = self.converter(column)?.row_group_null_counts(self.metadata.row_groups()).ok()?;
        Some(Arc::new(counts))
    }

    fn row_counts(&self) -> Option<ArrayRef> {
        let counts = self.metadata.row_groups().iter().map(|group| u64::try_from(group.num_rows()).ok());
        Some(Arc::new(counts.collect::<UInt64Array>()))
    }

    fn contained(
        &self,
        _: &Name,
        _: &std::collections::HashSet<datafusion::common::ScalarValue>,
    ) -> Option<datafusion::arrow::array::BooleanArray> {
        None
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |names: &[String]| if names.is_empty() { "none".to_string() } else { names.join(", ") };
        writeln!(formatter, "columns of the index: {}", list(&self.columns))?;
        if !self.by_url.is_empty() {
            writeln!(formatter, "columns by URL: {}", list(&self.by_url))?;
        }
        writeln!(formatter, "computed columns: {}", list(&self.computed))?;
        if !self.kept.is_empty() {
            writeln!(formatter, "  with values kept: {}", list(&self.kept))?;
        }
        write!(
            formatter,
            "index: {} of {} row groups in {} files, {} bytes",
            self.row_groups, self.row_groups_total, self.files, self.index_bytes
        )?;
        match self.memory_rows {
            0 => writeln!(formatter)?,
            rows => writeln!(formatter, "; {rows} rows from memory, which are in no file yet")?,
        }
        if self.computed.is_empty() {
            writeln!(formatter, "archives: none is opened")?;
        } else {
            writeln!(formatter, "archives: {} documents, {} bytes", self.documents, self.archive_bytes)?;
        }
        for seed in &self.seeds {
            writeln!(formatter, "sample: seed {seed}")?;
        }
        if let Some(date) = self.dates.as_of_ms.and_then(crate::wib::print_date) {
            writeln!(formatter, "as of: {date}")?;
        }
        if let Some(date) = self.dates.inserted_by_ms.and_then(crate::wib::print_date) {
            writeln!(formatter, "inserted by: {date}")?;
        }
        write!(formatter, "plan:\n{}", self.plan)
    }
}
