//! Columns that were computed before and kept: `DIR/columns/NAME-VERSION/*.parquet`.
//!
//! Written by `materialize`, read by scans as long as the analyzer has the same version. A value is kept once for each
//! distinct payload (`content_digest`), or once for each instance where it depends on more than the payload: see [`key_of`].

use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::Result;
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{LogicalPlan, LogicalPlanBuilder, ident};
use mattock_analyze::Analyzer;
use mattock_env::Files;

use crate::columns::data_type;
use crate::metadata::MetadataTable;
use crate::sampling::INSTANCE;

/// The directory of kept columns within a repository.
pub(crate) const COLUMNS: &str = "columns";

/// A kept column that can be read.
#[derive(Clone, Debug)]
pub(crate) struct KeptColumn {
    /// The column of the index by which values are found.
    pub(crate) key: &'static str,
    table: Arc<MetadataTable>,
}

/// The column of the index that decides about an analyzer's value. URL and header fields are no part of the payload.
pub(crate) fn key_of(analyzer: &dyn Analyzer) -> &'static str {
    if analyzer.of_payload() { "content_digest" } else { INSTANCE }
}

/// The columns of the files.
pub(crate) fn schema(analyzer: &dyn Analyzer) -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new(key_of(analyzer), DataType::Utf8View, false),
        Field::new("value", data_type(analyzer.kind()), true),
        Field::new("error", DataType::Utf8View, true),
    ]))
}

/// The directory for the values of an analyzer, as it is now.
pub(crate) fn directory(dir: &Path, analyzer: &dyn Analyzer) -> PathBuf {
    let safe = |text: &str| -> String {
        text.chars()
            .map(|letter| if letter.is_ascii_alphanumeric() || "._".contains(letter) { letter } else { '_' })
            .collect()
    };
    let version = analyzer.version();
    let mut name = format!("{}-{}", safe(analyzer.name()), safe(&version));
    if safe(&version) != version || version.len() > 64 {
        let hash = xxhash_rust::xxh3::xxh3_64(version.as_bytes());
        name = format!("{}-{hash:016x}", safe(analyzer.name()));
    }
    dir.join(COLUMNS).join(name)
}

/// The files in a directory of kept values, in order.
pub(crate) fn files_of(files: &Files, directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    if files.entry(directory)?.is_none() {
        return Ok(Vec::new());
    }
    let listed =
        files.list(directory)?.into_iter().filter(|entry| !entry.is_dir && entry.name.ends_with(".parquet"));
    Ok(listed.map(|entry| directory.join(entry.name)).collect())
}

impl KeptColumn {
    /// What is kept for an analyzer; `None` if there is nothing.
    pub(crate) fn open(
        files: &Files,
        dir: &Path,
        analyzer: &dyn Analyzer,
    ) -> std::io::Result<Option<KeptColumn>> {
        let parts = files_of(files, &directory(dir, analyzer))?;
        if parts.is_empty() {
            return Ok(None);
        }
        let table = MetadataTable::of_parts(files, schema(analyzer), &parts)?;
        Ok(Some(KeptColumn { key: key_of(analyzer), table: Arc::new(table) }))
    }

    /// The names that key, value and error have beside the columns of the index.
    pub(crate) fn names(column: &str) -> [String; 3] {
        ["key", "value", "error"].map(|part| format!("__kept_{part}_{column}"))
    }

    /// The values under those names.
    pub(crate) fn plan(&self, column: &str) -> Result<LogicalPlan> {
        let [key, value, error] = KeptColumn::names(column);
        let source = provider_as_source(self.table.clone());
        let columns = [ident(self.key).alias(key), ident("value").alias(value), ident("error").alias(error)];
        LogicalPlanBuilder::scan(format!("kept_{column}"), source, None)?.project(columns)?.build()
    }
}
