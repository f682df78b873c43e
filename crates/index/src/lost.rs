//! Which archives have to be imported again when parts of imports are not as they were written.
//!
//! Parts that are whole stay as they are. Of the others it is known which archives their rows were of: the list says so, or, of parts of earlier
//! versions, the order of things does. An archive of which a whole part has rows already is read again for the others only.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use mattock_env::{Files, located};

use crate::contents::{offsets, reaches};
use crate::error::IndexError;
use crate::import::Foreign;
use crate::manifest::{Manifest, Part};
use crate::verify::verified;

/// A part with fewer rows was not closed because it was full: no archive goes on in the next one. Full ones have more by far, unless URLs are monsters.
const FULL_ROWS: u64 = 50_000;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Lost {
    /// Parts that are not as they were written.
    pub(crate) parts: Vec<Part>,
    /// Archives that rows of them were of, and those that could not be read the last time.
    pub(crate) archives: Vec<Foreign>,
}

impl Lost {
    /// Looks at all imported parts.
    pub(crate) fn find(files: &Files, repository: &Path, list: &Manifest) -> Result<Lost, IndexError> {
        let directory = Manifest::directory(repository);
        let imported: Vec<(&Part, bool)> = list
            .parts
            .iter()
            .filter(|part| part.imported)
            .map(|part| (part, verified(files, &directory.join(&part.file), part).is_ok()))
            .collect();
        let parts: Vec<Part> =
            imported.iter().filter(|(_, whole)| !whole).map(|(part, _)| (*part).clone()).collect();
        let mut names: BTreeSet<&str> = list.lost.iter().map(String::as_str).collect();
        names.extend(parts.iter().flat_map(|part| &part.archives).map(String::as_str));
        let unnamed = suspects(files, &directory, list, &imported)?;
        names.extend(unnamed.iter().map(String::as_str));
        let archives = names.into_iter().map(|name| foreign(repository, name)).collect();
        Ok(Lost { parts, archives })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.archives.is_empty()
    }
}

fn foreign(repository: &Path, name: &str) -> Foreign {
    Foreign { path: located(repository, name), name: name.to_owned() }
}

/// The archives that damaged parts may have been of which do not say so: those of which no part has rows, and those at the border to such a part.
fn suspects(
    files: &Files,
    directory: &Path,
    list: &Manifest,
    imported: &[(&Part, bool)],
) -> Result<BTreeSet<String>, IndexError> {
    let is_unnamed = |(part, whole): &(&Part, bool)| !whole && part.archives.is_empty();
    if !imported.iter().any(is_unnamed) {
        return Ok(BTreeSet::new());
    }
    let mut names = Vec::new();
    for (part, whole) in imported {
        names.push(match (whole, part.archives.is_empty()) {
            (true, true) => {
                reaches(files, &directory.join(&part.file))?.into_keys().collect::<BTreeSet<String>>()
            }
            _ => part.archives.iter().cloned().collect(),
        });
    }
    let known: BTreeSet<&String> = names.iter().flatten().collect();
    let mut found: BTreeSet<String> =
        list.imported.iter().filter(|name| !known.contains(name)).cloned().collect();
    for (at, pair) in imported.windows(2).enumerate() {
        if pair[0].0.rows >= FULL_ROWS && (is_unnamed(&pair[0]) || is_unnamed(&pair[1])) {
            // One may have begun in the first, and ended in the second.
            let shared = list.imported.iter().rfind(|name| names[at].contains(*name));
            let shared_on = list.imported.iter().find(|name| names[at + 1].contains(*name));
            found.extend(shared.into_iter().chain(shared_on).cloned());
        }
    }
    Ok(found)
}

/// Parts that have rows of an archive, and where its documents begin in them.
pub(crate) struct Known<'a> {
    files: &'a Files,
    /// The parts that count, each with its archives.
    parts: Vec<(PathBuf, BTreeSet<String>)>,
}

impl<'a> Known<'a> {
    /// Of all imported parts of a list but those that are replaced.
    pub(crate) fn new(
        files: &'a Files,
        repository: &Path,
        list: &Manifest,
        replaced: &[Part],
    ) -> Result<Known<'a>, IndexError> {
        let directory = Manifest::directory(repository);
        let mut parts = Vec::new();
        for part in list.parts.iter().filter(|part| part.imported && !replaced.contains(part)) {
            let path = directory.join(&part.file);
            let names = match part.archives.is_empty() {
                true => reaches(files, &path)?.into_keys().collect(),
                false => part.archives.iter().cloned().collect(),
            };
            parts.push((path, names));
        }
        Ok(Known { files, parts })
    }

    /// Where documents of an archive begin that have rows.
    pub(crate) fn offsets(&self, archive: &str) -> Result<BTreeSet<u64>, IndexError> {
        let mut found = BTreeSet::new();
        for (path, _) in self.parts.iter().filter(|(_, names)| names.contains(archive)) {
            found.append(&mut offsets(self.files, path, archive)?);
        }
        Ok(found)
    }
}
