//! Columns that are computed: what each is made of, and the values of document after document.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use datafusion::arrow::array::{Array as _, ArrayRef, BooleanArray, RecordBatch};
use datafusion::arrow::compute::prep_null_mask_filter;
use datafusion::arrow::datatypes::{Field, SchemaRef};
use datafusion::common::Result;
use datafusion::common::cast::as_boolean_array;
use datafusion::physical_expr::PhysicalExpr;
use mattock_analyze::{self as analyze, Analyzer, Document, Kind};

use super::build::ColumnBuilder;
use super::tally::Tally;
use crate::kept::values::Values;

/// A column to be computed.
#[derive(Clone)]
pub(crate) struct Computed {
    /// Its name and type.
    pub(crate) field: Field,
    /// What it is made of.
    pub(crate) value: Value,
    /// Where the input has values of it that were computed before.
    pub(crate) kept: Option<Kept>,
}

/// What a column is made of.
#[derive(Clone)]
pub(crate) enum Value {
    /// The document's bytes.
    Body,
    /// What an analyzer says.
    Analyzer(Arc<dyn Analyzer>),
    /// Why the analyzer of another column failed; this text if the document could not be read.
    FailureOf(usize, &'static str),
}

impl Value {
    fn kind(&self) -> Option<Kind> {
        match self {
            Value::Body => None,
            Value::Analyzer(analyzer) => Some(analyzer.kind()),
            Value::FailureOf(..) => Some(Kind::Text),
        }
    }
}

/// Values that were computed before, and the columns of the input that tell where.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    /// Not null where there is such a value.
    pub(crate) place: usize,
    /// What it takes.
    pub(crate) bytes: usize,
    /// The values.
    pub(crate) values: Arc<Values>,
}

/// Columns under construction, and why the last document has no value in them.
pub(super) struct Builders {
    pub(super) columns: Vec<ColumnBuilder>,
    reasons: Vec<Option<String>>,
}

impl Builders {
    pub(super) fn new(computed: &[Computed]) -> Builders {
        Builders {
            columns: computed.iter().map(|column| ColumnBuilder::new(column.value.kind())).collect(),
            reasons: vec![None; computed.len()],
        }
    }

    /// Adds a row of `rows`, whose document this is; null where a value was kept.
    pub(super) fn add(
        &mut self,
        computed: &[Computed],
        rows: &RecordBatch,
        row: usize,
        document: Option<&Document<'_>>,
        url: &str,
        tally: &Tally,
    ) {
        for (at, (column, builder)) in computed.iter().zip(&mut self.columns).enumerate() {
            if let Some(kept) = &column.kept
                && rows.column(kept.place).is_valid(row)
            {
                builder.append_null();
                continue;
            }
            let answer = match (document, &column.value) {
                (None, Value::FailureOf(_, unreadable)) => {
                    Ok(analyze::Value::Text((*unreadable).to_string()))
                }
                (None, _) => Ok(analyze::Value::Null),
                (Some(document), Value::Body) => {
                    builder.append_bytes(document.body);
                    continue;
                }
                (Some(_), Value::FailureOf(of, _)) => {
                    Ok(self.reasons[*of].take().map_or(analyze::Value::Null, analyze::Value::Text))
                }
                (Some(document), Value::Analyzer(analyzer)) => ask(analyzer.as_ref(), document),
            };
            if let Err(reason) = answer.and_then(|value| builder.append(value)) {
                builder.append_null();
                tally.failed(column.field.name(), url, &reason);
                self.reasons[at] = Some(reason);
            }
        }
    }
}

/// Which rows fulfil a condition on their columns and those that were computed.
pub(super) fn fulfilled(
    condition: &Arc<dyn PhysicalExpr>,
    schema: &SchemaRef,
    rows: &RecordBatch,
    columns: &[ArrayRef],
) -> Result<BooleanArray> {
    let inputs = rows.columns().iter().chain(columns).cloned().collect();
    let answer =
        condition.evaluate(&RecordBatch::try_new(schema.clone(), inputs)?)?.into_array(rows.num_rows())?;
    Ok(true_only(as_boolean_array(&answer)?))
}

/// What an analyzer says of a document, or why it says nothing. One that panics has failed on this document, and on no other.
fn ask(analyzer: &dyn Analyzer, document: &Document<'_>) -> std::result::Result<analyze::Value, String> {
    match catch_unwind(AssertUnwindSafe(|| analyzer.analyze(document))) {
        Ok(answer) => answer.map_err(|error| error.to_string()),
        Err(_) => Err("the analyzer panicked".to_string()),
    }
}

/// Null counts as false.
fn true_only(answer: &BooleanArray) -> BooleanArray {
    if answer.null_count() == 0 { answer.clone() } else { prep_null_mask_filter(answer) }
}
