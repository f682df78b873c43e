//! What a repository says about itself.

/// Counters since it was opened, and sizes now.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Stats {
    /// Checks and check-updates that were submitted.
    pub checks: u64,
    /// Operations of every kind that were submitted.
    pub operations: u64,
    /// Checks that the front cache or the table answered.
    pub answered_in_ram: u64,
    /// Repeats that the front cache found.
    pub cache_hits: u64,
    /// Results handed out.
    pub delivered: u64,
    /// Keys in the sorted store (a key with an update in a newer run counts again until the next full rewrite).
    pub stored_keys: u64,
    /// Bytes of the sorted store.
    pub store_bytes: u64,
    /// Keys in the front cache.
    pub cached_keys: u64,
    /// Bytes read from disk.
    pub read_bytes: u64,
    /// Bytes written to disk.
    pub written_bytes: u64,
    /// Merges that were finished.
    pub merges: u64,
    /// Generations that are sealed and wait for their merge or for their delivery.
    pub generations_waiting: u64,
    /// How often a producer was slowed down.
    pub waits: u64,
    /// The longest that one call had to wait for the disk, in nanoseconds.
    pub longest_pause_ns: u64,
    /// The longest that beginning a checkpoint took, in nanoseconds; the rest of it is written in the background.
    pub longest_checkpoint_pause_ns: u64,
}

impl Stats {
    /// The part of all checks that found a repeat in the front cache.
    pub fn cache_hit_rate(&self) -> f64 {
        if self.checks == 0 { 0.0 } else { self.cache_hits as f64 / self.checks as f64 }
    }
}
