//! Functions beside those that the engine has: our own, and those of Athena and Presto, so that queries which were written for Common Crawl's
//! table run here as they are. What Athena writes otherwise, such as `if`, is in [`crate::sql::athena`].

mod any_match;
mod around;
mod by_type;
mod length;
mod maps;
mod nested;
mod octet_length;
mod pattern;
mod regexp_extract;
mod url;

use std::sync::Arc;

use datafusion::functions::string::levenshtein;
use datafusion::functions_nested::string::string_to_array_udf;
use datafusion::logical_expr::{AggregateUDF, ScalarUDF};

pub(crate) use any_match::any_match;
pub(crate) use nested::{AS_JSON, NAMED, SORTED};

/// Those of one row.
pub(crate) fn all() -> Vec<Arc<ScalarUDF>> {
    let named =
        |function: Arc<ScalarUDF>, name| Arc::new(Arc::unwrap_or_clone(function).with_aliases([name]));
    let mut all = vec![
        Arc::new(any_match()),
        Arc::new(by_type::contains()),
        Arc::new(by_type::reverse()),
        Arc::new(length::length()),
        Arc::new(octet_length::octet_length()),
        Arc::new(regexp_extract::regexp_extract()),
        Arc::new(regexp_extract::regexp_extract_all()),
        named(string_to_array_udf(), "split"),
        named(levenshtein(), "levenshtein_distance"),
    ];
    all.extend(url::all().chain(nested::all()).map(Arc::new));
    all
}

/// Those of many rows.
pub(crate) fn aggregates() -> impl Iterator<Item = Arc<AggregateUDF>> {
    maps::all().into_iter().map(Arc::new)
}
