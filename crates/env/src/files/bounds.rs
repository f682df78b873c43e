//! Where files may be opened: anywhere, or only beneath the directories that somebody named.
//!
//! A crawl, a repository or a publication may come from somebody else, so that everything in it is data: the links, the pipes, and the names
//! that its files have for each other. [`Files::within`](super::Files::within) binds all that follows to the directory itself:
//!
//! - What lies beneath it is reached through a handle on it, without following a link, and is a regular file or a directory.
//! - What lies elsewhere cannot be reached, whatever path somebody puts together; nothing there is opened, changed, listed or looked at. Only
//!   the directories above it can be looked at, made and synced, for whoever makes the directory itself.
//! - Files elsewhere that the user has named, imported archives for instance, can be [read](super::Files::with_outside) and nothing else.
//! - What is on the same server, or in the same bucket, as a repository that was named by its URL can be read too.
//!
//! The rule is kept here, at the one door, and does not hang on any caller's care. It holds for simulated files and for objects by their
//! URLs too, which know neither links nor pipes. A directory of this machine that is named by its URL (`file:`) is the same directory as by its path.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::beneath::Root;
use super::is_url;
use super::place::Place;

/// Why something was not opened.
#[derive(Debug, thiserror::Error)]
enum Refused {
    #[error(
        "{path} lies outside {root}: what a directory names elsewhere is not touched, unless you say that you trust it (--trust)"
    )]
    Elsewhere { path: String, root: String },
    #[error("{0} is no name of a file in this directory")]
    Name(String),
}

/// The directories that files are bound to.
#[derive(Clone, Debug, Default)]
pub(super) struct Bounds(Option<Arc<Within>>);

#[derive(Clone, Debug)]
struct Within {
    roots: Vec<Arc<Root>>,
    outside: Arc<BTreeSet<PathBuf>>,
}

/// Files of the machine that say how it is set up, which is nobody's secret.
const MACHINE: [&str; 1] = ["/etc/resolv.conf"];

impl Within {
    fn new() -> Within {
        Within { roots: Vec::new(), outside: Arc::new(MACHINE.iter().map(PathBuf::from).collect()) }
    }
}

/// How a path is reached.
pub(super) enum Way<'a> {
    /// By its path: nothing binds it, or it is the directory above one that does.
    Free,
    /// Beneath a directory of this machine, through the handle on it.
    Beneath(&'a Root, Place<'a>),
    /// By its path, to be read only.
    Outside,
}

/// For what a file is wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Change,
    /// To look at a directory, make it or sync it: what is done with those above a crawl's as well.
    Directory,
}

impl Bounds {
    /// These bounds and one directory more.
    pub(super) fn with_root(&self, root: &Path) -> Bounds {
        let mut within = self.0.as_deref().cloned().unwrap_or_else(Within::new);
        if !within.roots.iter().any(|known| by_path(root).starts_with(by_path(known.path()))) {
            within.roots.push(Arc::new(Root::new(root)));
        }
        Bounds(Some(Arc::new(within)))
    }

    /// These bounds, through which `paths` can be read.
    pub(super) fn with_outside(&self, paths: impl IntoIterator<Item = PathBuf>) -> Bounds {
        let Some(within) = &self.0 else { return Bounds::default() };
        let paths = paths.into_iter().map(|path| by_path(&path).to_path_buf());
        let outside = within.outside.iter().cloned().chain(paths).collect();
        Bounds(Some(Arc::new(Within { roots: within.roots.clone(), outside: Arc::new(outside) })))
    }

    /// How `path` is reached.
    pub(super) fn way<'a>(&'a self, path: &'a Path, access: Access) -> io::Result<Way<'a>> {
        let Some(within) = &self.0 else { return Ok(Way::Free) };
        let (named, path) = (path, by_path(path));
        let shown = || -> String { named.display().to_string().chars().take(200).collect() };
        for root in &within.roots {
            let Some(below) = below(by_path(root.path()), path) else { continue };
            let place = Place::new(below)
                .and_then(|place| leads_down(path).map(|()| place))
                .map_err(|error| io::Error::new(error.kind(), Refused::Name(shown())))?;
            // A directory of this machine by its URL is as much somebody else's.
            return Ok(if is_far(path) { Way::Free } else { Way::Beneath(root, place) });
        }
        let is_named =
            within.outside.contains(path) || within.roots.iter().any(|root| is_beside(root.path(), path));
        if access != Access::Change && is_named {
            return Ok(Way::Outside);
        }
        let is_above = |root: &Arc<Root>| match path.as_os_str().is_empty() || path == Path::new(".") {
            true => root.path().is_relative(),
            false => by_path(root.path()).starts_with(path),
        };
        if access == Access::Directory && within.roots.iter().any(is_above) {
            return Ok(Way::Free);
        }
        let root = within.roots.first().map(|root| root.path().display().to_string()).unwrap_or_default();
        let refused = Refused::Elsewhere { path: shown(), root };
        Err(io::Error::new(io::ErrorKind::PermissionDenied, refused))
    }
}

/// The path of a file of this machine that is named by its URL. A URL with a host, `file://host/path`, is of another machine.
pub(super) fn local(path: &Path) -> Option<&Path> {
    match path.to_str()?.strip_prefix("file://")? {
        "" => Some(Path::new("/")),
        rest if rest.starts_with('/') => Some(Path::new(rest)),
        _ => None,
    }
}

/// Whether a path leads to another machine.
fn is_far(path: &Path) -> bool {
    is_url(path) && local(path).is_none()
}

/// The path by which the system knows a file, however it is named; a URL of another machine is left as it is.
pub(super) fn by_path(path: &Path) -> &Path {
    local(path).unwrap_or(path)
}

/// Whether a URL is of the same server or bucket as that of a repository: whoever publishes there decides on both. Of files of this machine,
/// which have URLs too, nobody does.
fn is_beside(root: &Path, path: &Path) -> bool {
    let origin = |path: &Path| -> Option<String> {
        let (scheme, rest) = path.to_str()?.split_once("://")?;
        let host = rest.split(['/', '?', '#']).next()?.to_ascii_lowercase();
        // Not everybody who reads URLs agrees on what these mean.
        (!host.is_empty() && !host.contains(['@', '\\']))
            .then(|| format!("{}://{host}", scheme.to_ascii_lowercase()))
    };
    is_url(root) && is_url(path) && origin(root).is_some_and(|own| origin(path) == Some(own))
}

/// Whether a URL has no steps up, however they are written: some servers take `%2e%2e` and `..\\` for such.
fn leads_down(path: &Path) -> io::Result<()> {
    if !is_url(path) {
        return Ok(());
    }
    let url = path.to_string_lossy().to_ascii_lowercase();
    let url = url.replace("%2e", ".").replace("%2f", "/").replace("%5c", "/").replace('\\', "/");
    match url.split(['/', '?', '#']).any(|step| step == "..") {
        true => Err(io::ErrorKind::InvalidFilename.into()),
        false => Ok(()),
    }
}

/// What of a path lies below a root.
fn below<'a>(root: &Path, path: &'a Path) -> Option<&'a Path> {
    if is_url(root) {
        // As text: to a store `a//b` and `a/b` are two objects.
        let (root, url) = (root.to_str()?.trim_end_matches('/'), path.to_str()?);
        let rest = url.strip_prefix(root)?;
        return (rest.is_empty() || rest.starts_with('/')).then(|| Path::new(rest.trim_start_matches('/')));
    }
    path.strip_prefix(root).ok()
}
