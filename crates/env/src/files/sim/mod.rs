//! The adversarial disk: files in memory that lose what was not synced, tear writes, fill up, fail, and stop the world
//! at any operation, all from one seed.
//!
//! # What it promises
//!
//! - Reads see every completed change at once, synced or not, and [`SimFiles::kill`] (the process dies, the kernel
//!   lives) loses none.
//! - [`File::sync`](crate::File::sync) makes the file's bytes and length durable, and *only* those: its name, and the
//!   names of the directories above it, become durable by [`Files::sync_dir`](crate::Files::sync_dir) of the directory
//!   that holds the name.
//! - [`SimFiles::crash`] (the power cut) keeps everything durable. Of the rest:
//!   - each write and length change since the file's last sync survives or not, independently, in any order. A
//!     surviving write may be torn: a prefix or any subset of its 512-byte sectors (counted from the file's start)
//!     arrives. A write that made the file longer may leave the new length with zeros for its bytes;
//!   - of each directory's steps since its last sync (create, rename, link, remove, new directory) a prefix survives.
//!     A rename within a directory is one step. Across two directories it is a step in each, and they survive apart:
//!     the file may be found under both names or none, so sync the new directory before the old. (A directory
//!     cannot be moved to another one: [`Unsupported`](io::ErrorKind::Unsupported));
//!   - names and contents know nothing of each other: a file renamed before its sync may have its new name and no
//!     content.
//! - A failed sync drops data: each pending change has reached the disk, is tried again by the next sync, or is marked
//!   clean and will be gone after a crash, though it can be read until then and later syncs succeed. A failed sync
//!   of a directory makes a prefix of its steps durable and leaves the rest pending.
//! - Nothing is invented: a byte after a crash was written there, or is zero.
//!
//! # What a real ext4 does beyond
//!
//! With its defaults it commits one journal for the whole file system, in order: a sync of any file makes the earlier
//! names in every directory durable too, a rename is atomic across directories, a file's new length is not recorded
//! before its bytes are, and a file that is renamed over another is written out first (`auto_da_alloc`). Dirty pages are
//! written after some 30 seconds without being asked. A page that failed to be written and is then written to again gets
//! to the disk as a whole. On a failed journal write it goes read-only, for which there is [`Fault::Stop`]. Code that is
//! right on this disk relies on none of that, and so is right on other file systems as well. On the other hand real
//! disks lie about having synced, and decay; for the latter there are [`SimFiles::corrupt`] and [`SimFiles::flip_bit`].
//!
//! # How a test uses it
//!
//! Run the workload once and ask for [`SimFiles::operations`]; then for every `n` below it, on a fresh disk:
//! [`fail_at`](SimFiles::fail_at)`(n, Fault::Stop)`, run until the error that [`is_stopped`] knows, drop everything,
//! [`crash`](SimFiles::crash), open again, check. Old clones of the [`SimFiles`] go on to work after a crash, open
//! files do not.
//!
//! Costs: one lock per operation; see `content` for the bytes. A crash visits every file once.

mod content;
mod fault;
mod handle;
mod tree;

#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod fault_tests;
#[cfg(test)]
mod model_tests;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use self::fault::{Access, Faults};
pub use self::fault::{Fault, Stopped, is_stopped};
pub(super) use self::handle::SimFile;
use self::tree::{Node, Tree, lock};
use super::{OpenMode, StoredFile};
use crate::Random;

/// What a disk without a capacity says it has.
const UNLIMITED_BYTES: u64 = 1 << 40;

/// A simulated disk; clones are the same disk.
#[derive(Clone)]
pub struct SimFiles {
    disk: Arc<Mutex<Disk>>,
}

struct Disk {
    tree: Tree,
    faults: Faults,
    /// Whether syncs do nothing.
    syncs_ignored: bool,
    capacity: Option<u64>,
    /// Crashes and kills so far: tells files opened before from those after.
    restarts: u64,
    /// For what crashes take. Apart from that of `faults`, so that switching on faults does not change it.
    crash_random: Random,
    corrupt_random: Random,
}

impl Disk {
    /// Bytes by which files can still grow.
    fn room(&self) -> usize {
        room(&self.tree, self.capacity)
    }
}

fn room(tree: &Tree, capacity: Option<u64>) -> usize {
    capacity.map_or(usize::MAX, |capacity| {
        usize::try_from(capacity.saturating_sub(tree.used())).unwrap_or(usize::MAX)
    })
}

/// The test's side: crashes, faults, inspection. None of these is an operation that could fail by a fault.
impl SimFiles {
    /// An empty disk without faults. The seed decides what crashes take.
    pub fn new(random: Random) -> SimFiles {
        let disk = Disk {
            tree: Tree::default(),
            faults: Faults::new(random.fork("faults")),
            capacity: None,
            syncs_ignored: false,
            restarts: 0,
            crash_random: random.fork("crash"),
            corrupt_random: random.fork("corrupt"),
        };
        SimFiles { disk: Arc::new(Mutex::new(disk)) }
    }

    /// Cuts the power: what was not synced may be lost or torn. Files open until now are dead; a stopped world runs
    /// again.
    pub fn crash(&self) {
        let mut disk = self.disk();
        let Disk { tree, faults, restarts, crash_random, .. } = &mut *disk;
        *restarts += 1;
        faults.restart();
        tree.restart(*restarts, Some(crash_random));
    }

    /// Kills the process: nothing is lost (a later [`crash`](SimFiles::crash) may yet take what is not synced). Files
    /// open until now are dead; a stopped world runs again.
    pub fn kill(&self) {
        let mut disk = self.disk();
        let Disk { tree, faults, restarts, .. } = &mut *disk;
        *restarts += 1;
        faults.restart();
        tree.restart(*restarts, None);
    }

    /// How many operations have begun on this disk. Those that change something count (open with creation or truncation,
    /// write, set_len, sync, and each entry that is made, renamed, linked or removed, also within `create_dir_all`
    /// and `remove_dir_all`), and reads after [`count_reads`](SimFiles::count_reads).
    pub fn operations(&self) -> u64 {
        self.disk().faults.operations()
    }

    /// Whether reads (read, len, list, entry, plain open) count as operations from now on, and so can fail.
    pub fn count_reads(&self, count: bool) {
        self.disk().faults.count_reads(count);
    }

    /// Plans a fault for the operation that begins when [`operations`](SimFiles::operations) is `operation`; the first
    /// of all is 0. The plan outlives crashes.
    pub fn fail_at(&self, operation: u64, fault: Fault) {
        self.disk().faults.plan(operation, fault);
    }

    /// Lets operations fail by chance, each with this probability.
    pub fn set_probability(&self, fault: Fault, probability: f64) {
        self.disk().faults.set_chance(fault, probability);
    }

    /// Takes back all planned faults and probabilities. A world that has stopped stays so.
    pub fn clear_faults(&self) {
        self.disk().faults.clear();
    }

    /// Limits the bytes in all files together; a write beyond fails with [`io::ErrorKind::StorageFull`], perhaps
    /// after a part of it. A removed file frees its bytes once it is closed.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.disk().capacity = bytes;
    }

    /// Bytes in all files together.
    pub fn used_bytes(&self) -> u64 {
        self.disk().tree.used()
    }

    /// A disk that says of every sync that it was done and does nothing: to see whether a test would notice.
    pub fn ignore_syncs(&self, ignored: bool) {
        self.disk().syncs_ignored = ignored;
    }

    /// Replaces one byte of a file by a different one, behind everybody's back.
    pub fn corrupt(&self, path: &Path, offset: u64) -> io::Result<()> {
        let mut disk = self.disk();
        let flipped = disk.corrupt_random.below(255) as u8 + 1;
        let inode = disk.tree.file(path)?;
        let mut inode = lock(&inode);
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        if offset >= inode.content.len() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        inode.content.corrupt(offset, flipped);
        Ok(())
    }

    /// Flips one random bit of a file that is not empty, and tells in which byte.
    pub fn flip_bit(&self, path: &Path) -> io::Result<u64> {
        let mut disk = self.disk();
        let inode = disk.tree.file(path)?;
        let mut inode = lock(&inode);
        let len = inode.content.len() as u64;
        if len == 0 {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let offset = disk.corrupt_random.below(len);
        inode.content.corrupt(offset as usize, 1 << disk.corrupt_random.below(8));
        Ok(offset)
    }

    /// Every visible file with its content, to compare two runs.
    pub fn snapshot(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        self.disk().tree.each_file(&mut |path, bytes| {
            files.insert(path, bytes.to_vec());
        });
        files
    }

    fn disk(&self) -> MutexGuard<'_, Disk> {
        lock(&self.disk)
    }
}

/// The program's side, as [`Files`](super::Files) offers it.
impl SimFiles {
    pub(super) fn open(&self, path: &Path, mode: OpenMode) -> io::Result<SimFile> {
        let mut disk = self.disk();
        let Disk { tree, faults, .. } = &mut *disk;
        let inode = match mode {
            OpenMode::Read | OpenMode::Write => {
                faults.read()?;
                tree.file(path)?
            }
            OpenMode::CreateNew => faults.change(|| match tree.node(path)? {
                Some(_) => Err(io::ErrorKind::AlreadyExists.into()),
                None => tree.create_file(path),
            })?,
            OpenMode::CreateOrTruncate | OpenMode::CreateOrKeep | OpenMode::Private => {
                faults.change(|| match tree.node(path)? {
                    Some(Node::Dir(_)) => Err(io::ErrorKind::IsADirectory.into()),
                    None => tree.create_file(path),
                    Some(Node::File(inode)) if mode == OpenMode::CreateOrKeep => Ok(inode),
                    Some(Node::File(inode)) => {
                        let before = lock(&inode).content.len();
                        lock(&inode).content.set_len(0);
                        tree.resized(before, 0);
                        Ok(inode)
                    }
                })?
            }
        };
        Ok(SimFile::new(self.clone(), &mut disk, inode, mode != OpenMode::Read))
    }

    pub(super) fn open_direct(&self, path: &Path, mode: OpenMode) -> io::Result<SimFile> {
        self.open(path, mode).map(SimFile::direct)
    }

    pub(super) fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        let mut disk = self.disk();
        let Disk { tree, faults, .. } = &mut *disk;
        faults.read()?;
        let ancestors: Vec<&Path> = path.ancestors().collect();
        for ancestor in ancestors.into_iter().rev() {
            match tree.node(ancestor)? {
                Some(Node::Dir(_)) => {}
                Some(Node::File(_)) if ancestor == path => return Err(io::ErrorKind::AlreadyExists.into()),
                Some(Node::File(_)) => return Err(io::ErrorKind::NotADirectory.into()),
                None => faults.change(|| tree.create_dir(ancestor))?,
            }
        }
        Ok(())
    }

    pub(super) fn sync_dir(&self, path: &Path) -> io::Result<()> {
        let mut disk = self.disk();
        let Disk { tree, faults, syncs_ignored, .. } = &mut *disk;
        let fault = faults.begin(Access::Change)?;
        let dir = tree.dir(path)?;
        match fault {
            None if *syncs_ignored => {}
            None => tree.sync_dir(&dir),
            Some(_) => tree.fail_sync_dir(&dir, faults.random()),
        }
        fault.map_or(Ok(()), |fault| Err(fault.error()))
    }

    pub(super) fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.change(|tree| tree.rename(from, to))
    }

    pub(super) fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.change(|tree| tree.hard_link(from, to))
    }

    pub(super) fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.change(|tree| tree.remove_file(path))
    }

    pub(super) fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        let mut disk = self.disk();
        let Disk { tree, faults, .. } = &mut *disk;
        faults.read()?;
        tree.dir(path)?;
        remove_dir_all(tree, faults, path)
    }

    pub(super) fn list(&self, path: &Path) -> io::Result<Vec<StoredFile>> {
        let mut disk = self.disk();
        disk.faults.read()?;
        let dir = disk.tree.dir(path)?;
        Ok(disk.tree.list(&dir))
    }

    pub(super) fn entry(&self, path: &Path) -> io::Result<Option<StoredFile>> {
        let mut disk = self.disk();
        disk.faults.read()?;
        let name = path.file_name().unwrap_or_default();
        Ok(disk.tree.node(path)?.map(|node| tree::stored(name, &node)))
    }

    pub(super) fn free_bytes(&self) -> io::Result<u64> {
        let mut disk = self.disk();
        disk.faults.read()?;
        Ok(disk.capacity.unwrap_or(UNLIMITED_BYTES).saturating_sub(disk.tree.used()))
    }

    fn change(&self, action: impl FnOnce(&mut Tree) -> io::Result<()>) -> io::Result<()> {
        let mut disk = self.disk();
        let Disk { tree, faults, .. } = &mut *disk;
        faults.change(|| action(tree))
    }
}

/// Leaves first, as the real one: each entry is a step of its directory, and an operation that can be the last.
fn remove_dir_all(tree: &mut Tree, faults: &mut Faults, path: &Path) -> io::Result<()> {
    for entry in tree.list(&tree.dir(path)?) {
        let path = path.join(&entry.name);
        if entry.is_dir {
            remove_dir_all(tree, faults, &path)?;
        } else {
            faults.change(|| tree.remove_file(&path))?;
        }
    }
    faults.change(|| tree.remove_dir(path))
}

impl fmt::Debug for SimFiles {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Gigabytes of content are of no use in a message.
        formatter.debug_struct("SimFiles").finish_non_exhaustive()
    }
}
