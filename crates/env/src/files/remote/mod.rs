//! Files that are far away: objects by URL, in stores that know neither directories nor places within what is written.
//!
//! A path that [is a URL](is_url) goes to the [`Remote`] that [`Files::with_remote`](super::Files::with_remote) was given; all others stay
//! where they are. So one repository can have its archives on either side. The crate `objects` has the implementation; here is
//! what makes files of it:
//!
//! - A directory of this machine that is named by its URL (`file:`) is one of these stores too ([`Near`](near::Near)). It is reached through the
//!   door of all other directories, and no crate beside this one opens anything in it.
//! - Reading is positional, as everywhere: [`Reading`] asks for exact ranges, and for more and more while reading goes on in order.
//! - Writing goes to a local file without a name; the whole object is put at [`File::sync`](super::File::sync), and only then. So an object is
//!   whole or not there, and what was never synced leaves nothing behind.
//! - To rename is to copy and remove. Directories come and go with what is in them. Nothing can be changed in place, linked or locked:
//!   that one writer works at a time is the user's business.

mod near;
#[cfg(test)]
mod near_tests;
mod ranges;
mod reading;
#[cfg(test)]
mod tests;
mod writing;

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use near::Near;
use reading::Reading;
use writing::Writing;

use super::bounds::local;
use super::{File, Files, OpenMode, StoredFile};

/// Where archives go that a repository names by absolute paths, when it is published.
const OUTSIDE: &str = "outside";

/// A store of objects. Calls block, from any thread and inside any runtime. Errors name the URL, and say what to do.
pub trait Remote: fmt::Debug + Send + Sync {
    /// Bytes of an object; `None` if there is none.
    fn length(&self, url: &str) -> io::Result<Option<u64>>;

    /// The bytes of these ranges, each within the object. Each is a request: who asks has joined what lies close together.
    fn read(&self, url: &str, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>>;

    /// Objects and prefixes directly below `url`, sorted by name; none if nothing is there. [`io::ErrorKind::Unsupported`] if the store cannot
    /// say what is there: whoever needs a file asks for it by its name.
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

    /// Counts a request that a directory of this machine has answered in the place of a store, and the bytes that came or went.
    fn count(&self, _bytes_read: u64, _bytes_written: u64) {}
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
#[derive(Clone)]
pub(super) struct Far<'a> {
    pub(super) remote: Arc<dyn Remote>,
    pub(super) url: &'a str,
}

impl<'a> Far<'a> {
    /// The object that a path names: by a URL of this machine or, where there is a `remote`, by any other. None if it is a plain path.
    pub(super) fn of(files: &Files, remote: Option<&Arc<dyn Remote>>, path: &'a Path) -> Option<Far<'a>> {
        let url = path.to_str().filter(|_| is_url(path))?;
        let near = || Some(Arc::new(Near::new(files)?) as Arc<dyn Remote>);
        let remote = local(path).and_then(|_| near()).or_else(|| remote.cloned())?;
        Some(Far { remote, url })
    }

    pub(super) fn open(self, mode: OpenMode) -> io::Result<RemoteFile> {
        match mode {
            OpenMode::Read => {
                let length = self.remote.length(self.url)?.ok_or_else(|| self.missing())?;
                if i64::try_from(length).is_err() {
                    let message = format!("{} is said to have {length} bytes, which no file has", self.url);
                    return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
                }
                Ok(RemoteFile::Reading(Reading::new(self.remote.clone(), self.url, length)))
            }
            OpenMode::Write => Err(self.impossible("changed in place")),
            OpenMode::CreateNew if self.remote.length(self.url)?.is_some() => {
                Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("{} is there already", self.url)))
            }
            OpenMode::CreateNew | OpenMode::CreateOrTruncate | OpenMode::CreateOrKeep | OpenMode::Private => {
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
        let is_dir = match self.remote.list(self.url) {
            // Nobody can tell: it is asked for by the names of its files.
            Err(error) if error.kind() == io::ErrorKind::Unsupported => false,
            listed => !listed?.is_empty(),
        };
        Ok(is_dir.then_some(StoredFile { name, len: 0, is_dir }))
    }

    pub(super) fn remove_all(self) -> io::Result<()> {
        for entry in self.remote.list(self.url)? {
            let url = format!("{}/{}", self.url.trim_end_matches('/'), entry.name);
            match entry.is_dir {
                true => Far { remote: self.remote.clone(), url: &url }.remove_all()?,
                false => self.remote.remove(&url)?,
            }
        }
        Ok(())
    }

    fn missing(&self) -> io::Error {
        io::Error::new(io::ErrorKind::NotFound, format!("there is no {}", self.url))
    }

    pub(super) fn impossible(&self, what: &str) -> io::Error {
        impossible(self.url, what)
    }
}

fn impossible(url: &str, what: &str) -> io::Error {
    let message = format!("{url} cannot be {what}: object stores know whole objects only");
    io::Error::new(io::ErrorKind::Unsupported, message)
}
