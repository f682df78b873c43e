//! Columns by URL: what was computed from all pages together, and not from one of them: `in_degree`, `pagerank`, `cluster` and the like.
//!
//! Each lies in one Parquet file with the columns `url_key` and `value`, sorted by key, each key once. Who makes these files, and which of
//! several generations counts, is none of our business: [`Source::by_url`](crate::Source) says in which directory they are, and is asked
//! when a query first names such a column. A row gets the value of its URL, whenever it was fetched; a URL that the file does not have
//! has none. A column without a file does not exist, and the complaint says which command makes it; a file that cannot be read, is damaged, or is of
//! another version, is a complaint of its own.
//!
//! Costs: the file is read whenever a query names the column, to compare its checksum, and once more, joined by key and sorted on disk where memory
//! is short. No archive is opened.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::{Column as Name, JoinType, Result};
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{Expr, LogicalPlanBuilder, ident};
use mattock_env::Files;

use crate::metadata::MetadataTable;
use crate::sealed::check_values;

/// The column of the index that values are found by.
pub(crate) const URL_KEY: &str = "url_key";

/// A column that can be made.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    data_type: DataType,
    /// What makes it.
    command: &'static str,
}

/// All of them, by name.
pub(crate) static KINDS: [Kind; 5] = [
    Kind { name: "cluster", data_type: DataType::Int64, command: "mattock duplicates" },
    Kind { name: "component", data_type: DataType::Int64, command: "mattock graph scc" },
    Kind { name: "in_degree", data_type: DataType::Int64, command: "mattock features build" },
    Kind { name: "out_degree", data_type: DataType::Int64, command: "mattock features build" },
    Kind { name: "pagerank", data_type: DataType::Float64, command: "mattock graph pagerank" },
];

impl Kind {
    pub(crate) fn find(name: &str) -> Option<&'static Kind> {
        KINDS.iter().find(|kind| kind.name == name)
    }

    /// Its column.
    pub(crate) fn field(&self) -> Field {
        Field::new(self.name, self.data_type.clone(), true)
    }

    /// What to do if it is not there.
    fn advice(&self) -> String {
        format!("`{}` makes it", self.command)
    }
}

/// Why a column is not there.
pub(crate) enum Absence {
    /// It was never made: what makes it.
    NotMade(String),
    /// What is there cannot be read: why.
    Unreadable(String),
}

/// Says in which directory the files are; `None` if there are none.
pub(crate) type Place = Arc<dyn Fn() -> io::Result<Option<PathBuf>> + Send + Sync>;

/// Those that there are.
#[derive(Clone)]
pub(crate) struct ByUrl {
    files: Files,
    place: Place,
    /// What the place said: it is asked once.
    found: Arc<OnceLock<std::result::Result<Option<PathBuf>, String>>>,
}

impl ByUrl {
    pub(crate) fn new(files: &Files, place: Place) -> ByUrl {
        ByUrl { files: files.clone(), place, found: Arc::default() }
    }

    fn directory(&self) -> std::result::Result<Option<&Path>, &str> {
        let found = self.found.get_or_init(|| (self.place)().map_err(|error| error.to_string()));
        match found {
            Ok(directory) => Ok(directory.as_deref()),
            Err(error) => Err(error),
        }
    }

    /// The values of a column; `None` if there are none, or none that can be read.
    pub(crate) fn open(&self, kind: &Kind) -> Option<Arc<MetadataTable>> {
        self.look(kind).ok().flatten()
    }

    /// The values of a column; `None` if it was never made.
    fn look(&self, kind: &Kind) -> std::result::Result<Option<Arc<MetadataTable>>, String> {
        let Some(directory) = self.directory()? else { return Ok(None) };
        let path = directory.join(format!("{}.parquet", kind.name));
        let unreadable =
            |error: io::Error| format!("{}: {error}; `{}` makes it anew", path.display(), kind.command);
        if self.files.entry(&path).map_err(unreadable)?.is_none() {
            return Ok(None);
        }
        check_values(&self.files, &path).map_err(unreadable)?;
        let schema = Schema::new(vec![
            Field::new(URL_KEY, DataType::Int64, false),
            Field::new("value", kind.data_type.clone(), false),
        ]);
        let parts = std::slice::from_ref(&path);
        let table = MetadataTable::of_parts(&self.files, Arc::new(schema), parts).map_err(unreadable)?;
        Ok(Some(Arc::new(table)))
    }

    /// Why there is no column of this name, if it is one of ours.
    pub(crate) fn missing(&self, name: &str) -> Option<Absence> {
        let kind = Kind::find(name)?;
        Some(match self.look(kind) {
            Ok(_) => Absence::NotMade(kind.advice()),
            Err(error) => Absence::Unreadable(error),
        })
    }

    /// The column that a file has the values of.
    pub(crate) fn column_of(&self, file: &Path) -> Option<&'static str> {
        // Who has not asked for one has none.
        let directory = self.found.get()?.as_ref().ok()?.as_deref()?;
        let kind = Kind::find(file.file_stem()?.to_str()?)?;
        (file.parent() == Some(directory) || file.parent() == std::path::absolute(directory).ok().as_deref())
            .then_some(kind.name)
    }
}

/// Adds a column to a plan that has [`URL_KEY`]. All that the plan had stays.
pub(crate) fn add(
    plan: LogicalPlanBuilder,
    name: &str,
    values: &Arc<MetadataTable>,
) -> Result<LogicalPlanBuilder> {
    let mut kept: Vec<Expr> = plan.schema().fields().iter().map(|field| ident(field.name())).collect();
    kept.push(ident(name));
    // No query can name it.
    let key = format!("__key_{name}");
    let values =
        LogicalPlanBuilder::scan(format!("by_url_{name}"), provider_as_source(values.clone()), None)?
            .project([ident(URL_KEY).alias(&key), ident("value").alias(name)])?
            .build()?;
    let on = (vec![Name::from_name(URL_KEY)], vec![Name::from_name(key)]);
    plan.join(values, JoinType::Left, on, None)?.project(kept)
}
