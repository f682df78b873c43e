//! A list of parts that is damaged or lost is made again: parts are whole Parquet files, whose rows name their archives.
//!
//! What can still be read of a damaged list is a hint: a part that is as the list says is taken at its word, and any other one is read from
//! front to back. A part that others replaced, and that nobody came to remove, has rows of the same places in the same archives as these: the
//! newest counts, and archives that only older ones name are imported again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use mattock_env::{Files, Name};

use crate::contents::{Reaches, contents, reaches};
use crate::error::IndexError;
use crate::manifest::{Covered, Manifest, Part, is_part};
use crate::part::WrittenPart;
use crate::snapshot::{lock, remove_strays};
use crate::verify::{sum, verified};

/// What a list was made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Parts that were whole.
    pub parts: usize,
    /// Their rows.
    pub rows: u64,
    /// Parts that are not whole, and of which nobody knows what was in them.
    pub unreadable: Vec<PathBuf>,
    /// Archives that are known to have been imported, and have to be once more.
    pub lost: usize,
}

/// Copies of archives, by the name of their directory in the repository.
const COPIES: &str = "imported";

/// Makes a list of parts again that cannot be read, or is lost; `None` if there is nothing wrong with it. Parts of a crawl are taken in, and are made
/// anew by the next [`update`](crate::update) if the crawl's ledgers are there.
pub fn recover(files: &Files, repository: &Path) -> Result<Option<Recovered>, IndexError> {
    let directory = Manifest::directory(repository);
    if files.entry(&directory).map_err(IndexError::io("look at", &directory))?.is_none() {
        return Ok(None);
    }
    let _lock = lock(files, &directory)?;
    match Manifest::read(files, repository) {
        Ok(_) if !Manifest::is_lost(files, repository)? => return Ok(None),
        Ok(_) | Err(IndexError::Damaged { .. } | IndexError::Version { .. }) => {}
        Err(error) => return Err(error),
    }
    let hints = Manifest::hints(files, repository);
    let entries = files.list(&directory).map_err(IndexError::io("list", &directory))?;
    let names = entries.into_iter().filter(|entry| is_part(&entry.name));
    let mut names: Vec<Name> = names.filter_map(|entry| Name::new(entry.name).ok()).collect();
    // Those of a publication have longer names.
    if !hints.origin.is_empty() || names.iter().any(|name| number(name).is_none()) {
        return Err(IndexError::Published { path: repository.to_path_buf() });
    }
    names.sort_by_key(|name| std::cmp::Reverse(number(name)));
    let mut found = Recovered::default();
    let mut taken = Taken::default();
    for name in names {
        let path = directory.join(&name);
        match part_of(files, &path, name, &hints) {
            Ok((part, reaches)) => taken.take(part, reaches),
            // Perhaps it can still be read of which archives its rows were.
            Err(_) => match reaches(files, &path) {
                Ok(reaches) => taken.lost.extend(reaches.into_keys()),
                Err(_) => found.unreadable.push(path),
            },
        }
    }
    taken.unlisted(&hints);
    // A part of the crawl is made anew, and that of an import which named its archives is none that nobody knows of.
    let is_known = |path: &PathBuf| {
        hints.parts.iter().any(|part| {
            path.ends_with(&part.file)
                && (!part.imported || !part.archives.is_empty() || !hints.imported.is_empty())
        })
    };
    found.unreadable.retain(|path| !is_known(path));
    if !found.unreadable.is_empty() || taken.parts.is_empty() {
        taken.lost.extend(copies(files, repository).filter(|name| !taken.reaches.contains_key(name)));
    }
    let list = taken.list(&hints);
    (found.parts, found.rows, found.lost) = (list.parts.len(), list.rows(), list.lost.len());
    list.write(files, repository)?;
    remove_strays(files, &directory, &list)?;
    Ok(Some(found))
}

/// The number in the name of a part.
fn number(name: &str) -> Option<u64> {
    name.strip_prefix("part-")?.strip_suffix(".parquet")?.parse().ok()
}

/// What a whole part says of itself, and the list of it, if that can be trusted.
fn part_of(files: &Files, path: &Path, name: Name, hints: &Manifest) -> Result<(Part, Reaches), IndexError> {
    let contents = contents(files, path)?;
    let is_it =
        |hint: &&Part| hint.file == name && hint.rows == contents.rows && verified(files, path, hint).is_ok();
    let hint = hints.parts.iter().find(is_it);
    let WrittenPart { bytes, sum, blocks } = sum(files, path).map_err(IndexError::io("read", path))?;
    // A damaged word in the list is one that it does not have.
    let imported = !contents.is_of_a_crawl || hint.is_some_and(|hint| hint.imported);
    let archives = if imported { contents.reaches.keys().cloned().collect() } else { Vec::new() };
    let part = Part {
        file: name,
        rows: contents.rows,
        bytes,
        imported,
        inserted_ms: contents.newest_ms,
        // Rows do not say it: a document in no language looks like one that nobody looked at.
        languages: hint.is_some_and(|hint| hint.languages),
        sum: Some(sum),
        archives,
        blocks: blocks.to_text(),
    };
    Ok((part, contents.reaches))
}

/// Archives that were copied into the repository.
fn copies(files: &Files, repository: &Path) -> impl Iterator<Item = String> {
    let entries = files.list(&repository.join(COPIES)).unwrap_or_default().into_iter();
    let endings = [".warc", ".arc", ".gz", ".zst", ".wacz"];
    entries
        .filter(move |entry| !entry.is_dir && endings.iter().any(|ending| entry.name.ends_with(ending)))
        .map(|entry| format!("{COPIES}/{}", entry.name))
}

/// Parts that come into the new list, the newest first.
#[derive(Default)]
struct Taken {
    parts: Vec<Part>,
    /// For each archive where the first and the last document begin that a part has of it, part by part.
    reaches: BTreeMap<String, Vec<(u64, u64)>>,
    /// Archives of which rows are missing.
    lost: BTreeSet<String>,
    /// The highest number of a part, whether it was taken or not.
    next: u64,
}

impl Taken {
    fn take(&mut self, part: Part, reaches: Reaches) {
        self.next = self.next.max(number(&part.file).unwrap_or_default());
        let known = |name: &String| self.reaches.get(name).map_or(&[][..], Vec::as_slice);
        let is_repeated = match part.imported {
            true => reaches.iter().any(|(name, (first, last))| {
                known(name).iter().any(|(from, to)| first <= to && from <= last)
            }),
            // Ledgers may have the rows of a file in another order.
            false => reaches.iter().all(|(name, (first, last))| {
                known(name).iter().any(|(from, to)| from <= first && last <= to)
            }),
        };
        if is_repeated && part.imported {
            self.lost.extend(reaches.into_keys().filter(|name| !self.reaches.contains_key(name)));
        } else if !is_repeated {
            for (name, reach) in reaches {
                self.reaches.entry(name).or_default().push(reach);
            }
            self.parts.push(part);
        }
    }

    /// Notes what the damaged list has, and no part.
    fn unlisted(&mut self, hints: &Manifest) {
        self.next = self.next.max(hints.next);
        self.lost.extend(hints.lost.iter().cloned());
        // One damaged byte is in the name or in the checksum, not in both.
        let is_it = |part: &Part, hint: &Part| part.file == hint.file || part.sum == hint.sum;
        let is_gone = |hint: &&Part| !self.parts.iter().any(|part| is_it(part, hint));
        let gone: Vec<&Part> = hints.parts.iter().filter(|hint| hint.imported).filter(is_gone).collect();
        if !gone.is_empty() {
            self.lost.extend(gone.iter().flat_map(|part| &part.archives).cloned());
            let is_nowhere = |name: &&String| !self.reaches.contains_key(*name);
            self.lost.extend(hints.imported.iter().filter(is_nowhere).cloned());
        }
    }

    fn list(mut self, hints: &Manifest) -> Manifest {
        self.parts.reverse();
        let is_of_a_crawl = self.parts.iter().any(|part| !part.imported);
        // No ledger fits this: rows of a crawl are made anew from its ledgers, and stay if there are none.
        let covered = Covered { ledger: String::new(), bytes: 0, seal: 0 };
        let named = self.parts.iter().flat_map(|part| &part.archives);
        let mut imported = Vec::new();
        let mut seen = BTreeSet::new();
        for name in named.filter(|name| !self.lost.contains(*name)) {
            if seen.insert(name) {
                imported.push(name.clone());
            }
        }
        Manifest {
            covered: is_of_a_crawl.then_some(covered).into_iter().collect(),
            imported,
            lost: self.lost.into_iter().collect(),
            // A name is never used twice, whatever the list said.
            next: self.next,
            id: hints.id.clone(),
            parts: self.parts,
            ..Manifest::default()
        }
    }
}
