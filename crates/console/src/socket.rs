//! The file of a crawl's socket: `mattock ctl` finds the crawl by it, and only its owner can open it.
//!
//! A socket is reached by its path alone, so that the one door to files does not lead to it. All that touches its file is here.

#![expect(
    clippy::disallowed_methods,
    reason = "sockets are no files of the simulated disk, and no handle leads to them"
)]

use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use tokio::net::UnixListener;

use crate::ConsoleError;

/// The longest path that a socket can have everywhere, with its end.
const PATH_BYTES_MAX: usize = 100;

/// Connects to a socket, if it is one. A link may lead to a socket of somebody who has nothing to do with crawls.
pub(crate) fn connect(path: &Path) -> io::Result<UnixStream> {
    if !std::fs::symlink_metadata(path)?.file_type().is_socket() {
        return Err(io::ErrorKind::NotFound.into());
    }
    UnixStream::connect(ShortPath::of(path)?.as_path())
}

/// The file of a Unix socket, for its owner alone; gone when this is dropped.
pub(crate) struct SocketFile {
    path: PathBuf,
    /// Which file it was: another crawl may have made its own since.
    identity: Option<(u64, u64)>,
}

impl SocketFile {
    pub(crate) fn listen(path: PathBuf) -> Result<(UnixListener, SocketFile), ConsoleError> {
        let failed = |source: io::Error| ConsoleError::Socket { path: path.clone(), source };
        // One that was killed leaves its socket behind; that nobody else crawls here is known by the lock.
        remove(&path).map_err(failed)?;
        // Paths of sockets are short by nature: a long one is reached through a handle of its directory.
        let listener = bind_short(&path).map_err(failed)?;
        let identity = identity(&path);
        Ok((listener, SocketFile { path, identity }))
    }

    /// Whose it is: ours, as we have made it.
    pub(crate) fn owner(&self) -> Option<u32> {
        Some(std::fs::symlink_metadata(&self.path).ok()?.uid())
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if self.identity.is_some() && identity(&self.path) == self.identity {
            let _ = remove(&self.path);
        }
    }
}

fn bind_short(path: &Path) -> io::Result<UnixListener> {
    let short = ShortPath::of(path)?;
    let listener = UnixListener::bind(short.as_path())?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    let meta = std::fs::symlink_metadata(path).ok()?;
    Some((meta.dev(), meta.ino()))
}

fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// A path that fits into the address of a socket: that of a deep directory goes through a handle of it.
struct ShortPath {
    path: PathBuf,
    _directory: Option<std::fs::File>,
}

impl ShortPath {
    fn of(path: &Path) -> io::Result<ShortPath> {
        let fits = path.as_os_str().len() <= PATH_BYTES_MAX;
        let (Some(parent), Some(name), false) = (path.parent(), path.file_name(), fits) else {
            return Ok(ShortPath { path: path.to_path_buf(), _directory: None });
        };
        let directory = std::fs::File::open(parent)?;
        let handle = format!("/proc/self/fd/{}", directory.as_raw_fd());
        Ok(ShortPath { path: Path::new(&handle).join(name), _directory: Some(directory) })
    }

    fn as_path(&self) -> &Path {
        &self.path
    }
}
