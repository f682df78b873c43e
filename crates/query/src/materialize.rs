//! Keeps a computed column beside the index, so that queries need not compute it again.
//!
//! Values are computed once for each distinct payload, or for each instance, and written to `DIR/columns/NAME-VERSION.FORMAT/`, failures
//! with their reasons; what is there already is not computed again. A document that cannot be read is left out, and tried again the next
//! time. A new file gets its name when it is whole. Stopped half-way, what has been computed is kept.

use std::path::PathBuf;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::catalog::TableProvider as _;
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{LogicalPlanBuilder, ident};
use mattock_analyze::Analyzer;

use crate::cancel::Cancel;
use crate::columns::{Column, Origin, data_type};
use crate::complaint::nearest;
use crate::content::tally::Tally;
use crate::documents::{DOCUMENTS, Missing};
use crate::error::QueryError;
use crate::kept::key::Key;
use crate::kept::writer::KeptWriter;
use crate::kept::{self, KeptColumn};
use crate::query::{Dates, Progress, Query, Report};
use crate::session::Session;

/// The name of the column of failures while it is computed, and what it says of documents that cannot be read.
const ERROR: &str = "__error";
const UNREADABLE: &str = "\u{0}unreadable";

/// What was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Materialized {
    /// The directory of the column.
    pub directory: PathBuf,
    /// The new files; none if nothing was missing.
    pub files: Vec<PathBuf>,
    /// What was done for them; its rows are the values in the files.
    pub report: Report,
}

impl Session {
    /// Keeps the column `name`.
    pub fn materialize(
        &self,
        name: &str,
        progress: &mut dyn FnMut(&Progress),
        cancel: &Cancel,
    ) -> Result<Materialized, QueryError> {
        let analyzer = self.analyzer(name)?;
        let inner = &self.inner;
        let directory = kept::directory(&inner.source.dir, analyzer.as_ref());
        let io = |error| QueryError::Io { path: directory.clone(), source: error };
        inner.files.create_dir_all(&directory).map_err(io)?;
        let _lock = kept::lock(&inner.files, &inner.source.dir)?;
        kept::remove_left(&inner.files, &directory).map_err(io)?;
        let last =
            kept::parts_of(&inner.files, &directory).map_err(io)?.last_key_value().map(|(last, _)| *last);
        // A name is not used again: who still reads what was forgotten must not take something else for it.
        let number = last.map_or_else(|| self.draw() as u32 % kept::FIRST_NUMBERS, |last| last + 1);
        let schema = kept::schema(analyzer.as_ref());
        let mut writer = KeptWriter::new(&inner.files, directory.clone(), schema, UNREADABLE, number);
        let mut report = self.missing(&analyzer)?.run(&mut writer, progress, cancel)?;
        report.rows = writer.rows;
        Ok(Materialized { directory, files: writer.written, report })
    }

    /// Forgets what was kept of the column `name`, of whatever version, and also if nobody computes it any more. Gives the directories that
    /// are gone.
    pub fn drop_kept(&self, name: &str) -> Result<Vec<PathBuf>, QueryError> {
        let inner = &self.inner;
        let columns = inner.source.dir.join(kept::COLUMNS);
        if inner.files.entry(&columns).map_err(QueryError::io(&columns))?.is_none() {
            return Ok(Vec::new());
        }
        let _lock = kept::lock(&inner.files, &inner.source.dir)?;
        let directories = kept::directories(&inner.files, &inner.source.dir, name)
            .map_err(QueryError::io(&inner.source.dir.join(kept::COLUMNS)))?;
        for directory in &directories {
            inner.files.remove_dir_all(directory).map_err(QueryError::io(directory))?;
        }
        Ok(directories)
    }

    fn analyzer(&self, name: &str) -> Result<Arc<dyn Analyzer>, QueryError> {
        match self.inner.columns.find(name).map(|column| column.origin) {
            Some(Origin::Analyzer(analyzer)) => Ok(analyzer),
            Some(_) => Err(QueryError::NoAnalyzer {
                name: name.to_string(),
                hint: ": this column is not computed, so there is nothing to keep".to_string(),
            }),
            None => {
                let names = self.inner.columns.names();
                let hint = nearest(name, names.iter().map(String::as_str));
                let hint = hint.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
                Err(QueryError::NoAnalyzer { name: name.to_string(), hint })
            }
        }
    }

    /// The query for key, value and failure of all that no value is kept of.
    fn missing(&self, analyzer: &Arc<dyn Analyzer>) -> Result<Query, QueryError> {
        let inner = &self.inner;
        let io = QueryError::io(&inner.source.dir);
        let kept =
            KeptColumn::open(&inner.files, &inner.source.dir, analyzer.as_ref(), &inner.sums).map_err(io)?;
        let key = Key::of(analyzer.as_ref());
        let value = Column {
            field: Field::new(analyzer.name(), data_type(analyzer.kind()), true),
            origin: Origin::Analyzer(analyzer.clone()),
        };
        let error = Column {
            field: Field::new(ERROR, DataType::Utf8View, true),
            origin: Origin::FailureOfLast(UNREADABLE),
        };
        let tally = Arc::new(Tally::default());
        let state = self.state_for(value.is_wide());
        let table = self.table(vec![value, error], Dates::default(), Some(Missing { key, kept }), &tally)?;
        let plan = LogicalPlanBuilder::scan(DOCUMENTS, provider_as_source(Arc::new(table)), None)?
            .project(vec![key.expression(&inner.metadata.schema()), ident(analyzer.name()), ident(ERROR)])?
            .build()?;
        Ok(Query {
            session: self.clone(),
            plan: state.optimize(&plan)?,
            state,
            tally,
            seeds: Vec::new(),
            dates: Dates::default(),
        })
    }
}
