//! One archive file at its growing end: whole members (of gzip; frames of Zstandard) collect in a buffer and go out in
//! large writes.
//!
//! Invariant: the file's first `flushed` bytes are whole members, and no byte is ever written behind a torn one. A
//! failed write is undone by cutting the file back to `flushed`; the buffer stays, so that the places handed out for
//! it come true when space returns. If even the cut fails, or a sync does, the file is abandoned.
//!
//! What was written is not read soon, so the operating system is told to bring it to disk now, and to keep none of it in memory.
//! Otherwise an archive would fill all memory of the machine with itself, and each sync would have to wait for what collected since
//! the one before: 150 ms for 600 MB, written at 100 MB/s, where it is less than one now. And pages of memory that the archive has
//! just used are the cheapest to use again: under a hypervisor, one that was never touched costs ten times as much to write.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mattock_env::{File, Files, OpenMode};

use crate::compression::{Compression, Compressor};
use crate::error::RepositoryError;
use crate::piecewise;
use crate::unsynced::Unsynced;

/// So many bytes at a time set out for the disk, and are let go when as many more have been written.
const BEHIND_BYTES: u64 = 8 << 20;

/// For a record without a page in it.
const ROOM_BYTES: usize = 64 << 10;

pub(crate) struct Appender {
    files: Files,
    directory: PathBuf,
    open: Option<Open>,
    /// Files that have their size and were not made durable yet.
    rolled: Vec<Open>,
    /// `buffer[..filled]` is waiting; the rest is room to compress into.
    buffer: Vec<u8>,
    filled: usize,
    /// The usual size of `buffer`: a page that needs more enlarges it until the next flush.
    buffer_bytes: usize,
}

struct Open {
    file: Arc<File>,
    path: PathBuf,
    /// Bytes in the file: whole members.
    flushed: u64,
    /// Bytes that survive a power failure.
    synced: u64,
    /// Bytes that are on their way to the disk, or there.
    sent: u64,
}

impl Open {
    /// Bytes went to the operating system.
    fn grow(&mut self, bytes: u64) {
        self.flushed += bytes;
        if self.flushed - self.sent >= BEHIND_BYTES {
            // What set out the last time has arrived, unless the disk is slow.
            self.file.let_go(self.sent.saturating_sub(BEHIND_BYTES)..self.flushed);
            self.sent = self.flushed;
        }
    }

    fn sync(&mut self, files: &Files, directory: &Path) -> io::Result<()> {
        if self.synced < self.flushed {
            self.file.sync()?;
            if self.synced == 0 {
                files.sync_dir(directory)?;
            }
            self.synced = self.flushed;
        }
        Ok(())
    }
}

impl Appender {
    pub(crate) fn new(files: &Files, directory: &Path, buffer_bytes: usize) -> Appender {
        let (files, directory) = (files.clone(), directory.to_path_buf());
        Appender {
            files,
            directory,
            open: None,
            rolled: Vec::new(),
            buffer: vec![0; buffer_bytes],
            filled: 0,
            buffer_bytes,
        }
    }

    /// Where the next member will begin; `None` while no file is open.
    pub(crate) fn position(&self) -> Option<u64> {
        self.open.as_ref().map(|open| open.flushed + self.filled as u64)
    }

    /// Begins a new file. The one before must have been closed.
    pub(crate) fn create(&mut self, path: &Path) -> io::Result<()> {
        debug_assert!(self.open.is_none() && self.filled == 0);
        let file = self.files.open(path, OpenMode::CreateNew)?;
        self.open =
            Some(Open { file: Arc::new(file), path: path.to_path_buf(), flushed: 0, synced: 0, sent: 0 });
        Ok(())
    }

    /// Makes sure that `bytes` more fit into the buffer.
    pub(crate) fn reserve(&mut self, bytes: usize) -> Result<(), RepositoryError> {
        if self.filled + bytes > self.buffer.len() {
            self.flush()?;
            if bytes > self.buffer.len() {
                self.buffer.resize(bytes, 0);
            }
        }
        Ok(())
    }

    /// Compresses a record into the buffer, where [`Appender::reserve`] has made room for it. Its length is returned.
    pub(crate) fn push(&mut self, compressor: &mut Compressor, record: &[u8]) -> usize {
        let len = compressor.compress(record, &mut self.buffer[self.filled..]);
        self.filled += len;
        len
    }

    /// Puts bytes into the buffer as they are. There is room for a record behind them: the two are not parted by an error.
    pub(crate) fn push_bytes(&mut self, bytes: &[u8]) -> Result<(), RepositoryError> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.reserve(bytes.len() + ROOM_BYTES)?;
        self.buffer[self.filled..self.filled + bytes.len()].copy_from_slice(bytes);
        self.filled += bytes.len();
        Ok(())
    }

    /// Compresses a large record piece by piece; room is made as it is needed, and kept for the records behind it.
    pub(crate) fn push_large(
        &mut self,
        compression: Compression,
        dictionary: Option<&[u8]>,
        pieces: &[&[u8]],
    ) -> usize {
        let room = self.buffer.len() - self.filled;
        let len = piecewise::compress(compression, dictionary, pieces, &mut self.buffer, self.filled);
        self.filled += len;
        if self.buffer.len() - self.filled < room {
            self.buffer.resize(self.filled + room, 0);
        }
        len
    }

    /// Hands the buffer to the operating system.
    pub(crate) fn flush(&mut self) -> Result<(), RepositoryError> {
        let Some(open) = &mut self.open else { return Ok(()) };
        if self.filled == 0 {
            return Ok(());
        }
        if let Err(source) = open.file.write_all_at(&self.buffer[..self.filled], open.flushed) {
            let (action, path) = ("write to", open.path.clone());
            if open.file.set_len(open.flushed).is_ok() {
                return Err(RepositoryError::Io { action, path, offset: open.flushed, source });
            }
            // What is whole must be made durable now: no later sync will reach this file.
            let _ = open.sync(&self.files, &self.directory);
            let offset = open.synced;
            self.abandon();
            return Err(RepositoryError::Abandoned { action, path, offset, source });
        }
        open.grow(self.filled as u64);
        self.empty_buffer();
        Ok(())
    }

    /// Ends the file; it is made durable with the next mark, or the next sync.
    pub(crate) fn roll(&mut self) -> Result<(), RepositoryError> {
        self.flush()?;
        self.rolled.extend(self.open.take());
        Ok(())
    }

    /// The files that have changed since the last mark, with their lengths.
    pub(crate) fn mark(&mut self, unsynced: &mut Unsynced) -> Result<Vec<(PathBuf, u64)>, RepositoryError> {
        self.flush()?;
        let mut lengths = Vec::new();
        for open in self.rolled.drain(..) {
            unsynced.add(&open.file, &open.path);
            lengths.push((open.path, open.flushed));
        }
        if let Some(open) = &self.open {
            unsynced.add(&open.file, &open.path);
            lengths.push((open.path.clone(), open.flushed));
        }
        Ok(lengths)
    }

    /// Makes everything durable, the files' names included.
    pub(crate) fn sync(&mut self) -> Result<(), RepositoryError> {
        self.flush()?;
        while let Some(mut open) = self.rolled.pop() {
            if let Err(source) = open.sync(&self.files, &self.directory) {
                let (path, offset) = (open.path, open.synced);
                let _ = open.file.set_len(offset);
                return Err(RepositoryError::Abandoned { action: "sync", path, offset, source });
            }
        }
        let Some(open) = &mut self.open else { return Ok(()) };
        if let Err(source) = open.sync(&self.files, &self.directory) {
            // The kernel may have dropped what it could not write, and a second sync would not say so.
            let (path, offset) = (open.path.clone(), open.synced);
            let _ = open.file.set_len(offset);
            self.abandon();
            return Err(RepositoryError::Abandoned { action: "sync", path, offset, source });
        }
        Ok(())
    }

    /// Syncs and closes the file.
    pub(crate) fn close(&mut self) -> Result<(), RepositoryError> {
        self.sync()?;
        self.open = None;
        Ok(())
    }

    fn abandon(&mut self) {
        self.open = None;
        self.empty_buffer();
    }

    fn empty_buffer(&mut self) {
        self.filled = 0;
        if self.buffer.len() > self.buffer_bytes {
            self.buffer.truncate(self.buffer_bytes);
            self.buffer.shrink_to_fit();
        }
    }
}
