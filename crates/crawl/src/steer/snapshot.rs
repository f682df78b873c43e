//! Everything there is to see of a crawl at one moment, for consoles, metrics and whoever else asks.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Alert, Paused, ScheduleEntry, SpeedInForce, Speeds};
use crate::progress::Reading;

/// What a crawl is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// It opens its files.
    Starting,
    /// It fetches.
    Running,
    /// Nothing begins until somebody resumes it, or what it waits for is over.
    Paused,
    /// The disk has failed or is full: it will go back to its last checkpoint.
    Recovering,
    /// It was asked to stop.
    Stopping,
    /// It is over.
    Ended,
}

/// Memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryState {
    /// Resident memory of the process: bytes. Unknown on virtual time.
    pub resident_bytes: Option<u64>,
    /// What the frontier may have: `crawl.memory`.
    pub frontier_bytes: u64,
    /// With more than this there is an alert.
    pub limit_bytes: u64,
}

/// The disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct DiskState {
    /// Bytes free on the disk of the crawl's directory.
    pub free_bytes: Option<u64>,
    /// With less than this the crawl pauses: `checkpoint.disk_reserve`.
    pub reserve_bytes: u64,
    /// With less than this there is an alert: `watch.disk_free_min`.
    pub alert_bytes: u64,
    /// By how much it becomes less, lately: bytes a second.
    pub used_per_s: f64,
    /// Seconds until the reserve is reached, if it goes on like this.
    pub seconds_left: Option<f64>,
}

/// Checkpoints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct CheckpointState {
    /// The number of the last one that counts.
    pub number: u64,
    /// When it was made: microseconds since 1970; 0 if there is none.
    pub unix_micros: i64,
    /// Seconds from the wish to the end of writing it.
    pub seconds: f64,
    /// Whether one is being made.
    pub under_way: bool,
    /// At the latest after so many seconds comes the next.
    pub every_s: f64,
}

/// A crawl at one moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Snapshot {
    /// When: microseconds since 1970.
    pub unix_micros: i64,
    /// Seconds that this run takes already.
    pub uptime_s: f64,
    /// The crawl's directory.
    pub directory: String,
    /// What it is doing.
    pub phase: Phase,
    /// Partitions.
    pub partitions: usize,
    /// Connections that there may be at once.
    pub connections: usize,
    /// Stop after so many pages.
    pub max_pages: Option<u64>,
    /// Who has it pause.
    pub paused: Vec<Paused>,
    /// How fast it may be.
    pub speed: SpeedInForce,
    /// And at other times.
    pub schedule: Vec<ScheduleEntry>,
    /// Counters and gauges.
    pub now: Reading,
    /// How fast it is.
    pub rates: Speeds,
    /// What became of URLs, in all runs: statuses and failures with their counts.
    pub outcomes: BTreeMap<String, u64>,
    /// Memory.
    pub memory: MemoryState,
    /// The disk.
    pub disk: DiskState,
    /// Checkpoints.
    pub checkpoint: CheckpointState,
    /// What is wrong now.
    pub alerts: Vec<Alert>,
    /// Why the crawl stands still, if somebody should do something about it.
    pub trouble: Option<String>,
    /// The number of the last event.
    pub event_last: u64,
}
