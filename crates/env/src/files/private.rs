//! Files that nobody but their owner can read: those that hold secrets.

use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::bounds::{Access, Way};
use super::{File, Files, Kind, OpenMode};

/// No secret is longer.
const READ_BYTES_MAX: u64 = 64 << 10;
/// Anything for others.
const OTHERS: u32 = 0o077;

impl Files {
    /// Replaces a small file as one step, as [`write_atomic`](Files::write_atomic) does, with one that nobody but its owner can read, at no
    /// time. In simulation, and far away, files have no owners.
    pub fn write_private(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.replace(path, bytes, OpenMode::Private)
    }

    /// The beginning of a file if nobody but its owner can read it; `None` if others can. It may be a pipe.
    pub fn read_private(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        if !matches!(self.kind, Kind::Real) || self.far(path).is_some() {
            return self.read(path).map(Some);
        }
        let file = self.to_look_at(path)?;
        if file.metadata()?.mode() & OTHERS != 0 {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        file.take(READ_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    /// Whether nobody but its owner can read a file.
    pub fn is_private(&self, path: &Path) -> io::Result<bool> {
        if !matches!(self.kind, Kind::Real) || self.far(path).is_some() {
            return Ok(true);
        }
        match self.bounds.way(path, Access::Read)? {
            // Not opened: that would wait for whoever writes into a pipe.
            Way::Free => Ok(std::fs::metadata(path)?.mode() & OTHERS == 0),
            _ => Ok(self.to_look_at(path)?.metadata()?.mode() & OTHERS == 0),
        }
    }

    /// A file of this machine; it may be a pipe where nothing binds these files.
    fn to_look_at(&self, path: &Path) -> io::Result<std::fs::File> {
        if matches!(self.bounds.way(path, Access::Read)?, Way::Free) {
            return std::fs::File::open(path);
        }
        match self.open(path, OpenMode::Read)? {
            File::Real(file) => Ok(file),
            _ => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    #[test]
    fn a_private_file_is_its_owners_alone_whatever_was_there() {
        let files = Files::real();
        let random = Random::from_entropy().next_u64();
        let directory = std::env::temp_dir().join(format!("mattock-env-private-{random:016x}"));
        files.create_dir_all(&directory).unwrap();
        let path = directory.join("a");
        files.write_atomic(&path, b"old").unwrap();
        files.write_atomic(&directory.join("a.tmp"), b"left").unwrap();
        files.write_private(&path, b"new").unwrap();
        let mode = std::fs::metadata(&path).unwrap().mode() & 0o777;
        let read = files.read_private(&path).unwrap();
        let names = files.list(&directory).unwrap().len();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o640)).unwrap();
        let opened = (files.read_private(&path).unwrap(), files.is_private(&path).unwrap());
        files.remove_dir_all(&directory).unwrap();
        assert_eq!((mode, read, names), (0o600, Some(b"new".to_vec()), 1));
        assert_eq!(opened, (None, false));
    }
}
