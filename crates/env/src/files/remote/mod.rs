//! Files that are far away: objects by URL, in stores that know neither directories nor places within what is written.
//!
//! A path that [is a URL](is_url) goes to the [`Remote`] that [`Files::with_remote`](super::Files::with_remote) was given; all others stay
//! where they are. So one repository can have its archives on either side. The crate `objects` has the implementation; here is
//! what makes files of it:
//!
//! - Reading is positional, as everywhere: [`Reading`] asks for exact ranges, and for more and more while reading goes on in order.
//! - Writing goes to a local file without a name; the whole object is put at [`File::sync`](super::File::sync), and only then. So an object is
//!   whole or not there, and what was never synced leaves nothing behind.
//! - To rename is to copy and remove. Directories come and go with what is in them. Nothing can be changed in place, linked or locked:
//!   that one writer works at a time is the user's business.

mod reading;
#[cfg(test)]
mod tests;
mod writing;

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use reading::Reading;
use writing::Writing;

use super::{File, OpenMode, StoredFile};

/// Where archives go that a repository names by absolute paths, when it is published.
const OUTSIDE: &str = "outside";

/// A store of objects. Calls block, from any thread and inside any runtime. Errors name the URL, and say what to do.
pub trait Remote: fmt::Debug + Send + Sync {
    /// Bytes of an object; `None` if there is none.
    fn length(&self, url: &str) -> io::Result<Option<u64>>;

    /// The bytes of these ranges, each within the object. Ranges near each other are one request.
    fn read(&self, url: &str, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>>;

    /// Objects and prefixes directly below `url`, sorted by name; none if nothing is there.
    fn list(&self, url: &str) -> io::Result<Vec<StoredFile>>;

    /// Puts the first `length` bytes of `content` at `url`, whole or not at all. `sent` hears of bytes that are there; an error of it
    /// ends the matter.
    fn put(
        &self,
        url: &str,
        content: &File,
        length: u64,
        sent: &mut dyn FnMut(u64) -> io::Result<()>,
    ) -> io::Result<()>;

    /// Copies an object within its store.
    fn copy(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes an object; it is no error if there is none.
    fn remove(&self, url: &str) -> io::Result<()>;
}

/// Whether a path is one of a remote file: it begins with a scheme of two letters at least, and `://`. `C:\x`, `C://x` and `a:b` are none.
pub fn is_url(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    let is_inner = |byte: &u8| byte.is_ascii_alphanumeric() || b"+.-".contains(byte);
    let scheme = bytes.iter().position(|byte| !is_inner(byte)).unwrap_or(0);
    scheme >= 2 && bytes[0].is_ascii_alphabetic() && bytes[scheme..].starts_with(b"://")
}

/// Where the file is that a repository at `root` names: below it, or elsewhere if the name is absolute or a URL. A repository that is
/// itself at a URL has what its origin named by absolute paths below `outside`.
pub fn located(root: &Path, name: &str) -> PathBuf {
    if is_url(Path::new(name)) {
        PathBuf::from(name)
    } else if is_url(root) && name.starts_with('/') {
        root.join(OUTSIDE).join(name.trim_start_matches('/'))
    } else {
        root.join(name)
    }
}

/// An object of a remote store, or what is to become one.
#[derive(Debug)]
pub enum RemoteFile {
    /// It is there.
    Reading(Reading),
    /// It is put when it is synced.
    Writing(Writing),
}

/// A URL with its store.
#[derive(Clone, Copy)]
pub(super) struct Far<'a> {
    pub(super) remote: &'a Arc<dyn Remote>,
    pub(super) url: &'a str,
}

impl Far<'_> {
    pub(super) fn open(self, mode: OpenMode) -> io::Result<RemoteFile> {
        match mode {
            OpenMode::Read => {
                let length = self.remote.length(self.url)?.ok_or_else(|| self.missing())?;
                Ok(RemoteFile::Reading(Reading::new(self.remote.clone(), self.url, length)))
            }
            OpenMode::Write => Err(self.impossible("changed in place")),
            OpenMode::CreateNew if self.remote.length(self.url)?.is_some() => {
                Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("{} is there already", self.url)))
            }
            OpenMode::CreateNew | OpenMode::CreateOrTruncate => {
                Ok(RemoteFile::Writing(Writing::new(self.remote.clone(), self.url)?))
            }
        }
    }

    pub(super) fn rename(self, to: &str) -> io::Result<()> {
        self.remote.copy(self.url, to)?;
        self.remote.remove(self.url)
    }

    pub(super) fn entry(self) -> io::Result<Option<StoredFile>> {
        let name = self.url.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
        if let Some(len) = self.remote.length(self.url)? {
            return Ok(Some(StoredFile { name, len, is_dir: false }));
        }
        let is_dir = !self.remote.list(self.url)?.is_empty();
        Ok(is_dir.then_some(StoredFile { name, len: 0, is_dir }))
    }

    pub(super) fn remove_all(self) -> io::Result<()> {
        for entry in self.remote.list(self.url)? {
            let url = format!("{}/{}", self.url.trim_end_matches('/'), entry.name);
            match entry.is_dir {
                true => Far { remote: self.remote, url: &url }.remove_all()?,
                false => self.remote.remove(&url)?,
            }
        }
        Ok(())
    }

    fn missing(self) -> io::Error {
        io::Error::new(io::ErrorKind::NotFound, format!("there is no {}", self.url))
    }

    pub(super) fn impossible(self, what: &str) -> io::Error {
        impossible(self.url, what)
    }
}

fn impossible(url: &str, what: &str) -> io::Error {
    let message = format!("{url} cannot be {what}: object stores know whole objects only");
    io::Error::new(io::ErrorKind::Unsupported, message)
}
