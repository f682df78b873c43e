//! What tables and columns there are, for people: `show tables`, `describe documents`, `information_schema`, and `mattock columns`.
//!
//! `information_schema.tables` and `information_schema.columns` are made when a query names them. `show tables`, `describe` and `show columns` are
//! read as queries on them. Computed columns are in the list too, though a table of a query has only those that it names.

mod sentences;

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray};
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::catalog::{SchemaProvider, TableProvider};
use datafusion::common::Result;
use datafusion::datasource::MemTable;
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{self, DescribeAlias, ObjectName, ObjectNamePart, ShowStatementIn};
use mattock_index::outcomes_schema;

use crate::by_url::{KINDS, Kind as ByUrlKind};
use crate::columns::{Column, Columns, Origin};
use crate::documents::{CCINDEX, DOCUMENTS};
use crate::given::Opened;
use crate::outcomes::OUTCOMES;

/// The schema that has the lists, and their names.
pub(crate) const INFORMATION: &str = "information_schema";
const TABLES: &str = "tables";
const COLUMNS: &str = "columns";

/// A column, as people are told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// What it is called.
    pub name: String,
    /// Its type, as SQL writes it.
    pub data_type: String,
    /// What a query reads for it: `index`, `features` or `archive`; of other tables `ledgers` or `file`.
    pub read_from: &'static str,
    /// What it is, in a sentence.
    pub about: String,
}

/// The columns that every repository with this index has, and those that features give.
pub fn described(index: &SchemaRef) -> Vec<Described> {
    of_documents(&Columns::new(index.clone(), &[]))
}

/// The columns of the table `documents`.
pub(crate) fn of_documents(columns: &Columns) -> Vec<Described> {
    let mut names = columns.names();
    names.extend(KINDS.iter().map(|kind| kind.name.to_owned()));
    let mut described: Vec<Described> = Vec::new();
    for name in names {
        if described.iter().any(|column| column.name == name) {
            continue;
        }
        let of_features =
            ByUrlKind::find(&name).map(|kind| Column { field: kind.field(), origin: Origin::Index });
        let read_from = if of_features.is_some() { "features" } else { "index" };
        let Some(column) = of_features.or_else(|| columns.find(&name)) else { continue };
        let read_from = if column.is_computed() { "archive" } else { read_from };
        let about = match (sentences::of(&name), &column.origin) {
            _ if columns.is_own(&name) => {
                "a column of your own, which a WebAssembly module computes".to_owned()
            }
            (Some(sentence), _) => sentence.to_owned(),
            (None, Origin::Alias(base)) => format!("`{base}`, by another name"),
            (None, _) => String::new(),
        };
        described.push(Described { name, data_type: sql_type(column.field.data_type()), read_from, about });
    }
    described
}

/// A type as SQL writes it.
fn sql_type(data_type: &DataType) -> String {
    match data_type {
        DataType::Utf8 | DataType::Utf8View | DataType::LargeUtf8 => "varchar".into(),
        DataType::Binary | DataType::BinaryView | DataType::LargeBinary => "varbinary".into(),
        DataType::Int8 => "tinyint".into(),
        DataType::Int16 => "smallint".into(),
        DataType::Int32 => "integer".into(),
        DataType::Int64 | DataType::UInt64 => "bigint".into(),
        DataType::Float32 => "real".into(),
        DataType::Float64 => "double".into(),
        DataType::Timestamp(..) => "timestamp".into(),
        DataType::List(element) | DataType::LargeList(element) => {
            format!("array({})", sql_type(element.data_type()))
        }
        other => other.to_string().to_lowercase(),
    }
}

/// A table that is told of.
struct Table {
    schema: String,
    name: String,
    about: &'static str,
    columns: Vec<Described>,
}

/// The columns of a table of which only the schema is known.
fn of_schema(
    schema: &SchemaRef,
    read_from: &'static str,
    about: impl Fn(&str) -> Option<&'static str>,
) -> Vec<Described> {
    let column = |field: &Arc<datafusion::arrow::datatypes::Field>| Described {
        name: field.name().clone(),
        data_type: sql_type(field.data_type()),
        read_from,
        about: about(field.name()).unwrap_or_default().to_owned(),
    };
    schema.fields().iter().map(column).collect()
}

/// Puts the lists into `information`: of the tables of a repository, of a crawl's `outcomes`, and of those that the user has `given`.
pub(crate) fn add(
    information: &dyn SchemaProvider,
    default_schema: &str,
    columns: &Columns,
    has_outcomes: bool,
    given: &[Opened],
) -> Result<()> {
    let documents = of_documents(columns);
    let table = |schema: &str, name: &str, about, columns| Table {
        schema: schema.to_owned(),
        name: name.to_owned(),
        about,
        columns,
    };
    let mut tables = vec![
        table(
            default_schema,
            DOCUMENTS,
            "what is stored: a row for each instance of each URL",
            documents.clone(),
        ),
        table(CCINDEX, CCINDEX, "`documents`, by the name of Common Crawl's table", documents),
    ];
    if has_outcomes {
        let columns = of_schema(&outcomes_schema(), "ledgers", sentences::of_outcomes);
        tables.push(table(
            default_schema,
            OUTCOMES,
            "what became of every URL that the crawl is done with",
            columns,
        ));
    }
    for (name, provider) in given {
        let columns = of_schema(&provider.schema(), "file", |_| None);
        tables.push(table(default_schema, name, "a file that was named by --table", columns));
    }
    information.register_table(TABLES.to_owned(), list_of_tables(&tables)?)?;
    information.register_table(COLUMNS.to_owned(), list_of_columns(&tables)?)?;
    Ok(())
}

fn texts<'a>(texts: impl Iterator<Item = &'a str>) -> ArrayRef {
    Arc::new(texts.map(|text| Some(text).filter(|text| !text.is_empty())).collect::<StringArray>())
}

fn in_memory(columns: Vec<(&str, ArrayRef)>) -> Result<Arc<dyn TableProvider>> {
    let rows = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, values)| (name, values, true)),
    )?;
    Ok(Arc::new(MemTable::try_new(rows.schema(), vec![vec![rows]])?))
}

fn list_of_tables(tables: &[Table]) -> Result<Arc<dyn TableProvider>> {
    in_memory(vec![
        ("table_schema", texts(tables.iter().map(|table| table.schema.as_str()))),
        ("table_name", texts(tables.iter().map(|table| table.name.as_str()))),
        ("table_type", texts(tables.iter().map(|_| "BASE TABLE"))),
        ("description", texts(tables.iter().map(|table| table.about))),
    ])
}

fn list_of_columns(tables: &[Table]) -> Result<Arc<dyn TableProvider>> {
    let rows: Vec<(&Table, usize, &Described)> = tables
        .iter()
        .flat_map(|table| table.columns.iter().enumerate().map(move |(at, column)| (table, at + 1, column)))
        .collect();
    in_memory(vec![
        ("table_schema", texts(rows.iter().map(|(table, ..)| table.schema.as_str()))),
        ("table_name", texts(rows.iter().map(|(table, ..)| table.name.as_str()))),
        ("column_name", texts(rows.iter().map(|(.., column)| column.name.as_str()))),
        (
            "ordinal_position",
            Arc::new(rows.iter().map(|(_, at, _)| Some(*at as i64)).collect::<Int64Array>()),
        ),
        ("data_type", texts(rows.iter().map(|(.., column)| column.data_type.as_str()))),
        ("is_nullable", Arc::new(rows.iter().map(|_| Some(true)).collect::<BooleanArray>())),
        ("read_from", texts(rows.iter().map(|(.., column)| column.read_from))),
        ("description", texts(rows.iter().map(|(.., column)| column.about.as_str()))),
    ])
}

/// What a statement about tables is read as.
pub(crate) enum Asked {
    /// Which tables there are.
    Tables,
    /// Which columns the table of this name has.
    Columns(String),
}

impl Asked {
    /// The question that a statement is, if it is one about tables.
    pub(crate) fn of(statement: &Statement) -> Option<Asked> {
        let Statement::Statement(statement) = statement else { return None };
        let name = |name: &ObjectName| match name.0.last() {
            Some(ObjectNamePart::Identifier(name)) => Some(name.value.to_lowercase()),
            _ => None,
        };
        match statement.as_ref() {
            ast::Statement::ShowTables { .. } => Some(Asked::Tables),
            ast::Statement::ExplainTable {
                describe_alias: DescribeAlias::Describe | DescribeAlias::Desc,
                table_name,
                ..
            } => name(table_name).map(Asked::Columns),
            ast::Statement::ShowColumns { show_options, .. } => match &show_options.show_in {
                Some(ShowStatementIn { parent_name: Some(table), .. }) => name(table).map(Asked::Columns),
                _ => None,
            },
            _ => None,
        }
    }

    /// The query that answers it.
    pub(crate) fn sql(&self) -> String {
        match self {
            Asked::Tables => {
                format!("select table_name, description from {INFORMATION}.{TABLES} order by table_name")
            }
            Asked::Columns(table) => format!(
                "select column_name, data_type, read_from, description from {INFORMATION}.{COLUMNS} where table_name = '{}' order by ordinal_position",
                table.replace('\'', "''")
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_has_a_sentence() {
        for column in described(&mattock_index::schema()) {
            assert!(!column.about.is_empty(), "{column:?}");
        }
        for field in outcomes_schema().fields() {
            assert!(sentences::of_outcomes(field.name()).is_some(), "{}", field.name());
        }
    }
}
