//! A block on its way to its segment.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::block::{Identity, Records};
use crate::error::Result;
use crate::segment::SegmentFile;

/// A block on its way to its place.
#[derive(Debug)]
pub(crate) struct Write {
    pub(crate) file: Arc<SegmentFile>,
    pub(crate) sequence: u64,
    pub(crate) offset: u64,
    pub(crate) records: Arc<Records>,
    written: AtomicBool,
    /// It was tried or given up, and may not be written.
    failed: AtomicBool,
}

impl Write {
    pub(crate) fn new(
        file: &Arc<SegmentFile>,
        sequence: u64,
        offset: u64,
        records: &Arc<Records>,
    ) -> Arc<Write> {
        Arc::new(Write {
            file: Arc::clone(file),
            sequence,
            offset,
            records: Arc::clone(records),
            written: AtomicBool::new(false),
            failed: AtomicBool::new(false),
        })
    }

    pub(crate) fn is_written(&self) -> bool {
        self.written.load(Ordering::Acquire)
    }

    /// Whether nobody is going to write it unasked.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire) && !self.is_written()
    }

    /// Whoever was to write it does not.
    pub(crate) fn give_up(&self) {
        self.failed.store(true, Ordering::Release);
    }

    /// Writes it, unless it is. May be done again after an error, and by two at a time.
    pub(crate) fn perform(&self) -> Result<()> {
        if self.is_written() {
            return Ok(());
        }
        let outcome = self.write();
        match &outcome {
            Ok(()) => self.written.store(true, Ordering::Release),
            Err(_) => self.give_up(),
        }
        outcome
    }

    fn write(&self) -> Result<()> {
        let Some(file) = self.file.for_writing()? else { return Ok(()) };
        let disk = &self.file.disk;
        let mut buffer = disk.buffer(self.file.stored_max);
        let identity = Identity { queue: self.file.queue, sequence: self.sequence };
        let len = self.records.encode(identity, self.file.number, self.offset, &mut buffer);
        let outcome = file.write_all_at(&buffer[..len], self.offset).map_err(self.file.error(self.offset));
        disk.give_back(buffer);
        outcome?;
        disk.count_written(len);
        Ok(())
    }
}
