//! The simulated directories, and the space that files take.
//!
//! A directory keeps its visible entries and a log of the steps since its last sync, each with what it replaced; a
//! crash undoes the steps from some random one on. Files and directories are shared by reference count: by the
//! entries that name them, by logs that may bring them back, and by open files. So a removed file's memory goes when
//! its directory is synced.
//!
//! Everything here runs under the one lock of the disk, which is why the inner locks are never contended.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use super::content::Content;
use crate::Random;
use crate::files::StoredFile;

pub(super) type SharedDir = Arc<Mutex<Dir>>;
pub(super) type SharedInode = Arc<Mutex<Inode>>;

#[derive(Clone)]
pub(super) enum Node {
    Dir(SharedDir),
    File(SharedInode),
}

/// A file, whatever its names.
#[derive(Default)]
pub(super) struct Inode {
    pub(super) content: Content,
    /// Visible names.
    links: u32,
    /// Open files. Without links and handles its space is free.
    handles: u32,
    /// The last restart that has seen it, so that a file with two names is crashed once.
    restart: u64,
}

#[derive(Default)]
pub(super) struct Dir {
    entries: BTreeMap<OsString, Node>,
    /// Since the last sync; a step is atomic.
    log: Vec<Vec<Edit>>,
}

struct Edit {
    name: OsString,
    before: Option<Node>,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no code panics while it holds a lock of the simulated disk")
}

impl Dir {
    /// One atomic step: sets or (`None`) removes names. Returns what they stood for.
    fn step<const N: usize>(&mut self, edits: [(&OsStr, Option<Node>); N]) -> [Option<Node>; N] {
        let mut log = Vec::with_capacity(N);
        let before = edits.map(|(name, node)| {
            let before = match node {
                Some(node) => self.entries.insert(name.to_os_string(), node),
                None => self.entries.remove(name),
            };
            log.push(Edit { name: name.to_os_string(), before: before.clone() });
            before
        });
        self.log.push(log);
        before
    }

    /// Makes the first `count` pending steps durable.
    fn sync_steps(&mut self, count: usize) {
        self.log.drain(..count);
    }

    fn crash(&mut self, random: &mut Random) {
        if self.log.is_empty() {
            return;
        }
        let kept = random.below(self.log.len() as u64 + 1) as usize;
        for edit in self.log.drain(..).skip(kept).rev().flat_map(|step| step.into_iter().rev()) {
            match edit.before {
                Some(node) => self.entries.insert(edit.name, node),
                None => self.entries.remove(&edit.name),
            };
        }
    }
}

/// All directories and files, from the root.
#[derive(Default)]
pub(super) struct Tree {
    root: SharedDir,
    /// Bytes of all files that have a visible name or are open.
    used: u64,
}

impl Tree {
    pub(super) fn used(&self) -> u64 {
        self.used
    }

    /// What is at `path`; `None` if there is nothing. Relative paths start at the root.
    pub(super) fn node(&self, path: &Path) -> io::Result<Option<Node>> {
        let mut node = Node::Dir(self.root.clone());
        for name in names(path) {
            let Node::Dir(dir) = node else { return Err(io::ErrorKind::NotADirectory.into()) };
            match lock(&dir).entries.get(name) {
                Some(found) => node = found.clone(),
                None => return Ok(None),
            }
        }
        Ok(Some(node))
    }

    pub(super) fn dir(&self, path: &Path) -> io::Result<SharedDir> {
        match self.node(path)? {
            Some(Node::Dir(dir)) => Ok(dir),
            Some(Node::File(_)) => Err(io::ErrorKind::NotADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    pub(super) fn file(&self, path: &Path) -> io::Result<SharedInode> {
        match self.node(path)? {
            Some(Node::File(inode)) => Ok(inode),
            Some(Node::Dir(_)) => Err(io::ErrorKind::IsADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// The directory that holds `path`, and its name in there.
    fn place<'a>(&self, path: &'a Path) -> io::Result<(SharedDir, &'a OsStr)> {
        let mut names = names(path);
        let name = names.pop().ok_or(io::ErrorKind::InvalidInput)?;
        Ok((self.dir(&names.iter().collect::<PathBuf>())?, name))
    }

    pub(super) fn create_file(&mut self, path: &Path) -> io::Result<SharedInode> {
        let (dir, name) = self.place(path)?;
        let inode = SharedInode::default();
        lock(&inode).links = 1;
        lock(&dir).step([(name, Some(Node::File(inode.clone())))]);
        Ok(inode)
    }

    pub(super) fn create_dir(&mut self, path: &Path) -> io::Result<()> {
        let (dir, name) = self.place(path)?;
        lock(&dir).step([(name, Some(Node::Dir(SharedDir::default())))]);
        Ok(())
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let (from_dir, from_name) = self.place(from)?;
        let (to_dir, to_name) = self.place(to)?;
        let node = lock(&from_dir).entries.get(from_name).cloned().ok_or(io::ErrorKind::NotFound)?;
        let target = lock(&to_dir).entries.get(to_name).cloned();
        let same_dir = Arc::ptr_eq(&from_dir, &to_dir);
        match (&node, &target) {
            // Two names of one file: nothing happens, as POSIX has it.
            (Node::File(one), Some(Node::File(other))) if Arc::ptr_eq(one, other) => return Ok(()),
            (Node::Dir(one), Some(Node::Dir(other))) if Arc::ptr_eq(one, other) => return Ok(()),
            (Node::File(_), Some(Node::Dir(_))) => return Err(io::ErrorKind::IsADirectory.into()),
            (Node::Dir(_), Some(Node::File(_))) => return Err(io::ErrorKind::NotADirectory.into()),
            (Node::Dir(_), Some(Node::Dir(other))) if !lock(other).entries.is_empty() => {
                return Err(io::ErrorKind::DirectoryNotEmpty.into());
            }
            // Its two halves could survive apart, and a directory has one place.
            (Node::Dir(_), _) if !same_dir => return Err(io::ErrorKind::Unsupported.into()),
            _ => {}
        }
        if same_dir {
            lock(&to_dir).step([(from_name, None), (to_name, Some(node))]);
        } else {
            lock(&to_dir).step([(to_name, Some(node))]);
            lock(&from_dir).step([(from_name, None)]);
        }
        if let Some(Node::File(inode)) = target {
            self.unlink(&inode);
        }
        Ok(())
    }

    pub(super) fn hard_link(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let Node::File(inode) = self.node(from)?.ok_or(io::ErrorKind::NotFound)? else {
            return Err(io::ErrorKind::PermissionDenied.into());
        };
        let (dir, name) = self.place(to)?;
        if lock(&dir).entries.contains_key(name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        lock(&inode).links += 1;
        lock(&dir).step([(name, Some(Node::File(inode)))]);
        Ok(())
    }

    pub(super) fn remove_file(&mut self, path: &Path) -> io::Result<()> {
        let inode = self.file(path)?;
        let (dir, name) = self.place(path)?;
        lock(&dir).step([(name, None)]);
        self.unlink(&inode);
        Ok(())
    }

    /// Removes a directory; the caller has emptied it.
    pub(super) fn remove_dir(&mut self, path: &Path) -> io::Result<()> {
        let (dir, name) = self.place(path)?;
        lock(&dir).step([(name, None)]);
        Ok(())
    }

    /// Makes a directory's entries durable.
    pub(super) fn sync_dir(&mut self, dir: &SharedDir) {
        let mut dir = lock(dir);
        let count = dir.log.len();
        dir.sync_steps(count);
    }

    /// The first entries became durable, the rest waits for the next sync.
    pub(super) fn fail_sync_dir(&mut self, dir: &SharedDir, random: &mut Random) {
        let mut dir = lock(dir);
        let count = random.below(dir.log.len() as u64 + 1) as usize;
        dir.sync_steps(count);
    }

    pub(super) fn opened(&mut self, inode: &SharedInode) {
        lock(inode).handles += 1;
    }

    pub(super) fn closed(&mut self, inode: &SharedInode) {
        let mut inode = lock(inode);
        inode.handles -= 1;
        self.free_if_unused(&inode);
    }

    /// The length of an open file has changed.
    pub(super) fn resized(&mut self, before: usize, after: usize) {
        self.used = self.used + after as u64 - before as u64;
    }

    fn unlink(&mut self, inode: &SharedInode) {
        let mut inode = lock(inode);
        inode.links -= 1;
        self.free_if_unused(&inode);
    }

    fn free_if_unused(&mut self, inode: &Inode) {
        if inode.links == 0 && inode.handles == 0 {
            self.used -= inode.content.len() as u64;
        }
    }

    /// Every open file is gone; with `power_cut`, so is what it takes of the pending changes. `restart` must be a new
    /// number each time.
    pub(super) fn restart(&mut self, restart: u64, mut power_cut: Option<&mut Random>) {
        self.used = 0;
        let root = self.root.clone();
        self.restart_dir(&root, restart, &mut power_cut);
    }

    fn restart_dir(&mut self, dir: &SharedDir, restart: u64, power_cut: &mut Option<&mut Random>) {
        let mut dir = lock(dir);
        if let Some(random) = power_cut {
            dir.crash(random);
        }
        for node in dir.entries.values() {
            match node {
                Node::Dir(dir) => self.restart_dir(dir, restart, power_cut),
                Node::File(inode) => {
                    let mut inode = lock(inode);
                    if inode.restart != restart {
                        if let Some(random) = power_cut {
                            inode.content.crash(random);
                        }
                        (inode.links, inode.handles, inode.restart) = (0, 0, restart);
                        self.used += inode.content.len() as u64;
                    }
                    inode.links += 1;
                }
            }
        }
    }

    pub(super) fn list(&self, dir: &SharedDir) -> Vec<StoredFile> {
        lock(dir).entries.iter().map(|(name, node)| stored(name, node)).collect()
    }

    /// Calls `visit` for every visible file, by path.
    pub(super) fn each_file(&self, visit: &mut impl FnMut(PathBuf, &[u8])) {
        each_file(Path::new("/"), &self.root, visit);
    }
}

fn each_file(path: &Path, dir: &SharedDir, visit: &mut impl FnMut(PathBuf, &[u8])) {
    for (name, node) in &lock(dir).entries {
        match node {
            Node::Dir(dir) => each_file(&path.join(name), dir, visit),
            Node::File(inode) => visit(path.join(name), lock(inode).content.visible()),
        }
    }
}

pub(super) fn stored(name: &OsStr, node: &Node) -> StoredFile {
    let name = name.to_string_lossy().into_owned();
    match node {
        Node::Dir(_) => StoredFile { name, len: 0, is_dir: true },
        Node::File(inode) => StoredFile { name, len: lock(inode).content.len() as u64, is_dir: false },
    }
}

fn names(path: &Path) -> Vec<&OsStr> {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(name),
            Component::ParentDir => drop(names.pop()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    names
}
