//! Parts of imports from before `url_surtkey` was made of the URL as its archive writes it: they get the keys of today, from their own rows.
//!
//! No archive is read, and everything else in the rows stays. A part with other keys takes the place of the old one in the list in one step.

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::TimestampMillisecondType;
use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt32Array, new_null_array};
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;
use mattock_env::Files;
use mattock_weburl::WebUrl;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::errors::{ParquetError, Result as ParquetResult};

use crate::asked::key_of;
use crate::error::IndexError;
use crate::find::{Chunks, reading};
use crate::manifest::{Manifest, Part};
use crate::part::PartWriter;
use crate::schema::schema;
use crate::snapshot::{listed, lock};

const KEY: &str = "url_surtkey";

/// Rows that are written at once.
const BATCH_ROWS: usize = 8192;

/// Makes those parts of imports anew whose keys are of an earlier kind, and says how many these were.
///
/// Memory: one part, as columns.
pub fn rekey(files: &Files, repository: &Path) -> Result<usize, IndexError> {
    let directory = Manifest::directory(repository);
    let old: Vec<Part> = {
        let manifest = Manifest::read(files, repository)?;
        let mut old = Vec::new();
        for part in manifest.parts.into_iter().filter(|part| part.imported && part.rows > 0) {
            if !is_of_today(files, &directory.join(&part.file), &part)? {
                old.push(part);
            }
        }
        old
    };
    if old.is_empty() {
        return Ok(0);
    }
    let _lock = lock(files, &directory)?;
    let mut manifest = listed(files, repository)?;
    let mut made = 0;
    for part in old {
        let Some(at) = manifest.parts.iter().position(|known| *known == part) else { continue };
        let path = directory.join(&part.file);
        let rows = rows(files, &path, &part)?;
        let file = manifest.next_name();
        let mut writer = PartWriter::create(files, &directory.join(&file))?;
        let mut written = 0;
        while written < rows.num_rows() {
            let count = BATCH_ROWS.min(rows.num_rows() - written);
            writer.write(&rows.slice(written, count))?;
            written += count;
        }
        let written = writer.finish()?;
        manifest.parts[at] = Part {
            file,
            bytes: written.bytes,
            sum: Some(written.sum),
            blocks: written.blocks.to_text(),
            ..part
        };
        manifest.write(files, repository)?;
        files.remove_file(&path).map_err(IndexError::io("remove", &path))?;
        made += 1;
    }
    Ok(made)
}

/// The key that a row should have. A URL that was taken once and is none today keeps what it has.
fn wanted(url: &str, key: &str) -> String {
    WebUrl::parse_archived(url).map_or_else(|_| key.to_owned(), |parsed| key_of(url, &parsed))
}

fn text<'a>(batch: &'a RecordBatch, name: &str) -> ParquetResult<&'a StringArray> {
    let missing = || ParquetError::General(format!("there is no column {name}"));
    batch.column_by_name(name).and_then(|column| column.as_string_opt::<i32>()).ok_or_else(missing)
}

fn is_of_today(files: &Files, path: &Path, part: &Part) -> Result<bool, IndexError> {
    let chunks = Chunks::open(files, path)?.compared_with(part.block_sums());
    reading(path, || {
        let builder = ParquetRecordBatchReaderBuilder::try_new(chunks)?;
        let mask = ProjectionMask::columns(builder.parquet_schema(), [KEY, "url"]);
        for batch in builder.with_projection(mask).build()? {
            let batch = batch?;
            let (keys, urls) = (text(&batch, KEY)?, text(&batch, "url")?);
            if keys.iter().zip(urls).any(|(key, url)| {
                let key = key.unwrap_or_default();
                url.is_some_and(|url| wanted(url, key) != key)
            }) {
                return Ok(false);
            }
        }
        Ok(true)
    })
}

/// All rows of a part with the keys of today, in their order.
fn rows(files: &Files, path: &Path, part: &Part) -> Result<RecordBatch, IndexError> {
    let chunks = Chunks::open(files, path)?.compared_with(part.block_sums());
    reading(path, || {
        let builder = ParquetRecordBatchReaderBuilder::try_new(chunks)?;
        let own = builder.schema().clone();
        let batches = builder.build()?.collect::<Result<Vec<_>, _>>()?;
        let all = concat_batches(&own, &batches)?;
        let (keys, urls) = (text(&all, KEY)?, text(&all, "url")?);
        let keys: Vec<String> = keys
            .iter()
            .zip(urls)
            .map(|(key, url)| wanted(url.unwrap_or_default(), key.unwrap_or_default()))
            .collect();
        let missing = || ParquetError::General("there is no column fetch_time".into());
        let times = all.column_by_name("fetch_time");
        let times = times.and_then(|times| times.as_primitive_opt::<TimestampMillisecondType>());
        let times = times.ok_or_else(missing)?;
        let place = |row: u32| {
            let row = row as usize;
            (&keys[row], urls.value(row), times.value(row))
        };
        let mut order: Vec<u32> = (0..u32::try_from(all.num_rows()).unwrap_or(u32::MAX)).collect();
        order.sort_by(|one, two| place(*one).cmp(&place(*two)));
        let new: ArrayRef = Arc::new(StringArray::from_iter_values(&keys));
        let schema = schema();
        let columns = schema.fields().iter().map(|field| match all.column_by_name(field.name()) {
            Some(_) if field.name() == KEY => new.clone(),
            Some(column) => column.clone(),
            // Parts of earlier versions have a column less.
            None => new_null_array(field.data_type(), all.num_rows()),
        });
        let columns = columns.collect();
        let whole = RecordBatch::try_new(schema.clone(), columns)?;
        Ok(take_record_batch(&whole, &UInt32Array::from(order))?)
    })
}
