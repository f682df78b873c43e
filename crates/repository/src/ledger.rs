//! The ledger: one row for every URL that is settled, with its outcome and the place of what was stored.
//!
//! Filled by the crawl, a row per settled URL; read by tools that look up what became of a URL, and by those that hold the
//! archive against it. Rows collect in blocks, and a block is written once. A row counts once a checkpoint names a length
//! of the file that it lies within; what is behind that was never acknowledged, and [`Ledger::open`] cuts it off.
//!
//! ```text
//! file:  "MATTOCKL", version u32, blocks
//! block: bytes u32, rows u32, CRC-32 of place and content u32, then
//!        name of the WARC file (counted), rows
//! row:   flags u8, URL (counted), time of the fetch as varint µs since 1970, outcome (counted), depth, milliseconds,
//!        [SHA-1 of the body], [offset, length]: numbers as varints
//! ```
//!
//! Costs: about 40 bytes a row beside the URL, one write in 64 KiB.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mattock_codec::{Reader, checksum, put_counted, put_varint};
use mattock_env::{File, Files, OpenMode, UnixTime};

use crate::error::{Damage, RepositoryError};
use crate::unsynced::Unsynced;
use crate::{Digest, Place};

const MAGIC: &[u8; 8] = b"MATTOCKL";
/// Of the format.
pub const LEDGER_VERSION: u32 = 1;
const HEADER_BYTES: u64 = 12;
const BLOCK_HEADER_BYTES: usize = 12;
const BLOCK_BYTES: usize = 64 << 10;
/// A longer block was never written.
const BLOCK_BYTES_MAX: usize = 16 << 20;

const HAS_DIGEST: u8 = 1;
const HAS_PLACE: u8 = 2;
const TRUNCATED: u8 = 4;

/// What became of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// The canonical URL.
    pub url: &'a str,
    /// When its last visit began.
    pub time: UnixTime,
    /// Status or name of the failure.
    pub outcome: &'a str,
    /// Links from a seed to here.
    pub depth: u32,
    /// How long the visit took.
    pub took_ms: u64,
    /// Of the body, if one was stored.
    pub digest: Option<Digest>,
    /// Where the response is, if one was stored.
    pub place: Option<Place>,
    /// Whether the body is not whole.
    pub truncated: bool,
}

/// Appends rows.
#[derive(Debug)]
pub struct Ledger {
    file: Arc<File>,
    path: PathBuf,
    /// Bytes in the file: whole blocks.
    length: u64,
    /// The block at hand without its header.
    block: Vec<u8>,
    rows: u32,
    /// The WARC file that the block's rows are about.
    archive: Arc<str>,
}

impl Ledger {
    /// Opens the ledger at `path` as it was when it had this length, or makes a new one for length 0.
    pub fn open(files: &Files, path: &Path, length: u64) -> Result<Ledger, RepositoryError> {
        let failed =
            |action, source| RepositoryError::Io { action, path: path.to_path_buf(), offset: length, source };
        let mode = if length == 0 { OpenMode::CreateOrTruncate } else { OpenMode::Write };
        let file = files.open(path, mode).map_err(|error| failed("open", error))?;
        let found = file.len().map_err(|error| failed("measure", error))?;
        let length = if length == 0 {
            let mut header = MAGIC.to_vec();
            header.extend_from_slice(&LEDGER_VERSION.to_le_bytes());
            file.write_all_at(&header, 0).map_err(|error| failed("write to", error))?;
            HEADER_BYTES
        } else {
            check_header(&file, path)?;
            if found < length {
                return Err(RepositoryError::Torn { path: path.to_path_buf(), offset: found });
            }
            file.set_len(length).map_err(|error| failed("cut back", error))?;
            length
        };
        let (file, path) = (Arc::new(file), path.to_path_buf());
        Ok(Ledger { file, path, length, block: Vec::new(), rows: 0, archive: Arc::from("") })
    }

    /// Takes a row. On an error it may be tried again.
    pub fn append(&mut self, row: &Row<'_>) -> Result<(), RepositoryError> {
        let other = row.place.as_ref().is_some_and(|place| place.file != self.archive);
        if self.block.len() >= BLOCK_BYTES || other {
            self.flush()?;
        }
        if let Some(place) = &row.place {
            self.archive = place.file.clone();
        }
        if self.block.is_empty() {
            put_counted(&mut self.block, self.archive.as_bytes());
        }
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        let out = &mut self.block;
        out.push(
            flag(row.digest.is_some(), HAS_DIGEST)
                | flag(row.place.is_some(), HAS_PLACE)
                | flag(row.truncated, TRUNCATED),
        );
        put_counted(out, row.url.as_bytes());
        put_varint(out, u64::try_from(row.time.as_micros()).unwrap_or(0));
        put_counted(out, row.outcome.as_bytes());
        put_varint(out, row.depth.into());
        put_varint(out, row.took_ms);
        out.extend(row.digest.iter().flat_map(|digest| digest.0));
        if let Some(place) = &row.place {
            put_varint(out, place.offset);
            put_varint(out, place.length);
        }
        self.rows += 1;
        Ok(())
    }

    /// Hands what is collected to the operating system.
    fn flush(&mut self) -> Result<(), RepositoryError> {
        if self.rows == 0 {
            return Ok(());
        }
        let (bytes, rows) = ((self.block.len() as u32).to_le_bytes(), self.rows.to_le_bytes());
        let sum = checksum(0, self.length, &[&bytes, &rows, &self.block]).to_le_bytes();
        let mut block = Vec::with_capacity(BLOCK_HEADER_BYTES + self.block.len());
        for part in [&bytes[..], &rows, &sum, &self.block] {
            block.extend_from_slice(part);
        }
        self.file.write_all_at(&block, self.length).map_err(|source| RepositoryError::Io {
            action: "write to",
            path: self.path.clone(),
            offset: self.length,
            source,
        })?;
        self.length += block.len() as u64;
        self.block.clear();
        self.rows = 0;
        Ok(())
    }

    /// The length that holds all rows taken so far; it can be relied on once `unsynced` is synced.
    pub fn mark(&mut self, unsynced: &mut Unsynced) -> Result<u64, RepositoryError> {
        self.flush()?;
        unsynced.add(&self.file, &self.path);
        Ok(self.length)
    }
}

fn check_header(file: &File, path: &Path) -> Result<(), RepositoryError> {
    let mut header = [0; HEADER_BYTES as usize];
    file.read_exact_at(&mut header, 0).map_err(|source| RepositoryError::Io {
        action: "read",
        path: path.to_path_buf(),
        offset: 0,
        source,
    })?;
    let damaged = RepositoryError::Damaged { path: path.to_path_buf(), offset: 0, damage: Damage::Garbage };
    let Some(version) = header.strip_prefix(MAGIC).and_then(|rest| rest.first_chunk()) else {
        return Err(damaged);
    };
    match u32::from_le_bytes(*version) {
        LEDGER_VERSION => Ok(()),
        version => Err(RepositoryError::Version { path: path.to_path_buf(), version, known: LEDGER_VERSION }),
    }
}

/// Reads a ledger, in constant memory. Opens it for reading only: it may be growing.
#[derive(Debug)]
pub struct LedgerReader {
    file: File,
    path: PathBuf,
    next: u64,
    /// Where what counts ends.
    end: u64,
    block: Vec<u8>,
}

impl LedgerReader {
    /// Reads the ledger at `path` up to this length.
    pub fn open(files: &Files, path: &Path, length: u64) -> Result<LedgerReader, RepositoryError> {
        let failed =
            |action, source| RepositoryError::Io { action, path: path.to_path_buf(), offset: 0, source };
        let file = files.open(path, OpenMode::Read).map_err(|error| failed("open", error))?;
        check_header(&file, path)?;
        let found = file.len().map_err(|error| failed("measure", error))?;
        if found < length {
            return Err(RepositoryError::Torn { path: path.to_path_buf(), offset: found });
        }
        Ok(LedgerReader {
            file,
            path: path.to_path_buf(),
            next: HEADER_BYTES,
            end: length,
            block: Vec::new(),
        })
    }

    /// Hands out the rows of the next block; whether there was one. A damaged block is an error, and the next call goes on behind
    /// it if its length can be believed.
    pub fn next_block(&mut self, mut visit: impl FnMut(&Row<'_>)) -> Result<bool, RepositoryError> {
        if self.next >= self.end {
            return Ok(false);
        }
        let offset = self.next;
        let damaged =
            |path: &Path, damage| RepositoryError::Damaged { path: path.to_path_buf(), offset, damage };
        // Whatever is wrong, there is an end to it.
        self.next = self.end;
        let mut header = [0; BLOCK_HEADER_BYTES];
        let left = self.end - offset;
        let io = |path: &Path, source| RepositoryError::Io {
            action: "read",
            path: path.to_path_buf(),
            offset,
            source,
        };
        if left < BLOCK_HEADER_BYTES as u64 {
            return Err(damaged(&self.path, Damage::Length));
        }
        self.file.read_exact_at(&mut header, offset).map_err(|error| io(&self.path, error))?;
        let word =
            |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let bytes = word(0) as usize;
        if bytes > BLOCK_BYTES_MAX || (bytes + BLOCK_HEADER_BYTES) as u64 > left {
            return Err(damaged(&self.path, Damage::Length));
        }
        self.next = offset + (BLOCK_HEADER_BYTES + bytes) as u64;
        self.block.resize(bytes, 0);
        let at = offset + BLOCK_HEADER_BYTES as u64;
        self.file.read_exact_at(&mut self.block, at).map_err(|error| io(&self.path, error))?;
        if checksum(0, offset, &[&header[..4], &header[4..8], &self.block]) != word(8) {
            return Err(damaged(&self.path, Damage::Checksum));
        }
        let mut reader = Reader::new(&self.block);
        let archive = reader.counted().and_then(|name| std::str::from_utf8(name).ok());
        let Some(archive) = archive.map(Arc::from) else {
            return Err(damaged(&self.path, Damage::Garbage));
        };
        for _ in 0..word(4) {
            match row(&mut reader, &archive) {
                Some(row) => visit(&row),
                None => return Err(damaged(&self.path, Damage::Garbage)),
            }
        }
        Ok(true)
    }
}

fn row<'a>(reader: &mut Reader<'a>, archive: &Arc<str>) -> Option<Row<'a>> {
    let flags = *reader.take(1)?.first()?;
    let text = |reader: &mut Reader<'a>| std::str::from_utf8(reader.counted()?).ok();
    let url = text(reader)?;
    let time = UnixTime::from_micros(i64::try_from(reader.varint()?).ok()?);
    let outcome = text(reader)?;
    let (depth, took_ms) = (u32::try_from(reader.varint()?).ok()?, reader.varint()?);
    let digest = match flags & HAS_DIGEST {
        0 => None,
        _ => Some(Digest(*reader.take(20)?.first_chunk()?)),
    };
    let place = match flags & HAS_PLACE {
        0 => None,
        _ => Some(Place { file: archive.clone(), offset: reader.varint()?, length: reader.varint()? }),
    };
    Some(Row { url, time, outcome, depth, took_ms, digest, place, truncated: flags & TRUNCATED != 0 })
}

#[cfg(test)]
mod tests;
