//! An open simulated file: numbers its operations, brings about their faults, and knows whether it is still of this
//! world.

use std::fmt;
use std::io;
use std::sync::MutexGuard;

use super::fault::{Access, Fault, opened_before_crash};
use super::tree::{SharedInode, lock};
use super::{Disk, SimFiles};

/// An open simulated file. It dies with the next crash or kill.
pub struct SimFile {
    files: SimFiles,
    inode: SharedInode,
    /// Of the disk when it was opened.
    restart: u64,
    writable: bool,
    /// Past the page cache: only whole pages.
    direct: bool,
}

impl SimFile {
    pub(super) fn new(files: SimFiles, disk: &mut Disk, inode: SharedInode, writable: bool) -> SimFile {
        disk.tree.opened(&inode);
        SimFile { files, inode, restart: disk.restarts, writable, direct: false }
    }

    /// The same file, as if opened with `O_DIRECT`.
    pub(super) fn direct(mut self) -> SimFile {
        self.direct = true;
        self
    }

    /// `EINVAL` for what a real disk would not take either.
    fn check_pages(&self, len: usize, offset: u64) -> io::Result<()> {
        let page = crate::files::PAGE_BYTES;
        if self.direct && (!len.is_multiple_of(page) || !offset.is_multiple_of(page as u64)) {
            return Err(io::Error::from_raw_os_error(22));
        }
        Ok(())
    }

    /// The disk, if this file is still of its world.
    fn disk(&self) -> io::Result<MutexGuard<'_, Disk>> {
        let disk = self.files.disk();
        if disk.restarts == self.restart { Ok(disk) } else { Err(opened_before_crash()) }
    }

    pub(in crate::files) fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.check_pages(buffer.len(), offset)?;
        let mut disk = self.disk()?;
        disk.faults.read()?;
        Ok(lock(&self.inode).content.read(buffer, offset))
    }

    pub(in crate::files) fn len(&self) -> io::Result<u64> {
        let mut disk = self.disk()?;
        disk.faults.read()?;
        Ok(lock(&self.inode).content.len() as u64)
    }

    pub(in crate::files) fn write_all_at(&self, data: &[u8], offset: u64) -> io::Result<()> {
        let mut disk = self.disk()?;
        if !self.writable {
            return Err(bad_descriptor());
        }
        self.check_pages(data.len(), offset)?;
        let start = usize::try_from(offset).map_err(|_| io::ErrorKind::FileTooLarge)?;
        start.checked_add(data.len()).ok_or(io::ErrorKind::FileTooLarge)?;
        let fault = disk.faults.begin(Access::Change)?;

        let mut inode = lock(&self.inode);
        let before = inode.content.len();
        let fits = before.saturating_add(disk.room()).saturating_sub(start).min(data.len());
        let fault = fault.or((fits < data.len()).then_some(Fault::NoSpace));
        let count = if fault.is_some() { disk.faults.part(fits) } else { data.len() };
        if count > 0 {
            inode.content.write(&data[..count], start);
            disk.tree.resized(before, inode.content.len());
        }
        fault.map_or(Ok(()), |fault| Err(fault.error()))
    }

    pub(in crate::files) fn set_len(&self, len: u64) -> io::Result<()> {
        let mut disk = self.disk()?;
        if !self.writable {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let len = usize::try_from(len).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let Disk { tree, faults, capacity, .. } = &mut *disk;
        let room = super::room(tree, *capacity);
        faults.change(|| {
            let mut inode = lock(&self.inode);
            let before = inode.content.len();
            if len.saturating_sub(before) > room {
                return Err(Fault::NoSpace.error());
            }
            inode.content.set_len(len);
            tree.resized(before, len);
            Ok(())
        })
    }

    pub(in crate::files) fn sync(&self) -> io::Result<()> {
        let mut disk = self.disk()?;
        let fault = disk.faults.begin(Access::Change)?;
        let mut inode = lock(&self.inode);
        match fault {
            None if disk.syncs_ignored => {}
            None => inode.content.sync(),
            Some(Fault::NoSpace | Fault::Io) => inode.content.fail_sync(disk.faults.random()),
            // Done, and nobody learns of it; or anything less, which a crash decides anyway.
            Some(Fault::Stop) if disk.faults.random().chance(0.5) => inode.content.sync(),
            Some(Fault::Stop) => {}
        }
        fault.map_or(Ok(()), |fault| Err(fault.error()))
    }
}

impl Drop for SimFile {
    fn drop(&mut self) {
        if let Ok(mut disk) = self.disk() {
            disk.tree.closed(&self.inode);
        }
    }
}

impl fmt::Debug for SimFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The content may be megabytes, and its lock may be held.
        formatter.debug_struct("SimFile").field("writable", &self.writable).finish_non_exhaustive()
    }
}

/// `EBADF`: what Linux answers to a write into a file that was opened for reading.
fn bad_descriptor() -> io::Error {
    io::Error::from_raw_os_error(9)
}
