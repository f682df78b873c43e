//! From one number to sizes: how the memory is cut up.
//!
//! | share | for |
//! |---|---|
//! | 3/4, less 12 MB | front cache (keys only), or half for the table of values while everything fits into it |
//! | 1/32 | bucket buffers of the open generation: as small as disks allow, for a checkpoint writes what they hold |
//! | 1/32 | those of the generation that is being merged |
//! | 1/32 | bitmaps of the generation being merged and the one being delivered |
//! | rest | blocks of the log, writes under way, sorting one bucket, reading and writing runs |

use crate::cache::{SET_BYTES, SETS_MIN};

/// Which results come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Deliver {
    /// Those of keys that were not stored before.
    #[default]
    Unique,
    /// Those of every check.
    All,
}

/// What the user decides.
#[derive(Clone, Debug)]
pub struct Options {
    /// Memory for everything: caches, buffers, merges.
    pub memory_bytes: u64,
    /// Whether there is a front cache (only where there are no values). Without it every check goes to disk.
    pub cache: bool,
    /// Which results come back.
    pub deliver: Deliver,
    /// Disk for one generation, of which there are two; `None` lets memory and free space decide.
    pub generation_bytes: Option<u64>,
    /// How many checkpoints can be opened; at least 1. With 2 a caller that commits a checkpoint of its own after this
    /// one can still go back to the one before.
    pub checkpoints_kept: usize,
    /// Sizes to use in place of those that follow from the memory; for tests.
    pub sizes: Option<Plan>,
}

impl Options {
    /// With this much memory, and otherwise as most want it.
    pub fn new(memory_bytes: u64) -> Options {
        Options {
            memory_bytes,
            cache: true,
            deliver: Deliver::Unique,
            generation_bytes: None,
            checkpoints_kept: 2,
            sizes: None,
        }
    }
}

/// The sizes that were chosen.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Plan {
    /// Slices of the key space, a power of two. Fixed once there is something on disk.
    pub buckets: usize,
    /// Bytes that a bucket collects before they are written.
    pub chunk_bytes: usize,
    /// Bytes of auxiliary text that are written at once.
    pub log_block_bytes: usize,
    /// Blocks of the log that may wait in RAM before the oldest is written.
    pub log_blocks_in_ram: usize,
    /// Sets of the front cache, of 64 bytes and 10 keys each; 0 for none.
    pub cache_sets: usize,
    /// Bytes of the table that holds keys and values while they fit.
    pub table_bytes: usize,
    /// Checks of one generation that need an answer from disk: one bit each.
    pub generation_records_max: usize,
    /// Bytes on disk of one generation.
    pub generation_bytes_max: u64,
    /// Bytes of one bucket of one generation: it is sorted in RAM.
    pub bucket_bytes_max: usize,
    /// Bytes of a run that are read at once.
    pub read_bytes: usize,
    /// Writes that may be under way.
    pub writes_max: usize,
}

const MIB: u64 = 1 << 20;

impl Plan {
    /// Cuts the memory up. `free_bytes` is what the disk has left.
    pub fn new(options: &Options, has_values: bool, free_bytes: u64) -> Plan {
        let memory = options.memory_bytes.max(8 * MIB);
        let buffers = memory / 32;
        let mut buckets = 256;
        while buckets > 16 && buffers / buckets < 8 << 10 {
            buckets /= 2;
        }
        while buffers / buckets > 128 << 10 && buckets < 1 << 16 {
            buckets *= 2;
        }
        let chunk_bytes = prev_power_of_two(buffers / buckets) as usize;
        let records = (memory / 64 * 8).min(1 << 29);
        let log_block_bytes = prev_power_of_two((memory / 256).clamp(64 << 10, MIB)) as usize;
        // Blocks on their way, stacks and what the allocator keeps do not grow with the memory given.
        let fixed = (16 * MIB).min(memory / 4);
        let cached = options.cache && !has_values;
        Plan {
            buckets: buckets as usize,
            chunk_bytes,
            log_block_bytes,
            log_blocks_in_ram: 4,
            cache_sets: if cached {
                ((memory - fixed) as usize / 4 * 3 / SET_BYTES).max(SETS_MIN)
            } else {
                0
            },
            table_bytes: if has_values { (memory / 2) as usize } else { 0 },
            generation_records_max: records as usize,
            generation_bytes_max: options
                .generation_bytes
                .unwrap_or_else(|| (records * 128).min(free_bytes / 6))
                .max(4 * MIB),
            bucket_bytes_max: (memory / 24) as usize,
            read_bytes: prev_power_of_two((memory / 1024).clamp(64 << 10, MIB)) as usize,
            writes_max: 16,
        }
    }
}

fn prev_power_of_two(value: u64) -> u64 {
    1 << (63 - value.max(1).leading_zeros())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_fit_into_the_whole() {
        for memory in [128 * MIB, 256 * MIB, 512 * MIB, 16 << 30] {
            let plan = Plan::new(&Options::new(memory), false, 1 << 40);
            let merge = 2 * 16 * plan.generation_records_max / plan.buckets;
            let total = plan.cache_sets * SET_BYTES
                + 2 * plan.buckets * plan.chunk_bytes
                + 2 * plan.generation_records_max / 8
                + 2 * plan.log_blocks_in_ram * plan.log_block_bytes
                + plan.writes_max * plan.chunk_bytes
                + 8 * plan.read_bytes
                + merge;
            assert!(total as u64 <= memory, "{total} of {memory}: {plan:?}");
            assert!(total as u64 >= memory * 3 / 4, "{total} of {memory}: {plan:?}");
            assert_eq!(plan.chunk_bytes % mattock_env::PAGE_BYTES, 0);
        }
    }
}
