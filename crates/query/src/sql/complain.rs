//! DataFusion's errors about a text of SQL, with their places, and advice on columns.

use datafusion::common::{Column, DataFusionError, SchemaError};
use datafusion::sql::sqlparser::tokenizer;

use crate::columns::Columns;
use crate::complaint::{Complaint, Span, nearest};
use crate::documents::{CCINDEX, DOCUMENTS};
use crate::error::QueryError;
use crate::outcomes::OUTCOMES;
use crate::wib::plan::unknown;

/// So many columns of a table are told.
const COLUMNS_TOLD: usize = 12;

/// What `error` says about `text`.
pub(crate) fn complain(text: &str, columns: &Columns, error: &DataFusionError) -> QueryError {
    let place = error.diagnostic().and_then(|diagnostic| diagnostic.span).map(|span| {
        let at = |location: datafusion::common::Location| offset(text, location.line, location.column);
        Span::new(at(span.start), at(span.end))
    });
    let root = error.find_root();
    match root {
        DataFusionError::SchemaError(reason, _) => {
            if let SchemaError::FieldNotFound { field, valid_fields } = reason.as_ref() {
                let span = place.or_else(|| find_word(text, &field.name));
                if let Some(hint) = columns_beside(field, valid_fields) {
                    let message = format!("there is no column `{}` here", field.name);
                    return Complaint { text: text.to_string(), span, message, hint: Some(hint) }.into();
                }
                if columns.find_lowercase(&field.name).is_some() {
                    let message = format!("there is no column `{}` here", field.name);
                    let hint = Some(format!("the table `{DOCUMENTS}` has it"));
                    return Complaint { text: text.to_string(), span, message, hint }.into();
                }
                let complaint = unknown(text, span, &field.name, columns);
                // In the other language, and in some of SQL, strings look like that.
                return match text.contains(&format!("\"{}\"", field.name)) {
                    true => complaint.hint(format!(
                        "names stand in double quotes, and text in single ones: '{}'",
                        field.name.replace('\'', "''")
                    )),
                    false => complaint,
                }
                .into();
            }
        }
        DataFusionError::SQL(reason, _) => {
            let (message, span) = syntax(text, &reason.to_string());
            return Complaint { text: text.to_string(), span, message, hint: None }.into();
        }
        _ => {}
    }
    let message = match error.diagnostic() {
        Some(diagnostic) => diagnostic.message.clone(),
        None => root.strip_backtrace().trim_start_matches("Error during planning: ").to_string(),
    };
    if message.contains("Unsupported ast node") && message.contains("Lambda(") {
        let hint = "`transform`, `filter` and `any_match` take one, and `array_sort` one that compares one value of each element";
        return Complaint::of(text, "an arrow, `->`, cannot be read here").hint(hint).into();
    }
    let help = error.diagnostic().and_then(|diagnostic| diagnostic.helps.first());
    let hint =
        help.map(|help| help.message.clone()).or_else(|| tables(&message)).or_else(|| instead(&message));
    Complaint { text: text.to_string(), span: place, message, hint }.into()
}

/// The columns of a table beside the repository's own, of which one was named that it does not have.
fn columns_beside(field: &Column, valid: &[Column]) -> Option<String> {
    let table = field.relation.as_ref()?;
    let of_table = valid.iter().filter(|column| column.relation.as_ref() == Some(table));
    let names: Vec<String> = of_table.map(|column| format!("`{}`", column.name)).collect();
    // The repository's own have more.
    (1..=COLUMNS_TOLD).contains(&names.len()).then(|| format!("`{}` has {}", table.table(), names.join(", ")))
}

/// Which tables there are, if `message` is about one that is not there.
fn tables(message: &str) -> Option<String> {
    let name = message.strip_prefix("table '")?.strip_suffix("' not found")?;
    let name = name.rsplit('.').next().unwrap_or(name);
    Some(match nearest(name, [DOCUMENTS, OUTCOMES, CCINDEX]) {
        Some(OUTCOMES) if name == OUTCOMES => "only the directory of a crawl has its outcomes".to_owned(),
        Some(table) => format!("did you mean `{table}`?"),
        None => format!(
            "the tables are `{DOCUMENTS}` and, of a crawl, `{OUTCOMES}`; --table {name}=FILE reads one from a CSV or Parquet file"
        ),
    })
}

/// What to write in place of functions of Athena that are not here.
const INSTEAD: [(&str, &str); 14] = [
    ("approx_percentile", "approx_percentile_cont(column, share)"),
    ("arbitrary", "first_value(column)"),
    ("count_if", "count(*) filter (where condition)"),
    ("date_diff", "date_part('day', later - earlier)"),
    ("date_format", "to_char(time, '%Y-%m-%d')"),
    ("date_parse", "to_timestamp(text, '%Y-%m-%d')"),
    ("format_datetime", "to_char(time, '%Y-%m-%d')"),
    ("from_iso8601_timestamp", "to_timestamp(text)"),
    ("from_unixtime", "to_timestamp_seconds(number)"),
    ("max_by", "first_value(column order by other desc)"),
    ("min_by", "first_value(column order by other)"),
    ("multimap_agg", "map_agg of an array_agg, in a query around it"),
    ("reduce", "unnest(list) in `from`, and an aggregate"),
    ("slice", "array_slice(list, first, last), where -1 is the last element"),
];

/// What to write in place of a function that `message` is about.
fn instead(message: &str) -> Option<String> {
    let name = message.strip_prefix("Invalid function '")?.split('\'').next()?;
    let (_, instead) = INSTEAD.iter().find(|(function, _)| *function == name)?;
    Some(format!("write `{instead}`"))
}

/// The message of a syntax error without its place, and the place.
fn syntax(text: &str, reason: &str) -> (String, Option<Span>) {
    let reason = reason.trim_start_matches("sql parser error: ");
    let Some((message, place)) = reason.split_once(" at Line: ") else {
        return (reason.to_string(), end_of(text, reason));
    };
    let mut numbers = place.split(|letter: char| !letter.is_ascii_digit()).filter(|part| !part.is_empty());
    let (line, column) = (
        numbers.next().and_then(|line| line.parse().ok()),
        numbers.next().and_then(|column| column.parse().ok()),
    );
    let span = line.zip(column).map(|(line, column)| {
        let start = offset(text, line, column);
        Span::new(start, start + word_length(&text[start..]))
    });
    (message.to_string(), span)
}

/// An error about the end of the text is at its end.
fn end_of(text: &str, reason: &str) -> Option<Span> {
    let end = text.trim_end().len();
    reason.contains("EOF").then(|| Span::new(end, end))
}

/// The place that the parser knows, if it does.
pub(super) fn place(text: &str, span: tokenizer::Span) -> Option<Span> {
    let at = |location: tokenizer::Location| offset(text, location.line, location.column);
    (span.start.line > 0).then(|| Span::new(at(span.start), at(span.end)))
}

/// The offset of a line and a column, both from 1.
fn offset(text: &str, line: u64, column: u64) -> usize {
    let line = usize::try_from(line).unwrap_or(1).max(1);
    let column = usize::try_from(column).unwrap_or(1).max(1);
    let start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
    let rest = &text[start..];
    start + rest.char_indices().nth(column - 1).map_or(rest.len(), |(at, _)| at)
}

fn word_length(text: &str) -> usize {
    let length = text.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(text.len());
    if length == 0 { text.chars().next().map_or(0, char::len_utf8) } else { length }
}

/// Where a name stands in the text, as a word.
pub(super) fn find_word(text: &str, word: &str) -> Option<Span> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.to_ascii_lowercase().match_indices(&word.to_ascii_lowercase()).find_map(|(at, found)| {
        let end = at + found.len();
        let alone = !text[..at].ends_with(is_part) && !text[end..].starts_with(is_part);
        alone.then_some(Span::new(at, end))
    })
}
