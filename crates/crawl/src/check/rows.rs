//! The rows of a ledger that have a place in the archive, one after the other.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use mattock_env::Env;
use mattock_repository::{Digest, LedgerReader, RepositoryError};

use super::report::{FindingKind, Findings};

/// A row that has a place.
pub(super) struct PlacedRow {
    pub(super) url: String,
    pub(super) file: Arc<str>,
    pub(super) offset: u64,
    pub(super) length: u64,
    pub(super) digest: Option<Digest>,
}

/// Reads a block at a time.
pub(super) struct Rows {
    path: PathBuf,
    reader: Option<LedgerReader>,
    block: VecDeque<PlacedRow>,
    /// Rows are missing before the next one.
    gap: bool,
    /// Rows are missing behind the last one.
    ends_early: bool,
    /// Blocks that could not be read.
    pub(super) damaged: u64,
    /// All rows, also those without a place.
    pub(super) count: u64,
    bytes_read: u64,
}

impl Rows {
    /// Those of the ledger at `path` up to a length. What is wrong with it goes to `found`.
    pub(super) fn open(env: &Env, path: PathBuf, length: u64, found: &mut Findings) -> Rows {
        let (reader, wrong) = match LedgerReader::open_damaged(&env.files, &path, length) {
            Ok((reader, wrong)) => (Some(reader), wrong),
            Err(error) => (None, Some(error)),
        };
        if let Some(error) = &wrong {
            found.problem(FindingKind::Ledger, &path, None, error.to_string());
        }
        let ends_early = reader.is_none() || matches!(wrong, Some(RepositoryError::Short { .. }));
        let damaged = u64::from(ends_early);
        Rows {
            path,
            reader,
            block: VecDeque::new(),
            gap: false,
            ends_early,
            damaged,
            count: 0,
            bytes_read: 0,
        }
    }

    /// The next row.
    pub(super) fn peek(&mut self, found: &mut Findings) -> Option<&PlacedRow> {
        while self.block.is_empty() {
            let reader = self.reader.as_mut()?;
            let from = reader.position();
            let (block, count) = (&mut self.block, &mut self.count);
            let outcome = reader.next_block(|row| {
                *count += 1;
                if let Some(place) = &row.place {
                    block.push_back(PlacedRow {
                        url: row.url.to_owned(),
                        file: place.file.clone(),
                        offset: place.offset,
                        length: place.length,
                        digest: row.digest,
                    });
                }
            });
            self.bytes_read += reader.position().saturating_sub(from);
            match outcome {
                Ok(true) => {}
                Ok(false) => {
                    self.gap |= self.ends_early;
                    self.reader = None;
                }
                Err(error) => {
                    self.gap = true;
                    self.damaged += 1;
                    let what = match &error {
                        RepositoryError::Damaged { damage, .. } => {
                            format!("a block of rows is damaged: {damage}")
                        }
                        other => other.to_string(),
                    };
                    let what = format!("{what}; {} bytes of rows cannot be read", reader.position() - from);
                    found.problem(FindingKind::Ledger, &self.path, Some(from), what);
                }
            }
        }
        self.block.front()
    }

    pub(super) fn pop(&mut self) -> Option<PlacedRow> {
        let row = self.block.pop_front();
        if row.is_some() {
            self.gap = false;
        }
        row
    }

    /// Whether rows may be missing before the next one.
    pub(super) fn has_gap(&self) -> bool {
        self.gap || self.ends_early && self.reader.is_none() && self.block.is_empty()
    }

    /// Bytes that were read since the last call.
    pub(super) fn take_bytes_read(&mut self) -> u64 {
        std::mem::take(&mut self.bytes_read)
    }
}
