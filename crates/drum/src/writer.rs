//! Writing behind the producer's back: full blocks go to one lane and come back empty.
//!
//! A write that fails is kept, with its bytes, and tried again at the next [`Writer::settle`] or
//! [`Writer::retry`]: so a full disk loses nothing, and the producer learns of it before its next batch is taken.

use std::sync::{Arc, Mutex, PoisonError};

use mattock_env::{Block, Lane, Step, Workers};

use crate::disk::DataFile;
use crate::error::Result;

/// One block on its way to its file.
struct Write {
    file: Arc<DataFile>,
    offset: u64,
    block: Block,
    len: usize,
    /// Completes the header once nobody changes the block any more: checksums are made here, not by the producer.
    seal: fn(&mut [u8], u64, u64),
}

#[derive(Default)]
struct Shared {
    failed: Mutex<Vec<Write>>,
    /// Empty blocks to use again, of two or three sizes.
    free: Mutex<Vec<Block>>,
}

/// The lane and what it shares with us. Clones are the same writer.
#[derive(Clone)]
pub(crate) struct Writer {
    lane: Arc<Lane>,
    shared: Arc<Shared>,
    free_max: usize,
}

impl Writer {
    /// With at most so many writes under way.
    pub(crate) fn new(workers: &Workers, writes_max: usize) -> Writer {
        let lane = Arc::new(workers.lane("drum-write", writes_max));
        Writer { lane, shared: Arc::default(), free_max: writes_max }
    }

    /// A block of this size, a multiple of the page, whose content is anything.
    pub(crate) fn block(&self, bytes: usize) -> Block {
        let mut free = self.shared.free.lock().unwrap_or_else(PoisonError::into_inner);
        let fitting = free.iter().position(|block| block.len() == bytes);
        let found = fitting.map(|index| free.swap_remove(index));
        drop(free);
        found.unwrap_or_else(|| Block::new(bytes))
    }

    /// Queues a write of the first `len` bytes of a block; waits while too many are under way.
    pub(crate) fn write(
        &self,
        file: &Arc<DataFile>,
        offset: u64,
        block: Block,
        len: usize,
        seal: fn(&mut [u8], u64, u64),
    ) {
        let mut write = Some(Write { file: Arc::clone(file), offset, block, len, seal });
        let shared = Arc::clone(&self.shared);
        let free_max = self.free_max;
        self.lane.submit(Box::new(move || {
            if let Some(mut write) = write.take() {
                (write.seal)(&mut write.block[..write.len], write.file.number(), write.offset);
                if write.file.write(&write.block[..write.len], write.offset).is_ok() {
                    let mut free = shared.free.lock().unwrap_or_else(PoisonError::into_inner);
                    if free.len() < free_max {
                        free.push(write.block);
                    }
                } else {
                    shared.failed.lock().unwrap_or_else(PoisonError::into_inner).push(write);
                }
            }
            Step::Done
        }));
    }

    /// Lets a simulated lane run a little.
    pub(crate) fn poll(&self) {
        self.lane.poll();
    }

    /// Tries again what failed; says what still fails.
    pub(crate) fn retry(&self) -> Result<()> {
        let mut failed = self.shared.failed.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(write) = failed.last() {
            write.file.write(&write.block[..write.len], write.offset)?;
            failed.pop();
        }
        Ok(())
    }

    /// Waits for all writes; afterwards they are in their files, or this is an error.
    pub(crate) fn settle(&self) -> Result<()> {
        self.lane.wait_all();
        self.retry()
    }

    /// The last write that was queued, for [`settle_until`](Writer::settle_until).
    pub(crate) fn last(&self) -> u64 {
        self.lane.submitted()
    }

    /// The same for writes up to `last` only. Any thread may wait.
    pub(crate) fn settle_until(&self, last: u64) -> Result<()> {
        self.lane.wait(last);
        self.retry()
    }
}
