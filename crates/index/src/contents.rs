//! What parts say themselves of their rows, for when the list does not know it, or is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray as _;
use arrow_array::types::Int32Type;
use mattock_env::Files;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::errors::{ParquetError, Result as ParquetResult};

use crate::error::IndexError;
use crate::find::Chunks;

const FILE: &str = "warc_filename";
const OFFSET: &str = "warc_record_offset";

/// Where the first and the last document of each archive begin that rows of a part name.
pub(crate) type Reaches = BTreeMap<String, (u64, u64)>;

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
    let mut read = || -> ParquetResult<()> {
        let builder = ParquetRecordBatchReaderBuilder::try_new(chunks)?;
        let mask = ProjectionMask::columns(builder.parquet_schema(), [FILE, OFFSET]);
        for batch in builder.with_projection(mask).build()? {
            each_place(&batch?, &mut take)?;
        }
        Ok(())
    };
    read().map_err(|source| IndexError::Parquet { path: path.to_path_buf(), source })
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
