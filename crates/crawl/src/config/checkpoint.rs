//! `[checkpoint]`: how often, and how much of the disk is left alone.

use std::time::Duration;

use super::checked::{duration, size, wrong};
use super::{ConfigError, RawCheckpoint};

/// When checkpoints are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointOptions {
    /// At the latest after this time.
    pub every: Duration,
    /// And after so many pages.
    pub pages: u64,
    /// With less free space than this nothing is begun.
    pub disk_reserve_bytes: u64,
}

const EVERY: Duration = Duration::from_secs(30);
const PAGES: u64 = 10_000;
const DISK_RESERVE_BYTES: u64 = 256 << 20;

pub(super) fn checkpoint(raw: &RawCheckpoint) -> Result<CheckpointOptions, ConfigError> {
    let every = duration("checkpoint.every", &raw.every, EVERY)?;
    if every < Duration::from_millis(100) {
        return Err(wrong("checkpoint.every")("it must be at least 100ms".into()));
    }
    let pages = raw.pages.unwrap_or(PAGES);
    if pages == 0 {
        return Err(wrong("checkpoint.pages")("it must be at least 1".into()));
    }
    let disk_reserve_bytes = size("checkpoint.disk_reserve", &raw.disk_reserve, DISK_RESERVE_BYTES)?;
    Ok(CheckpointOptions { every, pages, disk_reserve_bytes })
}
