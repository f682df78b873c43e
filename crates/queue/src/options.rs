//! How much memory there is, and how it is cut up.

use mattock_env::PAGE_BYTES;

/// No record may be larger, whatever the memory: so that what was written with much memory can be read with little.
pub const RECORD_BYTES_MAX: usize = 32 << 10;

/// What the owner of some queues decides.
#[derive(Clone, Debug)]
pub struct Options {
    /// RAM for the records of all queues together.
    pub memory_bytes: usize,
    /// How many checkpoints can be opened: the newest and those before it. At least 1.
    pub checkpoints_kept: usize,
    /// How the memory is cut up; chosen from `memory_bytes` if not given.
    pub sizes: Option<Sizes>,
}

impl Options {
    /// With this much memory, and two checkpoints kept.
    pub fn new(memory_bytes: usize) -> Options {
        Options { memory_bytes, checkpoints_kept: 2, sizes: None }
    }
}

/// Sizes of blocks and files. They may be others at each opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Records that are kept, written and read together.
    pub block_bytes: usize,
    /// A file is not begun to be longer than this.
    pub segment_bytes: u64,
    /// Full blocks that are in RAM only begin to be written beyond this.
    pub unwritten_bytes_max: usize,
}

impl Sizes {
    /// For this much memory: blocks of 64 to 256 KiB, files of 4 to 64 MiB, and half of the memory for what is not written.
    pub fn new(memory_bytes: usize) -> Sizes {
        let block_bytes = (memory_bytes / 1024).next_power_of_two().clamp(64 << 10, 256 << 10);
        Sizes {
            block_bytes,
            segment_bytes: (memory_bytes as u64).next_power_of_two().clamp(4 << 20, 64 << 20),
            unwritten_bytes_max: memory_bytes / 2,
        }
    }

    /// The largest record.
    pub(crate) fn record_max(&self) -> usize {
        RECORD_BYTES_MAX.min(self.block_bytes.saturating_sub(8))
    }

    /// The most that a block needs on disk.
    pub(crate) fn stored_max(&self) -> usize {
        (crate::block::HEADER_BYTES + self.block_bytes).next_multiple_of(PAGE_BYTES)
    }
}

/// How much there is, and how much was moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// RAM that holds records.
    pub ram_bytes: u64,
    /// Length of the files that the queues need at present; those kept for checkpoints only do not count.
    pub disk_bytes: u64,
    /// Read from files so far.
    pub read_bytes: u64,
    /// Written to files so far.
    pub written_bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_fit_any_memory() {
        for memory in [0, 1 << 20, 20 << 20, 100 << 20, 1 << 30, 1 << 40] {
            let sizes = Sizes::new(memory);
            assert_eq!(sizes.record_max(), RECORD_BYTES_MAX);
            assert!(sizes.segment_bytes >= 4 * sizes.stored_max() as u64);
            assert!(sizes.unwritten_bytes_max <= memory);
        }
    }
}
