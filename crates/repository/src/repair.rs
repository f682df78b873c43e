//! After a crash: cuts a torn record off the end of a file.
//!
//! Readers stop at a torn record, and everything behind it is out of their reach; so a file is repaired before it is
//! kept. Only a tail is ever cut: if a whole record follows the damage, or the file was never a WARC, it is left
//! alone and the error says so.

use std::io;
use std::path::Path;

use mattock_env::{File, Files, OpenMode};

use crate::error::RepositoryError;
use crate::reader::{Format, WarcReader};
use crate::zstandard;

/// What was found, and what was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepairReport {
    /// Whole records, all of which were kept.
    pub records: u64,
    /// Bytes before.
    pub bytes_before: u64,
    /// Bytes now.
    pub bytes_after: u64,
}

impl RepairReport {
    /// Whether anything had to be cut.
    pub fn was_torn(&self) -> bool {
        self.bytes_after < self.bytes_before
    }
}

/// Verifies every record of a file and truncates it behind the last whole one if the tail is torn.
///
/// Reads the whole file once, in constant memory. On [`RepositoryError::NotATornTail`] and
/// [`RepositoryError::NotWarc`] nothing was changed.
pub fn repair_tail(files: &Files, path: &Path) -> Result<RepairReport, RepositoryError> {
    let failed = |action, offset| {
        move |source| RepositoryError::Io { action, path: path.to_path_buf(), offset, source }
    };
    let mut reader = WarcReader::open(files, path)?;
    let file = files.open(path, OpenMode::Write).map_err(failed("open for repair", 0))?;
    let bytes_before = file.len().map_err(failed("measure", 0))?;
    let mut records = 0;
    let (trouble, offset) = loop {
        match reader.verify_next() {
            Ok(Some(_)) => records += 1,
            Ok(None) => return Ok(RepairReport { records, bytes_before, bytes_after: bytes_before }),
            Err(error) => match error {
                RepositoryError::Torn { offset, .. }
                | RepositoryError::Damaged { offset, .. }
                | RepositoryError::NotWarc { offset: offset @ 0, .. } => break (error, offset),
                _ => return Err(error),
            },
        }
    };
    let keep = reader.whole_end();
    if reader.last_needs_next() {
        // Cutting would take the last record along, or make the next repair do so.
        return Err(RepositoryError::NotATornTail { path: path.to_path_buf(), offset, next: offset });
    }
    // A file without one whole record is emptied if its first one was torn, or if a power failure left only its
    // length. Anything else may be a file that was named by mistake.
    if records == 0
        && !matches!(trouble, RepositoryError::Torn { .. })
        && !only_zeros(&file).map_err(failed("read", 0))?
    {
        return Err(trouble);
    }
    let next = whole_record_behind(&mut reader, offset).map_err(failed("read", offset))?;
    if let Some(next) = next {
        return Err(RepositoryError::NotATornTail { path: path.to_path_buf(), offset, next });
    }
    file.set_len(keep).map_err(failed("truncate", keep))?;
    file.sync().map_err(failed("sync", keep))?;
    Ok(RepairReport { records, bytes_before, bytes_after: keep })
}

const CHUNK_BYTES: usize = 64 << 10;

fn only_zeros(file: &File) -> io::Result<bool> {
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut position = 0;
    loop {
        let count = file.read_at(&mut chunk, position)?;
        if chunk[..count].iter().any(|byte| *byte != 0) {
            return Ok(false);
        }
        if count == 0 {
            return Ok(true);
        }
        position += count as u64;
    }
}

/// Looks behind the beginning of a broken record for one that is whole. A hostile page can hold something that looks
/// like a record, and then a torn tail is kept: the harmless mistake of the two.
pub(crate) fn whole_record_behind(reader: &mut WarcReader, broken: u64) -> io::Result<Option<u64>> {
    let (pattern, shift): (&[u8], u64) = match reader.format() {
        Format::Gzip => (b"\x1f\x8b\x08", 0),
        Format::Zstandard => (&zstandard::MAGIC, 0),
        // The record begins behind the line end.
        Format::Plain => (b"\nWARC/1.", 1),
    };
    let finder = memchr::memmem::Finder::new(pattern);
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut position = broken + 1;
    loop {
        let count = reader.file().read_at(&mut chunk, position)?;
        for at in finder.find_iter(&chunk[..count]) {
            let candidate = position + at as u64 + shift;
            reader.seek(candidate);
            if reader.verify_next().is_ok_and(|found| found.is_some()) && reader.whole_end() > candidate {
                return Ok(Some(candidate));
            }
        }
        if count < pattern.len() {
            return Ok(None);
        }
        // The next chunk overlaps, for a pattern that lies across the boundary.
        position += (count - pattern.len() + 1) as u64;
    }
}
