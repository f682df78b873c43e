//! How fast a crawl may be, and who says so.

use serde::{Deserialize, Serialize};

/// How fast a crawl may be; what is not said is not limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SpeedLimit {
    /// Requests a second: pages, sitemaps and robots.txt.
    pub pages_per_s: Option<f64>,
    /// Bits received a second.
    pub bits_per_s: Option<f64>,
}

impl SpeedLimit {
    /// No limit at all.
    pub const NONE: SpeedLimit = SpeedLimit { pages_per_s: None, bits_per_s: None };

    /// This one where it says something, `other` where it does not.
    pub fn or(self, other: SpeedLimit) -> SpeedLimit {
        SpeedLimit {
            pages_per_s: self.pages_per_s.or(other.pages_per_s),
            bits_per_s: self.bits_per_s.or(other.bits_per_s),
        }
    }

    /// What is wrong with it, if anything is: a limit is a number above 0. Who wants nothing to be fetched pauses.
    pub fn problem(&self) -> Option<&'static str> {
        let good =
            |limit: Option<f64>| limit.is_none_or(|limit| limit.is_finite() && limit > 0.0 && limit <= 1e15);
        let is_good = good(self.pages_per_s) && good(self.bits_per_s);
        (!is_good).then_some("a speed is a number above 0; to have nothing fetched at all, pause")
    }
}

/// Who says how fast a crawl may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpeedSource {
    /// `[speed]` in the configuration, which may say nothing.
    #[default]
    Config,
    /// An entry of the schedule.
    Schedule,
    /// The operator, until that is cleared.
    Operator,
}

/// The limit that is in force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SpeedInForce {
    /// The limit.
    pub limit: SpeedLimit,
    /// Who says so.
    pub source: SpeedSource,
    /// Which entry of the schedule, counted from 0.
    pub entry: Option<usize>,
    /// Until when the schedule has it so: microseconds since 1970. `None` if it has no end that is known.
    pub until_unix_micros: Option<i64>,
    /// Whether the schedule has the crawl pause.
    pub pause: bool,
}
