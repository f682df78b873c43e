//! Parts of an import until `INDEX` names them.
//!
//! An import may take hours, and a crawl may run and be asked meanwhile. So only one import at a time has `import.lock`, for as long as it
//! takes, and the lock of the index only while it puts its parts into the list. Until then they have names of their own (`import-*`),
//! which nobody takes for parts; who was killed leaves them, and the next import removes them.
//!
//! Rows are inserted when they are committed, however old the documents are. All rows that come into the list together have one time, which has to be in the
//! first of their parts already: it is later than that of all that is in the list then, and whoever draws a sample before they are in the
//! list is told ([`importing_since_ms`]), and draws it of what was there before. At a URL there are no locks, and nobody crawls: there parts have
//! their last names at once.

use std::io;
use std::path::{Path, PathBuf};

use mattock_env::{File, Files, Name, OpenMode, UnixTime, is_url};

use crate::error::IndexError;
use crate::manifest::{Extent, Manifest, Part};
use crate::pending::Pending;
use crate::snapshot::{listed, remove_strays, wait_for_lock};

const LOCK: &str = "import.lock";
/// Says when the rows of the import that has the lock will have been inserted. A file of its own: nobody writes into a lock, which may have a
/// second name elsewhere.
const TIME: &str = "import.time";
/// How the names of parts begin that are in no list.
const PREFIX: &str = "import-";

/// See the module.
pub(crate) struct Shelf<'a> {
    files: &'a Files,
    repository: PathBuf,
    directory: PathBuf,
    now: &'a dyn Fn() -> UnixTime,
    /// Keeps other imports out.
    _alone: File,
    /// As it was when something was put into it last.
    list: Manifest,
    /// What comes into the list next: parts, and the names of files.
    parts: Vec<Part>,
    taken: Vec<(String, Extent)>,
    /// What leaves the list when they come: parts that are not as they were written, and files whose rows were in those and cannot be had again now.
    replaced: Vec<Name>,
    lost: Vec<String>,
    /// When these are inserted, in ms since 1970.
    inserted_ms: Option<i64>,
    number: u64,
}

impl<'a> Shelf<'a> {
    pub(crate) fn open(
        files: &'a Files,
        repository: &Path,
        now: &'a dyn Fn() -> UnixTime,
    ) -> Result<Shelf<'a>, IndexError> {
        let directory = Manifest::directory(repository);
        files.create_dir_all(&directory).map_err(IndexError::io("create", &directory))?;
        let alone = keep_others_out(files, &directory)?;
        let list = {
            let _lock = wait_for_lock(files, &directory)?;
            let list = listed(files, repository)?;
            if !is_url(repository) {
                remove_strays(files, &directory, &list)?;
                remove_left(files, &directory)?;
            }
            list
        };
        Ok(Shelf {
            files,
            repository: repository.to_path_buf(),
            directory,
            now,
            _alone: alone,
            list,
            parts: Vec::new(),
            taken: Vec::new(),
            replaced: Vec::new(),
            lost: Vec::new(),
            inserted_ms: None,
            number: 0,
        })
    }

    /// Whether a file was taken just now.
    pub(crate) fn has_just_taken(&self, name: &str) -> bool {
        self.taken.iter().any(|(taken, _)| taken == name)
    }

    /// Whether files were taken that the list does not have so.
    pub(crate) fn has_taken(&self) -> bool {
        !self.taken.is_empty()
    }

    /// Whether rows of a file may be in the list.
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.list.imported.iter().chain(&self.list.lost).any(|known| known == name)
    }

    /// What is in the list so far.
    pub(crate) fn list(&self) -> &Manifest {
        &self.list
    }

    /// These parts go when what is put here takes their place.
    pub(crate) fn replace(&mut self, parts: &[Part]) {
        self.replaced.extend(parts.iter().map(|part| part.file.clone()));
    }

    /// Rows of this file went with parts that are replaced, and it cannot be read again now: its name stays noted.
    pub(crate) fn lose(&mut self, name: &str) {
        self.lost.push(name.to_owned());
    }

    /// All documents of a file are in what was, or will be, put here; it was like this before it was read.
    pub(crate) fn took(&mut self, name: &str, extent: Extent) {
        self.taken.push((name.to_owned(), extent));
    }

    /// Makes a part of what waits.
    pub(crate) fn put(&mut self, pending: &mut Pending) -> Result<(), IndexError> {
        let inserted_ms = match self.inserted_ms {
            Some(time) => time,
            None => self.begin()?,
        };
        let name = match is_url(&self.repository) {
            true => self.list.next_name(),
            false => {
                self.number += 1;
                Name::new(format!("{PREFIX}{:06}.rows", self.number)).expect("it has neither steps nor NUL")
            }
        };
        self.parts.push(pending.write_part(self.files, &self.directory, name, Some(inserted_ms))?);
        Ok(())
    }

    /// Fixes the time of the rows that come next, and says so to whoever looks.
    fn begin(&mut self) -> Result<i64, IndexError> {
        let newest_ms = Manifest::read(self.files, &self.repository)?.newest_ms();
        let now_ms = (self.now)().as_micros().div_euclid(1000);
        let time = now_ms.max(newest_ms.map_or(i64::MIN, |newest_ms| newest_ms + 1));
        self.tell(Some(time))?;
        self.inserted_ms = Some(time);
        Ok(time)
    }

    /// Says when the rows that wait will have been inserted; nothing while none wait.
    fn tell(&self, time: Option<i64>) -> Result<(), IndexError> {
        if is_url(&self.repository) {
            return Ok(());
        }
        match time {
            Some(time) => {
                let path = self.directory.join(TIME);
                let text = format!("{time}\n");
                self.files.write_atomic(&path, text.as_bytes()).map_err(IndexError::io("write", &path))
            }
            None => remove_time(self.files, &self.directory),
        }
    }

    /// Puts all that was put here into the list.
    pub(crate) fn commit(&mut self) -> Result<(), IndexError> {
        let _lock = wait_for_lock(self.files, &self.directory)?;
        let mut list = match is_url(&self.repository) {
            true => self.list.clone(),
            false => Manifest::read(self.files, &self.repository)?,
        };
        for mut part in self.parts.drain(..) {
            if !is_url(&self.repository) {
                let name = list.next_name();
                let (from, to) = (self.directory.join(&part.file), self.directory.join(&name));
                self.files.rename(&from, &to).map_err(IndexError::io("rename", &from))?;
                part.file = name;
            }
            list.parts.push(part);
        }
        list.parts.retain(|part| !self.replaced.contains(&part.file));
        // Each name once, and either here or there.
        let is_taken = |name: &String| self.taken.iter().any(|(taken, _)| taken == name);
        list.lost.retain(|name| !is_taken(name) && !self.lost.contains(name));
        list.imported.retain(|name| !is_taken(name) && !self.lost.contains(name));
        for (name, extent) in self.taken.drain(..) {
            list.extents.insert(name.clone(), extent);
            list.imported.push(name);
        }
        list.lost.append(&mut self.lost);
        list.write(self.files, &self.repository)?;
        self.list = list;
        for name in self.replaced.drain(..) {
            let path = self.directory.join(name);
            // That it is missing may be why it was replaced.
            if self.files.entry(&path).map_err(IndexError::io("look at", &path))?.is_some() {
                self.files.remove_file(&path).map_err(IndexError::io("remove", &path))?;
            }
        }
        self.inserted_ms = None;
        self.tell(None)
    }
}

impl Drop for Shelf<'_> {
    fn drop(&mut self) {
        for part in &self.parts {
            // There is another error to tell of, and who comes next removes what is left.
            let _ = self.files.remove_file(&self.directory.join(&part.file));
        }
    }
}

/// The lock of imports. Once it is had, what a killed import has said does not hold any more.
fn keep_others_out(files: &Files, directory: &Path) -> Result<File, IndexError> {
    let path = directory.join(LOCK);
    let failed = |action| IndexError::io(action, &path);
    let file = files.open(&path, OpenMode::CreateOrKeep).map_err(failed("open"))?;
    if !file.try_lock().map_err(failed("lock"))? {
        return Err(IndexError::Locked { path });
    }
    if !is_url(&path) {
        remove_time(files, directory)?;
    }
    Ok(file)
}

fn remove_time(files: &Files, directory: &Path) -> Result<(), IndexError> {
    let path = directory.join(TIME);
    match files.remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(IndexError::io("remove", &path)(error)),
        _ => Ok(()),
    }
}

/// Removes what a killed import left.
fn remove_left(files: &Files, directory: &Path) -> Result<(), IndexError> {
    let entries = files.list(directory).map_err(IndexError::io("list", directory))?;
    for entry in entries.iter().filter(|entry| entry.name.starts_with(PREFIX)) {
        let path = directory.join(&entry.name);
        files.remove_file(&path).map_err(IndexError::io("remove", &path))?;
    }
    Ok(())
}

/// When the rows of an import that is under way will have been inserted, in ms since 1970: what is inserted since then may not be all there.
pub fn importing_since_ms(files: &Files, repository: &Path) -> Option<i64> {
    if is_url(repository) {
        return None;
    }
    let directory = Manifest::directory(repository);
    let lock = files.open(&directory.join(LOCK), OpenMode::Read).ok()?;
    if !lock.is_locked().ok()? {
        return None;
    }
    let file = files.open(&directory.join(TIME), OpenMode::Read).ok()?;
    let mut text = vec![0; usize::try_from(file.len().ok()?).ok()?.min(32)];
    file.read_exact_at(&mut text, 0).ok()?;
    std::str::from_utf8(&text).ok()?.trim().parse().ok()
}
