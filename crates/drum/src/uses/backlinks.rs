//! Backlink counts: how many links to a URL were seen.

use super::{Drum, cover};
use crate::{Batch, Deliver, Result, Value};

/// A number that updates add to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BacklinkCount(pub u64);

impl Value for BacklinkCount {
    fn encode(&self, out: &mut Vec<u8>) {
        mattock_codec::put_varint(out, self.0);
    }

    fn decode(bytes: &[u8]) -> Option<BacklinkCount> {
        mattock_codec::Reader::new(bytes).varint().map(BacklinkCount)
    }

    fn update(stored: Option<BacklinkCount>, update: BacklinkCount) -> BacklinkCount {
        BacklinkCount(stored.map_or(0, |stored| stored.0).saturating_add(update.0))
    }
}

/// URL → number of links to it.
pub struct Backlinks {
    drum: Drum<BacklinkCount>,
}

cover!(Backlinks, BacklinkCount);

impl Backlinks {
    const DELIVER: Deliver = Deliver::All;

    /// Counts links: pairs of URL and how many.
    pub fn add(&mut self, links: impl IntoIterator<Item = (u64, u64)>) -> Result<()> {
        let mut batch = Batch::new();
        for (url, count) in links {
            batch.update(url, BacklinkCount(count));
        }
        self.drum.submit(&batch)
    }

    /// Asks for URLs: pairs of URL and what is to come back with the count.
    pub fn check<'a>(&mut self, urls: impl IntoIterator<Item = (u64, &'a [u8])>) -> Result<()> {
        let mut batch = Batch::new();
        for (url, aux) in urls {
            batch.check(url, aux);
        }
        self.drum.submit(&batch)
    }

    /// Hands out up to `limit` counts.
    pub fn counts(&mut self, limit: usize, mut sink: impl FnMut(&[u8], u64)) -> Result<usize> {
        self.drum.deliver(limit, |outcome| sink(outcome.aux, outcome.value.unwrap_or_default().0))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{key, simulate};
    use super::*;
    use crate::Options;
    use std::path::Path;

    #[test]
    fn links_add_up_over_merges() {
        simulate(|env| {
            let mut backlinks =
                Backlinks::open(env, Path::new("/backlinks"), Options::new(16 << 20)).unwrap();
            for round in 0..5 {
                backlinks.add((0..100).map(|url| (key(url), url + round))).unwrap();
                backlinks.merge().unwrap();
            }
            backlinks.check([(key(7), &b"seven"[..]), (key(500), b"none")]).unwrap();
            let mut counts = Vec::new();
            backlinks.counts(9, |aux, count| counts.push((aux.to_vec(), count))).unwrap();
            assert_eq!(counts, [(b"seven".to_vec(), 5 * 7 + 10), (b"none".to_vec(), 0)]);
        });
    }
}
