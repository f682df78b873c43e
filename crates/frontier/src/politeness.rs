//! How long a host is left alone.

use std::time::Duration;

/// The rules of politeness, fixed for a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Politeness {
    /// Time between the end of one response and the next request to the same host.
    pub delay: Duration,
    /// The longest Crawl-delay that is waited for; a host that asks for more is visited this rarely.
    pub crawl_delay_max: Duration,
    /// The longest Retry-After that is waited for.
    pub retry_after_max: Duration,
    /// Upper limit on retries, whatever the table of outcomes says.
    pub retries_max: u8,
}

impl Default for Politeness {
    fn default() -> Politeness {
        Politeness {
            delay: Duration::from_secs(2),
            crawl_delay_max: Duration::from_secs(300),
            retry_after_max: Duration::from_secs(24 * 3600),
            retries_max: 2,
        }
    }
}

impl Politeness {
    /// The delay of a host: ours, or the longer one that it asks for.
    pub fn host_delay(&self, crawl_delay: Option<Duration>) -> Duration {
        crawl_delay.map_or(self.delay, |asked| self.delay.max(asked.min(self.crawl_delay_max)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crawl_delay_only_ever_slows_us_down() {
        let rules = Politeness { delay: Duration::from_secs(2), ..Politeness::default() };
        assert_eq!(rules.host_delay(None), Duration::from_secs(2));
        assert_eq!(rules.host_delay(Some(Duration::from_secs(1))), Duration::from_secs(2));
        assert_eq!(rules.host_delay(Some(Duration::from_secs(10))), Duration::from_secs(10));
        assert_eq!(rules.host_delay(Some(Duration::from_secs(86_400))), Duration::from_secs(300));
    }
}
