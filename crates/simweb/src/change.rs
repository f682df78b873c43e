//! Change over time: which version of a page is shown when.
//!
//! A page keeps its period for ever; its version is the number of whole periods since the world began, with a phase of
//! its own. A new version changes about a quarter of the text, never the links.

use crate::mix::{Tag, below, mix, unit};
use crate::world::World;

const HOUR_S: u64 = 3_600;
const DAY_S: u64 = 24 * HOUR_S;

/// A version of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Version {
    pub(crate) number: u64,
    /// When it appeared, in seconds since the world's beginning.
    pub(crate) since_s: u64,
}

impl World {
    /// The version of the page with this key at a time.
    pub(crate) fn version(&self, key: u64, time_s: u64) -> Version {
        let hash = mix(key, Tag::Change, 0, 0);
        let params = &self.params;
        let classes = [
            (params.changes_hourly, HOUR_S),
            (params.changes_daily, DAY_S),
            (params.changes_weekly, 7 * DAY_S),
            (params.changes_monthly, 30 * DAY_S),
        ];
        let mut rest = unit(hash);
        for (share, shortest_s) in classes {
            if rest < share {
                let period_s = shortest_s + below(mix(key, Tag::Change, 0, 1), shortest_s);
                let phase_s = below(mix(key, Tag::Change, 0, 2), period_s);
                let number = (time_s + phase_s) / period_s;
                return Version { number, since_s: (number * period_s).saturating_sub(phase_s) };
            }
            rest -= share;
        }
        Version { number: 0, since_s: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{Params, Preset};

    #[test]
    fn versions_follow_one_another() {
        let world = World::new(Params::preset(Preset::Tiny), 1);
        let (mut still, mut busy) = (0, 0);
        for key in 0..1_000 {
            let mut last = world.version(key, 0);
            for time_s in (0..60 * DAY_S).step_by(2_000) {
                let version = world.version(key, time_s);
                assert!(version.since_s <= time_s);
                assert!(version.number == last.number || version.number == last.number + 1);
                assert_eq!(version.number == last.number, version.since_s == last.since_s);
                last = version;
            }
            still += u32::from(last.since_s == 0);
            busy += u32::from(last.since_s > 59 * DAY_S);
        }
        assert!((250..400).contains(&still) && busy > 40, "{still} never changed, {busy} within a day");
    }
}
