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
//!        [SHA-1 of the body], [offset, length]: numbers as varints, [details]
//! mark:  a block of no rows: beginning of the first block that it is about u64, time in µs since 1970 i64
//! ```
//!
//! A mark stands behind the rows of every checkpoint and says when that was: the rows from the place that it names up to itself were
//! inserted into the repository at that time. So whoever asks what was there then gets the same rows for ever, which the times of fetches do
//! not give: a visit that began before another may be over, and in here, long after it.
//!
//! Version 1 knows no details and no marks; a file of it is read, and goes on as one. Version 2 knows no `via`, version 4 no marks, and both are
//! otherwise the same as the present one: a file of them becomes one of that when it goes on, so that a program that cannot read what follows does
//! not open it. No flipped bit of a known version makes it another known one. Costs: about 80 bytes a row beside the URL, one write in 64 KiB.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mattock_codec::{Reader, checksum, put_counted, put_varint};
use mattock_env::{File, Files, OpenMode, UnixTime};

use crate::error::{Damage, RepositoryError};
use crate::unsynced::Unsynced;
use crate::{Digest, Place};

mod details;
mod marks;

pub use details::Details;
use marks::{MARK_BYTES, Mark, Marks};

const MAGIC: &[u8; 8] = b"MATTOCKL";
/// Of the format.
pub const LEDGER_VERSION: u32 = 7;
/// From here on rows have details.
const DETAILS_VERSION: u32 = 2;
/// From here on they may have `via`.
const VIA_VERSION: u32 = 4;
/// From here on there are marks.
const MARKS_VERSION: u32 = 7;
const HEADER_BYTES: u64 = 12;
const BLOCK_HEADER_BYTES: usize = 12;
const BLOCK_BYTES: usize = 64 << 10;
/// A longer block was never written.
const BLOCK_BYTES_MAX: usize = 16 << 20;

const HAS_DIGEST: u8 = 1;
const HAS_PLACE: u8 = 2;
const TRUNCATED: u8 = 4;
const HAS_DETAILS: u8 = 8;

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
    /// For the index; `None` where no answer came, and in ledgers of version 1.
    pub details: Option<Details<'a>>,
}

impl Row<'_> {
    /// When the visit was over.
    pub fn visit_end(&self) -> UnixTime {
        let micros = i64::try_from(self.took_ms).unwrap_or(i64::MAX).saturating_mul(1000);
        UnixTime::from_micros(self.time.as_micros().saturating_add(micros))
    }
}

/// Appends rows.
#[derive(Debug)]
pub struct Ledger {
    file: Arc<File>,
    path: PathBuf,
    version: u32,
    /// Bytes in the file: whole blocks.
    length: u64,
    /// Up to here rows belong to earlier marks, or to times when there were none.
    marked: u64,
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
        let (version, length) = if length == 0 {
            let mut header = MAGIC.to_vec();
            header.extend_from_slice(&LEDGER_VERSION.to_le_bytes());
            file.write_all_at(&header, 0).map_err(|error| failed("write to", error))?;
            (LEDGER_VERSION, HEADER_BYTES)
        } else {
            let version = check_header(&file, path)?;
            if found < length {
                return Err(RepositoryError::Torn { path: path.to_path_buf(), offset: found });
            }
            file.set_len(length).map_err(|error| failed("cut back", error))?;
            (renewed(&file, version).map_err(|error| failed("write to", error))?, length)
        };
        let (file, path) = (Arc::new(file), path.to_path_buf());
        let (block, archive) = (Vec::new(), Arc::from(""));
        Ok(Ledger { file, path, version, length, marked: length, block, rows: 0, archive })
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
        let details = row.details.filter(|_| self.version >= DETAILS_VERSION);
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        let out = &mut self.block;
        out.push(
            flag(row.digest.is_some(), HAS_DIGEST)
                | flag(row.place.is_some(), HAS_PLACE)
                | flag(row.truncated, TRUNCATED)
                | flag(details.is_some(), HAS_DETAILS),
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
        if let Some(details) = details {
            details.put(out);
        }
        self.rows += 1;
        Ok(())
    }

    /// Hands what is collected to the operating system.
    fn flush(&mut self) -> Result<(), RepositoryError> {
        if self.rows == 0 {
            return Ok(());
        }
        self.write_block()
    }

    /// Writes the block at hand, whatever is in it.
    fn write_block(&mut self) -> Result<(), RepositoryError> {
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

    /// The length that holds all rows taken so far; it can be relied on once `unsynced` is synced. Those since the last mark were inserted at
    /// `time`, which is later than that of any mark before.
    pub fn mark(&mut self, unsynced: &mut Unsynced, time: UnixTime) -> Result<u64, RepositoryError> {
        self.flush()?;
        if self.length > self.marked && self.version >= MARKS_VERSION {
            Mark { from: self.marked, time }.put(&mut self.block);
            if let Err(error) = self.write_block() {
                self.block.clear();
                return Err(error);
            }
            self.marked = self.length;
        }
        unsynced.add(&self.file, &self.path);
        Ok(self.length)
    }
}

/// The version that a ledger goes on in. Only one byte changes, so there is no state in between that a crash could leave; it is
/// synced with the rows that need it.
fn renewed(file: &File, version: u32) -> std::io::Result<u32> {
    if !(DETAILS_VERSION..LEDGER_VERSION).contains(&version) {
        return Ok(version);
    }
    file.write_all_at(&LEDGER_VERSION.to_le_bytes(), MAGIC.len() as u64)?;
    Ok(LEDGER_VERSION)
}

/// The version of a ledger, if it is one that is known.
fn check_header(file: &File, path: &Path) -> Result<u32, RepositoryError> {
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
        version @ (1 | DETAILS_VERSION | VIA_VERSION | LEDGER_VERSION) => Ok(version),
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
    marks: Marks,
}

impl LedgerReader {
    /// Reads the ledger at `path` up to this length.
    pub fn open(files: &Files, path: &Path, length: u64) -> Result<LedgerReader, RepositoryError> {
        let failed =
            |action, source| RepositoryError::Io { action, path: path.to_path_buf(), offset: 0, source };
        let file = files.open(path, OpenMode::Read).map_err(|error| failed("open", error))?;
        let version = check_header(&file, path)?;
        let found = file.len().map_err(|error| failed("measure", error))?;
        if found < length {
            return Err(RepositoryError::Torn { path: path.to_path_buf(), offset: found });
        }
        let (path, marks) = (path.to_path_buf(), Marks::of_version(version));
        Ok(LedgerReader { file, path, next: HEADER_BYTES, end: length, block: Vec::new(), marks })
    }

    /// Reads on from where another reader's [`position`](LedgerReader::position) was; from the beginning for 0.
    pub fn open_at(
        files: &Files,
        path: &Path,
        position: u64,
        length: u64,
    ) -> Result<LedgerReader, RepositoryError> {
        let mut reader = LedgerReader::open(files, path, length)?;
        reader.next = position.max(HEADER_BYTES);
        Ok(reader)
    }

    /// Reads what is left of a ledger: what is wrong with its beginning or its length comes along. Only where there is no ledger,
    /// or one of another version, is that an error.
    pub fn open_damaged(
        files: &Files,
        path: &Path,
        length: u64,
    ) -> Result<(LedgerReader, Option<RepositoryError>), RepositoryError> {
        let failed =
            |action, source| RepositoryError::Io { action, path: path.to_path_buf(), offset: 0, source };
        let file = files.open(path, OpenMode::Read).map_err(|error| failed("open", error))?;
        let found = file.len().map_err(|error| failed("measure", error))?;
        let wrong = if found < length {
            Some(RepositoryError::Short { path: path.to_path_buf(), bytes: found, expected: length })
        } else {
            match check_header(&file, path) {
                Err(error @ RepositoryError::Damaged { .. }) => Some(error),
                checked => checked.map(|_| None)?,
            }
        };
        let (path, end, marks) = (path.to_path_buf(), found.min(length), Marks::default());
        Ok((LedgerReader { file, path, next: HEADER_BYTES, end, block: Vec::new(), marks }, wrong))
    }

    /// Hands out the rows of the next block; whether there was one. A damaged block is an error, and the next call goes on with
    /// the next one that is whole: a block's checksum covers its place, so bytes that look like one are none.
    pub fn next_block(&mut self, mut visit: impl FnMut(&Row<'_>)) -> Result<bool, RepositoryError> {
        self.read_block(None, |row, _| visit(row))
    }

    /// The same, with the time at which the rows were inserted into the repository: that of their checkpoint, or the end of the visit where
    /// ledgers of earlier versions do not say.
    pub fn next_inserted(
        &mut self,
        mut visit: impl FnMut(&Row<'_>, UnixTime),
    ) -> Result<bool, RepositoryError> {
        let offset = self.next;
        let time = self.inserted(offset).map_err(|error| {
            self.next = self.end;
            self.io(offset, error)
        })?;
        self.read_block(time, |row, time| visit(row, time.unwrap_or_else(|| row.visit_end())))
    }

    fn read_block(
        &mut self,
        time: Option<UnixTime>,
        mut visit: impl FnMut(&Row<'_>, Option<UnixTime>),
    ) -> Result<bool, RepositoryError> {
        if self.next >= self.end {
            return Ok(false);
        }
        let offset = self.next;
        match self.load(offset) {
            Ok(Loaded::Whole(0)) if self.block.len() == MARK_BYTES => {
                self.next = offset + (BLOCK_HEADER_BYTES + MARK_BYTES) as u64;
                Ok(true)
            }
            Ok(Loaded::Whole(rows)) => {
                self.next = offset + (BLOCK_HEADER_BYTES + self.block.len()) as u64;
                match visit_rows(&self.block, rows, &mut |row| visit(row, time)) {
                    Some(()) => Ok(true),
                    None => Err(self.damaged(offset, Damage::Garbage)),
                }
            }
            Ok(Loaded::Damaged(damage)) => {
                self.next = self.end;
                self.next = self.whole_block_behind(offset).map_err(|error| self.io(offset, error))?;
                Err(self.damaged(offset, damage))
            }
            Err(error) => {
                // Whatever is wrong, there is an end to it.
                self.next = self.end;
                Err(self.io(offset, error))
            }
        }
    }

    /// Where the next call goes on: after an error, behind what cannot be read.
    pub fn position(&self) -> u64 {
        self.next
    }

    fn damaged(&self, offset: u64, damage: Damage) -> RepositoryError {
        RepositoryError::Damaged { path: self.path.clone(), offset, damage }
    }

    fn io(&self, offset: u64, source: std::io::Error) -> RepositoryError {
        RepositoryError::Io { action: "read", path: self.path.clone(), offset, source }
    }

    /// Reads the block at `offset`, if one is there.
    fn load(&mut self, offset: u64) -> std::io::Result<Loaded> {
        let mut header = [0; BLOCK_HEADER_BYTES];
        let left = self.end - offset;
        if left < BLOCK_HEADER_BYTES as u64 {
            return Ok(Loaded::Damaged(Damage::Length));
        }
        self.file.read_exact_at(&mut header, offset)?;
        let [bytes, rows, sum] = words(&header);
        if bytes as usize > BLOCK_BYTES_MAX || u64::from(bytes) + BLOCK_HEADER_BYTES as u64 > left {
            return Ok(Loaded::Damaged(Damage::Length));
        }
        self.block.resize(bytes as usize, 0);
        self.file.read_exact_at(&mut self.block, offset + BLOCK_HEADER_BYTES as u64)?;
        if checksum(0, offset, &[&header[..4], &header[4..8], &self.block]) != sum {
            return Ok(Loaded::Damaged(Damage::Checksum));
        }
        Ok(Loaded::Whole(rows))
    }

    /// The first whole block behind a damaged one; the end if there is none.
    fn whole_block_behind(&mut self, damaged: u64) -> std::io::Result<u64> {
        const CHUNK_BYTES: usize = 64 << 10;
        // A block's header and what its first bytes look like.
        const LOOK_BYTES: usize = BLOCK_HEADER_BYTES + 2;
        let mut chunk = vec![0; CHUNK_BYTES];
        let mut from = damaged + 1;
        while from + (LOOK_BYTES as u64) < self.end {
            let count = chunk.len().min((self.end - from) as usize);
            self.file.read_exact_at(&mut chunk[..count], from)?;
            for (at, seen) in chunk[..count].windows(LOOK_BYTES).enumerate() {
                let offset = from + at as u64;
                if looks_like_a_block(seen, self.end - offset)
                    && matches!(self.load(offset)?, Loaded::Whole(_))
                {
                    return Ok(offset);
                }
            }
            from += (count - LOOK_BYTES + 1) as u64;
        }
        Ok(self.end)
    }
}

/// What is at a place of the file.
enum Loaded {
    /// A block with so many rows.
    Whole(u32),
    Damaged(Damage),
}

/// Bytes, rows and checksum of a block.
fn words(header: &[u8; BLOCK_HEADER_BYTES]) -> [u32; 3] {
    let word = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    [word(0), word(4), word(8)]
}

/// Whether it is worth while to compare the checksum: so many bytes would fit in, and so many rows in them.
fn looks_like_a_block(seen: &[u8], left: u64) -> bool {
    let Some((header, content)) = seen.split_first_chunk() else { return false };
    let [bytes, rows, _] = words(header);
    let fits = bytes as usize <= BLOCK_BYTES_MAX && u64::from(bytes) + BLOCK_HEADER_BYTES as u64 <= left;
    // A row has six bytes at least, and the name of a file fits in one byte's number.
    let holds_rows =
        rows > 0 && rows <= bytes / 6 && content.first().is_some_and(|name| u32::from(*name) < bytes);
    fits && (holds_rows || rows == 0 && bytes as usize == MARK_BYTES)
}

fn visit_rows(block: &[u8], rows: u32, visit: &mut impl FnMut(&Row<'_>)) -> Option<()> {
    let mut reader = Reader::new(block);
    let archive = Arc::from(std::str::from_utf8(reader.counted()?).ok()?);
    for _ in 0..rows {
        visit(&row(&mut reader, &archive)?);
    }
    reader.is_empty().then_some(())
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
    let details = match flags & HAS_DETAILS {
        0 => None,
        _ => Some(Details::take(reader)?),
    };
    let truncated = flags & TRUNCATED != 0;
    Some(Row { url, time, outcome, depth, took_ms, digest, place, truncated, details })
}

#[cfg(test)]
mod tests;
