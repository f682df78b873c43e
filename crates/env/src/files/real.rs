//! The operating system's files.

use std::io;
use std::path::Path;

use super::{OpenMode, StoredFile};

pub(super) fn open(path: &Path, mode: OpenMode) -> io::Result<std::fs::File> {
    options(mode).open(path)
}

pub(super) fn open_direct(path: &Path, mode: OpenMode) -> io::Result<std::fs::File> {
    use std::os::unix::fs::OpenOptionsExt;
    let flag = i32::try_from(rustix::fs::OFlags::DIRECT.bits()).unwrap_or(0);
    match options(mode).custom_flags(flag).open(path) {
        // Memory file systems and some network ones have no such thing; the file may have been created on the way.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => match mode {
            OpenMode::CreateNew => open(path, OpenMode::CreateOrTruncate),
            _ => open(path, mode),
        },
        opened => opened,
    }
}

fn options(mode: OpenMode) -> std::fs::OpenOptions {
    let mut options = std::fs::OpenOptions::new();
    options.read(true);
    match mode {
        OpenMode::Read => {}
        OpenMode::Write => drop(options.write(true)),
        OpenMode::CreateNew => drop(options.write(true).create_new(true)),
        OpenMode::CreateOrTruncate => drop(options.write(true).create(true).truncate(true)),
    }
    options
}

pub(super) fn list(path: &Path) -> io::Result<Vec<StoredFile>> {
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        entries.push(stored(name, &entry.metadata()?));
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

pub(super) fn entry(path: &Path) -> io::Result<Option<StoredFile>> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match std::fs::metadata(path) {
        Ok(metadata) => Ok(Some(stored(name, &metadata))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

pub(super) fn is_special(path: &Path) -> io::Result<bool> {
    match std::fs::symlink_metadata(path) {
        Ok(metadata) => Ok(!metadata.is_file() && !metadata.is_dir()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn stored(name: String, metadata: &std::fs::Metadata) -> StoredFile {
    let is_dir = metadata.is_dir();
    StoredFile { name, len: if is_dir { 0 } else { metadata.len() }, is_dir }
}

pub(super) fn free_bytes(path: &Path) -> io::Result<u64> {
    let stat = rustix::fs::statvfs(path)?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}
