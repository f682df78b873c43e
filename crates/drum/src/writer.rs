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
    /// Empty blocks to use again, all of one size.
    free: Mutex<Vec<Block>>,
}

/// The lane and what it shares with us. Clones are the same writer.
#[derive(Clone)]
pub(crate) struct Writer {
    lane: Arc<Lane>,
    shared: Arc<Shared>,
    block_bytes: usize,
    free_max: usize,
}

impl Writer {
    /// `block_bytes` is the size of blocks that are used again.
    pub(crate) fn new(workers: &Workers, block_bytes: usize, writes_max: usize) -> Writer {
        Writer {
            lane: Arc::new(workers.lane("drum-write", writes_max)),
            shared: Arc::default(),
            block_bytes,
            free_max: writes_max,
        }
    }

    /// An empty block of the usual size. Its content is not zeroed.
    pub(crate) fn block(&self) -> Block {
        let free = self.shared.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        free.unwrap_or_else(|| Block::new(self.block_bytes))
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
        let (block_bytes, free_max) = (self.block_bytes, self.free_max);
        self.lane.submit(Box::new(move || {
            if let Some(mut write) = write.take() {
                (write.seal)(&mut write.block[..write.len], write.file.number(), write.offset);
                if write.file.write(&write.block[..write.len], write.offset).is_ok() {
                    let mut free = shared.free.lock().unwrap_or_else(PoisonError::into_inner);
                    if write.block.len() == block_bytes && free.len() < free_max {
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
}
