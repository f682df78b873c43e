//! After a crash: cuts a torn record off the end of a file.
//!
//! Readers stop at a torn record, and everything behind it is out of their reach; so a file is repaired before it is
//! kept. Only a tail is ever cut: if a whole record follows the damage, or the file was never a WARC, it is left
//! alone and the error says so.

use std::io;
use std::path::Path;

use mattock_env::{File, Files, OpenMode};

use crate::bounded::Bounded;
use crate::error::RepositoryError;
use crate::reader::{Format, WarcReader, arc};
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
    let format = reader.format();
    // How much of a candidate must be seen to know it for one.
    let seen_bytes = if format == Format::Plain { 1 + arc::LINE_BYTES_MAX } else { 4 };
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut position = broken + 1;
    loop {
        let count = read_full(reader.file(), &mut chunk, position)?;
        let last = count < chunk.len();
        // The next chunk overlaps, for a candidate that lies across the boundary.
        let end = if last { count } else { count - seen_bytes + 1 };
        for at in candidates(format, &chunk[..count]).into_iter().take_while(|at| *at < end) {
            let candidate = position + at as u64;
            reader.seek(candidate);
            if reader.verify_next().is_ok_and(|found| found.is_some()) && reader.whole_end() > candidate {
                return Ok(Some(candidate));
            }
        }
        if last {
            return Ok(None);
        }
        position += end as u64;
    }
}

/// Whether there is anything in a file that such a compressor may have begun a unit with.
pub(crate) fn has_units(file: &Bounded, format: Format) -> io::Result<bool> {
    if format == Format::Plain {
        return Ok(false);
    }
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut position = 0;
    loop {
        let count = read_full(file, &mut chunk, position)?;
        if !candidates(format, &chunk[..count]).is_empty() {
            return Ok(true);
        }
        if count < chunk.len() {
            return Ok(false);
        }
        // One may lie across the boundary.
        position += (count - Format::BYTES) as u64;
    }
}

/// Where records may begin.
fn candidates(format: Format, chunk: &[u8]) -> Vec<usize> {
    let find = |pattern: &[u8]| memchr::memmem::find_iter(chunk, pattern).collect();
    match format {
        Format::Gzip => find(b"\x1f\x8b\x08"),
        Format::Zstandard => find(&zstandard::MAGIC),
        Format::Plain => {
            // What is torn may end anywhere, and the next record begins right there.
            let mut found: Vec<usize> = find(b"WARC/");
            // A hole of zeros ends a line as well.
            let line_starts = memchr::memchr2_iter(b'\n', 0, chunk).map(|at| at + 1);
            found.extend(line_starts.filter(|at| begins_like_a_record(&chunk[*at..])));
            found.sort_unstable();
            found.dedup();
            found
        }
    }
}

fn begins_like_a_record(bytes: &[u8]) -> bool {
    if !bytes.first().is_some_and(u8::is_ascii_alphabetic) {
        return false;
    }
    if bytes.get(..5).is_some_and(|first| first.eq_ignore_ascii_case(b"WARC/")) {
        return true;
    }
    let line = &bytes[..bytes.len().min(arc::LINE_BYTES_MAX)];
    memchr::memchr(b'\n', line).is_some_and(|end| arc::parse(&line[..end]).is_some())
}

/// Reads until the buffer is full or the file ends.
fn read_full(file: &Bounded, buffer: &mut [u8], position: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read_at(&mut buffer[filled..], position + filled as u64)? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(filled)
}
