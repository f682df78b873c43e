//! A crawl's directory.
//!
//! | file | what |
//! |---|---|
//! | `crawl.toml` | the configuration that the crawl was last run with; marks the directory as a crawl |
//! | `warc/*.warc.*` | the archive |
//! | `state/lock` | held by the process that crawls, so that there is only one |
//! | `state/frontier/N` | the frontier of partition N, saved at every clean stop |
//! | `state/totals.json` | what was counted so far, saved with it |

use std::path::{Path, PathBuf};

use mattock_env::{File, Files, OpenMode};

use crate::{ConfigError, CrawlError, RawConfig};

/// The file that makes a directory a crawl.
pub(crate) const MARKER: &str = "crawl.toml";

/// Paths of one crawl.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    files: Files,
    root: PathBuf,
}

impl Directory {
    /// A directory that is new, empty, or holds a crawl already; in that case also its configuration. Writes nothing.
    pub(crate) fn open(files: &Files, root: &Path) -> Result<(Directory, Option<RawConfig>), CrawlError> {
        let directory = Directory { files: files.clone(), root: root.to_path_buf() };
        let marker = directory.root.join(MARKER);
        let entry = files.entry(root).map_err(CrawlError::io("look at", root))?;
        if entry.as_ref().is_some_and(|entry| !entry.is_dir) {
            let source = std::io::ErrorKind::NotADirectory.into();
            return Err(CrawlError::Io { action: "use as a directory", path: root.to_path_buf(), source });
        }
        if files.entry(&marker).map_err(CrawlError::io("look at", &marker))?.is_some() {
            let saved = directory.read_config()?;
            return Ok((directory, Some(saved)));
        }
        if entry.is_some() && !files.list(root).map_err(CrawlError::io("list", root))?.is_empty() {
            return Err(CrawlError::NotACrawl { path: root.to_path_buf() });
        }
        Ok((directory, None))
    }

    /// Makes what is missing.
    pub(crate) fn create(&self) -> Result<(), CrawlError> {
        for path in [self.root.clone(), self.state(), self.warc()] {
            self.files.create_dir_all(&path).map_err(CrawlError::io("create", &path))?;
        }
        Ok(())
    }

    /// Keeps other processes out for as long as the returned file is open.
    pub(crate) fn lock(&self) -> Result<File, CrawlError> {
        let path = self.state().join("lock");
        let file =
            self.files.open(&path, OpenMode::CreateOrTruncate).map_err(CrawlError::io("open", &path))?;
        match file.try_lock().map_err(CrawlError::io("lock", &path))? {
            true => Ok(file),
            false => Err(CrawlError::InUse { path: self.root.clone() }),
        }
    }

    fn read_config(&self) -> Result<RawConfig, CrawlError> {
        let path = self.root.join(MARKER);
        let bytes = self.files.read(&path).map_err(CrawlError::io("read", &path))?;
        let text = String::from_utf8_lossy(&bytes);
        RawConfig::parse(&text, &path.display().to_string()).map_err(ConfigError::into)
    }

    pub(crate) fn write_config(&self, config: &RawConfig) -> Result<(), CrawlError> {
        self.write(MARKER, config.to_toml().as_bytes())
    }

    /// A file of the state, `None` if it was never written.
    pub(crate) fn read_state(&self, name: &str) -> Result<Option<Vec<u8>>, CrawlError> {
        let path = self.state().join(name);
        match self.files.read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(CrawlError::io("read", &path)(error)),
        }
    }

    pub(crate) fn write_state(&self, name: &str, bytes: &[u8]) -> Result<(), CrawlError> {
        self.write(&format!("state/{name}"), bytes)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), CrawlError> {
        let path = self.root.join(name);
        self.files.write_atomic(&path, bytes).map_err(CrawlError::io("write", &path))
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.root.join("state")
    }

    pub(crate) fn warc(&self) -> PathBuf {
        self.root.join("warc")
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }
}
