//! The directory of a repository: its files by name, opened when needed, every byte counted.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mattock_env::{File, Files, OpenMode, PAGE_BYTES};

use crate::error::{DrumError, Result};

/// Where the files are, and how much was read and written.
#[derive(Debug)]
pub(crate) struct Disk {
    pub(crate) files: Files,
    pub(crate) dir: PathBuf,
    read_bytes: AtomicU64,
    written_bytes: AtomicU64,
}

impl Disk {
    pub(crate) fn new(files: Files, dir: &Path) -> Arc<Disk> {
        Arc::new(Disk {
            files,
            dir: dir.into(),
            read_bytes: AtomicU64::new(0),
            written_bytes: AtomicU64::new(0),
        })
    }

    pub(crate) fn read_bytes(&self) -> u64 {
        self.read_bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn written_bytes(&self) -> u64 {
        self.written_bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn count_written(&self, bytes: usize) {
        self.written_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Removes a file; one that stays for some reason is removed when the repository is next opened.
    pub(crate) fn remove(&self, name: &str) {
        drop(self.files.remove_file(&self.dir.join(name)));
    }
}

/// A file that is made by the first write to it.
pub(crate) struct DataFile {
    disk: Arc<Disk>,
    name: String,
    path: PathBuf,
    number: u64,
    file: Mutex<Option<Arc<File>>>,
}

impl DataFile {
    /// A file to be written. `number` goes into its checksums.
    pub(crate) fn create(disk: &Arc<Disk>, name: String, number: u64) -> Arc<DataFile> {
        let path = disk.dir.join(&name);
        Arc::new(DataFile { disk: Arc::clone(disk), name, path, number, file: Mutex::new(None) })
    }

    /// A file that must be there.
    pub(crate) fn open(disk: &Arc<Disk>, name: String, number: u64) -> Result<Arc<DataFile>> {
        let file = DataFile::create(disk, name, number);
        let opened = file.disk.files.open_direct(&file.path, OpenMode::Read);
        let opened = opened.map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => DrumError::corrupt(&file.path, 0, "the file is missing"),
            _ => DrumError::io(&file.path, error),
        })?;
        *file.lock() = Some(Arc::new(opened));
        Ok(file)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Whether anything was written to it.
    pub(crate) fn exists(&self) -> bool {
        self.lock().is_some()
    }

    pub(crate) fn write(&self, bytes: &[u8], offset: u64) -> Result<()> {
        let file = {
            let mut file = self.lock();
            match &*file {
                Some(file) => Arc::clone(file),
                None => {
                    let made = self
                        .disk
                        .files
                        .create_dir_all(&self.disk.dir)
                        .and_then(|()| self.disk.files.open_direct(&self.path, OpenMode::CreateOrTruncate))
                        .map_err(|error| DrumError::io(&self.path, error))?;
                    Arc::clone(file.insert(Arc::new(made)))
                }
            }
        };
        file.write_all_at(bytes, offset).map_err(|error| DrumError::io(&self.path, error))?;
        self.disk.count_written(bytes.len());
        Ok(())
    }

    /// Fills a buffer of whole pages.
    pub(crate) fn read(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        let file = self.lock().clone();
        let file =
            file.ok_or_else(|| DrumError::corrupt(&self.path, offset, "the file was never written"))?;
        let mut filled = 0;
        while filled < buffer.len() {
            match file.read_at(&mut buffer[filled..], offset + filled as u64) {
                Ok(count) => filled += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(DrumError::io(&self.path, error)),
            }
            // A file that ends in the middle of a page cannot be read on from there past the page cache.
            if filled < buffer.len() && (filled == 0 || !filled.is_multiple_of(PAGE_BYTES)) {
                return Err(DrumError::corrupt(&self.path, offset, "the file is too short"));
            }
        }
        self.disk.read_bytes.fetch_add(buffer.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Makes the content durable, if there is any.
    pub(crate) fn sync(&self) -> Result<()> {
        let file = self.lock().clone();
        match file {
            Some(file) => file.sync().map_err(|error| DrumError::io(&self.path, error)),
            None => Ok(()),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Arc<File>>> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
