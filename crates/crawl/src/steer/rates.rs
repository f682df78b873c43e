//! How fast the crawl is: means over the last ten seconds and the last minute.
//!
//! Filled by the helm once a second with what was counted so far, asked by snapshots.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use mattock_env::Time;
use serde::Serialize;

/// Samples that are kept: a minute's worth and one.
const SAMPLES: usize = 61;

/// How fast a crawl is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Speeds {
    /// Pages a second over the last ten seconds.
    pub pages_per_s_10: f64,
    /// And over the last minute.
    pub pages_per_s_60: f64,
    /// Requests a second, of whatever kind and outcome, over the last ten seconds.
    pub requests_per_s_10: f64,
    /// And over the last minute.
    pub requests_per_s_60: f64,
    /// Bytes received a second over the last ten seconds.
    pub bytes_per_s_10: f64,
    /// And over the last minute.
    pub bytes_per_s_60: f64,
    /// URLs that were given up a second, over the last minute.
    pub errors_per_s_60: f64,
}

/// What was counted until a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Counted {
    pub(crate) pages: u64,
    pub(crate) requests: u64,
    pub(crate) bytes: u64,
    pub(crate) errors: u64,
}

/// The last samples.
#[derive(Debug, Default)]
pub(crate) struct Rates {
    samples: Mutex<VecDeque<(Time, Counted)>>,
}

impl Rates {
    pub(crate) fn add(&self, now: Time, counted: Counted) {
        let mut samples = self.samples.lock().unwrap_or_else(PoisonError::into_inner);
        if samples.len() == SAMPLES {
            samples.pop_front();
        }
        samples.push_back((now, counted));
    }

    pub(crate) fn read(&self) -> Speeds {
        let samples = self.samples.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(&(now, counted)) = samples.back() else { return Speeds::default() };
        let since = |span: Duration| {
            let first = samples.partition_point(|(time, _)| *time + span < now);
            samples[first.min(samples.len() - 1)]
        };
        let (ten, sixty) = (since(Duration::from_secs(10)), since(Duration::from_secs(60)));
        let rate = |before: (Time, Counted), value: fn(&Counted) -> u64| {
            let seconds = now.since(before.0).as_secs_f64();
            // After the disk has failed the crawl goes back to what it had, and counts less than before.
            let more = value(&counted).saturating_sub(value(&before.1)) as f64;
            if seconds > 0.0 { more / seconds } else { 0.0 }
        };
        Speeds {
            pages_per_s_10: rate(ten, |counted| counted.pages),
            pages_per_s_60: rate(sixty, |counted| counted.pages),
            requests_per_s_10: rate(ten, |counted| counted.requests),
            requests_per_s_60: rate(sixty, |counted| counted.requests),
            bytes_per_s_10: rate(ten, |counted| counted.bytes),
            bytes_per_s_60: rate(sixty, |counted| counted.bytes),
            errors_per_s_60: rate(sixty, |counted| counted.errors),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mean_is_of_its_own_time() {
        let rates = Rates::default();
        assert_eq!(rates.read(), Speeds::default());
        for second in 0..200u64 {
            // From the hundredth second on twice as fast.
            let pages = 10 * second + 10 * second.saturating_sub(100);
            let time = Time::ZERO + Duration::from_secs(second);
            rates.add(time, Counted { pages, bytes: pages * 1000, ..Counted::default() });
            let read = rates.read();
            match second {
                0 => assert_eq!(read.pages_per_s_10, 0.0),
                1..=100 => assert_eq!((read.pages_per_s_10, read.pages_per_s_60), (10.0, 10.0)),
                110 => assert!(read.pages_per_s_10 == 20.0 && read.pages_per_s_60 < 12.0),
                160.. => assert_eq!((read.pages_per_s_60, read.bytes_per_s_60), (20.0, 20_000.0)),
                _ => {}
            }
        }
    }
}
