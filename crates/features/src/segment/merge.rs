//! Many segments as one: every URL once, with its newest instance.

use std::path::{Path, PathBuf};

use mattock_env::Files;

use super::reader::SegmentReader;
use super::record::Instance;
use super::writer::SegmentWriter;
use crate::error::{FeaturesError, Result};
use crate::key;
use crate::sort::merge::Merge;

/// What reading a segment takes.
const READER_BYTES: u64 = 512 << 10;

/// So many are merged at once, whatever the memory: each is an open file.
const READERS_MAX: u64 = 128;

/// The newest instance of each URL in some segments, in the order of the URLs.
pub struct Segments {
    merge: Merge<SegmentReader>,
    key: Vec<u8>,
    time_ms: i64,
    body: Vec<u8>,
    /// Segments that were merged before. They go with this one.
    _merged: Vec<Temporary>,
}

impl std::fmt::Debug for Segments {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "segments at {:?}", key::url_of(&self.key))
    }
}

/// A file that is removed with this.
struct Temporary {
    files: Files,
    path: PathBuf,
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // What stays is removed with the whole scratch directory.
        drop(self.files.remove_file(&self.path));
    }
}

impl Segments {
    /// Opens segments. If `memory` is too small to read all of them at once, some are merged into files in `scratch` first.
    pub fn open(files: &Files, paths: &[PathBuf], scratch: &Path, memory: u64) -> Result<Segments> {
        let width = usize::try_from((memory / READER_BYTES).clamp(2, READERS_MAX)).unwrap_or(2);
        let mut merged = Vec::new();
        let mut paths = paths.to_vec();
        let mut number = 0;
        while paths.len() > width {
            // The first are merged, and what they became goes to the end: so all have their turn before any has a second.
            let first: Vec<PathBuf> = paths.drain(..width).collect();
            number += 1;
            let path = scratch.join(format!("merged-{number}.segment"));
            let mut writer = SegmentWriter::create_scratch(files, &path)?;
            let temporary = Temporary { files: files.clone(), path: path.clone() };
            let mut segments = Segments::begin(files, &first)?;
            while segments.advance()? {
                writer.put(&segments.key, segments.time_ms, &segments.body)?;
            }
            writer.finish(0)?;
            merged.retain(|temporary: &Temporary| !first.contains(&temporary.path));
            merged.push(temporary);
            paths.push(path);
        }
        Ok(Segments { _merged: merged, ..Segments::begin(files, &paths)? })
    }

    fn begin(files: &Files, paths: &[PathBuf]) -> Result<Segments> {
        let readers =
            paths.iter().map(|path| SegmentReader::open(files, path)).collect::<Result<Vec<_>>>()?;
        let (key, body) = (Vec::new(), Vec::new());
        Ok(Segments { merge: Merge::new(readers), key, time_ms: 0, body, _merged: Vec::new() })
    }

    /// The next URL, with its newest instance.
    #[expect(clippy::should_implement_trait, reason = "what it gives is lent until the next call")]
    pub fn next(&mut self) -> Result<Option<(String, Instance<'_>)>> {
        if !self.advance()? {
            return Ok(None);
        }
        let found = key::url_of(&self.key).zip(Instance::from_body(self.time_ms, &self.body));
        found.map(Some).ok_or_else(|| {
            let shown = String::from_utf8_lossy(&self.key);
            FeaturesError::damaged(
                Path::new("a segment"),
                0,
                format!("the instance of {shown} makes no sense"),
            )
        })
    }

    /// Moves to the newest instance of the next URL; false at the end.
    pub(super) fn advance(&mut self) -> Result<bool> {
        let Some(reader) = self.merge.least() else { return Ok(false) };
        self.key.clear();
        self.key.extend_from_slice(reader.instance().0);
        while let Some(reader) = self.merge.least() {
            let (key, time_ms, body) = reader.instance();
            if key != self.key {
                break;
            }
            self.time_ms = time_ms;
            self.body.clear();
            self.body.extend_from_slice(body);
            self.merge.advance()?;
        }
        Ok(true)
    }

    /// Writes all that is left as one segment that is kept, in which so many documents were unreadable; how many instances are in it.
    pub fn write(mut self, files: &Files, path: &Path, recipe: &str, unreadable: u64) -> Result<u64> {
        let mut writer = SegmentWriter::create(files, path, recipe)?;
        while self.advance()? {
            writer.put(&self.key, self.time_ms, &self.body)?;
        }
        writer.finish(unreadable)
    }
}
