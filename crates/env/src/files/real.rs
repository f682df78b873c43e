//! The operating system's files.

use std::io;
use std::num::NonZeroU64;
use std::ops::Range;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;

use super::block::PAGE_BYTES;
use super::{OpenMode, StoredFile};

/// Opens a file by `opened`, which is told the flags that go beyond the mode: past the page cache, if `direct`.
pub(super) fn open(
    mode: OpenMode,
    direct: bool,
    opened: impl Fn(OpenMode, OFlags) -> io::Result<std::fs::File>,
) -> io::Result<std::fs::File> {
    if !direct {
        return opened(mode, OFlags::empty());
    }
    match opened(mode, OFlags::DIRECT) {
        // Memory file systems and some network ones have no such thing; the file may have been created on the way.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => match mode {
            OpenMode::CreateNew => opened(OpenMode::CreateOrTruncate, OFlags::empty()),
            _ => opened(mode, OFlags::empty()),
        },
        opened => opened,
    }
}

/// Opens what is at a path, wherever its links lead.
pub(super) fn open_path(path: &Path, mode: OpenMode, extra: OFlags) -> io::Result<std::fs::File> {
    let flags = i32::try_from(extra.bits()).unwrap_or(0);
    let file = options(mode).custom_flags(flags).open(path)?;
    if mode == OpenMode::Private {
        file.set_permissions(std::fs::Permissions::from_mode(PRIVATE))?;
    }
    Ok(file)
}

/// Opens a regular file at a path to read it; a pipe, which nobody may ever write to, is none.
pub(super) fn open_regular(path: &Path) -> io::Result<std::fs::File> {
    let flags = i32::try_from((OFlags::NONBLOCK | OFlags::NOCTTY).bits()).unwrap_or(0);
    let file = options(OpenMode::Read).custom_flags(flags).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file")),
    }
}

pub(super) fn let_go(file: &std::fs::File, range: Range<u64>) {
    // Of the page behind the end only a part would be let go: who writes there next would have to read it first.
    let page = PAGE_BYTES as u64;
    let (start, end) = (range.start.next_multiple_of(page), range.end / page * page);
    if let Some(length) = end.checked_sub(start).and_then(NonZeroU64::new) {
        let _ = rustix::fs::fadvise(file, start, Some(length), rustix::fs::Advice::DontNeed);
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
        OpenMode::CreateOrKeep => drop(options.write(true).create(true)),
        OpenMode::Private => drop(options.write(true).create(true).truncate(true).mode(PRIVATE)),
    }
    options
}

/// For its owner alone.
const PRIVATE: u32 = 0o600;

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

#[cfg(test)]
mod tests {
    use std::io::IoSliceMut;
    use std::os::unix::fs::FileExt;

    use rustix::io::{Errno, ReadWriteFlags, preadv2};

    use super::*;
    use crate::Random;

    const FILE_BYTES: u64 = (64 << 20) + 100;

    /// Places of the file, far from each other, that are in memory; `None` if the file system does not say.
    fn in_memory(file: &std::fs::File) -> Option<usize> {
        let (mut places, mut byte) = (0, [0]);
        for at in (0..FILE_BYTES - 100).step_by(1 << 20) {
            match preadv2(file, &mut [IoSliceMut::new(&mut byte)], at, ReadWriteFlags::NOWAIT) {
                Ok(_) => places += 1,
                Err(Errno::AGAIN) => {}
                Err(_) => return None,
            }
        }
        Some(places)
    }

    #[test]
    #[expect(clippy::print_stderr, reason = "what is skipped is said")]
    fn what_was_let_go_is_on_disk_and_not_in_memory() {
        let random = Random::from_entropy().next_u64();
        let path = std::env::temp_dir().join(format!("mattock-env-let-go-{random:016x}"));
        let file = open_path(&path, OpenMode::CreateNew, OFlags::empty()).unwrap();
        let _ = std::fs::remove_file(&path);
        let bytes = vec![7; FILE_BYTES as usize];
        file.write_all_at(&bytes, 0).unwrap();
        let before = in_memory(&file);
        file.sync_data().unwrap();
        let_go(&file, 0..FILE_BYTES);
        match (before, in_memory(&file)) {
            (Some(before), Some(after)) => {
                assert_eq!(before, 64);
                // Each look fetches what it missed, and one that was interrupted may come late enough to find it.
                assert!(after < 32, "{after} of {before} places are in memory");
            }
            _ => eprintln!("skipped: the file system of {} does not say what is in memory", path.display()),
        }
        let mut read = vec![0; FILE_BYTES as usize];
        file.read_exact_at(&mut read, 0).unwrap();
        assert!(read == bytes);
        // Nothing whole, nothing at all, and backwards.
        for range in [1..4095, 5..5, std::ops::Range { start: 9000, end: 10 }] {
            let_go(&file, range);
        }
    }
}
