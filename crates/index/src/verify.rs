//! Whether parts are as they were written.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use mattock_codec::BlockSummer;
use mattock_env::{File, Files, OpenMode, is_url};
use serde::Serialize;

use crate::error::IndexError;
use crate::manifest::{Manifest, Part};
use crate::part::WrittenPart;

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
    // Of directories far away not everybody tells whether they are there.
    if !is_url(repository) && !files.entry(&directory).ok()?.is_some_and(|entry| entry.is_dir) {
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
    if manifest.is_empty() {
        return None;
    }
    for name in &manifest.lost {
        let advice = "`mattock index --rebuild` takes it again once it is there";
        found.problems.push(format!("the rows of {name}, which was imported, are lost: {advice}"));
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
    let written = sum_of(&file, part.bytes).map_err(unreadable)?;
    match part.sum {
        Some(expected) if written.sum != expected => Err("is damaged: its checksum is wrong"),
        _ => Ok(()),
    }
}

/// The length and the checksums of a file.
pub(crate) fn sum(files: &Files, path: &Path) -> io::Result<WrittenPart> {
    let file = files.open(path, OpenMode::Read)?;
    let bytes = file.len()?;
    sum_of(&file, bytes)
}

fn sum_of(file: &File, bytes: u64) -> io::Result<WrittenPart> {
    let (mut sum, mut at, mut chunk) = (crc32fast::Hasher::new(), 0, vec![0; CHUNK_BYTES]);
    let mut blocks = BlockSummer::default();
    while at < bytes {
        let count = CHUNK_BYTES.min((bytes - at) as usize);
        file.read_exact_at(&mut chunk[..count], at)?;
        sum.update(&chunk[..count]);
        blocks.update(&chunk[..count]);
        at += count as u64;
    }
    Ok(WrittenPart { bytes, sum: sum.finalize(), blocks: blocks.finish() })
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
