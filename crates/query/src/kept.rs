//! Columns that were computed before and kept: `DIR/columns/NAME-VERSION.FORMAT/part-NUMBER-CHECKSUM.parquet`.
//!
//! Beside each lies a file that ends in `.sums`, with the checksums of its blocks: what is read of it is compared. Earlier versions wrote none; of theirs
//! small files are compared whole, once for each query.
//!
//! Written by `materialize`, read by scans as long as the analyzer has the same version. A value is kept once for each distinct [`Key`]: for
//! each payload with its type and charset, or for each instance. A row of a file has key, place and size of a value, and the value itself. A
//! scan joins the first three to the rows that fulfil the conditions on the index; the values are only read when a
//! row is about to be handed out, by their places. So no value is ever sorted or hashed.
//!
//! Costs: keys, places and sizes of all values are read and sorted by every query that names the column, some 40 bytes each, on disk where
//! memory is short; of the values only what the query asks for.

pub(crate) mod key;
pub(crate) mod sound;
pub(crate) mod values;
pub(crate) mod writer;

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::Result;
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{LogicalPlan, LogicalPlanBuilder, ident};
use mattock_analyze::Analyzer;
use mattock_codec::BlockSums;
use mattock_env::{File, Files, OpenMode, is_url};

use crate::columns::data_type;
use crate::error::QueryError;
use crate::metadata::MetadataTable;
use crate::sealed::sum_of;
use crate::source::PartSums;
use crate::sums::Sums;
use key::Key;
use values::Values;

/// The directory of kept columns within a repository.
pub(crate) const COLUMNS: &str = "columns";

/// Raised with every change of what is in the files, or of what keys are made of. Those of another format are not used.
const FORMAT: u32 = 3;

/// How the name of a file with the checksums of another one's blocks ends.
const SUMS: &str = "sums";

/// Files without such checksums are compared whole if they have so many bytes at most: that takes some milliseconds.
const WHOLE_BYTES_MAX: u64 = 64 << 20;

/// The columns of the files.
const KEY: &str = "key";
const PLACE: &str = "place";
const BYTES: &str = "bytes";
const VALUE: &str = "value";
const ERROR: &str = "error";

/// Where a value is: the number of its file, and its row there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place(pub(crate) i64);

impl Place {
    const ROW_BITS: u32 = 40;

    fn new(part: u32, row: u64) -> Place {
        // A file has a gigabyte: there are not so many rows, nor is there room for so many files.
        Place((i64::from(part) << Place::ROW_BITS) | row as i64)
    }

    fn part(self) -> u32 {
        (self.0 >> Place::ROW_BITS) as u32
    }

    fn row(self) -> u64 {
        (self.0 & ((1 << Place::ROW_BITS) - 1)) as u64
    }
}

/// A kept column that can be read.
#[derive(Clone, Debug)]
pub(crate) struct KeptColumn {
    /// What values are found by.
    pub(crate) key: Key,
    /// Where they are.
    pub(crate) values: Arc<Values>,
    places: Arc<MetadataTable>,
}

/// The columns of the files.
pub(crate) fn schema(analyzer: &dyn Analyzer) -> SchemaRef {
    let mut fields = places();
    fields.push(Field::new(VALUE, data_type(analyzer.kind()), true));
    fields.push(Field::new(ERROR, DataType::Utf8View, true));
    Arc::new(Schema::new(fields))
}

/// Those of them that are not about what the values are.
fn places() -> Vec<Field> {
    vec![
        Field::new(KEY, Key::data_type(), false),
        Field::new(PLACE, DataType::Int64, false),
        Field::new(BYTES, DataType::Int64, false),
    ]
}

fn safe(text: &str) -> String {
    text.chars()
        .map(|letter| if letter.is_ascii_alphanumeric() || "._".contains(letter) { letter } else { '_' })
        .collect()
}

/// The directory for the values of an analyzer, as it is now.
pub(crate) fn directory(dir: &Path, analyzer: &dyn Analyzer) -> PathBuf {
    let mut version = analyzer.version();
    if safe(&version) != version || version.len() > 64 {
        version = format!("{:016x}", xxhash_rust::xxh3::xxh3_64(version.as_bytes()));
    }
    dir.join(COLUMNS).join(format!("{}-{version}.{FORMAT}", safe(analyzer.name())))
}

/// All directories of a column, of whatever version and format.
pub(crate) fn directories(files: &Files, dir: &Path, name: &str) -> std::io::Result<Vec<PathBuf>> {
    let columns = dir.join(COLUMNS);
    if files.entry(&columns)?.is_none() {
        return Ok(Vec::new());
    }
    let name = safe(name);
    let of_column = |entry: &str| entry.split_once('-').is_some_and(|(column, _)| column == name);
    let listed = files.list(&columns)?.into_iter().filter(|entry| entry.is_dir && of_column(&entry.name));
    Ok(listed.map(|entry| columns.join(entry.name)).collect())
}

/// The first file of a column has some number below this.
pub(crate) const FIRST_NUMBERS: u32 = 1 << 20;

/// Keeps others from changing kept columns as long as it is there.
pub(crate) fn lock(files: &Files, dir: &Path) -> std::result::Result<File, QueryError> {
    let path = dir.join(COLUMNS).join("lock");
    let file = files.open(&path, OpenMode::CreateOrTruncate).map_err(QueryError::io(&path))?;
    match file.try_lock().map_err(QueryError::io(&path))? {
        true => Ok(file),
        false => Err(QueryError::Locked { path }),
    }
}

/// Removes what somebody who was killed has left. Only for who has the lock.
pub(crate) fn remove_left(files: &Files, directory: &Path) -> std::io::Result<()> {
    for entry in files.list(directory)?.iter().filter(|entry| entry.name.ends_with(".parquet.tmp")) {
        files.remove_file(&directory.join(&entry.name))?;
    }
    Ok(())
}

/// The name of a file whose bytes have this checksum.
fn part_name(number: u32, sum: u32) -> String {
    format!("part-{number:05}-{sum:08x}.parquet")
}

/// Number and checksum in the name of a file.
fn named(name: &str) -> Option<(u32, u32)> {
    let (number, sum) = name.strip_prefix("part-")?.strip_suffix(".parquet")?.split_once('-')?;
    Some((number.parse().ok()?, u32::from_str_radix(sum, 16).ok()?))
}

/// The files in a directory of kept values, by number.
pub(crate) fn parts_of(files: &Files, directory: &Path) -> std::io::Result<BTreeMap<u32, PathBuf>> {
    let listed = match files.list(directory) {
        // Nobody can tell what is kept on a server that lists nothing: it is computed.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Unsupported) => Vec::new(),
        listed => listed?,
    };
    let listed = listed.into_iter().filter(|entry| !entry.is_dir);
    Ok(listed.filter_map(|entry| Some((named(&entry.name)?.0, directory.join(&entry.name)))).collect())
}

/// Looks for the checksums of a file's blocks; if there are none, and it is small, it is compared whole.
fn learn(files: &Files, path: &Path, sums: &Sums) -> std::io::Result<()> {
    if is_url(path) || sums.of(&std::path::absolute(path)?).is_some() {
        return Ok(());
    }
    let bytes = files.open(path, OpenMode::Read)?.len()?;
    match files.read(&path.with_extension(SUMS)) {
        Ok(text) => {
            let text = String::from_utf8_lossy(&text).into_owned();
            if BlockSums::parse(&text, bytes).is_none() {
                return Err(wrong(path, &"its length, or what is known of it, has changed"));
            }
            sums.add([PartSums { path: path.to_path_buf(), bytes, sums: text }])
        }
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(wrong(path, &error)),
        Err(_) if bytes > WHOLE_BYTES_MAX => Ok(()),
        Err(_) => {
            let sum = path.file_name().and_then(|name| named(name.to_str()?)).map(|(_, sum)| sum);
            match sum == Some(sum_of(files, path, bytes)?) {
                true => Ok(()),
                false => Err(wrong(path, &"it is damaged: its checksum is wrong")),
            }
        }
    }
}

/// Tells of a file that cannot be read.
fn wrong(path: &Path, error: &dyn std::fmt::Display) -> std::io::Error {
    let advice = "`mattock materialize DIR COLUMN --drop` forgets them";
    let what = format!("kept values in {}: {error}; {advice}", path.display());
    std::io::Error::new(std::io::ErrorKind::InvalidData, what)
}

impl KeptColumn {
    /// What is kept for an analyzer; `None` if there is nothing.
    pub(crate) fn open(
        files: &Files,
        dir: &Path,
        analyzer: &dyn Analyzer,
        sums: &Sums,
    ) -> std::io::Result<Option<KeptColumn>> {
        let parts = parts_of(files, &directory(dir, analyzer))?;
        if parts.is_empty() {
            return Ok(None);
        }
        let paths: Vec<PathBuf> = parts.values().cloned().collect();
        let table = MetadataTable::of_parts(files, Arc::new(Schema::new(places())), &paths)?;
        for path in &paths {
            learn(files, path, sums)?;
        }
        let values = Values { files: files.clone(), parts, sums: sums.clone() };
        Ok(Some(KeptColumn { key: Key::of(analyzer), values: Arc::new(values), places: Arc::new(table) }))
    }

    /// The names that key, place and size have beside the columns of the index.
    pub(crate) fn names(column: &str) -> [String; 3] {
        [KEY, PLACE, BYTES].map(|part| format!("__kept_{part}_{column}"))
    }

    /// Keys, places and sizes under those names.
    pub(crate) fn plan(&self, column: &str) -> Result<LogicalPlan> {
        let names = KeptColumn::names(column);
        let source = provider_as_source(self.places.clone());
        let columns = [KEY, PLACE, BYTES].into_iter().zip(names).map(|(own, name)| ident(own).alias(name));
        LogicalPlanBuilder::scan(format!("kept_{column}"), source, None)?
            .project(columns.collect::<Vec<_>>())?
            .build()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_say_which_file_and_row() {
        for (part, row) in [(0, 0), (3, 17), (1 << 20, (1 << 40) - 1)] {
            let place = Place::new(part, row);
            assert_eq!((place.part(), place.row()), (part, row));
        }
        assert!(Place::new(0, 5).0 < Place::new(1, 0).0, "in the order of the files");
    }
}
