//! An object in the making: a local file without a name, which is put as a whole when it is synced.

use rustix::fs::OFlags;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Remote;
use crate::Random;
use crate::files::{File, OpenMode, real};

/// See the module.
#[derive(Debug)]
pub struct Writing {
    remote: Arc<dyn Remote>,
    url: String,
    spool: Box<File>,
    /// Whether there is anything that the store does not have: at first, that there is an object.
    unsent: AtomicBool,
}

impl Writing {
    pub(super) fn new(remote: Arc<dyn Remote>, url: &str) -> io::Result<Writing> {
        let name = format!("mattock-spool-{:016x}", Random::from_entropy().next_u64());
        let path = std::env::temp_dir().join(name);
        let spool = real::open_path(&path, OpenMode::CreateNew, OFlags::empty())?;
        std::fs::remove_file(&path)?;
        let (spool, unsent) = (Box::new(File::Real(spool)), AtomicBool::new(true));
        Ok(Writing { remote, url: url.to_owned(), spool, unsent })
    }

    /// What was written so far.
    pub(in crate::files) fn spool(&self) -> &File {
        &self.spool
    }

    pub(in crate::files) fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.unsent.store(true, Ordering::Release);
        self.spool.write_all_at(bytes, offset)
    }

    pub(in crate::files) fn set_len(&self, len: u64) -> io::Result<()> {
        self.unsent.store(true, Ordering::Release);
        self.spool.set_len(len)
    }

    pub(in crate::files) fn sync(&self) -> io::Result<()> {
        if !self.unsent.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        let put = self
            .spool
            .len()
            .and_then(|length| self.remote.put(&self.url, &self.spool, length, &mut |_| Ok(())));
        if put.is_err() {
            self.unsent.store(true, Ordering::Release);
        }
        put
    }
}
