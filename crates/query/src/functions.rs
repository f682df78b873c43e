//! Functions beside those that the engine has: our own, and names that Athena and Presto have for some of the engine's, so that queries
//! which were written for Common Crawl's table run here as they are (`if` is in [`crate::sql::athena`]).

mod any_match;
mod by_type;
mod length;
mod octet_length;
mod pattern;
mod regexp_extract;

use std::sync::Arc;

use datafusion::functions::string::levenshtein;
use datafusion::functions_nested::string::string_to_array_udf;
use datafusion::logical_expr::ScalarUDF;

pub(crate) use any_match::any_match;

/// All of them.
pub(crate) fn all() -> Vec<Arc<ScalarUDF>> {
    let named =
        |function: Arc<ScalarUDF>, name| Arc::new(Arc::unwrap_or_clone(function).with_aliases([name]));
    vec![
        Arc::new(any_match()),
        Arc::new(by_type::contains()),
        Arc::new(by_type::reverse()),
        Arc::new(length::length()),
        Arc::new(octet_length::octet_length()),
        Arc::new(regexp_extract::regexp_extract()),
        named(string_to_array_udf(), "split"),
        named(levenshtein(), "levenshtein_distance"),
    ]
}
