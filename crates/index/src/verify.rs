//! Whether parts are as they were written, and what to do if imported ones are not.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use mattock_env::{Files, OpenMode, located};
use serde::Serialize;

use crate::error::IndexError;
use crate::import::Foreign;
use crate::manifest::{Manifest, Part};
use crate::snapshot::wait_for_lock;

const CHUNK_BYTES: usize = 1 << 20;

/// What was found of an index.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct IndexCheck {
    /// Parts that are as they were written.
    pub parts: u64,
    /// What is wrong, and what to do about it.
    pub problems: Vec<String>,
    /// The parts that are as they were written, and whether each was imported.
    #[serde(skip)]
    pub sound: Vec<(PathBuf, bool)>,
}

/// Reads all parts of a repository; `None` if it has no index.
pub fn check_index(files: &Files, repository: &Path) -> Option<IndexCheck> {
    let mut found = IndexCheck::default();
    let directory = Manifest::directory(repository);
    if !files.entry(&directory).ok()?.is_some_and(|entry| entry.is_dir) {
        return None;
    }
    let manifest = match Manifest::is_lost(files, repository) {
        Ok(true) => Err(IndexError::Lost { path: directory.join("INDEX") }),
        _ => Manifest::read(files, repository),
    };
    let manifest = match manifest {
        Ok(manifest) => manifest,
        Err(error) => {
            found.problems.push(error.to_string());
            return Some(found);
        }
    };
    if manifest.parts.is_empty() {
        return None;
    }
    for part in &manifest.parts {
        let path = directory.join(&part.file);
        match verified(files, &path, part) {
            Ok(()) => {
                found.parts += 1;
                found.sound.push((path, part.imported));
            }
            Err(what) => found.problems.push(lost(&manifest, path, what).to_string()),
        }
    }
    Some(found)
}

/// Tells of a part that is not as it was written.
pub(crate) fn lost(manifest: &Manifest, path: PathBuf, what: &'static str) -> IndexError {
    let advice = match manifest.origin.is_empty() {
        true => "`mattock index --rebuild` makes it anew",
        false => "publish the repository that it was published from again",
    };
    IndexError::LostPart { path, what, advice }
}

/// Reads a part whole.
pub(crate) fn verified(files: &Files, path: &Path, part: &Part) -> Result<(), &'static str> {
    let unreadable = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => "is missing",
        _ => "cannot be read",
    };
    let file = files.open(path, OpenMode::Read).map_err(unreadable)?;
    if file.len().map_err(unreadable)? != part.bytes {
        return Err("has another length than it was written with");
    }
    let (mut sum, mut at, mut chunk) = (crc32fast::Hasher::new(), 0, vec![0; CHUNK_BYTES]);
    while at < part.bytes {
        let count = CHUNK_BYTES.min((part.bytes - at) as usize);
        file.read_exact_at(&mut chunk[..count], at).map_err(unreadable)?;
        sum.update(&chunk[..count]);
        at += count as u64;
    }
    match part.sum {
        Some(expected) if sum.finalize() != expected => Err("is damaged: its checksum is wrong"),
        _ => Ok(()),
    }
}

/// Parts that are missing or cut off, as a list of the directory shows it.
pub(crate) fn lost_parts(
    files: &Files,
    repository: &Path,
    manifest: &Manifest,
) -> Result<Vec<IndexError>, IndexError> {
    if manifest.parts.is_empty() {
        return Ok(Vec::new());
    }
    let directory = Manifest::directory(repository);
    let listed = match files.list(&directory) {
        // Some servers list nothing: who reads there is told then.
        Err(error) if error.kind() == io::ErrorKind::Unsupported => return Ok(Vec::new()),
        listed => listed.map_err(IndexError::io("list", &directory))?,
    };
    let there: BTreeMap<&str, u64> = listed.iter().map(|entry| (entry.name.as_str(), entry.len)).collect();
    let wrong = manifest.parts.iter().filter_map(|part| {
        let what = match there.get(part.file.as_str()) {
            None => "is missing",
            Some(bytes) if *bytes != part.bytes => "has another length than it was written with",
            Some(_) => return None,
        };
        Some(lost(manifest, directory.join(&part.file), what))
    });
    Ok(wrong.collect())
}

/// Forgets all that was imported, if a part of it is not as it was written, and gives what has to be imported again.
pub fn forget_lost_imports(files: &Files, repository: &Path) -> Result<Vec<Foreign>, IndexError> {
    let directory = Manifest::directory(repository);
    let _lock = wait_for_lock(files, &directory)?;
    let mut manifest = Manifest::read(files, repository)?;
    let is_lost = |part: &&Part| part.imported && verified(files, &directory.join(&part.file), part).is_err();
    if !manifest.parts.iter().any(|part| is_lost(&part)) {
        return Ok(Vec::new());
    }
    let gone: Vec<PathBuf> =
        manifest.parts.iter().filter(|part| part.imported).map(|part| directory.join(&part.file)).collect();
    manifest.parts.retain(|part| !part.imported);
    let names = std::mem::take(&mut manifest.imported);
    manifest.write(files, repository)?;
    for path in gone {
        if files.entry(&path).map_err(IndexError::io("look at", &path))?.is_some() {
            files.remove_file(&path).map_err(IndexError::io("remove", &path))?;
        }
    }
    Ok(names.into_iter().map(|name| Foreign { path: located(repository, &name), name }).collect())
}
