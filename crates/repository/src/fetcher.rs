//! Single records by their places: filled by queries with what an index says, emptied into analyzers.
//!
//! A few files stay open, the ones used last; they share one set of buffers. Places that follow each other in a file are read in
//! pieces of a mebibyte, as fast as the file from front to back; a place apart from the others costs a read of exactly its
//! length.

use std::path::{Path, PathBuf};

use mattock_env::{Files, UnixTime};

use crate::error::RepositoryError;
use crate::reader::{StoredRecord, WarcReader};

/// Files that are kept open.
const FILES_MAX: usize = 16;

/// Reads records by file, offset and length.
pub struct RecordFetcher {
    files: Files,
    record_bytes_max: Option<u64>,
    /// The one used last is the last. Only that one has buffers.
    open: Vec<(PathBuf, WarcReader)>,
    /// Of files that are closed again.
    bytes_read: u64,
}

impl RecordFetcher {
    /// A fetcher that has no file open yet.
    pub fn new(files: &Files) -> RecordFetcher {
        RecordFetcher { files: files.clone(), record_bytes_max: None, open: Vec::new(), bytes_read: 0 }
    }

    /// Sets the largest block that is read, instead of 256 MiB.
    pub fn record_bytes_max(mut self, bytes: u64) -> RecordFetcher {
        self.record_bytes_max = Some(bytes);
        self
    }

    /// The record at a place. `length` is what the writer or an index gave; 0 if nobody knows. It saves reading what is not
    /// needed, and nothing relies on it.
    ///
    /// An error concerns this record only: the next call may ask for another.
    pub fn fetch(
        &mut self,
        path: &Path,
        offset: u64,
        length: u64,
    ) -> Result<StoredRecord<'_>, RepositoryError> {
        self.bring_forward(path, offset, length)?;
        let (_, reader) = self.open.last_mut().expect("it was brought forward");
        reader.next_record()?.ok_or_else(|| RepositoryError::Torn { path: path.to_path_buf(), offset })
    }

    /// The document at a place that an index gave for this URL and time, of which seconds count. What is there instead, since the file is another
    /// one by now or the index is wrong, is an error of this document: nobody gets one for another.
    pub fn document(
        &mut self,
        path: &Path,
        offset: u64,
        length: u64,
        url: &str,
        time: Option<UnixTime>,
    ) -> Result<StoredRecord<'_>, RepositoryError> {
        let record = self.fetch(path, offset, length)?;
        let is_of_url = record.is_document() && record.target_uri() == Some(url);
        let other_time =
            time.zip(record.date()).filter(|(time, date)| time.as_seconds() != date.as_seconds());
        if is_of_url && other_time.is_none() {
            return Ok(record);
        }
        let kind = record.fields.get("WARC-Type").unwrap_or("no type");
        let mut found = format!("{kind} of {}", record.target_uri().unwrap_or("no URL"));
        let mut wanted = url.to_owned();
        if let Some((time, date)) = other_time.filter(|_| is_of_url) {
            found = format!("{found} at {date}");
            wanted = format!("{wanted} at {time}");
        }
        Err(RepositoryError::AnotherRecord { path: path.to_path_buf(), offset, found, wanted })
    }

    /// How many bytes have been read from files.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read + self.open.iter().map(|(_, reader)| reader.bytes_read()).sum::<u64>()
    }

    /// Makes the reader of a file the last one, and sends it to a place.
    fn bring_forward(&mut self, path: &Path, offset: u64, length: u64) -> Result<(), RepositoryError> {
        let found = self.open.iter().rposition(|(open, _)| open == path);
        let last = self.open.len().saturating_sub(1);
        if found.is_none_or(|at| at < last) {
            let mut next = match found {
                Some(at) => self.open.remove(at),
                None => (path.to_path_buf(), self.open_file(path, offset)?),
            };
            if let Some((_, used)) = self.open.last_mut() {
                next.1.take_buffers(used);
            }
            self.open.push(next);
            if self.open.len() > FILES_MAX {
                let (_, closed) = self.open.remove(0);
                self.bytes_read += closed.bytes_read();
            }
        }
        let (_, reader) = self.open.last_mut().expect("one was there, or was added");
        reader.seek_exactly(offset, (length > 0).then_some(length));
        Ok(())
    }

    fn open_file(&self, path: &Path, offset: u64) -> Result<WarcReader, RepositoryError> {
        // Whatever an index names was whole when it was made: of such a record at most line ends are missing.
        let reader = WarcReader::open_at(&self.files, path, offset)?.takes_open_end();
        Ok(match self.record_bytes_max {
            Some(bytes) => reader.record_bytes_max(bytes),
            None => reader,
        })
    }
}
