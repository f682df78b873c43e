//! Whether kept columns are as they were written: each file has the checksum of its bytes in its name.

use std::path::Path;

use mattock_env::{Files, OpenMode};
use serde::Serialize;

use super::{COLUMNS, FORMAT, named};
use crate::sealed::sum_of;

/// What was found of kept columns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KeptCheck {
    /// Files that are as they were written.
    pub files: u64,
    /// What is wrong, and what to do about it.
    pub problems: Vec<String>,
}

/// Reads the kept columns of a repository; `None` if there are none that queries would use.
pub fn check_kept(files: &Files, repository: &Path) -> Option<KeptCheck> {
    let mut found = KeptCheck::default();
    let columns = repository.join(COLUMNS);
    let format = format!(".{FORMAT}");
    let listed = files.list(&columns).unwrap_or_default().into_iter();
    for column in listed.filter(|entry| entry.is_dir && entry.name.ends_with(&format)) {
        let directory = columns.join(&column.name);
        let name = column.name.split('-').next().unwrap_or_default();
        let again = format!(
            "forget what was kept of `{name}` with `mattock materialize --drop`, and keep it again: until then values of it may be wrong"
        );
        let parts = match files.list(&directory) {
            Ok(parts) => parts,
            Err(error) => {
                found.problems.push(format!("{}: {error}; {again}", directory.display()));
                continue;
            }
        };
        for (part, (_, sum)) in parts.iter().filter_map(|part| Some((part, named(&part.name)?))) {
            let path = directory.join(&part.name);
            let length = || files.open(&path, OpenMode::Read)?.len();
            let what = match length().and_then(|bytes| sum_of(files, &path, bytes)) {
                Ok(is) if is == sum => {
                    found.files += 1;
                    continue;
                }
                Ok(_) => "it is damaged: its checksum is wrong".to_owned(),
                Err(error) => error.to_string(),
            };
            found.problems.push(format!("{}: {what}; {again}", path.display()));
        }
    }
    (found.files > 0 || !found.problems.is_empty()).then_some(found)
}
