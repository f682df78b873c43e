//! What parts say themselves of their rows, for when the list does not know it, or is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray as _;
use arrow_array::types::{Int32Type, TimestampMillisecondType};
use mattock_env::Files;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::errors::{ParquetError, Result as ParquetResult};

use crate::error::IndexError;
use crate::find::{Chunks, reading};
use crate::schema::{INSERTION_TIME, schema};

const FILE: &str = "warc_filename";
const OFFSET: &str = "warc_record_offset";

/// Where the first and the last document of each archive begin that rows of a part name.
pub(crate) type Reaches = BTreeMap<String, (u64, u64)>;

/// What is in a part.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) rows: u64,
    pub(crate) reaches: Reaches,
    /// When the last row was inserted, in ms since 1970, if rows say.
    pub(crate) newest_ms: Option<i64>,
    /// Whether the rows look like those of a crawl, whose visits all have a depth and took some time, and are in archives of its own.
    pub(crate) is_of_a_crawl: bool,
}

/// Reads a part from front to back, all columns of it: an error if it is not whole, or has other columns than parts that can be read.
pub(crate) fn contents(files: &Files, path: &Path) -> Result<Contents, IndexError> {
    let chunks = Chunks::open(files, path)?;
    reading(path, || {
        let builder = ParquetRecordBatchReaderBuilder::try_new(chunks)?;
        let (own, wanted) = (builder.schema().clone(), schema());
        let fits = wanted.fields().iter().filter(|field| field.name() != INSERTION_TIME).all(|field| {
            own.field_with_name(field.name()).is_ok_and(|own| own.data_type() == field.data_type())
        });
        if !fits {
            return Err(ParquetError::General("it has not the columns of an index".into()));
        }
        let expected = builder.metadata().file_metadata().num_rows();
        let mut found = Contents { is_of_a_crawl: true, ..Contents::default() };
        for batch in builder.build()? {
            let batch = batch?;
            found.rows += batch.num_rows() as u64;
            each_place(&batch, &mut |file, offset| {
                found.is_of_a_crawl &= file.starts_with("warc/");
                extend(&mut found.reaches, file, offset);
            })?;
            let is_full =
                |name: &str| batch.column_by_name(name).is_some_and(|column| column.null_count() == 0);
            found.is_of_a_crawl &= is_full("depth") && is_full("took_ms");
            if let Some(times) = batch.column_by_name(INSERTION_TIME) {
                let times = times.as_primitive_opt::<TimestampMillisecondType>();
                found.newest_ms = found.newest_ms.max(times.and_then(|times| times.iter().flatten().max()));
            }
        }
        match u64::try_from(expected) == Ok(found.rows) {
            true => Ok(found),
            false => Err(ParquetError::General("rows are missing".into())),
        }
    })
}

/// The archives that the rows of a part name.
pub(crate) fn reaches(files: &Files, path: &Path) -> Result<Reaches, IndexError> {
    let mut found = Reaches::new();
    places(files, path, |file, offset| extend(&mut found, file, offset))?;
    Ok(found)
}

/// Where the documents of an archive begin that a part has.
pub(crate) fn offsets(files: &Files, path: &Path, archive: &str) -> Result<BTreeSet<u64>, IndexError> {
    let mut found = BTreeSet::new();
    places(files, path, |file, offset| {
        if file == archive {
            found.insert(offset);
        }
    })?;
    Ok(found)
}

fn extend(reaches: &mut Reaches, file: &str, offset: u64) {
    match reaches.get_mut(file) {
        Some((first, last)) => (*first, *last) = ((*first).min(offset), (*last).max(offset)),
        None => {
            reaches.insert(file.to_owned(), (offset, offset));
        }
    }
}

fn places(files: &Files, path: &Path, mut take: impl FnMut(&str, u64)) -> Result<(), IndexError> {
    let chunks = Chunks::open(files, path)?;
    reading(path, || {
        let builder = ParquetRecordBatchReaderBuilder::try_new(chunks)?;
        let mask = ProjectionMask::columns(builder.parquet_schema(), [FILE, OFFSET]);
        for batch in builder.with_projection(mask).build()? {
            each_place(&batch?, &mut take)?;
        }
        Ok(())
    })
}

fn each_place(batch: &RecordBatch, take: &mut impl FnMut(&str, u64)) -> ParquetResult<()> {
    let missing = || ParquetError::General("it has not the columns of an index".into());
    let names = batch.column_by_name(FILE).and_then(|column| column.as_string_opt::<i32>());
    let offsets = batch.column_by_name(OFFSET).and_then(|column| column.as_primitive_opt::<Int32Type>());
    let (names, offsets) = (names.ok_or_else(missing)?, offsets.ok_or_else(missing)?);
    for (name, offset) in names.iter().zip(offsets) {
        let offset = offset.and_then(|offset| u64::try_from(offset).ok());
        take(name.unwrap_or_default(), offset.unwrap_or_default());
    }
    Ok(())
}
