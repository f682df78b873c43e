//! A file that is written from front to back, with its length and checksum counted on the way.
//!
//! Filled by every writer of a database; emptied into [`Written`], which the manifest of the generation keeps. Clones write to the
//! same file, so that a coder that swallows its writer can still be asked afterwards. Costs one buffer of 256 KiB.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use mattock_env::{File, Files, OpenMode};
use serde::{Deserialize, Serialize};

use crate::error::{FeaturesError, Result};

const BUFFER_BYTES: usize = 256 << 10;
const READ_BYTES: usize = 1 << 20;

/// What a file must be like when it is read again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Written {
    /// Its name within the generation.
    pub(crate) name: String,
    /// Bytes.
    pub(crate) bytes: u64,
    /// CRC-32 of all of them.
    pub(crate) checksum: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Output {
    state: Rc<RefCell<State>>,
}

#[derive(Debug)]
struct State {
    path: PathBuf,
    file: File,
    buffer: Vec<u8>,
    flushed: u64,
    hasher: crc32fast::Hasher,
}

impl Output {
    pub(crate) fn create(files: &Files, path: &Path) -> Result<Output> {
        let file = files.open(path, OpenMode::CreateOrTruncate).map_err(FeaturesError::io(path))?;
        let (buffer, hasher) = (Vec::with_capacity(BUFFER_BYTES), crc32fast::Hasher::new());
        let state = State { path: path.into(), file, buffer, flushed: 0, hasher };
        Ok(Output { state: Rc::new(RefCell::new(state)) })
    }

    /// Where the next byte goes.
    pub(crate) fn at(&self) -> u64 {
        let state = self.state.borrow();
        state.flushed + state.buffer.len() as u64
    }

    pub(crate) fn put(&self, bytes: &[u8]) -> Result<()> {
        let mut state = self.state.borrow_mut();
        state.put(bytes).map_err(|source| FeaturesError::Io { path: state.path.clone(), source })
    }

    /// Hands everything to the system, without waiting for the disk: for what need not outlive this process. The bytes in the file.
    pub(crate) fn flush_only(self) -> Result<u64> {
        let mut state = self.state.borrow_mut();
        state.flush().map_err(|source| FeaturesError::Io { path: state.path.clone(), source })?;
        Ok(state.flushed)
    }

    /// Makes everything durable. Nothing may be written afterwards.
    pub(crate) fn finish(self) -> Result<Written> {
        let mut state = self.state.borrow_mut();
        let done = state.flush().and_then(|()| state.file.sync());
        done.map_err(|source| FeaturesError::Io { path: state.path.clone(), source })?;
        let name = state.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(Written { name, bytes: state.flushed, checksum: state.hasher.clone().finalize() })
    }
}

impl State {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.buffer.len() + bytes.len() > BUFFER_BYTES {
            self.flush()?;
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.write_all_at(&self.buffer, self.flushed)?;
        self.hasher.update(&self.buffer);
        self.flushed += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

impl io::Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.state.borrow_mut().put(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads a file that was [written](Output), whole, and refuses every other bytes.
pub(crate) fn read_whole(files: &Files, dir: &Path, written: &Written) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(usize::try_from(written.bytes).unwrap_or(0).min(1 << 30));
    read_chunks(files, dir, written, |chunk| bytes.extend_from_slice(chunk))?;
    Ok(bytes)
}

/// The same piece by piece, without keeping them: only when it has returned were they right.
pub(crate) fn read_chunks(
    files: &Files,
    dir: &Path,
    written: &Written,
    mut take: impl FnMut(&[u8]),
) -> Result<()> {
    let path = dir.join(&written.name);
    let file = files.open(&path, OpenMode::Read).map_err(FeaturesError::reading(&path, 0))?;
    let len = file.len().map_err(FeaturesError::io(&path))?;
    if len != written.bytes {
        let what = format!("it has {len} bytes where {} were written", written.bytes);
        return Err(FeaturesError::damaged(&path, len.min(written.bytes), what));
    }
    let (mut hasher, mut chunk, mut at) = (crc32fast::Hasher::new(), vec![0; READ_BYTES], 0);
    while at < len {
        let size = usize::try_from(len - at).unwrap_or(READ_BYTES).min(READ_BYTES);
        let chunk = &mut chunk[..size];
        file.read_exact_at(chunk, at).map_err(FeaturesError::reading(&path, at))?;
        hasher.update(chunk);
        take(chunk);
        at += size as u64;
    }
    match hasher.finalize() == written.checksum {
        true => Ok(()),
        false => Err(FeaturesError::damaged(&path, 0, "its checksum is wrong")),
    }
}
