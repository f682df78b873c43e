//! The rows of one URL among imported ones, without a query engine: for who shows a stored page.
//!
//! Row groups whose keys do not reach the URL's are not read; of those that are, the keys come first, and of the rows with that key the rest.
//! Rows of the crawl itself are not looked at: its ledgers have them, and more of them.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int16Type, Int32Type, TimestampMillisecondType};
use arrow_array::{BooleanArray, RecordBatch};
use bytes::Bytes;
use mattock_codec::BlockSums;
use mattock_env::{File, Files, OpenMode, Panics};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowPredicateFn, ParquetRecordBatchReaderBuilder, RowFilter};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::statistics::Statistics;

use crate::asked::Asked;
use crate::error::IndexError;
use crate::manifest::Manifest;

const KEY: &str = "url_surtkey";

const COLUMNS: [&str; 6] =
    ["url", "fetch_time", "fetch_status", "warc_filename", "warc_record_offset", "warc_record_length"];

/// Where an imported instance is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundInstance {
    /// Its URL as its record has it.
    pub url: String,
    /// When it was fetched, in milliseconds since 1970.
    pub time_ms: i64,
    /// HTTP status.
    pub status: u16,
    /// The archive as rows name it.
    pub file: String,
    /// Where its record begins.
    pub offset: u64,
    /// How long that is there.
    pub length: u64,
}

/// The imported instances of a URL, however archives write it; the oldest first.
pub fn find_imported(
    files: &Files,
    repository: &Path,
    asked: &Asked,
) -> Result<Vec<FoundInstance>, IndexError> {
    let manifest = Manifest::read(files, repository)?;
    let directory = Manifest::directory(repository);
    let mut found = Vec::new();
    for part in manifest.parts.iter().filter(|part| part.imported) {
        let path = directory.join(&part.file);
        let chunks = Chunks::open(files, &path)?.compared_with(part.block_sums());
        reading(&path, || rows_of(chunks, asked.keys(), |row| found.push(row)))?;
    }
    // The key is that of other URLs, too.
    asked.keep(&mut found, |row| &row.url);
    found.sort_by(|one, two| (one.time_ms, &one.file, one.offset).cmp(&(two.time_ms, &two.file, two.offset)));
    Ok(found)
}

fn rows_of(chunks: Chunks, wanted: &[String], mut take: impl FnMut(FoundInstance)) -> ParquetResult<()> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(chunks)?;
    let schema = builder.parquet_schema();
    let mask = |names: &[&str]| ProjectionMask::columns(schema, names.iter().copied());
    let (keys, all) = (mask(&[KEY]), mask(&COLUMNS));
    let metadata = builder.metadata().clone();
    let groups = (0..metadata.num_row_groups())
        .filter(|group| wanted.iter().any(|key| may_hold(metadata.row_group(*group), key)));
    let wanted = wanted.to_owned();
    let is_it = ArrowPredicateFn::new(keys, move |batch: RecordBatch| {
        let keys = batch.column(0).as_string::<i32>();
        Ok(BooleanArray::from_iter(
            keys.iter().map(|key| Some(key.is_some_and(|key| wanted.iter().any(|wanted| wanted == key)))),
        ))
    });
    let groups = groups.collect();
    let rows = builder
        .with_row_groups(groups)
        .with_projection(all)
        .with_row_filter(RowFilter::new(vec![Box::new(is_it)]))
        .build()?;
    for batch in rows {
        let batch = batch?;
        let column = |name: &str| {
            let missing = || ParquetError::General(format!("there is no column {name}"));
            batch.column_by_name(name).ok_or_else(missing)
        };
        let text =
            |name: &str, row| Ok::<_, ParquetError>(column(name)?.as_string::<i32>().value(row).to_owned());
        let number = |name: &str, row| {
            Ok::<_, ParquetError>(column(name)?.as_primitive::<Int32Type>().value(row) as u64)
        };
        for row in 0..batch.num_rows() {
            take(FoundInstance {
                url: text("url", row)?,
                time_ms: column("fetch_time")?.as_primitive::<TimestampMillisecondType>().value(row),
                status: column("fetch_status")?.as_primitive::<Int16Type>().value(row) as u16,
                file: text("warc_filename", row)?,
                offset: number("warc_record_offset", row)?,
                length: number("warc_record_length", row)?,
            });
        }
    }
    Ok(())
}

/// Whether the keys of a row group reach this one.
fn may_hold(group: &RowGroupMetaData, key: &str) -> bool {
    let column = group.columns().iter().find(|column| column.column_path().string() == KEY);
    let Some(Statistics::ByteArray(keys)) = column.and_then(|column| column.statistics()) else {
        return true;
    };
    // Long ones are cut off, which leaves the smallest too small and the largest too large.
    let below = keys.min_opt().is_some_and(|min| key.as_bytes() < min.data());
    let above = keys.max_opt().is_some_and(|max| key.as_bytes() > max.data());
    !below && !above
}

/// A file as Parquet readers take it.
#[derive(Clone)]
pub(crate) struct Chunks {
    file: Arc<File>,
    length: u64,
    sums: Option<Arc<BlockSums>>,
}

impl Chunks {
    pub(crate) fn open(files: &Files, path: &Path) -> Result<Chunks, IndexError> {
        let file = files.open(path, OpenMode::Read).map_err(IndexError::io("open", path))?;
        let length = file.len().map_err(IndexError::io("measure", path))?;
        Ok(Chunks { file: Arc::new(file), length, sums: None })
    }

    /// Whatever is read is compared with these checksums.
    pub(crate) fn compared_with(self, sums: Option<BlockSums>) -> Chunks {
        Chunks { sums: sums.map(Arc::new), ..self }
    }
}

/// Reads a file that may have been made by anybody: a reader that panics on it is one that cannot read it.
pub(crate) fn reading<T>(path: &Path, read: impl FnOnce() -> ParquetResult<T>) -> Result<T, IndexError> {
    let read = Panics::default().contain(read).unwrap_or_else(|panic| {
        Err(ParquetError::General(format!("it is damaged, and its reader fails on it: {panic}")))
    });
    read.map_err(|source| IndexError::Parquet { path: path.to_path_buf(), source })
}

impl Length for Chunks {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for Chunks {
    type T = io::BufReader<Reading>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        // Headers of pages are read so, byte by byte.
        Ok(io::BufReader::with_capacity(AHEAD_BYTES, Reading { chunks: self.clone(), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        let beyond = || ParquetError::EOF("it is damaged: it names bytes behind its end".into());
        // Before there is memory for them.
        let end = start.checked_add(length as u64).filter(|end| *end <= self.length).ok_or_else(beyond)?;
        let blocks = match &self.sums {
            Some(sums) => sums.around(&(start..end)).ok_or_else(beyond)?,
            None => start..end,
        };
        let mut bytes = vec![0; usize::try_from(blocks.end - blocks.start).map_err(|_| beyond())?];
        self.file.read_exact_at(&mut bytes, blocks.start)?;
        if let Some(sums) = &self.sums {
            sums.check(blocks.start, &bytes).map_err(|at| {
                ParquetError::General(format!("it is damaged: its checksum is wrong at byte {at}; `mattock index --rebuild` makes it anew"))
            })?;
        }
        let skipped = usize::try_from(start - blocks.start).map_err(|_| beyond())?;
        Ok(Bytes::from(bytes).slice(skipped..skipped + length))
    }
}

/// So many bytes are read at once where nobody knows how many are wanted.
const AHEAD_BYTES: usize = 1 << 10;

/// From a place on.
pub(crate) struct Reading {
    chunks: Chunks,
    at: u64,
}

impl Read for Reading {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let left = self.chunks.length.saturating_sub(self.at);
        let count = out.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let bytes = self.chunks.get_bytes(self.at, count).map_err(io::Error::other)?;
        out[..count].copy_from_slice(&bytes);
        self.at += count as u64;
        Ok(count)
    }
}
