//! Foreign archives become rows of the index: WARC and ARC files of other crawlers, read once from front to back.
//!
//! A damaged or torn record costs that record, and is reported with its place. Records that share a gzip member with others have no
//! place of their own, and those beyond 2 GiB none that the schema has numbers for: they are reported too, since nobody could read them again. What a metadata record tells of the document before it
//! (`told.rs`) becomes part of its row. A file counts as imported once all its
//! rows are in parts that `INDEX` names (`shelf.rs`); interrupted before that, it is imported anew the next time.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use mattock_env::{Files, UnixTime};

use crate::error::{ANOTHER, IndexError};
use crate::lost::{Known, Lost};
use crate::manifest::{Extent, Manifest};
use crate::shelf::Shelf;

mod left;
mod taking;

pub use left::{Imported, Left, Untaken};

use taking::Taking;

/// Rows of several small files share a part until there are so many.
const ENOUGH_ROWS: usize = 100_000;

/// A file that is to be imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// Where it is.
    pub path: PathBuf,
    /// How rows name it: relative to the repository, or absolute.
    pub name: String,
}

/// What the rows of an import say beside what its records do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportOptions {
    /// The name in the column `crawl`.
    pub crawl: String,
    /// Whether it is looked up in each document in which languages it is.
    pub languages: bool,
    /// Whether every block is compared with the digest that its head has.
    pub digests: bool,
    /// Of each kind so much is told of what was left out.
    pub told_max: usize,
}

impl ImportOptions {
    /// Rows of this name, with languages; a hundred of each kind are told.
    pub fn named(crawl: &str) -> ImportOptions {
        ImportOptions { crawl: crawl.to_owned(), languages: true, digests: false, told_max: 100 }
    }
}

/// Takes files into the index of a repository, at the time that `now` says. `progress` hears of every record: the file, and how far in it.
pub fn import(
    files: &Files,
    repository: &Path,
    foreign: &[Foreign],
    options: &ImportOptions,
    now: &dyn Fn() -> UnixTime,
    mut progress: impl FnMut(&Foreign, u64),
) -> Result<Imported, IndexError> {
    let mut shelf = Shelf::open(files, repository, now)?;
    let mut taking = Taking::new(files, repository, shelf.list(), options);
    let mut known = None;
    for one in foreign {
        if shelf.has_just_taken(&one.name) {
            taking.imported.known += 1;
            continue;
        }
        let extent = Extent::of(files, &one.path)?;
        let before = shelf.list().extents.get(&one.name).copied();
        let is_whole = shelf.list().imported.contains(&one.name);
        if is_whole && before == Some(extent) {
            taking.imported.known += 1;
            continue;
        }
        // It has grown, or some of it is lost, or nobody noted what it was like: its rows are not taken twice.
        let there = match shelf.knows(&one.name) {
            true => {
                let found = match &known {
                    Some(found) => found,
                    None => known.insert(Known::new(files, repository, shelf.list(), &[])?),
                };
                found.offsets(&one.name)?
            }
            false => BTreeSet::new(),
        };
        let had_rows = there.len();
        if let Some(before) = before.filter(|_| had_rows > 0)
            && !before.is_begin_of(extent, files, &one.path)?
        {
            taking.imported.leave(Left::File, &one.name, 0, ANOTHER);
            taking.imported.replaced += 1;
            continue;
        }
        let instances = taking.imported.instances;
        let is_taken = taking.take_file(files, &mut shelf, one, there, &mut progress)?;
        if taking.met < had_rows {
            return Err(IndexError::Replaced { name: one.name.clone() });
        }
        if is_taken {
            shelf.took(&one.name, extent);
            taking.imported.known += u64::from(is_whole && taking.imported.instances == instances);
        }
        if taking.pending.len() >= ENOUGH_ROWS {
            shelf.put(&mut taking.pending)?;
            shelf.commit()?;
            known = None;
        }
    }
    if taking.pending.len() > 0 {
        shelf.put(&mut taking.pending)?;
    }
    // Also if nothing was taken, so that there is a repository.
    if taking.imported.known < foreign.len() as u64 || shelf.has_taken() {
        shelf.commit()?;
    }
    Ok(taking.imported)
}

/// Imports again what is lost of imported files: that of which parts are not as they were written, and what could not be read the last time.
/// Parts that are whole stay. `found` hears which files it is about, if there are any; else `None` is the answer.
///
/// The new parts take the place of the old ones in one step, once all are there: interrupted before that, all is as it was.
pub fn import_lost(
    files: &Files,
    repository: &Path,
    options: &ImportOptions,
    now: &dyn Fn() -> UnixTime,
    found: impl FnOnce(&[Foreign]),
    mut progress: impl FnMut(&Foreign, u64),
) -> Result<Option<Imported>, IndexError> {
    // Others may be importing, which matters only if there is something to do.
    if Lost::find(files, repository, &Manifest::read(files, repository)?)?.is_empty() {
        return Ok(None);
    }
    let mut shelf = Shelf::open(files, repository, now)?;
    let lost = Lost::find(files, repository, shelf.list())?;
    let known = Known::new(files, repository, shelf.list(), &lost.parts)?;
    found(&lost.archives);
    shelf.replace(&lost.parts);
    let mut taking = Taking::new(files, repository, shelf.list(), options);
    for one in &lost.archives {
        // A disk that is not there just now is no reason to forget what is on it.
        let is_there = matches!(files.entry(&one.path), Ok(Some(_)));
        let mut extent = Extent::of(files, &one.path).ok().filter(|_| is_there);
        let there = known.offsets(&one.name)?;
        let before = shelf.list().extents.get(&one.name).copied();
        if let (Some(now), Some(before)) = (extent, before.filter(|_| !there.is_empty()))
            && !before.is_begin_of(now, files, &one.path)?
        {
            taking.imported.leave(Left::File, &one.name, 0, ANOTHER);
            extent = None;
        }
        match extent {
            Some(extent) if taking.take_file(files, &mut shelf, one, there, &mut progress)? => {
                shelf.took(&one.name, extent);
            }
            _ => {
                shelf.lose(&one.name);
                taking.imported.lost.push(one.path.clone());
            }
        }
    }
    if taking.pending.len() > 0 {
        shelf.put(&mut taking.pending)?;
    }
    shelf.commit()?;
    Ok(Some(taking.imported))
}
