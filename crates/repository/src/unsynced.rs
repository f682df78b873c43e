//! Files that have grown and are not durable yet, to be made so by whoever has the time: a lane beside the crawl.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mattock_env::{File, Files, Step};

use crate::error::RepositoryError;

/// What a checkpoint must make durable before it may name it.
#[derive(Debug)]
pub struct Unsynced {
    files: Files,
    grown: Vec<(Arc<File>, PathBuf)>,
    /// Directories that have new names.
    directories: Vec<PathBuf>,
}

impl Unsynced {
    /// Nothing yet.
    pub fn new(files: &Files) -> Unsynced {
        Unsynced { files: files.clone(), grown: Vec::new(), directories: Vec::new() }
    }

    /// A file that has grown, or is new.
    pub(crate) fn add(&mut self, file: &Arc<File>, path: &Path) {
        self.grown.push((file.clone(), path.to_path_buf()));
        if let Some(parent) = path.parent()
            && !self.directories.iter().any(|known| known == parent)
        {
            self.directories.push(parent.to_path_buf());
        }
    }

    /// Makes one of them durable; [`Step::Done`] when all are. After an error nobody knows what is on disk, and asking again
    /// would not tell: everything back to the last checkpoint must count as lost.
    pub fn sync_one(&mut self) -> Result<Step, RepositoryError> {
        let failed = |path: &Path, source| RepositoryError::Abandoned {
            action: "sync",
            path: path.to_path_buf(),
            offset: 0,
            source,
        };
        if let Some((file, path)) = self.grown.pop() {
            file.sync().map_err(|error| failed(&path, error))?;
        } else if let Some(path) = self.directories.pop() {
            self.files.sync_dir(&path).map_err(|error| failed(&path, error))?;
        }
        Ok(if self.grown.is_empty() && self.directories.is_empty() { Step::Done } else { Step::Again })
    }

    /// Makes all of them durable.
    pub fn sync(mut self) -> Result<(), RepositoryError> {
        while self.sync_one()? == Step::Again {}
        Ok(())
    }
}
