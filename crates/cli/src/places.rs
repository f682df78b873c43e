//! Where repositories and archives are: directories of this machine, or URLs of object stores.
//!
//! A command is bound to the directories that it was given ([`Places::of`]): whatever their own files name, it reaches nothing else. What the user
//! names beside them, a file to read or one to write, goes through [`named`] and [`beside`].

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::error::ErrorKind;
use mattock_env::{Env, Files, Reach, Trusted, User, is_url};
use mattock_index::Manifest;
use mattock_objects::{Counts, Objects, check_url};

/// Whether `--trust` was said.
static TRUST: AtomicBool = AtomicBool::new(false);

/// Notes that the user trusts what the directories ask for that they name.
pub(crate) fn trust() {
    TRUST.store(true, Ordering::Relaxed);
}

/// The machine, and what can be reached from it by URL. Nothing is asked of the network before a URL is used.
pub(crate) struct Places {
    pub(crate) env: Env,
    objects: Arc<Objects>,
}

impl Places {
    /// Directories or URLs that the user has named, what lies elsewhere and this user has imported into them, and nothing else.
    pub(crate) fn of<'a>(dirs: impl IntoIterator<Item = &'a Path>) -> Places {
        let objects = Arc::new(Objects::new());
        let mut env = unbound();
        env.files = env.files.with_remote(objects.clone());
        let mut places = Places { env, objects };
        for dir in dirs {
            places.name(dir);
            let mut files = places.env.files.within(dir);
            // Both are in use: people are shown what they have typed.
            if let Ok(dir) = absolute(dir) {
                files = files.within(&dir);
            }
            places.env.files = files;
            places.grant(dir);
        }
        places
    }

    /// The user has named this place. If it is a URL, its server may be asked wherever it is.
    fn name(&self, place: &Path) {
        if let Some(url) = place.to_str().filter(|_| is_url(place)) {
            self.objects.named_by_user(url);
        }
    }

    /// These files, which the user has named, can be read too.
    pub(crate) fn read_also<'a>(&mut self, files: impl IntoIterator<Item = &'a PathBuf> + Clone) {
        files.clone().into_iter().for_each(|file| self.name(file));
        self.env.files = self.env.files.with_outside(files.into_iter().cloned());
    }

    /// Archives elsewhere that a repository names can be read, as far as this user has imported them into it, or trusts it.
    fn grant(&mut self, dir: &Path) {
        // At a URL nothing says who has imported what.
        if is_url(dir) && !self.env.user.confirms() {
            return;
        }
        let names = Manifest::outside(&self.env.files, dir);
        if names.is_empty() {
            return;
        }
        let mut trusted = Trusted::read(&self.env.user, &self.env.files, dir);
        if self.env.user.confirms() && !is_url(dir) {
            let reaches: Vec<Reach> = names.iter().map(|name| archive(name)).collect();
            if let Err(error) = trusted.confirm(&reaches) {
                say!("note: that you trust {} cannot be remembered: {error}", dir.display());
            }
        }
        // To trust a repository is not to name the servers that its files name: these must be public ones.
        let own = Trusted::read(&User::real(), &self.env.files, dir);
        let granted: Vec<PathBuf> =
            names.iter().filter(|name| trusted.covers(&archive(name))).map(PathBuf::from).collect();
        for name in names.iter().filter(|name| own.covers(&named_server(name))) {
            self.name(Path::new(name));
        }
        self.env.files = self.env.files.with_outside(granted);
    }

    /// What was asked of stores so far.
    pub(crate) fn counts(&self) -> Counts {
        self.objects.counts()
    }
}

/// The machine, bound to directories that the user has named, for what knows no URLs.
pub(crate) fn bound<'a>(dirs: impl IntoIterator<Item = &'a Path>) -> Env {
    Places::of(dirs).env
}

/// The machine, for what works in no directory of a crawl or repository.
pub(crate) fn unbound() -> Env {
    let mut env = Env::real();
    if TRUST.load(Ordering::Relaxed) {
        env.user = env.user.confirming();
    }
    env
}

/// Files that the user has named one by one, to read them: wherever links lead, and pipes too.
pub(crate) fn named() -> Files {
    unbound().files
}

/// Files for writing one that the user has named: bound to the directory that it is in, so that no name which is put beside it leads elsewhere.
pub(crate) fn beside(path: &Path) -> Files {
    let directory = match path.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => directory,
        _ => Path::new("."),
    };
    named().within(directory)
}

/// The path of a file with its directory, as [`beside`] knows it.
pub(crate) fn in_directory(path: &Path) -> PathBuf {
    match path.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => path.to_path_buf(),
        _ => Path::new(".").join(path),
    }
}

/// Writes a small file that the user has named, as one step.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    beside(path).write_atomic(&in_directory(path), bytes)
}

/// An archive that a repository reads where it lies, outside of its directory.
pub(crate) fn archive(name: &str) -> Reach {
    Reach::new("archive", name)
}

/// The server of an archive, which whoever imported it has named: it may be one of the user's own network.
pub(crate) fn named_server(name: &str) -> Reach {
    Reach::new("archive.server", name)
}

/// An argument that is a path or a URL.
pub(crate) fn place() -> impl TypedValueParser<Value = PathBuf> {
    PlaceParser
}

/// Reads a path or a URL. One that is refused may hold a password, and is not repeated.
#[derive(Clone)]
struct PlaceParser;

impl TypedValueParser for PlaceParser {
    type Value = PathBuf;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<PathBuf, clap::Error> {
        let path = PathBufValueParser::new().parse_ref(command, argument, value)?;
        let Some(url) = path.to_str().filter(|_| is_url(&path)) else { return Ok(path) };
        check_url(url).map(PathBuf::from).map_err(|error| {
            let place = argument.map(|argument| format!(" for '{argument}'")).unwrap_or_default();
            let message = format!("invalid value{place}: {error}\n\nFor more information, try '--help'.\n");
            clap::Error::raw(ErrorKind::ValueValidation, message).with_cmd(command)
        })
    }
}

/// The same place, wherever somebody stands. A URL is one already.
pub(crate) fn absolute(path: &Path) -> io::Result<PathBuf> {
    if is_url(path) { Ok(path.to_path_buf()) } else { std::path::absolute(path) }
}
