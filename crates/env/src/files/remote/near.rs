//! A directory of this machine, named by its URL (`file:`), as a store of objects.
//!
//! It gives the same answers as a store far away: directories come and go with what is in them, and an object is whole or not there. But
//! everything in it is reached as by its path, bound as the [`Files`] are through which it is asked: no link in it is followed, nothing waits for
//! a pipe, and nothing is written outside.
//!
//! Costs: to look at an object is to open it, and each read opens it anew.

use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::Remote;
use crate::files::bounds::local;
use crate::files::{File, Files, StoredFile, directory_of};

/// The directories of this machine, as a store.
#[derive(Debug)]
pub(super) struct Near {
    files: Files,
    /// Who counts requests.
    counting: Option<Arc<dyn Remote>>,
}

fn path(url: &str) -> io::Result<&Path> {
    let elsewhere = || {
        let message = format!("{url} is not of this machine: nothing is moved between stores");
        io::Error::new(io::ErrorKind::CrossesDevices, message)
    };
    let path = local(Path::new(url)).ok_or_else(elsewhere)?;
    match path.components().any(|part| part == std::path::Component::ParentDir) {
        true => {
            let message = format!("{url}: a URL leads down only: leave out `..`");
            Err(io::Error::new(io::ErrorKind::InvalidFilename, message))
        }
        false => Ok(path),
    }
}

impl Near {
    /// The directories that these files reach; `None` where files are simulated, which have no URLs.
    pub(super) fn new(files: &Files) -> Option<Near> {
        let (files, counting) = files.without_remote()?;
        Some(Near { files, counting })
    }

    fn count(&self, bytes_read: u64, bytes_written: u64) {
        if let Some(counting) = &self.counting {
            counting.count(bytes_read, bytes_written);
        }
    }
}

impl Remote for Near {
    fn length(&self, url: &str) -> io::Result<Option<u64>> {
        self.count(0, 0);
        let path = path(url)?;
        match self.files.entry(path)? {
            // Of a pipe elsewhere its entry does not tell.
            Some(entry) if !entry.is_dir => self.files.open_regular(path)?.len().map(Some),
            _ => Ok(None),
        }
    }

    fn read(&self, url: &str, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
        let file = self.files.open_regular(path(url)?)?;
        let came = file.read_ranges(ranges)?;
        came.iter().for_each(|bytes| self.count(bytes.len() as u64, 0));
        Ok(came)
    }

    fn list(&self, url: &str) -> io::Result<Vec<StoredFile>> {
        self.count(0, 0);
        match self.files.list(path(url)?) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            listed => listed,
        }
    }

    fn put(
        &self,
        url: &str,
        content: &File,
        length: u64,
        sent: &mut dyn FnMut(u64) -> io::Result<()>,
    ) -> io::Result<()> {
        let path = path(url)?;
        self.files.create_dir_all(&directory_of(path))?;
        self.files.put(content, length, path, sent)?;
        self.count(0, length);
        Ok(())
    }

    fn copy(&self, from: &str, to: &str) -> io::Result<()> {
        let file = self.files.open_regular(path(from)?)?;
        self.put(to, &file, file.len()?, &mut |_| Ok(()))
    }

    fn remove(&self, url: &str) -> io::Result<()> {
        self.count(0, 0);
        match self.files.remove_file(path(url)?) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }
}
