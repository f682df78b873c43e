//! Time: monotonic for gaps and deadlines, wall-clock only for what is written down.
//!
//! Politeness and timeouts use [`Time`], which never jumps. [`UnixTime`] goes into WARC dates, logs and expiry
//! stamps on disk, and jumps when the clock is set: a difference of two of them says little. In simulation both follow tokio's paused
//! clock, and [`Clock::set_forward`] and [`Clock::set_back`] have the wall clock jump.

use std::fmt;
use std::ops::{Add, Sub};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// A point in monotonic time, in nanoseconds since the clock was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// The moment the clock was made.
    pub const ZERO: Time = Time(0);

    /// From nanoseconds since the clock was made.
    pub const fn from_nanos(nanos: u64) -> Time {
        Time(nanos)
    }

    /// Nanoseconds since the clock was made.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the clock was made.
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// How long after `earlier` this is; zero if it is before.
    pub fn since(self, earlier: Time) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Time {
    type Output = Time;
    fn add(self, duration: Duration) -> Time {
        Time(self.0.saturating_add(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)))
    }
}

impl Sub<Duration> for Time {
    type Output = Time;
    fn sub(self, duration: Duration) -> Time {
        Time(self.0.saturating_sub(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)))
    }
}

/// Wall-clock time in microseconds since 1970, UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixTime(i64);

impl UnixTime {
    /// From microseconds since 1970.
    pub const fn from_micros(micros: i64) -> UnixTime {
        UnixTime(micros)
    }

    /// Microseconds since 1970.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Whole seconds since 1970.
    pub const fn as_seconds(self) -> i64 {
        self.0.div_euclid(1_000_000)
    }

    fn timestamp(self) -> jiff::Timestamp {
        jiff::Timestamp::from_microsecond(self.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
    }

    /// The 14 digits `YYYYMMDDhhmmss` of archive file names and CDX keys.
    pub fn digits(self) -> String {
        let utc = self.timestamp().to_zoned(jiff::tz::TimeZone::UTC);
        let (date, time) = (utc.date(), utc.time());
        format!(
            "{:04}{:02}{:02}{:02}{:02}{:02}",
            date.year(),
            date.month(),
            date.day(),
            time.hour(),
            time.minute(),
            time.second()
        )
    }

    /// `YYYY-MM-DDThh:mm:ssZ`, the form of WARC-Date with whole seconds.
    pub fn to_seconds_string(self) -> String {
        UnixTime(self.as_seconds() * 1_000_000).to_string()
    }
}

/// ISO 8601 in UTC with as many digits of the second as are needed.
impl fmt::Display for UnixTime {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.timestamp().fmt(out)
    }
}

/// What [`Clock::timeout`] returns when the time was up first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the time allowed for this was up")]
pub struct Elapsed;

/// The clock: cheap to clone, all clones tell the same time.
#[derive(Clone, Debug)]
pub struct Clock {
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Real { origin: std::time::Instant },
    Sim { origin: tokio::time::Instant, unix_origin_us: Arc<AtomicI64> },
}

impl Clock {
    pub(crate) fn is_simulated(&self) -> bool {
        matches!(self.kind, Kind::Sim { .. })
    }

    /// The machine's clock, counting from now.
    pub fn real() -> Clock {
        Clock { kind: Kind::Real { origin: std::time::Instant::now() } }
    }

    /// Virtual time: must be made inside a runtime whose clock is paused.
    pub(crate) fn simulated(unix_origin: UnixTime) -> Clock {
        let unix_origin_us = Arc::new(AtomicI64::new(unix_origin.0));
        Clock { kind: Kind::Sim { origin: tokio::time::Instant::now(), unix_origin_us } }
    }

    /// Has the wall clock of a simulation jump forward, as when somebody sets it. Monotonic time and timers do not notice. The machine's
    /// clock is left alone.
    pub fn set_forward(&self, by: Duration) {
        self.set(i64::try_from(by.as_micros()).unwrap_or(i64::MAX));
    }

    /// The same backward.
    pub fn set_back(&self, by: Duration) {
        self.set(-i64::try_from(by.as_micros()).unwrap_or(i64::MAX));
    }

    fn set(&self, by_us: i64) {
        if let Kind::Sim { unix_origin_us, .. } = &self.kind {
            unix_origin_us.fetch_add(by_us, Ordering::Relaxed);
        }
    }

    /// Monotonic time.
    pub fn now(&self) -> Time {
        let elapsed = match &self.kind {
            Kind::Real { origin } => origin.elapsed(),
            Kind::Sim { origin, .. } => origin.elapsed(),
        };
        Time::ZERO + elapsed
    }

    /// Wall-clock time.
    pub fn unix(&self) -> UnixTime {
        let micros = match &self.kind {
            Kind::Real { .. } => match std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH) {
                Ok(since) => i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
                Err(before) => -i64::try_from(before.duration().as_micros()).unwrap_or(i64::MAX),
            },
            Kind::Sim { origin, unix_origin_us } => {
                unix_origin_us.load(Ordering::Relaxed)
                    + i64::try_from(origin.elapsed().as_micros()).unwrap_or(i64::MAX)
            }
        };
        UnixTime(micros)
    }

    /// Seconds that the machine's local time is ahead of UTC at a moment; 0 in a simulation.
    pub fn local_offset_s(&self, at: UnixTime) -> i32 {
        match &self.kind {
            Kind::Real { .. } => jiff::tz::TimeZone::system().to_offset(at.timestamp()).seconds(),
            Kind::Sim { .. } => 0,
        }
    }

    /// Waits until `time`. Timers have a resolution of one millisecond and never fire early.
    pub async fn sleep_until(&self, time: Time) {
        let now = self.now();
        if time > now {
            tokio::time::sleep(time.since(now)).await;
        }
    }

    /// Waits for `duration`.
    pub async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }

    /// Gives `future` at most `duration`.
    pub async fn timeout<F: Future>(&self, duration: Duration, future: F) -> Result<F::Output, Elapsed> {
        tokio::time::timeout(duration, future).await.map_err(|_| Elapsed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unix_time_is_written_the_way_archives_expect() {
        let time = UnixTime::from_micros(1_181_347_200_250_000);
        assert_eq!(time.digits(), "20070609000000");
        assert_eq!(time.to_string(), "2007-06-09T00:00:00.25Z");
        assert_eq!(time.to_seconds_string(), "2007-06-09T00:00:00Z");
    }

    #[test]
    fn time_saturates_instead_of_wrapping() {
        assert_eq!(Time::ZERO - Duration::from_secs(1), Time::ZERO);
        assert_eq!(Time::ZERO.since(Time::from_nanos(5)), Duration::ZERO);
        assert_eq!(Time::from_nanos(5) + Duration::MAX, Time::from_nanos(u64::MAX));
    }
}
