//! Whether the features of a directory are as they were written.

use std::path::Path;

use mattock_env::Files;
use mattock_features::{Features, FeaturesError};
use mattock_query::check_values;
use serde::Serialize;

use crate::FEATURES;
use crate::columns::COLUMNS;

/// What was found of features.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FeaturesCheck {
    /// The generation in use, if that can be read.
    pub generation: Option<u64>,
    /// What is wrong, and what to do about it.
    pub problems: Vec<String>,
}

/// Reads the features of a directory whole; `None` if it has none.
pub fn check_features(files: &Files, directory: &Path) -> Option<FeaturesCheck> {
    let mut found = FeaturesCheck::default();
    let features = match Features::open(files, &directory.join(FEATURES)) {
        Ok(features) => features,
        Err(FeaturesError::Missing { .. }) => return None,
        Err(error) => {
            found.problems.push(error.to_string());
            return Some(found);
        }
    };
    found.generation = Some(features.generation());
    found.problems.extend(features.verify().err().map(|error| error.to_string()));
    let columns = features.dir().join(COLUMNS);
    for entry in files.list(&columns).unwrap_or_default() {
        let path = columns.join(&entry.name);
        if let (Some(name), Err(error)) = (entry.name.strip_suffix(".parquet"), check_values(files, &path)) {
            let advice = match name {
                "in_degree" | "out_degree" => "`mattock features build` makes it anew",
                _ => "the command that has made it makes it anew",
            };
            found.problems.push(format!("{}: {error}; {advice}", path.display()));
        }
    }
    Some(found)
}
