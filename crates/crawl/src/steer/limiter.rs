//! One speed limit for all partitions: so many requests and so many bytes a second.
//!
//! Each of the two has a time from which on the next request may begin. A request moves it on by what it costs: 1/rate seconds, or
//! bytes/rate seconds. A request that would begin before that time waits for it. Who comes late may catch up, but with no more than
//! [`BURST`]. How many bytes will come nobody knows when a request begins: so many are charged as came on the average of the last
//! ones, and the difference when they are there.
//!
//! Asked and told by every partition, on its thread, without a lock; without a limit it costs one load. Over any minute no more than
//! a second's worth goes beyond the limit, and nothing is lost of it as long as there is enough to fetch. A new limit begins without
//! anything to catch up on, and so does the time after a pause: the first minute is like any other.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mattock_env::Time;

use super::SpeedLimit;

/// How much of the time that nobody used may be used later.
const BURST: Duration = Duration::from_secs(1);
/// What a visit brings as long as nothing is known: bytes.
const BYTES_AT_FIRST: u64 = 16 << 10;
/// The mean is that of the last so many visits, about.
const MEAN_OF: u64 = 64;

/// Permission for one request; to be [used](Limiter::came) or [given back](Limiter::give_back).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Claim {
    /// What the two times were moved on by: nanoseconds.
    request_ns: u64,
    bytes_ns: u64,
}

/// A rate, and the time from which on the next may begin.
#[derive(Debug, Default)]
struct Bucket {
    /// Nanoseconds for one, as the bits of a float; 0 is no limit.
    unit_ns: AtomicU64,
    next_ns: AtomicU64,
}

impl Bucket {
    fn unit_ns(&self) -> f64 {
        f64::from_bits(self.unit_ns.load(Ordering::Relaxed))
    }

    /// What so many cost; 0 if there is no limit.
    fn cost_ns(&self, amount: u64) -> u64 {
        (self.unit_ns() * amount as f64).round() as u64
    }

    fn floor(now: Time) -> u64 {
        (now - BURST).as_nanos()
    }

    /// Takes `cost_ns` of the time, or says when that can be done.
    fn take(&self, cost_ns: u64, now: Time) -> Result<(), Time> {
        if cost_ns == 0 {
            return Ok(());
        }
        let taken = self.next_ns.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| {
            let from = next.max(Bucket::floor(now));
            (from <= now.as_nanos()).then(|| from.saturating_add(cost_ns))
        });
        taken.map(drop).map_err(Time::from_nanos)
    }

    fn move_by(&self, more_ns: u64, less_ns: u64, now: Time) {
        let moved = |next: u64| {
            let from = next.max(Bucket::floor(now));
            Some(from.saturating_add(more_ns).saturating_sub(less_ns))
        };
        if more_ns != less_ns {
            let _ = self.next_ns.fetch_update(Ordering::Relaxed, Ordering::Relaxed, moved);
        }
    }

    /// Another rate from now on. What is owed is owed at the new one, and what was not used is lost.
    fn set(&self, per_second: Option<f64>, now: Time) {
        let unit = per_second.map_or(0.0, |rate| 1e9 / rate);
        let before = self.unit_ns();
        if unit == before {
            return;
        }
        self.unit_ns.store(unit.to_bits(), Ordering::Relaxed);
        let _ = self.next_ns.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| {
            let owed = next.saturating_sub(now.as_nanos());
            let scaled = if before > 0.0 { owed as f64 * (unit / before) } else { 0.0 };
            Some(now.as_nanos().saturating_add(scaled as u64))
        });
    }

    fn forget_unused(&self, now: Time) {
        self.next_ns.fetch_max(now.as_nanos(), Ordering::Relaxed);
    }
}

/// The limit for all partitions.
#[derive(Debug)]
pub(crate) struct Limiter {
    requests: Bucket,
    bytes: Bucket,
    mean_bytes: AtomicU64,
}

impl Default for Limiter {
    fn default() -> Limiter {
        Limiter {
            requests: Bucket::default(),
            bytes: Bucket::default(),
            mean_bytes: AtomicU64::new(BYTES_AT_FIRST),
        }
    }
}

impl Limiter {
    /// Puts a limit into force.
    pub(crate) fn set(&self, limit: SpeedLimit, now: Time) {
        self.requests.set(limit.pages_per_s, now);
        self.bytes.set(limit.bits_per_s.map(|bits| bits / 8.0), now);
    }

    /// After a pause: what nobody could use is not made up for.
    pub(crate) fn forget_unused(&self, now: Time) {
        self.requests.forget_unused(now);
        self.bytes.forget_unused(now);
    }

    /// Whether the next request has to wait for the limit.
    pub(crate) fn is_waiting(&self, now: Time) -> bool {
        [&self.requests, &self.bytes]
            .iter()
            .any(|bucket| bucket.unit_ns() > 0.0 && bucket.next_ns.load(Ordering::Relaxed) > now.as_nanos())
    }

    /// Permission for one request, or when to come again.
    pub(crate) fn claim(&self, now: Time) -> Result<Claim, Time> {
        let request_ns = self.requests.cost_ns(1);
        self.requests.take(request_ns, now)?;
        let bytes_ns = self.bytes.cost_ns(self.mean_bytes.load(Ordering::Relaxed).max(1));
        if let Err(time) = self.bytes.take(bytes_ns, now) {
            self.requests.move_by(0, request_ns, now);
            return Err(time);
        }
        Ok(Claim { request_ns, bytes_ns })
    }

    /// No request was made after all.
    pub(crate) fn give_back(&self, claim: Claim, now: Time) {
        self.requests.move_by(0, claim.request_ns, now);
        self.bytes.move_by(0, claim.bytes_ns, now);
    }

    /// So many bytes came of a request.
    pub(crate) fn came(&self, claim: Claim, bytes: u64, now: Time) {
        // Others may change it at the same time: it is a mean, and one more or less does not matter.
        let mean = self.mean_bytes.load(Ordering::Relaxed);
        self.mean_bytes.store((mean * (MEAN_OF - 1) + bytes) / MEAN_OF, Ordering::Relaxed);
        self.bytes.move_by(self.bytes.cost_ns(bytes), claim.bytes_ns, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    /// Requests begun in each second, if somebody asks every millisecond from `from_s` on.
    fn begun(limiter: &Limiter, from_s: u64, seconds: u64, bytes: u64) -> Vec<usize> {
        let of_second = |second: u64| {
            let claims = (0..1000).flat_map(|ms| {
                let now = at(second * 1000 + ms);
                std::iter::from_fn(move || {
                    limiter.claim(now).ok().inspect(|claim| limiter.came(*claim, bytes, now))
                })
            });
            claims.count()
        };
        (from_s..from_s + seconds).map(of_second).collect()
    }

    fn pages(pages_per_s: f64) -> SpeedLimit {
        SpeedLimit { pages_per_s: Some(pages_per_s), bits_per_s: None }
    }

    #[test]
    fn no_limit_is_no_limit() {
        let limiter = Limiter::default();
        for _ in 0..1_000_000 {
            assert_eq!(limiter.claim(at(0)), Ok(Claim::default()));
        }
    }

    #[test]
    fn a_rate_is_kept_to_the_request_with_a_second_of_grace() {
        let limiter = Limiter::default();
        limiter.set(pages(50.0), at(0));
        assert_eq!(begun(&limiter, 10, 3, 1), [100, 50, 50], "it had a second to spare, and no more");
        assert_eq!(begun(&limiter, 100, 3, 1), [100, 50, 50]);
        limiter.set(pages(7.5), at(103_000));
        assert_eq!(begun(&limiter, 103, 60, 1).iter().sum::<usize>(), 450, "no second of grace for a change");
        limiter.set(pages(1000.0), at(163_000));
        assert_eq!(begun(&limiter, 163, 2, 1), [1000, 1000], "and no waiting for the old one");
        limiter.set(SpeedLimit::NONE, at(165_000));
        assert!(limiter.claim(at(165_000)).is_ok() && limiter.claim(at(165_000)).is_ok());
    }

    #[test]
    fn bytes_count_when_they_are_there() {
        let limiter = Limiter::default();
        limiter.set(SpeedLimit { pages_per_s: None, bits_per_s: Some(8e5) }, at(0));
        let begun = begun(&limiter, 5, 120, 2000);
        let total = begun.iter().sum::<usize>() as f64 * 2000.0;
        assert!((total / (120.0 * 1e5) - 1.0).abs() < 0.02, "{total}");
        // A single large one is paid for before the next begins.
        let claim = limiter.claim(at(125_500)).or_else(|at| limiter.claim(at)).unwrap();
        limiter.came(claim, 1_000_000, at(126_000));
        assert!(limiter.claim(at(134_000)).is_err());
        assert!(limiter.claim(at(137_100)).is_ok());
    }

    #[test]
    fn what_is_given_back_can_be_taken_again() {
        let limiter = Limiter::default();
        limiter.set(SpeedLimit { pages_per_s: Some(1.0), bits_per_s: Some(8e9) }, at(0));
        for _ in 0..100 {
            let claim = limiter.claim(at(5000)).unwrap();
            limiter.give_back(claim, at(5000));
        }
        assert!(limiter.claim(at(5000)).is_ok() && limiter.claim(at(5000)).is_ok());
        assert_eq!(limiter.claim(at(5000)), Err(at(6000)));
    }

    proptest! {
        /// Whatever happens in between, no minute has more than its share and a second's worth.
        #[test]
        fn no_minute_has_more_than_its_share(
            rate in 1.0..200.0f64,
            steps in proptest::collection::vec((0u64..400, any::<bool>()), 1..3000),
        ) {
            let limiter = Limiter::default();
            limiter.set(pages(rate), at(0));
            let (mut now, mut begun) = (at(5000), Vec::new());
            for (ms, used) in steps {
                now = now + Duration::from_millis(ms);
                if let Ok(claim) = limiter.claim(now) {
                    if used { begun.push(now) } else { limiter.give_back(claim, now) }
                }
            }
            for (index, first) in begun.iter().enumerate() {
                let minute = begun[index..].iter().take_while(|time| time.since(*first) < Duration::from_secs(60));
                prop_assert!(minute.count() as f64 <= rate * 61.0 + 1.0);
            }
        }
    }
}
