//! Questions and their answers: SQL in, rows out, and beside each figure what it is and what gives it again.
//!
//! All parts of a report ask through one [`Desk`]. Answers are handed on row by row as they come, so that none has to fit into memory;
//! whoever keeps rows sees to it that they are few.

use std::io;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int16Type, Int32Type, Int64Type, TimestampMillisecondType, TimestampNanosecondType, UInt32Type,
    UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::SchemaRef;
use mattock_env::is_url;
use mattock_query::sink::Sink;
use mattock_query::{Cancel, Language, Report, Session};
use serde::Serialize;

use super::Progress;
use super::error::{ReportError, Result};

/// What a figure is, and what gives it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Definition {
    /// Where it stands in the JSON object, like `size.pages`.
    pub figure: &'static str,
    /// What it is, in a sentence.
    pub definition: String,
    /// The command that gives it again.
    pub command: String,
}

/// Where questions are put.
pub(crate) struct Desk<'a> {
    pub(crate) session: &'a Session,
    pub(crate) cancel: &'a Cancel,
    pub(crate) progress: &'a mut dyn FnMut(&Progress<'_>),
    /// The repository as it is written in commands.
    pub(crate) shown: &'a str,
    /// The directory whose features are used, likewise, if it is another one.
    pub(crate) features: Option<&'a str>,
    /// The flags with the dates that are asked for, likewise.
    pub(crate) dates: Option<&'a str>,
    /// What was defined so far.
    pub(crate) definitions: Vec<Definition>,
}

impl Desk<'_> {
    /// Says what is being done, and ends it if somebody wants that.
    pub(crate) fn begin(&mut self, what: &str) -> Result<()> {
        (self.progress)(&Progress { what, documents: None });
        if self.cancel.is_cancelled() { Err(ReportError::Stopped) } else { Ok(()) }
    }

    /// Says what figures are that one command gives.
    pub(crate) fn define(&mut self, command: &str, figures: &[(&'static str, &str)]) {
        self.definitions.extend(figures.iter().map(|(figure, definition)| Definition {
            figure,
            definition: (*definition).to_owned(),
            command: command.to_owned(),
        }));
    }

    /// The same of figures that a query gives.
    pub(crate) fn define_query(&mut self, sql: &str, figures: &[(&'static str, &str)]) {
        let command = self.query_command(sql);
        self.define(&command, figures);
    }

    /// A query as it is typed. Our SQL has no characters that mean something to a shell within double quotes.
    pub(crate) fn query_command(&self, sql: &str) -> String {
        let dates = self.dates.map_or(String::new(), |flags| format!(" {flags}"));
        format!("mattock query {}{dates} --sql \"{sql}\"", self.shown)
    }

    /// A command on the repository.
    pub(crate) fn command(&self, words: &str) -> String {
        format!("mattock {words} {}", self.shown)
    }

    /// A command on the features.
    pub(crate) fn features_command(&self, words: &str) -> String {
        format!("mattock {words} {}", self.features_shown())
    }

    /// The command that builds them.
    pub(crate) fn build_command(&self) -> String {
        let into = match self.features_shown() {
            home if home == self.shown => String::new(),
            home => format!(" --into {home}"),
        };
        self.command("features build") + &into
    }

    /// The command that makes this report.
    pub(crate) fn report_command(&self) -> String {
        report_command(self.shown, self.features)
    }

    /// Where the features are. At a URL there can be none: they are built on a machine.
    fn features_shown(&self) -> &str {
        let own = if is_url(Path::new(self.shown)) { "DIR" } else { self.shown };
        self.features.unwrap_or(own)
    }

    /// Asks, and hands on each row.
    pub(crate) fn each(&mut self, sql: &str, mut take: impl FnMut(&Row<'_>) -> Result<()>) -> Result<Report> {
        let query = self.session.plan(sql, Language::Sql)?;
        let mut sink = Rows { sql, take: &mut take, failed: None };
        let progress = &mut *self.progress;
        let shown = &mut |now: &mattock_query::Progress| {
            if let Some(total) = now.documents_total.filter(|total| *total > 0) {
                progress(&Progress { what: "reading a sample", documents: Some((now.documents, total)) });
            }
        };
        let report = query.run(&mut sink, shown, self.cancel);
        match sink.failed {
            Some(error) => Err(error),
            None if self.cancel.is_cancelled() => Err(ReportError::Stopped),
            None => Ok(report?),
        }
    }

    /// Asks for one row.
    pub(crate) fn one<T>(&mut self, sql: &str, take: impl Fn(&Row<'_>) -> Result<T>) -> Result<T> {
        let mut found = None;
        self.each(sql, |row| {
            found = Some(take(row)?);
            Ok(())
        })?;
        found.ok_or_else(|| ReportError::Answer { sql: sql.to_owned(), what: "row" })
    }

    /// Asks for rows that are few.
    pub(crate) fn all<T>(&mut self, sql: &str, take: impl Fn(&Row<'_>) -> Result<T>) -> Result<Vec<T>> {
        let mut found = Vec::new();
        self.each(sql, |row| {
            found.push(take(row)?);
            Ok(())
        })?;
        Ok(found)
    }
}

/// The command that makes a report on a repository.
pub(crate) fn report_command(shown: &str, features: Option<&str>) -> String {
    let features = features.map_or(String::new(), |home| format!(" --features {home}"));
    format!("mattock report {shown}{features}")
}

/// One row of an answer.
pub(crate) struct Row<'a> {
    sql: &'a str,
    batch: &'a RecordBatch,
    row: usize,
}

impl Row<'_> {
    fn column(&self, name: &'static str) -> Result<&ArrayRef> {
        let wrong = || ReportError::Answer { sql: self.sql.to_owned(), what: name };
        self.batch.column_by_name(name).ok_or_else(wrong)
    }

    /// A count; nothing is 0.
    pub(crate) fn count(&self, name: &'static str) -> Result<u64> {
        Ok(self.number(name)?.map_or(0, |number| u64::try_from(number).unwrap_or(0)))
    }

    /// A whole number, or a time in milliseconds since 1970.
    pub(crate) fn number(&self, name: &'static str) -> Result<Option<i64>> {
        let column = self.column(name)?;
        if column.is_null(self.row) {
            return Ok(None);
        }
        let wrong = || ReportError::Answer { sql: self.sql.to_owned(), what: name };
        integer(column, self.row).map(Some).ok_or_else(wrong)
    }

    /// A text.
    pub(crate) fn text(&self, name: &'static str) -> Result<Option<String>> {
        let column = self.column(name)?;
        if column.is_null(self.row) {
            return Ok(None);
        }
        let text = column.as_string_view_opt().map(|texts| texts.value(self.row));
        let text = text.or_else(|| column.as_string_opt::<i32>().map(|texts| texts.value(self.row)));
        let text = text.or_else(|| column.as_string_opt::<i64>().map(|texts| texts.value(self.row)));
        let wrong = || ReportError::Answer { sql: self.sql.to_owned(), what: name };
        text.map(|text| Some(text.to_owned())).ok_or_else(wrong)
    }
}

fn integer(column: &ArrayRef, row: usize) -> Option<i64> {
    if let Some(numbers) = column.as_primitive_opt::<Int64Type>() {
        return Some(numbers.value(row));
    }
    if let Some(numbers) = column.as_primitive_opt::<UInt64Type>() {
        return i64::try_from(numbers.value(row)).ok();
    }
    if let Some(numbers) = column.as_primitive_opt::<Int32Type>() {
        return Some(i64::from(numbers.value(row)));
    }
    if let Some(numbers) = column.as_primitive_opt::<UInt32Type>() {
        return Some(i64::from(numbers.value(row)));
    }
    if let Some(numbers) = column.as_primitive_opt::<Int16Type>() {
        return Some(i64::from(numbers.value(row)));
    }
    // The engine counts in nanoseconds where it computes with times.
    if let Some(times) = column.as_primitive_opt::<TimestampNanosecondType>() {
        return Some(times.value(row).div_euclid(1_000_000));
    }
    Some(column.as_primitive_opt::<TimestampMillisecondType>()?.value(row))
}

/// Hands rows on as they come.
struct Rows<'a> {
    sql: &'a str,
    take: &'a mut dyn FnMut(&Row<'_>) -> Result<()>,
    failed: Option<ReportError>,
}

impl Sink for Rows<'_> {
    fn begin(&mut self, _: &SchemaRef) -> io::Result<()> {
        Ok(())
    }

    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        for row in 0..batch.num_rows() {
            if let Err(error) = (self.take)(&Row { sql: self.sql, batch, row }) {
                self.failed = Some(error);
                return Err(io::Error::other("the answer is not what was asked for"));
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}
