//! How long the disk will do: free space over the last minutes, and the forecast that follows.

use std::collections::VecDeque;
use std::time::Duration;

use mattock_env::Time;

/// How often it is looked at.
pub(crate) const LOOK: Duration = Duration::from_secs(10);
/// Looks that are kept: ten minutes.
const LOOKS: usize = 61;

/// Free space, lately.
#[derive(Debug, Default)]
pub(crate) struct Forecast {
    looks: VecDeque<(Time, u64)>,
}

impl Forecast {
    pub(crate) fn add(&mut self, now: Time, free_bytes: u64) {
        if self.looks.len() == LOOKS {
            self.looks.pop_front();
        }
        self.looks.push_back((now, free_bytes));
    }

    /// Bytes a second by which it becomes less; 0 if it becomes more.
    pub(crate) fn used_per_s(&self) -> f64 {
        let (Some(first), Some(last)) = (self.looks.front(), self.looks.back()) else { return 0.0 };
        let seconds = last.0.since(first.0).as_secs_f64();
        if seconds > 0.0 { first.1.saturating_sub(last.1) as f64 / seconds } else { 0.0 }
    }

    /// Seconds until only the reserve is left.
    pub(crate) fn seconds_left(&self, reserve_bytes: u64) -> Option<f64> {
        let free = self.looks.back()?.1.saturating_sub(reserve_bytes) as f64;
        let used = self.used_per_s();
        // A few bytes a second are no forecast.
        (used >= 1.0).then(|| free / used)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_over_when_the_reserve_is_reached() {
        let mut forecast = Forecast::default();
        assert_eq!((forecast.used_per_s(), forecast.seconds_left(0)), (0.0, None));
        for look in 0..100u64 {
            forecast.add(Time::ZERO + LOOK * look as u32, 1_000_000 - 1000 * look);
        }
        assert_eq!(forecast.used_per_s(), 100.0);
        assert_eq!(forecast.seconds_left(1000), Some(9000.0));
        forecast.add(Time::ZERO + LOOK * 100, 5_000_000);
        assert_eq!(forecast.seconds_left(1000), None, "somebody has made room");
    }
}
