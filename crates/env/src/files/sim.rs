//! Files in memory.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use super::{OpenMode, StoredFile};
use crate::Random;

#[derive(Clone, Debug)]
enum Node {
    Dir,
    File(Arc<Mutex<Vec<u8>>>),
}

/// A file system in memory; clones are the same file system.
#[derive(Clone, Debug)]
pub struct SimFiles {
    nodes: Arc<Mutex<BTreeMap<PathBuf, Node>>>,
}

/// An open simulated file.
#[derive(Debug)]
pub struct SimFile {
    bytes: Arc<Mutex<Vec<u8>>>,
}

impl SimFiles {
    /// An empty file system.
    pub fn new(_random: Random) -> SimFiles {
        SimFiles { nodes: Arc::default() }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Node>> {
        self.nodes.lock().expect("no code panics while it holds the files' lock")
    }

    pub(super) fn open(&self, path: &Path, mode: OpenMode) -> io::Result<SimFile> {
        let mut nodes = self.lock();
        let found = match nodes.get(path) {
            Some(Node::File(bytes)) => Some(bytes.clone()),
            Some(Node::Dir) => return Err(io::ErrorKind::IsADirectory.into()),
            None => None,
        };
        let bytes = match (mode, found) {
            (OpenMode::Read | OpenMode::Write, Some(bytes)) => bytes,
            (OpenMode::CreateNew, Some(_)) => return Err(io::ErrorKind::AlreadyExists.into()),
            (OpenMode::CreateOrTruncate, Some(bytes)) => {
                bytes.lock().expect("as above").clear();
                bytes
            }
            (OpenMode::Read | OpenMode::Write, None) => return Err(io::ErrorKind::NotFound.into()),
            (_, None) => {
                let parent = path.parent().unwrap_or(Path::new("/"));
                if parent != Path::new("/") && !nodes.contains_key(parent) {
                    return Err(io::ErrorKind::NotFound.into());
                }
                let bytes = Arc::new(Mutex::new(Vec::new()));
                nodes.insert(path.to_path_buf(), Node::File(bytes.clone()));
                bytes
            }
        };
        Ok(SimFile { bytes })
    }

    pub(super) fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        let mut nodes = self.lock();
        for ancestor in path.ancestors().filter(|ancestor| ancestor.parent().is_some()) {
            nodes.entry(ancestor.to_path_buf()).or_insert(Node::Dir);
        }
        Ok(())
    }

    pub(super) fn sync_dir(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut nodes = self.lock();
        let node = nodes.remove(from).ok_or(io::ErrorKind::NotFound)?;
        nodes.insert(to.to_path_buf(), node);
        Ok(())
    }

    pub(super) fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut nodes = self.lock();
        let node = nodes.get(from).cloned().ok_or(io::ErrorKind::NotFound)?;
        nodes.insert(to.to_path_buf(), node);
        Ok(())
    }

    pub(super) fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.lock().remove(path).map(drop).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    pub(super) fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.lock().retain(|name, _| !name.starts_with(path));
        Ok(())
    }

    pub(super) fn list(&self, path: &Path) -> io::Result<Vec<StoredFile>> {
        let nodes = self.lock();
        Ok(nodes
            .iter()
            .filter(|(name, _)| name.parent() == Some(path))
            .map(|(n, node)| stored(n, node))
            .collect())
    }

    pub(super) fn entry(&self, path: &Path) -> io::Result<Option<StoredFile>> {
        Ok(self.lock().get(path).map(|node| stored(path, node)))
    }

    pub(super) fn free_bytes(&self) -> io::Result<u64> {
        Ok(1 << 40)
    }
}

fn stored(path: &Path, node: &Node) -> StoredFile {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match node {
        Node::Dir => StoredFile { name, len: 0, is_dir: true },
        Node::File(bytes) => {
            let len = bytes.lock().expect("as above").len() as u64;
            StoredFile { name, len, is_dir: false }
        }
    }
}

impl SimFile {
    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.bytes.lock().expect("no code panics while it holds a file's lock")
    }

    pub(super) fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let bytes = self.lock();
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
        let count = buffer.len().min(bytes.len() - start);
        buffer[..count].copy_from_slice(&bytes[start..start + count]);
        Ok(count)
    }

    pub(super) fn write_all_at(&self, data: &[u8], offset: u64) -> io::Result<()> {
        let mut bytes = self.lock();
        let start = usize::try_from(offset).map_err(|_| io::ErrorKind::FileTooLarge)?;
        if bytes.len() < start + data.len() {
            bytes.resize(start + data.len(), 0);
        }
        bytes[start..start + data.len()].copy_from_slice(data);
        Ok(())
    }

    pub(super) fn len(&self) -> io::Result<u64> {
        Ok(self.lock().len() as u64)
    }

    pub(super) fn set_len(&self, len: u64) -> io::Result<()> {
        self.lock().resize(usize::try_from(len).map_err(|_| io::ErrorKind::FileTooLarge)?, 0);
        Ok(())
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}
