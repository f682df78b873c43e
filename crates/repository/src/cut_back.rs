//! After a crash: the archive as a checkpoint knows it.
//!
//! What was written behind the checkpoint belongs to pages that will be fetched again. A file that has grown since is cut back
//! to the length that the checkpoint names, the end of a record unless the disk has lost one; a file that is younger goes. Nothing is
//! touched that the crawl has not written itself, and nothing that the checkpoint holds.

use std::collections::BTreeMap;
use std::path::Path;

use mattock_env::{Files, OpenMode};

use crate::directory::parse_name;
use crate::error::RepositoryError;

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CutBack {
    /// Bytes that were cut off or removed.
    pub bytes: u64,
    /// Files that were cut back.
    pub cut: Vec<String>,
    /// Files that were removed.
    pub removed: Vec<String>,
    /// Files that the checkpoint names and that are not there: somebody has moved them.
    pub missing: Vec<String>,
}

/// Takes the archive in `directory` back to the files and lengths in `kept`. Files that are not in it go if their names are of
/// the form that a writer with one of these prefixes gives.
pub fn cut_back(
    files: &Files,
    directory: &Path,
    kept: &BTreeMap<String, u64>,
    prefixes: &[String],
) -> Result<CutBack, RepositoryError> {
    let mut done = CutBack::default();
    let failed = |action, path: &Path| {
        let path = path.to_path_buf();
        move |source| RepositoryError::Io { action, path, offset: 0, source }
    };
    if files.entry(directory).map_err(failed("look at", directory))?.is_none() {
        done.missing = kept.keys().cloned().collect();
        return Ok(done);
    }
    let present = files.list(directory).map_err(failed("list", directory))?;
    // First look at all, then change anything.
    for entry in &present {
        if let Some(&expected) = kept.get(&entry.name)
            && entry.len < expected
        {
            let path = directory.join(&entry.name);
            return Err(RepositoryError::Short { path, bytes: entry.len, expected });
        }
    }
    for entry in &present {
        let path = directory.join(&entry.name);
        match kept.get(&entry.name) {
            Some(&expected) if entry.len > expected => {
                let file = files.open(&path, OpenMode::Write).map_err(failed("open", &path))?;
                file.set_len(expected).map_err(failed("cut back", &path))?;
                file.sync().map_err(failed("sync", &path))?;
                done.bytes += entry.len - expected;
                done.cut.push(entry.name.clone());
            }
            Some(_) => {}
            None if prefixes.iter().any(|prefix| parse_name(&entry.name, prefix).is_some()) => {
                files.remove_file(&path).map_err(failed("remove", &path))?;
                done.bytes += entry.len;
                done.removed.push(entry.name.clone());
            }
            None => {}
        }
    }
    if !done.removed.is_empty() {
        files.sync_dir(directory).map_err(failed("sync", directory))?;
    }
    let is_there = |name: &&String| !present.iter().any(|entry| entry.name == **name);
    done.missing = kept.keys().filter(is_there).cloned().collect();
    Ok(done)
}
