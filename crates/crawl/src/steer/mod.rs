//! Steering: everything that an operator can do to a crawl that runs, and everything that can be read off it.
//!
//! ```text
//!  operator ──► Control ──► limiter, pauses ─────────► every partition asks before it begins a visit
//!                  │ ──────► orders through the exchange ► seeds, politeness, questions about hosts
//!                  │ ──────► coordinator ───────────────► checkpoints
//!                  ▼
//!               Snapshot ◄── gauges, rates, alerts ◄──── partitions and the helm, a task that looks at the clock
//! ```
//!
//! What is set here is shared by all partitions, and read by them at the price of a few relaxed loads per visit. All of it works on the
//! clock of the [`Env`](mattock_env::Env), so that a simulated crawl is steered on virtual time.

pub(crate) mod blocks;
pub(crate) mod desk;
pub(crate) mod disk;
mod events;
mod examples;
pub(crate) mod fields;
pub(crate) mod helm;
mod hosts;
pub(crate) mod limiter;
pub mod log;
pub(crate) mod pause;
mod rates;
mod schedule;
mod snapshot;
mod speed;
mod watchdog;

pub use events::{Event, Events, Level};
pub use examples::{Example, Examples};
pub use fields::{Field, LIVE, LiveField};
pub use hosts::{HostQuery, HostRow, HostSort};
pub use pause::{Paused, PausedBy};
pub(crate) use rates::Rates;
pub use rates::Speeds;
pub(crate) use schedule::parse_time;
pub use schedule::{Days, Schedule, ScheduleEntry, Zone};
pub use snapshot::{CheckpointState, DiskState, MemoryState, Phase, Snapshot};
pub use speed::{SpeedInForce, SpeedLimit, SpeedSource};
pub use watchdog::{Alert, AlertKind, WatchOptions};
