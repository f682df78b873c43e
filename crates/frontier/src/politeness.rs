//! How long hosts, servers and domains are left alone.

use std::time::Duration;

/// The rules of politeness, fixed for a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Politeness {
    /// Time between the end of one response and the next request to the same host.
    pub delay: Duration,
    /// The same for all hosts of one server (address); zero: servers are not looked at.
    pub server_delay: Duration,
    /// The same for all hosts of one domain; zero: domains are not looked at.
    pub domain_delay: Duration,
    /// Hosts of domains with a larger budget than [`BUDGET_DEFAULT`] are visited more often in proportion, but not more often
    /// than this.
    pub delay_floor: Duration,
    /// A host is left alone for at least so many times as long as it took for its last answer.
    pub duration_factor: f64,
    /// The longest Crawl-delay that is waited for; a host that asks for more is visited this rarely.
    pub crawl_delay_max: Duration,
    /// The longest Retry-After that is waited for, and the longest wait of our own.
    pub retry_after_max: Duration,
    /// A host or domain that has nothing but copies of what it had is visited up to so many times more rarely; 1: as often.
    pub stale_factor_max: f64,
    /// Upper limit on retries, whatever the table of outcomes says.
    pub retries_max: u8,
}

/// The budget whose hosts get the plain delay.
pub const BUDGET_DEFAULT: u32 = 10;

impl Default for Politeness {
    fn default() -> Politeness {
        Politeness::with_delay(Duration::from_secs(2))
    }
}

impl Politeness {
    /// The usual rules around a delay per host. A server gets half of it, and a second at most, as one server may carry
    /// thousands of hosts.
    pub fn with_delay(delay: Duration) -> Politeness {
        Politeness {
            delay,
            server_delay: (delay / 2).min(Duration::from_secs(1)),
            domain_delay: Duration::ZERO,
            delay_floor: delay / 4,
            duration_factor: if delay.is_zero() { 0.0 } else { 1.0 },
            crawl_delay_max: Duration::from_secs(300),
            retry_after_max: Duration::from_secs(24 * 3600),
            stale_factor_max: 64.0,
            retries_max: 2,
        }
    }

    /// How long a host is left alone after an answer that took `took`: our delay, shorter for large budgets, or the longer
    /// one that it asks for or that its slowness suggests.
    pub fn host_delay(&self, crawl_delay: Option<Duration>, budget: u32, took: Duration) -> Duration {
        let scaled = if budget > BUDGET_DEFAULT {
            self.delay.mul_f64(f64::from(BUDGET_DEFAULT) / f64::from(budget)).max(self.delay_floor)
        } else {
            self.delay
        };
        let asked = crawl_delay.unwrap_or_default().min(self.crawl_delay_max);
        let slow = took.mul_f64(self.duration_factor.max(0.0)).min(self.retry_after_max);
        scaled.min(self.delay).max(asked).max(slow)
    }
}

impl Politeness {
    /// How long somebody is left alone whose due is multiplied by this factor; zero for those that have news.
    pub(crate) fn stale_delay(&self, factor: f64) -> Duration {
        if factor >= 1.0 || self.stale_factor_max <= 1.0 {
            return Duration::ZERO;
        }
        self.delay.mul_f64((1.0 / factor).min(self.stale_factor_max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Duration = Duration::ZERO;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_crawl_delay_only_ever_slows_us_down() {
        let rules = Politeness::default();
        assert_eq!(rules.host_delay(None, 0, NONE), seconds(2));
        assert_eq!(rules.host_delay(Some(seconds(1)), 0, NONE), seconds(2));
        assert_eq!(rules.host_delay(Some(seconds(10)), 0, NONE), seconds(10));
        assert_eq!(rules.host_delay(Some(seconds(86_400)), 0, NONE), seconds(300));
    }

    #[test]
    fn slow_hosts_get_more_time_and_popular_domains_less() {
        let rules = Politeness { duration_factor: 3.0, ..Politeness::with_delay(seconds(8)) };
        assert_eq!(rules.host_delay(None, 0, seconds(5)), seconds(15));
        assert_eq!(rules.host_delay(None, 20, NONE), seconds(4));
        assert_eq!(rules.host_delay(None, 10_000, NONE), seconds(2), "the floor");
        assert_eq!(rules.host_delay(Some(seconds(9)), 10_000, NONE), seconds(9));
    }
}
